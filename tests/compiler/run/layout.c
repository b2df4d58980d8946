/* SPDX-License-Identifier: Apache-2.0 */
/* Objects of every kind and alignment: packed, bit-fields, unions, volatile, atomic, thread-local,
 * aliases, weak and constant ones, initialisers that point at others, constructors. */
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "nandwich/guest.h"

struct __attribute__((packed)) odd { char c; uint64_t q; uint16_t h; uint32_t w; };
struct bits { unsigned a : 3, b : 11, c : 18; signed d : 5; };
union both { double d; uint8_t b[8]; };

static struct odd odds[100];
static struct bits bits[40];
static union both unions[3];
static volatile int seen = 5;
static volatile uint64_t wide;
static atomic_int counter;
static _Atomic uint64_t wide_counter;
static uint8_t bytes[600];
static int cells[5] = {1, 2, 3, 4, 5};
static int *inside = &cells[3];
static int **way = &inside;
static const int constant[3] = {7, 8, 9};
static const int *fixed = &constant[1];
static char *words[] = {"zero", "one"};
NW_RAM static int in_ram = 11;
static _Thread_local int mine = 13;
int target = 17;
extern int other __attribute__((alias("target")));
__attribute__((weak)) int soft = 19;
extern int nowhere __attribute__((weak));
static int early;
static __int128 huge;
static long double tall = 1.25L;
static _Complex double plane;
static _Bool flags[9];

__attribute__((constructor)) static void first(void)
{
    early = cells[4] + *inside;
}

static void packed(void)
{
    uint64_t sum = 0;

    for (int i = 0; i < 100; i++) {
        odds[i] = (struct odd){(char)i, (uint64_t)i << 33, (uint16_t)(i * 3), (uint32_t)i * 7};
    }
    for (int i = 0; i < 100; i++) {
        uint64_t *crooked = &odds[i].q;

        *crooked += odds[i].w;
        sum = sum * 31 + *crooked + odds[i].h;
    }
    printf("packed %llx %zu\n", (unsigned long long)sum, sizeof(struct odd));
    for (int i = 0; i < 590; i++) {
        uint32_t w;

        memcpy(&w, bytes + i, 4);
        w += (uint32_t)i;
        memcpy(bytes + i, &w, 4);
        bytes[i + 5] ^= bytes[i + 2];
        sum = sum * 31 + bytes[i];
    }
    printf("crooked %llx\n", (unsigned long long)sum);
}

static void fields(void)
{
    int sum = 0;

    for (int i = 0; i < 40; i++) {
        bits[i].a = (unsigned)i & 7U;
        bits[i].b = (unsigned)(i * 50) & 2047U;
        bits[i].c += (unsigned)i;
        bits[i].d = -i % 16;
    }
    for (int i = 0; i < 40; i++) {
        sum = sum * 3 + bits[i].a + (int)bits[i].b + (int)bits[i].c + bits[i].d;
    }
    unions[1].d = 1.5;
    printf("fields %d %d\n", sum, unions[1].b[7]);
}

static void shared(void)
{
    int expected = 3;

    seen = seen + seen;
    wide = wide + 3;
    wide++;
    atomic_store(&counter, 1);
    atomic_fetch_add(&counter, 2);
    int done = atomic_compare_exchange_strong(&counter, &expected, 30);
    done += atomic_compare_exchange_strong(&counter, &expected, 31) * 2;
    int old = atomic_exchange(&counter, 9);
    atomic_fetch_xor(&wide_counter, 0xf0f0f0f0f0ULL);
    __atomic_add_fetch(&cells[0], 100, __ATOMIC_SEQ_CST);
    printf("shared %d %llu %d %d %d %llx %d\n", seen, (unsigned long long)wide, done, old,
           atomic_load(&counter), (unsigned long long)wide_counter, cells[0]);
}

int main(void)
{
    packed();
    fields();
    shared();
    *inside = 40;
    **way += 2;
    other++;
    mine += in_ram++;
    printf("%d %d %d %s %d %d %d\n", cells[3], *fixed, target, words[1], mine, in_ram, soft);
    printf("%d %d\n", early, &nowhere == NULL);
    huge = (__int128)1 << 100;
    huge += 5;
    tall *= 3;
    plane = 1.0 + 2.0i;
    plane *= plane;
    flags[8] = cells[1] == 2;
    printf("%d %Lg %g %g %d\n", (int)(huge >> 98) + (int)huge, tall, __real plane, __imag plane,
           flags[8] + flags[7]);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Block operations, as intrinsics and by name, of every length and over every page border. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct small { char c[3]; };
struct medium { uint16_t a; char b[29]; double d; };
struct large { int v[300]; };

static unsigned char a[3000], b[3000];
static struct small smalls[50];
static struct medium mediums[50];
static struct large larges[3];
volatile size_t hide;

static uint32_t sum(const unsigned char *p, size_t n)
{
    uint32_t s = 0;

    while (n-- > 0) {
        s = s * 31 + *p++;
    }
    return s;
}

static void lengths(void)
{
    uint32_t s = 0;

    for (size_t n = 0; n < 1200; n += 1 + n / 9) {
        for (size_t at = 490; at < 530; at += 3) {
            memcpy(b + at + hide, a + n / 2, n + hide);
            memset(b + at / 2, (int)n, n / 3);
            memmove(b + at, b + at + 7, n);
            memmove(b + at + 5, b + at, n);
            s = s * 7 + (uint32_t)(memcmp(a + at, b + at, n) < 0);
            s = s * 7 + sum(b, sizeof b);
        }
    }
    printf("lengths %08x\n", s);
}

static void structs(void)
{
    struct medium local = {7, "local", 2.5};

    for (int i = 0; i < 50; i++) {
        smalls[i] = (struct small){{(char)i, (char)(i + 1), 'x'}};
        mediums[i] = local;
        mediums[i].a = (uint16_t)(i * i);
    }
    for (int i = 1; i < 50; i++) {
        smalls[50 - i] = smalls[i / 2];
        mediums[50 - i] = mediums[i / 2];
    }
    larges[0].v[299] = 5;
    larges[1] = larges[0];
    larges[2] = larges[1];
    struct large copy = larges[2];
    printf("structs %08x %08x %d %s\n", sum((unsigned char *)smalls, sizeof smalls),
           sum((unsigned char *)mediums[3].b, 5), copy.v[299], mediums[9].b);
}

static void heap(void)
{
    char *p = malloc(100), *q = calloc(40, 50), *r;
    uint32_t s = 0;

    memset(p, 'p', 100);
    for (int i = 0; i < 2000; i++) {
        s += (unsigned char)q[i];
    }
    r = realloc(p, 5000);
    for (int i = 0; i < 100; i++) {
        s += r[i] == 'p';
    }
    r = realloc(r, 10);
    s += r[9] == 'p';
    free(q);
    q = aligned_alloc(64, 640);
    s += ((uintptr_t)q % 64 == 0) * 1000;
    void *m = NULL;
    s += (posix_memalign(&m, 256, 10) == 0 && (uintptr_t)m % 256 == 0) * 10000;
    void *volatile too_large = malloc((size_t)-100);
    char *d = strdup("duplicate"), *n = strndup(d, 3);
    printf("heap %u %s %s %d\n", s, d, n, too_large == NULL);
    free(q), free(m), free(d), free(n), free(r), free(NULL);
}

int main(void)
{
    for (size_t i = 0; i < sizeof a; i++) {
        a[i] = (unsigned char)(i * 31 + i / 256);
    }
    lengths();
    structs();
    heap();
    return 0;
}

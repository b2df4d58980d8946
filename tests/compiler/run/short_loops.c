/* SPDX-License-Identifier: Apache-2.0 */
/* Loops of few turns that begin anywhere on a page and may end on the next one, which in RAM is not
 * behind it: they come into the frames in another order than they lie in memory. */
#include <stdint.h>
#include <stdio.h>

#define PAGE 512 /* of the usual build; smaller ones have more ends of pages */
#define PAGES 8
#define TURNS 24

static uint8_t bytes[PAGES * PAGE];
static int32_t words[PAGES * PAGE / 4];

static __attribute__((noinline)) uint32_t up(const uint8_t *p, int n)
{
    uint32_t sum = 0;

    for (int i = 0; i < n; i++) {
        sum = sum * 31 + p[i];
    }
    return sum;
}

static __attribute__((noinline)) uint32_t down(const int32_t *p, int n)
{
    uint32_t sum = 0;

    for (int i = 0; i < n; i++) {
        sum = sum * 31 + (uint32_t)p[-i];
    }
    return sum;
}

static __attribute__((noinline)) uint32_t pairs(const uint8_t *p, const int32_t *q, int n)
{
    uint32_t sum = 0;

    for (int i = 0; i < n; i++) {
        sum = sum * 31 + (uint32_t)(p[3 * i] + p[3 * i + 2] * q[2 * i]);
    }
    return sum;
}

static __attribute__((noinline)) void fill(int32_t *p, int n, int32_t value)
{
    for (int i = 0; i < n; i++) {
        p[i] = value + i;
    }
}

static __attribute__((noinline)) int first(const uint8_t *p, int n, uint8_t wanted)
{
    for (int i = 0; i < n; i++) {
        if (p[i] == wanted) {
            return i;
        }
    }
    return -1;
}

static uint32_t all(void)
{
    return up(bytes, sizeof bytes) ^ down(words + PAGES * PAGE / 4 - 1, PAGES * PAGE / 4);
}

int main(void)
{
    uint32_t sum = 0;

    for (int page = 0; page < PAGES; page++) {
        for (int i = 0; i < PAGE; i++) {
            int at = page * 5 % PAGES * PAGE + i;

            bytes[at] = (uint8_t)(at * 7 + at / PAGE * 31);
            words[at / 4] = at * 13;
        }
    }
    for (int n = 0; n <= TURNS; n++) {
        for (int at = 0; at < 5 * PAGE; at++) {
            sum = sum * 33 + up(bytes + at, n);
            sum = sum * 33 + down(words + at / 4 + TURNS, n);
            sum = sum * 33 + pairs(bytes + at, words + (at * 5 + n) % (5 * PAGE / 4), n);
            sum = sum * 33 + (uint32_t)first(bytes + at, n, (uint8_t)(at * 7 + 77));
        }
        printf("%d turns: %08x\n", n, sum);
        for (int at = 0; at < 5 * PAGE / 4; at += 3) {
            fill(words + at, n, at);
        }
        printf("%d written: %08x\n", n, all());
    }
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* random.h - numbers, strings and memory for the random programs; the same in every build. */
#ifndef NW_RANDOM_H
#define NW_RANDOM_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t random_state;

/* A case is known by its number alone. */
static inline void random_start(uint64_t number)
{
    random_state = (number + 1) * UINT64_C(0xd1342543de82ef95); /* far from the next one's */
}

static inline uint64_t random_bits(void)
{
    uint64_t z = random_state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* 0 to limit - 1. */
static inline unsigned below(unsigned limit)
{
    return (unsigned)(random_bits() % limit);
}

static inline int one_in(unsigned n)
{
    return below(n) == 0;
}

static inline char pick(const char *from)
{
    return from[below((unsigned)strlen(from))];
}

static inline uint64_t hash(const void *from, size_t bytes)
{
    const unsigned char *at = from;
    uint64_t h = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < bytes; i++) {
        h = (h ^ at[i]) * UINT64_C(0x100000001b3);
    }
    return h;
}

/* Text for people: the beginning, and a digest of all. */
static inline void show(const char *text, size_t bytes)
{
    putchar('"');
    for (size_t i = 0; i < bytes && i < 60; i++) {
        int byte = (unsigned char)text[i];

        if (byte >= ' ' && byte < 127) {
            putchar(byte);
        } else {
            putchar('~');
        }
    }
    printf("\" %zu %llx", bytes, (unsigned long long)hash(text, bytes));
}

/* Integers near the edges as often as not. */
static inline long long random_integer(void)
{
    static const long long edges[] = {0,          1,         -1,        INT32_MAX, INT32_MIN,
                                      INT64_MAX,  INT64_MIN, UINT32_MAX, 127,      -128,
                                      255,        32767,     -32768,    65535,     10};

    switch (below(3)) {
    case 0: return edges[below(sizeof edges / sizeof *edges)];
    case 1: return (long long)(random_bits() >> below(64));
    default: return (long long)below(2000) - 1000;
    }
}

static inline double random_double(void)
{
    static const double edges[] = {0.0,  -0.0,   1.0,    0.5,   1e300, 1e-300, 5e-324, 9.995,
                                   0.05, 123456, 1e16,   1e-5,  9.5,   99999.5, 1e22,  2.5};
    uint64_t bits = random_bits();
    double value;

    switch (below(4)) {
    case 0: return edges[below(sizeof edges / sizeof *edges)];
    case 1: return (double)random_integer() / 8;
    case 2: return (double)random_integer() * 1e-6;
    default: break;
    }
    memcpy(&value, &bits, sizeof value);
    return value != value ? 1.0 / (double)below(2) : value; /* a NaN's sign is nobody's promise */
}

/* FIRST COUNT from the command line; the same case comes out the same in any company. */
static inline int run_cases(int argc, char **argv, void (*one)(unsigned))
{
    unsigned first = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
    unsigned count = argc > 2 ? (unsigned)atoi(argv[2]) : 1;

    for (unsigned number = first; number < first + count; number++) {
        random_start(number);
        printf("%u: ", number);
        one(number);
        putchar('\n');
    }
    return 0;
}

#endif

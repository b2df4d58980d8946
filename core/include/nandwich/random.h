/* SPDX-License-Identifier: Apache-2.0 */
/*
 * random.h - the one generator of Nandwich, seeded by the caller and passed by pointer, so that a
 * run repeats to the bit on every processor: xorshift32 (Marsaglia, "Xorshift RNGs", 2003), period
 * 2^32 - 1. Not for secrets.
 */
#ifndef NANDWICH_RANDOM_H
#define NANDWICH_RANDOM_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct nw_random {
    uint32_t state; /* never 0 after nw_random_seed() */
};

static inline void nw_random_seed(struct nw_random *random, uint32_t seed)
{
    random->state = (seed ^ 0x9E3779B9UL) != 0 ? (seed ^ 0x9E3779B9UL) : 1UL;
}

static inline uint32_t nw_random_next(struct nw_random *random)
{
    uint32_t x = random->state;

    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    random->state = x;
    return x;
}

/* 0 .. limit - 1 for 1 <= limit <= 65536 from the upper bits, without a division. */
static inline uint32_t nw_random_below(struct nw_random *random, uint32_t limit)
{
    return ((nw_random_next(random) >> 16) * limit) >> 16;
}

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * latency.h - times in constant memory: count, sum, worst, and a histogram whose buckets are at
 * most 1/16 wide relative to where they lie, so that percentiles are exact to 6 %.
 */
#ifndef NANDWICH_REPLAY_LATENCY_H
#define NANDWICH_REPLAY_LATENCY_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NW_LATENCY_STEPS 16U /* buckets each doubling of the time has */
#define NW_LATENCY_BUCKETS (NW_LATENCY_STEPS * 61U)

struct nw_latency {
    uint64_t count;
    uint64_t sum_ns;
    uint64_t max_ns;
    uint64_t buckets[NW_LATENCY_BUCKETS];
};

/* Cost: a few instructions. */
static inline void nw_latency_add(struct nw_latency *latency, uint64_t ns)
{
    uint32_t bucket = (uint32_t)ns;

    if (ns >= NW_LATENCY_STEPS) {
        uint32_t shift = 59U - (uint32_t)__builtin_clzll(ns);

        bucket = NW_LATENCY_STEPS * (shift + 1U) + (uint32_t)(ns >> shift) - NW_LATENCY_STEPS;
    }
    latency->buckets[bucket]++;
    latency->count++;
    latency->sum_ns += ns;
    latency->max_ns = ns > latency->max_ns ? ns : latency->max_ns;
}

/* The longest time that falls into a bucket. */
uint64_t nw_latency_end(uint32_t bucket);

/* A time that so many millionths of all stay at or below (0 .. 1,000,000), rounded up to the end of
 * its bucket, never above the worst; 0 when there are none. */
uint64_t nw_latency_at(const struct nw_latency *latency, uint32_t millionths);

#ifdef __cplusplus
}
#endif

#endif

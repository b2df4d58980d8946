/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zipf.h - ranks by Zipf's law in constant memory and time: ranks up to 64 each have their own
 * weight, larger ones share buckets 1/64 as wide as they are far out, evenly within a bucket (the
 * weight of a rank is then at most theta / 64 off).
 */
#ifndef NW_REPLAY_ZIPF_H
#define NW_REPLAY_ZIPF_H

#include <stdint.h>

#define ZIPF_FINE 64U
#define ZIPF_BUCKETS (ZIPF_FINE * 27U)
#define ZIPF_GUIDE 1024U

struct zipf {
    uint32_t buckets;
    uint32_t first[ZIPF_BUCKETS + 1U]; /* rank, from 0 */
    uint32_t upto[ZIPF_BUCKETS];       /* share of all weight up to its end, of 2^32 - 1 */
    uint16_t guide[ZIPF_GUIDE];        /* where to begin looking for a number of these upper bits */
};

/* `ranks` >= 1; theta in thousandths. */
void nw_zipf_open(struct zipf *zipf, uint32_t ranks, uint32_t theta);

/* The rank, from 0, for two random numbers. */
uint32_t nw_zipf_rank(const struct zipf *zipf, uint32_t which, uint32_t within);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* admit.h - what the two tests of admission share. Not for callers. */
#ifndef NANDWICH_SCHED_ADMIT_PARTS_H
#define NANDWICH_SCHED_ADMIT_PARTS_H

#include "nandwich/sched_admit.h"

/* Deadlines lie below this, in ticks; sums stop there. */
#define NW_ADMIT_FAR 0x40000000UL

/* Operations that must be done, and of what kind the one before them may be. */
struct nw_admit_work {
    uint32_t writes;
    uint32_t reads;
    uint8_t write_before;
    uint8_t read_before;
};

/* admit_time.c, all but the two tests: the product, up to NW_ADMIT_FAR. */
uint32_t nw_admit_product(uint32_t count, uint32_t each);

/* Most firings of `load` in `span` ticks, both ends included; `span` below 2^31. */
uint32_t nw_admit_firings(const struct nw_sched_load NW_XDATA *load, uint32_t span);

/* Adds `count` operations of `load`. */
void nw_admit_add(struct nw_admit_work *work, const struct nw_sched_load NW_XDATA *load,
                  uint32_t count);

/* The operation before it may be one of `load`. */
void nw_admit_before(struct nw_admit_work *work, const struct nw_sched_load NW_XDATA *load);

/* One operation of `load`, openings apart. */
uint32_t nw_admit_cost(const struct nw_sched_admission NW_XDATA *a,
                       const struct nw_sched_load NW_XDATA *load);

/* What the opening of a unit adds to a write. */
uint32_t nw_admit_opening(const struct nw_sched_admission NW_XDATA *a);

/* Longest time of the work with the operation before it; up to NW_ADMIT_FAR. */
uint32_t nw_admit_time(const struct nw_sched_admission NW_XDATA *a,
                       const struct nw_admit_work *work);

/* The demand test: sets each load's `demand`, the longest wait it can prove, or NW_ADMIT_FAR. */
void nw_admit_demand(const struct nw_sched_admission NW_XDATA *a);

/* The waiting test, which also knows `demand`: raises wait_ticks until they agree. 0 when that of
 * some load passes its deadline, or it takes too long. */
int nw_admit_wait(const struct nw_sched_admission NW_XDATA *a);

#endif

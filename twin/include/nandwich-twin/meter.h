/* SPDX-License-Identifier: Apache-2.0 */
/*
 * meter.h - the clock and the energy bill of an emulated device, in integers, so that a run repeats
 * to the bit.
 *
 * One meter may serve several parts that work one after the other: give all of them the same one.
 * Time wraps after 584 years, energy after 18 MJ.
 */
#ifndef NANDWICH_TWIN_METER_H
#define NANDWICH_TWIN_METER_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct nw_meter {
    uint64_t time_ns;   /* emulated time passed */
    uint64_t energy_pj; /* emulated energy spent */
};

/*
 * What one operation costs: a fixed part and a part for each byte that it moves (the linear model
 * of Mathur et al., SenSys 2006, section 2). Time a byte is kept in picoseconds, since a fast bus
 * moves a byte in a few nanoseconds.
 */
struct nw_cost {
    uint64_t fixed_ns;
    uint64_t byte_ps;
    uint64_t fixed_pj;
    uint64_t byte_pj;
};

/* Time of one operation that moves `bytes`, rounded up to a whole nanosecond. */
static inline uint64_t nw_cost_ns(const struct nw_cost *cost, uint64_t bytes)
{
    return cost->fixed_ns + (bytes * cost->byte_ps + 999U) / 1000U;
}

static inline uint64_t nw_cost_pj(const struct nw_cost *cost, uint64_t bytes)
{
    return cost->fixed_pj + bytes * cost->byte_pj;
}

/* Book one operation that moves `bytes`. */
static inline void nw_meter_charge(struct nw_meter *meter, const struct nw_cost *cost,
                                   uint64_t bytes)
{
    meter->time_ns += nw_cost_ns(cost, bytes);
    meter->energy_pj += nw_cost_pj(cost, bytes);
}

#ifdef __cplusplus
}
#endif

#endif

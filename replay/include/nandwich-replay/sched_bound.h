/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sched_bound.h - the best possible: how many requests of a workload any scheduler could have met,
 * found offline with all arrivals known beforehand.
 *
 * THE RULES are the scheduler's own: one operation at a time, requests of one flow in order, those
 * of one flow that fit a sector may share an operation, a request is met if its operation ends at
 * its deadline at the latest. Requests may be given up freely, deciding costs nothing, and the
 * queue has no end.
 *
 * RELAXED (nw_bound_relaxed) for runs of any length: opening a unit costs nothing beyond a write,
 * operations take their shortest time, and time is a grid to which issue times, deadlines and what
 * operations take are rounded in the requests' favour: what is shorter than a step costs nothing.
 * Under these rules it is the true maximum (dynamic programme over time and how far each flow is
 * served), so no scheduler, whatever it knows, meets more. The finer the grid, the tighter.
 * With so many flows or waiting requests that the states do not fit NW_BOUND_STATES, each flow is
 * taken as if it had the device for itself, which is looser; `apart` says so. With more to do than
 * NW_BOUND_WORK the steps get longer; `grid_ns` says how long. Flows taken apart share
 * NW_BOUND_WORK evenly, and one that needs more is taken to meet everything. So no call takes more
 * than ten seconds or so, whatever the number of flows.
 *
 * EXACT (nw_bound_exact) for small runs: true times, units opened at given costs, also ahead of
 * need and with or without a request. Branch and bound over all orders that need looking at.
 */
#ifndef NANDWICH_REPLAY_SCHED_BOUND_H
#define NANDWICH_REPLAY_SCHED_BOUND_H

#include <stddef.h>
#include <stdint.h>

#include "nandwich-replay/arrivals.h"

#ifdef __cplusplus
extern "C" {
#endif

#define NW_BOUND_STATES (1UL << 20) /* counts of flows' waiting requests, multiplied */
/* States of all steps, each times one more than the flows that wait in it: ten
 * seconds or so. */
#define NW_BOUND_WORK (1UL << 30)
#define NW_BOUND_EXACT_MAX 24U      /* requests of a run that is solved exactly */
#define NW_BOUND_OPENINGS_MAX 8U

struct nw_bound_config {
    const struct nw_arrival_flow *flows; /* deadline, size and direction are used */
    uint32_t flow_count;
    const struct nw_arrival *requests; /* all of the run, by time */
    size_t request_count;
    uint32_t sector_bytes;
    uint64_t write_ns; /* shortest time of a write into an open unit */
    uint64_t read_ns;  /* shortest time of a read */
    uint64_t grid_ns;  /* relaxed: step of time; 0: 1 ms */
    uint64_t clock_ns; /* tick of the clock by which requests count as met, wherever it started: up
                          to a tick after its deadline a request may still count; 0: exact times */
    /* Relaxed only: asked every 65,536 states, some hundredths of a second; anything but 0 ends
     * the search. NULL: nobody is asked. */
    int (*ask)(void *context);
    void *context;
    /* Exact only. */
    uint32_t unit; /* sectors in a unit, 0: no such cost */
    uint64_t open_ns[NW_BOUND_OPENINGS_MAX]; /* of the first, second, ... unit; the last repeats */
    uint32_t open_count;
};

struct nw_bound_result {
    uint64_t met;   /* at most so many requests can be met */
    uint8_t exact;  /* and so many really can */
    uint8_t apart;  /* each flow was taken by itself */
    uint8_t stopped; /* `ask` ended it: nothing else here means anything */
    uint64_t nodes; /* states looked at */
    uint64_t grid_ns; /* relaxed: the step of time in the end */
};

/* NW_ERR_RAM: the host has no memory; NW_ERR_CONFIG: requests out of order, a size of 0 or above a
 * sector, an unknown flow, a cost of 0; NW_ERR_RANGE: 2^31 steps or more. */
int nw_bound_relaxed(const struct nw_bound_config *config, struct nw_bound_result *result);

/* The same errors, but NW_ERR_RANGE for more than NW_BOUND_EXACT_MAX requests. */
int nw_bound_exact(const struct nw_bound_config *config, struct nw_bound_result *result);

/* All requests of `arrivals` for one seed into `requests`, at most `room`; how many there are. */
size_t nw_bound_collect(struct nw_arrivals *arrivals, uint32_t seed, struct nw_arrival *requests,
                        size_t room);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arrivals.h - when requests of deadline workloads come: flows with period, jitter and bursts, or a
 * recording. The scheduler's simulator and the offline bound read the same stream.
 */
#ifndef NANDWICH_REPLAY_ARRIVALS_H
#define NANDWICH_REPLAY_ARRIVALS_H

#include <stddef.h>
#include <stdint.h>

#include "nandwich/random.h"

#ifdef __cplusplus
extern "C" {
#endif

#define NW_ARRIVAL_FLOWS 64U

/* One flow of a workload. */
struct nw_arrival_flow {
    uint64_t period_ns;   /* between firings; 0: only recorded arrivals */
    uint64_t jitter_ns;   /* each firing is late by 0 .. jitter_ns - 1; at most the period */
    uint64_t phase_ns;    /* first firing */
    uint64_t deadline_ns; /* from issue */
    uint32_t size;        /* bytes a request */
    uint32_t burst_every; /* each so many-th firing is a burst; 0: never */
    uint32_t burst_size;  /* requests in a burst */
    uint8_t direction;    /* enum nw_sched_direction */
    uint8_t phase_random; /* first firing anywhere in the first period instead */
};

/* One request of a recording, in order of time. */
struct nw_arrival {
    uint64_t time_ns;
    uint32_t flow;
};

struct nw_arrivals {
    /* Set by the caller. */
    const struct nw_arrival_flow *flows;
    uint32_t flow_count; /* 1 .. NW_ARRIVAL_FLOWS */
    const struct nw_arrival *recorded; /* NULL: generate */
    size_t recorded_count;
    uint64_t end_ns; /* nothing is issued at or after this time */

    /* State. */
    struct nw_random random;
    size_t place;                           /* in the recording */
    uint64_t nominal_ns[NW_ARRIVAL_FLOWS];  /* of the next firing, jitter apart */
    uint64_t time_ns[NW_ARRIVAL_FLOWS];     /* of the next firing */
    uint32_t firings[NW_ARRIVAL_FLOWS];
    uint32_t left[NW_ARRIVAL_FLOWS]; /* requests left in this firing */
    uint32_t flow;                   /* of the next arrival */
};

/* Begin (again); the same seed gives the same arrivals. */
void nw_arrivals_start(struct nw_arrivals *arrivals, uint32_t seed);

/* Time of the next arrival, UINT64_MAX when there are no more; its flow is in `flow`. */
uint64_t nw_arrivals_peek(struct nw_arrivals *arrivals);

/* Go on behind it. */
void nw_arrivals_take(struct nw_arrivals *arrivals);

#ifdef __cplusplus
}
#endif

#endif

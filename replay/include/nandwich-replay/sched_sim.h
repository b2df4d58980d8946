/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sched_sim.h - deadline workloads through the scheduler that ships (core/sched), over any block
 * device of the twin, on the twin's clock. Deterministic: same configuration and seed, same result.
 */
#ifndef NANDWICH_REPLAY_SCHED_SIM_H
#define NANDWICH_REPLAY_SCHED_SIM_H

#include "nandwich-replay/arrivals.h"
#include "nandwich-twin/meter.h"
#include "nandwich-twin/timeline.h"
#include "nandwich/sched.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What the node's processor takes, beside the block operations of the twin. */
struct nw_sim_cpu {
    uint32_t submit_ns;  /* one request handed in by an interrupt */
    uint32_t decide_ns;  /* nw_sched_next() with one flow waiting */
    uint32_t flow_ns;    /* more for each further flow that waits */
    uint32_t pressed_ns; /* nw_sched_next() in place of both, with over half of the slots taken */
    uint32_t arrival_ns; /* more for each request it takes in */
    uint32_t done_ns;    /* nw_sched_done() */
    uint32_t end_ns;     /* more for each request it ends */
};

/* What became of one request, in the order of becoming. */
struct nw_sim_event {
    uint64_t time_ns;
    uint32_t flow;
    uint32_t sequence; /* counts the flow's offers, modulo 65536 */
    uint32_t sector;   /* where it went */
    uint8_t verdict;   /* enum nw_sched_verdict; NW_SCHED_FULL and NW_SCHED_REFUSED at the door */
};

struct nw_sim_config {
    struct nw_arrivals arrivals; /* flows, recording and end set */
    const struct nw_sched_policy *policy;
    struct nw_block *block;
    struct nw_meter *meter; /* the clock the block device moves */
    struct nw_sim_cpu cpu;
    uint32_t seed;
    uint32_t slots;
    uint32_t limit; /* of each flow, see struct nw_sched_flow; 0: none */
    uint32_t stubs; /* a queue of arrivals apart: no more may wait there than these of the slots
                       before a decision takes them in, one by one under FIFO. 0: all slots */
    uint32_t unit;  /* as in struct nw_sched */
    uint32_t clock_us; /* what the node's 32-bit clock shows at the start */
    uint32_t write_us, open_us, read_us, guard_us;
    uint32_t fetch_ns; /* to bring a full sector's payload to the device before a write; a group
                          takes its share of it. 0: the device's own times have it */
    uint8_t flags; /* NW_SCHED_... */
    struct nw_sim_event *events; /* a log of the run; NULL: none */
    size_t event_room;           /* further ones are counted, not kept */
    struct nw_timeline *timeline; /* what became of them, and when; NULL: none */
};

struct nw_sim_flow_result {
    uint64_t offered, met, late, dropped, failed, full, refused, past;
    uint64_t response_us_sum; /* over met and late */
    uint64_t response_us_max;
};

struct nw_sim_result {
    struct nw_sim_flow_result total;
    struct nw_sim_flow_result flows[NW_ARRIVAL_FLOWS];
    uint64_t operations; /* block writes and reads */
    uint64_t openings;   /* of them, writes without a request */
    uint64_t decisions;
    uint64_t cpu_ns;     /* of the scheduler */
    uint64_t busy_ns;    /* of the device */
    uint64_t events;
    uint64_t end_ns;     /* when the last request was through */
};

/* One run. NW_ERR_CONFIG and NW_ERR_RANGE as nw_sched_open() answers them. Errors of the device are
 * counted in failed, they do not end the run. */
int nw_sim_run(struct nw_sim_config *config, struct nw_sim_result *result);

#ifdef __cplusplus
}
#endif

#endif

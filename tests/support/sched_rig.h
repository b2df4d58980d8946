/* SPDX-License-Identifier: Apache-2.0 */
/* sched_rig.h - the deadline scheduler over a block device in RAM, and what it told, as a story. */
#ifndef NANDWICH_TESTS_SCHED_RIG_H
#define NANDWICH_TESTS_SCHED_RIG_H

#include "nandwich/sched.h"

#define SCHED_RIG_FLOWS 5U /* four of them in use, but for one test */
#define SCHED_RIG_SLOTS 24U
#define SCHED_RIG_SECTORS 64U

struct sched_rig {
    struct nw_sched sched; /* first: the owner of an event is its rig, too */
    struct nw_sched_flow flows[SCHED_RIG_FLOWS];
    struct nw_sched_counts counts[SCHED_RIG_FLOWS];
    uint64_t ram[NW_SCHED_RAM_BYTES(NW_SCHED_SLOTS_MAX, SCHED_RIG_FLOWS) / 8U + 1U];
    struct nw_block block;
    uint8_t image[SCHED_RIG_SECTORS][512];
    uint8_t buffer[512];
    uint32_t now;
    int fail;        /* what the next block operation answers */
    char story[512]; /* events, as "A0+ " met, "-" late, "x" dropped, "!" failed */
};

/* Flows A, B, C, D with deadlines 100, 60, 80, 40; E has 90. Writes take 13, sectors hold 512. What
 * differs is set before it opens. One rig at a time. */
void sched_rig_set(struct sched_rig *rig, const struct nw_sched_policy *policy, uint8_t flags);
void sched_rig_open(struct sched_rig *rig);

/* The event of a rig: it goes on with the story. */
void sched_rig_listen(struct nw_sched_event *event);

/* What the door answers to a request. */
int sched_rig_offer(struct sched_rig *rig, char flow, uint16_t size, uint32_t time);

/* One request of 64 bytes for each letter, now. */
void sched_rig_offer_all(struct sched_rig *rig, const char *letters);

/* One operation of `took` ticks; 0 when there was nothing to do. */
int sched_rig_step(struct sched_rig *rig, uint32_t took);

/* Operations of 13 ticks, until there is nothing to do. */
void sched_rig_run(struct sched_rig *rig);

#endif

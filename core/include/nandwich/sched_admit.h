/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sched_admit.h - may one more flow join? A test before a flow is opened, with the arithmetic
 * shown.
 *
 * THE TEST. Served by deadline in groups (G-EDF), a request of flow i waits at the worst for
 *   - the operation under way, the longest there is;
 *   - of each flow j, its own included: the groups that may be waiting when it arrives (everything
 *     issued within j's deadline, in sectors as full as they get), and one more for each request j
 *     issues later with a deadline that is still earlier.
 * If that sum is within the deadline of every flow, no request of any flow is ever late: until the
 * first one is, nothing issued longer ago than its own deadline can still be waiting. The answer is
 * safe, not sharp: a set that is refused may do well all the same. It takes for granted that the
 * ticks given are the longest, deciding included, and that there are slots for all that waits.
 *
 * COST: flows squared, three 32-bit divisions each. Not for interrupts. No state is kept.
 */
#ifndef NANDWICH_SCHED_ADMIT_H
#define NANDWICH_SCHED_ADMIT_H

#include "nandwich/sched.h"

/* A flow as it promises to behave. Times in ticks as in sched.h. */
struct nw_sched_load {
    uint32_t period;   /* between firings, >= 1 */
    uint32_t deadline; /* of each request from its issue, 1 .. 2^30 - 1 */
    uint16_t size;     /* bytes a request, 1 .. sector_bytes */
    uint8_t burst;     /* requests a firing; 0 is taken as 1 */
    uint8_t direction; /* enum nw_sched_direction */
};

enum nw_sched_answer {
    NW_SCHED_NO = 0,             /* some request may be late */
    NW_SCHED_BUT_OPENINGS = 1,   /* none is late, but around the opening of a unit */
    NW_SCHED_YES = 2             /* none is ever late */
};

struct nw_sched_admission {
    /* Set by the caller: all flows, the new one among them. */
    const struct nw_sched_load NW_XDATA *loads;
    uint8_t count;
    uint16_t sector_bytes;
    uint32_t write_ticks; /* longest, each below 2^20 */
    uint32_t open_ticks;
    uint32_t read_ticks;

    /* The arithmetic, for the flow that has least room (or the first that has none). */
    uint8_t flow;
    uint8_t needs_slots;   /* requests that may wait at once, all flows; 255: that or more */
    uint16_t load_permille; /* of the device's time when sectors are as full as deadlines allow */
    uint32_t wait_ticks;    /* worst time from issue to flash, openings apart */
    uint32_t room_ticks;    /* what is left of the deadline then; 0 when wait is longer */
};

/* enum nw_sched_answer, or NW_ERR_CONFIG for a figure out of its range. */
int nw_sched_admit(struct nw_sched_admission NW_XDATA *admission);

#endif

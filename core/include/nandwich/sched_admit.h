/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sched_admit.h - may one more flow join? A test before a flow is opened, with the arithmetic
 * shown.
 *
 * YES means: no request of any flow is ever late, however the flows' firings fall, as long as
 *   - no flow fires more often, or hands in more or larger requests, than its load says; the
 *     requests of one firing are handed in together, before the next nw_sched_next(), and firings
 *     in the order they were due;
 *   - no operation takes longer than the ticks given, from the decision for it to the decision
 *     after it: deciding, turn-around, the clock's grain and the device's own work included;
 *   - nothing else keeps the device busy (nw_sched_spare_ticks() is no part of this promise);
 *   - there are slots for all that waits (needs_slots);
 *   - `unit` and openings are as in sched.h: the first write of a session opens, and it may lie
 *     right before the next unit, so that two openings come in a row; with NW_SCHED_WRAP the length
 *     of the log is a multiple of `unit`.
 * An operation once begun is never broken off, and a request may arrive right after a decision, in
 * the same tick. The answer does not depend on the order of the loads.
 *
 * WHOM IT HOLDS FOR (`order`); nothing is promised about FIFO
 *   NW_SCHED_GROUPS   G-EDF.
 *   NW_SCHED_SINGLES  EDF, and G-EDF too.
 *   NW_SCHED_PASSING  RG-EDF and SLACK, which let a later deadline pass while guard_ticks are left:
 *                     yes needs a guard of the deadlines' size. For SLACK, slot_count must be twice
 *                     needs_slots: with half of them taken it serves the longest group.
 *
 * HOW. Two tests, each of them safe; either is enough. docs/sched.md says more.
 *   Demand: in no stretch of time do the requests issued and due in it need more operations than it
 *   has room for, with one operation of a later deadline before them (George, Rivierre and Spuri,
 *   INRIA report 2966, 1996). It looks at all deadlines within the busiest stretch there can be,
 *   2,000 at most. For SINGLES without units it is exact: whoever is refused can be late, unless
 *   that stretch is 2^30 ticks long or more, holds more deadlines than that, or its end is not
 *   found.
 *   Waiting: from any moment on, a request waits for the operation under way, for what other flows
 *   have waiting, in sectors as full as they are then, and for what they issue later with an
 *   earlier deadline. It does not hold for PASSING.
 *
 * COST: 4,000 rounds at most, of two 32-bit divisions a flow; for each of 4,000 deadlines at most
 * five divisions a flow; 255 rounds at most of about 110 divisions for every pair of flows; with
 * units twice that. Not for interrupts. No state is kept but in the structs.
 */
#ifndef NANDWICH_SCHED_ADMIT_H
#define NANDWICH_SCHED_ADMIT_H

#include "nandwich/sched.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A flow as it promises to behave. Times in ticks as in sched.h. */
struct nw_sched_load {
    uint32_t period;   /* least time between firings, >= 1, jitter apart; above 2^30: 2^30 */
    uint32_t deadline; /* of each request from its issue, 1 .. 2^30 - 1 */
    uint16_t size;     /* bytes a request at most, >= 1; above sector_bytes see NW_SCHED_SPLIT */
    uint8_t burst;     /* requests a firing at most; 0 is taken as 1 */
    uint8_t direction; /* enum nw_sched_direction */
    uint32_t jitter;   /* how much later than due a firing may come, up to 2^30. Firings are due
                          `period` apart or more, so in any t ticks, both ends included, at most
                          1 + (t + jitter) / period of them come. It may be above `period` */

    /* Result. After yes: no request takes longer from issue to flash. After BUT_OPENINGS: the same,
     * openings apart. After NO: what the test came to before it gave up, no promise for any flow;
     * 2^30: as good as for ever. */
    uint32_t wait_ticks;

    /* The test's own. */
    uint32_t due, demand, next;
    uint16_t parts, group, each;
};

enum nw_sched_answer {
    NW_SCHED_NO = 0,             /* some request may be late */
    NW_SCHED_BUT_OPENINGS = 1,   /* none is late, but around the opening of a unit */
    NW_SCHED_YES = 2             /* none is ever late */
};

/* In what order requests are served; see above. */
enum nw_sched_order { NW_SCHED_GROUPS = 0, NW_SCHED_SINGLES = 1, NW_SCHED_PASSING = 2 };

struct nw_sched_admission {
    /* Set by the caller: all flows, the new one among them. */
    struct nw_sched_load NW_XDATA *loads;
    uint8_t count;         /* 1 .. NW_SCHED_FLOWS_MAX */
    uint8_t order;         /* enum nw_sched_order */
    uint8_t flags;         /* NW_SCHED_SPLIT: requests above a sector are split; else refused */
    uint16_t sector_bytes; /* >= 1 */
    uint16_t unit;         /* as in struct nw_sched; 0: no openings */
    uint32_t write_ticks;  /* longest, each below 2^20 */
    uint32_t open_ticks;   /* a write into a new unit; less than write_ticks is taken as that */
    uint32_t read_ticks;
    uint32_t guard_ticks;  /* of the scheduler; for NW_SCHED_PASSING alone */

    /* The arithmetic, for the flow that has least room, or is worst off if it has none. After any
     * answer but yes all of it is without openings. */
    uint8_t flow;
    uint8_t needs_slots;    /* requests that may wait at once, all flows; 255: that or more */
    uint16_t load_permille; /* of the device's time when sectors are as full as deadlines allow,
                               openings included; rounded up, by 3 at most; 65,535: that or more */
    uint32_t wait_ticks;    /* as in its load */
    uint32_t room_ticks;    /* what is left of its deadline then; 0 when the wait is longer */

    uint16_t opening; /* the test's own: the unit asked about */
};

/* enum nw_sched_answer, or NW_ERR_CONFIG for a figure out of its range, or loads NULL. */
int nw_sched_admit(struct nw_sched_admission NW_XDATA *admission);

#ifdef __cplusplus
}
#endif

#endif

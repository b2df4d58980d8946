/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processor demand. Take a request due at d, and the last moment before it at which nothing due by
 * d was waiting. From then on the device does the operation under way, which has a later deadline,
 * and then only what was issued since and is due by d. So the request is done when the sum of these
 * is. The sum is largest when all flows fire at once in the beginning, each as late as its jitter
 * lets it, and go on as fast as they may; it changes only where one more of their requests is due.
 *
 * A flow's group may take along requests due later than d: that costs no operation of its own. For
 * the requests of n firings n times the groups of one firing are enough, whatever joins them.
 *
 * Say that all that is issued within c, which is no shorter than the longest deadline, takes no
 * longer than c: the busiest stretch is over. What is due within a longer time x needs at most that
 * work more than what is due within x - c, and no request has a later deadline than x. So if nobody
 * is late up to c, nobody is. The waits are another matter: x - c must hold the longest deadline
 * before it stands for all flows. Up to c and that deadline, requests may wait longer.
 */
#include "admit.h"

/* Deadlines looked at, in the busiest stretch and once more after it. A set whose busiest stretch
 * holds more is not decided by this test. */
#define POINTS 2000U

#define UNKNOWN (2U * NW_ADMIT_FAR)

static uint32_t next_deadline(const struct nw_sched_admission NW_XDATA *a, uint32_t after)
{
    uint32_t least = NW_ADMIT_FAR;
    uint8_t i;

    for (i = 0; i < a->count; i++) {
        const struct nw_sched_load NW_XDATA *load = &a->loads[i];
        uint32_t due = load->due;

        if (after >= due) {
            /* At most one period behind `after`: below 2^31, with the jitter below 2^32. */
            due += nw_admit_firings(load, after - due) * load->next - load->jitter;
        }
        least = due < least ? due : least;
    }
    return least;
}

/* Time for all that is issued and due within `span`. */
static uint32_t need_by(const struct nw_sched_admission NW_XDATA *a, uint32_t span)
{
    struct nw_admit_work work = {0, 0, 0, 0};
    uint8_t i;

    for (i = 0; i < a->count; i++) {
        const struct nw_sched_load NW_XDATA *load = &a->loads[i];

        if (load->due <= span) {
            uint32_t firings = nw_admit_firings(load, span - load->due);

            nw_admit_add(&work, load, nw_admit_product(firings, load->each));
        } else {
            nw_admit_before(&work, load);
        }
    }
    return nw_admit_time(a, &work);
}

/* Time for all that is issued within `span`. */
static uint32_t issued_by(const struct nw_sched_admission NW_XDATA *a, uint32_t span)
{
    struct nw_admit_work work = {0, 0, 0, 0};
    uint8_t i;

    for (i = 0; i < a->count; i++) {
        const struct nw_sched_load NW_XDATA *load = &a->loads[i];
        uint32_t firings = nw_admit_firings(load, span - 1U);

        nw_admit_add(&work, load, nw_admit_product(firings, load->each));
    }
    return nw_admit_time(a, &work);
}

/* The end of the busiest stretch, `span` or later; UNKNOWN when it has none that is soon found. */
static uint32_t calm_after(const struct nw_sched_admission NW_XDATA *a, uint32_t span)
{
    uint16_t round;

    for (round = 0; round < POINTS && span < NW_ADMIT_FAR; round++) {
        uint32_t time = issued_by(a, span);

        if (time <= span) {
            return span;
        }
        span = time;
    }
    return UNKNOWN;
}

/* Nothing waits yet. Returns the longest deadline. */
static uint32_t begin(const struct nw_sched_admission NW_XDATA *a)
{
    uint32_t longest = 0;
    uint8_t i;

    for (i = 0; i < a->count; i++) {
        struct nw_sched_load NW_XDATA *load = &a->loads[i];

        load->demand = 0;
        load->next = load->period < NW_ADMIT_FAR ? load->period : NW_ADMIT_FAR;
        longest = load->due > longest ? load->due : longest;
    }
    return longest;
}

/* Raises the wait of all that may be due when `span` ends. */
static void look_at(const struct nw_sched_admission NW_XDATA *a, uint32_t span)
{
    uint32_t need = need_by(a, span);
    uint8_t i;

    for (i = 0; i < a->count; i++) {
        struct nw_sched_load NW_XDATA *load = &a->loads[i];
        uint32_t done = need + load->deadline; /* after issue, but for `span` */

        if (load->due <= span && done > span && done - span > load->demand) {
            load->demand = done - span;
        }
    }
}

static uint8_t some_late(const struct nw_sched_admission NW_XDATA *a)
{
    uint8_t i;

    for (i = 0; i < a->count; i++) {
        if (a->loads[i].demand > a->loads[i].deadline) {
            return 1;
        }
    }
    return 0;
}

void nw_admit_demand(const struct nw_sched_admission NW_XDATA *a)
{
    uint32_t longest = begin(a);
    uint32_t calm = calm_after(a, longest);
    uint32_t last = calm; /* deadline to look at: first for the answer, then for the waits */
    uint32_t span = 0;
    uint16_t points;
    uint8_t in_time = 0;
    uint8_t i;

    for (points = 0; points < POINTS && calm != UNKNOWN; points++) {
        span = next_deadline(a, span);
        if (span > last && last == calm) {
            points = 0;
            last = calm + longest; /* below UNKNOWN */
            in_time = !some_late(a);
        }
        if (span > last) {
            return;
        }
        if (span >= NW_ADMIT_FAR) {
            break;
        }
        look_at(a, span);
    }
    /* The waits are not known, but who is never late waits no longer than its deadline. */
    for (i = 0; i < a->count; i++) {
        a->loads[i].demand = in_time ? a->loads[i].deadline : NW_ADMIT_FAR;
    }
}

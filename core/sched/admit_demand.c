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
 * Say that all that is issued within c takes no longer than c: the busiest stretch is over. What is
 * due within a longer time x needs at most c more than what is due within x - c. The operation
 * under way is part of that c: whose it is, that flow has issued a request within c, and none that
 * is due within x. So if nobody is late up to c, nobody is, however far a deadline lies; and of a
 * flow with deadline d, one that is due by c + d waits longest. In the order of deadlines nobody
 * waits longer than c: whatever goes first was issued in that stretch too.
 */
#include "admit.h"

/* Deadlines looked at, in the busiest stretch and once more after it, and rounds to find its end. A
 * set whose busiest stretch holds more deadlines is not decided by this test. */
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

/* The next of them by which a request of the busiest stretch may be due, or UNKNOWN: there is none.
 * NW_ADMIT_FAR: it lies too far. */
static uint32_t next_point(const struct nw_sched_admission NW_XDATA *a, uint32_t after,
                           uint32_t calm)
{
    uint32_t span = next_deadline(a, after);
    uint32_t first = UNKNOWN; /* of a flow that had none yet */
    uint8_t i;

    for (i = 0; i < a->count; i++) {
        uint32_t due = a->loads[i].due;

        if (due > after) {
            first = due < first ? due : first;
        } else if (span - due < calm) {
            return span;
        }
    }
    return first;
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
static void look_at(const struct nw_sched_admission NW_XDATA *a, uint32_t span, uint32_t most)
{
    uint32_t need = need_by(a, span);
    uint8_t i;

    need = need < most ? need : most;
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

/* The waits are not known, but for the most of all; and who is never late waits no longer than its
 * deadline. */
static void give_up(const struct nw_sched_admission NW_XDATA *a, uint32_t most, uint8_t in_time)
{
    uint8_t i;

    for (i = 0; i < a->count; i++) {
        struct nw_sched_load NW_XDATA *load = &a->loads[i];

        load->demand = in_time && load->deadline < most ? load->deadline : most;
    }
}

/* First the deadlines within the stretch, for the answer; then those behind it, for the waits. */
void nw_admit_demand(const struct nw_sched_admission NW_XDATA *a)
{
    uint32_t longest = begin(a);
    uint32_t calm = calm_after(a, 1);
    uint32_t most = NW_ADMIT_FAR; /* that anybody waits */
    uint32_t span = 0;
    uint16_t points;
    uint8_t decided = 0;
    uint8_t in_time = 0;

    if (calm == UNKNOWN) {
        calm = calm_after(a, longest); /* further on it may be found in fewer rounds */
    }
    if (calm != UNKNOWN && a->order != NW_SCHED_PASSING) {
        most = calm;
    }
    for (points = 0; points < POINTS && calm != UNKNOWN; points++) {
        span = next_point(a, span, calm);
        if (span == UNKNOWN) {
            return;
        }
        if (span > calm && !decided) {
            decided = 1;
            in_time = !some_late(a);
            points = 0;
        }
        if (span >= NW_ADMIT_FAR) {
            break;
        }
        look_at(a, span, most);
    }
    give_up(a, most, in_time);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waiting. Say that no request of flow j begins later than w[j] after its issue. Take a request of
 * flow i, issued at a and due at d, and any moment c from a on. If it has not begun at c, it waits
 * for the operation under way, and then only for requests due by d:
 *   - those of flow j that wait at c, all issued within w[j] before it. They share sectors;
 *   - those it issues after c. Each of its firings may need operations of its own.
 * The smallest w that fulfil this for some c each, all at once, are right: of the requests that
 * wait longer, consider the first to do so; up to then nothing else did, so it cannot either.
 * They are found from below, each round with the figures of the round before, so that the order of
 * the loads does not matter.
 */
#include "admit.h"

#define ROUNDS 255U
#define CUTS 16U /* moments tried: sixteenths of the deadline */

/* Groups that requests of this many firings fill. */
static uint32_t groups(const struct nw_sched_load NW_XDATA *load, uint32_t firings)
{
    uint32_t requests = nw_admit_product(firings, load->parts);

    return (requests - 1U) / load->group + 1U;
}

/* Operations of `other` between `cut` after the issue of a request of `load` and its own begin,
 * which is `left` behind that at most. */
static uint32_t ahead(const struct nw_sched_admission NW_XDATA *a,
                      const struct nw_sched_load NW_XDATA *load,
                      const struct nw_sched_load NW_XDATA *other, uint32_t cut, uint32_t left)
{
    uint32_t held = other->wait_ticks - nw_admit_cost(a, other); /* w[j] */
    uint32_t due = other->deadline + cut;
    uint32_t all;
    uint32_t later = 0;
    uint32_t waiting;

    if (other == load) {
        return groups(load, nw_admit_firings(load, left));
    }
    if (due > load->deadline) { /* only what it issued some time before the cut is due by d */
        due -= load->deadline;
        return held < due ? 0 : groups(other, nw_admit_firings(other, held - due));
    }
    due = load->deadline - due; /* it may issue until then */
    due = due < left ? due : left;
    all = nw_admit_firings(other, held + due);
    waiting = nw_admit_firings(other, held);
    if (due != 0) {
        later = nw_admit_firings(other, due);
        later = later < all ? later : all;
    }
    /* Issued later costs more than waiting; the rest of them waits. */
    all -= later;
    waiting = all < waiting ? all : waiting;
    due = nw_admit_product(later, other->each);
    return waiting == 0 ? due : due + groups(other, waiting);
}

/* The longest wait of `load`, looked at from `cut` after its issue. */
static uint32_t wait_from(const struct nw_sched_admission NW_XDATA *a,
                          const struct nw_sched_load NW_XDATA *load, uint32_t cut)
{
    struct nw_admit_work work = {0, 0, 0, 0};
    uint32_t begin = load->wait_ticks - nw_admit_cost(a, load);
    uint32_t left = begin > cut ? begin - cut : 0;
    uint32_t time;
    uint8_t j;

    for (j = 0; j < a->count; j++) {
        const struct nw_sched_load NW_XDATA *other = &a->loads[j];

        nw_admit_add(&work, other, ahead(a, load, other, cut, left));
        nw_admit_before(&work, other);
    }
    time = cut + nw_admit_time(a, &work);
    return time < NW_ADMIT_FAR ? time : NW_ADMIT_FAR;
}

/* The least that can be shown. */
static uint32_t best_wait(const struct nw_sched_admission NW_XDATA *a,
                          const struct nw_sched_load NW_XDATA *load)
{
    uint32_t best = load->demand;
    uint32_t step = load->deadline / CUTS + 1U;
    uint32_t cut;

    for (cut = 0; cut < load->deadline && cut < best; cut += step) {
        uint32_t wait = wait_from(a, load, cut);

        best = wait < best ? wait : best;
    }
    return best;
}

int nw_admit_wait(const struct nw_sched_admission NW_XDATA *a)
{
    uint8_t changed = 1;
    uint8_t late = 0;
    uint8_t round;
    uint8_t i;

    for (i = 0; i < a->count; i++) {
        a->loads[i].wait_ticks = nw_admit_cost(a, &a->loads[i]);
    }
    for (round = 0; round < ROUNDS && changed && !late; round++) {
        changed = 0;
        for (i = 0; i < a->count; i++) {
            struct nw_sched_load NW_XDATA *load = &a->loads[i];

            load->next = best_wait(a, load);
        }
        for (i = 0; i < a->count; i++) {
            struct nw_sched_load NW_XDATA *load = &a->loads[i];

            if (load->next > load->wait_ticks) {
                load->wait_ticks = load->next;
                changed = 1;
            }
            if (load->wait_ticks > load->deadline) {
                late = 1;
            }
        }
    }
    return !late && !changed;
}

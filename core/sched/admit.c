/* SPDX-License-Identifier: Apache-2.0 */
/* Admission: checks the figures, asks the two tests and shows the arithmetic. */
#include <stddef.h>

#include "admit.h"

#define TICKS_MAX 0x100000UL
#define FULL_SHARE 0x420000UL /* of the device's time; one device is 2^16 */

static uint8_t splits(const struct nw_sched_admission NW_XDATA *a,
                      const struct nw_sched_load NW_XDATA *load)
{
    return load->size > a->sector_bytes;
}

static int load_ok(const struct nw_sched_admission NW_XDATA *a,
                   const struct nw_sched_load NW_XDATA *load)
{
    if (splits(a, load)) {
        uint16_t pieces = (uint16_t)((load->size - 1U) / a->sector_bytes + 1U);

        if ((a->flags & NW_SCHED_SPLIT) == 0 || pieces > NW_SCHED_SLOTS_MAX) {
            return 0;
        }
    }
    return load->period != 0 && load->jitter <= NW_ADMIT_FAR && load->size != 0 &&
           load->deadline - 1U < NW_ADMIT_FAR - 1U && load->direction <= NW_SCHED_READ;
}

static int config_ok(const struct nw_sched_admission NW_XDATA *a)
{
    uint8_t i;

    if (a->loads == NULL || (uint8_t)(a->count - 1U) >= NW_SCHED_FLOWS_MAX ||
        a->order > NW_SCHED_PASSING || a->sector_bytes == 0 || a->write_ticks >= TICKS_MAX ||
        a->open_ticks >= TICKS_MAX || a->read_ticks >= TICKS_MAX) {
        return 0;
    }
    for (i = 0; i < a->count; i++) {
        if (!load_ok(a, &a->loads[i])) {
            return 0;
        }
    }
    return 1;
}

/*
 * A policy that lets a later deadline pass does so only if guard_ticks are left to every deadline
 * that waits when that operation ends. From its end on nothing passes before the request in
 * question is done, so it is as if each had been issued then, with a deadline of guard_ticks; what
 * was issued during the operation has its deadline less the operation. One more operation is taken
 * off because SLACK and RG-EDF plan with an opening too many or too few.
 */
static uint32_t due_passing(const struct nw_sched_admission NW_XDATA *a, uint32_t deadline)
{
    uint32_t longest = a->write_ticks + nw_admit_opening(a);

    longest = a->read_ticks > longest ? a->read_ticks : longest;
    deadline = deadline > longest ? deadline - longest : 0;
    deadline = deadline < a->guard_ticks ? deadline : a->guard_ticks;
    return deadline > longest ? deadline - longest : 0;
}

/* Works out what both tests need of each load; 0 when some deadline leaves no time at all. */
static int prepare(const struct nw_sched_admission NW_XDATA *a)
{
    uint8_t i;
    int possible = 1;

    for (i = 0; i < a->count; i++) {
        struct nw_sched_load NW_XDATA *load = &a->loads[i];
        uint16_t pieces = 1;

        load->group = 1;
        if (splits(a, load)) {
            pieces = (uint16_t)((load->size - 1U) / a->sector_bytes + 1U);
        } else if (load->direction == NW_SCHED_WRITE && a->order != NW_SCHED_SINGLES) {
            load->group = (uint16_t)(a->sector_bytes / load->size);
        }
        load->parts = (uint16_t)(pieces * (load->burst == 0 ? 1U : load->burst));
        load->each = (uint16_t)((load->parts - 1U) / load->group + 1U);
        load->due = a->order == NW_SCHED_PASSING ? due_passing(a, load->deadline) : load->deadline;
        load->wait_ticks = NW_ADMIT_FAR;
        possible &= load->due != 0;
    }
    return possible;
}

/* Whether no load is ever late; each load's wait. */
static int ask(const struct nw_sched_admission NW_XDATA *a)
{
    uint8_t late = 0;
    uint8_t i;

    if (!prepare(a)) {
        return 0;
    }
    nw_admit_demand(a);
    for (i = 0; i < a->count; i++) {
        a->loads[i].wait_ticks = a->loads[i].demand;
        if (a->loads[i].demand > a->loads[i].deadline) {
            late = 1;
        }
    }
    return !late || (a->order != NW_SCHED_PASSING && nw_admit_wait(a));
}

/* a / b in parts of 2^16, rounded up, at most FULL_SHARE. Both are below 2^31, b is not 0. */
static uint32_t ratio(uint32_t a, uint32_t b)
{
    uint32_t share = a / b;
    uint8_t bit;

    if (share >= FULL_SHARE >> 16) {
        return FULL_SHARE;
    }
    a %= b;
    for (bit = 0; bit < 16; bit++) {
        a <<= 1;
        share <<= 1;
        if (a >= b) {
            a -= b;
            share++;
        }
    }
    return share + (a != 0);
}

/* The least of the device's time that a flow takes: no operation carries more requests than fit, or
 * than may wait. */
static uint32_t share_of(const struct nw_sched_admission NW_XDATA *a,
                         const struct nw_sched_load NW_XDATA *load)
{
    uint32_t period = load->period < NW_ADMIT_FAR ? load->period : NW_ADMIT_FAR;
    uint32_t firings = nw_admit_firings(load, load->deadline);
    uint32_t cost = nw_admit_cost(a, load);
    uint32_t most = load->group;

    if (load->direction == NW_SCHED_WRITE && a->opening != 0) {
        cost += (nw_admit_opening(a) + a->opening - 1U) / a->opening;
    }
    if (nw_admit_product(firings, load->parts) <= most) {
        period *= firings; /* deadline, jitter and period: below 2^32 */
        return period > 0x7FFFFFFFUL ? ratio((cost + 1U) >> 1, period >> 1) : ratio(cost, period);
    }
    /* Where figures do not fit 31 bits, the bits that go are a thousandth of the others at most. */
    for (; cost > 0x7FFFFFFFUL / load->parts; cost = (cost + 1U) >> 1) {
        period >>= 1;
    }
    cost *= load->parts;
    for (; period > 0x7FFFFFFFUL / most; period >>= 1) {
        cost = (cost + 1U) >> 1;
    }
    return period == 0 ? FULL_SHARE : ratio(cost, period * most);
}

static void show(struct nw_sched_admission NW_XDATA *a)
{
    uint32_t shares = 0;
    uint32_t slots = 0;
    uint8_t i;

    for (i = 0; i < a->count; i++) {
        const struct nw_sched_load NW_XDATA *load = &a->loads[i];
        const struct nw_sched_load NW_XDATA *least = &a->loads[a->flow];
        /* Rooms compared, deadline less wait each, without a difference below 0. */
        uint32_t own = load->wait_ticks + least->deadline;
        uint32_t other = least->wait_ticks + load->deadline;

        shares += share_of(a, load);
        slots += nw_admit_product(nw_admit_firings(load, load->deadline), load->parts);
        slots = slots < 255U ? slots : 255U;
        if (own > other || (own == other && load->deadline < least->deadline)) {
            a->flow = i;
        }
    }
    shares = shares < FULL_SHARE ? shares : FULL_SHARE;
    shares = (shares * 125U + 8191U) >> 13;
    a->load_permille = (uint16_t)(shares < 0xFFFFU ? shares : 0xFFFFU);
    a->needs_slots = (uint8_t)slots;
    a->wait_ticks = a->loads[a->flow].wait_ticks;
    a->room_ticks = a->loads[a->flow].deadline;
    a->room_ticks = a->room_ticks > a->wait_ticks ? a->room_ticks - a->wait_ticks : 0;
}

int nw_sched_admit(struct nw_sched_admission NW_XDATA *admission)
{
    struct nw_sched_admission NW_XDATA *a = admission;
    int answer = NW_SCHED_YES;

    if (!config_ok(a)) {
        return NW_ERR_CONFIG;
    }
    a->flow = 0;
    a->opening = a->unit;
    if (!ask(a)) {
        a->opening = 0;
        answer = a->unit != 0 && ask(a) ? NW_SCHED_BUT_OPENINGS : NW_SCHED_NO;
    }
    show(a);
    return answer;
}

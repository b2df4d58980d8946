/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SLACK, ours beyond the published policies.
 *
 * Slack of a group is the time left before it must start, when all waiting groups are served by
 * deadline. From that one pass over the sorted flows follow four decisions:
 *   - a larger group goes first if every group it passes keeps its deadline (RG-EDF looks at one);
 *   - with NW_SCHED_SAVE nothing is written while every group has slack and no sector is full;
 *   - when more than half of the slots are taken, the longest group goes first: it frees most;
 *   - a new unit, whose first write takes many times longer, is opened when it hurts least
 *     (NW_SCHED_PREOPEN), and carries requests that are lost anyway.
 * Without drop on miss a request that can no longer be met does not hold back those that can: its
 * flow is ordered by the first request of its group that can still be met, or behind all others.
 */
#include "parts.h"

/* The last part of a unit, in which a good moment for the next opening is looked for: in its first
 * half moments are only weighed, in its second the first one as good as any of those is taken. */
#define WINDOW 12U

/* Flows looked at, those with the earliest deadlines: it bounds the cost of a decision. When more
 * than these wait there is enough to do, and nothing is held back. */
#define LOOK 4U

/* A flow with nothing left to be met may not fill the slots that the others need. */
static void leave_room(NW_SCHED_SELF_ struct nw_sched_flow NW_XDATA *flow)
{
    uint8_t others = (uint8_t)((sched->flow_count - 1U) * 2U);
    uint8_t room = sched->slot_count > others ? (uint8_t)(sched->slot_count - others) : 1U;

    if (flow->limit == 0 || room < flow->limit) {
        flow->room = room;
    }
}

/* Orders the flow by the first request of its group that is met when served at once. */
static void rekey(NW_SCHED_SELF_ uint8_t number)
{
    struct nw_sched_flow NW_XDATA *flow = &sched->flows[number];
    uint32_t end = sched->now + nw_sched_cost(NW_SCHED_ME_ number);
    uint8_t member = flow->head;
    uint8_t left = flow->group;

    while (left > 0 && NW_TICKS(end, sched->slots[member].time) < 0) {
        member = sched->slots[member].next;
        left--;
    }
    if (left > 0) {
        flow->key = sched->slots[member].time;
    } else {
        flow->key = sched->slots[flow->head].time + NW_SCHED_LOST;
        leave_room(NW_SCHED_ME_ flow);
    }
    nw_sched_order_moved(NW_SCHED_ME_ number);
}

/* Late requests are dropped, or step back in the order. */
static void settle_late(NW_SCHED_SELF)
{
    uint8_t left;

    nw_sched_drop_late(NW_SCHED_ME);
    for (left = sched->order_count; left > 0; left--) {
        uint8_t number = sched->order[0];

        if (nw_sched_in_time(NW_SCHED_ME_ number)) {
            return;
        }
        rekey(NW_SCHED_ME_ number);
    }
}

/* The largest waiting group of writes; NW_SCHED_NONE if there is none. */
static uint8_t largest_write(NW_SCHED_SELF)
{
    uint8_t best = NW_SCHED_NONE;
    uint8_t i;

    for (i = 0; i < sched->order_count; i++) {
        uint8_t number = sched->order[i];

        if (sched->flows[number].direction == NW_SCHED_WRITE &&
            (best == NW_SCHED_NONE || sched->flows[number].bytes > sched->flows[best].bytes)) {
            best = number;
        }
    }
    return best;
}

/* Requests that would be lost if a unit were opened now: waiting ones, and those foreseen. */
static uint8_t opening_loss(NW_SCHED_SELF)
{
    uint32_t end = sched->now + sched->open_ticks + sched->write_ticks;
    uint8_t loss = 0;
    uint8_t i;

    for (i = 0; i < sched->flow_count; i++) {
        const struct nw_sched_flow NW_XDATA *flow = &sched->flows[i];
        uint32_t deadline = flow->last + flow->deadline;
        uint8_t left = 16;

        if (flow->count > 0 && NW_TICKS(end, flow->key) < 0) {
            loss = (uint8_t)(loss + flow->group);
        }
        if (flow->period == 0) {
            continue;
        }
        for (; left > 0; left--) {
            deadline += flow->period;
            if (NW_TICKS(end, deadline) >= 0) {
                break;
            }
            loss++;
        }
    }
    return loss;
}

/* Whether now is as good a moment to open the next unit as may be hoped for. */
static uint8_t good_moment(NW_SCHED_SELF)
{
    uint8_t loss;

    if ((sched->flags & NW_SCHED_PREOPEN) == 0 || sched->unit_left > WINDOW ||
        sched->unit_left == 0) {
        return 0;
    }
    loss = opening_loss(NW_SCHED_ME);
    if (sched->unit_left > WINDOW / 2U) {
        if (loss < sched->least_loss) {
            sched->least_loss = loss;
        }
        return loss == 0;
    }
    return loss <= sched->least_loss;
}

/* The next write opens a unit. A read that is due earlier does not wait for that. */
static uint8_t open_unit(NW_SCHED_SELF)
{
    uint8_t payload;

    if (sched->order_count > 0 && sched->flows[sched->order[0]].direction == NW_SCHED_READ) {
        sched->skip = 0;
        return sched->order[0];
    }
    payload = largest_write(NW_SCHED_ME);
    sched->opening = payload == NW_SCHED_NONE;
    return payload;
}

/* Whether it may pay to wait with this group: another request like its first still fits the sector
 * and, where the flow's period is known, comes while the group can wait. `need`: ticks the group
 * needs before its deadline. */
static uint8_t worth_waiting(NW_SCHED_SELF_ const struct nw_sched_flow NW_XDATA *flow,
                             uint32_t need)
{
    if (flow->count > flow->group || flow->direction == NW_SCHED_READ ||
        (uint16_t)(sched->sector_bytes - flow->bytes) < sched->slots[flow->head].size ||
        NW_FLOW_LOST(flow)) {
        return 0;
    }
    return flow->period == 0 || NW_TICKS(flow->last + flow->period + need, flow->key) > 0;
}

/* Nothing waiting can still be met: the flow that is through its backlog first. */
static uint8_t shortest_backlog(NW_SCHED_SELF)
{
    uint8_t best = sched->order[0];
    uint8_t i;

    for (i = 1; i < sched->order_count; i++) {
        uint8_t number = sched->order[i];

        if (sched->flows[number].count < sched->flows[best].count) {
            best = number;
        }
    }
    return best;
}

/* More than half of the slots are taken: whoever frees most of them. */
static uint8_t longest_group(NW_SCHED_SELF)
{
    uint8_t best = sched->order[0];
    uint8_t i;

    for (i = 1; i < sched->order_count; i++) {
        if (sched->flows[sched->order[i]].group > sched->flows[best].group) {
            best = sched->order[i];
        }
    }
    return best;
}

/* One pass by deadline over what waits; see the head of this file. */
static uint8_t by_slack(NW_SCHED_SELF)
{
    int32_t least = (int32_t)NW_SCHED_LOST; /* slack of all groups passed so far */
    uint32_t cost = sched->write_ticks + sched->turn_ticks;
    int32_t need = (int32_t)(cost + sched->guard_ticks);
    uint32_t end = sched->now - sched->turn_ticks;
    uint8_t save = sched->flags & NW_SCHED_SAVE;
    uint8_t best = sched->order[0];
    uint8_t ripe = NW_SCHED_NONE;
    uint8_t count = sched->order_count;
    uint16_t most = 0;
    uint8_t i;

    if (count > LOOK) {
        count = LOOK;
        save = 0;
    }
    for (i = 0; i < count; i++) {
        uint8_t number = sched->order[i];
        const struct nw_sched_flow NW_XDATA *flow = &sched->flows[number];
        int32_t slack;

        if (least >= need) {
            if (flow->bytes > most) {
                most = flow->bytes;
                best = number;
            }
            if (save && ripe == NW_SCHED_NONE &&
                !worth_waiting(NW_SCHED_ME_ flow, (uint32_t)need)) {
                ripe = number;
            }
        }
        end += flow->direction == NW_SCHED_READ ? sched->read_ticks + sched->turn_ticks : cost;
        slack = NW_TICKS(end, flow->key);
        if (slack < 0) {
            return sched->order[0]; /* not all of these can be met: plain EDF */
        }
        if (slack < least) {
            least = slack;
        }
    }
    least -= (int32_t)sched->guard_ticks;
    if (!save || least <= 0) {
        return best;
    }
    if (ripe == NW_SCHED_NONE) {
        sched->waiting = 1;
        sched->wake = sched->now + (uint32_t)least;
    }
    return ripe;
}

static uint8_t slack_choose(NW_SCHED_SELF)
{
    settle_late(NW_SCHED_ME);
    if (sched->unit != 0 && sched->unit_left == 0) {
        if (sched->order_count > 0 || (sched->flags & NW_SCHED_PREOPEN) != 0) {
            return open_unit(NW_SCHED_ME);
        }
        return NW_SCHED_NONE;
    }
    if (good_moment(NW_SCHED_ME)) {
        sched->skip = 1;
        return open_unit(NW_SCHED_ME);
    }
    if (sched->order_count == 0) {
        return NW_SCHED_NONE;
    }
    if (sched->held > sched->slot_count / 2U) {
        return longest_group(NW_SCHED_ME);
    }
    if (NW_FLOW_LOST(&sched->flows[sched->order[0]])) {
        return shortest_backlog(NW_SCHED_ME);
    }
    return by_slack(NW_SCHED_ME);
}

const struct nw_sched_policy NW_CODE nw_sched_slack = {
    slack_choose, NW_SCHED_BY_GROUP | NW_SCHED_BY_SORTED};

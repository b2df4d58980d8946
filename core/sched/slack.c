/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SLACK, ours beyond the published policies.
 *
 * Slack of a group is the time left before it must start, when all waiting groups are served by
 * deadline. From that one pass over the sorted flows follow four decisions:
 *   - a larger group goes first if every group it passes keeps its deadline (RG-EDF looks at one);
 *   - with NW_SCHED_SAVE nothing is written while every group has slack and no sector is full;
 *   - when not all can be met, the smallest group that stands in the way is passed over;
 *   - a new unit, whose first write takes many times longer, is opened when it hurts least
 *     (NW_SCHED_PREOPEN), and carries requests that are lost anyway.
 * Without drop on miss a request that can no longer be met does not hold back those that can: its
 * flow is ordered by the first request of its group that can still be met, or behind all others.
 */
#include "parts.h"

/* The last part of a unit, in which a good moment for the next opening is looked for: in its first
 * half moments are only weighed, in its second the first one as good as any of those is taken. */
#define WINDOW 32U

/* Orders the flow by the first request of its group that is met when served at once. */
static void rekey(struct nw_sched NW_XDATA *sched, uint8_t number)
{
    struct nw_sched_flow NW_XDATA *flow = &sched->flows[number];
    uint32_t end = sched->now + nw_sched_cost(sched, number);
    uint8_t left = flow->group;
    uint8_t member = flow->head;

    flow->key = sched->slots[member].time + NW_SCHED_LOST;
    for (; left > 0; left--) {
        const struct nw_sched_slot NW_XDATA *slot = &sched->slots[member];

        if (NW_TICKS(end, slot->time) >= 0) {
            flow->key = slot->time;
            break;
        }
        member = slot->next;
    }
    nw_sched_order_moved(sched, number);
}

/* Late requests are dropped, or step back in the order. */
static void settle_late(struct nw_sched NW_XDATA *sched)
{
    uint8_t left;

    nw_sched_drop_late(sched);
    for (left = sched->order_count; left > 0; left--) {
        uint8_t number = sched->order[0];
        uint32_t end = sched->now + nw_sched_cost(sched, number);

        if (NW_TICKS(end, sched->flows[number].key) >= 0) {
            return;
        }
        rekey(sched, number);
    }
}

/* The largest waiting group of writes; NW_SCHED_NONE if there is none. */
static uint8_t largest_write(const struct nw_sched NW_XDATA *sched)
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
static uint8_t opening_loss(const struct nw_sched NW_XDATA *sched)
{
    uint32_t end = sched->now + sched->open_ticks + sched->write_ticks;
    uint8_t loss = 0;
    uint8_t i;

    for (i = 0; i < sched->flow_count; i++) {
        const struct nw_sched_flow NW_XDATA *flow = &sched->flows[i];
        uint32_t deadline = flow->last + flow->deadline;
        uint8_t left = 16;

        if (flow->count > 0 && NW_TICKS(end, flow->key) < 0) {
            loss++;
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
static uint8_t good_moment(struct nw_sched NW_XDATA *sched)
{
    uint8_t loss;

    if ((sched->flags & NW_SCHED_PREOPEN) == 0 || sched->unit_left > WINDOW ||
        sched->unit_left == 0) {
        return 0;
    }
    loss = opening_loss(sched);
    if (sched->unit_left > WINDOW / 2U) {
        if (loss < sched->least_loss) {
            sched->least_loss = loss;
        }
        return loss == 0;
    }
    return loss <= sched->least_loss;
}

/* The next write opens a unit. */
static uint8_t open_unit(struct nw_sched NW_XDATA *sched)
{
    uint8_t payload = largest_write(sched);

    sched->opening = payload == NW_SCHED_NONE;
    return payload;
}

/* No further request like its first fits the group's sector; a read is a sector of its own. */
static uint8_t group_full(const struct nw_sched NW_XDATA *sched,
                          const struct nw_sched_flow NW_XDATA *flow)
{
    return flow->count > flow->group || flow->direction == NW_SCHED_READ ||
           (uint16_t)(sched->sector_bytes - flow->bytes) < sched->slots[flow->head].size;
}

/* Nothing waiting can still be met: the flow that is through its backlog first. */
static uint8_t shortest_backlog(const struct nw_sched NW_XDATA *sched)
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

/* One pass by deadline over what waits; see the head of this file. */
static uint8_t by_slack(struct nw_sched NW_XDATA *sched)
{
    int32_t least = (int32_t)NW_SCHED_LOST; /* slack of all groups passed so far */
    uint32_t end = sched->now;
    uint8_t best = sched->order[0];
    uint8_t smallest = best;
    uint8_t full = 0;
    uint8_t i;

    if (NW_FLOW_LOST(sched, &sched->flows[best])) {
        return shortest_backlog(sched);
    }
    for (i = 0; i < sched->order_count; i++) {
        uint8_t number = sched->order[i];
        const struct nw_sched_flow NW_XDATA *flow = &sched->flows[number];
        uint32_t cost = nw_sched_cost(sched, number);
        int32_t slack;

        if (flow->bytes > sched->flows[best].bytes &&
            least >= (int32_t)(cost + sched->guard_ticks)) {
            best = number;
        }
        if (group_full(sched, flow) || NW_FLOW_LOST(sched, flow)) {
            full = 1;
        }
        if (flow->group < sched->flows[smallest].group) {
            smallest = number;
        }
        end += cost;
        slack = NW_TICKS(end, flow->key);
        if (slack < 0) {
            /* Not all of these can be met. */
            return sched->order[0] != smallest ? sched->order[0] : sched->order[i > 0];
        }
        if (slack < least) {
            least = slack;
        }
    }
    least -= (int32_t)sched->guard_ticks;
    if ((sched->flags & NW_SCHED_SAVE) != 0 && !full && least > 0) {
        sched->waiting = 1;
        sched->wake = sched->now + (uint32_t)least;
        return NW_SCHED_NONE;
    }
    return best;
}

static uint8_t slack_choose(struct nw_sched NW_XDATA *sched)
{
    settle_late(sched);
    if (sched->unit != 0 && sched->unit_left == 0) {
        if (sched->order_count > 0 || (sched->flags & NW_SCHED_PREOPEN) != 0) {
            return open_unit(sched);
        }
        return NW_SCHED_NONE;
    }
    if (good_moment(sched)) {
        sched->skip = 1;
        return open_unit(sched);
    }
    return sched->order_count > 0 ? by_slack(sched) : NW_SCHED_NONE;
}

const struct nw_sched_policy NW_CODE nw_sched_slack = {
    slack_choose, NW_SCHED_BY_GROUP | NW_SCHED_BY_SORTED};

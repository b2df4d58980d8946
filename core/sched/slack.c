/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SLACK, ours beyond the published policies.
 *
 * Slack of a group is the time left before it must start, when all waiting groups are served by
 * deadline. From one pass over the sorted flows follow two decisions:
 *   - a larger group goes first if every group it passes keeps its deadline (RG-EDF looks at one);
 *   - with NW_SCHED_SAVE a group that may still grow is held back while every group has slack.
 * Two more keep the losses small where there must be some: when more than half of the slots are
 * taken, the longest group goes first, for it frees most; and a new unit, whose first write takes
 * many times longer, is opened when nothing waits (NW_SCHED_PREOPEN), or by the longest group.
 */
#include "parts.h"

/* Flows looked at, those with the earliest deadlines: it bounds the cost of a decision. When more
 * than these wait there is enough to do, and nothing is held back. */
#define LOOK 4U

/* Whoever frees most slots. */
static uint8_t longest_group(NW_SCHED_SELF)
{
    uint8_t best = sched->order[0];
    uint8_t i;

    for (i = 1; i < sched->order_count; i++) {
        uint8_t number = sched->order[i];

        if (sched->flows[number].group > sched->flows[best].group) {
            best = number;
        }
    }
    return best;
}

/* Not all that wait can be met: plain EDF, but an opening, which ends late anyway, should carry as
 * many as it can. A read does not wait for it. */
static uint8_t fall_back(NW_SCHED_SELF)
{
    uint8_t first = sched->order[0];

    if (NW_SCHED_OPENS && sched->flows[first].direction == NW_SCHED_WRITE) {
        return longest_group(NW_SCHED_ME);
    }
    return first;
}

/* Whether another request like its first still fits the group and is expected while the group can
 * wait: up to `need` ticks before its deadline. */
static uint8_t may_grow(NW_SCHED_SELF_ const struct nw_sched_flow NW_XDATA *flow, int32_t need)
{
    return flow->count == flow->group && sched->slots[flow->head].size <= flow->space &&
           NW_TICKS(flow->next, flow->key) > need;
}

static uint8_t slack_choose(NW_SCHED_SELF)
{
    uint32_t turn = sched->turn_ticks;
    int32_t need = (int32_t)(sched->write_ticks + turn + sched->guard_ticks);
    int32_t least = (int32_t)NW_SCHED_FAR; /* slack of all groups passed so far */
    uint32_t end = sched->now - turn;
    uint16_t most = 0;
    uint8_t best = NW_SCHED_NONE;
    uint8_t save = sched->flags & NW_SCHED_SAVE;
    uint8_t count;
    uint8_t i;

    nw_sched_take_in(NW_SCHED_ME);
    count = sched->order_count;
    if (count == 0) {
        sched->opening = (sched->flags & NW_SCHED_PREOPEN) != 0 && NW_SCHED_OPENS && !NW_LOG_FULL;
        return NW_SCHED_NONE;
    }
    if (sched->held > sched->slot_count / 2U) {
        return longest_group(NW_SCHED_ME);
    }
    if (NW_SCHED_OPENS) {
        end += sched->open_ticks;
    }
    if (count > LOOK) {
        count = LOOK;
        save = 0;
    }
    for (i = 0; i < count; i++) {
        uint8_t number = sched->order[i];
        const struct nw_sched_flow NW_XDATA *flow = &sched->flows[number];
        int32_t slack;

        if (least >= need && flow->bytes > most && !(save && may_grow(NW_SCHED_ME_ flow, need))) {
            most = flow->bytes;
            best = number;
        }
        end += nw_sched_cost(NW_SCHED_ME_ number) + turn;
        slack = NW_TICKS(end, flow->key);
        if (slack < 0) {
            return fall_back(NW_SCHED_ME);
        }
        if (slack < least) {
            least = slack;
        }
    }
    if (best == NW_SCHED_NONE) {
        least -= (int32_t)sched->guard_ticks;
        if (least <= 0) {
            return sched->order[0];
        }
        sched->waiting = 1;
        sched->wake = sched->now + (uint32_t)least;
    }
    return best;
}

const struct nw_sched_policy NW_CODE nw_sched_slack = {
    slack_choose, NW_SCHED_BY_GROUP | NW_SCHED_BY_SORTED};

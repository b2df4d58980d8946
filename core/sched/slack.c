/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SLACK, ours beyond the published policies.
 *
 * The plan is what G-EDF would do: all waiting groups one after the other, by deadline. Slack of a
 * group is the time from its end in the plan to its deadline. From one pass over the plan follow
 * two decisions:
 *   - a larger group goes first if every group it passes has slack enough to wait for it (RG-EDF
 *     looks at one);
 *   - with NW_SCHED_SAVE a group that may still grow is held back while every group has slack.
 * When the plan has a late group, SLACK does what G-EDF does. One exception keeps the losses small
 * where there must be some: with more than half of the slots taken the longest group goes first,
 * for it frees most.
 *
 * Why this meets all that G-EDF meets: a group that goes first moves only those it passes, each by
 * one operation, which their slack covers. Those behind it end when they would have ended anyway.
 */
#include "parts.h"

/* Groups planned, those with the earliest deadlines: it bounds the cost of a decision. When more
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

/* Whether another request like its first still fits the group and is expected while the group can
 * wait: up to `need` ticks before its deadline. */
static uint8_t may_grow(NW_SCHED_SELF_ const struct nw_sched_flow NW_XDATA *flow, int32_t need)
{
    return flow->count == flow->group && sched->slots[flow->head].size <= flow->space &&
           NW_TICKS(flow->next, flow->key) > need;
}

/* Whether to open the next unit with nothing waiting: where that leaves sectors to write into. A
 * unit, or a rest of the log, of one sector would be used up by its own opening. */
static uint8_t opens_ahead(NW_SCHED_SELF)
{
    return (sched->flags & NW_SCHED_PREOPEN) != 0 && sched->unit_next > 1U &&
           sched->unit_left == 0 &&
           (sched->sectors == 0 || sched->position + 1U < sched->sectors);
}

/* Where it stands what a write into a new unit takes: no less than another write. With
 * NW_SCHED_LEARN it may be the lower for long, as openings are rare. */
static const uint32_t NW_XDATA *opening_cost(NW_SCHED_SELF)
{
    return sched->open_ticks < sched->write_ticks ? &sched->write_ticks : &sched->open_ticks;
}

/* Writes before the next opening, as far as the plan looks. */
static uint8_t writes_left(NW_SCHED_SELF)
{
    return sched->unit != 0 && sched->unit_left < LOOK ? (uint8_t)sched->unit_left : LOOK;
}

static uint8_t slack_choose(NW_SCHED_SELF)
{
    uint32_t turn = sched->turn_ticks;
    uint32_t end = sched->now - turn;
    uint32_t kept = turn + sched->guard_ticks;
    const uint32_t NW_XDATA *opening = opening_cost(NW_SCHED_ME);
    uint8_t left = writes_left(NW_SCHED_ME); /* of the plan before the next opening */
    const uint32_t NW_XDATA *passing = &sched->write_ticks; /* of a write that passes */
    int32_t least = (int32_t)NW_SCHED_FAR; /* slack of all groups planned so far */
    uint16_t most = 0;
    uint8_t best = NW_SCHED_NONE;
    uint16_t unit = sched->unit_next; /* sectors that the next opening of the plan gives */
    uint8_t i;

    nw_sched_take_in(NW_SCHED_ME);
    uint8_t count = sched->order_count;
    if (count == 0) {
        sched->opening = opens_ahead(NW_SCHED_ME);
        return NW_SCHED_NONE;
    }
    uint8_t pressed = sched->held > sched->slot_count / 2U;
    uint8_t save = !pressed && (sched->flags & NW_SCHED_SAVE) != 0;
    if (count > LOOK) {
        count = LOOK;
        save = 0;
    }
    if (left < LOOK) {
        passing = opening; /* it may bring the opening forward */
    }
    int32_t need = (int32_t)(kept + *passing); /* slack that lets it */
    for (i = 0; i < count; i++) {
        uint8_t number = sched->order[i];
        const struct nw_sched_flow NW_XDATA *flow = &sched->flows[number];
        const uint32_t NW_XDATA *cost = &sched->write_ticks;
        uint8_t read = flow->direction; /* enum nw_sched_direction */

        if (read) {
            cost = &sched->read_ticks;
        } else if (left-- == 0) {
            cost = opening;
            left = unit > LOOK ? LOOK : (uint8_t)(unit - 1U);
            unit = sched->unit;
        }
        if (flow->bytes > most &&
            (i == 0 || least >= (int32_t)(kept + (read ? *cost : *passing))) &&
            !(save && may_grow(NW_SCHED_ME_ flow, need))) {
            most = flow->bytes;
            best = number;
        }
        end += *cost + turn;
        int32_t slack = NW_TICKS(end, flow->key);
        if (slack < 0) {
            return pressed ? longest_group(NW_SCHED_ME) : sched->order[0];
        }
        least = slack < least ? slack : least;
        if (flow->count != flow->group) {
            break; /* where its next group comes in the plan is not known */
        }
    }
    if (best != NW_SCHED_NONE) {
        return best;
    }
    least -= (int32_t)sched->guard_ticks;
    if (i < count || least <= 0) {
        return sched->order[0];
    }
    sched->waiting = 1; /* every group may grow, and all have slack */
    sched->wake = sched->now + (uint32_t)least;
    return NW_SCHED_NONE;
}

const struct nw_sched_policy NW_CODE nw_sched_slack = {
    slack_choose, NW_SCHED_BY_GROUP | NW_SCHED_BY_SORTED};

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests into their flows (absorb, take in), and out of them (retire, settle).
 *
 * A request that is split ends with its first piece that failed or was dropped: the pieces behind
 * it are given up without an operation, or a tail without its head would be written. FIFO takes
 * pieces in one by one; the next ones in the ring are those of the same request, so what was told
 * last, the error too, still holds for them.
 */
#include "parts.h"

/* Takes `slot`, the one behind the group, into it if it fits. A group of one is always possible. */
static uint8_t group_grows(NW_SCHED_SELF_ struct nw_sched_flow NW_XDATA *flow,
                           const struct nw_sched_slot NW_XDATA *slot)
{
    uint16_t size = slot->size;

    if (flow->group == 0) {
        flow->bytes = 0;
        flow->space = size;
        if ((sched->policy->flags & NW_SCHED_BY_GROUP) != 0 &&
            flow->direction == NW_SCHED_WRITE) {
            flow->space = sched->sector_bytes;
        }
    }
    if (size > flow->space) {
        return 0;
    }
    flow->group++;
    flow->bytes = (uint16_t)(flow->bytes + size);
    flow->space = (uint16_t)(flow->space - size);
    return 1;
}

uint8_t nw_sched_absorb(NW_SCHED_SELF)
{
    uint8_t take = sched->take;
    uint8_t number = sched->ring[take];
    struct nw_sched_slot NW_XDATA *slot = &sched->slots[number];
    uint8_t flow_number = slot->flow & (uint8_t)(NW_SCHED_MORE - 1U);
    struct nw_sched_flow NW_XDATA *flow = &sched->flows[flow_number];

    sched->take = NW_RING_NEXT(take);
    sched->held++;
    flow->next = slot->time + flow->period;
    slot->time += flow->deadline;
    if (flow->counts != NULL && flow_number == slot->flow &&
        NW_TICKS(sched->now, slot->time) < 0) {
        flow->counts->of[NW_SCHED_PAST]++;
    }
    if (flow->count != 0) {
        sched->slots[flow->tail].next = number;
    } else {
        flow->head = number;
        flow->key = slot->time;
    }
    flow->tail = number;
    /* Only a group that reaches to the end of the list can grow at the end. */
    if (flow->group == flow->count) {
        group_grows(NW_SCHED_ME_ flow, slot);
    }
    flow->count++;
    return flow_number;
}

void nw_sched_retire(NW_SCHED_SELF_ uint8_t flow_number, uint8_t verdict)
{
    struct nw_sched_flow NW_XDATA *flow = &sched->flows[flow_number];
    struct nw_sched_counts NW_XDATA *counts = flow->counts;
    uint8_t number = flow->head;
    struct nw_sched_slot NW_XDATA *slot = &sched->slots[number];
    uint8_t back = sched->back;

    /* A split request fares as its worst piece, and is counted with its last one. */
    if (verdict < flow->broken) {
        verdict = flow->broken;
    }
    sched->told.more = slot->flow & NW_SCHED_MORE;
    flow->broken = verdict;
    if (sched->told.more == 0) {
        flow->broken = NW_SCHED_MET;
        if (counts != NULL) {
            counts->of[verdict]++;
            if (verdict <= NW_SCHED_LATE) {
                uint32_t response = sched->now - slot->time + flow->deadline;

                counts->response_sum += response;
                if (response > counts->response_max) {
                    counts->response_max = response;
                }
            }
        }
    }
    flow->head = slot->next;
    flow->count--;
    sched->held--;
    if (sched->event != NULL) {
        sched->told.slot = slot;
        sched->told.flow = flow_number;
        sched->told.verdict = verdict;
        sched->event(&sched->told);
    }
    sched->ring[back] = number;
    /* From here on an interrupt may fill the slot again. */
    NW_COMPILER_BARRIER();
    sched->back = NW_RING_NEXT(back);
    flow->ended++;
}

void nw_sched_settle(NW_SCHED_SELF_ uint8_t flow_number)
{
    struct nw_sched_flow NW_XDATA *flow = &sched->flows[flow_number];
    const struct nw_sched_slot NW_XDATA *slot;

    while (flow->broken >= NW_SCHED_DROPPED && flow->count != 0) {
        nw_sched_retire(NW_SCHED_ME_ flow_number, flow->broken);
    }
    slot = &sched->slots[flow->head];
    flow->group = 0;
    if (flow->count != 0) {
        flow->key = slot->time;
        while (group_grows(NW_SCHED_ME_ flow, slot) && flow->group < flow->count) {
            slot = &sched->slots[slot->next];
        }
    }
    if (flow->place == NW_SCHED_NONE) {
        return; /* FIFO keeps no order */
    }
    if (flow->count == 0) {
        nw_sched_order_remove(NW_SCHED_ME_ flow_number);
    } else {
        nw_sched_order_moved(NW_SCHED_ME_ flow_number);
    }
}

uint32_t NW_XDATA *nw_sched_cost(NW_SCHED_SELF_ uint8_t flow)
{
    return sched->flows[flow].direction == NW_SCHED_READ ? &sched->read_ticks
                                                         : &sched->write_ticks;
}

void nw_sched_learn(uint32_t NW_XDATA *known, uint32_t measured)
{
    if (measured > NW_SCHED_TICKS_MAX) {
        measured = NW_SCHED_TICKS_MAX;
    }
    if (measured < *known) {
        measured = *known - ((*known - measured + 15U) >> 4);
    }
    *known = measured;
}

/* Whether the flow's first request cannot be met even if it is served at once. */
static uint8_t hopeless(NW_SCHED_SELF_ uint8_t number)
{
    const struct nw_sched_flow NW_XDATA *flow = &sched->flows[number];
    int32_t left = NW_TICKS(sched->now, flow->key);

    return left < (int32_t)*nw_sched_cost(NW_SCHED_ME_ number) &&
           ((sched->flags & NW_SCHED_LEARN) == 0 || left < (int32_t)(flow->deadline >> 1));
}

uint8_t nw_sched_drops(NW_SCHED_SELF_ uint8_t number)
{
    struct nw_sched_flow NW_XDATA *flow = &sched->flows[number];

    if (flow->broken < NW_SCHED_DROPPED) {
        if ((sched->flags & NW_SCHED_DROP_LATE) == 0 || !hopeless(NW_SCHED_ME_ number)) {
            return 0;
        }
        sched->told.sector = 0;
        sched->told.offset = 0;
        sched->told.error = NW_OK;
        /* All that go are put right once: a flow full of late requests costs their number. */
        do {
            uint8_t NW_XDATA *given_up = &sched->given_up[flow->direction];

            /* One slow operation must not have all later requests dropped for ever: nothing of its
             * kind would run any more from which a shorter time could be learned. */
            if (*given_up < sched->slot_count) {
                (*given_up)++;
            } else if ((sched->flags & NW_SCHED_LEARN) != 0) {
                nw_sched_learn(nw_sched_cost(NW_SCHED_ME_ number), 0);
            }
            nw_sched_retire(NW_SCHED_ME_ number, NW_SCHED_DROPPED);
            if (flow->count == 0) {
                break;
            }
            flow->key = sched->slots[flow->head].time;
        } while (hopeless(NW_SCHED_ME_ number));
    }
    nw_sched_settle(NW_SCHED_ME_ number);
    return 1;
}

void nw_sched_take_in(NW_SCHED_SELF)
{
    while (sched->take != sched->put) {
        uint8_t flow = nw_sched_absorb(NW_SCHED_ME);

        if (sched->flows[flow].place == NW_SCHED_NONE) {
            nw_sched_order_add(NW_SCHED_ME_ flow);
        }
    }
    while (sched->order_count > 0 && nw_sched_drops(NW_SCHED_ME_ sched->order[0])) {
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Requests into their flows (absorb), and out of them (retire, settle). */
#include "parts.h"

/* Takes `slot`, the one behind the group, into it if it fits. */
static uint8_t group_grows(NW_SCHED_SELF_ struct nw_sched_flow NW_XDATA *flow,
                           const struct nw_sched_slot NW_XDATA *slot)
{
    uint16_t bytes = (uint16_t)(flow->bytes + slot->size);

    if (flow->group != 0 &&
        ((sched->policy->flags & NW_SCHED_BY_GROUP) == 0 || flow->direction == NW_SCHED_READ ||
         bytes > sched->sector_bytes)) {
        return 0;
    }
    flow->group++;
    flow->bytes = bytes;
    return 1;
}

uint8_t nw_sched_absorb(NW_SCHED_SELF)
{
    uint8_t take = sched->arrivals.take;
    uint8_t number = sched->arrivals.items[take];
    struct nw_sched_slot NW_XDATA *slot = &sched->slots[number];
    uint8_t flow_number = slot->flow & (uint8_t)(NW_SCHED_MORE - 1U);
    struct nw_sched_flow NW_XDATA *flow = &sched->flows[flow_number];

    take++;
    sched->arrivals.take = take == sched->ring_size ? 0 : take;
    flow->last = slot->time;
    slot->time += flow->deadline;
    if (flow->counts != NULL && flow_number == slot->flow &&
        NW_TICKS(sched->now, slot->time) < 0) {
        flow->counts->of[NW_SCHED_PAST]++;
    }
    if (flow->count == 0) {
        flow->head = number;
        flow->key = slot->time;
    } else {
        sched->slots[flow->tail].next = number;
    }
    flow->tail = number;
    /* Only a group that reaches to the end of the list can grow at the end. */
    if (flow->group == flow->count) {
        group_grows(NW_SCHED_ME_ flow, slot);
    }
    flow->count++;
    sched->held++;
    return flow_number;
}

void nw_sched_absorb_all(NW_SCHED_SELF)
{
    while (!NW_RING_EMPTY(&sched->arrivals)) {
        uint8_t number = nw_sched_absorb(NW_SCHED_ME);
        struct nw_sched_flow NW_XDATA *flow = &sched->flows[number];

        if (flow->place == NW_SCHED_NONE) {
            nw_sched_order_add(NW_SCHED_ME_ number);
        } else if (flow->group == flow->count && NW_FLOW_LOST(flow)) {
            /* Its group has something to be met again. */
            flow->key = sched->slots[flow->tail].time;
            flow->room = flow->limit;
            nw_sched_order_moved(NW_SCHED_ME_ number);
        }
    }
}

/* The counts of a request that has ended; a split one ends with its last piece. */
static void count_end(struct nw_sched_counts NW_XDATA *counts, uint8_t verdict, uint32_t response)
{
    if (counts == NULL) {
        return;
    }
    counts->of[verdict]++;
    if (verdict <= NW_SCHED_LATE) {
        counts->response_sum += response;
        if (response > counts->response_max) {
            counts->response_max = response;
        }
    }
}

void nw_sched_retire(NW_SCHED_SELF_ uint8_t flow_number, uint8_t verdict)
{
    struct nw_sched_flow NW_XDATA *flow = &sched->flows[flow_number];
    struct nw_sched_event NW_XDATA *told = &sched->told;
    uint8_t number = flow->head;
    struct nw_sched_slot NW_XDATA *slot = &sched->slots[number];
    uint8_t more = slot->flow & NW_SCHED_MORE;
    uint8_t put = sched->free_slots.put;

    if (verdict < flow->broken) {
        verdict = flow->broken;
    }
    if (more) {
        flow->broken = verdict;
    } else {
        flow->broken = NW_SCHED_MET;
        count_end(flow->counts, verdict, sched->now - slot->time + flow->deadline);
    }
    flow->head = slot->next;
    flow->count--;
    sched->held--;
    if (sched->event != NULL) {
        told->owner = sched;
        told->slot = slot;
        told->flow = flow_number;
        told->verdict = verdict;
        told->more = more;
        sched->event(told);
    }
    sched->free_slots.items[put] = number;
    put++;
    /* From here on an interrupt may fill the slot again. */
    NW_COMPILER_BARRIER();
    sched->free_slots.put = put == sched->ring_size ? 0 : put;
    flow->ended++;
}

void nw_sched_settle(NW_SCHED_SELF_ uint8_t flow_number)
{
    struct nw_sched_flow NW_XDATA *flow = &sched->flows[flow_number];
    uint8_t number = flow->head;

    flow->group = 0;
    flow->bytes = 0;
    flow->room = flow->limit;
    if (flow->count != 0) {
        flow->key = sched->slots[number].time;
    }
    while (flow->group < flow->count &&
           group_grows(NW_SCHED_ME_ flow, &sched->slots[number])) {
        number = sched->slots[number].next;
    }
    if (flow->place == NW_SCHED_NONE) {
        return;
    }
    if (flow->count == 0) {
        nw_sched_order_remove(NW_SCHED_ME_ flow_number);
    } else {
        nw_sched_order_moved(NW_SCHED_ME_ flow_number);
    }
}

uint32_t nw_sched_cost(NW_SCHED_SELF_ uint8_t flow)
{
    return sched->flows[flow].direction == NW_SCHED_READ ? sched->read_ticks : sched->write_ticks;
}

uint8_t nw_sched_in_time(NW_SCHED_SELF_ uint8_t flow)
{
    uint32_t end = sched->now + nw_sched_cost(NW_SCHED_ME_ flow);

    return NW_TICKS(end, sched->flows[flow].key) >= 0;
}

void nw_sched_drop(NW_SCHED_SELF_ uint8_t flow)
{
    sched->told.sector = 0;
    sched->told.offset = 0;
    sched->told.error = NW_OK;
    nw_sched_retire(NW_SCHED_ME_ flow, NW_SCHED_DROPPED);
    nw_sched_settle(NW_SCHED_ME_ flow);
}

void nw_sched_drop_late(NW_SCHED_SELF)
{
    if ((sched->flags & NW_SCHED_DROP_LATE) == 0) {
        return;
    }
    while (sched->order_count > 0 && !nw_sched_in_time(NW_SCHED_ME_ sched->order[0])) {
        nw_sched_drop(NW_SCHED_ME_ sched->order[0]);
    }
}

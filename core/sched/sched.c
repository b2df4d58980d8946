/* SPDX-License-Identifier: Apache-2.0 */
/* Requests on their way in (submit, rings), into their flows (absorb), and out (retire, done). */
#include "parts.h"

void nw_sched_ring_put(struct nw_sched NW_XDATA *sched, struct nw_sched_ring NW_XDATA *ring,
                       uint8_t item)
{
    uint8_t put = ring->put;

    ring->items[put] = item;
    put++;
    NW_COMPILER_BARRIER();
    ring->put = put == sched->ring_size ? 0 : put;
}

uint8_t nw_sched_ring_take(struct nw_sched NW_XDATA *sched, struct nw_sched_ring NW_XDATA *ring)
{
    uint8_t take = ring->take;
    uint8_t item = ring->items[take];

    take++;
    ring->take = take == sched->ring_size ? 0 : take;
    NW_COMPILER_BARRIER();
    return item;
}

static int flows_ok(const struct nw_sched NW_XDATA *sched)
{
    uint8_t i;

    for (i = 0; i < sched->flow_count; i++) {
        uint32_t deadline = sched->flows[i].deadline;

        if (deadline == 0 || deadline >= NW_SCHED_LOST) {
            return 0;
        }
        if (sched->flows[i].direction > NW_SCHED_READ) {
            return 0;
        }
    }
    return 1;
}

static int config_check(const struct nw_sched NW_XDATA *sched)
{
    if (sched->policy == NULL || sched->flows == NULL || sched->sector_bytes == 0 ||
        sched->flow_count == 0 || sched->flow_count > NW_SCHED_FLOWS_MAX ||
        sched->slot_count == 0 || sched->slot_count > NW_SCHED_SLOTS_MAX || !flows_ok(sched)) {
        return NW_ERR_CONFIG;
    }
    if (sched->block == NULL) {
        return NW_OK;
    }
    if (sched->sectors == 0 || sched->position > sched->sectors) {
        return NW_ERR_RANGE;
    }
    if (sched->block->sector_bytes != sched->sector_bytes) {
        return NW_ERR_CONFIG;
    }
    if (sched->first >= sched->block->sectors ||
        sched->sectors > sched->block->sectors - sched->first) {
        return NW_ERR_RANGE;
    }
    return NW_OK;
}

static void flow_reset(struct nw_sched_flow NW_XDATA *flow)
{
    flow->taken = 0;
    flow->ended = 0;
    flow->head = NW_SCHED_NONE;
    flow->tail = NW_SCHED_NONE;
    flow->place = NW_SCHED_NONE;
    flow->count = 0;
    flow->group = 0;
    flow->broken = NW_SCHED_MET;
    flow->bytes = 0;
    flow->sequence = 0;
    flow->key = 0;
    flow->last = 0;
}

int nw_sched_open(struct nw_sched NW_XDATA *sched, uint8_t NW_XDATA *ram, uint16_t bytes)
{
    int result = config_check(sched);
    uint8_t i;

    if (result < 0) {
        return result;
    }
    if (ram == NULL || bytes < NW_SCHED_RAM_BYTES(sched->slot_count, sched->flow_count)) {
        return NW_ERR_RAM;
    }
    sched->slots = (struct nw_sched_slot NW_XDATA *)(void NW_XDATA *)ram;
    ram += sched->slot_count * sizeof(struct nw_sched_slot);
    sched->ring_size = (uint8_t)(sched->slot_count + 1U);
    sched->free_slots.items = ram;
    sched->free_slots.put = 0;
    sched->free_slots.take = 0;
    sched->arrivals.items = ram + sched->ring_size;
    sched->arrivals.put = 0;
    sched->arrivals.take = 0;
    sched->order = ram + sched->ring_size + sched->ring_size;
    sched->order_count = 0;
    for (i = 0; i < sched->slot_count; i++) {
        nw_sched_ring_put(sched, &sched->free_slots, i);
    }
    for (i = 0; i < sched->flow_count; i++) {
        flow_reset(&sched->flows[i]);
    }
    /* A log that goes on in the middle of a unit finds it open, as the device left it. */
    sched->unit_left = 0;
    if (sched->unit != 0) {
        uint16_t used = (uint16_t)(sched->position % sched->unit);

        sched->unit_left = used == 0 ? 0 : (uint16_t)(sched->unit - used);
    }
    sched->busy = 0;
    sched->waiting = 0;
    sched->opening = 0;
    sched->skip = 0;
    sched->serving = NW_SCHED_NONE;
    sched->least_loss = 0xFFU;
    return NW_OK;
}

/*
 * Runs inside interrupts: no call but this one, so that on processors where functions keep their
 * locals in fixed places (8051) the main loop and an interrupt never share any.
 */
int nw_sched_submit(struct nw_sched_offer NW_XDATA *offer)
{
    struct nw_sched NW_XDATA *sched = offer->sched;
    struct nw_sched_flow NW_XDATA *flow;
    uint8_t NW_XDATA *data = offer->data;
    uint32_t sector = offer->sector;
    uint16_t left = offer->size;
    uint8_t pieces = 1;
    uint8_t take, available;

    if (offer->flow >= sched->flow_count) {
        return NW_ERR_RANGE;
    }
    flow = &sched->flows[offer->flow];
    if (flow->counts != NULL) {
        flow->counts->offered++;
    }
    while (left > sched->sector_bytes && pieces <= sched->slot_count) {
        left = (uint16_t)(left - sched->sector_bytes);
        pieces++;
    }
    if (left == 0 || pieces > sched->slot_count ||
        (pieces > 1 && (sched->flags & NW_SCHED_SPLIT) == 0)) {
        flow->sequence++;
        if (flow->counts != NULL) {
            flow->counts->refused++;
        }
        return NW_ERR_RANGE;
    }
    take = sched->free_slots.take;
    available = sched->free_slots.put;
    available = available >= take ? (uint8_t)(available - take)
                                  : (uint8_t)(available + sched->ring_size - take);
    if (flow->limit != 0 && (uint8_t)(flow->taken - flow->ended + pieces) > flow->limit) {
        available = 0;
    }
    if (available < pieces) {
        flow->sequence++;
        if (flow->counts != NULL) {
            flow->counts->full++;
        }
        return NW_ERR_FULL;
    }
    flow->taken = (uint8_t)(flow->taken + pieces);
    left = offer->size;
    for (; pieces > 0; pieces--) {
        uint8_t number = sched->free_slots.items[take];
        struct nw_sched_slot NW_XDATA *slot = &sched->slots[number];
        uint8_t put = sched->arrivals.put;

        take++;
        take = take == sched->ring_size ? 0 : take;
        slot->time = offer->now;
        slot->sector = sector;
        slot->data = data;
        slot->size = pieces > 1 ? sched->sector_bytes : left;
        slot->sequence = flow->sequence;
        slot->flow = pieces > 1 ? (uint8_t)(offer->flow | NW_SCHED_MORE) : offer->flow;
        left = (uint16_t)(left - slot->size);
        if (data != NULL) {
            data += slot->size;
        }
        if (flow->direction == NW_SCHED_READ) {
            sector++;
        }
        sched->arrivals.items[put] = number;
        put++;
        /* The slot must be filled before the main loop can see its number. */
        NW_COMPILER_BARRIER();
        sched->free_slots.take = take;
        sched->arrivals.put = put == sched->ring_size ? 0 : put;
    }
    flow->sequence++;
    return NW_OK;
}

/* Whether the group may take one more request of `size`. */
static uint8_t group_takes(const struct nw_sched NW_XDATA *sched,
                           const struct nw_sched_flow NW_XDATA *flow, uint16_t size)
{
    if (flow->group == 0) {
        return 1;
    }
    return (sched->policy->flags & NW_SCHED_BY_GROUP) != 0 && flow->direction == NW_SCHED_WRITE &&
           size <= (uint16_t)(sched->sector_bytes - flow->bytes);
}

void nw_sched_measure(struct nw_sched NW_XDATA *sched, uint8_t flow_number)
{
    struct nw_sched_flow NW_XDATA *flow = &sched->flows[flow_number];
    uint8_t number = flow->head;

    flow->group = 0;
    flow->bytes = 0;
    while (flow->group < flow->count) {
        const struct nw_sched_slot NW_XDATA *slot = &sched->slots[number];

        if (!group_takes(sched, flow, slot->size)) {
            break;
        }
        flow->group++;
        flow->bytes = (uint16_t)(flow->bytes + slot->size);
        number = slot->next;
    }
}

uint8_t nw_sched_absorb(struct nw_sched NW_XDATA *sched)
{
    uint8_t number = nw_sched_ring_take(sched, &sched->arrivals);
    struct nw_sched_slot NW_XDATA *slot = &sched->slots[number];
    uint8_t flow_number = slot->flow & (uint8_t)~NW_SCHED_MORE;
    struct nw_sched_flow NW_XDATA *flow = &sched->flows[flow_number];

    flow->last = slot->time;
    slot->time += flow->deadline;
    if ((slot->flow & NW_SCHED_MORE) == 0 && flow->counts != NULL &&
        NW_TICKS(sched->now, slot->time) < 0) {
        flow->counts->past++;
    }
    slot->next = NW_SCHED_NONE;
    if (flow->count == 0) {
        flow->head = number;
    } else {
        sched->slots[flow->tail].next = number;
    }
    flow->tail = number;
    /* Only a group that reaches to the end of the list can grow at the end. */
    if (flow->group == flow->count && group_takes(sched, flow, slot->size)) {
        flow->group++;
        flow->bytes = (uint16_t)(flow->bytes + slot->size);
    }
    flow->count++;
    return flow_number;
}

/* The counts of a request that has ended; a split one ends with its last piece. */
static void count_end(struct nw_sched_flow NW_XDATA *flow, uint8_t verdict, uint32_t response)
{
    struct nw_sched_counts NW_XDATA *counts = flow->counts;

    if (counts == NULL) {
        return;
    }
    if (verdict == NW_SCHED_DROPPED) {
        counts->dropped++;
        return;
    }
    if (verdict == NW_SCHED_FAILED) {
        counts->failed++;
        return;
    }
    if (verdict == NW_SCHED_MET) {
        counts->met++;
    } else {
        counts->late++;
    }
    counts->response_sum += response;
    if (response > counts->response_max) {
        counts->response_max = response;
    }
}

void nw_sched_retire(struct nw_sched NW_XDATA *sched, uint8_t flow_number, uint8_t verdict)
{
    struct nw_sched_flow NW_XDATA *flow = &sched->flows[flow_number];
    uint8_t number = flow->head;
    struct nw_sched_slot NW_XDATA *slot = &sched->slots[number];
    struct nw_sched_event NW_XDATA *told = &sched->told;

    if (verdict < flow->broken) {
        verdict = flow->broken;
    }
    told->more = (slot->flow & NW_SCHED_MORE) != 0;
    flow->broken = told->more ? verdict : NW_SCHED_MET;
    if (!told->more) {
        count_end(flow, verdict, sched->now - (slot->time - flow->deadline));
    }
    flow->head = slot->next;
    flow->count--;
    flow->ended++;
    told->sched = sched;
    told->data = slot->data;
    told->word = slot->sector;
    told->size = slot->size;
    told->sequence = slot->sequence;
    told->flow = flow_number;
    told->verdict = verdict;
    NW_COMPILER_BARRIER();
    nw_sched_ring_put(sched, &sched->free_slots, number);
    if (sched->event != NULL) {
        sched->event(told);
    }
}

void nw_sched_settle(struct nw_sched NW_XDATA *sched, uint8_t flow_number)
{
    struct nw_sched_flow NW_XDATA *flow = &sched->flows[flow_number];

    nw_sched_measure(sched, flow_number);
    if (flow->place == NW_SCHED_NONE) {
        return;
    }
    if (flow->count == 0) {
        nw_sched_order_remove(sched, flow_number);
        return;
    }
    flow->key = sched->slots[flow->head].time;
    nw_sched_order_moved(sched, flow_number);
}

uint32_t nw_sched_cost(const struct nw_sched NW_XDATA *sched, uint8_t flow)
{
    return sched->flows[flow].direction == NW_SCHED_READ ? sched->read_ticks : sched->write_ticks;
}

void nw_sched_absorb_all(struct nw_sched NW_XDATA *sched)
{
    while (!NW_RING_EMPTY(&sched->arrivals)) {
        uint8_t number = nw_sched_absorb(sched);
        struct nw_sched_flow NW_XDATA *flow = &sched->flows[number];

        if (flow->place == NW_SCHED_NONE) {
            flow->key = sched->slots[flow->head].time;
            nw_sched_order_add(sched, number);
        } else if (NW_FLOW_LOST(sched, flow) && flow->group == flow->count) {
            /* Its group has something to be met again. */
            flow->key = sched->slots[flow->tail].time;
            nw_sched_order_moved(sched, number);
        }
    }
}

void nw_sched_drop_late(struct nw_sched NW_XDATA *sched)
{
    if ((sched->flags & NW_SCHED_DROP_LATE) == 0) {
        return;
    }
    sched->told.sector = 0;
    sched->told.offset = 0;
    sched->told.error = NW_OK;
    while (sched->order_count > 0) {
        uint8_t flow = sched->order[0];
        uint32_t end = sched->now + nw_sched_cost(sched, flow);

        if (NW_TICKS(end, sched->flows[flow].key) >= 0) {
            return;
        }
        nw_sched_retire(sched, flow, NW_SCHED_DROPPED);
        nw_sched_settle(sched, flow);
    }
}

uint32_t nw_sched_spare_ticks(const struct nw_sched NW_XDATA *sched, uint32_t now)
{
    uint32_t work = sched->unit != 0 && sched->unit_left == 0 ? sched->open_ticks : 0;
    uint32_t least = NW_SCHED_LOST;
    uint8_t i;

    if (sched->busy || !NW_RING_EMPTY(&sched->arrivals)) {
        return 0;
    }
    for (i = 0; i < sched->flow_count; i++) {
        const struct nw_sched_flow NW_XDATA *flow = &sched->flows[i];
        /* A request of an idle flow may arrive right now. */
        uint32_t deadline = flow->count > 0 ? sched->slots[flow->head].time : now + flow->deadline;
        int32_t until = NW_TICKS(now, deadline);

        if (until < 0) {
            return 0;
        }
        if ((uint32_t)until < least) {
            least = (uint32_t)until;
        }
        work += nw_sched_cost(sched, i);
    }
    return least > work ? least - work : 0;
}

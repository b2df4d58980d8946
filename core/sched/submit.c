/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The door: runs inside interrupts. It calls nothing that the main loop calls, so that on
 * processors where functions keep their locals in fixed places (8051) the two never share any.
 */
#include "parts.h"

#if defined(__SDCC_mcs51)
#pragma nooverlay
#endif

/* Slots that are free, as an interrupt sees it: the main loop can only add to them. */
static uint8_t free_slots(NW_SCHED_SELF)
{
    uint8_t take = sched->free_slots.take;
    uint8_t put = sched->free_slots.put;

    return (uint8_t)(put >= take ? put - take : put + sched->ring_size - take);
}

/* Hands one piece of the request to the main loop; `before` bytes of it have gone ahead. */
static void hand_over(NW_SCHED_SELF_ const struct nw_sched_offer NW_XDATA *offer, uint8_t piece,
                      uint16_t before)
{
    const struct nw_sched_flow NW_XDATA *flow = &sched->flows[offer->flow];
    uint8_t take = sched->free_slots.take;
    uint8_t put = sched->arrivals.put;
    uint8_t number = sched->free_slots.items[take];
    struct nw_sched_slot NW_XDATA *slot = &sched->slots[number];

    slot->time = offer->now;
    slot->sector = offer->sector;
    slot->data = offer->data;
    slot->size = (uint16_t)(offer->size - before);
    slot->flow = offer->flow;
    slot->sequence = flow->sequence;
    if (slot->size > sched->sector_bytes) {
        slot->size = sched->sector_bytes;
        slot->flow |= NW_SCHED_MORE;
    }
    if (piece > 0) {
        if (flow->direction == NW_SCHED_READ) {
            slot->sector += piece;
        }
        if (offer->data != NULL) {
            slot->data += before;
        }
    }
    sched->arrivals.items[put] = number;
    take++;
    put++;
    /* The slot must be filled before the main loop can see its number. */
    NW_COMPILER_BARRIER();
    sched->free_slots.take = take == sched->ring_size ? 0 : take;
    sched->arrivals.put = put == sched->ring_size ? 0 : put;
}

int nw_sched_submit(struct nw_sched_offer NW_XDATA *offer)
{
    NW_SCHED_ENTER(offer->owner);
    struct nw_sched_flow NW_XDATA *flow;
    uint16_t left = offer->size;
    uint8_t pieces = 1;
    uint8_t most = (sched->flags & NW_SCHED_SPLIT) != 0 ? sched->slot_count : 1U;
    uint8_t lost = NW_SCHED_OFFERED;

    if (offer->flow >= sched->flow_count) {
        return NW_ERR_RANGE;
    }
    flow = &sched->flows[offer->flow];
    while (left > sched->sector_bytes && pieces <= most) {
        left = (uint16_t)(left - sched->sector_bytes);
        pieces++;
    }
    if (left == 0 || pieces > most) {
        lost = NW_SCHED_REFUSED;
    } else if (free_slots(NW_SCHED_ME) < pieces ||
               (flow->room != 0 && (uint8_t)(flow->taken - flow->ended + pieces) > flow->room)) {
        lost = NW_SCHED_FULL;
    }
    flow->sequence++;
    if (flow->counts != NULL) {
        flow->counts->of[NW_SCHED_OFFERED]++;
        if (lost != NW_SCHED_OFFERED) {
            flow->counts->of[lost]++;
        }
    }
    if (lost != NW_SCHED_OFFERED) {
        return lost == NW_SCHED_FULL ? NW_ERR_FULL : NW_ERR_RANGE;
    }
    flow->taken = (uint8_t)(flow->taken + pieces);
    left = 0;
    for (most = 0; most < pieces; most++) {
        hand_over(NW_SCHED_ME_ offer, most, left);
        left = (uint16_t)(left + sched->sector_bytes);
    }
    return NW_OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The door: runs inside interrupts. One function that calls no other, so that on processors where
 * functions keep their locals in fixed places (8051) an interrupt and the main loop never share any.
 */
#include "parts.h"

#if defined(__SDCC_mcs51)
#pragma nooverlay
#endif

int nw_sched_submit(struct nw_sched_offer NW_XDATA *offer)
{
    NW_SCHED_ENTER(offer->owner);
    struct nw_sched_flow NW_XDATA *flow;
    struct nw_sched_slot NW_XDATA *slot;
    uint16_t left = offer->size;
    uint16_t left_before;
    uint8_t pieces = 1;
    uint8_t take, put, most;
    uint8_t lost = NW_SCHED_OFFERED;

    if (offer->flow >= sched->flow_count) {
        return NW_ERR_RANGE;
    }
    flow = &sched->flows[offer->flow];
    most = (sched->flags & NW_SCHED_SPLIT) != 0 ? sched->slot_count : 1U;
    while (left > sched->sector_bytes && pieces <= most) {
        left = (uint16_t)(left - sched->sector_bytes);
        pieces++;
    }
    take = sched->free_slots.take;
    put = sched->free_slots.put;
    if (left == 0 || pieces > most) {
        lost = NW_SCHED_REFUSED;
    } else if ((uint8_t)(put >= take ? put - take : put + sched->ring_size - take) < pieces ||
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
    left = offer->size;
    for (most = 0; most < pieces; most++) {
        put = sched->free_slots.items[take];
        slot = &sched->slots[put];
        take++;
        take = take == sched->ring_size ? 0 : take;
        slot->time = offer->now;
        slot->sector = offer->sector;
        slot->data = offer->data;
        left_before = left;
        slot->size = left;
        slot->flow = offer->flow;
        slot->sequence = flow->sequence;
        if (left > sched->sector_bytes) {
            slot->size = sched->sector_bytes;
            slot->flow |= NW_SCHED_MORE;
            left = (uint16_t)(left - sched->sector_bytes);
        }
        if (most > 0 && flow->direction == NW_SCHED_READ) {
            slot->sector += most;
        }
        if (most > 0 && offer->data != NULL) {
            slot->data += (uint16_t)(offer->size - left_before);
        }
        lost = sched->arrivals.put;
        sched->arrivals.items[lost] = put;
        lost++;
        /* The slot must be filled before the main loop can see its number. */
        NW_COMPILER_BARRIER();
        sched->free_slots.take = take;
        sched->arrivals.put = lost == sched->ring_size ? 0 : lost;
    }
    return NW_OK;
}

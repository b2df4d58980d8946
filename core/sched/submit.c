/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The door: runs inside interrupts. It calls nothing that the main loop calls, so that on
 * processors where functions keep their locals in fixed places (8051) the two never share any.
 */
#include "parts.h"

#if defined(__SDCC_mcs51)
#pragma nooverlay
#endif

/* Fills slots from the ring, one for each piece, and then shows them all to the main loop. */
static void hand_over(NW_SCHED_SELF_ const struct nw_sched_offer NW_XDATA *offer)
{
    const struct nw_sched_flow NW_XDATA *flow = &sched->flows[offer->flow];
    uint8_t NW_XDATA *data = offer->data;
    uint32_t sector = offer->sector;
    uint16_t left = offer->size;
    uint16_t size;
    uint8_t put = sched->put;

    do {
        struct nw_sched_slot NW_XDATA *slot = &sched->slots[sched->ring[put]];

        size = left;
        slot->flow = offer->flow;
        if (size > sched->sector_bytes) {
            size = sched->sector_bytes;
            slot->flow |= NW_SCHED_MORE;
        }
        slot->time = offer->now;
        slot->sector = sector;
        slot->data = data;
        slot->size = size;
        slot->sequence = flow->sequence;
        left = (uint16_t)(left - size);
        if (data != NULL) {
            data += size;
        }
        sector += flow->direction; /* a read goes on in the next sector */
        put = NW_RING_NEXT(put);
    } while (left != 0);
    /* The slots must be filled before the main loop can see them. */
    NW_COMPILER_BARRIER();
    sched->put = put;
}

int nw_sched_submit(struct nw_sched_offer NW_XDATA *offer)
{
    NW_SCHED_ENTER(offer->owner);
    struct nw_sched_flow NW_XDATA *flow;
    uint16_t left = offer->size;
    uint8_t pieces = 1;
    uint8_t most = 1;
    uint8_t free_slots = (uint8_t)(sched->back - sched->put);

    if (offer->flow >= sched->flow_count) {
        return NW_ERR_RANGE;
    }
    flow = &sched->flows[offer->flow];
    if (free_slots >= sched->ring_size) { /* the free ones go round the end of the ring */
        free_slots = (uint8_t)(free_slots + sched->ring_size);
    }
    flow->sequence++;
    if (flow->counts != NULL) {
        flow->counts->of[NW_SCHED_OFFERED]++;
    }
    if ((sched->flags & NW_SCHED_SPLIT) != 0) {
        most = flow->limit;
    }
    while (left > sched->sector_bytes && pieces <= most) {
        left = (uint16_t)(left - sched->sector_bytes);
        pieces++;
    }
    if (left == 0 || pieces > most) {
        if (flow->counts != NULL) {
            flow->counts->of[NW_SCHED_REFUSED]++;
        }
        return NW_ERR_RANGE;
    }
    if (pieces > free_slots || (uint8_t)(flow->taken - flow->ended + pieces) > flow->limit) {
        if (flow->counts != NULL) {
            flow->counts->of[NW_SCHED_FULL]++;
        }
        return NW_ERR_FULL;
    }
    flow->taken = (uint8_t)(flow->taken + pieces);
    hand_over(NW_SCHED_ME_ offer);
    return NW_OK;
}

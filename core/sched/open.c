/* SPDX-License-Identifier: Apache-2.0 */
/* Checks a configuration and lays the scheduler out in the caller's memory. */
#include "parts.h"

#if defined(__SDCC_mcs51)
struct nw_sched NW_XDATA nw_sched_only;
#endif

static int config_check(NW_SCHED_SELF)
{
    if (sched->policy == NULL || sched->flows == NULL || sched->sector_bytes == 0 ||
        (uint8_t)(sched->flow_count - 1U) >= NW_SCHED_FLOWS_MAX ||
        (uint8_t)(sched->slot_count - 1U) >= NW_SCHED_SLOTS_MAX) {
        return NW_ERR_CONFIG;
    }
    if (sched->block == NULL) {
        return NW_OK;
    }
    if (sched->block->sector_bytes != sched->sector_bytes) {
        return NW_ERR_CONFIG;
    }
    return sched->first < sched->block->sectors &&
                   sched->sectors <= sched->block->sectors - sched->first &&
                   sched->position <= sched->sectors
               ? NW_OK
               : NW_ERR_RANGE;
}

static int flow_reset(struct nw_sched_flow NW_XDATA *flow)
{
    flow->room = flow->limit;
    flow->taken = 0;
    flow->ended = 0;
    flow->place = NW_SCHED_NONE;
    flow->count = 0;
    flow->group = 0;
    flow->broken = NW_SCHED_MET;
    flow->bytes = 0;
    flow->sequence = 0;
    flow->last = 0;
    return flow->deadline - 1U < NW_SCHED_LOST - 1U && flow->direction <= NW_SCHED_READ
               ? NW_OK
               : NW_ERR_CONFIG;
}

/* A log that goes on in the middle of a unit finds it open, as the device left it. */
static uint16_t left_in_unit(NW_SCHED_SELF)
{
    uint16_t used = 0;

    if (sched->unit != 0) {
        used = (uint16_t)(sched->position % sched->unit);
    }
    return used == 0 ? 0 : (uint16_t)(sched->unit - used);
}

int nw_sched_open(struct nw_sched NW_XDATA *self, uint8_t NW_XDATA *ram, uint16_t bytes)
{
    NW_SCHED_ENTER(self);
    int result;
    uint8_t i;

    if (self != sched) {
        return NW_ERR_CONFIG;
    }
    result = config_check(NW_SCHED_ME);
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
    sched->arrivals.items = ram + sched->ring_size;
    sched->order = ram + sched->ring_size + sched->ring_size;
    for (i = 0; i < sched->slot_count; i++) {
        ram[i] = i;
    }
    sched->free_slots.put = i;
    sched->free_slots.take = 0;
    sched->arrivals.put = 0;
    sched->arrivals.take = 0;
    sched->order_count = 0;
    sched->held = 0;
    sched->busy = 0;
    sched->turning = 0;
    sched->waiting = 0;
    sched->opening = 0;
    sched->serving = NW_SCHED_NONE;
    sched->least_loss = 0xFFU;
    sched->dirty = sched->sector_bytes;
    sched->unit_left = left_in_unit(NW_SCHED_ME);
    for (i = 0; i < sched->flow_count && result == NW_OK; i++) {
        result = flow_reset(&sched->flows[i]);
    }
    return result;
}

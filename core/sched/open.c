/* SPDX-License-Identifier: Apache-2.0 */
/* Checks a configuration and lays the scheduler out in the caller's memory. */
#include <string.h>

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
    /* Limits are powers of two: NW_SCHED_TICKS_MAX, and NW_SCHED_FAR for the guard. */
    if (((uint16_t)(sched->write_ticks >> 16) | (uint16_t)(sched->open_ticks >> 16) |
         (uint16_t)(sched->read_ticks >> 16) | (uint16_t)(sched->turn_ticks >> 16) |
         (uint8_t)(sched->guard_ticks >> 24)) > (uint16_t)(NW_SCHED_TICKS_MAX >> 16)) {
        return NW_ERR_CONFIG;
    }
    if (sched->block == NULL) {
        return NW_OK;
    }
    if (sched->block->sector_bytes != sched->sector_bytes || sched->sectors == 0) {
        return NW_ERR_CONFIG;
    }
    return sched->first < sched->block->sectors &&
                   sched->sectors <= sched->block->sectors - sched->first &&
                   sched->position <= sched->sectors
               ? NW_OK
               : NW_ERR_RANGE;
}

static int flow_reset(NW_SCHED_SELF_ struct nw_sched_flow NW_XDATA *flow)
{
    memset(&flow->taken, 0, sizeof *flow - offsetof(struct nw_sched_flow, taken));
    flow->place = NW_SCHED_NONE;
    if ((uint8_t)(flow->limit - 1U) >= sched->slot_count) {
        flow->limit = sched->slot_count;
    }
    return flow->deadline - 1U < NW_SCHED_FAR - 1U && flow->period < NW_SCHED_FAR &&
                   flow->direction <= NW_SCHED_READ
               ? NW_OK
               : NW_ERR_CONFIG;
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
    memset(&sched->wake, 0, sizeof *sched - offsetof(struct nw_sched, wake));
    sched->told.owner = sched;
    sched->serving = NW_SCHED_NONE;
    sched->slots = (struct nw_sched_slot NW_XDATA *)(void NW_XDATA *)ram;
    ram += sched->slot_count * sizeof(struct nw_sched_slot);
    sched->ring = ram;
    for (i = 0; i < sched->slot_count; i++) {
        *ram++ = i;
    }
    sched->back = i;
    sched->ring_size = (uint8_t)(i + 1U);
    sched->order = ram + 1;
    sched->dirty = sched->sector_bytes;
    if (sched->unit != 0) {
        /* Nothing is open: a device that lost power opens the unit that the log stands in anew. */
        sched->unit_next = (uint16_t)(sched->unit - sched->position % sched->unit);
    }
    for (i = 0; i < sched->flow_count && result == NW_OK; i++) {
        result = flow_reset(NW_SCHED_ME_ &sched->flows[i]);
    }
    return result;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The operation itself: gather, write or read, and what follows from its end. */
#include <string.h>

#include "parts.h"

/* The group's data, one after the other, the rest of the sector zero. */
static void gather(struct nw_sched NW_XDATA *sched)
{
    uint8_t NW_XDATA *to = sched->buffer;
    uint16_t left = sched->sector_bytes;
    uint8_t count = nw_sched_members(sched);
    uint8_t number = count > 0 ? sched->flows[sched->serving].head : NW_SCHED_NONE;

    for (; count > 0; count--) {
        const struct nw_sched_slot NW_XDATA *slot = &sched->slots[number];

        if (slot->data != NULL) {
            memcpy(to, slot->data, slot->size);
        } else {
            memset(to, 0, slot->size);
        }
        to += slot->size;
        left = (uint16_t)(left - slot->size);
        number = slot->next;
    }
    memset(to, 0, left);
}

static uint8_t reading(const struct nw_sched NW_XDATA *sched)
{
    return sched->serving != NW_SCHED_NONE &&
           sched->flows[sched->serving].direction == NW_SCHED_READ;
}

/* Without a block the log is the caller's, and never full. */
static uint8_t log_full(const struct nw_sched NW_XDATA *sched)
{
    return sched->sectors != 0 && sched->position >= sched->sectors;
}

/* Puts the log where this write goes: over the rest of a unit that is left, and round the end. */
static void place_write(struct nw_sched NW_XDATA *sched)
{
    if (sched->skip) {
        sched->position += sched->unit_left;
        sched->unit_left = 0;
    }
    if (log_full(sched) && (sched->flags & NW_SCHED_WRAP) != 0) {
        sched->position = 0;
        sched->unit_left = 0;
    }
}

int nw_sched_next(struct nw_sched NW_XDATA *sched, uint32_t now)
{
    if (sched->busy) {
        return NW_ERR_CONFIG;
    }
    sched->now = now;
    sched->waiting = 0;
    sched->opening = 0;
    sched->skip = 0;
    /* The queue over all flows is the ring of arrivals itself; its policy takes from it. */
    if ((sched->policy->flags & NW_SCHED_BY_ARRIVAL) == 0) {
        nw_sched_absorb_all(sched);
    }
    sched->serving = sched->policy->choose(sched);
    if (sched->serving == NW_SCHED_NONE && !sched->opening) {
        return 0;
    }
    if (!reading(sched)) {
        place_write(sched);
    }
    sched->busy = 1;
    return 1;
}

uint8_t nw_sched_members(const struct nw_sched NW_XDATA *sched)
{
    return sched->serving == NW_SCHED_NONE ? 0 : sched->flows[sched->serving].group;
}

const struct nw_sched_slot NW_XDATA *nw_sched_first(const struct nw_sched NW_XDATA *sched)
{
    return sched->serving == NW_SCHED_NONE ? NULL
                                           : &sched->slots[sched->flows[sched->serving].head];
}

int nw_sched_transfer(struct nw_sched NW_XDATA *sched)
{
    struct nw_block_req req;
    const struct nw_sched_slot NW_XDATA *slot = nw_sched_first(sched);
    int result;

    req.block = sched->block;
    req.count = 1;
    req.data = sched->buffer;
    if (reading(sched)) {
        req.sector = slot->sector;
        result = nw_block_read(&req);
        if (result >= 0 && slot->data != NULL && sched->buffer != NULL) {
            memcpy(slot->data, sched->buffer, slot->size);
        }
        return result;
    }
    if (log_full(sched)) {
        return NW_ERR_FULL;
    }
    if (sched->buffer != NULL) {
        gather(sched);
    }
    req.sector = sched->first + sched->position;
    return nw_block_write(&req);
}

/* A deadline must not rest on an average: upwards at once, downwards by a sixteenth. */
static uint32_t learned(uint32_t known, uint32_t measured)
{
    return measured >= known ? measured : known - ((known - measured + 15U) >> 4);
}

static void learn(struct nw_sched NW_XDATA *sched, uint32_t measured)
{
    if (reading(sched)) {
        sched->read_ticks = learned(sched->read_ticks, measured);
    } else if (sched->unit != 0 && sched->unit_left == 0) {
        sched->open_ticks = learned(sched->open_ticks, measured);
    } else {
        sched->write_ticks = learned(sched->write_ticks, measured);
    }
}

/* One sector further, also after an error: what it holds now is unknown. */
static void advance(struct nw_sched NW_XDATA *sched)
{
    if (log_full(sched)) {
        return;
    }
    if (sched->unit_left == 0) {
        sched->unit_left = sched->unit;
        sched->least_loss = 0xFFU;
    }
    if (sched->unit_left != 0) {
        sched->unit_left--;
    }
    sched->position++;
}

int nw_sched_done(struct nw_sched NW_XDATA *sched, uint32_t now, int result)
{
    struct nw_sched_event NW_XDATA *told = &sched->told;
    uint8_t count = nw_sched_members(sched);
    uint8_t flow = sched->serving;

    if (!sched->busy) {
        return NW_ERR_CONFIG;
    }
    if (result >= 0 && (sched->flags & NW_SCHED_LEARN) != 0) {
        learn(sched, now - sched->now);
    }
    sched->now = now;
    sched->busy = 0;
    told->sector = sched->first + sched->position;
    told->offset = 0;
    told->error = (int8_t)(result < 0 ? result : NW_OK);
    if (!reading(sched)) {
        advance(sched);
    }
    for (; count > 0; count--) {
        const struct nw_sched_slot NW_XDATA *slot = nw_sched_first(sched);
        uint8_t verdict = NW_TICKS(now, slot->time) >= 0 ? NW_SCHED_MET : NW_SCHED_LATE;

        if (reading(sched)) {
            told->sector = slot->sector;
        }
        nw_sched_retire(sched, flow, result < 0 ? NW_SCHED_FAILED : verdict);
        told->offset = (uint16_t)(told->offset + told->size);
    }
    if (flow != NW_SCHED_NONE) {
        nw_sched_settle(sched, flow);
    }
    return NW_OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The round of the main loop: decide, gather and write (or read), and what follows from its end. */
#include <string.h>

#include "parts.h"

#if defined(__SDCC_mcs51)
/* The library's memcpy takes pointers to any memory, at four times the cost. */
static void xcopy(uint8_t NW_XDATA *to, const uint8_t NW_XDATA *from, uint16_t bytes)
{
    for (; bytes > 0; bytes--) {
        *to++ = *from++;
    }
}
#define NW_XCOPY xcopy
#else
#define NW_XCOPY memcpy
#endif

/* A function, not the macro each time: on the 8051 it is the smaller by far. */
static uint8_t log_full(NW_SCHED_SELF)
{
    return NW_LOG_FULL;
}

static uint8_t reading(NW_SCHED_SELF)
{
    return sched->serving != NW_SCHED_NONE &&
           sched->flows[sched->serving].direction == NW_SCHED_READ;
}

int nw_sched_next(struct nw_sched NW_XDATA *self, uint32_t now)
{
    NW_SCHED_ENTER(self);

    if (sched->busy) {
        return NW_ERR_CONFIG;
    }
    if (sched->turning && (sched->flags & NW_SCHED_LEARN) != 0) {
        nw_sched_learn(&sched->turn_ticks, now - sched->now);
    }
    sched->turning = 0;
    sched->now = now;
    sched->waiting = 0;
    sched->opening = 0;
    if ((sched->flags & NW_SCHED_WRAP) != 0 && log_full(NW_SCHED_ME)) {
        sched->position = 0;
        sched->unit_left = 0;
        sched->unit_next = sched->unit;
    }
    sched->serving = sched->policy->choose(NW_SCHED_ME);
    sched->busy = sched->serving != NW_SCHED_NONE || sched->opening;
    return sched->busy;
}

uint8_t nw_sched_members(struct nw_sched NW_XDATA *self)
{
    NW_SCHED_ENTER(self);

    return sched->serving == NW_SCHED_NONE ? 0 : sched->flows[sched->serving].group;
}

const struct nw_sched_slot NW_XDATA *nw_sched_first(struct nw_sched NW_XDATA *self)
{
    NW_SCHED_ENTER(self);

    return sched->serving == NW_SCHED_NONE ? NULL
                                           : &sched->slots[sched->flows[sched->serving].head];
}

/* The group's data, one after the other, the rest of the sector zero. */
static void gather(NW_SCHED_SELF)
{
    const struct nw_sched_slot NW_XDATA *slot = nw_sched_first(sched);
    uint8_t NW_XDATA *to = sched->buffer;
    uint8_t left = nw_sched_members(sched);
    uint16_t bytes = left > 0 ? sched->flows[sched->serving].bytes : 0;

    for (; left > 0; left--) {
        if (slot->data != NULL) {
            NW_XCOPY(to, slot->data, slot->size);
        } else {
            memset(to, 0, slot->size);
        }
        to += slot->size;
        slot = &sched->slots[slot->next];
    }
    /* Only what an earlier group has left there. */
    if (sched->dirty > bytes) {
        memset(to, 0, (uint16_t)(sched->dirty - bytes));
    }
    sched->dirty = bytes;
}

int nw_sched_transfer(struct nw_sched NW_XDATA *self)
{
    NW_SCHED_ENTER(self);
    struct nw_block_req req;
    const struct nw_sched_slot NW_XDATA *slot;
    int result;

    if (!sched->busy || sched->block == NULL) {
        return NW_ERR_CONFIG;
    }
    req.block = sched->block;
    req.count = 1;
    req.data = sched->buffer;
    if (reading(NW_SCHED_ME)) {
        slot = nw_sched_first(sched);
        req.sector = slot->sector;
        result = nw_block_read(&req);
        sched->dirty = sched->sector_bytes;
        if (result >= 0 && slot->data != NULL && sched->buffer != NULL) {
            NW_XCOPY(slot->data, sched->buffer, slot->size);
        }
        return result;
    }
    if (log_full(NW_SCHED_ME)) {
        return NW_ERR_FULL;
    }
    if (sched->buffer != NULL) {
        gather(NW_SCHED_ME);
    }
    req.sector = sched->first + sched->position;
    return nw_block_write(&req);
}

/* The operation that has ended took this long. */
static void learn_time(NW_SCHED_SELF_ uint32_t measured)
{
    uint8_t read = reading(NW_SCHED_ME);
    uint32_t NW_XDATA *known = &sched->open_ticks;

    if (read || !NW_SCHED_OPENS) {
        known = read ? &sched->read_ticks : &sched->write_ticks;
        sched->given_up[read] = 0;
    }
    nw_sched_learn(known, measured);
}

/* One sector further, also after an error: what it holds now is unknown. */
static void advance(NW_SCHED_SELF)
{
    if (log_full(NW_SCHED_ME)) {
        return;
    }
    sched->position++;
    if (sched->unit_left == 0) {
        sched->unit_left = sched->unit_next;
        sched->unit_next = sched->unit;
    }
    sched->unit_left--; /* without units it counts nothing */
}

int nw_sched_done(struct nw_sched NW_XDATA *self, uint32_t now, int result)
{
    NW_SCHED_ENTER(self);
    uint8_t flow = sched->serving;
    uint8_t left = nw_sched_members(sched);

    if (!sched->busy) {
        return NW_ERR_CONFIG;
    }
    sched->busy = 0;
    sched->told.offset = 0;
    sched->told.error = NW_OK;
    if (result < 0) {
        sched->told.error = (int8_t)result;
    } else if ((sched->flags & NW_SCHED_LEARN) != 0) {
        learn_time(NW_SCHED_ME_ now - sched->now);
    }
    sched->now = now;
    if (reading(NW_SCHED_ME)) {
        sched->told.sector = nw_sched_first(sched)->sector;
    } else {
        sched->told.sector = sched->first + sched->position;
        advance(NW_SCHED_ME);
    }
    if (left == 0) {
        return NW_OK; /* an opening without a request */
    }
    do {
        const struct nw_sched_slot NW_XDATA *slot = nw_sched_first(sched);
        uint16_t size = slot->size;
        uint8_t verdict = NW_SCHED_FAILED;

        if (result >= 0) {
            verdict = NW_TICKS(slot->time, now) > 0;
        }
        nw_sched_retire(NW_SCHED_ME_ flow, verdict);
        sched->told.offset = (uint16_t)(sched->told.offset + size);
    } while (--left > 0);
    nw_sched_settle(NW_SCHED_ME_ flow);
    sched->turning = sched->order_count > 0;
    return NW_OK;
}

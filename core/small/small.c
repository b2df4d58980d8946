/* SPDX-License-Identifier: Apache-2.0 */
/* small.c - few frames over a DataFlash: who leaves, to which buffer, to which page of flash. */
#include "nandwich/small.h"

#include <string.h>

/* Bytes of a frame: page, marks, data. */
#define PAGE 0
#define MARKS 1

#define READS 2U /* tries */

/* Flushes for each page that moves. So a page of the pool is programmed again within 253 x 33 + 254
 * programs of the pool, where the part wants it within 10,000 of its sector. */
#define MOVE_EVERY 32U

static uint8_t *frame_at(const struct nw_small *small, uint8_t index)
{
    const struct nw_small_config *config = &small->config;

    return config->frame + (size_t)index * ((size_t)config->page_bytes + NW_SMALL_FRAME_EXTRA);
}

static uint8_t after(uint8_t index, uint8_t count)
{
    return (uint8_t)(index + 1U < count ? index + 1U : 0U);
}

/* The first frame from the hand on whose marks under `mask` are none; `frames` if there is none. */
static uint8_t first_without(const struct nw_small *small, uint8_t mask)
{
    uint8_t frames = small->config.frames, index = small->hand;

    for (uint8_t left = frames; left > 0; left--) {
        if ((frame_at(small, index)[MARKS] & mask) == 0) {
            return index;
        }
        index = after(index, frames);
    }
    return frames;
}

/* Takes the marks of use back: from the hand up to, but without, `end`; of all if that is none. */
static void pass(struct nw_small *small, uint8_t end)
{
    uint8_t frames = small->config.frames, index = small->hand;

    for (uint8_t left = frames; left > 0 && index != end; left--) {
        frame_at(small, index)[MARKS] &= (uint8_t)~NW_SMALL_USED;
        index = after(index, frames);
    }
}

/* The frame of the lowest class. A clean one is taken at once; on the way to any other, marks of
 * use are taken back. */
static uint8_t *choose(struct nw_small *small)
{
    uint8_t frames = small->config.frames;
    uint8_t index = first_without(small, NW_SMALL_USED | NW_SMALL_DIRTY);

    if (index == frames) {
        index = first_without(small, NW_SMALL_USED);
        pass(small, index);
        if (index == frames) {
            index = first_without(small, NW_SMALL_DIRTY);
            index = index == frames ? small->hand : index;
        }
    }
    small->hand = after(index, frames);
    return frame_at(small, index);
}

static void check(struct nw_small *small, int result, uint8_t page)
{
    if (result < 0) {
        small->config.panic(small, result, page);
    }
}

static uint8_t bit_of(uint8_t slot)
{
    return (uint8_t)(1U << slot % 8U);
}

static int is_taken(const struct nw_small *small, uint8_t slot)
{
    return (small->config.taken[slot / 8U] & bit_of(slot)) != 0;
}

static void release(struct nw_small *small, uint8_t slot)
{
    small->config.taken[slot / 8U] &= (uint8_t)~bit_of(slot);
}

/* The next page of the pool that holds nothing, taken; NW_SMALL_NONE when all have failed. */
static uint8_t take(struct nw_small *small)
{
    uint8_t slot = small->next, pool = small->config.pool;

    for (uint8_t left = pool; left > 0; left--) {
        if (!is_taken(small, slot)) {
            uint8_t *taken = &small->config.taken[slot / 8U];

            *taken = (uint8_t)(*taken | bit_of(slot));
            small->next = after(slot, pool);
            return slot;
        }
        slot = after(slot, pool);
    }
    return NW_SMALL_NONE;
}

/* A buffer's content goes to flash. The place it had there is free when the new one holds; a place
 * whose program failed stays taken. Now and then a page that lies there moves on, too, through the
 * buffer that has become free: else one that is only read would keep its place for ever. */
static void flush(struct nw_small *small, uint8_t buffer)
{
    struct nw_small_config *config = &small->config;
    uint8_t page = small->buffer_page[buffer], moving = 0;
    struct nw_chip_req req = {.chip = config->chip, .buffer = buffer};
    uint8_t slot;
    int result;

    for (;;) {
        do {
            slot = take(small);
            if (slot == NW_SMALL_NONE) {
                if (!moving) {
                    config->panic(small, NW_ERR_FULL, page);
                }
                return;
            }
            req.page = config->first_page + slot;
            result = nw_chip_buffer_program(&req);
            small->stats.flash_writes += !moving;
        } while (result == NW_ERR_PROGRAM);
        check(small, result, page);
        if (config->slot_of[page] != NW_SMALL_NONE) {
            release(small, config->slot_of[page]);
        }
        config->slot_of[page] = slot;
        if (moving || ++small->flushes % MOVE_EVERY != 0) {
            return;
        }
        page = small->mover = after(small->mover, config->pages);
        if (config->slot_of[page] == NW_SMALL_NONE) {
            return;
        }
        moving = 1;
        req.page = config->first_page + config->slot_of[page];
        check(small, nw_chip_buffer_load(&req), page);
    }
}

static uint8_t buffer_of(const struct nw_small *small, uint8_t page)
{
    return page == small->buffer_page[0] ? 0U : page == small->buffer_page[1] ? 1U : 2U;
}

/* A dirty page's way out: its own buffer, else the one used longest ago. */
static void to_buffer(struct nw_small *small, uint8_t *frame)
{
    uint8_t page = frame[PAGE], buffer = buffer_of(small, page);
    struct nw_chip_req req = {.chip = small->config.chip, .length = small->config.page_bytes,
                              .data = frame + NW_SMALL_FRAME_EXTRA};

    if (buffer > 1U) {
        buffer = small->buffer_old; /* an empty one, while there is one */
        if (small->buffer_page[buffer] != NW_SMALL_NONE) {
            flush(small, buffer);
        }
    }
    req.buffer = buffer;
    check(small, nw_chip_buffer_write(&req), page);
    small->buffer_page[buffer] = page;
    small->buffer_old = buffer ^ 1U;
    small->stats.to_buffer++;
}

static int fetch(struct nw_small *small, struct nw_chip_req *req, uint8_t page)
{
    req->buffer = buffer_of(small, page);
    if (req->buffer <= 1U) {
        small->buffer_old = req->buffer ^ 1U;
        small->stats.buffer_reads++;
        return nw_chip_buffer_read(req);
    }
    if (small->config.slot_of[page] == NW_SMALL_NONE) {
        small->config.initial(small, page, req->data);
        return NW_OK;
    }
    req->page = small->config.first_page + small->config.slot_of[page];
    int result = nw_chip_read(req);

    for (uint8_t tries = 1; result < 0 && tries < READS; tries++) {
        result = nw_chip_read(req);
    }
    return result;
}

uint8_t *nw_small_fault(struct nw_small *small, uint8_t page)
{
    struct nw_small_config *config = &small->config;
    uint8_t *frame = choose(small);
    struct nw_chip_req req = {.chip = config->chip, .length = config->page_bytes,
                              .data = frame + NW_SMALL_FRAME_EXTRA};

    config->frame_of[frame[PAGE]] = NULL;
    if ((frame[MARKS] & NW_SMALL_DIRTY) != 0) {
        to_buffer(small, frame);
    }
    check(small, fetch(small, &req, page), page);
    small->stats.faults++;
    frame[PAGE] = page;
    frame[MARKS] = 0;
    config->frame_of[page] = frame;
    return frame;
}

static int fits(const struct nw_small_config *config)
{
    const struct nw_geometry *geometry = &config->chip->geometry;
    uint32_t pages = geometry->blocks * geometry->block_pages;

    return config->pool >= 2U && config->pool <= NW_SMALL_POOL_MAX && config->pages >= 1U &&
           config->pages < config->pool && config->frames >= 1U &&
           config->frames <= config->pages && config->page_bytes >= 1U &&
           config->page_bytes <= geometry->page_bytes && geometry->buffers >= 2U &&
           (geometry->flags & NW_CHIP_REWRITE) != 0 && pages >= config->pool &&
           config->first_page <= pages - config->pool;
}

int nw_small_open(struct nw_small *small, const struct nw_small_config *config)
{
    if (!fits(config)) {
        return NW_ERR_CONFIG;
    }
    memset(small, 0, sizeof *small);
    small->config = *config;
    small->buffer_page[0] = small->buffer_page[1] = NW_SMALL_NONE;
    memset(config->slot_of, (int)NW_SMALL_NONE, config->pages);
    memset(config->taken, 0, NW_SMALL_TAKEN_BYTES(config->pool));
    for (uint8_t page = 0; page < config->pages; page++) {
        config->frame_of[page] = NULL;
    }
    for (uint8_t page = 0; page < config->frames; page++) {
        uint8_t *frame = frame_at(small, page);

        frame[PAGE] = page;
        frame[MARKS] = 0;
        config->frame_of[page] = frame;
        config->initial(small, page, frame + NW_SMALL_FRAME_EXTRA);
    }
    return NW_OK;
}

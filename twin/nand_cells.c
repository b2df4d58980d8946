/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the cells hold. An erase leaves the bytes kept in `data` and `spare` as they are and only
 * forgets that pages were programmed; the first program of a page lays down erased bytes around
 * what it writes. A torn page keeps the bytes that were meant, and a record of how much of them
 * shows.
 */
#include <stdlib.h>
#include <string.h>

#include "nand_internal.h"

#define NEVER_ERASED 0x55U

void nw_nand_store(struct nw_nand *nand, const struct nw_chip_req *req, uint32_t page)
{
    const struct nw_geometry *geometry = &nand->chip.geometry;
    uint32_t block_at = nand_block_of(nand, page);
    struct nand_block *block = &nand->blocks[block_at];
    struct nand_page *state = &nand->pages[page];
    uint32_t index = page - block_at * geometry->block_pages;
    uint8_t *spare = nand_spare_at(nand, page);

    if (state->programs == 0 && req->spare_length < geometry->spare_bytes) {
        memset(spare, geometry->erased, geometry->spare_bytes);
    }
    if (req->spare_length > 0) {
        memcpy(spare + req->spare_offset, req->spare, req->spare_length);
    }
    if (req->data != NULL && req->length > 0) {
        uint8_t *data = nand_data_at(nand, page);

        if ((state->flags & PAGE_PAYLOAD) == 0 && req->length < geometry->page_bytes) {
            memset(data, geometry->erased, geometry->page_bytes);
        }
        state->flags |= PAGE_PAYLOAD;
        memcpy(data + req->offset, req->data, req->length);
    }
    if (state->programs < UINT8_MAX) {
        state->programs++;
    }
    state->lifetime++;
    if (block->next <= index) {
        block->next = (uint16_t)(index + 1U);
    }
}

static uint8_t blank_byte(const struct nw_nand *nand, const struct nand_block *block)
{
    return (block->flags & BLOCK_RAW) != 0 ? NEVER_ERASED : nand->chip.geometry.erased;
}

void nw_nand_load_data(struct nw_nand *nand, uint32_t page, uint16_t offset, uint16_t length,
                       uint8_t *to)
{
    const struct nand_block *block = &nand->blocks[nand_block_of(nand, page)];
    const struct nand_page *state = &nand->pages[page];

    if (length == 0) {
        return; /* `to` may be NULL then */
    }
    if ((state->flags & PAGE_PAYLOAD) != 0) {
        memcpy(to, nand_data_at(nand, page) + offset, length);
    } else {
        memset(to, blank_byte(nand, block), length);
    }
    if ((state->flags & PAGE_TORN) != 0 || (block->flags & BLOCK_TORN) != 0) {
        nw_nand_show_torn(nand, page, false, offset, length, to);
    }
}

void nw_nand_load_spare(struct nw_nand *nand, uint32_t page, uint16_t offset, uint16_t length,
                        uint8_t *to)
{
    const struct nand_block *block = &nand->blocks[nand_block_of(nand, page)];
    const struct nand_page *state = &nand->pages[page];

    if (length == 0) {
        return; /* `to` may be NULL then */
    }
    /* Who reads a page's spare reads those behind it next; each lies in cache lines of its own. */
    __builtin_prefetch(nand_spare_at(nand, page) + 2U * nand->chip.geometry.spare_bytes);
    __builtin_prefetch(nand_spare_at(nand, page) + 3U * nand->chip.geometry.spare_bytes);
    if (state->programs > 0) {
        memcpy(to, nand_spare_at(nand, page) + offset, length);
    } else {
        memset(to, blank_byte(nand, block), length);
    }
    if ((state->flags & PAGE_TORN) != 0 || (block->flags & BLOCK_TORN) != 0) {
        nw_nand_show_torn(nand, page, true, offset, length, to);
    }
}

/* Stores what was meant and records that it is torn. */
int nw_nand_tear_page(struct nw_nand *nand, const struct nw_chip_req *req, uint32_t page,
                      bool rewrite)
{
    struct nand_torn *record;

    if (nand->torn_count == nand->torn_room) {
        uint32_t room = nand->torn_room == 0 ? 8U : 2U * nand->torn_room;
        struct nand_torn *more = realloc(nand->torn, room * sizeof *more);

        if (more == NULL) {
            return NW_ERR_RAM;
        }
        nand->torn = more;
        nand->torn_room = room;
    }
    nw_nand_store(nand, req, page);
    record = &nand->torn[nand->torn_count++];
    memset(record, 0, sizeof *record);
    record->page = page;
    record->offset = req->offset;
    record->length = req->length;
    record->spare_offset = req->spare_offset;
    record->spare_length = req->spare_length;
    record->data_torn = nand->cut.data;
    record->spare_torn = nand->cut.spare;
    record->rewrite = rewrite ? 1U : 0U;
    nand->pages[page].flags |= PAGE_TORN;
    nw_nand_unsettle_page(nand, page, record->data_torn);
    nand->blocks[nand_block_of(nand, page)].flags |= BLOCK_TORN_PAGES;
    return NW_OK;
}

static void drop_torn(struct nw_nand *nand, uint32_t first, uint32_t count)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < nand->torn_count; i++) {
        if (nand->torn[i].page - first >= count) {
            nand->torn[kept++] = nand->torn[i];
        }
    }
    nand->torn_count = kept;
}

void nw_nand_tear_block(struct nw_nand *nand, uint32_t block, uint8_t torn)
{
    nand->blocks[block].erases++;
    nand->blocks[block].flags |= BLOCK_TORN;
    nand->blocks[block].torn = torn;
    nw_nand_unsettle_block(nand, block, torn);
}

void nw_nand_wipe_block(struct nw_nand *nand, uint32_t block)
{
    uint32_t count = nand->chip.geometry.block_pages;
    uint32_t first = block * count;
    struct nand_block *state = &nand->blocks[block];

    if ((state->flags & BLOCK_TORN_PAGES) != 0) {
        drop_torn(nand, first, count);
    }
    for (uint32_t page = first; page < first + count; page++) {
        nand->pages[page].programs = 0;
        nand->pages[page].flags = 0;
    }
    state->flags &= (uint8_t)~(BLOCK_TORN | BLOCK_RAW | BLOCK_TORN_PAGES);
    state->next = 0;
    state->erases++;
}

/* The page erase built into a DataFlash's buffer program. */
void nw_nand_wipe_page(struct nw_nand *nand, uint32_t page)
{
    if ((nand->pages[page].flags & PAGE_TORN) != 0) {
        drop_torn(nand, page, 1);
    }
    nand->pages[page].programs = 0;
    nand->pages[page].flags = 0;
}

int nw_nand_power_off(struct nw_nand *nand)
{
    nand->off = true;
    nand->stop_at = 0;
    nand->stats.power_cuts++;
    return NW_ERR_POWER;
}

/* The operation at hand is at or past stop_at: the part is off, or the armed cut strikes now. */
int nw_nand_stopped(struct nw_nand *nand)
{
    if (nand->off) {
        return NW_ERR_POWER;
    }
    if (nand->cut.phase == NW_CUT_BEFORE) {
        return nw_nand_power_off(nand);
    }
    return nand->cut.phase == NW_CUT_INSIDE ? NAND_CUT_INSIDE : NAND_CUT_AFTER;
}

void nw_nand_cut(struct nw_nand *nand, const struct nw_cut *cut)
{
    if (cut == NULL) {
        memset(&nand->cut, 0, sizeof nand->cut);
    } else {
        nand->cut = *cut;
    }
    if (!nand->off) {
        nand->stop_at = cut == NULL ? UINT64_MAX : nand->operations + cut->after;
    }
}

int nw_nand_is_off(const struct nw_nand *nand)
{
    return nand->off ? 1 : 0;
}

void nw_nand_power_up(struct nw_nand *nand)
{
    uint32_t bytes = (uint32_t)nand->chip.geometry.buffers * nand->chip.geometry.page_bytes;

    nand->off = false;
    nand->power_ups++;
    nw_nand_cut(nand, NULL);
    for (uint32_t i = 0; i < bytes; i++) {
        nand->buffers[i] = (uint8_t)nand_key(nand, i, nand->power_ups, 8U);
    }
}

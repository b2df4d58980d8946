/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lavish block i is made of the chip's blocks i * degree and up, except that a bad one of them is
 * replaced by a spare: any good block that is of no lavish block, behind them all or of one that
 * was given up. Only lavish blocks with a replacement are looked up in the (short) table of these.
 */
#include "lavish.h"

void nw_lavish_count(nw_count *count, unsigned by)
{
    *count += by;
}

void nw_lavish_tick(nw_count *count)
{
    ++*count;
}

/* The replacement of a block; with NONE, an empty entry. */
static struct nw_lavish_spare *spare_for(const struct nw_ftl_lavish *lavish, unsigned stands_for)
{
    struct nw_lavish_spare *spare = lavish->spares;
    unsigned i;

    for (i = 0; i < lavish->spare_count; i++, spare++) {
        if (spare->stands_for == stands_for) {
            return spare;
        }
    }
    return NULL;
}

/* The chip's block for the block of a lavish block with this number. */
static unsigned physical(const struct nw_ftl_lavish *lavish, unsigned block, unsigned number)
{
    if ((lavish->state[block] & NW_LAVISH_REPLACED) != 0) {
        const struct nw_lavish_spare *spare = spare_for(lavish, number);

        if (spare != NULL) {
            return spare->block;
        }
    }
    return number;
}

uint32_t nw_lavish_page(const struct nw_ftl_lavish *lavish, unsigned block, unsigned sector)
{
    unsigned part = sector / lavish->block_pages;
    uint32_t chip_block = physical(lavish, block, block * lavish->degree + part);

    return chip_block * lavish->block_pages + (sector - part * lavish->block_pages);
}

static void set_bit(struct nw_ftl_lavish *lavish, unsigned chip_block, int value)
{
    uint8_t *byte = lavish->bits + (chip_block >> 3);
    unsigned bit = 1U << (chip_block & 7U);

    *byte = (uint8_t)(value ? *byte | bit : *byte & ~bit);
}

/* 1 for a block of the chip that is of no lavish block, unless it replaces one that is. */
static int is_left(const struct nw_ftl_lavish *lavish, unsigned chip_block)
{
    unsigned home = chip_block / lavish->degree;

    return home >= lavish->lavish_count || lavish->state[home] == NW_LAVISH_GONE;
}

static void find_spare(struct nw_ftl_lavish *lavish)
{
    unsigned block = lavish->blocks;

    lavish->spare = NONE;
    while (block-- > 0 && lavish->spare == NONE) {
        unsigned i = lavish->spare_count;

        if (nw_lavish_bit(lavish, block) || !is_left(lavish, block)) {
            continue;
        }
        while (i > 0 && lavish->spares[i - 1U].block != block) {
            i--;
        }
        if (i == 0) {
            lavish->spare = (uint16_t)block;
        }
    }
}

/* Gives up a free lavish block: what is good of it can replace others. */
static void give_up(struct nw_ftl_lavish *lavish, unsigned block)
{
    unsigned number = block * lavish->degree;
    unsigned end = number + lavish->degree;

    for (; number < end; number++) {
        struct nw_lavish_spare *spare = spare_for(lavish, number);

        set_bit(lavish, physical(lavish, block, number), 0);
        if (spare != NULL) {
            spare->block = NONE;
            spare->stands_for = NONE;
        }
    }
    lavish->state[block] = NW_LAVISH_GONE;
    lavish->free--;
    lavish->good--;
}

/* Puts a spare in the place of a bad block of a free lavish block, or gives that up: 0. */
static int replace(struct nw_ftl_lavish *lavish, unsigned block, unsigned number)
{
    struct nw_lavish_spare *spare = spare_for(lavish, number);
    unsigned bad = physical(lavish, block, number);
    int replaced;

    if (spare == NULL) {
        spare = spare_for(lavish, NONE);
    }
    replaced = spare != NULL && lavish->spare != NONE;
    if (replaced) {
        spare->block = lavish->spare;
        spare->stands_for = (uint16_t)number;
        lavish->state[block] |= NW_LAVISH_REPLACED;
    } else {
        give_up(lavish, block);
    }
    set_bit(lavish, bad, 1);
    find_spare(lavish);
    return replaced;
}

static int erase(struct nw_ftl_lavish *lavish, unsigned block, unsigned number)
{
    int result;

    lavish->req.block = physical(lavish, block, number);
    if (nw_lavish_bit(lavish, (unsigned)lavish->req.block)) {
        return NW_OK;
    }
    nw_lavish_tick(&lavish->stats.erases);
    result = nw_chip_erase(&lavish->req);
    if (result >= 0) {
        set_bit(lavish, (unsigned)lavish->req.block, 1);
    }
    return result;
}

unsigned nw_lavish_least(const struct nw_ftl_lavish *lavish)
{
    return (lavish->spare == NONE || spare_for(lavish, NONE) == NULL) &&
                   lavish->good > lavish->logical_count + NW_LAVISH_RESERVED
               ? 2U
               : 1U;
}

unsigned nw_lavish_next(const struct nw_ftl_lavish *lavish)
{
    unsigned block = lavish->hand;
    unsigned i;

    for (i = 0; i < lavish->lavish_count; i++, block++) {
        if (block >= lavish->lavish_count) {
            block = 0;
        }
        if ((lavish->state[block] & NW_LAVISH_STATE) == NW_LAVISH_FREE) {
            return block;
        }
    }
    return NONE;
}

unsigned nw_lavish_take(struct nw_ftl_lavish *lavish)
{
    unsigned block = nw_lavish_next(lavish);

    if (block != NONE) {
        lavish->state[block] |= NW_LAVISH_USED;
        lavish->free--;
        lavish->hand = (uint16_t)(block + 1U);
    }
    return block;
}

int nw_lavish_is_clean(const struct nw_ftl_lavish *lavish, unsigned block)
{
    unsigned number = block * lavish->degree;
    unsigned end = number + lavish->degree;

    while (number < end && nw_lavish_bit(lavish, physical(lavish, block, number))) {
        number++;
    }
    return number == end;
}

int nw_lavish_clean(struct nw_ftl_lavish *lavish, unsigned block, unsigned worn)
{
    unsigned number = block * lavish->degree;
    unsigned end = number + lavish->degree;

    worn = number + worn / lavish->block_pages; /* beyond the end for NONE and other blocks' */
    for (; number < end; number++) {
        int result = NW_ERR_ERASE;

        if (number != worn) {
            result = erase(lavish, block, number);
        }
        if (result == NW_ERR_ERASE) {
            lavish->req.block = physical(lavish, block, number);
            nw_lavish_tick(&lavish->stats.retired);
            result = nw_chip_mark_bad(&lavish->req); /* it may be marked whatever this answers */
            if (!replace(lavish, block, number)) {
                return result;
            }
        }
        if (result < 0) {
            return result;
        }
    }
    return NW_OK;
}

int nw_lavish_release(struct nw_ftl_lavish *lavish, unsigned block, unsigned worn)
{
    uint8_t *state = lavish->state + block;

    if (block == NONE) {
        return NW_OK;
    }
    *state = (uint8_t)(*state & NW_LAVISH_REPLACED);
    lavish->free++;
    if (lavish->erase_late && worn >= lavish->lavish_sectors) {
        return NW_OK;
    }
    return nw_lavish_clean(lavish, block, worn);
}

int nw_lavish_read(struct nw_ftl_lavish *lavish, uint32_t page, uint8_t *data, unsigned length)
{
    struct nw_chip_req *req = &lavish->req;
    int result = NW_ERR_ECC;
    uint8_t tries;

    req->page = page;
    req->data = data;
    req->length = (uint16_t)length;
    for (tries = 2; tries > 0 && result == NW_ERR_ECC; tries--) { /* it may fail but once */
        result = nw_chip_read(req);
        nw_lavish_tick(&lavish->stats.reads);
        nw_lavish_count(&lavish->stats.bytes_read, length);
    }
    if (result > 0) {
        nw_lavish_count(&lavish->stats.corrected, (unsigned)result);
    }
    return result;
}

/* Before a page is programmed: the block it opens must be erased, and is so no longer. */
static int enter(struct nw_ftl_lavish *lavish, unsigned block, unsigned sector)
{
    unsigned part = sector / lavish->block_pages;
    unsigned number = block * lavish->degree + part;
    int result;

    if (sector != part * lavish->block_pages) {
        return NW_OK;
    }
    result = erase(lavish, block, number);
    if (result >= 0) {
        set_bit(lavish, (unsigned)lavish->req.block, 0);
    }
    return result;
}

/* Programs a page, or copies to it from the page in the request. */
static int put(struct nw_ftl_lavish *lavish, unsigned block, unsigned sector, int copies)
{
    struct nw_chip_req *req = &lavish->req;
    int result = enter(lavish, block, sector);

    if (result < 0) {
        return result;
    }
    nw_lavish_tick(&lavish->stats.programs);
    req->to_page = nw_lavish_page(lavish, block, sector);
    if (copies) {
        nw_lavish_tick(&lavish->stats.reads);
        result = nw_chip_copy(req);
        return result == NW_ERR_ECC ? nw_chip_copy(req) : result;
    }
    req->page = req->to_page;
    nw_lavish_count(&lavish->stats.bytes_programmed, req->length);
    return nw_chip_program(req);
}

int nw_lavish_program(struct nw_ftl_lavish *lavish, unsigned block, unsigned sector, uint8_t *data,
                      unsigned length)
{
    lavish->req.data = data;
    lavish->req.length = (uint16_t)length;
    return put(lavish, block, sector, 0);
}

int nw_lavish_copy(struct nw_ftl_lavish *lavish, uint32_t from, unsigned block, unsigned sector)
{
    int result;

    if (lavish->chip_copies) {
        lavish->req.page = from;
    } else {
        result = nw_lavish_read(lavish, from, lavish->page, lavish->block.sector_bytes);
        if (result < 0) {
            return result;
        }
    }
    result = put(lavish, block, sector, lavish->chip_copies);
    if (result >= 0) {
        nw_lavish_tick(&lavish->stats.copies);
    }
    return result;
}

int nw_lavish_scan(struct nw_ftl_lavish *lavish)
{
    unsigned number = lavish->blocks;

    lavish->spare = NONE;
    while (number-- > 0) {
        int bad = 1; /* the mark's block, and those behind it */

        if (number < lavish->mark) {
            lavish->req.block = number;
            bad = nw_chip_is_bad(&lavish->req);
        }
        if (bad < 0) {
            return bad;
        }
        if (is_left(lavish, number)) {
            set_bit(lavish, number, bad);
            find_spare(lavish);
        } else if (bad > 0) {
            (void)replace(lavish, number / lavish->degree, number);
        }
    }
    return NW_OK;
}

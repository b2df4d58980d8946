/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mark of a layer that keeps nothing else on flash, in two pages of a block that is not used
 * otherwise. The second one is written after the first has ended, and before anything else on the
 * chip. So, whatever a power cut leaves of the two, either one of them is whole for good or nothing
 * else was written, and the mark is made again. Once made it stays: no later cut can take it away.
 */
#include "mark.h"

#include <string.h>

#include "nandwich/blank.h"
#include "nandwich/bytes.h"
#include "wipe.h"

/* The last good block before this one; NW_ERR_FULL. */
static int32_t last_good(struct nw_chip *chip, uint32_t before)
{
    uint32_t blocks = chip->geometry.blocks;
    struct nw_chip_req req;
    int bad = 1;

    req.chip = chip;
    req.block = blocks < before ? blocks : before;
    while (bad > 0) {
        if (req.block == 0) {
            return NW_ERR_FULL;
        }
        req.block--;
        bad = nw_chip_is_bad(&req);
    }
    return bad < 0 ? (int32_t)bad : (int32_t)req.block;
}

int32_t nw_mark_block(struct nw_chip *chip)
{
    return last_good(chip, NW_MARK_BLOCKS);
}

/* A request for the bytes that the mark has in a page: `bytes` is data and spare. */
static void aim(struct nw_chip_req *req, struct nw_chip *chip, uint32_t page, uint8_t *bytes)
{
    uint16_t spare = chip->geometry.spare_bytes;

    memset(req, 0, sizeof *req);
    req->chip = chip;
    req->page = page;
    req->data = bytes;
    req->spare = bytes;
    req->spare_length = spare < NW_MARK_BYTES ? spare : (uint16_t)NW_MARK_BYTES;
    req->length = spare == 0 ? (uint16_t)NW_MARK_BYTES : 0U;
}

int nw_mark_is(struct nw_chip *chip, uint32_t page)
{
    uint8_t bytes[NW_MARK_BYTES];
    struct nw_chip_req req;
    int result;

    nw_put32(bytes, (uint32_t)NW_MARK_LAVISH); /* what is not read counts as right */
    aim(&req, chip, page, bytes);
    result = nw_chip_read(&req);
    if (result == NW_ERR_ECC) { /* it may fail but once */
        result = nw_chip_read(&req);
    }
    return result < 0 ? result : nw_get32(bytes) == NW_MARK_LAVISH;
}

/* Makes the mark in its block. If that fails the block is marked bad, and the error told. */
static int make(struct nw_chip *chip, uint32_t block, uint8_t *bytes)
{
    const struct nw_geometry *geometry = &chip->geometry;
    uint8_t pages = geometry->block_pages > 1U ? 2U : 1U;
    struct nw_chip_req req;
    int result;

    aim(&req, chip, block * geometry->block_pages, bytes);
    if (req.length % geometry->program_bytes != 0) {
        req.length = geometry->program_bytes;
    }
    req.block = block;
    result = nw_chip_erase(&req);
    nw_put32(bytes, (uint32_t)NW_MARK_LAVISH);
    for (; result >= 0 && pages > 0; pages--) {
        result = nw_chip_program(&req);
        req.page++;
    }
    if (result == NW_ERR_PROGRAM || result == NW_ERR_ERASE) {
        (void)nw_chip_mark_bad(&req); /* the block is passed over, marked or not */
    }
    return result;
}

/* Once; a block that goes bad costs another turn, with the one before. */
static int claim(struct nw_chip *chip, int erase, uint32_t block, uint8_t *bytes)
{
    uint32_t page = block * chip->geometry.block_pages;
    int result = nw_mark_is(chip, page + (chip->geometry.block_pages > 1U));

    if (result != 0 && result != NW_ERR_ECC) { /* torn by a cut: the other page tells */
        return result;
    }
    result = nw_blocks_are_blank(chip, block);
    if (result != 0) {
        return result < 0 ? result : make(chip, block, bytes);
    }
    result = nw_mark_is(chip, page);
    if (result != 0 && (result != NW_ERR_ECC || !erase)) {
        return result;
    }
    if (!erase) {
        return NW_ERR_NOT_FOUND;
    }
    result = nw_wipe_chip(chip, NULL);
    if (result == NW_OK && last_good(chip, block + 1U) != (int32_t)block) {
        result = NW_ERR_ERASE; /* that one failed just now: another turn, with the one before */
    }
    return result < 0 ? result : make(chip, block, bytes);
}

int32_t nw_mark_claim(struct nw_chip *chip, int erase, uint8_t *bytes)
{
    int32_t block = (int32_t)NW_MARK_BLOCKS;
    int result;

    do {
        block = last_good(chip, (uint32_t)block);
        result = nw_pages_are_blank(chip, 0, 0); /* may one ask at all? */
        if (block < 0 || result < 0) {
            return block < 0 || erase ? block : (int32_t)result;
        }
        result = claim(chip, erase, (uint32_t)block, bytes);
    } while (result == NW_ERR_PROGRAM || result == NW_ERR_ERASE);
    return result < 0 ? (int32_t)result : block;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The begin of a format: see wipe.h. */
#include "wipe.h"

#include <stddef.h>

#include "mark.h"
#include "nandwich/bytes.h"
#include "piece.h"

#define RESERVE_AT 12U /* in a list (page_fence.c): blocks for the next mounts */
#define RESERVES 2U

struct wipe {
    struct nw_tagged tagged;
    uint64_t version; /* of the newest list or record; 0: none */
    uint32_t word;    /* its kind */
    uint32_t at;      /* its page */
    uint8_t bytes[NW_PIECE_BYTES];
};

/* 1 when a mount began this block. Notes its list or record if that is the newest so far. */
static int look_at(struct wipe *wipe, uint32_t block)
{
    uint32_t page = block * wipe->tagged.req.chip->geometry.block_pages;
    uint32_t end = page + wipe->tagged.req.chip->geometry.block_pages;
    int begun = 0;

    wipe->tagged.req.block = block;
    int state = nw_chip_is_bad(&wipe->tagged.req);

    if (state != 0) {
        return state < 0 ? state : 0;
    }
    for (; page < end; page++) {
        state = nw_tagged_read(&wipe->tagged, page, 0, NULL);
        if (state < 0 || state == NW_TAG_BLANK) {
            break;
        }
        if (state != NW_TAG_GOOD) {
            continue;
        }
        uint32_t word = wipe->tagged.tag.word;

        if ((word & (uint32_t)NW_MARK_SESSION) == 0) {
            break;
        }
        begun = 1;
        if ((word == NW_MARK_LIST || word == NW_MARK_RECORD || word == NW_MARK_VOID) &&
            wipe->tagged.tag.version > wipe->version) {
            state = word == NW_MARK_VOID ? 1 /* it has no data */
                                         : nw_piece_fits(&wipe->tagged, page, wipe->bytes);
            if (state > 0) {
                wipe->version = wipe->tagged.tag.version;
                wipe->word = word;
                wipe->at = page;
            }
            if (word != NW_MARK_LIST) {
                break;
            } /* behind a list its mount may have written another */
        }
    }
    return state < 0 ? state : begun;
}

/* What failed, if a block did, is marked bad: NW_OK then. */
static int retire(struct wipe *wipe, int result)
{
    if (result != NW_ERR_ERASE && result != NW_ERR_PROGRAM) {
        return result;
    }
    if (wipe->tagged.stats != NULL) {
        wipe->tagged.stats->retired++;
    }
    return nw_chip_mark_bad(&wipe->tagged.req);
}

static int erase(struct wipe *wipe, uint32_t block)
{
    wipe->tagged.req.block = block;
    if (wipe->tagged.stats != NULL) {
        wipe->tagged.stats->erases++;
    }
    return nw_chip_erase(&wipe->tagged.req);
}

/* The void list to a block in reserve. It is the newest then. */
static int put_void(struct wipe *wipe, uint32_t block)
{
    uint32_t page = block * wipe->tagged.req.chip->geometry.block_pages;
    int result = erase(wipe, block);

    if (result >= 0) {
        wipe->tagged.tag = (struct nw_tag){.word = NW_MARK_VOID, .version = wipe->version + 1U};
        result = nw_tagged_program(&wipe->tagged, page, 0, NULL);
    }
    if (result >= 0) {
        wipe->version++;
        wipe->at = page;
        return NW_OK;
    }
    return retire(wipe, result);
}

/* Makes the page layer's device unknown. Where its newest list names no good block in reserve that
 * cannot be done: then nearly all blocks are bad. */
static int disown(struct wipe *wipe)
{
    uint32_t list = wipe->at;
    int result = nw_piece_read(&wipe->tagged, list, 0, NW_PIECE_BYTES, wipe->bytes);

    for (uint8_t i = 0; i < RESERVES && result >= 0 && wipe->at == list; i++) {
        uint32_t block = nw_get16(wipe->bytes + RESERVE_AT + 2U * i);

        if (block < wipe->tagged.req.chip->geometry.blocks &&
            block != list / wipe->tagged.req.chip->geometry.block_pages) {
            wipe->tagged.req.block = block;
            result = nw_chip_is_bad(&wipe->tagged.req);
            if (result == 0) {
                result = put_void(wipe, block);
            }
        }
    }
    return result;
}

int nw_wipe_devices(struct nw_chip *chip, struct nw_stats *stats)
{
    uint32_t blocks = nw_tag_bytes(&chip->geometry) != 0 ? chip->geometry.blocks : 0;
    struct wipe wipe = {.version = 0};
    uint32_t begun = 0;
    int result = NW_OK;

    nw_tagged_open(&wipe.tagged, chip, stats);
    for (uint32_t block = 0; block < blocks && result >= 0; block++) {
        result = look_at(&wipe, block);
        begun += result > 0;
    }
    if (result < 0 || begun == 0) {
        return result < 0 ? result : (int)NW_OK;
    }
    if (wipe.word == NW_MARK_LIST) {
        result = disown(&wipe);
    }
    uint32_t last = wipe.at / chip->geometry.block_pages;

    for (uint32_t block = 0; block < blocks && result >= 0; block++) {
        result = block != last ? look_at(&wipe, block) : 0;
        if (result > 0) {
            result = retire(&wipe, erase(&wipe, block));
        }
    }
    if (result >= 0 && wipe.version != 0) {
        result = retire(&wipe, erase(&wipe, last));
    }
    return result < 0 ? result : (int)NW_OK;
}

int nw_wipe_all(struct nw_blocks *blocks)
{
    int result = nw_wipe_devices(blocks->tagged.req.chip, blocks->tagged.stats);

    if (result == NW_OK) {
        result = nw_blocks_load(blocks);
    }
    if (result == NW_OK) {
        do {
            result = nw_blocks_prepare(blocks);
        } while (result > 0);
    }
    return result;
}

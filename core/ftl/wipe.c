/* SPDX-License-Identifier: Apache-2.0 */
/* The begin of a format: see wipe.h. */
#include "wipe.h"

#include <string.h>

#include "mark.h"
#include "nandwich/bytes.h"
#include "nandwich/crc.h"
#include "tag.h"

#define PIECE 32U
#define RESERVE_AT 12U /* in a list (page_fence.c): blocks for the next mounts */
#define RESERVES 2U

struct wipe {
    struct nw_chip_req req;
    struct nw_stats *stats;
    struct nw_tag tag;    /* read last */
    uint64_t version;     /* of the newest list or record; 0: none */
    uint32_t word;        /* its kind */
    uint32_t at;          /* its page */
    uint8_t tag_bytes;
    uint8_t bytes[PIECE]; /* read last */
};

/* The tag of a page: enum nw_tag_state. */
static int read_tag(struct wipe *wipe, uint32_t page)
{
    wipe->req.page = page;
    wipe->req.length = 0;
    wipe->req.spare_length = wipe->tag_bytes;
    int result = nw_chip_read(&wipe->req);

    if (result < 0) {
        return result == NW_ERR_ECC ? (int)NW_TAG_BAD : result;
    }
    return nw_tag_get(wipe->bytes, wipe->tag_bytes, wipe->req.chip->geometry.erased, &wipe->tag);
}

/* A piece of a written page: 1, or 0 when it cannot be read. */
static int read_piece(struct wipe *wipe, uint32_t page, uint32_t offset)
{
    uint32_t left = wipe->req.chip->geometry.page_bytes - offset;

    wipe->req.page = page;
    wipe->req.offset = (uint16_t)offset;
    wipe->req.length = (uint16_t)(left < PIECE ? left : PIECE);
    wipe->req.spare_length = 0;
    int result = nw_chip_read(&wipe->req);

    wipe->req.offset = 0;
    if (result < 0) {
        return result == NW_ERR_ECC ? 0 : result;
    }
    return 1;
}

/* Is the page whole whose tag was read last? */
static int is_whole(struct wipe *wipe, uint32_t page)
{
    uint32_t crc = NW_CRC32_START;
    int result = 1;

    if (wipe->tag.word == NW_MARK_VOID) {
        return 1; /* it has no data */
    }
    for (uint32_t at = 0; result > 0 && at < wipe->req.chip->geometry.page_bytes; at += PIECE) {
        result = read_piece(wipe, page, at);
        crc = nw_crc32(crc, wipe->bytes, wipe->req.length);
    }
    return result > 0 ? crc == wipe->tag.crc : result;
}

/* 1 when a mount began this block. Notes its list or record if that is the newest so far. */
static int look_at(struct wipe *wipe, uint32_t block)
{
    uint32_t page = block * wipe->req.chip->geometry.block_pages;
    uint32_t end = page + wipe->req.chip->geometry.block_pages;
    int begun = 0;

    wipe->req.block = block;
    int state = nw_chip_is_bad(&wipe->req);

    if (state != 0) {
        return state < 0 ? state : 0;
    }
    for (; page < end; page++) {
        state = read_tag(wipe, page);
        if (state < 0 || state == NW_TAG_BLANK) {
            break;
        }
        if (state != NW_TAG_GOOD) {
            continue;
        }
        uint32_t word = wipe->tag.word;

        if ((word & (uint32_t)NW_MARK_SESSION) == 0) {
            break;
        }
        begun = 1;
        if ((word == NW_MARK_LIST || word == NW_MARK_RECORD || word == NW_MARK_VOID) &&
            wipe->tag.version > wipe->version) {
            state = is_whole(wipe, page);
            if (state > 0) {
                wipe->version = wipe->tag.version;
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
    if (wipe->stats != NULL) {
        wipe->stats->retired++;
    }
    return nw_chip_mark_bad(&wipe->req);
}

static int erase(struct wipe *wipe, uint32_t block)
{
    wipe->req.block = block;
    if (wipe->stats != NULL) {
        wipe->stats->erases++;
    }
    return nw_chip_erase(&wipe->req);
}

/* The void list to a block in reserve. It is the newest then. */
static int put_void(struct wipe *wipe, uint32_t block)
{
    int result = erase(wipe, block);

    if (result >= 0) {
        wipe->tag = (struct nw_tag){.word = NW_MARK_VOID, .version = wipe->version + 1U};
        nw_tag_put(wipe->bytes, wipe->tag_bytes, &wipe->tag);
        wipe->req.page = block * wipe->req.chip->geometry.block_pages;
        wipe->req.length = 0;
        wipe->req.spare_length = wipe->tag_bytes;
        if (wipe->stats != NULL) {
            wipe->stats->programs++;
        }
        result = nw_chip_program(&wipe->req);
    }
    if (result >= 0) {
        wipe->version++;
        wipe->at = wipe->req.page;
        return NW_OK;
    }
    return retire(wipe, result);
}

/* Makes the page layer's device unknown. Where its newest list names no good block in reserve that
 * cannot be done: then nearly all blocks are bad. */
static int disown(struct wipe *wipe)
{
    uint32_t list = wipe->at;
    uint8_t reserve[2U * RESERVES];
    int result = read_piece(wipe, list, 0);

    memcpy(reserve, wipe->bytes + RESERVE_AT, sizeof reserve);
    for (uint8_t i = 0; i < RESERVES && result >= 0 && wipe->at == list; i++) {
        uint32_t block = nw_get16(reserve + 2U * i);

        if (block < wipe->req.chip->geometry.blocks &&
            block != list / wipe->req.chip->geometry.block_pages) {
            wipe->req.block = block;
            result = nw_chip_is_bad(&wipe->req);
            if (result == 0) {
                result = put_void(wipe, block);
            }
        }
    }
    return result;
}

int nw_wipe_devices(struct nw_chip *chip, struct nw_stats *stats)
{
    struct wipe wipe = {.stats = stats, .tag_bytes = nw_tag_bytes(&chip->geometry)};
    uint32_t blocks = wipe.tag_bytes != 0 ? chip->geometry.blocks : 0;
    uint32_t begun = 0;
    int result = NW_OK;

    wipe.req.chip = chip;
    wipe.req.data = wipe.bytes;
    wipe.req.spare = wipe.bytes;
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

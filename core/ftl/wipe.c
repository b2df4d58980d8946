/* SPDX-License-Identifier: Apache-2.0 */
/* How a format ends the device that was there: see wipe.h. */
#include "wipe.h"

#include <stddef.h>

#include "mark.h"
#include "nandwich/bytes.h"
#include "piece.h"

#define RESERVE_AT 12U /* in a root (floor_base.c): blocks for the next mounts */
#define RESERVES 2U
#define NONE UINT32_MAX

struct wipe {
    struct nw_tagged tagged;
    uint64_t version; /* of the newest list; 0: none */
    uint64_t ended;   /* of the newest void list behind which its second page is; 0: none */
    uint64_t before;  /* of the one before that, or 0 */
    uint32_t at;      /* the newest list's page */
    uint32_t kept;    /* the block of that void list */
    uint32_t other;   /* the block that it names */
    uint32_t last[2]; /* blocks that go last, in this order; NONE */
    uint8_t shows;    /* some block is not blank */
    uint8_t by_order; /* no void list ends what was there, but the order of erases */
    uint8_t bytes[NW_PIECE_BYTES];
};

/* The next version of a block with a head: none that goes on with a stretch of the tree. */
static uint64_t above(uint64_t version)
{
    return (version | 7U) + 5U;
}

static uint32_t first_of(const struct wipe *wipe, uint32_t block)
{
    return block * wipe->tagged.req.chip->geometry.block_pages;
}

static uint32_t block_of(const struct wipe *wipe, uint32_t page)
{
    return page / wipe->tagged.req.chip->geometry.block_pages;
}

static int is_good(struct wipe *wipe, uint32_t block)
{
    wipe->tagged.req.block = block;
    int bad = nw_chip_is_bad(&wipe->tagged.req);

    return bad < 0 ? bad : bad == 0;
}

/* The tag of a page of this block; beyond its end nothing is. */
static int tag_in(struct wipe *wipe, uint32_t block, uint32_t page)
{
    return block_of(wipe, page) == block ? nw_tagged_read(&wipe->tagged, page, 0, NULL)
                                         : (int)NW_TAG_BLANK;
}

/* The tag of a void list was read: notes it when its second page is there. */
static int meet_void(struct wipe *wipe, uint32_t block, uint32_t page)
{
    uint64_t version = wipe->tagged.tag.version;
    int state = tag_in(wipe, block, page + 1U);
    const struct nw_tag *tag = &wipe->tagged.tag;

    if (state != NW_TAG_GOOD || tag->word != NW_MARK_BEHIND || tag->version != version + 1U) {
        return state;
    }
    if (version > wipe->ended) {
        wipe->before = wipe->ended;
        wipe->ended = version;
        wipe->kept = block;
        wipe->other = tag->crc;
    } else if (version > wipe->before) {
        wipe->before = version;
    }
    return state;
}

/* The tag of a list was read: notes it when its data fits and it is newer. */
static int meet_list(struct wipe *wipe, uint32_t page)
{
    uint64_t version = wipe->tagged.tag.version;
    int result = nw_piece_fits(&wipe->tagged, page, wipe->bytes);

    if (result > 0 && version > wipe->version) {
        wipe->version = version;
        wipe->at = page;
    }
    return result;
}

/* What a mount or a format began in this block. */
static int look_at(struct wipe *wipe, uint32_t block)
{
    uint32_t page = first_of(wipe, block);
    int state = is_good(wipe, block);
    uint32_t word = NW_MARK_LIST;

    /* behind a list its mount may have written another */
    for (; state > 0 && word != NW_MARK_VOID; page++) {
        state = tag_in(wipe, block, page);
        if (state > NW_TAG_BLANK) {
            wipe->shows = 1;
        }
        if (state != NW_TAG_GOOD) {
            continue;
        }
        word = wipe->tagged.tag.word;
        if ((word & (uint32_t)NW_MARK_SESSION) == 0) {
            return NW_OK;
        }
        if (word == NW_MARK_VOID) {
            state = meet_void(wipe, block, page);
        } else if (word == NW_MARK_LIST) {
            int result = meet_list(wipe, page);

            state = result < 0 ? result : state;
        }
    }
    return state < 0 ? state : (int)NW_OK;
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

/* A void list of this version to `block`, if that is a good one, and the page behind it, which
 * names `other`. 1, 0 when the block is none or has failed, or an error. */
static int put_void(struct wipe *wipe, uint32_t block, uint32_t other, uint64_t version)
{
    int result = block < wipe->tagged.req.chip->geometry.blocks ? is_good(wipe, block) : 0;

    if (result <= 0) {
        return result;
    }
    result = erase(wipe, block);
    if (result >= 0) {
        wipe->tagged.tag = (struct nw_tag){.word = NW_MARK_VOID, .version = version};
        result = nw_tagged_program(&wipe->tagged, first_of(wipe, block), 0, NULL);
    }
    if (result >= 0) {
        wipe->tagged.tag =
            (struct nw_tag){.word = NW_MARK_BEHIND, .version = version + 1U, .crc = other};
        result = nw_tagged_program(&wipe->tagged, first_of(wipe, block) + 1U, 0, NULL);
    }
    if (result < 0) {
        result = retire(wipe, result);
        return result < 0 ? result : 0;
    }
    wipe->last[1] = block;
    return 1;
}

/* Makes the device unknown that the newest list names. Where that has no good block in reserve it
 * cannot be done: then nearly all blocks are bad. The other one in reserve is erased at once: a
 * mount that was cut may have left a list there, newer than all and torn. */
static int disown(struct wipe *wipe)
{
    uint32_t reserve[RESERVES];
    int result = nw_piece_read(&wipe->tagged, wipe->at, 0, NW_PIECE_BYTES, wipe->bytes);

    if (result <= 0) {
        return result;
    }
    for (uint8_t i = 0; i < RESERVES; i++) {
        reserve[i] = nw_get16(wipe->bytes + RESERVE_AT + 2U * i);
    }
    uint8_t own = reserve[0] == block_of(wipe, wipe->at); /* not the newest list's own block */
    uint32_t other = reserve[own ^ 1U];

    result = put_void(wipe, reserve[own], other, above(wipe->version));
    if (result == 0 && other != block_of(wipe, wipe->at)) {
        return put_void(wipe, other, NONE, above(wipe->version));
    }
    if (result > 0 && other < wipe->tagged.req.chip->geometry.blocks) {
        result = is_good(wipe, other);
        if (result > 0) {
            result = retire(wipe, erase(wipe, other));
        }
    }
    return result;
}

/* Looks for what was there. Then no mount finds it any more. */
static int begin(struct wipe *wipe)
{
    int result = NW_OK;

    for (uint32_t block = 0; block < wipe->tagged.req.chip->geometry.blocks && result >= 0;
         block++) {
        result = look_at(wipe, block);
    }
    if (result < 0) {
        return result;
    }
    if (wipe->ended > wipe->version) {
        wipe->last[0] = wipe->kept;
        wipe->last[1] = wipe->other;
        return wipe->before > wipe->version
                   ? (int)NW_OK /* both look whole, and one of them is */
                   : put_void(wipe, wipe->other, wipe->kept, above(wipe->ended));
    }
    if (wipe->version != 0) {
        return disown(wipe);
    }
    wipe->by_order = wipe->shows;
    return NW_OK;
}

/* Does the block show a page of data, or with `any` anything? */
static int shows(struct wipe *wipe, uint32_t block, int any)
{
    uint32_t page = first_of(wipe, block);
    int found = 0;

    for (; found == 0 && block_of(wipe, page) == block; page++) {
        int state = nw_tagged_read(&wipe->tagged, page, 0, NULL);

        if (state < 0) {
            return state;
        }
        found = any ? state != NW_TAG_BLANK
                    : state == NW_TAG_GOOD &&
                          (wipe->tagged.tag.word & (uint32_t)NW_MARK_SESSION) == 0;
    }
    return found;
}

/* A good block, erased; one that fails is marked bad. */
static int erase_good(struct wipe *wipe, uint32_t block)
{
    int result = is_good(wipe, block);

    if (result <= 0) {
        return result;
    }
    return retire(wipe, erase(wipe, block));
}

/* All blocks but those that go last; or only those that show no data. */
static int erase_most(struct wipe *wipe, int but_data)
{
    int result = NW_OK;

    for (uint32_t block = 0; block < wipe->tagged.req.chip->geometry.blocks && result >= 0;
         block++) {
        if (block == wipe->last[0] || block == wipe->last[1]) {
            continue;
        }
        result = but_data ? shows(wipe, block, 0) : 0;
        if (result == 0) {
            result = erase_good(wipe, block);
        }
    }
    return result;
}

static int run(struct wipe *wipe)
{
    uint32_t blocks = wipe->tagged.req.chip->geometry.blocks;
    int result = erase_most(wipe, wipe->by_order);

    for (uint8_t i = 0; i < 2U && result >= 0; i++) {
        if (wipe->last[i] != NONE && (i == 0 || wipe->last[1] != wipe->last[0])) {
            result = erase_good(wipe, wipe->last[i]);
        }
    }
    for (uint32_t block = 0; wipe->by_order != 0 && block < blocks && result >= 0; block++) {
        result = shows(wipe, block, 1);
        if (result > 0) {
            result = erase_good(wipe, block);
        }
    }
    return result < 0 ? result : (int)NW_OK;
}

int nw_wipe_chip(struct nw_chip *chip, struct nw_stats *stats)
{
    struct wipe wipe = {.last = {NONE, NONE}};
    int result = NW_OK;

    nw_tagged_open(&wipe.tagged, chip, stats);
    if (nw_tag_bytes(&chip->geometry) != 0) {
        result = begin(&wipe);
    }
    return result < 0 ? result : run(&wipe);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mounting: the map from the tags. Of all pages only the newest one may be torn and yet look
 * complete. It stays out of the map until the blocks that this mount and the next ones write to
 * are chosen, so that what it replaces is not given away.
 */
#include "page.h"

#define VERSION_GAP 64U /* above what a torn page that cannot be read now may carry */
#define MOST_ROUNDS 12U /* of moving and telling so: in three blocks of eight pages */
#define FURTHEST (1ULL << 36) /* more programs than a part takes between two mounts */

/* Into the map if it is the newest page of its slot so far. */
static int accept(struct nw_page *page, const struct nw_page_met *met)
{
    if (met->slot >= page->slots) {
        return NW_OK; /* a list, or nothing */
    }
    if (page->map[met->slot] != NW_PAGE_NONE) {
        int state = nw_page_read_tag(page, page->map[met->slot]);
        if (state < 0) {
            return state;
        }
        if (state == NW_TAG_GOOD && page->blocks.tagged.tag.version >= met->version) {
            return NW_OK;
        }
    }
    nw_page_point(page, met->slot, met->at);
    return NW_OK;
}

/* A good tag. */
static int meet(struct nw_page *page, uint16_t block, uint32_t at)
{
    const struct nw_tag *tag = &page->blocks.tagged.tag;

    if (tag->version >= page->list_version + FURTHEST) {
        return NW_OK; /* bits that pass for a tag: such a version would use up all others */
    }
    if (tag->version >= page->version) {
        page->version = tag->version + 1U;
    }
    if (tag->erases > page->blocks.erases[block]) {
        page->blocks.erases[block] = tag->erases;
    }
    if (tag->version >= page->limit || nw_page_is_void(page)) {
        return NW_OK;
    }
    struct nw_page_met older = page->newest; /* of that and this page: it may go into the map */
    struct nw_page_met *met = tag->version > older.version ? &page->newest : &older;
    met->version = tag->version;
    met->slot = tag->word & NW_WORD_SLOT;
    met->at = at;
    return accept(page, &older);
}

static int walk_block(struct nw_page *page, uint16_t block)
{
    uint32_t at = nw_page_first(page, block);
    uint32_t end = at + page->block_pages;
    uint16_t hole = 0;

    for (; at < end; at++) {
        int state = nw_page_read_tag(page, at);

        if (state < 0 || state == NW_TAG_BLANK) {
            return state;
        }
        if (state != NW_TAG_GOOD) {
            hole = NW_PAGE_HOLE;
            continue;
        }
        page->valid[block] |= hole;
        state = meet(page, block, at);
        if (state < 0) {
            return state;
        }
    }
    return NW_OK;
}

/* All that counts, given the list and the limit; the newest page stays aside. */
static int walk(struct nw_page *page)
{
    int result = nw_page_load_list(page);

    nw_page_forget_all(page);
    page->newest.version = page->list_version;
    for (unsigned block = 0; result >= 0 && block < page->blocks.count; block++) {
        if (page->blocks.state[block] == NW_BLOCK_USED) {
            result = walk_block(page, (uint16_t)block);
        }
    }
    return result;
}

/* What the chip holds, but for the newest page. When that one turns out torn, once more without it;
 * and without the one below if that was a try at the same write, which failed. */
int nw_page_find(struct nw_page *page)
{
    uint32_t torn = NW_PAGE_NONE;
    int result = nw_page_find_list(page);

    page->limit = UINT64_MAX;
    while (result == NW_OK) {
        result = walk(page);
        if (result < 0 || page->newest.at == NW_PAGE_NONE) {
            break;
        }
        result = nw_page_read_whole(page, page->newest.at);
        if (result < 0 || result == NW_TAG_GOOD ||
            (torn != NW_PAGE_NONE && torn != page->newest.slot)) {
            break;
        }
        result = NW_OK;
        torn = page->newest.slot;
        page->limit = page->newest.version;
    }
    for (uint32_t slot = page->sectors; result >= 0 && slot < page->slots; slot++) {
        result = nw_page_load_trim(page, slot);
    }
    return result;
}

/* Blocks in use without a valid page become free, but not yet the one with the newest page while
 * that stays out of the map; once the mount has settled all others that no stream fills can be
 * cleaned. */
static void sort_blocks(struct nw_page *page)
{
    for (unsigned i = 0; i < page->blocks.count; i++) {
        uint16_t block = (uint16_t)i;
        uint16_t valid = page->valid[block];

        if ((valid & NW_PAGE_HOLE) != 0) {
            valid &= NW_PAGE_COUNT;
            page->blocks.tagged.stats->lost += valid != 0;
            page->valid[block] = valid;
        }
        if (!nw_page_is_filled(page, block) || (valid & NW_PAGE_FAILED) != 0) {
            continue; /* free, bad, failed, or kept for what it is */
        }
        if (valid != 0) {
            if (page->writable != 0 && valid < NW_PAGE_CLOSED) {
                nw_page_close(page, block);
            }
        } else if (page->writable != 0 || block != page->newest.at / page->block_pages) {
            nw_blocks_give(&page->blocks, block);
        }
    }
}

/* Open the block that this mount writes to: one in reserve; else, and when formatting, a free one.
 * NW_ERR_ERASE: it cannot be erased and is marked bad now. */
static int open_session(struct nw_page *page)
{
    for (uint8_t i = 0; i < NW_PAGE_RESERVES; i++) {
        uint16_t block = page->reserve[i];

        if (nw_page_is_spare(page, block) && page->valid[block] == 0) {
            int result = nw_blocks_erase(&page->blocks, block);
            if (result == NW_OK) {
                nw_page_open(page, &page->host, block);
            }
            return result;
        }
    }
    return nw_page_begin(page, &page->host);
}

/* What this mount writes: an empty page, so that no later mount uses the same versions again should
 * the list be torn; copies; the list with the new fence; and an empty page to show that the list is
 * whole. Until the list is there nothing of it counts. What is copied is the newest page, which may
 * be torn; or, when nothing was written since the mount before, what that one had copied. Then its
 * fence covers this one's range and all between as well. */
static int write_session(struct nw_page *page, int found)
{
    int fresh = 1;

    if ((page->turn & NW_TURN_SEALED) != 0) {
        page->turn &= NW_TURN_LATE;
    } else if (found) {
        page->turn = 0;
    } else {
        fresh = page->list == NW_PAGE_NONE; /* formatting */
    }
    page->mounting = NW_MOUNTING;
    page->limit = page->version;
    int result = nw_page_write(page, &page->host, NW_WORD_EMPTY, page->buffer);

    if (result == NW_OK && found) {
        result = nw_page_move(page, page->newest.at);
    }
    if (result == NW_OK && !fresh) {
        result = nw_page_clear(page, page->session);
    }
    return result >= 0 ? nw_page_seal(page, fresh) : result;
}

/* See what is free, let the newest page join the map, choose the block to write to, write. */
static int settle_in(struct nw_page *page)
{
    int found = page->newest.at != NW_PAGE_NONE;

    sort_blocks(page);
    int result = accept(page, &page->newest);
    if (result == NW_OK && found && page->newest.slot >= page->sectors) {
        result = nw_page_load_trim(page, page->newest.slot);
    }
    if (result == NW_OK) {
        result = open_session(page);
    }
    if (result < 0) {
        return result;
    }
    if (found || (page->unfinished == 0 && (page->turn & NW_TURN_SEALED) == 0)) {
        nw_page_hold_reserves(page);
    }
    return write_session(page, found);
}

/* What a round moves: for room, for turns that are due, out of blocks that have failed. */
static int move_some(struct nw_page *page)
{
    int result = nw_page_make_room(page);

    if (result == NW_OK) {
        result = nw_page_renew_turns(page);
    }
    return result == NW_OK || result == NW_ERR_FULL ? nw_page_drain(page) : result;
}

/* As much room as the host's writes have to leave, and the turns that are due. What is moved counts
 * once another list is there; only then what it was moved from is free, also to be a reserve. A
 * block without two pages left for list and end is followed by another, if room is short or a
 * reserve is missing; what cannot be won in this way is left to a write, which needs no lists. */
static int settle_more(struct nw_page *page)
{
    uint32_t sealed = (uint32_t)page->version;
    uint8_t told = 0;
    int result;

    page->mounting = NW_RENEWING;
    page->turn = (uint8_t)(page->turn + (page->turn < page->fences / 2U));
    for (uint8_t round = 0; round < MOST_ROUNDS; round++) {
        if (page->host.left >= 2U) {
            result = move_some(page);
        } else {
            result = nw_page_is_short(page) || nw_page_lacks(page) != 0
                         ? nw_page_begin(page, &page->host)
                         : (int)NW_ERR_FULL;
            if (result == NW_ERR_FULL) {
                break;
            }
        }
        if (result < 0) {
            return result;
        }
        if ((uint32_t)page->version == sealed && page->turn == told &&
            page->host.left < page->block_pages &&
            (nw_page_lacks(page) == 0 || page->blocks.free == 0)) {
            break;
        }
        nw_page_hold_reserves(page);
        page->cleaning = 0; /* a victim is free now that all of it has moved, or begun anew */
        page->renewed = 0;
        result = nw_page_seal(page, 0);
        if (result == NW_OK) {
            result = nw_page_retire(page);
        }
        if (result < 0) {
            return result;
        }
        sealed = (uint32_t)page->version;
        told = page->turn;
        sort_blocks(page);
    }
    return NW_OK;
}

/* From what was found to a device that can be written. NW_ERR_PROGRAM, NW_ERR_ERASE: a block went
 * bad; mount again. What a block holds that fails before the first list is there does not count;
 * one that fails later is emptied first, as ever; if there is no other block to go on with, the
 * mount begins anew, too. */
int nw_page_start(struct nw_page *page)
{
    page->version += VERSION_GAP;
    int result = settle_in(page);
    if (result == NW_ERR_PROGRAM) {
        int marked = nw_blocks_retire(&page->blocks,
                                      nw_page_block_of(page, page->blocks.tagged.req.page));
        return marked < 0 ? marked : result;
    }
    if (result == NW_OK) {
        page->writable = 1;
        sort_blocks(page);
        if (page->list_version != 0) { /* a format has just erased all */
            result = settle_more(page);
        }
        page->writable = result == NW_OK;
        if (result == NW_ERR_FULL && page->doubt != 0) {
            return NW_ERR_PROGRAM; /* what it had moved to is free again for another turn */
        }
    }
    page->mounting = 0;
    return result == NW_OK ? nw_page_make_room(page) : result;
}

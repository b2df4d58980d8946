/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cleaning: a block is emptied by moving what counts in it, a page at a time, and what failed
 * programs have left to do.
 */
#include <stddef.h>

#include "page.h"

static int is_live(const struct nw_page *page, uint32_t at)
{
    return page->live[at >> 3] >> (at & 7U) & 1;
}

/* Write a slot anew; what it holds is in the buffer. */
static int rewrite(struct nw_page *page, uint32_t slot)
{
    struct nw_tag *tag = &page->blocks.tagged.tag;

    if (slot >= page->sectors) {
        return nw_page_save_trim(page, slot);
    }
    page->blocks.tagged.stats->copies++;
    tag->word = slot | (tag->word & NW_WORD_DAMAGED);
    return nw_page_append(page, &page->cold, page->data);
}

/* Move a page if the map points to it. A tag that cannot be read, or that tells of something else,
 * does not help: then the map is searched, and a sector goes on as a damaged one. */
int nw_page_move(struct nw_page *page, uint32_t from)
{
    struct nw_tag *tag = &page->blocks.tagged.tag;

    if (!is_live(page, from)) {
        return NW_OK;
    }
    int state = nw_page_fetch(page, from, page->page_bytes, page->data);

    if (state < 0) {
        return state;
    }
    uint32_t slot = tag->word & NW_WORD_SLOT;
    if (state != NW_TAG_GOOD || slot >= page->slots || page->map[slot] != from) {
        slot = page->slots;
        do {
            slot--;
        } while (slot > 0 && page->map[slot] != from);
        tag->word = NW_WORD_DAMAGED;
        tag->crc = 0;
        page->blocks.tagged.stats->lost += slot < page->sectors;
    }
    return rewrite(page, slot);
}

/* Write the slot of a program that failed anew, as reads show it: the page may be there, the newest
 * of its slot for the next mount. Nothing else is programmed before. */
int nw_page_settle(struct nw_page *page)
{
    uint32_t slot = page->doubt - 1U;

    if (slot >= page->slots) {
        return NW_OK;
    }
    if (page->map[slot] < NW_PAGE_UNSAVED) {
        return nw_page_move(page, page->map[slot]);
    }
    return nw_page_save_trim(page, nw_page_trim_of(page, slot));
}

static int is_empty(const struct nw_page *page, uint16_t block)
{
    return (page->valid[block] & NW_PAGE_COUNT) == 0;
}

/* Empty an open block by the page at `*at`. 1: nothing on the chip needs the block any more, also
 * not to tell that something was trimmed. */
static int empty_step(struct nw_page *page, uint16_t block, uint32_t *at)
{
    if (!is_empty(page, block)) {
        int moved = nw_page_move(page, *at);
        if (moved != NW_OK) {
            return moved;
        }
        *at += 1U;
        if (!is_empty(page, block)) {
            return NW_OK;
        }
    }
    int result = nw_page_save_trims(page);
    return result < 0 ? result : 1;
}

/* Empty an open block. */
int nw_page_clear(struct nw_page *page, uint16_t block)
{
    uint32_t at = nw_page_first(page, block);
    int result;

    do {
        result = empty_step(page, block, &at);
    } while (result == 0);
    return result;
}

/* Clean this closed block next, over as many writes as it wins pages. */
void nw_page_start_victim(struct nw_page *page, uint16_t block)
{
    page->valid[block] &= NW_PAGE_COUNT;
    page->victim_gain = (uint16_t)(page->block_pages - page->valid[block]);
    page->victim = block;
    page->cleaning = 1;
    page->victim_page = nw_page_first(page, block);
    page->credit = 0;
    nw_blocks_unlink(&page->blocks, block);
}

/* The cleaning policy's place: a victim, the next one when there is none. NW_ERR_FULL: cleaning
 * would win nothing. */
static int pick(struct nw_page *page)
{
    for (; page->cleaning == 0; page->lowest++) {
        if (page->lowest >= page->block_pages) {
            return NW_ERR_FULL;
        }
        uint16_t block = nw_blocks_first(&page->blocks, page->lowest);
        if (block != NW_NO_BLOCK) {
            nw_page_start_victim(page, block);
            break;
        }
    }
    return NW_OK;
}

/* Clean by one page at most, picking a victim when there is none. */
int nw_page_clean_step(struct nw_page *page)
{
    int result = pick(page);

    if (result == NW_OK) {
        result = empty_step(page, page->victim, &page->victim_page);
    }
    if (result <= 0) {
        return result;
    }
    page->cleaning = 0;
    if (page->mounting != 0) {
        page->renewed++; /* free once what was moved counts */
    } else {
        nw_blocks_give(&page->blocks, page->victim);
    }
    return NW_OK;
}

/* What the wear policy wants moved is a victim too, when there is room and no other one. */
static void level(struct nw_page *page)
{
    uint16_t block =
        page->blocks.free > page->floor ? nw_blocks_move(&page->blocks) : (uint16_t)NW_NO_BLOCK;

    page->leveling = block != NW_NO_BLOCK && page->valid[block] >= NW_PAGE_CLOSED;
    if (page->leveling != 0) {
        nw_page_start_victim(page, block);
        nw_blocks_moved(&page->blocks, page->valid[block]);
        if (page->victim_gain < NW_PAGE_LEAST_GAIN) {
            page->victim_gain = NW_PAGE_LEAST_GAIN;
        }
    }
}

/* What one host write owes to cleaning: a victim of gain g is done within g writes. A move for the
 * wear policy begins with the write after: idle time may have done it by then. */
int nw_page_pace(struct nw_page *page)
{
    int between = page->cleaning == 0;

    if (between) {
        level(page);
    }
    if (page->leveling != 0 ? between : page->blocks.free >= page->floor + NW_PAGE_LOW) {
        return NW_OK;
    }
    int result = pick(page);

    page->credit += page->block_pages;
    while (result == NW_OK && page->cleaning != 0 && page->credit >= page->victim_gain) {
        result = nw_page_clean_step(page);
        page->credit -= page->victim_gain;
    }
    return result == NW_ERR_FULL ? NW_OK : result;
}

/* Are there too few free blocks for the host to take one? A mount wins those that are missing in
 * reserve, too. */
int nw_page_is_short(const struct nw_page *page)
{
    unsigned lacks = page->mounting != 0 ? nw_page_lacks(page) : 0U;

    return (unsigned)page->blocks.free + page->renewed <= page->floor + lacks;
}

/* Before a stream of the host takes a block: leave `floor` free ones for moving data. */
int nw_page_make_room(struct nw_page *page)
{
    int result = NW_OK;

    while (nw_page_is_short(page) && result >= 0) {
        result = nw_page_clean_step(page);
        if (result == NW_ERR_FULL) { /* but for blocks that wait to be healed */
            result = nw_blocks_heal_now(&page->blocks);
            result = result != 0 ? result : (int)NW_ERR_FULL;
        }
    }
    return result < 0 ? result : (int)NW_OK;
}

/* The list leaves its block, which has to go. */
static int renew_list(struct nw_page *page)
{
    int result = nw_page_begin(page, &page->host);

    if (result == NW_OK) {
        nw_page_hold_reserves(page); /* the old block may have been one of them */
        result = nw_page_seal(page, 0);
    }
    return result;
}

/* Blocks in which a program failed, and that hold nothing any more, are marked bad. */
int nw_page_retire(struct nw_page *page)
{
    uint16_t block = nw_blocks_first(&page->blocks, nw_page_failed(page));
    int result = NW_OK;

    while (result == NW_OK && block != NW_NO_BLOCK && block != page->session &&
           is_empty(page, block)) {
        nw_blocks_unlink(&page->blocks, block);
        result = nw_blocks_retire(&page->blocks, block);
        block = nw_blocks_first(&page->blocks, nw_page_failed(page));
    }
    return result;
}

/* What failed programs have left to do: settle the slot of the last one, empty and mark the blocks.
 * Those have to wait when there is no room; while mounting, until what was moved counts. */
int nw_page_drain(struct nw_page *page)
{
    int result = nw_page_settle(page);

    while (result == NW_OK) {
        uint16_t block = nw_blocks_first(&page->blocks, nw_page_failed(page));

        if (block == NW_NO_BLOCK) {
            break;
        }
        if (block == page->session && page->mounting == 0) {
            result = renew_list(page);
        }
        if (result == NW_OK) {
            result = nw_page_clear(page, block);
        }
        if (result == NW_ERR_FULL || (result > 0 && page->mounting != 0)) {
            return NW_OK;
        }
        if (result > 0) {
            result = nw_page_retire(page);
        }
    }
    return result;
}

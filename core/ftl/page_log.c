/* SPDX-License-Identifier: Apache-2.0 */
/* The log of pages: reading, appending, moving, and cleaning by moving. */
#include <stddef.h>
#include <string.h>

#include "page.h"

/* Could this layer have written the tag? Its check has 16 bits, and a block whose erase was cut may
 * show other bits in each of its pages at each power-up: some of them pass. */
static int is_ours(const struct nw_page *page)
{
    const struct nw_tag *tag = &page->blocks.tagged.tag;
    uint32_t word = tag->word;

    if ((word & NW_WORD_DAMAGED) != 0 && tag->crc != 0) {
        return 0;
    }
    return (word & NW_WORD_SLOT) < page->slots || (word | NW_WORD_DAMAGED) >= NW_WORD_VOID;
}

/* Page `at`: tag, and data if `length` says so. */
static int fetch(struct nw_page *page, uint32_t at, uint16_t length, uint8_t *data)
{
    int state = nw_tagged_read(&page->blocks.tagged, at, length, data);

    return state == NW_TAG_GOOD && !is_ours(page) ? (int)NW_TAG_BAD : state;
}

/* The tag alone. */
int nw_page_read_tag(struct nw_page *page, uint32_t at)
{
    return fetch(page, at, 0, NULL);
}

/* Tag and data; NW_TAG_BAD also when the data does not fit its CRC. */
int nw_page_check(struct nw_page *page, uint32_t at, uint8_t *data)
{
    const struct nw_tag *tag = &page->blocks.tagged.tag;
    int state = fetch(page, at, page->page_bytes, data);

    return state == NW_TAG_GOOD && tag->crc != nw_tag_sum(data, page->page_bytes)
               ? (int)NW_TAG_BAD
               : state;
}

/* The page to the buffer: NW_TAG_GOOD when tag and data are whole, or when the data is known to be
 * lost. Looks at the tag first: page `at` need not be written. */
int nw_page_read_whole(struct nw_page *page, uint32_t at)
{
    const struct nw_tag *tag = &page->blocks.tagged.tag;
    int state = nw_page_read_tag(page, at);

    if (state == NW_TAG_GOOD && (tag->word & NW_WORD_DAMAGED) == 0) {
        int keeps = page->data != NULL || (tag->word & NW_WORD_SLOT) >= page->sectors;

        state = nw_page_check(page, at, keeps ? page->buffer : NULL);
    }
    return state;
}

/* From now on a block takes no more pages. But for the session's it joins the candidates for
 * cleaning, those with as many valid pages. */
void nw_page_close(struct nw_page *page, uint16_t block)
{
    if (block != page->session) {
        uint16_t valid = page->valid[block] & NW_PAGE_COUNT;

        page->valid[block] = valid | NW_PAGE_CLOSED;
        nw_blocks_link(&page->blocks, block, valid);
        if (valid < page->lowest) {
            page->lowest = valid;
        }
    }
}

/* Start `stream` in an erased block. */
void nw_page_open(struct nw_page *page, struct nw_page_stream *stream, uint16_t block)
{
    if (stream->block != NW_NO_BLOCK) {
        nw_page_close(page, stream->block);
    }
    stream->block = block;
    stream->page = nw_page_first(page, block);
    stream->left = page->block_pages;
}

/* A mount without a free block uses one in reserve, which a cut gives back. The next mount may need
 * the other one; but a list takes even that, for without it nothing that was moved counts. */
static int lend(struct nw_page *page, const struct nw_page_stream *stream)
{
    for (uint8_t i = NW_PAGE_RESERVES; i-- > 0;) {
        uint16_t block = page->reserve[i];

        if (nw_page_is_spare(page, block) && page->valid[block] == 0 &&
            (stream == &page->host || nw_page_lacks(page) == 0)) {
            page->reserve[i] = NW_NO_BLOCK;
            nw_blocks_give(&page->blocks, block);
            return 1;
        }
    }
    return 0;
}

int nw_page_begin(struct nw_page *page, struct nw_page_stream *stream)
{
    int32_t block = nw_blocks_take_for(&page->blocks,
                                       stream == &page->cold ? NW_WEAR_MOVED : NW_WEAR_HOST);

    if (block == NW_ERR_FULL && page->mounting == NW_RENEWING && lend(page, stream)) {
        block = nw_blocks_take_for(&page->blocks, NW_WEAR_HOST);
    }
    if (block < 0) {
        return (int)block;
    }
    nw_page_open(page, stream, (uint16_t)block);
    return NW_OK;
}

/* A stream leaves the block of a program that failed: the page may be blank, and a mount looks no
 * further than that. A good block that holds nothing else is free again: so an error that lasts
 * does not use up all blocks. */
void nw_page_leave(struct nw_page *page, struct nw_page_stream *stream, int failed)
{
    uint16_t left = stream->left;

    stream->left = 0;
    if (failed) {
        page->valid[stream->block] |= NW_PAGE_FAILED;
        nw_blocks_link(&page->blocks, stream->block, nw_page_failed(page));
    } else if (left + 1U == page->block_pages) {
        nw_blocks_give(&page->blocks, stream->block);
    } else {
        return;
    }
    stream->block = NW_NO_BLOCK;
}

/* Is there room for moved pages in the host's block, when so many pages are kept? Not for its first
 * one: a mount finds its lists by that. */
static int has_room(const struct nw_page *page, uint16_t keep)
{
    return page->host.left > keep && page->host.left < page->block_pages;
}

/* Program the next page and point the map to it. The tag's word and crc say what it is. Cold data
 * has blocks of its own, unless there is hardly one to take. What a mount writes before its
 * first list is there goes to one block, which has room for it: if that fails, the mount begins
 * anew. */
static int append(struct nw_page *page, struct nw_page_stream *stream, uint8_t *data)
{
    struct nw_tag *tag = &page->blocks.tagged.tag;
    uint32_t slot = tag->word & NW_WORD_SLOT;
    uint16_t keep = 0;

    if (page->mounting != 0) {
        tag->word |= NW_WORD_MOUNT;
        keep = page->block_pages / 8U + 1U; /* for lists that make what was moved count */
    }
    if (page->mounting == NW_MOUNTING ||
        (page->mounting == 0 && stream->left == 0 && page->blocks.free < 2U &&
         has_room(page, 0))) {
        stream = &page->host;
    }
    for (;;) { /* every further turn has cost a block its life */
        if (stream->left == 0) {
            int opened = nw_page_begin(page, stream);
            if (opened == NW_ERR_FULL && has_room(page, keep)) {
                stream = &page->host; /* the last free blocks have just failed to erase */
            } else if (opened < 0) {
                return opened;
            }
        }
        uint32_t at = stream->page++;
        stream->left--;
        tag->erases = page->blocks.erases[stream->block];
        tag->version = page->version++;
        int result = nw_tagged_program(&page->blocks.tagged, at, page->page_bytes, data);
        if (result >= 0) {
            if (slot < page->slots) {
                nw_page_point(page, slot, at);
            }
            page->doubt = 0;
            return NW_OK;
        }
        if (page->mounting == NW_MOUNTING) {
            return result;
        }
        page->doubt = slot + 1U;
        nw_page_leave(page, stream, result == NW_ERR_PROGRAM);
        if (result != NW_ERR_PROGRAM) {
            return result;
        }
        if (page->mounting != 0 && slot < page->slots) {
            stream = &page->cold; /* a block of the host's begins with a list now */
        }
    }
}

/* Append new content. */
int nw_page_write(struct nw_page *page, struct nw_page_stream *stream, uint32_t word,
                  uint8_t *data)
{
    struct nw_tag *tag = &page->blocks.tagged.tag;

    tag->word = word;
    tag->crc = nw_tag_sum(data, page->page_bytes);
    return append(page, stream, data);
}

/* The map points nowhere, and no page is the newest. */
void nw_page_forget_all(struct nw_page *page)
{
    memset(page->map, 0xFF, sizeof *page->map * (size_t)page->slots);
    memset(page->valid, 0, (size_t)(page->buffer - (uint8_t *)page->valid)); /* and live[] */
    page->newest.slot = NW_PAGE_NONE;
    page->newest.at = NW_PAGE_NONE;
}

static int is_live(const struct nw_page *page, uint32_t at)
{
    return page->live[at >> 3] >> (at & 7U) & 1;
}

/* A page becomes live (by 1) or outdated (by -1): its block, which has so many more live ones. */
static uint16_t turn(struct nw_page *page, uint32_t at, int by)
{
    uint16_t block = nw_page_block_of(page, at);

    page->live[at >> 3] = (uint8_t)(page->live[at >> 3] ^ 1U << (at & 7U));
    page->valid[block] = (uint16_t)(page->valid[block] + (uint16_t)by);
    return block;
}

/* The map's slot lies at page `at` from now on, or nowhere. Pages appear in the map only while
 * their block is open. */
void nw_page_point(struct nw_page *page, uint32_t slot, uint32_t at)
{
    uint32_t old = page->map[slot];

    page->map[slot] = at;
    if (at < NW_PAGE_UNSAVED) {
        (void)turn(page, at, 1);
    }
    if (old < NW_PAGE_UNSAVED) {
        uint16_t block = turn(page, old, -1);

        if (page->valid[block] >= NW_PAGE_CLOSED) {
            nw_blocks_unlink(&page->blocks, block);
            nw_page_close(page, block);
        }
    }
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
    return append(page, &page->cold, page->data);
}

/* Move a page if the map points to it. A tag that cannot be read, or that tells of something else,
 * does not help: then the map is searched, and a sector goes on as a damaged one. */
int nw_page_move(struct nw_page *page, uint32_t from)
{
    struct nw_tag *tag = &page->blocks.tagged.tag;

    if (!is_live(page, from)) {
        return NW_OK;
    }
    int state = fetch(page, from, page->page_bytes, page->data);

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

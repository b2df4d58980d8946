/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mounting: the map from the tags. Of all pages only the newest one may be torn and yet look
 * complete, and those just before it in which the same write failed. They stay out of the map until
 * the block that this mount writes to is chosen, so that what they replace is not given away.
 */
#include <stddef.h>

#include "page.h"

#define VERSION_GAP 64U /* above what a torn page that cannot be read now may carry */

/* Into the map if it is the newest page of its slot so far. */
static int accept(struct nw_page *page, uint32_t slot, uint32_t at, uint64_t version)
{
    struct nw_tag other;

    if (slot >= page->slots) {
        return NW_OK; /* fences, or nothing */
    }
    if (page->map[slot] != NW_PAGE_NONE) {
        int state = nw_page_read_tag(page, page->map[slot], &other);
        if (state < 0 || (state == NW_TAG_GOOD && other.version >= version)) {
            return state < 0 ? state : NW_OK;
        }
    }
    nw_page_point(page, slot, at);
    return NW_OK;
}

/* A page of the work so far: is it the newest, or a failed try at the newest? */
static int meet_page(struct nw_page *page, uint32_t slot, uint32_t at, uint64_t version)
{
    uint64_t top = page->top[0].version;
    int result = NW_OK;

    if (page->tops > 0 && slot == page->top_slot && page->tops < NW_PAGE_TOPS &&
        version + NW_PAGE_TOPS > top && top + NW_PAGE_TOPS > version) {
        page->top[page->tops++] = (struct nw_page_top){.version = version, .at = at};
        if (version > top) {
            page->top[page->tops - 1U] = page->top[0];
            page->top[0] = (struct nw_page_top){.version = version, .at = at};
        }
        return NW_OK;
    }
    if (page->tops > 0 && version < top) {
        return accept(page, slot, at, version);
    }
    for (uint8_t i = 0; i < page->tops && result == NW_OK; i++) {
        result = accept(page, page->top_slot, page->top[i].at, page->top[i].version);
    }
    page->top[0] = (struct nw_page_top){.version = version, .at = at};
    page->top_slot = slot;
    page->tops = 1;
    return result;
}

/* A good tag met on the second walk. */
static int meet(struct nw_page *page, uint16_t block, uint32_t at, const struct nw_tag *tag)
{
    int fence = nw_page_fence_of(page, tag->version);
    uint32_t slot = tag->word & NW_WORD_SLOT;

    if (tag->version >= page->version) {
        page->version = tag->version + 1U;
    }
    if (tag->erases > page->blocks.erases[block]) {
        page->blocks.erases[block] = tag->erases;
    }
    if ((tag->word & NW_WORD_MOUNT) != 0) {
        /* Copies of the newest fences wait: the fences themselves may be torn. */
        return fence == NW_FENCE_COPY && block != page->session
                   ? accept(page, slot, at, tag->version)
                   : (int)NW_OK;
    }
    return fence == NW_FENCE_VOID || slot == NW_WORD_FENCES
               ? (int)NW_OK
               : meet_page(page, slot, at, tag->version);
}

static int walk_block(struct nw_page *page, uint16_t block)
{
    uint32_t at = nw_page_first(page, block);
    uint16_t hole = 0;

    for (uint16_t i = 0; i < page->block_pages; i++, at++) {
        struct nw_tag tag;
        int state = nw_page_read_tag(page, at, &tag);

        if (state < 0 || state == NW_TAG_BLANK) {
            return state;
        }
        if (state == NW_TAG_BAD) {
            hole = NW_PAGE_HELD;
            continue;
        }
        page->valid[block] |= hole;
        state = meet(page, block, at, &tag);
        if (state < 0) {
            return state;
        }
    }
    return NW_OK;
}

/* A bad tag between good ones, in a block that is needed: not what a cut erase leaves. */
static void count_holes(struct nw_page *page)
{
    for (uint16_t block = 0; block < page->blocks.count; block++) {
        if ((page->valid[block] & NW_PAGE_HELD) != 0) {
            page->valid[block] &= (uint16_t)~NW_PAGE_HELD;
            page->stats->lost += (page->valid[block] & NW_PAGE_COUNT) != 0;
        }
    }
}

/* What the chip holds, but for the newest page and the newest copies. */
int nw_page_find(struct nw_page *page)
{
    int result = nw_page_find_fences(page);

    for (uint16_t block = 0; result >= 0 && block < page->blocks.count; block++) {
        if (page->blocks.state[block] == NW_BLOCK_USED) {
            result = walk_block(page, block);
        }
    }
    for (uint32_t slot = page->sectors; result >= 0 && slot < page->slots; slot++) {
        if (page->map[slot] != NW_PAGE_NONE) {
            result = nw_page_load_trim(page, slot);
        }
    }
    count_holes(page);
    for (uint8_t i = 0; i < page->tops; i++) {
        page->valid[nw_page_block_of(page, page->top[i].at)] |= NW_PAGE_HELD;
    }
    return result < 0 ? result : NW_OK;
}

/* The copies of the newest fences. */
static int join_copies(struct nw_page *page)
{
    uint32_t fences = page->map[page->slots];

    if (fences == NW_PAGE_NONE) {
        return NW_OK; /* format */
    }
    for (uint32_t at = nw_page_first(page, page->session); at < fences; at++) {
        struct nw_tag tag;
        int state = nw_page_read_tag(page, at, &tag);

        if (state == NW_TAG_GOOD && (tag.word & NW_WORD_SLOT) < page->slots) {
            nw_page_doubt_trim(page, tag.word & NW_WORD_SLOT);
            state = accept(page, tag.word & NW_WORD_SLOT, at, tag.version);
        }
        if (state < 0) {
            return state;
        }
    }
    return NW_OK;
}

/* Whether page `at` of the slot is all there: NW_TAG_GOOD, another state, or an error. */
static int verify(struct nw_page *page, uint32_t slot, uint32_t at)
{
    struct nw_tag tag;
    int state = nw_page_read_tag(page, at, &tag);
    int has_data = page->payload != 0 || slot >= page->sectors;

    if (state == NW_TAG_GOOD && has_data && (tag.word & NW_WORD_DAMAGED) == 0) {
        state = nw_page_read_checked(page, at, &tag);
    }
    return state;
}

/* The newest page if it is whole, else the one before; the fence has to take in those after it. */
static int join_top(struct nw_page *page)
{
    uint32_t slot = page->top_slot;
    uint64_t last = page->top[0].version;
    int state = NW_TAG_BAD;

    page->range[0].count = 0;
    for (uint8_t i = 0; i < page->tops && state == NW_TAG_BAD; i++) {
        if (page->top[i].version == last) {
            state = verify(page, slot, page->top[i].at);
            if (state == NW_TAG_GOOD) {
                page->range[0] = (struct nw_page_range){.at = page->top[i].at, .count = 1};
            } else {
                last--;
                i = 0xFFU; /* from the beginning: they are in no order */
            }
        }
    }
    page->newest = last > page->newest ? last : page->newest;
    for (uint8_t i = 0; i < page->tops && state >= 0; i++) {
        nw_page_doubt_trim(page, slot);
        if (page->top[i].version <= last) {
            state = accept(page, slot, page->top[i].at, page->top[i].version);
        }
    }
    return state < 0 ? state : (int)NW_OK;
}

/* Both, and the trim pages that they may have to do with. */
static int join(struct nw_page *page)
{
    int result = join_copies(page);

    if (result == NW_OK) {
        result = join_top(page);
    }
    for (uint32_t slot = page->sectors; result >= 0 && slot < page->slots; slot++) {
        if (page->unsaved[slot - page->sectors] != 0 && page->map[slot] != NW_PAGE_NONE) {
            result = nw_page_load_trim(page, slot);
        }
        page->unsaved[slot - page->sectors] = 0;
    }
    page->unsaved_count = 0;
    return result < 0 ? result : NW_OK;
}

/* Blocks in use without a valid page become free; before the mount has `settled` not those with
 * fences or in doubt. Afterwards all others that no stream fills can be cleaned. Answers how many
 * empty ones with fences there are. */
static uint16_t sort_blocks(struct nw_page *page, int settled)
{
    uint16_t kept = 0;

    for (uint16_t block = 0; block < page->blocks.count; block++) {
        if (page->blocks.state[block] != NW_BLOCK_USED || block == page->host.block) {
            continue;
        }
        if (settled) {
            page->valid[block] &= (uint16_t)~(NW_PAGE_FENCED | NW_PAGE_HELD);
        }
        if (page->valid[block] == NW_PAGE_OPEN) {
            nw_blocks_give(&page->blocks, block);
        } else if (settled) {
            nw_page_close(page, block);
        } else if (page->valid[block] == (NW_PAGE_OPEN | NW_PAGE_FENCED)) {
            kept++;
        }
    }
    return kept;
}

/* Nothing else is free: give up the oldest fences. They would count only if all newer ones turned
 * out torn. NW_ERR_FULL: there are none to give. */
static int give_oldest(struct nw_page *page)
{
    uint64_t least = UINT64_MAX;
    uint16_t oldest = NW_NO_BLOCK;

    for (uint16_t block = 0; block < page->blocks.count; block++) {
        struct nw_tag tag = {0};

        if (page->blocks.state[block] == NW_BLOCK_USED &&
            page->valid[block] == (NW_PAGE_OPEN | NW_PAGE_FENCED)) {
            int state = nw_page_read_tag(page, nw_page_first(page, block), &tag);
            if (state < 0) {
                return state;
            }
            if (tag.version < least) {
                least = tag.version;
                oldest = block;
            }
        }
    }
    if (oldest == NW_NO_BLOCK) {
        return NW_ERR_FULL;
    }
    nw_blocks_give(&page->blocks, oldest);
    return NW_OK;
}

/* Mounts that are cut again and again must not use up the free blocks: have this one copy what the
 * blocks with the fewest valid pages hold. */
static void widen(struct nw_page *page)
{
    uint16_t room = (uint16_t)(page->block_pages - 3U);

    for (uint16_t want = 1; want <= room; want++) {
        for (uint16_t block = 0; block < page->blocks.count; block++) {
            uint16_t valid = page->valid[block] & NW_PAGE_COUNT;

            valid = (uint16_t)(valid - (block == page->session ? 1U : 0U));
            if (page->blocks.state[block] == NW_BLOCK_USED && valid == want && want <= room &&
                page->ranges < NW_PAGE_RANGES - 2U) {
                page->range[page->ranges++] = (struct nw_page_range){
                    .at = nw_page_first(page, block), .count = page->block_pages};
                room = (uint16_t)(room - want);
            }
        }
    }
}

/* Choose the block to write to, let what was set aside join the map, write. */
static int settle(struct nw_page *page)
{
    uint16_t kept = sort_blocks(page, 0);
    int begun = nw_page_begin(page, &page->host);

    while (begun == NW_ERR_FULL && give_oldest(page) == NW_OK) {
        begun = nw_page_begin(page, &page->host);
    }
    int result = join(page);
    if (begun == NW_ERR_FULL && result == NW_OK) {
        /* Several mounts were cut: take what only the newest page replaces. */
        (void)sort_blocks(page, 0);
        begun = nw_page_begin(page, &page->host);
    }
    if (result < 0 || begun < 0) {
        return result < 0 ? result : begun;
    }
    page->ranges = 1; /* the newest page */
    page->careful = 1;
    if (page->blocks.free + kept < NW_PAGE_SCARCE) {
        widen(page);
    }
    result = nw_page_settle(page);
    page->careful = 0;
    return result;
}

/* From what was found to a device that can be written. */
int nw_page_start(struct nw_page *page)
{
    page->version += VERSION_GAP;
    int result = settle(page);
    if (result == NW_ERR_FULL) {
        page->session = NW_NO_BLOCK; /* can be read, no more */
    }
    if (result == NW_OK) {
        result = nw_page_drain(page);
    }
    if (result == NW_OK) {
        (void)sort_blocks(page, 1);
        result = nw_page_prune_fences(page);
    }
    if (result == NW_OK) {
        result = nw_page_make_room(page);
    }
    return result == NW_ERR_FULL ? NW_OK : result;
}

static int erase_free(struct nw_page *page)
{
    int result;

    do {
        result = nw_blocks_heal(&page->blocks, UINT32_MAX);
        if (result == 0) {
            result = nw_blocks_prepare(&page->blocks);
        }
    } while (result > 0);
    return result;
}

/* Erase every good block; first those that make a mount believe in a device. */
int nw_page_wipe_all(struct nw_page *page)
{
    int result = nw_page_find_fences(page);

    if (result < 0 && result != NW_ERR_NOT_FOUND && result != NW_ERR_VERSION &&
        result != NW_ERR_CORRUPT) {
        return result;
    }
    result = NW_OK;
    for (uint8_t turn = 0; turn < 2U && result == NW_OK; turn++) {
        for (uint16_t block = 0; block < page->blocks.count; block++) {
            if (page->blocks.state[block] == NW_BLOCK_USED &&
                (turn > 0 || (page->valid[block] & NW_PAGE_FENCED) != 0)) {
                nw_blocks_give(&page->blocks, block);
            }
        }
        result = erase_free(page);
    }
    page->map[page->slots] = NW_PAGE_NONE;
    page->session = NW_NO_BLOCK;
    page->newest = 0;
    return result;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fences. A page torn by a power cut may be invisible today and look complete after another
 * power-up. Nobody knows where it is, but its version is known: above every page that counts, below
 * what the next session writes. So each mount fences off that range of versions for ever, in a list
 * that is kept on the chip. The one page that may be torn and does look complete
 * is the newest of all; the mount copies it.
 *
 * A mount writes to a fresh block: a first page that means nothing (so that no later mount uses the
 * same versions again should the fences be torn), copies, the list with its own entry. Until the
 * list is there nothing of it counts. Why that is enough: docs/ftl-page.md.
 */
#include <string.h>

#include "nandwich/bytes.h"
#include "nandwich/crc.h"
#include "page.h"

#define FORMAT 1U
#define SHAPE_BYTES 20U
#define COUNT_AT 20U
#define ENTRIES_AT 22U
#define PRUNE_ROOM 8U   /* entries kept for mounts that are cut while they prune */
#define ENTRY_BYTES 10U /* first version (5), copies (1), versions fenced off below first (4) */

/* What the list begins with: who made it, for which shape. */
static void put_shape(const struct nw_page *page, uint8_t *to)
{
    const struct nw_geometry *geometry = &page->chip->geometry;

    nw_put32(to, 0x4750574EUL); /* NWPG */
    nw_put16(to + 4, FORMAT);
    nw_put16(to + 6, page->tag_bytes);
    nw_put32(to + 8, geometry->blocks);
    nw_put32(to + 12, page->sectors);
    nw_put16(to + 16, geometry->block_pages);
    nw_put16(to + 18, geometry->page_bytes);
}

static uint8_t *entry(const struct nw_page *page, uint16_t index)
{
    return page->buffer + ENTRIES_AT + ENTRY_BYTES * index;
}

static uint64_t first_of(const uint8_t *entry_at)
{
    return nw_get32(entry_at) | ((uint64_t)entry_at[4] << 32);
}

static uint16_t most_entries(const struct nw_page *page)
{
    return (uint16_t)((page->page_bytes - ENTRIES_AT) / ENTRY_BYTES);
}

/* Drop the `count` oldest entries of the list in the buffer: how many are left. */
static uint16_t drop_entries(struct nw_page *page, uint16_t count)
{
    uint16_t left = (uint16_t)(nw_get16(page->buffer + COUNT_AT) - count);

    for (uint16_t i = 0; i < left; i++) {
        memcpy(entry(page, i), entry(page, (uint16_t)(i + count)), ENTRY_BYTES);
    }
    nw_put16(page->buffer + COUNT_AT, left);
    return left;
}

/* What the list in the buffer says of a version. */
int nw_page_fence_of(const struct nw_page *page, uint64_t version)
{
    for (uint16_t i = nw_get16(page->buffer + COUNT_AT); i > 0; i--) {
        const uint8_t *at = entry(page, (uint16_t)(i - 1U));
        uint64_t first = first_of(at);

        if (version > first) {
            return version <= first + at[5] ? NW_FENCE_COPY : NW_FENCE_FREE;
        }
        if (version > first - nw_get32(at + 6)) {
            return NW_FENCE_VOID;
        }
    }
    return NW_FENCE_FREE;
}

/* Read page `at` to the buffer: NW_TAG_GOOD when tag and data are whole. */
int nw_page_read_checked(struct nw_page *page, uint32_t at, struct nw_tag *tag)
{
    uint16_t length = page->page_bytes;
    int state = nw_page_read(page, at, length, page->buffer, tag);

    page->stats->map_reads++;
    if (state == NW_ERR_ECC ||
        (state == NW_TAG_GOOD && tag->crc != nw_crc32(NW_CRC32_START, page->buffer, length))) {
        return NW_TAG_BAD;
    }
    return state;
}

/* The list to the buffer; an empty one when there is none yet. */
static int load(struct nw_page *page)
{
    uint8_t shape[SHAPE_BYTES];
    struct nw_tag tag;

    put_shape(page, shape);
    if (page->map[page->slots] == NW_PAGE_NONE) {
        memset(page->buffer, 0, page->page_bytes);
        memcpy(page->buffer, shape, SHAPE_BYTES);
        return NW_OK;
    }
    int state = nw_page_read_checked(page, page->map[page->slots], &tag);
    if (state != NW_TAG_GOOD) {
        return state < 0 ? state : (int)NW_ERR_CORRUPT;
    }
    if (memcmp(shape, page->buffer, SHAPE_BYTES) != 0) {
        return NW_ERR_VERSION;
    }
    return nw_get16(page->buffer + COUNT_AT) <= most_entries(page) ? NW_OK : NW_ERR_CORRUPT;
}

/* Mounting, first walk: claims the blocks in use, points the map at the newest whole list and
 * leaves it in the buffer. The list is the first page of its block, or follows marked ones. */
int nw_page_find_fences(struct nw_page *page)
{
    for (uint16_t block = 0; block < page->blocks.count; block++) {
        uint32_t at = nw_page_first(page, block);
        uint32_t end = at + page->block_pages;
        struct nw_tag tag = {.word = NW_WORD_MOUNT};
        int state = NW_TAG_GOOD;

        if (page->blocks.state[block] == NW_BLOCK_BAD) {
            continue;
        }
        for (; at < end && (state == NW_TAG_BAD || (tag.word & NW_WORD_MOUNT) != 0); at++) {
            state = nw_page_read_tag(page, at, &tag);
            if (state < 0) {
                return state;
            }
            if (state == NW_TAG_BLANK) {
                break;
            }
            page->valid[block] = NW_PAGE_OPEN;
        }
        if (page->valid[block] == 0) {
            continue;
        }
        nw_blocks_claim(&page->blocks, block);
        if (state != NW_TAG_GOOD || (tag.word & NW_WORD_SLOT) != NW_WORD_FENCES) {
            continue;
        }
        page->valid[block] |= NW_PAGE_FENCED;
        if (tag.version > page->newest) {
            state = nw_page_read_checked(page, at - 1U, &tag);
            if (state < 0) {
                return state;
            }
            if (state == NW_TAG_GOOD) {
                page->newest = tag.version;
                page->session = block;
                nw_page_point(page, page->slots, at - 1U);
            }
        }
    }
    return page->session == NW_NO_BLOCK ? (int)NW_ERR_NOT_FOUND : load(page);
}

/* Write the list in the buffer to the host's stream. */
static int write_list(struct nw_page *page)
{
    struct nw_page_put put = {
        .data = page->buffer, .word = NW_WORD_FENCES, .from = NW_PAGE_NONE};
    uint32_t at;

    put.crc = nw_crc32(NW_CRC32_START, page->buffer, page->page_bytes);
    page->host.mounting = 2;
    int result = nw_page_append(page, &page->host, &put, &at);
    page->host.mounting = 0;
    if (result == NW_OK) {
        page->stats->map_programs++;
        page->session = page->host.block;
        nw_page_point(page, page->slots, at);
    }
    return result;
}

/* The same as the first page of a fresh block. */
static int write_list_first(struct nw_page *page)
{
    int result;

    do { /* every further turn has cost a block its life */
        result = nw_page_begin(page, &page->host);
        result = result == NW_OK ? write_list(page) : result;
    } while (result == NW_ERR_PROGRAM);
    return result;
}

/* The list leaves its block, which has to go. */
int nw_page_renew_fences(struct nw_page *page)
{
    int result = load(page);

    return result == NW_OK ? write_list_first(page) : result;
}

/* Copies of the pages in the ranges that the map points to, as long as the list has room too. */
static int write_copies(struct nw_page *page, uint64_t first)
{
    for (uint8_t i = 0; i < page->ranges; i++) {
        for (uint16_t k = 0; k < page->range[i].count; k++) {
            if (page->host.end - page->host.page < 2U || page->version - first > 0xFFU) {
                return NW_OK;
            }
            int result = nw_page_move(page, &page->host, page->range[i].at + k);
            if (result < 0) {
                return result;
            }
        }
    }
    return NW_OK;
}

static int settle_once(struct nw_page *page)
{
    struct nw_page_put nothing = {.data = page->payload != 0 ? page->buffer : NULL,
                                  .word = NW_WORD_FIRST,
                                  .from = NW_PAGE_NONE};
    uint64_t first = page->version;
    uint32_t at;

    page->host.mounting = 1;
    int result = nw_page_append(page, &page->host, &nothing, &at);
    result = result < 0 ? result : write_copies(page, first);
    page->host.mounting = 0;
    uint8_t copies = (uint8_t)(page->version - first - 1U);
    result = result < 0 ? result : load(page);
    if (result < 0) {
        return result;
    }
    uint16_t count = nw_get16(page->buffer + COUNT_AT);
    if (count == most_entries(page)) {
        count = drop_entries(page, 1); /* eight mounts in a row were cut while they pruned */
    }
    uint8_t *to = entry(page, count);
    nw_put16(page->buffer + COUNT_AT, (uint16_t)(count + 1U));
    nw_put32(to, (uint32_t)(first & 0xFFFFFFFFUL));
    to[4] = (uint8_t)(first >> 32);
    to[5] = copies;
    nw_put32(to + 6, (uint32_t)(first - page->newest));
    return write_list(page);
}

/* In the block that the host's stream has just begun; in further ones if programs fail there. */
int nw_page_settle(struct nw_page *page)
{
    for (;;) { /* every further turn has cost a block its life */
        uint32_t begun = page->host.page;
        int result = settle_once(page);

        if (result != NW_ERR_PROGRAM || page->ranges == NW_PAGE_RANGES) {
            return result;
        }
        /* The copies in the failed block do not count; they move on from there. */
        page->range[page->ranges++] = (struct nw_page_range){
            .at = begun, .count = (uint16_t)(page->host.page - begun)};
        result = nw_page_begin(page, &page->host);
        if (result < 0) {
            return result;
        }
    }
}

/* Make the copies of an old mount ordinary pages. */
static int absorb(struct nw_page *page, uint16_t block, uint64_t before)
{
    struct nw_tag tag;

    if (page->blocks.state[block] != NW_BLOCK_USED || page->valid[block] >= NW_PAGE_OPEN) {
        return NW_OK;
    }
    int result = nw_page_read_tag(page, nw_page_first(page, block), &tag);
    if (result != NW_TAG_GOOD || (tag.word & NW_WORD_MOUNT) == 0 || tag.version >= before) {
        return result < 0 ? result : NW_OK;
    }
    nw_blocks_unlink(&page->blocks, block);
    page->valid[block] |= NW_PAGE_OPEN;
    result = nw_page_clear(page, block);
    if (result < 0) {
        nw_page_close(page, block);
        return result;
    }
    nw_blocks_give(&page->blocks, block);
    return nw_page_make_room(page);
}

/* When the list is nearly full: forget the older half of it. */
int nw_page_prune_fences(struct nw_page *page)
{
    int result = load(page);

    if (result < 0 || nw_get16(page->buffer + COUNT_AT) + PRUNE_ROOM < most_entries(page)) {
        return result;
    }
    uint16_t half = nw_get16(page->buffer + COUNT_AT) / 2U;
    uint64_t before = first_of(entry(page, half));
    for (uint16_t block = 0; result == NW_OK && block < page->blocks.count; block++) {
        result = absorb(page, block, before);
    }
    result = result < 0 ? result : load(page);
    if (result < 0) {
        return result;
    }
    (void)drop_entries(page, half);
    return write_list_first(page);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The log of pages: reading, appending, and where the map points. */
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
int nw_page_fetch(struct nw_page *page, uint32_t at, uint16_t length, uint8_t *data)
{
    int state = nw_tagged_read(&page->blocks.tagged, at, length, data);

    return state == NW_TAG_GOOD && !is_ours(page) ? (int)NW_TAG_BAD : state;
}

/* The tag alone. */
int nw_page_read_tag(struct nw_page *page, uint32_t at)
{
    return nw_page_fetch(page, at, 0, NULL);
}

/* Tag and data; NW_TAG_BAD also when the data does not fit its CRC. */
int nw_page_check(struct nw_page *page, uint32_t at, uint8_t *data)
{
    const struct nw_tag *tag = &page->blocks.tagged.tag;
    int state = nw_page_fetch(page, at, page->page_bytes, data);

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

/* Is there room for moved pages in the host's block, when so many pages are kept? Not for its first
 * one: a mount finds its lists by that. */
static int has_room(const struct nw_page *page, uint16_t keep)
{
    return page->host.left > keep && page->host.left < page->block_pages;
}

/* The map points nowhere, and no page is the newest. */
void nw_page_forget_all(struct nw_page *page)
{
    memset(page->map, 0xFF, sizeof *page->map * (size_t)page->slots);
    memset(page->valid, 0, (size_t)(page->buffer - (uint8_t *)page->valid)); /* and live[] */
    page->newest.slot = NW_PAGE_NONE;
    page->newest.at = NW_PAGE_NONE;
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

/* Program the next page and point the map to it. The tag's word and crc say what it is. Cold data
 * has blocks of its own, unless there is hardly one to take. What a mount writes before its
 * first list is there goes to one block, which has room for it: if that fails, the mount begins
 * anew. */
int nw_page_append(struct nw_page *page, struct nw_page_stream *stream, uint8_t *data)
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
            } else if (opened == NW_ERR_FULL && page->mounting == 0 && page->cold.left > 0) {
                stream = &page->cold; /* ... and the host's block to program */
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
    return nw_page_append(page, stream, data);
}

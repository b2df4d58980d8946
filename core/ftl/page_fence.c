/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The list of fences. A page torn by a power cut may be invisible today and look complete after
 * another power-up. Nobody knows where it is, but its version is known: above every page that
 * counts, below what the next session writes. So each mount fences off that range of versions for
 * good, in a list that is kept on the chip; with it go the names of the blocks that the next
 * mounts may write to. Why that is enough: docs/ftl-page.md.
 */
#include <string.h>

#include "nandwich/bytes.h"
#include "page.h"

#define SHAPE_BYTES 12U
#define RESERVE_AT 12U
#define MOUNTS_AT 16U
#define ENTRIES_AT 20U
#define MOST_ENTRIES 64U /* each costs time for every page that a mount looks at */
#define ENTRY_BYTES 9U   /* first void version (5), how many (4) */

/* What the list begins with: who made it, for which shape. */
static void put_shape(const struct nw_page *page, uint8_t *to)
{
    nw_put32(to, NW_MARK_PAGE);
    nw_put32(to + 4, page->sectors);
    nw_put16(to + 8, page->blocks.count);
    nw_put16(to + 10, page->block_pages);
}

uint8_t nw_page_most_fences(uint16_t page_bytes)
{
    uint16_t room = (uint16_t)((page_bytes - ENTRIES_AT) / ENTRY_BYTES);

    return (uint8_t)(room < MOST_ENTRIES ? room : MOST_ENTRIES);
}

/* Mounting, with the list in the buffer: whether a good tag does not count. */
int nw_page_is_void(const struct nw_page *page)
{
    const struct nw_tag *tag = &page->tag;
    const uint8_t *entry = page->buffer + ENTRIES_AT;

    if ((tag->word & NW_WORD_MOUNT) != 0 && tag->version > page->list_version) {
        return 1;
    }
    for (uint8_t i = page->fences; i > 0; i--, entry += ENTRY_BYTES) {
        if (tag->version - nw_tag_get40(entry) < nw_get32(entry + 5)) {
            return 1;
        }
    }
    return 0;
}

/* The list in the buffer: a fence from `low` to below the limit, in the oldest one's place when
 * there is no room; with `low` 0 the last fence is widened to there. One too wide for its field
 * comes of bits that passed for a tag far above; what a cut has torn is next to what counts. */
static void add_fence(struct nw_page *page, uint64_t low)
{
    uint32_t mounts = nw_get32(page->buffer + MOUNTS_AT) + (low != 0);
    uint8_t *entry =
        page->buffer + ENTRIES_AT + ENTRY_BYTES * ((mounts - 1U) % page->fences);

    if (low != 0) {
        nw_put32(page->buffer + MOUNTS_AT, mounts);
        nw_tag_put40(entry, low);
    }
    low = page->limit - nw_tag_get40(entry);
    nw_put32(entry + 5, low < UINT32_MAX ? (uint32_t)low : UINT32_MAX);
}

/* The list to the buffer; an empty one when there is none yet. */
int nw_page_load_list(struct nw_page *page)
{
    uint8_t shape[SHAPE_BYTES];

    put_shape(page, shape);
    if (page->list == NW_PAGE_NONE) {
        memset(page->buffer, 0, page->page_bytes);
        memcpy(page->buffer, shape, SHAPE_BYTES);
        return NW_OK;
    }
    int state = nw_page_read_whole(page, page->list);
    page->blocks.stats->map_reads++;
    if (state != NW_TAG_GOOD) {
        return state < 0 ? state : (int)NW_ERR_CORRUPT;
    }
    if (page->tag.word != NW_WORD_LIST) {
        return NW_ERR_NOT_FOUND; /* void: a format of this device did not end */
    }
    return memcmp(shape, page->buffer, SHAPE_BYTES) == 0 ? (int)NW_OK : (int)NW_ERR_VERSION;
}

/* Is this block, of those in reserve, not in use? */
int nw_page_is_spare(const struct nw_page *page, uint16_t block)
{
    return block < page->blocks.count && block != page->session && block != page->host.block &&
           page->blocks.state[block] == NW_BLOCK_USED;
}

/* New blocks in reserve for those in use; whoever stays goes first. */
void nw_page_hold_reserves(struct nw_page *page)
{
    for (uint8_t i = 0; i <= NW_PAGE_RESERVES; i++) {
        uint16_t block = page->reserve[0];

        page->reserve[0] = page->reserve[1];
        page->reserve[1] =
            nw_page_is_spare(page, block) ? block : nw_blocks_hold(&page->blocks);
    }
}

/* The list in the buffer, with a fence more, to the host's stream. */
int nw_page_write_list(struct nw_page *page, uint64_t low)
{
    add_fence(page, low);
    nw_put16(page->buffer + RESERVE_AT, page->reserve[0]);
    nw_put16(page->buffer + RESERVE_AT + 2U, page->reserve[1]);
    int result = nw_page_write(page, &page->host, NW_WORD_LIST, page->buffer);
    if (result == NW_OK) {
        page->blocks.stats->map_programs++;
        page->list = page->host.page - 1U;
        page->session = page->host.block;
    }
    return result;
}

/* Looks for a list at the begin of a block, behind pages that were written by the same mount. When
 * nothing follows the list, that mount did not end: the list may be torn, and what is before it may
 * be half erased, so all of that has to be whole. An error of the bus tells nothing of that. */
static int visit(struct nw_page *page, uint16_t block)
{
    uint32_t at = nw_page_first(page, block);
    uint32_t end = at + page->block_pages;
    uint8_t whole = 1;

    for (; at < end; at++) {
        int state = nw_page_read_tag(page, at);

        if (state < 0 || state == NW_TAG_BLANK) {
            return state;
        }
        nw_blocks_claim(&page->blocks, block);
        if (state == NW_TAG_GOOD) {
            if ((page->tag.word & NW_WORD_MOUNT) == 0) {
                return NW_OK;
            }
            state = nw_page_read_whole(page, at);
        }
        if (state < 0) {
            return state;
        }
        if (state != NW_TAG_GOOD) {
            whole = 0;
        } else if ((page->tag.word | NW_WORD_DAMAGED) == NW_WORD_VOID) {
            uint64_t version = page->tag.version;
            int ended = at + 1U < end ? nw_page_read_tag(page, at + 1U) : (int)NW_TAG_BLANK;

            if (version > page->list_version && (whole != 0 || ended != NW_TAG_BLANK)) {
                page->list = at;
                page->list_version = version;
                page->session = block;
                page->unfinished = ended == NW_TAG_BLANK;
            }
            return ended < 0 ? ended : (int)NW_OK;
        }
    }
    return NW_OK;
}

/* Mounting, first walk: claims the blocks in use and those in reserve, finds the newest list. */
int nw_page_find_list(struct nw_page *page)
{
    int result = NW_OK;

    for (uint16_t block = 0; result == NW_OK && block < page->blocks.count; block++) {
        if (page->blocks.state[block] != NW_BLOCK_BAD) {
            result = visit(page, block);
        }
    }
    if (result == NW_OK) {
        result = page->list != NW_PAGE_NONE ? nw_page_load_list(page) : (int)NW_ERR_NOT_FOUND;
    }
    for (uint8_t i = 0; result == NW_OK && i < NW_PAGE_RESERVES; i++) {
        uint16_t block = nw_get16(page->buffer + RESERVE_AT + 2U * i);

        if (block < page->blocks.count) {
            nw_blocks_claim(&page->blocks, block);
        }
        page->reserve[i] = block;
    }
    return result;
}

/* With the list in the buffer: may a page that a cut has torn be left in this block? It was the
 * last one programmed there. So the last page of such a block is blank, or its tag does not count.
 * A block that waits to be healed may have one, too. */
static int may_be_torn(struct nw_page *page, uint16_t block)
{
    uint8_t kind = page->blocks.state[block];

    if (page->valid[block] < NW_PAGE_CLOSED && kind != NW_BLOCK_FREE && kind != NW_BLOCK_WORN) {
        return 0;
    }
    int state = nw_page_read_tag(page, nw_page_first(page, block) + page->block_pages - 1U);
    return state < 0 ? state : state != NW_TAG_GOOD || nw_page_is_void(page);
}

/* What a closed block holds goes elsewhere; then it is erased, as is one that holds nothing. No
 * other victim is being cleaned: each one so far was cleaned to its end. */
static int renew(struct nw_page *page, uint16_t block)
{
    int result = NW_OK;

    if (page->blocks.state[block] == NW_BLOCK_USED) {
        nw_page_start_victim(page, block);
        while (result == NW_OK && page->cleaning != 0) {
            result = nw_page_clean_step(page);
        }
    }
    return result == NW_OK ? nw_blocks_wipe(&page->blocks, block) : result;
}

/* The end of a mount. A fence leaves the list some day; what it keeps out has to be gone by then.
 * So of each so many blocks one is renewed if a torn page may be in it, another one after each
 * mount that has set a fence: all of them, twice, before the list is full. */
int nw_page_renew_some(struct nw_page *page)
{
    uint8_t turns = page->fences / 2U;
    int result = nw_page_load_list(page);
    uint32_t block = nw_get32(page->buffer + MOUNTS_AT) % turns;

    for (; result >= 0 && block < page->blocks.count; block += turns) {
        result = may_be_torn(page, (uint16_t)block);
        if (result > 0) {
            result = renew(page, (uint16_t)block);
            if (result >= 0) {
                result = nw_page_load_list(page);
            }
        }
    }
    return result;
}

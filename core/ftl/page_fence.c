/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The list of fences. A page torn by a power cut may be invisible today and look complete after
 * another power-up. Nobody knows where it is, but its version is known: above every page that
 * counts, below what the next session writes. So each mount fences off that range of versions for
 * good, in a list that is kept on the chip; with it go the names of the blocks that the next
 * mounts may write to. Why that is enough: docs/ftl-page.md.
 *
 * What always holds:
 *   - A page that may be torn is the last one programmed in its block.
 *   - A mount programs nothing that counts but by a list. So one that is cut leaves no trace: the
 *     next one begins where that one did, with the same fence, the same turn and the same blocks.
 *   - Each fence has a turn: a share of the blocks, those that may hold a torn page. A mount ends
 *     when what counts there has moved and a list says so. Only then a page may be programmed for
 *     which the next mount needs another fence. So no fence is set before the turn of the one
 *     before has been had, or is told late in the list; and a fence leaves after two rounds.
 *   - A mount ends with more free blocks than host writes have to leave, and two in reserve. To get
 *     there it may use one of those it found in reserve, and the room in its own block.
 */
#include <string.h>

#include "nandwich/bytes.h"
#include "page.h"

#define SHAPE_BYTES 12U
#define MAGIC_BYTES 3U /* without the format */
#define RESERVE_AT 12U
#define TURN_AT 17U
#define ENTRIES_AT NW_PAGE_FENCES_AT
#define ENTRY_BYTES NW_PAGE_FENCE_BYTES /* first void version (5), how many (4) */

/* What the list begins with: who made it, for which shape. */
static void put_shape(const struct nw_page *page, uint8_t *to)
{
    nw_put32(to, NW_MARK_PAGE);
    nw_put32(to + 4, page->sectors);
    nw_put16(to + 8, page->blocks.count);
    nw_put16(to + 10, page->block_pages);
}

/* Does the tag tell of a sector or a trim page? */
static int is_slot(const struct nw_page *page)
{
    return (page->blocks.tagged.tag.word & NW_WORD_SLOT) < page->slots;
}

/* Mounting, with the list in the buffer: whether a good tag does not count. */
int nw_page_is_void(const struct nw_page *page)
{
    const struct nw_tag *tag = &page->blocks.tagged.tag;
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

/* The list in the buffer: a `fresh` fence from above what counts to below the limit, in the oldest
 * one's place when there is no room; else the last fence is widened to there. One too wide for its
 * field comes of bits that passed for a tag far above; what a cut has torn is next to what
 * counts. */
static void add_fence(const struct nw_page *page, int fresh)
{
    uint8_t *list = page->buffer;
    uint8_t last = list[NW_PAGE_LAST_AT];

    if (fresh && ++last >= page->fences) {
        last = 0;
    }
    list[NW_PAGE_LAST_AT] = last;
    list += ENTRIES_AT + ENTRY_BYTES * last;
    if (fresh) {
        nw_tag_put40(list, page->newest.version + 1U); /* 1 when formatting */
    }
    uint64_t width = page->limit - nw_tag_get40(list);
    nw_put32(list + 5, width < UINT32_MAX ? (uint32_t)width : UINT32_MAX);
}

/* The list to the buffer; an empty one when there is none yet. It was whole when it was found or
 * written: NW_ERR_PROGRAM when it cannot be read any more, so that the mount begins again. */
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
    page->blocks.tagged.stats->map_reads++;
    if (state != NW_TAG_GOOD) {
        return state < 0 ? state : (int)NW_ERR_PROGRAM;
    }
    if (page->blocks.tagged.tag.word != NW_WORD_LIST) {
        return NW_ERR_NOT_FOUND; /* void: a format of this device did not end */
    }
    if (memcmp(shape, page->buffer, MAGIC_BYTES) != 0) {
        return NW_ERR_NOT_FOUND; /* a root of the tree layer */
    }
    return memcmp(shape, page->buffer, SHAPE_BYTES) == 0 ? (int)NW_OK : (int)NW_ERR_VERSION;
}

/* The list in the buffer, with its fence, to the host's stream. A mount that cannot read what it
 * has written would be followed by others that cannot, in the same block: so that block has failed.
 * It is seen at once, while the device still is what it was without this list. */
static int write_list(struct nw_page *page, int fresh)
{
    uint8_t *list = page->buffer;

    add_fence(page, fresh);
    list[TURN_AT] =
        (uint8_t)(page->mounting == NW_MOUNTING ? page->turn : page->turn | NW_TURN_SEALED);
    nw_put16(list + RESERVE_AT, page->reserve[0]);
    nw_put16(list + RESERVE_AT + 2U, page->reserve[1]);
    int result = nw_page_write(page, &page->host, NW_WORD_LIST, list);
    if (result == NW_OK) {
        uint32_t at = page->host.page - 1U;

        page->blocks.tagged.stats->map_programs++;
        result = nw_page_check(page, at, list);
        if (result >= 0 && result != NW_TAG_GOOD && page->mounting == NW_RENEWING) {
            nw_page_leave(page, &page->host, 1);
            return NW_OK; /* nw_page_seal() sees that no list is there */
        }
        if (result != NW_TAG_GOOD) {
            return result < 0 ? result : (int)NW_ERR_PROGRAM;
        }
        page->list = at;
        page->session = page->host.block;
        result = NW_OK;
    }
    return result;
}

/* Takes the list at page `at`, whose tag was read last, if it is newer than those before. When
 * nothing follows it, the mount that wrote it did not end: it may be torn, and what is before it
 * may be half erased, so all of that has to be `whole`. Answers what follows. */
static int take_list(struct nw_page *page, uint32_t at, int whole)
{
    uint64_t version = page->blocks.tagged.tag.version;
    uint32_t next = at + 1U;
    int ended = next % page->block_pages != 0 ? nw_page_read_tag(page, next) : (int)NW_TAG_BLANK;

    if (version > page->list_version && (whole || ended != NW_TAG_BLANK)) {
        page->list = at;
        page->list_version = version;
        page->session = nw_page_block_of(page, at);
        page->unfinished = ended == NW_TAG_BLANK;
    }
    return ended;
}

/* Looks for lists at the begin of a block, among pages that were written by one mount. The second
 * one says that what the mount moved counts: only once a page follows. An error of the bus tells
 * nothing of that. */
static int visit(struct nw_page *page, uint16_t block)
{
    uint32_t first = nw_page_first(page, block);
    int whole = 1;

    for (uint32_t at = first; at < first + page->block_pages; at++) {
        int state = nw_page_read_tag(page, at);

        if (state < 0 || state == NW_TAG_BLANK) {
            return state;
        }
        nw_blocks_claim(&page->blocks, block);
        uint32_t word = page->blocks.tagged.tag.word | NW_WORD_DAMAGED;

        if (state == NW_TAG_GOOD) {
            if ((word & NW_WORD_MOUNT) == 0 || (at == first && is_slot(page))) {
                return NW_OK;
            }
            state = nw_page_read_whole(page, at);
        }
        if (state == NW_TAG_GOOD && word == NW_WORD_VOID) {
            state = take_list(page, at, whole);
            if (state == NW_TAG_BLANK) {
                return NW_OK;
            }
            whole = 0;
            at++;
        }
        if (state < 0) {
            return state;
        }
        if (state != NW_TAG_GOOD) {
            whole = 0;
        }
    }
    return NW_OK;
}

/* Mounting, first walk: claims the blocks in use and those in reserve, finds the newest list. */
int nw_page_find_list(struct nw_page *page)
{
    int result = NW_OK;

    for (unsigned block = 0; result == NW_OK && block < page->blocks.count; block++) {
        if (page->blocks.state[block] != NW_BLOCK_BAD) {
            result = visit(page, (uint16_t)block);
        }
    }
    if (result == NW_OK) {
        result = page->list != NW_PAGE_NONE ? nw_page_load_list(page) : (int)NW_ERR_NOT_FOUND;
        page->turn = page->buffer[TURN_AT];
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

/* The list, as write_list() has it, and a page to show that it is whole: what the mount has moved
 * counts now. */
int nw_page_seal(struct nw_page *page, int fresh)
{
    int result;

    do { /* once more when list or page behind it failed: that page lies in another block */
        result = nw_page_load_list(page);
        if (result == NW_OK) {
            result = write_list(page, fresh);
        }
        if (result == NW_OK) {
            result = nw_page_write(page, &page->host, NW_WORD_EMPTY, page->buffer);
        }
    } while (result == NW_OK && page->host.block != page->session);
    return result;
}

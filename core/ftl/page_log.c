/* SPDX-License-Identifier: Apache-2.0 */
/* The log of pages: reading, appending, moving, and cleaning by moving. */
#include <stddef.h>

#include "page.h"

int nw_page_read(struct nw_page *page, uint32_t at, uint16_t length, uint8_t *data,
                 struct nw_tag *tag)
{
    uint8_t spare[NW_TAG_WEAR_BYTES];
    struct nw_chip_req req = {.chip = page->chip,
                              .page = at,
                              .length = length,
                              .data = data,
                              .spare_length = page->tag_bytes,
                              .spare = spare};
    int result = nw_chip_read(&req);

    page->stats->reads++;
    page->stats->bytes_read += (uint32_t)length + page->tag_bytes;
    if (result < 0) {
        return result;
    }
    page->stats->corrected += (uint16_t)result;
    return nw_tag_get(spare, page->tag_bytes, page->chip->geometry.erased, tag);
}

int nw_page_read_tag(struct nw_page *page, uint32_t at, struct nw_tag *tag)
{
    int state = nw_page_read(page, at, 0, NULL, tag);

    return state == NW_ERR_ECC ? (int)NW_TAG_BAD : state;
}

static int program(struct nw_page *page, uint32_t at, const struct nw_page_put *put, uint32_t flag)
{
    uint8_t spare[NW_TAG_WEAR_BYTES];
    struct nw_tag tag = {.version = page->version++,
                         .word = put->word | flag,
                         .crc = put->crc,
                         .erases = page->blocks.erases[nw_page_block_of(page, at)]};
    struct nw_chip_req req = {
        .chip = page->chip, .page = at, .spare_length = page->tag_bytes, .spare = spare};

    nw_tag_put(spare, page->tag_bytes, &tag);
    page->stats->programs++;
    page->stats->bytes_programmed += page->tag_bytes;
    if (put->from != NW_PAGE_NONE) {
        req.page = put->from;
        req.to_page = at;
        return nw_chip_copy(&req);
    }
    req.length = page->page_bytes;
    req.data = put->data;
    page->stats->bytes_programmed += req.length;
    return nw_chip_program(&req);
}

/* From now on a block takes no more pages: a candidate for cleaning, but for the session's. */
void nw_page_close(struct nw_page *page, uint16_t block)
{
    uint16_t valid = (uint16_t)(page->valid[block] & ~NW_PAGE_OPEN);

    if (block == page->session) {
        return;
    }
    page->valid[block] = valid;
    nw_blocks_link(&page->blocks, block, valid);
    if (valid < page->lowest) {
        page->lowest = valid;
    }
}

/* Start `stream` in a fresh block. */
int nw_page_begin(struct nw_page *page, struct nw_page_stream *stream)
{
    int32_t block = nw_blocks_take_for(&page->blocks,
                                       stream == &page->cold ? NW_WEAR_MOVED : NW_WEAR_HOST);

    if (block < 0) {
        return (int)block;
    }
    if (stream->block != NW_NO_BLOCK) {
        nw_page_close(page, stream->block);
    }
    stream->block = (uint16_t)block;
    stream->page = nw_page_first(page, stream->block);
    stream->end = stream->page + page->block_pages;
    page->valid[block] = NW_PAGE_OPEN;
    return NW_OK;
}

int nw_page_append(struct nw_page *page, struct nw_page_stream *stream,
                   const struct nw_page_put *put, uint32_t *at)
{
    uint32_t flag = stream->mounting == 1U ? NW_WORD_MOUNT : 0;

    for (;;) { /* every further turn has cost a block its life */
        if (stream->page == stream->end) {
            int opened = stream->mounting != 0 ? (int)NW_ERR_FULL : nw_page_begin(page, stream);
            if (opened < 0) {
                return opened;
            }
        }
        *at = stream->page++;
        int result = program(page, *at, put, flag);
        if (result >= 0) {
            return NW_OK;
        }
        if (put->from != NW_PAGE_NONE && result == NW_ERR_ECC) {
            stream->page--; /* an unreadable source: nothing was programmed */
            return result;
        }
        if (result == NW_ERR_POWER) {
            return result;
        }
        /* Whatever failed, the page may be blank: a mount would look no further in this block. */
        nw_blocks_link(&page->blocks, stream->block, nw_page_failed(page));
        stream->block = NW_NO_BLOCK;
        stream->end = stream->page;
        if (result != NW_ERR_PROGRAM || stream->mounting != 0) {
            return result;
        }
    }
}

/* A page of `block` is valid no longer. */
static void drop_one(struct nw_page *page, uint16_t block)
{
    uint16_t valid = (uint16_t)(page->valid[block] - 1U);

    page->valid[block] = valid;
    if ((valid & NW_PAGE_OPEN) == 0) {
        nw_blocks_unlink(&page->blocks, block);
        nw_blocks_link(&page->blocks, block, valid);
        if (valid < page->lowest) {
            page->lowest = valid;
        }
    }
}

/* The map's slot lies at page `at` from now on, or nowhere (NW_PAGE_NONE). Pages appear in the map
 * only while their block is open. */
void nw_page_point(struct nw_page *page, uint32_t slot, uint32_t at)
{
    uint32_t old = page->map[slot];

    page->map[slot] = at;
    if (at != NW_PAGE_NONE) {
        page->valid[nw_page_block_of(page, at)]++;
    }
    if (old != NW_PAGE_NONE) {
        drop_one(page, nw_page_block_of(page, old));
    }
}

/* Cold data has blocks of its own, unless there is hardly one to take. */
struct nw_page_stream *nw_page_cold(struct nw_page *page)
{
    int scarce = page->cold.page == page->cold.end && page->blocks.free < 2U &&
                 page->host.page < page->host.end;

    return scarce != 0 ? &page->host : &page->cold;
}

static int append_moved(struct nw_page *page, struct nw_page_stream *stream, uint32_t from,
                        struct nw_page_put *put)
{
    uint16_t length = page->page_bytes;
    uint32_t at;
    int result = nw_page_append(page, stream, put, &at);

    if (result == NW_ERR_ECC) { /* by the copy verb: keep what can be read, and say so */
        struct nw_tag tag;

        (void)nw_page_read(page, from, length, put->data, &tag);
        put->from = NW_PAGE_NONE;
        put->word |= NW_WORD_DAMAGED;
        page->stats->lost++;
        result = nw_page_append(page, stream, put, &at);
    }
    if (result < 0) {
        return result;
    }
    page->stats->copies++;
    nw_page_point(page, put->word & NW_WORD_SLOT, at);
    return 1;
}

static int read_whole(struct nw_page *page, uint32_t at, struct nw_tag *tag)
{
    return nw_page_read(page, at, page->page_bytes,
                        page->payload != 0 ? page->buffer : NULL, tag);
}

/* Move a page if the map points to it. 1: moved, 0: it is outdated or cannot be told, or an error:
 * then nothing has changed. */
int nw_page_move(struct nw_page *page, struct nw_page_stream *stream, uint32_t from)
{
    struct nw_page_put put = {.data = page->payload != 0 ? page->buffer : NULL,
                              .from = page->copy != 0 ? from : NW_PAGE_NONE};
    int at_once = page->copy == 0 && page->careful == 0;
    uint32_t damaged = 0;
    struct nw_tag tag;
    int state = at_once ? read_whole(page, from, &tag) : nw_page_read_tag(page, from, &tag);

    if (state == NW_ERR_ECC) {
        damaged = NW_WORD_DAMAGED;
        state = nw_page_read_tag(page, from, &tag);
    }
    if (state != NW_TAG_GOOD) {
        page->careful = 1; /* the valid pages may end before the written ones do */
        return state < 0 ? state : 0;
    }
    uint32_t slot = tag.word & NW_WORD_SLOT;
    if (slot >= page->slots || page->map[slot] != from) {
        return 0;
    }
    if (!at_once && page->copy == 0 && slot < page->sectors) {
        state = read_whole(page, from, &tag);
        damaged = state == NW_ERR_ECC ? NW_WORD_DAMAGED : 0;
        if (state < 0 && damaged == 0) {
            return state;
        }
    }
    if (slot >= page->sectors) {
        int saved = nw_page_save_trim(page, stream, slot);
        return saved < 0 ? saved : 1;
    }
    put.word = slot | (tag.word & NW_WORD_DAMAGED) | damaged;
    put.crc = tag.crc;
    page->stats->lost += damaged != 0 ? 1U : 0U;
    return append_moved(page, stream, from, &put);
}

/* Sectors the map still places in `block` although no tag there tells of them: their tag cannot be
 * read any more. They go on as damaged ones. Cost: a walk over the map; rare. */
static int give_up_rest(struct nw_page *page, uint16_t block)
{
    struct nw_page_put put = {.data = page->payload != 0 ? page->buffer : NULL,
                              .from = NW_PAGE_NONE};

    for (uint32_t slot = 0; slot < page->slots; slot++) {
        uint32_t at = page->map[slot];
        int result;

        if (at == NW_PAGE_NONE || nw_page_block_of(page, at) != block) {
            continue;
        }
        if (slot >= page->sectors) {
            result = nw_page_save_trim(page, nw_page_cold(page), slot);
        } else {
            put.word = slot | NW_WORD_DAMAGED;
            page->stats->lost++;
            result = nw_page_append(page, nw_page_cold(page), &put, &at);
            if (result == NW_OK) {
                nw_page_point(page, slot, at);
            }
        }
        if (result < 0) {
            return result;
        }
    }
    return NW_OK;
}

static int is_empty(const struct nw_page *page, uint16_t block)
{
    return (page->valid[block] & ~NW_PAGE_OPEN) == 0;
}

/* Move everything out of an open block; then nothing on the chip needs it, also not to tell that
 * something was trimmed. */
int nw_page_clear(struct nw_page *page, uint16_t block)
{
    uint32_t at = nw_page_first(page, block);
    uint32_t end = at + page->block_pages;
    int result = NW_OK;

    for (; at < end && is_empty(page, block) == 0; at++) {
        result = nw_page_move(page, nw_page_cold(page), at);
        if (result < 0) {
            return result;
        }
    }
    if (is_empty(page, block) == 0) {
        result = give_up_rest(page, block);
        if (result < 0) {
            return result;
        }
    }
    return nw_page_save_trims(page);
}

/* Clean this block next, over as many writes as it wins pages. */
static void start_victim(struct nw_page *page, uint16_t block)
{
    page->victim_gain = (uint16_t)(page->block_pages - page->valid[block]);
    nw_blocks_unlink(&page->blocks, block);
    page->valid[block] |= NW_PAGE_OPEN;
    page->victim = block;
    page->victim_page = nw_page_first(page, block);
    page->victim_end = page->victim_page + page->block_pages;
    page->credit = 0;
}

/* The cleaning policy's place: the next victim. NW_ERR_FULL: cleaning would win nothing. */
static int pick(struct nw_page *page)
{
    while (page->lowest < page->block_pages &&
           nw_blocks_first(&page->blocks, page->lowest) == NW_NO_BLOCK) {
        page->lowest++;
    }
    if (page->lowest >= page->block_pages) {
        return NW_ERR_FULL;
    }
    start_victim(page, nw_blocks_first(&page->blocks, page->lowest));
    return NW_OK;
}

/* Clean by one page at most, picking a victim when there is none. */
int nw_page_clean_step(struct nw_page *page)
{
    int result = NW_OK;

    if (page->victim == NW_NO_BLOCK) {
        result = pick(page);
        if (result < 0) {
            return result;
        }
    }
    if (is_empty(page, page->victim) == 0) {
        result = page->victim_page < page->victim_end
                     ? nw_page_move(page, nw_page_cold(page), page->victim_page)
                     : give_up_rest(page, page->victim);
        if (result < 0) {
            return result;
        }
        page->victim_page++;
    }
    if (is_empty(page, page->victim) != 0) {
        result = nw_page_save_trims(page);
        if (result < 0) {
            return result;
        }
        nw_blocks_give(&page->blocks, page->victim);
        page->victim = NW_NO_BLOCK;
    }
    return NW_OK;
}

/* What the wear policy wants moved is a victim too, when there is room and no other one. */
static int moves(struct nw_page *page)
{
    if (page->victim == NW_NO_BLOCK) {
        page->moving = NW_NO_BLOCK;
        if (page->blocks.free > page->floor) {
            uint16_t block = nw_blocks_move(&page->blocks);
            if (block != NW_NO_BLOCK && page->blocks.state[block] == NW_BLOCK_USED &&
                page->valid[block] < NW_PAGE_OPEN) {
                page->moving = block;
                start_victim(page, block);
                if (page->victim_gain < NW_PAGE_LEAST_GAIN) {
                    page->victim_gain = NW_PAGE_LEAST_GAIN;
                }
            }
        }
    }
    return page->moving != NW_NO_BLOCK;
}

/* What one host write owes to cleaning: a victim of gain g is done within g writes. */
int nw_page_pace(struct nw_page *page)
{
    if ((page->blocks.wear == NULL || !moves(page)) &&
        page->blocks.free >= page->floor + NW_PAGE_LOW) {
        return NW_OK;
    }
    if (page->victim == NW_NO_BLOCK && pick(page) < 0) {
        return NW_OK;
    }
    page->credit += page->block_pages;
    while (page->victim != NW_NO_BLOCK && page->credit >= page->victim_gain) {
        int result = nw_page_clean_step(page);
        if (result < 0) {
            return result == NW_ERR_FULL ? NW_OK : result;
        }
        page->credit -= page->victim_gain;
    }
    return NW_OK;
}

/* Before a stream of the host takes a block: leave `floor` free ones for moving data. */
int nw_page_make_room(struct nw_page *page)
{
    while (page->blocks.free <= page->floor) {
        int result = nw_page_clean_step(page);
        if (result < 0) {
            return result;
        }
    }
    return NW_OK;
}

/* Empty and mark the blocks in which a program failed. Without room they have to wait. */
int nw_page_drain(struct nw_page *page)
{
    uint16_t block = nw_blocks_first(&page->blocks, nw_page_failed(page));

    while (block != NW_NO_BLOCK) {
        int result = block == page->session ? nw_page_renew_fences(page) : (int)NW_OK;
        if (result == NW_OK) {
            result = nw_page_clear(page, block);
        }
        if (result == NW_OK) {
            nw_blocks_unlink(&page->blocks, block);
            result = nw_blocks_retire(&page->blocks, block);
        }
        if (result < 0) {
            return result == NW_ERR_FULL ? NW_OK : result;
        }
        block = nw_blocks_first(&page->blocks, nw_page_failed(page));
    }
    return NW_OK;
}

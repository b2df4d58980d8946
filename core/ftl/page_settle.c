/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Settling: after a mount every sector must read the same for ever, whatever the torn pages found
 * will show at the next power-up. A fresh block receives copies of all pages in doubt, then notes,
 * then three commits. Once they are there, a later mount trusts no last page of an unfilled block
 * older than this one, and so does not meet those torn pages again. The block goes on as the
 * host's. What makes this hold under cuts at any place: docs/ftl-page.md.
 */
#include <string.h>

#include "nandwich/bytes.h"
#include "nandwich/crc.h"
#include "page.h"

#define FORMAT 1U
#define SHAPE_BYTES 24U  /* what must be the same at every mount */
#define NOTE_BYTES 3U
#define VERSION_GAP 64U /* above what a torn page that cannot be read now may carry */

/* What a commit page holds: who made it, for which shape, and the suspects. The rest is zeros. */
static void put_record(const struct nw_page *page, uint8_t *to)
{
    const struct nw_geometry *geometry = &page->chip->geometry;

    memset(to, 0, geometry->page_bytes);
    memcpy(to, "NWPG", 4);
    nw_put16(to + 4, FORMAT);
    nw_put16(to + 6, page->tag_bytes);
    nw_put32(to + 8, geometry->blocks);
    nw_put32(to + 12, page->sectors);
    nw_put16(to + 16, geometry->block_pages);
    nw_put16(to + 18, geometry->page_bytes);
    to[20] = page->suspects;
    to += SHAPE_BYTES;
    for (uint8_t i = 0; i < page->suspects; i++) {
        nw_put16(to, page->suspect[i].block);
        to[2] = page->suspect[i].doubt;
        to += NOTE_BYTES;
    }
}

/* Read the commit at page `at`; the suspects it names become the state's. */
int nw_page_get_record(struct nw_page *page, uint32_t at)
{
    uint16_t length = page->chip->geometry.page_bytes;
    uint8_t record[SHAPE_BYTES + NOTE_BYTES * NW_PAGE_SUSPECTS];
    struct nw_tag tag;
    int state = nw_page_read(page, at, length, page->buffer, &tag);

    page->stats->map_reads++;
    if (state < 0) {
        return state;
    }
    if (state != NW_TAG_GOOD || tag.crc != nw_crc32(NW_CRC32_START, page->buffer, length)) {
        return NW_ERR_CORRUPT;
    }
    memcpy(record, page->buffer, sizeof record);
    for (uint8_t i = 0; i < record[20]; i++) {
        const uint8_t *note = record + SHAPE_BYTES + NOTE_BYTES * i;
        nw_page_add_suspect(page, nw_get16(note), note[2]);
    }
    put_record(page, page->buffer);
    return memcmp(record, page->buffer, SHAPE_BYTES) == 0 ? NW_OK : NW_ERR_VERSION;
}

static int write_commit(struct nw_page *page)
{
    struct nw_page_put put = {
        .data = page->buffer, .word = NW_WORD_COMMIT, .from = NW_PAGE_NONE};
    uint32_t at;

    put_record(page, page->buffer);
    put.crc = nw_crc32(NW_CRC32_START, page->buffer, page->chip->geometry.page_bytes);
    page->stats->map_programs++;
    return nw_page_append(page, &page->host, &put, &at);
}

/* Copies of the pages in doubt. Where there is no room left beside the commits, the block stays in
 * doubt and becomes a suspect. */
static int write_copies(struct nw_page *page)
{
    for (uint8_t i = 0; i < page->doubts; i++) {
        const struct nw_page_doubt *doubt = &page->doubt[i];
        uint32_t first = nw_page_first(page, doubt->block);

        for (uint32_t k = doubt->from; k <= doubt->to && k < page->block_pages; k++) {
            if (page->host.end - page->host.page == NW_PAGE_COMMITS) {
                nw_page_add_suspect(page, doubt->block, 1);
                break;
            }
            int result = nw_page_move(page, &page->host, first + k);
            if (result < 0) {
                return result;
            }
        }
    }
    return NW_OK;
}

static int write_all(struct nw_page *page)
{
    int result = write_copies(page);

    for (uint8_t i = 0; result >= 0 && i < NW_PAGE_COMMITS; i++) {
        result = write_commit(page);
    }
    return result;
}

/* Settle in the block the host's stream has just begun; in further ones if programs fail there. */
static int settle_from(struct nw_page *page)
{
    int result = NW_OK;

    while (result == NW_OK) {
        uint16_t block = page->host.block;
        uint32_t first = page->host.page;

        page->host.settling = 1;
        result = write_all(page);
        page->host.settling = 0;
        if (result >= 0) {
            page->session = block;
            page->doubts = 0;
            return NW_OK;
        }
        if (result != NW_ERR_PROGRAM || page->doubts == NW_PAGE_DOUBTS) {
            return result;
        }
        /* The failed block is not committed: what it has got moves on from there. */
        page->doubt[page->doubts++] = (struct nw_page_doubt){
            .block = block, .from = 0, .to = (uint16_t)(page->host.page - first - 1U)};
        result = nw_page_begin(page, &page->host);
    }
    return result;
}

static void doubt_stream(struct nw_page *page, struct nw_page_stream *stream)
{
    if (stream->block != NW_NO_BLOCK) {
        uint32_t used = stream->page - nw_page_first(page, stream->block);

        page->doubt[page->doubts++] =
            (struct nw_page_doubt){.block = stream->block,
                                   .from = (uint16_t)(used > 1U ? used - 2U : 0U),
                                   .to = (uint16_t)(used > 0 ? used - 1U : 0U)};
    }
}

/* While running: the block of the last settle has to go. The open blocks are closed as after a
 * mount: their last pages move. */
int nw_page_settle(struct nw_page *page)
{
    page->doubts = 0;
    doubt_stream(page, &page->host);
    doubt_stream(page, &page->cold);
    int result = nw_page_begin(page, &page->host);
    if (result == NW_OK) {
        result = settle_from(page);
    }
    if (result == NW_OK && page->cold.block != NW_NO_BLOCK) {
        nw_page_close(page, page->cold.block);
        page->cold.block = NW_NO_BLOCK;
        page->cold.page = page->cold.end;
    }
    return result;
}

static int is_suspect(const struct nw_page *page, uint16_t block)
{
    for (uint8_t i = 0; i < page->suspects; i++) {
        if (page->suspect[i].block == block) {
            return 1;
        }
    }
    return 0;
}

/* After the walks: blocks without a valid page are free, but for those in doubt and the last
 * commit; once `settled` all others that no stream fills can be cleaned. */
static void sort_blocks(struct nw_page *page, int settled)
{
    for (uint16_t block = 0; block < page->blocks.count; block++) {
        if (page->blocks.state[block] != NW_BLOCK_USED || block == page->session ||
            block == page->host.block) {
            continue;
        }
        if (page->valid[block] == NW_PAGE_OPEN && !nw_page_has_doubt(page, block)) {
            nw_blocks_give(&page->blocks, block);
        } else if (settled && !is_suspect(page, block)) {
            nw_page_close(page, block);
        }
    }
}

/* Blocks with a page that may come to light although a later settle cannot tell: empty and erase
 * them before anybody relies on what this mount says. Without room they wait for the next mount. */
static int wipe_suspects(struct nw_page *page)
{
    int result = NW_OK;

    for (uint8_t i = 0; i < page->suspects; i++) {
        uint16_t block = page->suspect[i].block;

        if (page->blocks.state[block] == NW_BLOCK_FREE) {
            nw_blocks_claim(&page->blocks, block);
        } else if (page->blocks.state[block] != NW_BLOCK_USED || block == page->host.block) {
            continue; /* it has already been erased, or given up */
        }
        result = result < 0 ? result : nw_page_clear(page, block);
        if (result < 0) {
            nw_page_close(page, block);
            continue;
        }
        result = nw_blocks_wipe(&page->blocks, block);
        if (result < 0 && result != NW_ERR_ERASE) {
            return result;
        }
        result = NW_OK;
    }
    page->suspects = 0;
    return result;
}

/* Mounts that are cut again and again, each before its cleaning wins a block, must not run out of
 * free ones: empty what they left behind, and what holds least, by the settle itself, as far as
 * there is room. */
static void widen(struct nw_page *page)
{
    uint16_t room = page->block_pages;
    uint16_t taken = NW_PAGE_COMMITS;

    if (!nw_page_has_doubt(page, page->session) && page->doubts < NW_PAGE_DOUBTS) {
        page->doubt[page->doubts++] =
            (struct nw_page_doubt){.block = page->session, .from = room, .to = room};
    }
    for (uint8_t i = 0; i < page->doubts; i++) {
        taken = (uint16_t)(taken + 1U + (unsigned)(page->doubt[i].to - page->doubt[i].from));
    }
    for (uint8_t i = 0; i < page->doubts; i++) {
        uint16_t valid = (uint16_t)(page->valid[page->doubt[i].block] & ~NW_PAGE_OPEN);

        if (taken + valid <= room) {
            page->doubt[i].from = 0;
            taken = (uint16_t)(taken + valid);
        }
    }
    for (uint16_t valid = 1; taken + valid <= room; valid++) {
        for (uint16_t block = 0; block < page->blocks.count; block++) {
            if (page->blocks.state[block] == NW_BLOCK_USED && taken + valid <= room &&
                page->valid[block] == (NW_PAGE_OPEN | valid) && page->doubts < NW_PAGE_DOUBTS &&
                !nw_page_has_doubt(page, block)) {
                page->doubt[page->doubts++] =
                    (struct nw_page_doubt){.block = block, .to = (uint16_t)(room - 1U)};
                taken = (uint16_t)(taken + valid);
            }
        }
    }
}

/* The end of a mount or format: from the walks to a device that can be written. */
int nw_page_start(struct nw_page *page)
{
    page->version += VERSION_GAP;
    sort_blocks(page, 0);
    int begun = nw_page_begin(page, &page->host);
    if (begun < 0 && begun != NW_ERR_FULL) {
        return begun;
    }
    int result = nw_page_believe(page);
    if (result == NW_OK && begun < 0) {
        /* Several mounts were cut and left nothing free: take what only doubts replace. */
        sort_blocks(page, 0);
        begun = nw_page_begin(page, &page->host);
    }
    page->careful = 1;
    if (page->blocks.free < NW_PAGE_SCARCE && page->session != NW_NO_BLOCK) {
        widen(page);
    }
    page->session = NW_NO_BLOCK;
    if (result == NW_OK) {
        result = begun < 0 ? begun : settle_from(page);
    }
    if (result == NW_OK) {
        result = nw_page_drain(page);
    }
    page->careful = 0;
    if (result == NW_OK) {
        sort_blocks(page, 1);
        result = wipe_suspects(page);
    }
    if (result == NW_OK) {
        result = nw_page_make_room(page);
    }
    return result == NW_ERR_FULL ? NW_OK : result;
}

/* Erase every good block; first those that make a mount believe in a device. */
int nw_page_wipe_all(struct nw_page *page)
{
    for (uint8_t turn = 0; turn < 2U; turn++) {
        for (uint16_t block = 0; block < page->blocks.count; block++) {
            uint8_t wanted = turn;

            if (page->blocks.state[block] != NW_BLOCK_FREE) {
                continue;
            }
            for (uint8_t i = 0; i < NW_PAGE_LEAST_PAGES && wanted == 0; i++) {
                struct nw_tag tag;
                int state = nw_page_read_tag(page, nw_page_first(page, block) + i, &tag);
                if (state < 0) {
                    return state;
                }
                wanted = state == NW_TAG_GOOD && (tag.word & NW_WORD_SETTLE) != 0;
            }
            if (wanted != 0) {
                nw_blocks_claim(&page->blocks, block);
                int result = nw_blocks_wipe(&page->blocks, block);
                if (result < 0 && result != NW_ERR_ERASE) {
                    return result;
                }
            }
        }
    }
    return NW_OK;
}

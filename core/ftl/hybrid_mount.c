/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What lies on the chip when power comes up, and making sure of it.
 *
 * A page torn by a power cut may be invisible today and look complete after another power-up.
 * Its version is known all the same: above every page that is certain, below what the next session
 * writes. Each mount fences that range off, in a record kept on the chip. The one page that may be
 * torn and does look complete is the newest of all. If a merge under way moved it, the page it came
 * from is still there and it does not count. Else the mount copies it beside the record and then
 * writes the sector anew.
 *
 * A mount writes to a fresh block: a first page that means nothing (so that no later mount uses the
 * same versions should the record be torn), the copy, the record. Why that is enough:
 * docs/ftl-hybrid.md.
 */
#include <string.h>

#include "hybrid.h"
#include "nandwich/bytes.h"
#include "nandwich/crc.h"

#define FORMAT 1U
#define SHAPE_BYTES 22U
#define COUNT_AT 22U
#define ENTRIES_AT 24U
#define ENTRY_BYTES 10U /* first version (5), copies (1), versions fenced off up to first (4) */
#define VERSION_GAP 64U /* above what a torn page that cannot be read now may carry */
#define WORD_FIRST (NW_HYBRID_SESSION | NW_HYBRID_SECTOR)
#define WORD_RECORD (NW_HYBRID_SESSION | (NW_HYBRID_SECTOR - 1U))

/* What a record begins with: who made it, for which shape. */
static void put_shape(const struct nw_hybrid *hybrid, uint8_t *to)
{
    const struct nw_geometry *geometry = &hybrid->chip->geometry;

    nw_put32(to, 0x4259484EUL); /* NHYB */
    nw_put32(to + 4, hybrid->name);
    nw_put16(to + 8, FORMAT);
    nw_put16(to + 10, hybrid->tag_bytes);
    nw_put32(to + 12, hybrid->sectors);
    nw_put16(to + 16, hybrid->blocks.count);
    nw_put16(to + 18, geometry->block_pages);
    nw_put16(to + 20, geometry->page_bytes);
}

static uint8_t *entry(const struct nw_hybrid *hybrid, uint16_t index)
{
    return hybrid->buffer + ENTRIES_AT + ENTRY_BYTES * index;
}

static uint64_t get_version(const uint8_t *from)
{
    return nw_get32(from) | ((uint64_t)from[4] << 32);
}

/* 1 if the record in the buffer says that a version does not count. */
static int is_void(const struct nw_hybrid *hybrid, uint64_t version)
{
    for (uint16_t i = nw_get16(hybrid->buffer + COUNT_AT); i > 0; i--) {
        const uint8_t *at = entry(hybrid, (uint16_t)(i - 1U));
        uint64_t first = get_version(at);

        if (version > first) {
            return 0;
        }
        if (version > first - nw_get32(at + 6)) {
            return 1;
        }
    }
    return 0;
}

/* Page `at` to the buffer: NW_TAG_GOOD when tag and data are whole. */
static int read_checked(struct nw_hybrid *hybrid, uint32_t at, struct nw_tag *tag)
{
    uint16_t length = hybrid->page_bytes;
    int state = nw_hybrid_read(hybrid, at, length, hybrid->buffer, tag);

    if (state == NW_ERR_ECC ||
        (state == NW_TAG_GOOD && tag->crc != nw_crc32(NW_CRC32_START, hybrid->buffer, length))) {
        return NW_TAG_BAD;
    }
    return state;
}

/* Keeps the newest records; in the last place the oldest of all. */
static void note_record(struct nw_hybrid *hybrid, uint64_t version, uint32_t at)
{
    struct nw_hybrid_record record = {.version = version, .at = at};

    for (uint8_t i = 0; i < hybrid->records; i++) {
        if (hybrid->record[i].version < record.version) {
            struct nw_hybrid_record other = hybrid->record[i];

            hybrid->record[i] = record;
            record = other;
        }
    }
    if (hybrid->records < NW_HYBRID_RECORDS) {
        hybrid->record[hybrid->records++] = record;
    } else {
        hybrid->record[NW_HYBRID_RECORDS - 1U] = record;
    }
}

/* A session's block begins with a page that means nothing, and has its record behind. */
static int look_for_record(struct nw_hybrid *hybrid, uint16_t block)
{
    uint32_t at = nw_hybrid_first(hybrid, block);
    struct nw_tag tag;

    for (uint8_t i = 0; i < 3U; i++) {
        int state = nw_hybrid_read_tag(hybrid, at + i, &tag);

        if (state != NW_TAG_GOOD || (tag.word & NW_HYBRID_SESSION) == 0) {
            return state < 0 ? state : (int)NW_OK;
        }
        if (tag.version >= hybrid->version) {
            hybrid->version = tag.version + 1U;
        }
        if (tag.word == WORD_RECORD) {
            state = read_checked(hybrid, at + i, &tag);
            if (state == NW_TAG_GOOD) {
                note_record(hybrid, tag.version, at + i);
            }
            return state < 0 ? state : (int)NW_OK;
        }
    }
    return NW_OK;
}

/* The record at `at` to the buffer, checked. */
static int load(struct nw_hybrid *hybrid, uint32_t at)
{
    uint8_t shape[SHAPE_BYTES];
    struct nw_tag tag;
    int state = read_checked(hybrid, at, &tag);

    if (state != NW_TAG_GOOD) {
        return state < 0 ? state : (int)NW_ERR_CORRUPT;
    }
    put_shape(hybrid, shape);
    if (memcmp(shape, hybrid->buffer, 8) != 0) {
        return NW_ERR_NOT_FOUND;
    }
    if (memcmp(shape, hybrid->buffer, SHAPE_BYTES) != 0) {
        return NW_ERR_VERSION;
    }
    uint16_t count = nw_get16(hybrid->buffer + COUNT_AT);
    return count > 0 && ENTRIES_AT + ENTRY_BYTES * (uint32_t)count <= hybrid->page_bytes
               ? NW_OK
               : NW_ERR_CORRUPT;
}

/* First walk: the newest record, left in the buffer, and the page its mount copied. */
static int find_record(struct nw_hybrid *hybrid)
{
    for (uint16_t block = 0; block < hybrid->blocks.count; block++) {
        if (hybrid->blocks.state[block] != NW_BLOCK_BAD) {
            int result = look_for_record(hybrid, block);
            if (result < 0) {
                return result;
            }
        }
    }
    if (hybrid->records == 0) {
        return NW_ERR_NOT_FOUND;
    }
    int result = load(hybrid, hybrid->record[0].at);
    if (result < 0) {
        return result;
    }
    const uint8_t *newest = entry(hybrid, (uint16_t)(nw_get16(hybrid->buffer + COUNT_AT) - 1U));
    hybrid->fenced = get_version(newest);
    hybrid->last = hybrid->fenced;
    if (newest[5] != 0) {
        struct nw_tag tag;
        uint32_t at = hybrid->record[0].at - 1U;

        result = nw_hybrid_read_tag(hybrid, at, &tag);
        if (result != NW_TAG_GOOD) {
            return result < 0 ? result : (int)NW_ERR_CORRUPT;
        }
        hybrid->saved = tag.word & NW_HYBRID_SECTOR;
        hybrid->saved_at = at;
        hybrid->saved_version = tag.version;
    }
    return NW_OK;
}

/* To the layer: this page counts. */
static int accept(struct nw_hybrid *hybrid, const struct nw_hybrid_top *page)
{
    uint32_t sector = page->tag.word & NW_HYBRID_SECTOR;

    if (sector == hybrid->saved && page->tag.version > hybrid->saved_version) {
        hybrid->saved = NW_NO_PAGE; /* written anew since */
    }
    return sector < hybrid->sectors ? hybrid->kind->meet(hybrid, page->at, &page->tag)
                                    : (int)NW_OK;
}

/* The newest pages wait. */
static int meet(struct nw_hybrid *hybrid, uint32_t at, const struct nw_tag *tag)
{
    struct nw_hybrid_top page = {.at = at, .tag = *tag};

    for (uint8_t i = 0; i < hybrid->tops; i++) {
        if (hybrid->top[i].tag.version < page.tag.version) {
            struct nw_hybrid_top other = hybrid->top[i];

            hybrid->top[i] = page;
            page = other;
        }
    }
    if (hybrid->tops < NW_HYBRID_TOPS) {
        hybrid->top[hybrid->tops++] = page;
        return NW_OK;
    }
    return accept(hybrid, &page);
}

/* One tag of the second walk: NW_TAG_GOOD when the page counts. */
static int look_at(struct nw_hybrid *hybrid, uint32_t at, struct nw_tag *tag)
{
    uint16_t block = nw_hybrid_block_of(hybrid, at);
    int state = nw_hybrid_read_tag(hybrid, at, tag);

    if (state != NW_TAG_GOOD) {
        return state;
    }
    if (hybrid->blocks.state[block] != NW_BLOCK_USED) {
        nw_blocks_claim(&hybrid->blocks, block); /* for now */
    }
    if (tag->version >= hybrid->version) {
        hybrid->version = tag->version + 1U;
    }
    if (tag->erases > hybrid->blocks.erases[block]) {
        hybrid->blocks.erases[block] = tag->erases;
    }
    return (tag->word & NW_HYBRID_SESSION) != 0 || is_void(hybrid, tag->version) ? NW_TAG_BAD
                                                                                 : NW_TAG_GOOD;
}

/* The pages of a block that count: how far they reach, the newest and the oldest. */
struct block_span {
    uint16_t block;
    uint16_t end; /* 0: none counts */
    uint8_t all_copies;
    struct nw_hybrid_top newest;
    struct nw_hybrid_top oldest;
};

/* From the end, where the newest is on parts that program in order; `whole`: all of the block. */
static int survey(struct nw_hybrid *hybrid, struct block_span *span, int whole)
{
    uint32_t first = nw_hybrid_first(hybrid, span->block);
    int in_order = (hybrid->chip->geometry.flags & NW_CHIP_IN_ORDER) != 0;

    span->end = 0;
    span->all_copies = 1;
    for (uint16_t left = hybrid->block_pages; left > 0; left--) {
        struct nw_hybrid_top page = {.at = first + left - 1U};
        int state = look_at(hybrid, page.at, &page.tag);

        if (state < 0) {
            return state;
        }
        if (state != NW_TAG_GOOD) {
            continue;
        }
        if (span->end == 0) {
            span->end = left;
            span->newest = page;
            span->oldest = page;
        }
        span->newest = page.tag.version > span->newest.tag.version ? page : span->newest;
        span->oldest = page.tag.version < span->oldest.tag.version ? page : span->oldest;
        if ((page.tag.word & NW_HYBRID_COPY) == 0) {
            span->all_copies = 0;
        }
        if (in_order && !whole) {
            break;
        }
    }
    return NW_OK;
}

/* The pages of a block to the layer, but for the newest of all. */
static int deliver(struct nw_hybrid *hybrid, const struct block_span *span)
{
    uint32_t at = nw_hybrid_first(hybrid, span->block);
    int result = NW_OK;

    for (uint16_t i = 0; result >= 0 && i < span->end; i++, at++) {
        struct nw_tag tag;

        result = look_at(hybrid, at, &tag);
        if (result == NW_TAG_GOOD) {
            result = meet(hybrid, at, &tag);
        }
    }
    return result < 0 ? result : NW_OK;
}

/* The block with the newest page. If a merge had just begun it and was cut short, none of it
 * counts: all that was moved is still where it was. Else room would run out, cut by cut. If the
 * merge had come to its last page, that one may be torn: the others come when it is saved, so that
 * nothing they replace is erased before. */
static int deliver_newest(struct nw_hybrid *hybrid, struct block_span *span)
{
    int result = survey(hybrid, span, 1);

    if (result < 0 || span->end == 0) {
        return result;
    }
    uint32_t word = span->newest.tag.word;
    if (span->newest.tag.version <= hybrid->fenced || span->all_copies == 0) {
        return deliver(hybrid, span);
    }
    if ((word & NW_HYBRID_LAST) == 0) {
        return meet(hybrid, span->oldest.at, &span->oldest.tag);
    }
    hybrid->late = span->block;
    return meet(hybrid, span->newest.at, &span->newest.tag);
}

/* Second walk: every tag. Blocks that hold anything are in use for now. */
static int walk(struct nw_hybrid *hybrid)
{
    struct block_span newest = {.end = 0};
    struct block_span span = {.end = 0};
    int result = NW_OK;

    for (uint16_t block = 0; result == NW_OK && block < hybrid->blocks.count; block++) {
        if (hybrid->blocks.state[block] == NW_BLOCK_BAD) {
            continue;
        }
        span.block = block;
        result = survey(hybrid, &span, 0);
        if (result == NW_OK && span.end > 0 &&
            (newest.end == 0 || span.newest.tag.version > newest.newest.tag.version)) {
            struct block_span other = newest;

            newest = span;
            span = other;
        }
        if (result == NW_OK && span.end > 0) {
            result = deliver(hybrid, &span);
        }
    }
    return result == NW_OK && newest.end > 0 ? deliver_newest(hybrid, &newest) : result;
}

/* Whether a page is all there; its data is in the buffer then. */
static int is_whole(struct nw_hybrid *hybrid, const struct nw_hybrid_top *page)
{
    struct nw_tag tag;

    if (hybrid->payload == 0 || (page->tag.word & NW_HYBRID_DAMAGED) != 0) {
        return 1;
    }
    int state = read_checked(hybrid, page->at, &tag);
    return state < 0 ? state : state == NW_TAG_GOOD;
}

/* Which of the newest pages count: sets `last`, above which none does, and what is to be saved. */
static int judge(struct nw_hybrid *hybrid)
{
    for (uint8_t i = 0; i < hybrid->tops; i++) {
        const struct nw_hybrid_top *page = &hybrid->top[i];
        uint32_t sector = page->tag.word & NW_HYBRID_SECTOR;

        if (page->tag.version <= hybrid->fenced) {
            hybrid->last = hybrid->fenced; /* earlier mounts made sure of the rest */
            return NW_OK;
        }
        /* A failed program is tried again at once: another sector tells that this one ended. */
        if (i > 0 && sector != (hybrid->top[i - 1U].tag.word & NW_HYBRID_SECTOR)) {
            hybrid->last = page->tag.version;
            return NW_OK;
        }
        hybrid->last = i + 1U < NW_HYBRID_TOPS ? hybrid->fenced : page->tag.version - 1U;
        if ((page->tag.word & (NW_HYBRID_COPY | NW_HYBRID_LAST)) == NW_HYBRID_COPY) {
            continue;
        }
        int whole = is_whole(hybrid, page);
        if (whole < 0) {
            return whole;
        }
        if (whole) {
            hybrid->last = page->tag.version;
            hybrid->saved = sector;
            hybrid->saved_at = page->at;
            hybrid->saved_version = page->tag.version;
            return NW_OK;
        }
    }
    return NW_OK;
}

/* The newest record that is certain: pages were written after it. If none is, the oldest. */
static int choose_certain(struct nw_hybrid *hybrid)
{
    uint8_t i = 0;

    while (i + 1U < hybrid->records &&
           (hybrid->tops == 0 || hybrid->record[i].version > hybrid->top[0].tag.version)) {
        i++;
    }
    hybrid->certain = nw_hybrid_block_of(hybrid, hybrid->record[i].at);
    while (hybrid->tops > 0 && hybrid->record[i].version < hybrid->top[0].tag.version &&
           hybrid->top[hybrid->tops - 1U].tag.version < hybrid->record[i].version) {
        /* Certain whatever shows the next time: no need to wait. */
        int result = accept(hybrid, &hybrid->top[--hybrid->tops]);
        if (result < 0) {
            return result;
        }
    }
    return NW_OK;
}

int nw_hybrid_held(const struct nw_hybrid *hybrid, uint16_t block)
{
    if (block == hybrid->session) {
        return 1;
    }
    if (hybrid->holding == 0) {
        return 0;
    }
    for (uint8_t i = 0; i < hybrid->tops; i++) {
        if (nw_hybrid_block_of(hybrid, hybrid->top[i].at) == block) {
            return 1;
        }
    }
    return block == hybrid->certain || block == nw_hybrid_block_of(hybrid, hybrid->record[0].at) ||
           (hybrid->saved != NW_NO_PAGE && nw_hybrid_block_of(hybrid, hybrid->saved_at) == block);
}

/* Add this mount's entry to the record in the buffer. */
static void add_entry(struct nw_hybrid *hybrid, uint64_t first, uint8_t copies)
{
    uint16_t most = (uint16_t)((hybrid->page_bytes - ENTRIES_AT) / ENTRY_BYTES);
    uint16_t count = nw_get16(hybrid->buffer + COUNT_AT);

    if (count == most) { /* the oldest fence goes */
        for (count = 0; count + 1U < most; count++) {
            memcpy(entry(hybrid, count), entry(hybrid, (uint16_t)(count + 1U)), ENTRY_BYTES);
        }
    }
    uint8_t *to = entry(hybrid, count);
    nw_put32(to, (uint32_t)(first & 0xFFFFFFFFUL));
    to[4] = (uint8_t)(first >> 32);
    to[5] = copies;
    nw_put32(to + 6, (uint32_t)(first - hybrid->last));
    nw_put16(hybrid->buffer + COUNT_AT, (uint16_t)(count + 1U));
}

/* The buffer as a page of the session's block. */
static int write_own(struct nw_hybrid *hybrid, uint32_t at, uint32_t word)
{
    struct nw_hybrid_put put = {.sector = word, .from = NW_NO_PAGE, .data = hybrid->buffer};

    hybrid->stats->map_programs++;
    return nw_hybrid_program(hybrid, at, &put);
}

int nw_hybrid_flush(struct nw_hybrid *hybrid)
{
    if (hybrid->blocks.free > 0 || hybrid->limbo == 0) {
        return NW_OK;
    }
    if (hybrid->session_next == hybrid->block_pages) {
        return NW_ERR_FULL;
    }
    memset(hybrid->buffer, 0, hybrid->page_bytes);
    uint32_t at = nw_hybrid_first(hybrid, hybrid->session) + hybrid->session_next;
    int result = write_own(hybrid, at, WORD_FIRST);
    hybrid->session_next = result < 0 ? hybrid->block_pages
                                      : (uint16_t)(hybrid->session_next + 1U);
    return result;
}

static int write_session(struct nw_hybrid *hybrid, uint16_t block)
{
    uint32_t at = nw_hybrid_first(hybrid, block);
    uint64_t first = hybrid->version;
    int copies = hybrid->saved != NW_NO_PAGE;

    memset(hybrid->buffer, 0, hybrid->page_bytes);
    int result = write_own(hybrid, at, WORD_FIRST);

    if (result == NW_OK && copies) {
        struct nw_hybrid_put put = {.sector = hybrid->saved | NW_HYBRID_SESSION,
                                    .flags = NW_HYBRID_COPY,
                                    .from = hybrid->saved_at};
        result = nw_hybrid_program(hybrid, ++at, &put);
    }
    if (result == NW_OK && hybrid->records > 0) {
        result = load(hybrid, hybrid->record[0].at);
    } else if (result == NW_OK) {
        memset(hybrid->buffer, 0, hybrid->page_bytes);
        put_shape(hybrid, hybrid->buffer);
    }
    if (result < 0) {
        return result;
    }
    add_entry(hybrid, first, (uint8_t)copies);
    result = write_own(hybrid, ++at, WORD_RECORD);
    if (result == NW_OK) {
        hybrid->session = block;
        hybrid->session_next = (uint16_t)(2 + copies);
        hybrid->saved_at = at - 1U;
    }
    return result;
}

/* Start this session in a fresh block; NW_ERR_FULL: there is none. */
static int begin_session(struct nw_hybrid *hybrid)
{
    int result;

    do { /* every further turn has cost a block its life */
        int32_t block = nw_blocks_take(&hybrid->blocks);
        if (block < 0) {
            return (int)block;
        }
        result = write_session(hybrid, (uint16_t)block);
        if (result == NW_ERR_PROGRAM) {
            nw_hybrid_drop(hybrid, (uint16_t)block, 1);
        }
    } while (result == NW_ERR_PROGRAM);
    return result;
}

/* Whether a page that waits counts. */
static int counts(const struct nw_hybrid *hybrid, const struct nw_hybrid_top *page)
{
    return page->tag.version <= hybrid->last || page->tag.version <= hybrid->fenced;
}

/* What the mount before saved is outdated when its sector was written again since: also by a page
 * that still waits. It must not be copied once more then, under a version above that page's. */
static void forget_outdated(struct nw_hybrid *hybrid)
{
    for (uint8_t i = 0; i < hybrid->tops; i++) {
        const struct nw_hybrid_top *page = &hybrid->top[i];

        if ((page->tag.word & NW_HYBRID_SECTOR) == hybrid->saved && counts(hybrid, page) &&
            page->tag.version > hybrid->saved_version) {
            hybrid->saved = NW_NO_PAGE;
        }
    }
}

/* The pages that waited and count. The saved one is in the session's block now. */
static int accept_tops(struct nw_hybrid *hybrid, uint32_t saved_from)
{
    int result = NW_OK;

    for (uint8_t i = hybrid->tops; result == NW_OK && i > 0; i--) {
        const struct nw_hybrid_top *page = &hybrid->top[i - 1U];

        if (counts(hybrid, page) && page->at != saved_from) {
            result = accept(hybrid, page);
        }
    }
    return result;
}

/* The other pages of the newest block, if they count. */
static int accept_late(struct nw_hybrid *hybrid, uint32_t saved_from)
{
    struct nw_hybrid_top page = {.at = 0};
    int result = NW_OK;

    if (hybrid->late == NW_NO_BLOCK) {
        return NW_OK;
    }
    page.at = nw_hybrid_first(hybrid, hybrid->late);
    for (uint16_t i = 0; result >= 0 && i < hybrid->block_pages; i++, page.at++) {
        result = nw_hybrid_read_tag(hybrid, page.at, &page.tag);
        if (result == NW_TAG_GOOD && page.tag.version <= hybrid->last &&
            page.at != saved_from) {
            result = accept(hybrid, &page);
        }
    }
    return result < 0 ? result : NW_OK;
}

/* Sessions that end after a few operations each must not use up the free blocks. */
static int refill(struct nw_hybrid *hybrid)
{
    int result = 1;

    while (result > 0 && nw_hybrid_free(hybrid) <= NW_HYBRID_FLOOR) {
        result = hybrid->kind->tidy(hybrid);
    }
    return result < 0 ? result : NW_OK;
}

/* Write a sector anew as it is, into what is free, without a merge. */
static int rewrite(struct nw_hybrid *hybrid, uint32_t sector)
{
    struct nw_hybrid_put put = {.sector = sector};
    int result = nw_hybrid_find(hybrid, sector, &put.from);

    if (result == NW_ERR_CORRUPT) { /* it goes on as lost */
        put.from = NW_NO_PAGE;
        put.flags = NW_HYBRID_DAMAGED;
        hybrid->stats->lost++;
        result = NW_OK;
    }
    result = result == NW_OK ? nw_hybrid_flush(hybrid) : result;
    hybrid->urgent = 1;
    result = result == NW_OK ? hybrid->kind->write(hybrid, &put) : result;
    hybrid->urgent = 0;
    if (result == NW_OK && sector == hybrid->saved) {
        hybrid->saved = NW_NO_PAGE;
    }
    return result;
}

int nw_hybrid_settle(struct nw_hybrid *hybrid)
{
    int result = NW_OK;

    if (hybrid->doubt == NW_NO_PAGE && hybrid->saved == NW_NO_PAGE) {
        return NW_OK;
    }
    if (hybrid->doubt != NW_NO_PAGE) {
        result = rewrite(hybrid, hybrid->doubt);
    }
    if (result == NW_OK && hybrid->saved != NW_NO_PAGE) {
        result = rewrite(hybrid, hybrid->saved);
    }
    return result == NW_OK ? refill(hybrid) : result;
}

static int start(struct nw_hybrid *hybrid)
{
    forget_outdated(hybrid);
    uint32_t saved_from = hybrid->saved != NW_NO_PAGE ? hybrid->saved_at : NW_NO_PAGE;

    hybrid->version += VERSION_GAP;
    hybrid->holding = 1;
    int result = hybrid->kind->arrange(hybrid, 0);
    if (result == NW_OK) {
        result = begin_session(hybrid);
    }
    if (result < 0 && result != NW_ERR_FULL) {
        return result;
    }
    hybrid->holding = 0;
    result = accept_tops(hybrid, saved_from);
    if (result == NW_OK) {
        result = accept_late(hybrid, saved_from);
    }
    if (result == NW_OK) {
        result = hybrid->kind->arrange(hybrid, 1);
    }
    if (result == NW_OK && hybrid->session != NW_NO_BLOCK) {
        result = nw_hybrid_settle(hybrid);
    }
    return result == NW_ERR_FULL ? NW_OK : result; /* can be read, no more */
}

int nw_hybrid_mount(struct nw_hybrid *hybrid)
{
    int result = find_record(hybrid);

    if (result == NW_OK) {
        result = walk(hybrid);
    }
    result = result == NW_OK ? choose_certain(hybrid) : result;
    result = result == NW_OK ? judge(hybrid) : result;
    return result == NW_OK ? start(hybrid) : result;
}

/* Erase every good block; first those with records, that make a mount believe in a device. */
int nw_hybrid_format(struct nw_hybrid *hybrid)
{
    int result = NW_OK;

    for (uint8_t turn = 0; turn < 2U && result == NW_OK; turn++) {
        for (uint16_t block = 0; block < hybrid->blocks.count && result >= 0; block++) {
            struct nw_tag tag = {0};

            if (turn > 0 && hybrid->blocks.state[block] == NW_BLOCK_USED) {
                nw_blocks_give(&hybrid->blocks, block);
            } else if (turn == 0 && hybrid->blocks.state[block] == NW_BLOCK_FREE) {
                result = nw_hybrid_read_tag(hybrid, nw_hybrid_first(hybrid, block), &tag);
                if (result != NW_TAG_GOOD || (tag.word & NW_HYBRID_SESSION) == 0) {
                    nw_blocks_claim(&hybrid->blocks, block);
                }
            }
        }
        while (result >= 0 && (result = nw_blocks_prepare(&hybrid->blocks)) > 0) {
        }
    }
    return result < 0 ? result : begin_session(hybrid);
}

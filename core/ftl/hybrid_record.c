/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The record of a mount: one page that names the device and lists the fences, which are the ranges
 * of versions that do not count. The format is in docs/ftl-hybrid.md. A mount reads the newest
 * record there is, adds a fence of its own and writes that (hybrid_session.c).
 */
#include <string.h>

#include "hybrid.h"
#include "mark.h"
#include "nandwich/bytes.h"

#define FORMAT 2U
#define SHAPE_BYTES 22U /* what each mount has to have in common, and then the degree */
#define COUNT_AT 24U
#define ENTRIES_AT 26U
#define ENTRY_BYTES 10U /* first version (5), copies and high bits (1), width (4): see docs */
#define MOST_SESSION 4U /* pages of a session up to its second record */

/* What a record begins with: who made it, for which shape. */
static void put_shape(const struct nw_hybrid *hybrid, uint8_t *to)
{
    const struct nw_geometry *geometry = &hybrid->chip->geometry;

    nw_put32(to, NW_MARK_HYBRID);
    nw_put32(to + 4, hybrid->name);
    nw_put16(to + 8, FORMAT);
    nw_put16(to + 10, hybrid->blocks.tagged.req.spare_length);
    nw_put32(to + 12, hybrid->sectors);
    nw_put16(to + 16, hybrid->blocks.count);
    nw_put16(to + 18, geometry->block_pages);
    nw_put16(to + 20, geometry->page_bytes);
    nw_put16(to + SHAPE_BYTES, hybrid->degree);
}

static uint8_t *entry(const struct nw_hybrid *hybrid, uint16_t index)
{
    return hybrid->buffer + ENTRIES_AT + ENTRY_BYTES * index;
}

static uint16_t most_entries(const struct nw_hybrid *hybrid)
{
    return (uint16_t)((hybrid->page_bytes - ENTRIES_AT) / ENTRY_BYTES);
}

/* How many versions an entry makes void, up to its first. */
static uint64_t width_of(const uint8_t *at)
{
    return nw_get32(at + 6) | ((uint64_t)(at[5] >> 1) << 32);
}

/* Entries are in order, so half of them is left each time. */
int nw_hybrid_is_void(const struct nw_hybrid *hybrid, uint64_t version)
{
    uint16_t low = 0;
    uint16_t count = nw_get16(hybrid->buffer + COUNT_AT);
    uint16_t high = count;

    while (low < high) {
        uint16_t middle = (uint16_t)((low + high) / 2U);

        if (nw_tag_get40(entry(hybrid, middle)) < version) {
            low = (uint16_t)(middle + 1U);
        } else {
            high = middle;
        }
    }
    const uint8_t *at = entry(hybrid, low);
    return low < count && version > nw_tag_get40(at) - width_of(at);
}

int nw_hybrid_read_whole(struct nw_hybrid *hybrid, uint32_t at, struct nw_tag *tag)
{
    uint16_t length = hybrid->page_bytes;
    int state = nw_hybrid_read(hybrid, at, length, hybrid->buffer, tag);

    return state == NW_TAG_GOOD && tag->crc != nw_tag_sum(hybrid->buffer, length) ? (int)NW_TAG_BAD
                                                                                  : state;
}

/* Keeps the newest records. */
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
    }
}

/* A record that is whole now. Something behind it, whatever it is, shows that its program had
 * ended: it is whole for ever. */
static int meet_record(struct nw_hybrid *hybrid, uint16_t block, uint32_t at, uint64_t version)
{
    struct nw_tag tag;
    int state = at + 1U < nw_hybrid_first(hybrid, block) + hybrid->block_pages
                    ? nw_hybrid_read_tag(hybrid, at + 1U, &tag)
                    : (int)NW_TAG_BLANK;

    note_record(hybrid, version, at);
    if (state != NW_TAG_BLANK && version > hybrid->certain_version) {
        hybrid->certain = block;
        hybrid->certain_version = version;
    }
    return state < 0 ? state : (int)NW_OK;
}

/* A session's block begins with a page that means nothing, and has its record behind. A page that
 * cannot be read is passed over: a torn one has none behind it. */
static int look_for_record(struct nw_hybrid *hybrid, uint16_t block)
{
    uint32_t at = nw_hybrid_first(hybrid, block);
    struct nw_tag tag;

    for (uint8_t i = 0; i < MOST_SESSION; i++, at++) {
        int state = nw_hybrid_read_tag(hybrid, at, &tag);

        if (state == NW_TAG_GOOD && tag.word == NW_MARK_RECORD) {
            state = nw_hybrid_read_whole(hybrid, at, &tag);
            if (state == NW_TAG_GOOD) {
                return meet_record(hybrid, block, at, tag.version);
            }
        } else if (state == NW_TAG_BLANK ||
                   (state == NW_TAG_GOOD && (tag.word & NW_HYBRID_SESSION) == 0)) {
            return NW_OK;
        }
        if (state < 0) {
            return state;
        }
    }
    return NW_OK;
}

/* The record at `at` to the buffer, checked. */
static int load(struct nw_hybrid *hybrid, uint32_t at)
{
    uint8_t shape[COUNT_AT];
    struct nw_tag tag;
    int state = nw_hybrid_read_whole(hybrid, at, &tag);

    if (state != NW_TAG_GOOD) {
        return state < 0 ? state : (int)NW_ERR_CORRUPT;
    }
    put_shape(hybrid, shape);
    if (memcmp(shape, hybrid->buffer, 8) != 0) {
        return NW_ERR_NOT_FOUND;
    }
    uint16_t degree = nw_get16(hybrid->buffer + SHAPE_BYTES);
    if (memcmp(shape, hybrid->buffer, SHAPE_BYTES) != 0 || degree > hybrid->degree ||
        (degree < hybrid->degree && hybrid->grows == 0)) {
        return NW_ERR_VERSION;
    }
    uint16_t count = nw_get16(hybrid->buffer + COUNT_AT);
    return count > 0 && ENTRIES_AT + ENTRY_BYTES * (uint32_t)count <= hybrid->page_bytes
               ? NW_OK
               : NW_ERR_CORRUPT;
}

int nw_hybrid_find_record(struct nw_hybrid *hybrid)
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
    uint16_t count = nw_get16(hybrid->buffer + COUNT_AT);
    uint16_t young = (uint16_t)(most_entries(hybrid) / 2U);
    const uint8_t *newest = entry(hybrid, (uint16_t)(count - 1U));
    hybrid->ageing = 0;
    if (count > young) {
        hybrid->ageing = nw_tag_get40(entry(hybrid, (uint16_t)(count - young - 1U)));
    }
    hybrid->fenced = nw_tag_get40(newest);
    hybrid->last = hybrid->fenced;
    if ((newest[5] & 1U) != 0) {
        struct nw_tag tag;
        uint16_t block = nw_hybrid_block_of(hybrid, hybrid->record[0].at);
        uint32_t at = nw_hybrid_first(hybrid, block) + 1U;

        result = nw_hybrid_read_tag(hybrid, at, &tag);
        /* Its sector was written anew at once, unless that was cut. And no mount of ours names a
         * sector that there is not. */
        if (result != NW_TAG_GOOD || (tag.word & NW_HYBRID_SECTOR) >= hybrid->sectors) {
            return result < 0 ? result : (int)NW_OK;
        }
        hybrid->saved = tag.word & NW_HYBRID_SECTOR;
        hybrid->saved_at = at;
        hybrid->saved_version = tag.version;
    }
    return NW_OK;
}

/* Add this mount's entry to the record in the buffer. When nothing counts of the session before,
 * but for what is saved, the newest fence is widened: so mounts that are cut need no room in the
 * record. */
static void add_entry(struct nw_hybrid *hybrid, uint64_t first, uint8_t copies)
{
    uint16_t most = most_entries(hybrid);
    uint16_t count = nw_get16(hybrid->buffer + COUNT_AT);
    uint64_t width = first - hybrid->last;

    if (count > 0 && hybrid->last == hybrid->fenced) {
        count--;
        width += width_of(entry(hybrid, count));
    }
    if (count == most) { /* the oldest fence goes: what it kept out is erased by now */
        for (count = 0; count + 1U < most; count++) {
            memcpy(entry(hybrid, count), entry(hybrid, (uint16_t)(count + 1U)), ENTRY_BYTES);
        }
    }
    uint8_t *to = entry(hybrid, count);
    nw_tag_put40(to, first);
    to[5] = (uint8_t)(copies | ((width >> 32) << 1));
    nw_put32(to + 6, (uint32_t)(width & 0xFFFFFFFFUL));
    nw_put16(hybrid->buffer + COUNT_AT, (uint16_t)(count + 1U));
}

int nw_hybrid_make_record(struct nw_hybrid *hybrid, uint64_t first, uint8_t copies)
{
    int result = NW_OK;

    if (hybrid->records > 0) {
        result = load(hybrid, hybrid->record[0].at);
    } else {
        memset(hybrid->buffer, 0, hybrid->page_bytes);
    }
    if (result == NW_OK) {
        put_shape(hybrid, hybrid->buffer); /* the degree may have grown */
        add_entry(hybrid, first, copies);
    }
    return result;
}

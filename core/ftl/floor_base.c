/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A mount's choice. All heads are looked at; of the blocks with the highest versions the first one
 * that counts is the base (R2):
 *
 *   session block   a page of its version follows its second root
 *   mount block     an END shows, and the copy before it is whole. With its second END it counts
 *                   whether the copy can be read or not: that END shows that the copy was whole,
 *                   and a page may rot
 *
 * A page whose program a cut ended, or of a block whose erase it ended, may read differently each
 * time. What is chosen has to be right for one answer of each such page. So where a page answers
 * differently the second time its block does not count: that is what it looks like when its END
 * cannot be read (R3).
 */
#include "floor.h"

#include <stddef.h>

#define CANDIDATES 10U /* a session block, one for each block of the list, and the base behind */
#define LAST (CANDIDATES - 1U)
#define MOST_VERSION 0xFFFFF00000ULL
#define FAR 0x100000U
#define FOREIGN 0x8000000000000000ULL /* with a version: another kind's head */

struct heads {
    uint64_t version[CANDIDATES]; /* newest first */
    uint16_t block[CANDIDATES];
    uint8_t count;
};

static int tag_of(struct nw_floor *floor, uint32_t page)
{
    return nw_tagged_read(&floor->tagged, page, 0, NULL);
}

static uint64_t version_of(uint64_t head)
{
    return head & ~FOREIGN;
}

/* A head: the newest few are kept, the newest one first. */
static void note(struct heads *heads, uint16_t block, uint64_t version)
{
    uint8_t at = heads->count < CANDIDATES ? heads->count : (uint8_t)LAST;

    while (at > 0 && version_of(heads->version[at - 1U]) < version_of(version)) {
        heads->version[at] = heads->version[at - 1U];
        heads->block[at] = heads->block[at - 1U];
        at--;
    }
    heads->version[at] = version;
    heads->block[at] = block;
    heads->count = (uint8_t)(heads->count + (heads->count < CANDIDATES ? 1U : 0U));
}

int nw_floor_load_copy(struct nw_floor *floor, const struct nw_floor_base *base)
{
    uint16_t length = floor->payload ? floor->page_bytes : (uint16_t)0;
    int state = nw_tagged_read(&floor->tagged, base->copy, length,
                               length != 0 ? floor->buffer : NULL);
    const struct nw_tag *tag = &floor->tagged.tag;

    if (state != NW_TAG_GOOD || tag->version != base->version ||
        (tag->word & (NW_FLOOR_OWN | NW_FLOOR_TWICE)) != 0) {
        return state < 0 ? state : 0;
    }
    return (tag->word & (uint32_t)NW_FLOOR_DAMAGED) != 0 || length == 0 ||
           tag->crc == nw_tag_sum(floor->buffer, length);
}

int nw_floor_load(struct nw_floor *floor, uint32_t page, uint64_t version)
{
    const struct nw_tag *tag = &floor->tagged.tag;
    int state = tag_of(floor, page); /* data may be read of pages alone that are written */

    if (state == NW_TAG_GOOD) {
        state = nw_tagged_read(&floor->tagged, page, floor->page_bytes, floor->buffer);
    }
    return state < 0 ? state
                     : state == NW_TAG_GOOD && tag->version == version &&
                           tag->crc == nw_tag_sum(floor->buffer, floor->page_bytes);
}

/* Is it one of ours? What a cut leaves fits the check of a tag once in 65,536 times, but not the
 * checksum of a page: that is asked where the version is far off. */
static int is_head(struct nw_floor *floor, uint32_t page)
{
    struct nw_tag tag = floor->tagged.tag;

    if ((tag.word & (uint32_t)NW_FLOOR_OWN) == 0 || tag.version <= floor->version + FAR) {
        return (tag.word & (uint32_t)NW_FLOOR_OWN) != 0;
    }
    int result = nw_floor_load(floor, page, tag.version);

    floor->tagged.tag = tag;
    return result;
}

/* Does one of a block's first two pages show a root? 1; 0 when both are blank; 2: a suspect, whose
 * erase or first program a cut ended; or an error. */
static int look_at_head(struct nw_floor *floor, uint32_t page)
{
    int blank = 1;

    for (uint8_t i = 0; i < NW_FLOOR_ROOTS; i++) {
        int state = tag_of(floor, page + i);
        int is = state == NW_TAG_GOOD ? is_head(floor, page + i) : 0;

        if (state < 0 || is != 0) {
            return state < 0 ? state : is;
        }
        blank &= state == NW_TAG_BLANK;
    }
    return blank ? 0 : 2;
}

/* What a bad block shows is no candidate and no suspect, but versions grow above it. */
static int look_at_heads(struct nw_floor *floor, struct nw_floor_base *base, struct heads *heads)
{
    heads->count = 0;
    base->suspects = 0;
    for (uint16_t block = 0; block < floor->blocks; block++) {
        int state = look_at_head(floor, (uint32_t)block * floor->block_pages);
        struct nw_tag tag = floor->tagged.tag;
        int bad = 1;

        if (state == 1 && tag.version > floor->version && tag.version <= MOST_VERSION) {
            floor->version = tag.version;
        }
        if (state == 2 || (state == 1 && (heads->count < CANDIDATES ||
                                          tag.version > version_of(heads->version[LAST])))) {
            floor->tagged.req.block = block;
            bad = nw_chip_is_bad(&floor->tagged.req);
        }
        if (state < 0 || bad < 0) {
            return state < 0 ? state : bad;
        }
        floor->counts[block] = state == 2 && !bad ? (uint8_t)NW_FLOOR_OUT : (uint8_t)0;
        base->suspects |= floor->counts[block];
        if (state == 1 && !bad) {
            note(heads, block, tag.version | (tag.word != NW_FLOOR_ROOT ? FOREIGN : 0U));
        }
    }
    return NW_OK;
}

/* The blocks that the root or END in the buffer lists for mounts. 1, or 0: no such blocks. */
static int take_list(struct nw_floor *floor)
{
    const uint8_t *from = floor->buffer;

    floor->listed = from[NW_FLOOR_LISTED_AT];
    if (floor->listed > NW_FLOOR_LIST) {
        return 0;
    }
    for (uint8_t i = 0; i < floor->listed; i++) {
        floor->list[i] = nw_get16(from + NW_FLOOR_LIST_AT + 2U * i);
        if (floor->list[i] >= floor->blocks) {
            return 0;
        }
    }
    return 1;
}

/* Does the session block's root count? 1, 0, or an error. */
static int is_confirmed(struct nw_floor *floor, const struct nw_floor_base *base)
{
    for (uint16_t i = NW_FLOOR_ROOTS; i < floor->used_pages; i++) {
        int state = tag_of(floor, base->head + i);

        if (state < 0 || state == NW_TAG_BLANK) {
            return state < 0 ? state : 0;
        }
        if (state == NW_TAG_GOOD && floor->tagged.tag.version == base->version) {
            return 1;
        }
    }
    return 0;
}

/* An END of this number, whose tag was read last? It says whether a copy stands before it: that
 * page may look blank in a block whose erase was cut. */
static int is_end(const struct nw_floor *floor, struct nw_floor_base *base, uint32_t number)
{
    uint32_t word = floor->tagged.tag.word;

    base->copy = (word & NW_FLOOR_COPIED) != 0 ? base->head + NW_FLOOR_ROOTS : 0U;
    return (word & ~NW_FLOOR_COPIED) == NW_FLOOR_END + number &&
           floor->tagged.tag.version == base->version;
}

/* Does the mount block's root count? 1, 0, or an error. Of a second END what it lists is taken. */
static int has_ended(struct nw_floor *floor, struct nw_floor_base *base)
{
    uint32_t first = base->head + NW_FLOOR_ROOTS + 1U;
    int result = nw_floor_load(floor, first + 1U, base->version);

    if (result > 0 && is_end(floor, base, 1) && take_list(floor)) {
        base->proven = 1;
        base->sector = nw_get32(floor->buffer + NW_FLOOR_SECTORS_AT);
        return 1;
    }
    if (result >= 0) {
        result = tag_of(floor, first);
    }
    if (result < 0 || result != NW_TAG_GOOD || !is_end(floor, base, 0)) {
        return result < 0 ? result : 0;
    }
    return base->copy != 0 ? nw_floor_load_copy(floor, base) : 1;
}

/* Does this candidate count? 1, 0, or an error. */
static int counts(struct nw_floor *floor, struct nw_floor_base *base)
{
    base->copy = 0;
    base->sector = NW_FLOOR_NONE;
    base->proven = 0;
    if (base->version >= base->below) {
        return 0;
    }
    return (base->version & 1U) != 0 ? has_ended(floor, base) : is_confirmed(floor, base);
}

/* The root of a block to the buffer, by either copy: 1, 0, or an error. */
static int load_head(struct nw_floor *floor, const struct nw_floor_base *base)
{
    int result = nw_floor_load(floor, base->head, base->version);

    return result == 0 ? nw_floor_load(floor, base->head + 1U, base->version) : result;
}

/* The root of the base is in the buffer. What an END listed is good for a mount only where nothing
 * shows that another mount came later: else what the root lists, which is free for all of them. */
static int settle(struct nw_floor *floor, int trusts)
{
    const uint8_t *from = floor->buffer;

    if (nw_get16(from + NW_FLOOR_BLOCKS_AT) != floor->blocks ||
        nw_get16(from + NW_FLOOR_PAGES_AT) != floor->block_pages) {
        return NW_ERR_VERSION;
    }
    if ((!trusts && !take_list(floor)) || from[NW_FLOOR_FAILED_COUNT_AT] > NW_FLOOR_FAILED) {
        return NW_ERR_CORRUPT;
    }
    for (uint8_t i = 0; i < from[NW_FLOOR_FAILED_COUNT_AT]; i++) {
        uint16_t block = nw_get16(from + NW_FLOOR_FAILED_AT + 2U * i);

        if (block >= floor->blocks) {
            return NW_ERR_CORRUPT;
        }
        nw_floor_fail(floor, block);
    }
    return NW_OK;
}

int nw_floor_find(struct nw_floor *floor, struct nw_floor_base *base)
{
    struct heads heads;
    int lost = 0;
    int result = look_at_heads(floor, base, &heads);

    base->highest = heads.count != 0 ? heads.block[0] : (uint16_t)NW_FLOOR_NO_BLOCK;
    if (heads.count != 0 && version_of(heads.version[0]) > MOST_VERSION && result == NW_OK) {
        result = NW_ERR_CORRUPT; /* an image that nobody of us wrote */
    }
    for (uint8_t i = 0; i < heads.count && result == NW_OK; i++) {
        base->version = heads.version[i];
        base->head = (uint32_t)heads.block[i] * floor->block_pages;
        if ((base->version & FOREIGN) != 0) {
            return NW_ERR_NOT_FOUND;
        }
        int does = counts(floor, base);

        result = does < 0 ? does : load_head(floor, base);
        if (result < 0) {
            return result;
        }
        if (result > 0 && nw_get32(floor->buffer + NW_FLOOR_MAGIC_AT) != floor->map->magic) {
            return NW_ERR_NOT_FOUND;
        }
        if (does != 0 && result > 0) {
            return settle(floor, base->proven && i == 0 && !base->suspects);
        }
        if (does != 0 && (base->version & 1U) == 0 && i == 0) {
            return NW_ERR_CORRUPT; /* the newest block is never erased */
        }
        lost |= does;
        result = NW_OK;
    }
    return result < 0 ? result : lost ? (int)NW_ERR_CORRUPT : (int)NW_ERR_NOT_FOUND;
}

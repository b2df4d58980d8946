/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A mount's choice. All heads are looked at; of the blocks with the highest versions the first one
 * that counts is the base (rule 1 of docs/floor-rules.md):
 *
 *   session block   a page of its version follows its second root
 *   mount block     an END shows, and the copy before it is whole. With its second END it counts
 *                   whether the copy can be read or not: that END shows that the copy was whole,
 *                   and a page may rot
 *
 * A page whose program a cut ended, or of a block whose erase it ended, may read differently each
 * time. What is chosen has to be right for one answer of each such page. So where a page answers
 * differently the second time its block is treated as one whose END cannot be read (rule 2).
 */
#include "floor.h"

#include <string.h>

#define CANDIDATES 10U /* a session block, one for each of the list, the base behind, and two */
#define LAST (CANDIDATES - 1U)
#define PLACE (NW_FLOOR_STRETCH - 1U) /* in a version: how manieth block of the stretch */
#define MOST_VERSION 0xFFFFF00000ULL
#define FAR 0x100000U
#define KIND 0xFFFFFFU /* of a root's magic: the rest is the format */

struct head {
    uint64_t version;
    uint16_t block;
    uint8_t foreign; /* another kind's */
};

struct heads {
    struct head at[CANDIDATES]; /* newest first; version 0: no more */
    uint64_t version; /* of the newest stretch that has more blocks than one: those */
    uint16_t next[NW_FLOOR_STRETCH];
};

/* The head whose tag was read last: the newest few are kept, the newest one first. */
static void note(struct heads *heads, unsigned block, const struct nw_tag *tag)
{
    unsigned at = LAST;

    for (; at > 0 && heads->at[at - 1U].version < tag->version; at--) {
        heads->at[at] = heads->at[at - 1U];
    }
    heads->at[at] = (struct head){tag->version, (uint16_t)block, tag->word != NW_FLOOR_ROOT};
}

/* A block that goes on with a stretch and whose tag was read last. What a newer one has makes older
 * ones void: none is erased before a root counts that is above it. */
static void note_next(struct heads *heads, unsigned block, uint64_t version)
{
    unsigned at = (unsigned)version & PLACE;

    version -= at;
    if (version > heads->version) {
        heads->version = version;
        for (unsigned i = 0; i < NW_FLOOR_STRETCH; i++) {
            heads->next[i] = NW_FLOOR_NO_BLOCK;
        }
    }
    if (version == heads->version) {
        heads->next[at] = (uint16_t)block;
    }
}

uint32_t nw_floor_page(const struct nw_floor *floor, const struct nw_floor_base *base,
                       uint32_t at)
{
    return (uint32_t)base->block[at / floor->used_pages] * floor->block_pages +
           at % floor->used_pages;
}

/* Is the tag that was read last of the base's version there? */
static int is_own(const struct nw_floor *floor, const struct nw_floor_base *base, uint32_t at)
{
    return floor->tagged.tag.version == base->version + at / floor->used_pages;
}

int nw_floor_word(struct nw_floor *floor, const struct nw_floor_base *base, uint32_t at,
                  uint32_t *word)
{
    int state = nw_floor_tag(floor, nw_floor_page(floor, base, at));

    *word = state == NW_TAG_GOOD && is_own(floor, base, at) ? floor->tagged.tag.word
                                                            : (uint32_t)NW_FLOOR_NONE;
    return state;
}

int nw_floor_load_copy(struct nw_floor *floor, const struct nw_floor_base *base)
{
    int state = nw_floor_read(floor, nw_floor_page(floor, base, base->copy),
                              floor->payload ? floor->buffer : NULL);
    uint32_t word = floor->tagged.tag.word;

    if (state < NW_TAG_GOOD || !is_own(floor, base, base->copy) ||
        (word & (NW_FLOOR_OWN | NW_FLOOR_TWICE)) != 0) {
        return state < 0 ? state : 0;
    }
    return state == NW_FLOOR_WHOLE || (word & NW_FLOOR_DAMAGED) != 0;
}

/* A page to the buffer: 1 if it is whole, 0, or an error. */
static int load(struct nw_floor *floor, uint32_t page)
{
    int state = nw_floor_tag(floor, page); /* data may be read of pages alone that are written */

    if (state == NW_TAG_GOOD) {
        state = nw_floor_read(floor, page, floor->buffer);
    }
    return state < 0 ? state : state == NW_FLOOR_WHOLE;
}

int nw_floor_load_at(struct nw_floor *floor, const struct nw_floor_base *base, uint32_t at)
{
    int result = load(floor, nw_floor_page(floor, base, at));

    return result > 0 ? is_own(floor, base, at) : result;
}

/* Does its block go on with a stretch? */
static int goes_on(const struct nw_tag *tag)
{
    return ((unsigned)tag->version & (NW_FLOOR_MOUNT | PLACE)) - 1U < PLACE;
}

/* Is it one of ours? What a cut leaves fits the check of a tag once in 65,536 times, but not the
 * checksum of a page: that is asked where the version is far off. */
static int is_head(struct nw_floor *floor, uint32_t page)
{
    const struct nw_tag *tag = &floor->tagged.tag;

    if ((tag->word & (uint32_t)NW_FLOOR_OWN) == 0 && !goes_on(tag)) {
        return 0;
    }
    return tag->version > floor->version + FAR ? load(floor, page) : 1;
}

/* Does one of a block's first two pages show a root, or that it goes on? 1; 0 when both are blank;
 * 2: a suspect, whose erase or first program a cut ended; or an error. */
static int look_at_head(struct nw_floor *floor, uint32_t page)
{
    int blank = 1;

    for (unsigned i = 0; i < NW_FLOOR_ROOTS; i++) {
        int state = nw_floor_tag(floor, page + i);
        int is = state == NW_TAG_GOOD ? is_head(floor, page + i) : 0;

        if (state < 0 || is != 0) {
            return state < 0 ? state : is;
        }
        blank &= state == NW_TAG_BLANK;
    }
    return blank ? 0 : 2;
}

/* What a bad block shows is no candidate and no suspect, but versions grow above it. */
NW_FLOOR_APART int look_at_heads(struct nw_floor *floor, struct heads *heads)
{
    const struct nw_tag *tag = &floor->tagged.tag;

    memset(heads, 0, sizeof *heads);
    for (unsigned block = 0; block < floor->blocks; block++) {
        floor->counts[block] = 0;
        int state = look_at_head(floor, (uint32_t)block * floor->block_pages);

        if (state == 1 && tag->version > floor->version) {
            floor->version = tag->version;
        }
        if (state == 0 || (state == 1 && tag->version <= heads->at[LAST].version)) {
            continue;
        }
        int bad = state < 0 ? state : nw_floor_is_bad(floor, block);

        if (bad < 0) {
            return bad;
        }
        if (!bad && state == 1 && goes_on(tag)) {
            note_next(heads, block, tag->version);
        } else if (!bad && state == 1) {
            note(heads, block, tag);
        } else if (!bad) {
            floor->counts[block] = NW_FLOOR_OUT;
        }
    }
    return NW_OK;
}

int nw_floor_take_list(struct nw_floor *floor)
{
    const uint8_t *from = floor->buffer;

    floor->listed = from[NW_FLOOR_LISTED_AT];
    if (floor->listed > NW_FLOOR_LIST) {
        return 0;
    }
    for (unsigned i = 0; i < floor->listed; i++) {
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
    uint32_t word = NW_FLOOR_NONE;
    int state = NW_TAG_LOST;

    for (unsigned i = NW_FLOOR_ROOTS;
         i < floor->used_pages && state > NW_TAG_BLANK && word == NW_FLOOR_NONE; i++) {
        state = nw_floor_word(floor, base, i, &word);
    }
    return state < 0 ? state : word != NW_FLOOR_NONE;
}

/* An END of this number? It says whether a copy stands before it: that page may look blank in a
 * block whose erase was cut. */
static int is_end(struct nw_floor_base *base, uint32_t word, uint32_t number)
{
    base->copy = (word & NW_FLOOR_COPIED) != 0 ? NW_FLOOR_ROOTS : 0U;
    return (word & ~NW_FLOOR_COPIED) == NW_FLOOR_END + number;
}

/* Does the mount block's root count? 1, 0, or an error. Of a second END what it lists is taken. */
static int has_ended(struct nw_floor *floor, struct nw_floor_base *base)
{
    uint32_t first = NW_FLOOR_ROOTS + 1U;
    uint32_t word;
    int result = nw_floor_load_at(floor, base, first + 1U);

    if (result > 0 && is_end(base, floor->tagged.tag.word, 1) && nw_floor_take_list(floor)) {
        base->proven = 1;
        base->sector = nw_get32(floor->buffer + NW_FLOOR_SECTORS_AT);
        return 1;
    }
    if (result >= 0) {
        result = nw_floor_word(floor, base, first, &word);
    }
    if (result < 0 || !is_end(base, word, 0)) {
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
    return (base->version & NW_FLOOR_MOUNT) != 0 ? has_ended(floor, base)
                                                 : is_confirmed(floor, base);
}

int nw_floor_load_root(struct nw_floor *floor, const struct nw_floor_base *base, uint32_t at)
{
    int result = nw_floor_load_at(floor, base, at);

    return result == 0 ? nw_floor_load_at(floor, base, at + 1U) : result;
}

/* The blocks that go on with the base's stretch. NW_ERR_CORRUPT: one is missing. */
static int take_next(struct nw_floor_base *base, const struct heads *heads)
{
    for (unsigned i = 1; base->version == heads->version && i < NW_FLOOR_STRETCH; i++) {
        if (heads->next[i] != NW_FLOOR_NO_BLOCK) {
            if (base->blocks != i) {
                return NW_ERR_CORRUPT;
            }
            base->block[i] = heads->next[i];
            base->blocks++;
        }
    }
    return NW_OK;
}

/* The first root of the base is in the buffer. Behind a second END that shows its list is good for
 * each mount, whatever newer blocks show: a session leaves that list alone, so none of its blocks
 * is taken while it may count again. It may take one of those that the root lists. Behind any other
 * base the root's list is taken; restore() takes that of the newest root of a session's block. */
static int settle(struct nw_floor *floor, int is_proven)
{
    const uint8_t *from = floor->buffer;

    if (nw_get16(from + NW_FLOOR_BLOCKS_AT) != floor->blocks ||
        nw_get16(from + NW_FLOOR_PAGES_AT) != floor->block_pages) {
        return NW_ERR_VERSION;
    }
    if ((!is_proven && !nw_floor_take_list(floor)) ||
        from[NW_FLOOR_FAILED_COUNT_AT] > NW_FLOOR_FAILED) {
        return NW_ERR_CORRUPT;
    }
    for (unsigned i = 0; i < from[NW_FLOOR_FAILED_COUNT_AT]; i++) {
        uint16_t block = nw_get16(from + NW_FLOOR_FAILED_AT + 2U * i);

        if (block >= floor->blocks) {
            return NW_ERR_CORRUPT;
        }
        int bad = nw_floor_is_bad(floor, block); /* marked since that root was written */

        if (bad < 0) {
            return bad;
        }
        if (!bad) {
            nw_floor_fail(floor, block);
        }
    }
    return NW_OK;
}

int nw_floor_find(struct nw_floor *floor, struct nw_floor_base *base)
{
    struct heads heads;
    int lost = 0;
    int result = look_at_heads(floor, &heads);

    if (floor->version > MOST_VERSION && result == NW_OK) {
        result = NW_ERR_CORRUPT; /* an image that nobody of us wrote */
    }
    for (unsigned i = 0; i < CANDIDATES && heads.at[i].version != 0 && result == NW_OK; i++) {
        base->version = heads.at[i].version;
        base->block[0] = heads.at[i].block;
        base->blocks = 1;
        if (heads.at[i].foreign) {
            return NW_ERR_NOT_FOUND;
        }
        int does = counts(floor, base);

        result = does < 0 ? does : nw_floor_load_root(floor, base, 0);
        if (result < 0) {
            return result;
        }
        uint32_t differs = nw_get32(floor->buffer + NW_FLOOR_MAGIC_AT) ^ floor->map->magic;

        if (result > 0 && differs != 0) {
            return (differs & KIND) != 0 ? (int)NW_ERR_NOT_FOUND : (int)NW_ERR_VERSION;
        }
        if (does != 0 && result > 0) {
            result = settle(floor, base->proven);
            return result == NW_OK ? take_next(base, &heads) : result;
        }
        if (does != 0 && (base->version & NW_FLOOR_MOUNT) == 0 && i == 0) {
            return NW_ERR_CORRUPT; /* neither copy of its root can be read */
        }
        lost |= does;
        result = NW_OK;
    }
    return result < 0 ? result : lost ? (int)NW_ERR_CORRUPT : (int)NW_ERR_NOT_FOUND;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A mount: what stands behind the base's root, then a block of its own. Until that block has an END
 * the mount has left nothing that counts, and what it erased nobody reaches. Its root tells all but
 * the base's last page, which may be torn: that is read once and copied, if it is whole. So the
 * block refers to nothing that may read differently tomorrow, and to nothing in another mount's
 * block (rule 2).
 */
#include <string.h>

#include "floor.h"

#define SECOND_END (NW_FLOOR_ROOTS + 2U) /* page of a mount block */
#define KEEP 2U /* free blocks that a mount does not list, at most: the session's next ones */

static int is_node(uint32_t word)
{
    return (word & NW_FLOOR_OWN) == 0 && (word & NW_FLOOR_TWICE) != 0;
}

/* A page that another one follows, and the word before it; NW_FLOOR_NONE: it cannot be read. A node
 * counts when its second copy is followed. */
static int replay(struct nw_floor *floor, uint32_t page, uint32_t word, uint32_t before)
{
    if (word == NW_FLOOR_NONE) {
        floor->tagged.stats->lost++;
        word = is_node(before) ? before ^ (uint32_t)NW_FLOOR_SECOND : word;
    }
    if (is_node(word)) {
        if ((word & NW_FLOOR_SECOND) == 0) {
            return NW_OK;
        }
        page--;
    }
    return (word & NW_FLOOR_OWN) == 0
               ? floor->map->replay(floor, page, word & ~(uint32_t)NW_FLOOR_SECOND)
               : (int)NW_OK;
}

/* The last root of a stretch that another page follows, else the one at its head; and its last
 * page. A block that goes on may be half erased, with its first page torn: that one is the last
 * unless another shows. A last page that is a root counts only as a second copy whose first has
 * rotted, and is whole: 1, that root is in the buffer. Else 0, or an error. */
static int last_root(struct nw_floor *floor, const struct nw_floor_base *base, uint32_t *root,
                     uint32_t *last)
{
    uint32_t end = (uint32_t)base->blocks * floor->used_pages;
    uint32_t begin = end - floor->used_pages; /* of the last block */
    uint32_t first = 0; /* copy of the root that was met last */
    uint32_t shown = 0;
    uint32_t before = NW_FLOOR_ROOT;
    uint32_t word = NW_FLOOR_ROOT;

    *root = 0;
    for (uint32_t at = NW_FLOOR_ROOTS; at < end; at++) {
        uint32_t next;
        int state = nw_floor_word(floor, base, at, &next);

        if (state < 0) {
            return state;
        }
        if (state == NW_TAG_BLANK) { /* the rest of this block */
            at += floor->used_pages - 1U - at % floor->used_pages;
            continue;
        }
        before = word;
        word = next;
        if (word != NW_FLOOR_NONE || nw_floor_page(floor, base, at) == floor->sure) {
            shown = at;
        }
        *root = first;
        *last = at;
        if (word == NW_FLOOR_ROOT && at != first + 1U) {
            first = at;
        }
    }
    if (begin != 0 && shown <= begin && *last > begin) {
        *last = begin;
    }
    int is_root = first == *last && before == NW_FLOOR_NONE ? nw_floor_load_at(floor, base, first)
                                                            : 0;

    *root = is_root > 0 ? first : *root;
    return is_root;
}


/* A page of the stretch. The last one is the torn tail: it may hold a sector. A node there counts
 * only where this session wrote it. */
static int take_page(struct nw_floor *floor, struct nw_floor_base *base, uint32_t at, int is_last,
                     uint32_t word, uint32_t before)
{
    uint32_t page = nw_floor_page(floor, base, at);

    if (!is_last || (is_node(word) && page == floor->sure)) {
        return replay(floor, page, word, before);
    }
    if (word == NW_FLOOR_NONE || (word & (NW_FLOOR_OWN | NW_FLOOR_TWICE)) == 0) {
        base->copy = at;
    }
    return NW_OK;
}

/* What stands behind the last root of a stretch, up to its last page. A page says what the one
 * before it holds, should that have rotted. */
static int replay_all(struct nw_floor *floor, struct nw_floor_base *base, uint32_t root,
                      uint32_t last)
{
    const struct nw_tagged *tagged = &floor->tagged;
    uint32_t before = NW_FLOOR_ROOT;
    uint32_t behind = 0; /* the page before */
    uint32_t word;
    int result = NW_OK;

    for (uint32_t at = root + 1U + (root == 0); at <= last && result >= 0; at++) {
        result = nw_floor_word(floor, base, at, &word);
        if (result == NW_TAG_BLANK) {
            continue;
        }
        if (result >= 0 && word != NW_FLOOR_NONE && before == NW_FLOOR_NONE &&
            tagged->tag.erases != NW_TAG_UNTOLD) {
            result = floor->map->replay(floor, behind, tagged->tag.erases);
        }
        if (result >= 0) {
            result = take_page(floor, base, at, at == last, word, before);
        }
        before = word;
        behind = nw_floor_page(floor, base, at);
    }
    return result;
}

/* What the base holds, to RAM; a mount block's root is in the buffer. */
NW_FLOOR_APART int restore(struct nw_floor *floor, struct nw_floor_base *base)
{
    uint32_t root = 0;
    uint32_t last = 0; /* a mount block says all in its root */
    int result = NW_OK;

    if ((base->version & NW_FLOOR_MOUNT) == 0) {
        result = last_root(floor, base, &root, &last);
        if (result == 0) {
            result = nw_floor_load_root(floor, base, root);
        }
        if (result >= 0 && (result == 0 || !nw_floor_take_list(floor))) {
            result = NW_ERR_CORRUPT;
        }
    }
    if (result >= 0) {
        result = floor->map->adopt(floor, nw_floor_page(floor, base, root));
    }
    if (result >= 0) {
        result = replay_all(floor, base, root, last);
    }
    return result < 0 ? result : (int)NW_OK;
}

/* The base's last page to the buffer, and its word: 1; 0: it holds nothing; or an error. Where a
 * page that is no torn tail cannot be read its content is lost: one of this session, or of a mount
 * block that a second END proves. */
static int load_last(struct nw_floor *floor, const struct nw_floor_base *base, uint32_t *word)
{
    int result = base->copy != 0 ? nw_floor_load_copy(floor, base) : 0;

    *word = floor->tagged.tag.word;
    if (result == 0 && base->copy != 0) {
        int is_sure = nw_floor_page(floor, base, base->copy) == floor->sure;
        uint32_t sector = is_sure ? floor->sure_sector : base->sector;

        *word = sector | NW_FLOOR_DAMAGED;
        result = sector != NW_FLOOR_NONE;
    }
    return result;
}

/* A mount block that is not proven: its mount was cut and has shown nothing, or its second END has
 * rotted. */
static int is_open(const struct nw_floor_base *base)
{
    return (base->version & NW_FLOOR_MOUNT) != 0 && !base->proven;
}

/* The copy of a mount block that is not proven was whole when the block was chosen: where it cannot
 * be read now (`loaded`) the block is half erased. 1: the mount begins anew without it. */
static int give_up(struct nw_floor_base *base, int loaded)
{
    int is_gone = loaded == 0 && base->copy != 0 && is_open(base);

    if (is_gone) {
        base->below = base->version;
    }
    return is_gone;
}

/* A mount block whose second END is blank has shown nothing, and no mount ever took its blocks from
 * what it lists. So the base below is whole: 1, the mount begins anew with that one. 0, or an
 * error. */
static int pass_over(struct nw_floor *floor, struct nw_floor_base *base)
{
    int tag = is_open(base) ? nw_floor_tag(floor, nw_floor_page(floor, base, SECOND_END))
                            : (int)NW_TAG_GOOD;

    if (tag == NW_TAG_BLANK) {
        base->below = base->version;
        return 1;
    }
    return tag < 0 ? tag : 0;
}

/* The pages that are reached, of each block, by a look at the whole map. RAM learns on the way
 * where nodes are. */
static int recount(struct nw_floor *floor)
{
    memset(floor->counts, 0, floor->blocks);
    if (floor->live != NULL) {
        memset(floor->live, 0, nw_floor_live_bytes(floor));
    }
    return floor->map->count(floor);
}

/* Without writing. What is read now is read again for a whole session, so all of it has to be
 * stable:
 *   a mount block that may be half erased is passed over
 *   the copy in a mount block is what its sector holds
 *   a torn tail stands beside the map, which keeps the sector's old place. That is whole: no root
 *   that counts says that it is free. The tail goes before, at each read that finds it whole */
static int show(struct nw_floor *floor, struct nw_floor_base *base)
{
    uint32_t word;
    int result = load_last(floor, base, &word);
    uint32_t page = nw_floor_page(floor, base, base->copy);
    int passes = give_up(base, result) ? 1 : pass_over(floor, base);

    if (passes != 0) {
        return passes;
    }
    floor->left = 0;
    floor->listed = 0;
    floor->next = page;
    floor->before = NW_FLOOR_NONE;
    if ((base->version & NW_FLOOR_MOUNT) == 0 && (word & (uint32_t)NW_FLOOR_DAMAGED) == 0) {
        page = NW_FLOOR_NONE;
    }
    if (result > 0 && floor->map->moved(floor, word & ~(uint32_t)NW_FLOOR_DAMAGED, page)) {
        floor->before = word | NW_FLOOR_OWN;
    }
    if (result >= 0) {
        result = recount(floor);
    }
    /* Of a node that cannot be read each read of what is under it says so. */
    return result == NW_ERR_ECC || result == NW_ERR_CORRUPT || result > 0 ? (int)NW_OK : result;
}

/* Blocks whose first two pages tell nothing: what a cut has left there may be a root tomorrow. */
static int erase_suspects(struct nw_floor *floor)
{
    int result = NW_OK;

    for (unsigned block = 0; block < floor->blocks && result >= 0; block++) {
        if (floor->counts[block] != 0) {
            result = nw_floor_clear(floor, block);
        }
    }
    return result < 0 ? result : (int)NW_OK;
}

/* Which blocks are free. */
static int count(struct nw_floor *floor)
{
    int result = recount(floor);

    floor->free = 0;
    floor->empty = 0;
    floor->ahead = NW_FLOOR_NO_BLOCK;
    for (unsigned block = 0; block < floor->blocks && result >= 0; block++) {
        if (floor->counts[block] == 0 && block != floor->current) {
            result = nw_floor_is_bad(floor, block);
            if (result == 0 && nw_floor_is_failed(floor, block)) {
                continue;
            }
            floor->counts[block] = result == 0 ? (uint8_t)NW_FLOOR_FREE : (uint8_t)NW_FLOOR_OUT;
            floor->free = (uint16_t)(floor->free + (result == 0));
        }
    }
    return result < 0 ? result : (int)NW_OK;
}

/* A block of the list that is not the base, erased; it goes to the end of the list. The base goes
 * from it: none of the mounts to come before the next END may take what another one may have built
 * upon. So does a block that has failed and is not marked. */
static int take(struct nw_floor *floor, const struct nw_floor_base *base)
{
    uint16_t own = base->block[0];
    uint8_t listed = floor->listed;
    int result = 0;

    floor->listed = 0;
    for (unsigned i = 0; i < listed && result >= 0; i++) {
        uint16_t block = floor->list[i];

        if (block == own || nw_floor_is_failed(floor, block)) {
            continue;
        }
        if (result == 0) {
            floor->current = block;
            result = nw_floor_clear(floor, block);
        } else {
            floor->list[floor->listed++] = block;
        }
    }
    if (result > 0) {
        floor->list[floor->listed++] = floor->current;
    }
    return result < 0 ? result : result > 0 ? (int)NW_OK : (int)NW_ERR_FULL;
}

/* Where the mount's own block has the copy. */
static uint32_t copy_page(const struct nw_floor *floor)
{
    return (uint32_t)floor->current * floor->block_pages + NW_FLOOR_ROOTS;
}

/* The copy of the last page. 1: the mount begins anew. */
static int copy_last(struct nw_floor *floor, struct nw_floor_base *base)
{
    uint32_t word;
    int result = load_last(floor, base, &word);

    if (give_up(base, result)) {
        return 1;
    }
    base->sector = word & ~(uint32_t)NW_FLOOR_DAMAGED;
    if (result > 0 && floor->map->moved(floor, base->sector, floor->next)) {
        return nw_floor_program(floor, word, floor->buffer);
    }
    base->sector = NW_FLOOR_NONE;
    return result < 0 ? result : (int)NW_OK;
}

/* Both ENDs. They list blocks that are free now, half of them or more; the session has nothing to
 * erase before. */
static int end(struct nw_floor *floor, const struct nw_floor_base *base)
{
    uint16_t keep = floor->free / 2U < KEEP ? (uint16_t)(floor->free / 2U) : (uint16_t)KEEP;
    uint32_t copied = base->sector != NW_FLOOR_NONE ? NW_FLOOR_COPIED : 0U;

    floor->hand = floor->current;
    floor->listed = 0;
    nw_floor_fill_list(floor, keep);
    memset(floor->buffer, 0, floor->page_bytes);
    nw_put32(floor->buffer + NW_FLOOR_SECTORS_AT, base->sector);
    nw_floor_put_list(floor);
    floor->next = copy_page(floor) + 1U;
    return nw_floor_program_twice(floor, copied | (uint32_t)NW_FLOOR_END, 1);
}

/* The mount's own block. */
NW_FLOOR_APART int write_block(struct nw_floor *floor, struct nw_floor_base *base)
{
    int result = erase_suspects(floor);

    if (result == NW_OK && base->version == 0) { /* a format: what is not bad is free */
        result = count(floor);
        nw_floor_fill_list(floor, 0);
    }
    if (result == NW_OK) {
        result = take(floor, base);
    }
    if (result == NW_ERR_FULL) {
        int passes = pass_over(floor, base);

        return passes != 0 ? passes : result;
    }
    if (result != NW_OK) {
        return result;
    }
    nw_floor_begin(floor, ((floor->version | (NW_FLOOR_MOUNT - 1U)) + 1U) | NW_FLOOR_MOUNT);
    floor->mounting = 1;
    result = floor->map->build(floor);
    if (result == NW_OK) {
        result = nw_floor_put_root(floor);
    }
    if (result == NW_OK) {
        result = copy_last(floor, base);
    }
    if (result == NW_OK) {
        result = count(floor);
    }
    if (result == NW_OK) {
        result = end(floor, base);
    }
    if (result == NW_OK) {
        floor->map->confirmed(floor);
        if (base->sector != NW_FLOOR_NONE) {
            (void)floor->map->moved(floor, base->sector, copy_page(floor));
        }
        floor->sure = 0;
        result = nw_floor_retire_failed(floor); /* the base may be one */
    }
    floor->mounting = 0;
    floor->left = 0;
    return result;
}

/* A format where no device of this kind is: each good block is a suspect, for nothing may show that
 * is older. */
static int wipe(struct nw_floor *floor, struct nw_floor_base *base)
{
    floor->current = NW_FLOOR_NO_BLOCK;
    floor->listed = 0;
    floor->failed_count = 0;
    floor->version = 0;
    base->version = 0;
    base->block[0] = NW_FLOOR_NO_BLOCK;
    memset(floor->counts, NW_FLOOR_OUT, floor->blocks);
    return NW_OK;
}

static int attempt(struct nw_floor *floor, struct nw_floor_base *base, enum nw_floor_how how)
{
    floor->stale = 1;
    floor->must_mount = 0;
    floor->unconfirmed = 0;
    int result = nw_floor_find(floor, base);

    if (how == NW_FLOOR_FORMAT) { /* a device of this kind: its last mount, with an empty root */
        base->copy = 0;
        result = result == NW_ERR_NOT_FOUND || result == NW_ERR_VERSION ||
                         result == NW_ERR_CORRUPT
                     ? wipe(floor, base)
                     : result;
    } else if (result == NW_OK) {
        result = restore(floor, base);
    }
    if (result == NW_OK && how != NW_FLOOR_SHOW) {
        result = write_block(floor, base);
        if (how != NW_FLOOR_WRITE || (result != NW_ERR_FULL && result != NW_ERR_ECC &&
                                      result != NW_ERR_CORRUPT)) {
            floor->broken = NW_OK;
            return result;
        }
        floor->broken = (int8_t)result; /* it can be read, no more: no block, or damage */
        result = NW_OK;
    }
    return result == NW_OK ? show(floor, base) : result;
}

int nw_floor_mount(struct nw_floor *floor, enum nw_floor_how how)
{
    struct nw_floor_base base = {.below = UINT64_MAX};
    uint8_t failures = 0;
    int result;

    do {
        result = attempt(floor, &base, how);
    } while (result > 0 || (result == NW_ERR_PROGRAM && failures++ == 0));
    floor->stale = result != NW_OK;
    floor->must_mount = how == NW_FLOOR_SHOW || result != NW_OK;
    return result;
}

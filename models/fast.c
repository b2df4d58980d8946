/* SPDX-License-Identifier: Apache-2.0 */
/* FAST: log blocks that all logical blocks share, beside chains whose second block is the
 * sequential log block. What is put in a chain is newer than the entry of its sector. */
#include <string.h>

#include "chain.h"

#define NONE NW_NO_BLOCK

void nw_fast_place(struct nw_chain *chain, struct nw_ram *ram)
{
    struct nw_fast *fast = &chain->fast;
    size_t slots = (size_t)chain->log_blocks + NW_FAST_MORE;
    size_t entries = slots * chain->block_pages;

    fast->slots = (uint16_t)slots;
    fast->sector = NW_RAM_TAKE(ram, uint32_t, entries);
    fast->link = NW_RAM_TAKE(ram, uint16_t, entries);
    fast->head = NW_RAM_TAKE(ram, uint16_t, chain->units);
    fast->block = NW_RAM_TAKE(ram, uint16_t, slots);
    fast->valid = NW_RAM_TAKE(ram, uint16_t, slots);
}

void nw_fast_clear(struct nw_chain *chain)
{
    struct nw_fast *fast = &chain->fast;
    size_t entries = (size_t)fast->slots * chain->block_pages;

    memset(fast->sector, 0xFF, sizeof *fast->sector * entries);
    memset(fast->head, 0xFF, sizeof *fast->head * chain->units);
    memset(fast->block, 0xFF, sizeof *fast->block * fast->slots);
    memset(fast->valid, 0, sizeof *fast->valid * fast->slots);
    fast->count = 0;
    fast->open = NONE;
    fast->in_order = NONE;
}

/* Entries */

/* The link to a sector's entry, or to NONE at the end of its unit's. */
static uint16_t *link_to(const struct nw_chain *chain, uint32_t sector)
{
    const struct nw_fast *fast = &chain->fast;
    uint16_t *link = &fast->head[sector / chain->span];

    while (*link != NONE && fast->sector[*link] != sector) {
        link = &fast->link[*link];
    }
    return link;
}

static void forget(struct nw_chain *chain, uint32_t sector)
{
    struct nw_fast *fast = &chain->fast;
    uint16_t *link = link_to(chain, sector);
    uint16_t entry = *link;

    if (entry != NONE) {
        *link = fast->link[entry];
        fast->sector[entry] = NW_NO_PAGE;
        fast->valid[entry / chain->block_pages]--;
    }
}

static void enter(struct nw_chain *chain, uint16_t slot, uint16_t page, uint32_t sector)
{
    struct nw_fast *fast = &chain->fast;
    uint16_t entry = (uint16_t)(slot * chain->block_pages + page);
    uint16_t *head = &fast->head[sector / chain->span];

    fast->sector[entry] = sector;
    fast->link[entry] = *head;
    fast->valid[slot]++;
    *head = entry;
}

static int fast_find(struct nw_chain *chain, uint32_t sector, uint32_t *at)
{
    uint16_t entry = *link_to(chain, sector);

    if (entry == NONE) {
        return nw_chain_find(chain, sector, at);
    }
    *at = nw_chain_first(chain, chain->fast.block[entry / chain->block_pages]) +
          entry % chain->block_pages;
    return NW_OK;
}

/* Log blocks */

static uint16_t slot_of(const struct nw_chain *chain, uint16_t block)
{
    for (uint16_t slot = 0; slot < chain->fast.slots; slot++) {
        if (chain->fast.block[slot] == block) {
            return slot;
        }
    }
    return NONE;
}

/* Begin a log block. */
static int begin_log(struct nw_chain *chain)
{
    struct nw_fast *fast = &chain->fast;
    uint16_t slot = slot_of(chain, NONE);
    int32_t taken = slot != NONE ? nw_chain_take(chain, NW_WEAR_HOST) : (int32_t)NW_ERR_FULL;
    uint16_t block = (uint16_t)taken;

    if (taken < 0) {
        return (int)taken;
    }
    chain->owner[block] = chain->units;
    chain->older[block] = chain->newest[chain->units];
    chain->newest[chain->units] = block;
    fast->block[slot] = block;
    fast->count++;
    fast->open = slot;
    return NW_OK;
}

/* Let go of a log block without entries. */
static void end_log(struct nw_chain *chain, uint16_t slot)
{
    struct nw_fast *fast = &chain->fast;
    uint16_t block = fast->block[slot];
    uint16_t *from = &chain->newest[chain->units];

    while (*from != block) {
        from = &chain->older[*from];
    }
    *from = chain->older[block];
    fast->block[slot] = NONE;
    fast->count--;
    nw_chain_give(chain, block);
}

/* Append a sector to the open log block, beginning one if there is none. As nw_chain_put(). */
static int append(struct nw_chain *chain, const struct nw_chain_put *put)
{
    struct nw_fast *fast = &chain->fast;
    int failed = 0;

    for (;;) { /* every further turn has cost a block its life */
        int result = fast->open == NONE ? begin_log(chain) : (int)NW_OK;
        if (result < 0) {
            return result;
        }
        uint16_t slot = fast->open;
        uint16_t block = fast->block[slot];
        uint16_t page = chain->next[block];
        result = nw_chain_program(chain, nw_chain_first(chain, block) + page, put);
        if (result < 0 || page + 1U == chain->block_pages) {
            fast->open = NONE;
        }
        if (result == NW_OK) {
            chain->next[block]++;
            forget(chain, put->sector);
            enter(chain, slot, page, put->sector);
            return failed;
        }
        if (result != NW_ERR_PROGRAM) {
            return result;
        }
        chain->flags[block] |= NW_CHAIN_FAILED;
        failed = 1;
    }
}

/* Merges */

/* The chain of a unit, and of its entries those whose sector the chain holds too. */
static int fold(struct nw_chain *chain, uint16_t unit, int fresh)
{
    if (chain->fast.in_order == unit) {
        chain->fast.in_order = NONE;
    }
    return nw_chain_fold(chain, unit, fresh);
}

/* All of a unit to a fresh block, from wherever it is: none of its entries is left. */
static int merge_unit(struct nw_chain *chain, uint16_t unit)
{
    uint32_t first = (uint32_t)unit * chain->span;
    int result = nw_chain_extend(chain, unit, 0, unit);

    for (uint16_t i = 0; result >= 0 && i < chain->span; i++) {
        uint32_t at;

        result = fast_find(chain, first + i, &at);
        if (result == NW_OK && at != NW_NO_PAGE) {
            result = nw_chain_move(chain, first + i);
        }
    }
    if (result < 0) {
        return result;
    }
    (void)nw_chain_drop_stale(chain, unit);
    chain->stats->merges_full++;
    return fold(chain, unit, 0); /* when a program failed */
}

/* Merge what a log block holds the newest copy of, so many units at most, and give it back when
 * that was all. */
static int reclaim(struct nw_chain *chain, uint16_t slot, uint16_t most)
{
    struct nw_fast *fast = &chain->fast;

    fast->open = fast->open == slot ? (uint16_t)NONE : fast->open;
    for (uint16_t page = 0; page < chain->block_pages && fast->valid[slot] > 0 && most > 0;
         page++) {
        uint32_t sector = fast->sector[(size_t)slot * chain->block_pages + page];

        if (sector != NW_NO_PAGE) {
            int result = merge_unit(chain, (uint16_t)(sector / chain->span));
            if (result < 0) {
                return result;
            }
            most--;
        }
    }
    if (fast->valid[slot] == 0) {
        end_log(chain, slot);
    }
    return NW_OK;
}

static int reclaim_oldest(struct nw_chain *chain, uint16_t most)
{
    uint16_t block = chain->newest[chain->units];

    if (block == NONE) {
        return NW_ERR_FULL;
    }
    while (chain->older[block] != NONE) {
        block = chain->older[block];
    }
    return reclaim(chain, slot_of(chain, block), most);
}

/* A chain of several blocks first. A log block is won by as many steps as units have sectors in
 * it. */
static int fast_merge(struct nw_chain *chain, int step)
{
    uint16_t unit = nw_chain_longest(chain, 2);

    return unit != NONE ? fold(chain, unit, 0)
                        : reclaim_oldest(chain, step ? 1U : chain->block_pages);
}

static int fast_evict(struct nw_chain *chain, uint16_t block)
{
    uint16_t unit = chain->owner[block];

    return unit == chain->units ? reclaim(chain, slot_of(chain, block), chain->block_pages)
                                : fold(chain, unit, 1);
}

/* Writes */

/* To the log blocks that all share. */
static int write_shared(struct nw_chain *chain, const struct nw_chain_put *put)
{
    struct nw_fast *fast = &chain->fast;
    int result = NW_OK;

    while (result == NW_OK && fast->open == NONE && fast->count >= chain->log_blocks) {
        result = reclaim_oldest(chain, chain->block_pages);
    }
    if (result == NW_OK && fast->open == NONE) {
        result = nw_chain_make_room(chain);
    }
    result = result == NW_OK ? append(chain, put) : result;
    if (result > 0) {
        nw_chain_mend(chain, chain->units);
    }
    return result;
}

/* To the chain of its unit: a data block in place, or the sequential log block. */
static int write_chain(struct nw_chain *chain, const struct nw_chain_put *put)
{
    int result = nw_chain_put(chain, put);

    if (result > 0) {
        (void)fold(chain, (uint16_t)(put->sector / chain->span), 0); /* may wait */
    }
    return result;
}

/* The first sector of a unit begins the sequential log block, for which the last one is merged. */
static int begin_in_order(struct nw_chain *chain, const struct nw_chain_put *put)
{
    struct nw_fast *fast = &chain->fast;
    uint16_t unit = (uint16_t)(put->sector / chain->span);
    int result = fast->in_order != NONE ? fold(chain, fast->in_order, 0) : (int)NW_OK;

    result = result == NW_OK ? fold(chain, unit, 0) : result;
    result = result == NW_OK ? nw_chain_make_room(chain) : result;
    result = result == NW_OK ? nw_chain_extend(chain, unit, 0, unit) : result;
    if (result == NW_OK) {
        fast->in_order = unit;
        result = write_chain(chain, put);
    }
    return result;
}

static int fast_write(struct nw_chain *chain, const struct nw_chain_put *put)
{
    uint16_t unit = (uint16_t)(put->sector / chain->span);
    uint16_t sector = (uint16_t)(put->sector % chain->span);
    uint16_t newest = chain->newest[unit];
    int result;

    if (newest == NONE) {
        result = nw_chain_make_room(chain);
        result = result == NW_OK ? write_chain(chain, put) : result;
    } else if (nw_chain_takes(chain, newest, sector) &&
               (chain->length[unit] == 1U ||
                (chain->fast.in_order == unit && sector == chain->next[newest]))) {
        result = write_chain(chain, put);
    } else if (sector == 0) {
        result = begin_in_order(chain, put);
    } else {
        result = write_shared(chain, put);
    }
    return result < 0 ? result : NW_OK;
}

const struct nw_chain_ops nw_fast_ops = {.find = fast_find,
                                         .write = fast_write,
                                         .merge = fast_merge,
                                         .evict = fast_evict,
                                         .forget = forget};

/* SPDX-License-Identifier: Apache-2.0 */
/* The shared log blocks of fast: see fast.h. */
#include <string.h>

#include "fast.h"

#define NONE NW_NO_BLOCK

static void place(struct nw_chain *chain, const struct nw_chain_plan *plan, struct nw_ram *ram)
{
    struct nw_fast measure;
    size_t slots = (size_t)plan->log_blocks + NW_FAST_MORE;

    chain->fast = NW_RAM_TAKE(ram, struct nw_fast, 1);
    struct nw_fast *to = chain->fast != NULL ? chain->fast : &measure;
    size_t entries = slots * chain->hybrid.chip->geometry.block_pages;
    to->slots = (uint16_t)slots;
    to->most = plan->log_blocks;
    to->sector = NW_RAM_TAKE(ram, uint32_t, entries);
    to->link = NW_RAM_TAKE(ram, uint16_t, entries);
    to->head = NW_RAM_TAKE(ram, uint16_t, chain->units);
    to->block = NW_RAM_TAKE(ram, uint16_t, slots);
    to->valid = NW_RAM_TAKE(ram, uint16_t, slots);
}

static void clear(struct nw_chain *chain)
{
    struct nw_fast *fast = chain->fast;
    size_t entries = (size_t)fast->slots * chain->hybrid.chip->geometry.block_pages;

    memset(fast->sector, 0xFF, sizeof *fast->sector * entries);
    memset(fast->head, 0xFF, sizeof *fast->head * chain->units);
    memset(fast->block, 0xFF, sizeof *fast->block * fast->slots);
    memset(fast->valid, 0, sizeof *fast->valid * fast->slots);
    fast->count = 0;
    fast->open = NONE;
    fast->in_order = NONE;
    fast->found = 0;
    fast->whole = 0;
}

uint16_t nw_fast_lookup(const struct nw_chain *chain, uint32_t sector)
{
    const struct nw_fast *fast = chain->fast;
    uint16_t entry = fast->head[sector / chain->span];

    while (entry != NONE && fast->sector[entry] != sector) {
        entry = fast->link[entry];
    }
    return entry;
}

void nw_fast_forget(struct nw_chain *chain, uint32_t sector)
{
    struct nw_fast *fast = chain->fast;
    uint16_t *from = &fast->head[sector / chain->span];

    while (*from != NONE && fast->sector[*from] != sector) {
        from = &fast->link[*from];
    }
    if (*from != NONE) {
        uint16_t entry = *from;

        *from = fast->link[entry];
        fast->sector[entry] = NW_NO_PAGE;
        fast->valid[entry / chain->hybrid.block_pages]--;
    }
}

static void enter(struct nw_chain *chain, uint16_t slot, uint16_t page, uint32_t sector)
{
    struct nw_fast *fast = chain->fast;
    uint16_t entry = (uint16_t)(slot * chain->hybrid.block_pages + page);
    uint16_t *head = &fast->head[sector / chain->span];

    fast->sector[entry] = sector;
    fast->link[entry] = *head;
    fast->valid[slot]++;
    *head = entry;
}

uint16_t nw_fast_slot(const struct nw_chain *chain, uint16_t block)
{
    for (uint16_t slot = 0; slot < chain->fast->slots; slot++) {
        if (chain->fast->block[slot] == block) {
            return slot;
        }
    }
    return NONE;
}

/* Take a block out of the chain of log blocks. */
static void unchain(struct nw_chain *chain, uint16_t block)
{
    uint16_t *from = &chain->newest[chain->units];

    while (*from != block) {
        from = &chain->older[*from];
    }
    *from = chain->older[block];
    chain->length[chain->units]--;
    chain->owner[block] = NONE;
    chain->flags[block] &= (uint8_t)~NW_CHAIN_LINKED;
}

/* A log block without entries is none any more. */
static void leave(struct nw_chain *chain, uint16_t slot)
{
    struct nw_fast *fast = chain->fast;

    unchain(chain, fast->block[slot]);
    fast->block[slot] = NONE;
    fast->count--;
    fast->open = fast->open == slot ? (uint16_t)NONE : fast->open;
}

void nw_fast_drop(struct nw_chain *chain, uint16_t slot)
{
    uint16_t block = chain->fast->block[slot];

    leave(chain, slot);
    nw_hybrid_drop(&chain->hybrid, block, (chain->flags[block] & NW_CHAIN_FAILED) != 0);
}

/* Begin a log block. */
static int begin(struct nw_chain *chain)
{
    struct nw_fast *fast = chain->fast;
    uint16_t slot = nw_fast_slot(chain, NONE);

    if (slot == NONE) {
        return NW_ERR_FULL;
    }
    int32_t taken = nw_hybrid_take(&chain->hybrid, NW_WEAR_HOST, 0);
    if (taken < 0) {
        return (int)taken;
    }
    uint16_t block = (uint16_t)taken;
    chain->next[block] = 0;
    chain->flags[block] = 0;
    chain->owner[block] = chain->units;
    chain->older[block] = chain->newest[chain->units];
    chain->newest[chain->units] = block;
    chain->length[chain->units]++;
    fast->block[slot] = block;
    fast->count++;
    fast->open = slot;
    return NW_OK;
}

/* Append a sector to the open log block, beginning one if there is none. As nw_chain_put(). */
int nw_fast_put(struct nw_chain *chain, const struct nw_hybrid_put *put)
{
    struct nw_fast *fast = chain->fast;
    struct nw_hybrid_put shared = *put;
    int failed = 0;

    shared.flags |= NW_HYBRID_SHARED;
    for (;;) { /* every further turn has cost a block its life */
        int result = fast->open == NONE ? begin(chain) : (int)NW_OK;
        if (result < 0) {
            return result;
        }
        uint16_t slot = fast->open;
        uint16_t block = fast->block[slot];
        uint16_t page = chain->next[block];
        result = nw_hybrid_program(&chain->hybrid, nw_hybrid_first(&chain->hybrid, block) + page,
                                   &shared);
        if (result == NW_OK) {
            chain->next[block]++;
            nw_fast_forget(chain, put->sector);
            enter(chain, slot, page, put->sector);
            if (chain->next[block] == chain->hybrid.block_pages) {
                fast->open = NONE;
            }
            return failed;
        }
        if (!nw_hybrid_tried(&chain->hybrid, put)) {
            return result;
        }
        fast->open = NONE;
        if (result != NW_ERR_PROGRAM) {
            if (page == 0) { /* nothing in it counts */
                leave(chain, slot);
                nw_hybrid_spoil(&chain->hybrid, block);
            }
            return result;
        }
        chain->flags[block] |= NW_CHAIN_FAILED;
        failed = 1;
    }
}

/* Whether a page of a log block is newer than all that the chains and later log blocks hold. */
static int is_newest(struct nw_chain *chain, uint32_t sector, uint64_t version)
{
    struct nw_tag tag;
    uint32_t at;

    if (nw_fast_lookup(chain, sector) != NONE) {
        return 0;
    }
    int result = nw_chain_find(&chain->hybrid, sector, &at);
    if (result < 0 || at == NW_NO_PAGE) {
        return result < 0 ? result : 1;
    }
    result = nw_hybrid_read_tag(&chain->hybrid, at, &tag);
    if (result < 0) {
        return result;
    }
    return result == NW_TAG_GOOD ? tag.version < version : (int)NW_ERR_CORRUPT;
}

/* The entries of one log block, last page first. */
static int read_log(struct nw_chain *chain, uint16_t slot, uint16_t block)
{
    uint32_t first = nw_hybrid_first(&chain->hybrid, block);

    for (uint16_t page = chain->next[block]; page > 0; page--) {
        struct nw_tag tag;
        int state = nw_hybrid_read_tag(&chain->hybrid, first + page - 1U, &tag);

        chain->hybrid.stats->map_reads++;
        if (state < 0) {
            return state;
        }
        uint32_t sector = tag.word & NW_HYBRID_SECTOR;
        if (state == NW_TAG_GOOD && (tag.word & NW_HYBRID_SHARED) != 0 &&
            sector < chain->hybrid.sectors) {
            int newest = is_newest(chain, sector, tag.version);
            if (newest < 0) {
                return newest;
            }
            if (newest) {
                enter(chain, slot, (uint16_t)(page - 1U), sector);
            }
        }
    }
    return NW_OK;
}

/* From the newest log block to the oldest: so what an entry is there for is never outdated. */
static int read_logs(struct nw_chain *chain)
{
    uint16_t block = chain->newest[chain->units];

    while (block != NONE) {
        uint16_t older = chain->older[block];
        uint16_t slot = nw_fast_slot(chain, NONE);

        if (slot == NONE) {
            return NW_ERR_CORRUPT; /* more than this code leaves */
        }
        int result = read_log(chain, slot, block);
        if (result < 0) {
            return result;
        }
        if (chain->fast->valid[slot] > 0) {
            chain->fast->block[slot] = block;
            chain->fast->count++;
        } else {
            unchain(chain, block);
        }
        block = older;
    }
    return NW_OK;
}

int nw_fast_meet(struct nw_chain *chain, uint32_t at, const struct nw_tag *tag)
{
    struct nw_fast *fast = chain->fast;
    uint16_t block = nw_hybrid_block_of(&chain->hybrid, at);
    uint16_t page = (uint16_t)(at - nw_hybrid_first(&chain->hybrid, block));
    uint32_t sector = tag->word & NW_HYBRID_SECTOR;
    uint16_t slot = nw_fast_slot(chain, block);

    if (slot == NONE) {
        int result = nw_chain_insert(chain, chain->units, block, tag->version);
        slot = nw_fast_slot(chain, NONE);
        if (result < 0 || slot == NONE) {
            return result < 0 ? result : (int)NW_ERR_CORRUPT;
        }
        fast->block[slot] = block;
        fast->count++;
    }
    nw_fast_forget(chain, sector);
    enter(chain, slot, page, sector);
    return NW_OK;
}

/* Mounting: the entries of the log blocks that were met, when it is called first; log blocks that
 * nothing needs leave. */
static int find_logs(struct nw_chain *chain, int last)
{
    struct nw_fast *fast = chain->fast;

    if (!last) {
        clear(chain);
        fast->found = 1;
        return read_logs(chain);
    }
    for (uint16_t slot = 0; slot < fast->slots; slot++) {
        if (fast->block[slot] != NONE && fast->valid[slot] == 0) {
            unchain(chain, fast->block[slot]);
            fast->block[slot] = NONE;
            fast->count--;
        }
    }
    return NW_OK;
}

const struct nw_chain_beside nw_fast_beside = {
    .place = place, .clear = clear, .arrange = find_logs, .forget = nw_fast_forget};

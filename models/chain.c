/* SPDX-License-Identifier: Apache-2.0 */
/* Chains of blocks: where sectors are, and programming them. See chain.h. */
#include "chain.h"

#include <string.h>

uint16_t nw_chain_holder(const struct nw_chain *chain, uint16_t unit, uint16_t sector)
{
    uint16_t block = chain->newest[unit];

    while (block != NW_NO_BLOCK && !nw_chain_holds(chain, block, sector)) {
        block = chain->older[block];
    }
    return block;
}

/* Lists */

static uint16_t *list_at(const struct nw_chain *chain, uint16_t slot)
{
    return chain->lists + (size_t)slot * chain->block_pages;
}

static void forget_list(struct nw_chain *chain, uint16_t block)
{
    if (chain->slots != 0 && chain->slot[block] != NW_NO_BLOCK) {
        chain->listed[chain->slot[block]] = NW_NO_BLOCK;
        chain->slot[block] = NW_NO_BLOCK;
    }
}

/* A slot for a block's list: a free one, or that unused for longest. */
static void take_slot(struct nw_chain *chain, uint16_t block)
{
    uint16_t best = 0;

    for (uint16_t slot = 0; slot < chain->slots; slot++) {
        if (chain->listed[slot] == NW_NO_BLOCK) {
            best = slot;
            break;
        }
        if (chain->clock - chain->used[slot] > chain->clock - chain->used[best]) {
            best = slot;
        }
    }
    if (chain->listed[best] != NW_NO_BLOCK) {
        forget_list(chain, chain->listed[best]);
    }
    chain->listed[best] = block;
    chain->slot[block] = best;
}

/* Read a list from the tags. */
static int load_list(struct nw_chain *chain, uint16_t block)
{
    uint32_t first = (uint32_t)chain->owner[block] * chain->span;

    take_slot(chain, block);
    uint16_t *list = list_at(chain, chain->slot[block]);
    for (uint16_t page = 0; page < chain->next[block]; page++) {
        uint32_t sector;
        int result = nw_chain_read_tag(chain, nw_chain_first(chain, block) + page, &sector);

        if (result < 0) {
            forget_list(chain, block);
            return result;
        }
        list[page] = (uint16_t)(sector - first);
    }
    return NW_OK;
}

int nw_chain_list(struct nw_chain *chain, uint16_t block, const uint16_t **list)
{
    if (chain->slot[block] == NW_NO_BLOCK) {
        int result = load_list(chain, block);
        if (result < 0) {
            return result;
        }
    }
    chain->used[chain->slot[block]] = ++chain->clock;
    *list = list_at(chain, chain->slot[block]);
    return NW_OK;
}

int nw_chain_find(struct nw_chain *chain, uint32_t sector, uint32_t *at)
{
    uint16_t inside = (uint16_t)(sector % chain->span);
    uint16_t block = nw_chain_holder(chain, (uint16_t)(sector / chain->span), inside);
    const uint16_t *list;

    *at = NW_NO_PAGE;
    if (block == NW_NO_BLOCK) {
        return NW_OK;
    }
    uint16_t page = inside;
    if ((chain->flags[block] & NW_CHAIN_MAPPED) != 0) {
        int result = nw_chain_list(chain, block, &list);
        if (result < 0) {
            return result;
        }
        page = chain->next[block];
        do { /* the bits say that one of them is */
            page--;
        } while (page > 0 && list[page] != inside);
    }
    *at = nw_chain_first(chain, block) + page;
    return NW_OK;
}

/* Chains are listed by length through their newest block, with one list for all that are too long.
 * A log block without data before it counts as two; a last superblock of fewer logical blocks as if
 * it had them all. */
static uint16_t list_of(const struct nw_chain *chain, uint16_t unit)
{
    uint16_t length = chain->length[unit];

    if (chain->kind == NW_MODEL_LOG && length == 1U &&
        (chain->flags[chain->newest[unit]] & NW_CHAIN_MAPPED) != 0) {
        length = 2U;
    }
    if (unit + 1U == chain->units) {
        length = (uint16_t)(length + chain->missing);
    }
    return length < chain->longest ? length : chain->longest;
}

static void unlist(struct nw_chain *chain, uint16_t unit)
{
    if (chain->newest[unit] != NW_NO_BLOCK) {
        nw_blocks_unlink(&chain->blocks, chain->newest[unit]);
    }
}

static void enlist(struct nw_chain *chain, uint16_t unit)
{
    if (chain->newest[unit] != NW_NO_BLOCK) {
        nw_blocks_link(&chain->blocks, chain->newest[unit], list_of(chain, unit));
    }
}

uint16_t nw_chain_longest(const struct nw_chain *chain, uint16_t least)
{
    for (uint16_t length = chain->longest; length >= least; length--) {
        uint16_t block = nw_blocks_first(&chain->blocks, length);

        if (block != NW_NO_BLOCK) {
            return chain->owner[block];
        }
    }
    return NW_NO_BLOCK;
}

int nw_chain_takes(const struct nw_chain *chain, uint16_t block, uint16_t sector)
{
    if ((chain->flags[block] & NW_CHAIN_CLOSED) != 0) {
        return 0;
    }
    if ((chain->flags[block] & NW_CHAIN_MAPPED) != 0) {
        return chain->next[block] < chain->block_pages;
    }
    return chain->in_order != 0 ? sector >= chain->next[block]
                                : !nw_chain_holds(chain, block, sector);
}

int32_t nw_chain_take(struct nw_chain *chain, uint16_t data)
{
    int healed = 1;

    while (chain->blocks.free == 0 && healed > 0) {
        healed = nw_blocks_heal_now(&chain->blocks);
    }
    int32_t block = healed < 0 ? healed : nw_blocks_take_for(&chain->blocks, data);
    if (block >= 0) {
        chain->next[block] = 0;
        chain->flags[block] = 0;
    }
    return block;
}

int nw_chain_extend(struct nw_chain *chain, uint16_t unit, uint8_t flags, uint16_t data)
{
    int32_t taken = nw_chain_take(chain, data);
    uint16_t block = (uint16_t)taken;

    if (taken < 0) {
        return (int)taken;
    }
    memset(nw_chain_bits(chain, block), 0, chain->bit_bytes);
    chain->flags[block] = flags;
    if ((flags & NW_CHAIN_MAPPED) != 0) {
        take_slot(chain, block);
        chain->logs++;
    }
    unlist(chain, unit);
    chain->owner[block] = unit;
    chain->older[block] = chain->newest[unit];
    chain->newest[unit] = block;
    chain->length[unit]++;
    enlist(chain, unit);
    return NW_OK;
}

/* A block for this page at the end of the chain. */
static int extend_for(struct nw_chain *chain, uint16_t unit, int moves)
{
    int logs = chain->kind == NW_MODEL_LOG && !moves && chain->newest[unit] != NW_NO_BLOCK;

    if (chain->kind == NW_MODEL_SUPERBLOCK) {
        return nw_chain_extend(chain, unit, NW_CHAIN_MAPPED, moves ? NW_WEAR_MOVED : NW_WEAR_HOST);
    }
    return nw_chain_extend(chain, unit, logs ? NW_CHAIN_MAPPED : 0U, unit);
}

/* A page was programmed; a mapped block has its list. */
static void note(struct nw_chain *chain, uint16_t block, uint16_t page, uint16_t sector)
{
    uint8_t *bits = &nw_chain_bits(chain, block)[sector >> 3];

    if ((chain->flags[block] & NW_CHAIN_MAPPED) != 0) {
        list_at(chain, chain->slot[block])[page] = sector;
    }
    *bits = (uint8_t)(*bits | (1U << (sector & 7U)));
    if (page >= chain->next[block]) {
        chain->next[block] = (uint16_t)(page + 1U);
    }
    if (chain->ops->forget != NULL) {
        chain->ops->forget(chain, (uint32_t)chain->owner[block] * chain->span + sector);
    }
}

int nw_chain_put(struct nw_chain *chain, const struct nw_chain_put *put)
{
    uint16_t unit = (uint16_t)(put->sector / chain->span);
    uint16_t sector = (uint16_t)(put->sector % chain->span);
    int moves = put->from != NW_NO_PAGE;
    int failed = 0;

    for (;;) { /* every further turn has cost a block its life */
        uint16_t block = chain->newest[unit];
        uint16_t page = sector;
        int result = NW_OK;

        if (block == NW_NO_BLOCK || !nw_chain_takes(chain, block, sector)) {
            result = extend_for(chain, unit, moves);
            block = chain->newest[unit];
        }
        if (result == NW_OK && (chain->flags[block] & NW_CHAIN_MAPPED) != 0) {
            const uint16_t *list;

            result = nw_chain_list(chain, block, &list);
            page = chain->next[block];
        }
        if (result < 0) {
            return result;
        }
        result = nw_chain_program(chain, nw_chain_first(chain, block) + page, put);
        if (result == NW_OK) {
            note(chain, block, page, sector);
            chain->stats->copies += moves != 0;
            return failed;
        }
        chain->flags[block] |= NW_CHAIN_CLOSED;
        if (result != NW_ERR_PROGRAM) {
            return result;
        }
        chain->flags[block] |= NW_CHAIN_FAILED;
        failed = 1;
    }
}

int nw_chain_move(struct nw_chain *chain, uint32_t sector)
{
    struct nw_chain_put put = {.sector = sector};
    int result = chain->ops->find(chain, sector, &put.from);

    return result < 0 ? result : nw_chain_put(chain, &put);
}

void nw_chain_give(struct nw_chain *chain, uint16_t block)
{
    if ((chain->flags[block] & NW_CHAIN_FAILED) != 0) {
        (void)nw_blocks_retire(&chain->blocks, block); /* not used again, marked or not */
    } else {
        nw_blocks_give(&chain->blocks, block);
    }
}

uint16_t nw_chain_drop_stale(struct nw_chain *chain, uint16_t unit)
{
    uint16_t after = NW_NO_BLOCK;
    uint16_t block = chain->newest[unit];
    uint16_t dropped = 0;

    unlist(chain, unit);
    memset(chain->seen, 0, chain->bit_bytes);
    while (block != NW_NO_BLOCK) {
        uint16_t before = chain->older[block];
        const uint8_t *bits = nw_chain_bits(chain, block);
        uint8_t adds = 0;

        for (uint16_t i = 0; i < chain->bit_bytes; i++) {
            adds |= (uint8_t)(bits[i] & ~chain->seen[i]);
            chain->seen[i] |= bits[i];
        }
        if (adds != 0) {
            after = block;
        } else {
            *(after == NW_NO_BLOCK ? &chain->newest[unit] : &chain->older[after]) = before;
            chain->length[unit]--;
            forget_list(chain, block);
            chain->logs = (uint16_t)(chain->logs -
                                     ((chain->flags[block] & NW_CHAIN_MAPPED) != 0 ? 1U : 0U));
            nw_chain_give(chain, block);
            dropped++;
        }
        block = before;
    }
    enlist(chain, unit);
    return dropped;
}

/* An error is not told: what was to be written is, and the block waits for the next merge. */
void nw_chain_mend(struct nw_chain *chain, uint16_t unit)
{
    uint16_t block = chain->newest[unit];
    int result = NW_OK;

    while (result == NW_OK && block != NW_NO_BLOCK) {
        if ((chain->flags[block] & NW_CHAIN_FAILED) != 0) {
            result = chain->ops->evict(chain, block);
            block = chain->newest[unit];
        } else {
            block = chain->older[block];
        }
    }
}

int nw_chain_make_room(struct nw_chain *chain)
{
    int result = NW_OK;

    while (result == NW_OK && chain->blocks.free <= NW_CHAIN_RESERVE) {
        result = chain->ops->merge(chain, 0);
        if (result == NW_ERR_FULL) { /* no more to win */
            int healed = nw_blocks_heal_now(&chain->blocks);
            result = healed > 0 ? (int)NW_OK : healed < 0 ? healed : result;
        }
    }
    return result;
}

/* The lists of the chain that is merged next. Those in RAM count as used just now, so that they
 * stay there; when all of the chain and the block that it may take have no room there, any of them
 * may have to leave on the way. */
uint32_t nw_chain_step_reads(struct nw_chain *chain)
{
    uint16_t unit = chain->slots != 0 ? nw_chain_longest(chain, (uint16_t)(chain->degree + 1U))
                                      : (uint16_t)NW_NO_BLOCK;
    uint16_t block = unit != NW_NO_BLOCK ? chain->newest[unit] : (uint16_t)NW_NO_BLOCK;
    uint32_t reads = 0;

    for (; block != NW_NO_BLOCK; block = chain->older[block]) {
        if ((chain->flags[block] & NW_CHAIN_MAPPED) == 0) {
            continue;
        }
        if (chain->slot[block] != NW_NO_BLOCK && chain->length[unit] < chain->slots) {
            chain->used[chain->slot[block]] = ++chain->clock;
        } else {
            reads += chain->next[block];
        }
    }
    return reads;
}

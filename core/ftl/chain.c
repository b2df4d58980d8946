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

/* A slot for a block's list: a free one, or that unused for longest. */
static uint16_t take_slot(struct nw_chain *chain, uint16_t block)
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
        chain->slot[chain->listed[best]] = NW_NO_BLOCK;
    }
    chain->listed[best] = block;
    chain->slot[block] = best;
    memset(nw_chain_list_at(chain, best), 0xFF, sizeof(uint16_t) * chain->hybrid.block_pages);
    return best;
}

/* One entry of a list from its tag. */
static int load_entry(struct nw_chain *chain, uint16_t block, uint16_t page)
{
    uint16_t *entry = nw_chain_list_at(chain, chain->slot[block]) + page;
    uint32_t first = (uint32_t)chain->owner[block] * chain->span;
    struct nw_tag tag;
    int state = nw_hybrid_read_tag(&chain->hybrid, nw_hybrid_first(&chain->hybrid, block) + page,
                                   &tag);

    chain->hybrid.stats->map_reads++;
    *entry = NW_CHAIN_UNREAD;
    if (state == NW_TAG_GOOD) {
        uint32_t sector = (tag.word & NW_HYBRID_SECTOR) - first;

        *entry = sector < chain->span ? (uint16_t)sector : NW_NO_BLOCK;
    }
    return state < 0 ? state : (int)NW_OK;
}

/* Read a list from the tags. */
static int load_list(struct nw_chain *chain, uint16_t block)
{
    (void)take_slot(chain, block);
    for (uint16_t page = 0; page < chain->next[block]; page++) {
        int result = load_entry(chain, block, page);

        if (result < 0) {
            chain->listed[chain->slot[block]] = NW_NO_BLOCK;
            chain->slot[block] = NW_NO_BLOCK;
            return result;
        }
    }
    return NW_OK;
}

/* Whether each page of a listed block whose tag cannot be read holds a sector that no other page of
 * it does. Then none of them outdates another page: the block's bits name as many such sectors. */
static int unread_are_known(struct nw_chain *chain, uint16_t block)
{
    const uint16_t *list = nw_chain_list_at(chain, chain->slot[block]);
    uint16_t unread = 0;

    memcpy(chain->seen, nw_chain_bits(chain, block), chain->bit_bytes);
    for (uint16_t page = 0; page < chain->next[block]; page++) {
        if (list[page] < chain->span) {
            uint8_t *bits = &chain->seen[list[page] >> 3];

            *bits = (uint8_t)(*bits & ~(1U << (list[page] & 7U)));
        } else if (list[page] == NW_CHAIN_UNREAD) {
            unread++;
        }
    }
    for (uint16_t sector = 0; sector < chain->span; sector++) {
        if ((chain->seen[sector >> 3] & (1U << (sector & 7U))) != 0) {
            unread--;
        }
    }
    return unread == 0;
}

/* The last page of a listed block that holds a sector. A page above it whose tag cannot be read may
 * hold it too, and newer: it is asked again, and the answer is NW_ERR_CORRUPT if that does not
 * help. NW_ERR_CORRUPT also when there is none: a tag went bad since the mount. */
static int find_page(struct nw_chain *chain, uint16_t block, uint16_t sector, uint16_t *at)
{
    const uint16_t *list = nw_chain_list_at(chain, chain->slot[block]);
    int unread = 0;

    for (uint16_t page = chain->next[block]; page > 0; page--) {
        if (list[page - 1U] == NW_CHAIN_UNREAD) {
            int result = load_entry(chain, block, (uint16_t)(page - 1U));
            if (result < 0) {
                return result;
            }
            unread |= list[page - 1U] == NW_CHAIN_UNREAD;
        }
        if (list[page - 1U] == sector) {
            *at = (uint16_t)(page - 1U);
            return unread && !unread_are_known(chain, block) ? (int)NW_ERR_CORRUPT : (int)NW_OK;
        }
    }
    return NW_ERR_CORRUPT;
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
    *list = nw_chain_list_at(chain, chain->slot[block]);
    return NW_OK;
}

int nw_chain_find(struct nw_hybrid *hybrid, uint32_t sector, uint32_t *at)
{
    struct nw_chain *chain = nw_chain_of(hybrid);
    uint16_t inside = (uint16_t)(sector % chain->span);
    uint16_t block = nw_chain_holder(chain, (uint16_t)(sector / chain->span), inside);
    const uint16_t *list;

    *at = NW_NO_PAGE;
    if (block == NW_NO_BLOCK) {
        return NW_OK;
    }
    if ((chain->flags[block] & NW_CHAIN_MAPPED) == 0) {
        *at = nw_hybrid_first(hybrid, block) + inside;
        return NW_OK;
    }
    uint16_t page = 0;
    int result = nw_chain_list(chain, block, &list);
    if (result == NW_OK) {
        result = find_page(chain, block, inside, &page);
    }
    if (result == NW_OK) {
        *at = nw_hybrid_first(hybrid, block) + page;
    }
    return result;
}

void nw_chain_unlist(struct nw_chain *chain, uint16_t unit)
{
    if (chain->newest[unit] != NW_NO_BLOCK) {
        nw_blocks_unlink(&chain->hybrid.blocks, chain->newest[unit]);
    }
}

void nw_chain_enlist(struct nw_chain *chain, uint16_t unit)
{
    if (chain->newest[unit] != NW_NO_BLOCK) {
        nw_blocks_link(&chain->hybrid.blocks, chain->newest[unit], nw_chain_list_of(chain, unit));
    }
}

uint16_t nw_chain_longest(const struct nw_chain *chain, uint16_t least)
{
    for (uint16_t length = chain->longest; length >= least; length--) {
        uint16_t block = nw_blocks_first(&chain->hybrid.blocks,
                                         (uint16_t)(NW_HYBRID_LISTS + length));
        if (block != NW_NO_BLOCK) {
            return chain->owner[block];
        }
    }
    return NW_NO_BLOCK;
}

/* 1 if a sector can be programmed in this block. */
int nw_chain_takes(const struct nw_chain *chain, uint16_t block, uint16_t sector)
{
    uint8_t flags = chain->flags[block];

    if ((flags & (NW_CHAIN_CLOSED | NW_CHAIN_FAILED)) != 0) {
        return 0;
    }
    if ((flags & NW_CHAIN_MAPPED) != 0) {
        return chain->next[block] < chain->hybrid.block_pages;
    }
    return chain->in_order != 0 ? sector >= chain->next[block]
                                : !nw_chain_holds(chain, block, sector);
}

/* A fresh block at the end of the chain. */
int nw_chain_extend(struct nw_chain *chain, uint16_t unit, uint8_t flags, uint16_t data)
{
    int32_t taken = nw_hybrid_take(&chain->hybrid, data, (flags & NW_CHAIN_COPIES) != 0);
    if (taken < 0) {
        return (int)taken;
    }
    uint16_t block = (uint16_t)taken;
    memset(nw_chain_bits(chain, block), 0, chain->bit_bytes);
    chain->next[block] = 0;
    chain->flags[block] = flags;
    if ((flags & NW_CHAIN_MAPPED) != 0) {
        (void)take_slot(chain, block);
        chain->logs++;
    }
    if ((flags & NW_CHAIN_COPIES) != 0) {
        chain->merging = unit;
    }
    nw_chain_unlist(chain, unit);
    chain->owner[block] = unit;
    chain->older[block] = chain->newest[unit];
    chain->newest[unit] = block;
    chain->length[unit]++;
    nw_chain_enlist(chain, unit);
    return NW_OK;
}

/* What the wear policy is told of a block that a write or merge begins. */
uint16_t nw_chain_data(const struct nw_chain *chain, uint16_t unit, uint8_t flags)
{
    if (chain->style != NW_CHAIN_SUPERBLOCK) {
        return unit;
    }
    return (flags & NW_CHAIN_COPIES) != 0 ? NW_WEAR_MOVED : NW_WEAR_HOST;
}

/* What a block is that is begun for this page. */
static uint8_t flags_for(const struct nw_chain *chain, uint16_t unit,
                         const struct nw_hybrid_put *put)
{
    int moved = (put->flags & NW_HYBRID_COPY) != 0;
    int mapped = chain->style == NW_CHAIN_SUPERBLOCK ||
                 (chain->style == NW_CHAIN_LOG && !moved && chain->newest[unit] != NW_NO_BLOCK);

    return (uint8_t)((mapped ? NW_CHAIN_MAPPED : 0U) | (moved ? NW_CHAIN_COPIES : 0U));
}

static void end_merge(struct nw_chain *chain, uint16_t unit)
{
    if (chain->merging == unit) {
        chain->merging = NW_NO_BLOCK;
    }
}

void nw_chain_forget_moved(struct nw_chain *chain, uint16_t unit)
{
    uint16_t block = chain->newest[unit];

    if (chain->beside == NULL || (chain->flags[block] & NW_CHAIN_COPIES) == 0) {
        return;
    }
    for (uint16_t sector = 0; sector < chain->span; sector++) {
        if (nw_chain_holds(chain, block, sector)) {
            chain->beside->forget(chain, (uint32_t)unit * chain->span + sector);
        }
    }
}

/* A page was programmed; a mapped block has its list. */
static void note(struct nw_chain *chain, uint16_t block, uint16_t page, uint16_t sector,
                 uint32_t word)
{
    if ((chain->flags[block] & NW_CHAIN_MAPPED) != 0) {
        nw_chain_list_at(chain, chain->slot[block])[page] = sector;
    }
    uint8_t *bits = &nw_chain_bits(chain, block)[sector >> 3];
    *bits = (uint8_t)(*bits | (1U << (sector & 7U)));
    if (page >= chain->next[block]) {
        chain->next[block] = (uint16_t)(page + 1U);
    }
    if ((word & NW_HYBRID_COPY) == 0) {
        chain->flags[block] &= (uint8_t)~NW_CHAIN_COPIES;
    }
    if ((word & (NW_HYBRID_COPY | NW_HYBRID_LAST)) != NW_HYBRID_COPY) {
        end_merge(chain, chain->owner[block]);
    }
    /* What a merge moves to its own block is forgotten when it ends: the block may be spoiled. */
    if (chain->beside != NULL && (chain->flags[block] & NW_CHAIN_COPIES) == 0) {
        chain->beside->forget(chain, (uint32_t)chain->owner[block] * chain->span + sector);
    }
}

/* A block leaves the lists of mapped blocks. */
static void unmap(struct nw_chain *chain, uint16_t block)
{
    if (chain->slots != 0 && chain->slot[block] != NW_NO_BLOCK) {
        chain->listed[chain->slot[block]] = NW_NO_BLOCK;
        chain->slot[block] = NW_NO_BLOCK;
    }
    if ((chain->flags[block] & NW_CHAIN_MAPPED) != 0) {
        chain->logs--;
    }
}

/* Whether the last block of a chain, in which this put has failed, may be erased for that. Nothing
 * in it counts, or all that does was moved there by a merge under way and is where it was. But when
 * the merge has come to its last page and that one shows, a mount believes the block: and an erase
 * that is cut leaves the other pages as they happen to be. A block behind one that failed may hold
 * what that one holds in doubt. */
static int can_spoil(const struct nw_chain *chain, uint16_t unit, const struct nw_hybrid_put *put)
{
    uint16_t block = chain->newest[unit];
    uint16_t older = chain->older[block];

    return chain->next[block] == 0 ||
           (chain->merging == unit && (chain->flags[block] & NW_CHAIN_COPIES) != 0 &&
            (put->flags & NW_HYBRID_LAST) == 0 &&
            (older == NW_NO_BLOCK || (chain->flags[older] & NW_CHAIN_FAILED) == 0));
}

/* A block in which a program failed: in a chain, or none. */
static int has_failed(const struct nw_chain *chain, uint16_t block)
{
    return block != NW_NO_BLOCK && (chain->flags[block] & NW_CHAIN_FAILED) != 0;
}

/* How many blocks right below the last one of a chain, in which this put has failed, may be erased
 * after it: those that the same merge began, and in each of which a program failed. All but the
 * oldest of them hold nothing but the page in doubt, as the last one does. So whatever an erase
 * that is cut leaves, a mount believes no page that was erased: behind the pages in doubt the
 * oldest is whole, and without them it is the block of a merge cut short. */
static uint8_t count_doomed(const struct nw_chain *chain, uint16_t unit,
                            const struct nw_hybrid_put *put)
{
    uint16_t block = chain->newest[unit];
    uint8_t count = 0;

    if (chain->merging != unit || (put->flags & NW_HYBRID_COPY) == 0) {
        return 0;
    }
    while (chain->next[block] == 0 && has_failed(chain, chain->older[block])) {
        block = chain->older[block];
        if ((chain->flags[block] & NW_CHAIN_COPIES) == 0 || count == NW_HYBRID_MOST_DOOMED ||
            (chain->next[block] != 0 && (put->flags & NW_HYBRID_LAST) != 0)) {
            return 0;
        }
        count++;
    }
    return has_failed(chain, chain->older[block]) ? 0 : count;
}

/* The last block leaves its chain, and the lists of mapped blocks. */
static uint16_t cut_last(struct nw_chain *chain, uint16_t unit)
{
    uint16_t block = chain->newest[unit];

    chain->newest[unit] = chain->older[block];
    chain->length[unit]--;
    chain->owner[block] = NW_NO_BLOCK;
    unmap(chain, block);
    return block;
}

/* An error has stopped a put that is not the block's fault. */
static void give_up(struct nw_chain *chain, uint16_t unit, const struct nw_hybrid_put *put)
{
    uint16_t block = chain->newest[unit];

    if (!can_spoil(chain, unit, put)) {
        chain->flags[block] |= NW_CHAIN_CLOSED;
        end_merge(chain, unit);
        return;
    }
    uint8_t doomed = count_doomed(chain, unit, put);
    nw_chain_unlist(chain, unit);
    nw_hybrid_spoil(&chain->hybrid, cut_last(chain, unit));
    for (uint8_t i = 0; i < doomed; i++) {
        nw_hybrid_doom(&chain->hybrid, cut_last(chain, unit));
    }
    if ((put->flags & NW_HYBRID_COPY) != 0 && !has_failed(chain, chain->newest[unit])) {
        chain->hybrid.doubt = NW_NO_PAGE; /* the page it was moved from holds the same */
    }
    end_merge(chain, unit);
    nw_chain_enlist(chain, unit);
}

int nw_chain_put(struct nw_chain *chain, const struct nw_hybrid_put *put)
{
    struct nw_hybrid *hybrid = &chain->hybrid;
    uint16_t unit = (uint16_t)(put->sector / chain->span);
    uint16_t sector = (uint16_t)(put->sector % chain->span);
    int failed = 0;

    for (;;) { /* every further turn has cost a block its life */
        uint16_t block = chain->newest[unit];

        if (block == NW_NO_BLOCK || !nw_chain_takes(chain, block, sector)) {
            uint8_t flags = flags_for(chain, unit, put);
            int result = nw_chain_extend(chain, unit, flags, nw_chain_data(chain, unit, flags));
            if (result < 0) {
                return result;
            }
            block = chain->newest[unit];
        }
        uint16_t page = sector;
        if ((chain->flags[block] & NW_CHAIN_MAPPED) != 0) {
            const uint16_t *list; /* before the program, which may not be forgotten for an error */
            int result = nw_chain_list(chain, block, &list);
            if (result < 0) {
                return result;
            }
            page = chain->next[block];
        }
        int result = nw_hybrid_program(hybrid, nw_hybrid_first(hybrid, block) + page, put);
        if (result == NW_OK) {
            note(chain, block, page, sector, put->flags);
            return failed;
        }
        if (result != NW_ERR_PROGRAM) {
            if (nw_hybrid_tried(hybrid, put)) {
                give_up(chain, unit, put);
            }
            return result;
        }
        chain->flags[block] |= NW_CHAIN_FAILED;
        failed = 1;
    }
}

/* A block leaves its chain for good. */
static void let_go(struct nw_chain *chain, uint16_t block)
{
    unmap(chain, block);
    nw_hybrid_drop(&chain->hybrid, block, (chain->flags[block] & NW_CHAIN_FAILED) != 0);
}

/* While mounting they only leave the chain: more of their pages may come, and bring them back. */
uint16_t nw_chain_drop_stale(struct nw_chain *chain, uint16_t unit, int mounting)
{
    uint16_t after = NW_NO_BLOCK;
    uint16_t block = chain->newest[unit];
    uint16_t dropped = 0;

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
            if (after == NW_NO_BLOCK) {
                chain->newest[unit] = before;
            } else {
                chain->older[after] = before;
            }
            chain->length[unit]--;
            chain->owner[block] = NW_NO_BLOCK;
            chain->flags[block] &= (uint8_t)~NW_CHAIN_LINKED;
            dropped++;
            if (!mounting) {
                let_go(chain, block);
            }
        }
        block = before;
    }
    return dropped;
}

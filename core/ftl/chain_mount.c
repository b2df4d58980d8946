/* SPDX-License-Identifier: Apache-2.0 */
/* Chains of blocks: opening them, and finding them again. See chain.h. */
#include <string.h>

#include "chain.h"
#include "nandwich/blank.h"

/* The version of the last page of a block that counts. A tag that was good a moment ago and is not
 * now is an error: without its version the block might be taken for an older one than it is. */
int nw_chain_version(struct nw_chain *chain, uint16_t block, uint64_t *version)
{
    struct nw_tag tag = {0};
    uint32_t at = nw_hybrid_first(&chain->hybrid, block) + chain->next[block] - 1U;
    int state = nw_hybrid_read_tag(&chain->hybrid, at, &tag);

    *version = tag.version;
    if (state < 0) {
        return state;
    }
    return state == NW_TAG_GOOD ? (int)NW_OK : (int)NW_ERR_CORRUPT;
}

/* Whether this chain has a merge that is unsure. */
static int is_unsure(const struct nw_chain *chain, uint16_t unit)
{
    const struct nw_hybrid_top *page = nw_hybrid_unsure(&chain->hybrid);

    return page != NULL && (page->tag.word & NW_HYBRID_SECTOR) / chain->span == unit;
}

/* Put a block where it belongs in the chain of its owner. */
int nw_chain_insert(struct nw_chain *chain, uint16_t unit, uint16_t block, uint64_t version)
{
    uint16_t after = NW_NO_BLOCK;

    if (unit < chain->units && !is_unsure(chain, unit)) {
        (void)nw_chain_drop_stale(chain, unit, 1); /* or many old blocks would make a long chain */
    }
    uint16_t before = chain->newest[unit];
    while (before != NW_NO_BLOCK) {
        uint64_t other;
        int result = nw_chain_version(chain, before, &other);

        if (result < 0) {
            return result;
        }
        if (other < version) {
            break;
        }
        after = before;
        before = chain->older[before];
    }
    chain->older[block] = before;
    if (after == NW_NO_BLOCK) {
        chain->newest[unit] = block;
    } else {
        chain->older[after] = block;
    }
    chain->owner[block] = unit;
    chain->flags[block] |= NW_CHAIN_LINKED;
    chain->length[unit]++;
    return NW_OK;
}

int nw_chain_meet(struct nw_hybrid *hybrid, uint32_t at, const struct nw_tag *tag)
{
    struct nw_chain *chain = nw_chain_of(hybrid);
    uint32_t number = tag->word & NW_HYBRID_SECTOR;
    uint16_t block = nw_hybrid_block_of(hybrid, at);
    uint16_t page = (uint16_t)(at - nw_hybrid_first(hybrid, block));
    uint16_t unit = (uint16_t)(number / chain->span);
    uint16_t sector = (uint16_t)(number % chain->span);
    int in_place = chain->style == NW_CHAIN_NFTL || chain->style == NW_CHAIN_FAST;

    if ((in_place && sector != page) ||
        (chain->owner[block] != NW_NO_BLOCK && chain->owner[block] != unit)) {
        return NW_OK; /* what an erase that was cut has left */
    }
    chain->owner[block] = unit;
    uint8_t *bits = &nw_chain_bits(chain, block)[sector >> 3];
    *bits = (uint8_t)(*bits | (1U << (sector & 7U)));
    if (page >= chain->next[block]) {
        chain->next[block] = (uint16_t)(page + 1U);
    }
    if (chain->style == NW_CHAIN_SUPERBLOCK || sector != page) {
        chain->flags[block] |= NW_CHAIN_MAPPED;
    }
    return NW_OK;
}

void nw_chain_forget(struct nw_hybrid *hybrid, uint16_t block)
{
    struct nw_chain *chain = nw_chain_of(hybrid);

    memset(nw_chain_bits(chain, block), 0, chain->bit_bytes);
    chain->owner[block] = NW_NO_BLOCK;
    chain->next[block] = 0;
    chain->flags[block] = NW_CHAIN_CLOSED;
}

/* Blocks that were met to their places. Only now all their pages are known, so that a block which
 * is outdated leaves before others are compared with it: one tag of each block, where there is more
 * than one of a unit. */
static int link_met(struct nw_chain *chain)
{
    int result = NW_OK;

    for (uint16_t block = 0; result == NW_OK && block < chain->hybrid.blocks.count; block++) {
        uint16_t unit = chain->owner[block];
        uint64_t version = 0;

        if (unit == NW_NO_BLOCK || (chain->flags[block] & NW_CHAIN_LINKED) != 0) {
            continue;
        }
        if (chain->newest[unit] != NW_NO_BLOCK) {
            result = nw_chain_version(chain, block, &version);
        }
        if (result == NW_OK) {
            result = nw_chain_insert(chain, unit, block, version);
        }
    }
    return result;
}

/* The blocks of a chain that leave it whether its unsure merge counts or not: those that others
 * have outdated which are older than it. A block of that merge ends with one of its pages. */
static int drop_sure(struct nw_chain *chain, uint16_t unit)
{
    struct nw_hybrid *hybrid = &chain->hybrid;
    uint16_t newest = chain->newest[unit];
    uint16_t block = nw_hybrid_block_of(hybrid, nw_hybrid_unsure(hybrid)->at);
    uint16_t *older = chain->owner[block] == unit ? &chain->older[block] : &chain->newest[unit];

    while (*older != NW_NO_BLOCK) {
        uint32_t end = nw_hybrid_first(hybrid, *older) + chain->next[*older];
        struct nw_tag tag;
        int state = nw_hybrid_read_tag(hybrid, end - 1U, &tag);

        if (state != NW_TAG_GOOD) {
            return state < 0 ? state : (int)NW_OK;
        }
        if (!nw_hybrid_is_within(hybrid, &tag)) {
            break;
        }
        older = &chain->older[*older];
    }
    chain->newest[unit] = *older;
    (void)nw_chain_drop_stale(chain, unit, 1);
    uint16_t rest = chain->newest[unit];
    chain->newest[unit] = newest;
    *older = rest;
    return NW_OK;
}

/* Merges to a block in place move sectors in their order, at least those that the chain holds. Of
 * superblock it cannot be told. */
int nw_chain_goes_on(struct nw_hybrid *hybrid)
{
    const struct nw_chain *chain = nw_chain_of(hybrid);
    uint16_t unit = (uint16_t)(hybrid->moved / chain->span);
    uint16_t sector = (uint16_t)(hybrid->moved % chain->span);
    uint16_t more = 0;

    while (++sector < chain->span) {
        more = (uint16_t)(more + (nw_chain_holder(chain, unit, sector) != NW_NO_BLOCK ? 1U : 0U));
    }
    return chain->style != NW_CHAIN_SUPERBLOCK && more > 1U;
}

int nw_chain_arrange(struct nw_hybrid *hybrid, int last)
{
    struct nw_chain *chain = nw_chain_of(hybrid);
    int result = link_met(chain);

    for (uint16_t unit = 0; result == NW_OK && unit < chain->units; unit++) {
        if (is_unsure(chain, unit)) {
            result = drop_sure(chain, unit);
        } else {
            (void)nw_chain_drop_stale(chain, unit, 1);
        }
        if (last) {
            nw_chain_enlist(chain, unit);
        }
    }
    if (result == NW_OK && chain->beside != NULL) {
        result = chain->beside->arrange(chain, last);
    }
    chain->logs = 0;
    for (uint16_t block = 0; result == NW_OK && block < hybrid->blocks.count; block++) {
        if (chain->owner[block] != NW_NO_BLOCK) {
            chain->logs = (uint16_t)(chain->logs +
                                     ((chain->flags[block] & NW_CHAIN_MAPPED) != 0 ? 1U : 0U));
        } else if (hybrid->blocks.state[block] == NW_BLOCK_USED &&
                   !nw_hybrid_held(hybrid, block)) {
            nw_blocks_give(&hybrid->blocks, block);
        }
    }
    return result;
}

uint32_t nw_chain_sectors(const struct nw_chain_plan *plan, const struct nw_geometry *geometry)
{
    uint32_t sectors = nw_hybrid_sectors(geometry, plan->spare_blocks);

    return (uint32_t)plan->degree * geometry->block_pages < NW_NO_BLOCK ? sectors : 0;
}

/* The one place that knows the layout: measures or places. */
static int place(struct nw_chain **chain, const struct nw_chain_plan *plan, struct nw_chip *chip,
                 struct nw_stats *stats, struct nw_ram *ram)
{
    uint32_t sectors = nw_chain_sectors(plan, &chip->geometry);
    struct nw_chain measure;

    if (sectors == 0) {
        return NW_ERR_CONFIG;
    }
    *chain = NW_RAM_TAKE(ram, struct nw_chain, 1);
    struct nw_chain *to = *chain != NULL ? *chain : &measure;
    size_t blocks = (size_t)chip->geometry.blocks;
    memset(to, 0, sizeof *to);
    to->span = (uint16_t)(plan->degree * chip->geometry.block_pages);
    to->units = (uint16_t)((sectors + to->span - 1U) / to->span);
    to->missing = (uint16_t)(((uint32_t)to->units * to->span - sectors) /
                             chip->geometry.block_pages);
    to->bit_bytes = (uint16_t)((to->span - 1U) / 8U + 1U); /* int may have 16 bits */
    to->slots = plan->lists;
    int result = nw_hybrid_place(&to->hybrid, chip, stats, (uint16_t)(plan->longest + 1U), ram);
    if (plan->lists != 0) {
        to->used = NW_RAM_TAKE(ram, uint32_t, to->slots);
        to->slot = NW_RAM_TAKE(ram, uint16_t, blocks);
        to->listed = NW_RAM_TAKE(ram, uint16_t, to->slots);
        to->lists = NW_RAM_TAKE(ram, uint16_t, (size_t)to->slots * chip->geometry.block_pages);
    }
    if (plan->beside != NULL) {
        plan->beside->place(to, plan, ram);
    }
    to->newest = NW_RAM_TAKE(ram, uint16_t, to->units + (size_t)1);
    to->length = NW_RAM_TAKE(ram, uint16_t, to->units + (size_t)1);
    to->older = NW_RAM_TAKE(ram, uint16_t, blocks);
    to->owner = NW_RAM_TAKE(ram, uint16_t, blocks);
    to->next = NW_RAM_TAKE(ram, uint16_t, blocks);
    to->flags = NW_RAM_TAKE(ram, uint8_t, blocks);
    to->bits = NW_RAM_TAKE(ram, uint8_t, blocks * to->bit_bytes);
    to->seen = NW_RAM_TAKE(ram, uint8_t, to->bit_bytes);
    return result;
}

size_t nw_chain_ram_bytes(const struct nw_chain_plan *plan, const struct nw_geometry *geometry)
{
    struct nw_chip chip = {.geometry = *geometry};
    struct nw_ram ram = {0};
    struct nw_chain *chain;

    return place(&chain, plan, &chip, NULL, &ram) < 0 ? 0 : ram.used;
}

static const struct nw_hybrid_kind chain_kind = {.find = nw_chain_find,
                                                 .write = nw_chain_write,
                                                 .meet = nw_chain_meet,
                                                 .forget = nw_chain_forget,
                                                 .goes_on = nw_chain_goes_on,
                                                 .arrange = nw_chain_arrange,
                                                 .tidy = nw_chain_tidy,
                                                 .step = nw_chain_step,
                                                 .step_reads = nw_chain_step_reads,
                                                 .evict = nw_chain_evict,
                                                 .renew = nw_chain_renew,
                                                 .finish = nw_chain_finish};

/* Everything empty, every block closed. */
static void clear(struct nw_chain *chain, const struct nw_chain_plan *plan)
{
    const struct nw_geometry *geometry = &chain->hybrid.chip->geometry;
    size_t blocks = (size_t)geometry->blocks;

    chain->beside = plan->beside;
    chain->style = plan->style;
    chain->degree = plan->degree;
    chain->longest = plan->longest;
    chain->log_blocks = plan->log_blocks;
    chain->merging = NW_NO_BLOCK;
    chain->in_order = (geometry->flags & NW_CHIP_IN_ORDER) != 0;
    memset(chain->newest, 0xFF, sizeof *chain->newest * (chain->units + (size_t)1));
    memset(chain->length, 0, sizeof *chain->length * (chain->units + (size_t)1));
    memset(chain->owner, 0xFF, sizeof *chain->owner * blocks);
    memset(chain->next, 0, sizeof *chain->next * blocks);
    memset(chain->flags, NW_CHAIN_CLOSED, blocks);
    memset(chain->bits, 0, blocks * chain->bit_bytes);
    if (chain->slots != 0) {
        memset(chain->used, 0, sizeof *chain->used * chain->slots);
        memset(chain->slot, 0xFF, sizeof *chain->slot * blocks);
        memset(chain->listed, 0xFF, sizeof *chain->listed * chain->slots);
    }
    if (chain->beside != NULL) {
        chain->beside->clear(chain);
    }
}

int nw_chain_open(struct nw_block *block, struct nw_stats *stats, struct nw_chip *chip,
                  const struct nw_chain_plan *plan, void *memory, size_t bytes, int how)
{
    struct nw_ram ram = {.start = memory, .bytes = bytes};
    struct nw_chain *chain;
    int result = place(&chain, plan, chip, stats, &ram);

    if (result < 0) {
        return result;
    }
    if (memory == NULL || ram.used > bytes) {
        return NW_ERR_RAM;
    }
    struct nw_hybrid_open open = {.kind = plan->kind != NULL ? plan->kind : &chain_kind,
                                  .name = plan->name,
                                  .block = block,
                                  .wear = plan->wear,
                                  .sectors = nw_chain_sectors(plan, &chip->geometry),
                                  .degree = plan->degree,
                                  .flags = plan->flags};
    if (plan->style == NW_CHAIN_FAST) { /* their entries need RAM: fewer might have no room */
        open.degree = plan->log_blocks;
        open.grows = 1;
    }
    clear(chain, plan);
    result = nw_hybrid_prepare(&chain->hybrid, &open);
    if (result == NW_OK) {
        result = how == NW_CHAIN_FORMAT ? nw_hybrid_format(&chain->hybrid)
                                        : nw_hybrid_mount(&chain->hybrid);
    }
    return result == NW_ERR_NOT_FOUND ? nw_chip_not_found(chip, memory, bytes) : result;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Chains of blocks: merges. See chain.h; pictures of them are in docs/ftl-nftl.md, docs/ftl-log.md
 * and docs/ftl-superblock.md. */
#include <string.h>

#include "chain.h"

/* 1 if the sector is held, but not by that block, and has to be moved there. */
static int is_elsewhere(const struct nw_chain *chain, uint16_t unit, uint16_t block,
                        uint16_t sector)
{
    uint16_t holder = nw_chain_holder(chain, unit, sector);

    return holder != NW_NO_BLOCK && holder != block &&
           (chain->merging != unit || !nw_chain_has_moved(chain, block, sector));
}

/* Move one sector to the end of the chain. As nw_chain_put(). */
static int move(struct nw_chain *chain, uint16_t unit, uint16_t sector, int last)
{
    struct nw_hybrid_put put = {.sector = (uint32_t)unit * chain->span + sector,
                                .flags = NW_HYBRID_COPY | (last ? NW_HYBRID_LAST : 0U)};
    int result = nw_hybrid_find(&chain->hybrid, put.sector, &put.from);

    if (result == NW_ERR_CORRUPT) { /* it goes on as lost */
        put.from = NW_NO_PAGE;
        put.flags |= NW_HYBRID_DAMAGED;
        chain->hybrid.stats->lost++;
        result = NW_OK;
    }
    return result < 0 ? result : nw_chain_put(chain, &put);
}

/* Pages to move to `target` to have all of the unit there. */
static uint16_t count_moves(const struct nw_chain *chain, uint16_t unit, uint16_t target)
{
    uint16_t count = 0;

    for (uint16_t sector = 0; sector < chain->span; sector++) {
        count = (uint16_t)(count + (is_elsewhere(chain, unit, target, sector) ? 1U : 0U));
    }
    return count;
}

/* 1 if a mapped block was written in order from the first page: it can go on as one in place. */
static int is_sequential(struct nw_chain *chain, uint16_t block)
{
    const uint16_t *list;
    uint16_t page = 0;
    int result = nw_chain_list(chain, block, &list);

    if (result < 0) {
        return result;
    }
    while (page < chain->next[block] && list[page] == page) {
        page++;
    }
    return page == chain->next[block];
}

/* 1 if the last block, in place, can take what it lacks. */
static int can_gather(const struct nw_chain *chain, uint16_t unit)
{
    uint16_t newest = chain->newest[unit];
    int goes_on = chain->merging == unit;
    int lacks = 0;

    for (uint16_t block = newest; block != NW_NO_BLOCK; block = chain->older[block]) {
        if (!goes_on && (chain->flags[block] & NW_CHAIN_FAILED) != 0) {
            return 0;
        }
    }
    for (uint16_t sector = 0; sector < chain->span; sector++) {
        if (is_elsewhere(chain, unit, newest, sector)) {
            lacks = 1;
            if (!nw_chain_takes(chain, newest, sector)) {
                return 0;
            }
        }
    }
    return !lacks || goes_on || (chain->flags[newest] & NW_CHAIN_COPIES) == 0;
}

/* The same for a last block of any kind, which is in place afterwards if it can. */
static int make_gather(struct nw_chain *chain, uint16_t unit)
{
    uint16_t newest = chain->newest[unit];
    int mapped = (chain->flags[newest] & NW_CHAIN_MAPPED) != 0;

    if (chain->hybrid.owes != 0 && chain->merging != unit) {
        return 0; /* a fresh block goes back if that fails too */
    }
    int result = mapped ? is_sequential(chain, newest) : 1;

    if (result <= 0) {
        return result;
    }
    chain->flags[newest] &= (uint8_t)~NW_CHAIN_MAPPED;
    result = can_gather(chain, unit);
    if (mapped && result) {
        chain->logs--;
    } else if (mapped) {
        chain->flags[newest] |= NW_CHAIN_MAPPED;
    }
    return result;
}

/* Move all that the last block lacks to it: `moves` pages. */
static int gather(struct nw_chain *chain, uint16_t unit, uint16_t moves)
{
    uint16_t target = chain->newest[unit];

    for (uint16_t sector = 0; moves > 0; sector++) {
        if (is_elsewhere(chain, unit, target, sector)) {
            moves--;
            int result = move(chain, unit, sector, moves == 0);
            if (result < 0) {
                return result;
            }
            target = result > 0 ? chain->newest[unit] : target;
        }
    }
    return NW_OK;
}

static uint16_t drop_stale(struct nw_chain *chain, uint16_t unit)
{
    nw_chain_unlist(chain, unit);
    uint16_t dropped = nw_chain_drop_stale(chain, unit, 0);
    nw_chain_enlist(chain, unit);
    return dropped;
}

void nw_chain_drop_outdated(struct nw_chain *chain, uint16_t unit)
{
    if (chain->merging != unit) {
        (void)drop_stale(chain, unit);
    }
}

static int is_folded(const struct nw_chain *chain, uint16_t unit)
{
    uint16_t newest = chain->newest[unit];

    return newest == NW_NO_BLOCK ||
           (chain->length[unit] == 1U &&
            (chain->flags[newest] & (NW_CHAIN_FAILED | NW_CHAIN_MAPPED)) == 0);
}

/* nftl, log, fast: make a chain one block, in place and sound; `fresh`: and not of the chain
 * before. */
int nw_chain_fold(struct nw_chain *chain, uint16_t unit, int fresh)
{
    struct nw_stats *stats = chain->hybrid.stats;

    while (chain->newest[unit] != NW_NO_BLOCK && (fresh || !is_folded(chain, unit))) {
        int gathers = fresh ? 0 : make_gather(chain, unit);
        int result = gathers < 0 ? gathers : (int)NW_OK;

        if (gathers == 0) {
            result = nw_chain_extend(chain, unit, NW_CHAIN_COPIES, fresh ? NW_WEAR_MOVED : unit);
        }
        uint16_t moves = result < 0 ? 0 : count_moves(chain, unit, chain->newest[unit]);

        if (result == NW_OK) {
            result = gather(chain, unit, moves);
        }
        if (result < 0) {
            return result;
        }
        chain->merging = NW_NO_BLOCK;
        nw_chain_forget_moved(chain, unit);
        (void)drop_stale(chain, unit);
        fresh = 0;
        stats->merges_full += gathers == 0;
        stats->merges_partial += gathers != 0 && moves > 0;
        stats->merges_switch += gathers != 0 && moves == 0;
    }
    return NW_OK;
}

/* superblock: sectors of a block that no later one of its chain holds. Blocks are asked for from
 * the last one on, after chain->seen was cleared. */
static uint16_t count_next(struct nw_chain *chain, uint16_t block)
{
    static const uint8_t ones[16] = {0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4};
    const uint8_t *bits = nw_chain_bits(chain, block);
    uint16_t count = 0;

    for (uint16_t i = 0; i < chain->bit_bytes; i++) {
        uint8_t adds = (uint8_t)(bits[i] & ~chain->seen[i]);

        chain->seen[i] |= bits[i];
        count = (uint16_t)(count + ones[adds & 15U] + ones[adds >> 4]);
    }
    return count;
}

static uint16_t count_valid(struct nw_chain *chain, uint16_t unit, uint16_t block)
{
    uint16_t count = 0;
    uint16_t at = chain->newest[unit];

    memset(chain->seen, 0, chain->bit_bytes);
    for (uint16_t i = chain->length[unit]; i > 0; i--) {
        count = count_next(chain, at);
        if (at == block) {
            break;
        }
        at = chain->older[at];
    }
    return count;
}

/* The block before the last `skip` ones with the fewest valid sectors, but some; NW_NO_BLOCK. */
static uint16_t emptiest(struct nw_chain *chain, uint16_t unit, uint16_t skip, uint16_t *valid)
{
    uint16_t best = NW_NO_BLOCK;

    *valid = chain->hybrid.block_pages;
    memset(chain->seen, 0, chain->bit_bytes);
    for (uint16_t block = chain->newest[unit]; block != NW_NO_BLOCK; block = chain->older[block]) {
        uint16_t count = count_next(chain, block);

        if (skip > 0) {
            skip--;
            continue;
        }
        if (count > 0 && (count < *valid || best == NW_NO_BLOCK)) {
            best = block;
            *valid = count;
        }
    }
    return best;
}

/* Move up to `room` valid sectors of a block to the end of the chain: how many, or an error. */
static int32_t move_out(struct nw_chain *chain, uint16_t unit, uint16_t block, uint16_t room,
                        uint16_t left)
{
    int32_t moved = 0;

    for (uint16_t sector = 0; sector < chain->span && room > 0; sector++) {
        if (nw_chain_holds(chain, block, sector) &&
            nw_chain_holder(chain, unit, sector) == block) {
            int result = move(chain, unit, sector, left == 1U);
            if (result < 0) {
                return result;
            }
            left--;
            room--;
            moved++;
        }
    }
    return moved;
}

/* Sectors that one more block could take from those that are not full of valid ones. */
static uint16_t count_loose(struct nw_chain *chain, uint16_t unit)
{
    uint16_t pages = chain->hybrid.block_pages;
    uint32_t sum = 0;

    memset(chain->seen, 0, chain->bit_bytes);
    for (uint16_t block = chain->newest[unit]; block != NW_NO_BLOCK; block = chain->older[block]) {
        uint16_t valid = count_next(chain, block);

        sum += valid < pages ? valid : 0U;
    }
    return sum < pages ? (uint16_t)sum : pages;
}

/* superblock: move `left` sectors to the last block of a chain, which has room for them, out of
 * `first` and then, if any are left, out of those with the fewest. */
static int move_all(struct nw_chain *chain, uint16_t unit, uint16_t first, uint16_t left)
{
    uint16_t fresh = chain->newest[unit];
    uint16_t block = first;

    while (left > 0 && block != NW_NO_BLOCK) {
        uint16_t skip = 1;
        uint16_t valid;
        int32_t moved = move_out(chain, unit, block, left, left);

        if (moved < 0) {
            return (int)moved;
        }
        left = (uint16_t)(left - (uint16_t)moved);
        for (uint16_t at = chain->newest[unit]; at != fresh; at = chain->older[at]) {
            skip++; /* blocks begun after a program failed */
        }
        block = emptiest(chain, unit, skip, &valid);
    }
    chain->merging = NW_NO_BLOCK;
    (void)drop_stale(chain, unit);
    chain->hybrid.stats->merges_full++;
    return NW_OK;
}

/* superblock: the same to a fresh block. */
static int compact(struct nw_chain *chain, uint16_t unit, uint16_t first, uint16_t left)
{
    int result = nw_chain_extend(chain, unit, NW_CHAIN_MAPPED | NW_CHAIN_COPIES, NW_WEAR_MOVED);

    return result == NW_OK ? move_all(chain, unit, first, left) : result;
}

/* superblock: win pages; `all`: gather as many sectors as a block takes, to win blocks. */
static int clean(struct nw_chain *chain, uint16_t unit, int all)
{
    uint16_t newest = chain->newest[unit];
    uint16_t room = (uint16_t)(chain->hybrid.block_pages - chain->next[newest]);
    uint16_t valid;

    if (drop_stale(chain, unit) > 0) {
        chain->hybrid.stats->merges_switch++;
        return NW_OK;
    }
    uint16_t block = emptiest(chain, unit, 1, &valid);
    if (block != NW_NO_BLOCK && nw_chain_takes(chain, newest, 0) && valid <= room &&
        chain->hybrid.owes == 0 && (chain->flags[newest] & NW_CHAIN_COPIES) == 0) {
        int32_t moved = move_out(chain, unit, block, valid, valid);
        if (moved < 0) {
            return (int)moved;
        }
        (void)drop_stale(chain, unit);
        chain->hybrid.stats->merges_partial++;
        return NW_OK;
    }
    block = emptiest(chain, unit, 0, &valid);
    return block == NW_NO_BLOCK ? (int)NW_ERR_FULL
                                : compact(chain, unit, block,
                                          all ? count_loose(chain, unit) : valid);
}

/* superblock: win a block. NW_ERR_FULL: the chain has no more than its sectors need. */
static int shrink(struct nw_chain *chain, uint16_t unit)
{
    uint16_t before = chain->length[unit];

    for (uint16_t turn = 0; turn <= before; turn++) {
        int result = nw_hybrid_flush(&chain->hybrid);

        result = result == NW_OK ? clean(chain, unit, 1) : result;
        if (result < 0 || chain->length[unit] < before) {
            return result;
        }
    }
    return NW_ERR_FULL;
}

/* The merge policy's place: the unit to win a block from. */
static uint16_t choose_unit(const struct nw_chain *chain)
{
    return nw_chain_longest(chain, (uint16_t)(chain->degree + 1U));
}

/* Win a block somewhere, or (superblock) take one `step` towards it. */
static int merge_one(struct nw_chain *chain, int step)
{
    uint16_t unit = choose_unit(chain);
    int result = unit != NW_NO_BLOCK ? nw_hybrid_flush(&chain->hybrid) : (int)NW_ERR_FULL;

    if (result < 0) {
        return result;
    }
    if (chain->style != NW_CHAIN_SUPERBLOCK) {
        return nw_chain_fold(chain, unit, 0);
    }
    return step ? clean(chain, unit, 1) : shrink(chain, unit);
}

/* Room in the chain of a unit. */
static int shorten(struct nw_chain *chain, uint16_t unit)
{
    uint16_t newest = chain->newest[unit];
    int result = NW_OK;

    if (chain->style != NW_CHAIN_SUPERBLOCK) {
        int logged = newest != NW_NO_BLOCK && (chain->flags[newest] & NW_CHAIN_MAPPED) != 0;

        return logged || chain->length[unit] >= chain->longest ? nw_chain_fold(chain, unit, 0)
                                                                : (int)NW_OK;
    }
    while (result == NW_OK && chain->length[unit] > chain->longest) {
        result = shrink(chain, unit); /* mounts may have added some */
    }
    return result == NW_OK && chain->length[unit] == chain->longest ? clean(chain, unit, 0)
                                                                    : result;
}

/* Before a write adds a block to a chain: room in the chain, and in the chip. */
static int make_room(struct nw_chain *chain, uint16_t unit, uint16_t sector)
{
    int result = shorten(chain, unit);
    uint16_t newest = chain->newest[unit];

    if (newest != NW_NO_BLOCK && nw_chain_takes(chain, newest, sector) &&
        nw_hybrid_free(&chain->hybrid) >= NW_HYBRID_FLOOR) { /* fewer: blocks failed in merges */
        return result;
    }
    int begins_log = chain->style == NW_CHAIN_LOG && newest != NW_NO_BLOCK;
    while (result == NW_OK && (nw_hybrid_free(&chain->hybrid) <= nw_hybrid_floor(&chain->hybrid) ||
                               (begins_log && chain->logs >= chain->log_blocks))) {
        result = merge_one(chain, 0);
    }
    if (result == NW_ERR_FULL && !nw_chain_is_stopped(chain)) { /* no more to win: enough? */
        result = nw_hybrid_spare(&chain->hybrid, NW_HYBRID_FLOOR);
    }
    return result == NW_OK ? nw_hybrid_flush(&chain->hybrid) : result;
}

/* Empty a block, for one reason or another. */
int nw_chain_evict(struct nw_hybrid *hybrid, uint16_t block)
{
    struct nw_chain *chain = nw_chain_of(hybrid);
    uint16_t unit = chain->owner[block];

    if (unit == NW_NO_BLOCK) {
        return NW_OK;
    }
    if (chain->style != NW_CHAIN_SUPERBLOCK) {
        return nw_chain_fold(chain, unit, 1);
    }
    return compact(chain, unit, block, count_valid(chain, unit, block));
}

int nw_chain_renew(struct nw_hybrid *hybrid, uint32_t sector)
{
    struct nw_chain *chain = nw_chain_of(hybrid);
    uint16_t block = nw_chain_holder(chain, (uint16_t)(sector / chain->span),
                                     (uint16_t)(sector % chain->span));
    int result = block != NW_NO_BLOCK ? nw_chain_evict(hybrid, block) : 0;

    return result < 0 ? result : block != NW_NO_BLOCK;
}

int nw_chain_finish(struct nw_hybrid *hybrid)
{
    struct nw_chain *chain = nw_chain_of(hybrid);
    uint16_t unit = chain->merging;
    uint16_t valid;

    if (unit == NW_NO_BLOCK) {
        return NW_OK;
    }
    if (chain->style != NW_CHAIN_SUPERBLOCK) {
        return nw_chain_fold(chain, unit, 0);
    }
    /* As many as one that was not stopped would have moved: with a few at a time the next one would
     * begin with the same sectors, and win nothing as long as reads fail now and then. */
    uint16_t moved = chain->next[chain->newest[unit]];
    uint16_t room = (uint16_t)(hybrid->block_pages - moved);
    uint16_t loose = count_loose(chain, unit);
    uint16_t block = emptiest(chain, unit, 1, &valid);

    valid = loose > (uint32_t)moved + valid ? (uint16_t)(loose - moved) : valid;
    return move_all(chain, unit, block, valid < room ? valid : room);
}

/* Empty the blocks of a chain in which a program failed. What was to be written is, so an error is
 * not told: the block has to wait until its chain is merged, and the next call settles what is in
 * doubt. */
static void mend(struct nw_chain *chain, uint16_t unit)
{
    uint16_t block = chain->newest[unit];
    int result = NW_OK;

    while (result == NW_OK && block != NW_NO_BLOCK) {
        if ((chain->flags[block] & NW_CHAIN_FAILED) != 0) {
            result = nw_chain_evict(&chain->hybrid, block);
            block = chain->newest[unit];
        } else {
            block = chain->older[block];
        }
    }
}

int nw_chain_write(struct nw_hybrid *hybrid, const struct nw_hybrid_put *put)
{
    struct nw_chain *chain = nw_chain_of(hybrid);
    uint16_t unit = (uint16_t)(put->sector / chain->span);
    uint16_t sector = (uint16_t)(put->sector % chain->span);
    uint16_t newest = chain->newest[unit];

    if (hybrid->urgent == 0 &&
        (newest == NW_NO_BLOCK || !nw_chain_takes(chain, newest, sector))) {
        int result = make_room(chain, unit, sector);
        if (result < 0) {
            return result;
        }
    }
    int result = nw_chain_put(chain, put);
    if (result >= 0 && hybrid->urgent != 0) {
        nw_chain_drop_outdated(chain, unit);
    } else if (result > 0) {
        mend(chain, unit);
    }
    return result > 0 ? (int)NW_OK : result;
}

static int tidy(struct nw_hybrid *hybrid, int step)
{
    struct nw_chain *chain = nw_chain_of(hybrid);
    int result = merge_one(chain, step);

    if (result == NW_ERR_FULL && !nw_chain_is_stopped(chain)) {
        return 0;
    }
    return result < 0 ? result : 1;
}

int nw_chain_tidy(struct nw_hybrid *hybrid)
{
    return tidy(hybrid, 0);
}

int nw_chain_step(struct nw_hybrid *hybrid)
{
    return tidy(hybrid, 1);
}

/* The lists of its mapped blocks that are not in RAM. Those that are count as used just now, so
 * that they stay there; when all of the chain and the block that it may take have no room there,
 * any of them may have to leave on the way. */
uint32_t nw_chain_step_reads(struct nw_hybrid *hybrid)
{
    struct nw_chain *chain = nw_chain_of(hybrid);
    uint16_t unit = choose_unit(chain);
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

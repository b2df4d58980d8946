/* SPDX-License-Identifier: Apache-2.0 */
/* Data blocks in place, log blocks shared by all, one of them sequential. See ftl_fast.h. */
#include "fast.h"
#include "mark.h"

#include "nandwich/ftl_fast.h"

#define NONE NW_NO_BLOCK

static int fast_find(struct nw_hybrid *hybrid, uint32_t sector, uint32_t *at)
{
    struct nw_chain *chain = nw_chain_of(hybrid);
    uint16_t entry = nw_fast_lookup(chain, sector);

    if (entry == NONE) {
        return nw_chain_find(hybrid, sector, at);
    }
    *at = nw_fast_at(chain, entry);
    return NW_OK;
}

/* Merge the chain of a unit, and no entries of it but those whose sector the chain holds too. */
static int fold(struct nw_chain *chain, uint16_t unit, int fresh)
{
    chain->fast->whole = 0;
    if (chain->fast->in_order == unit) {
        chain->fast->in_order = NONE;
    }
    return nw_chain_fold(chain, unit, fresh);
}

/* Where a sector of a unit lies, if a merge to `target` (a block or NONE) has to move it: else
 * NW_NO_PAGE. */
static int find_move(struct nw_chain *chain, uint32_t sector, uint16_t target, uint32_t *at)
{
    *at = NW_NO_PAGE;
    if (target != NONE && nw_chain_has_moved(chain, target, (uint16_t)(sector % chain->span))) {
        return NW_OK;
    }
    return nw_hybrid_find(&chain->hybrid, sector, at);
}

/* Pages that a merge has to move: how many, or an error. */
static int32_t count_moves(struct nw_chain *chain, uint16_t unit, uint16_t target)
{
    uint32_t first = (uint32_t)unit * chain->span;
    int32_t moves = 0;

    for (uint16_t i = 0; i < chain->span; i++) {
        uint32_t at;
        int result = find_move(chain, first + i, target, &at);

        if (result < 0) {
            return result;
        }
        moves += at != NW_NO_PAGE;
    }
    return moves;
}

/* All of a unit to a fresh block, or to that of a merge which goes on, from wherever it is: none of
 * its entries is left. */
static int merge(struct nw_chain *chain, uint16_t unit)
{
    struct nw_hybrid *hybrid = &chain->hybrid;
    struct nw_hybrid_put put = {.flags = NW_HYBRID_COPY};
    uint32_t first = (uint32_t)unit * chain->span;
    int goes_on = chain->merging == unit;
    uint16_t target = goes_on ? chain->newest[unit] : (uint16_t)NONE;
    int32_t moves = count_moves(chain, unit, target);
    int result = moves < 0 ? (int)moves : (int)NW_OK;

    chain->fast->whole = 1;
    if (result == NW_OK && !goes_on) {
        result = nw_chain_extend(chain, unit, NW_CHAIN_COPIES, unit);
    }
    for (uint16_t i = 0; result >= 0 && moves > 0; i++) {
        put.sector = first + i;
        result = find_move(chain, put.sector, target, &put.from);
        if (result == NW_OK && put.from != NW_NO_PAGE) {
            moves--;
            put.flags |= moves == 0 ? NW_HYBRID_LAST : 0U;
            result = nw_chain_put(chain, &put);
        }
    }
    if (result < 0) {
        return result;
    }
    chain->merging = NONE;
    for (uint16_t i = 0; i < chain->span; i++) {
        nw_fast_forget(chain, first + i); /* all of them were moved */
    }
    nw_chain_unlist(chain, unit);
    (void)nw_chain_drop_stale(chain, unit, 0);
    nw_chain_enlist(chain, unit);
    hybrid->stats->merges_full++;
    return fold(chain, unit, 0); /* when a program failed */
}

/* Merge what a log block holds the newest copy of, so many units at most (all: as many as a block
 * has pages), and give it back when that was all. */
static int reclaim(struct nw_chain *chain, uint16_t slot, uint16_t most)
{
    struct nw_fast *fast = chain->fast;
    uint16_t pages = chain->hybrid.block_pages;

    fast->open = fast->open == slot ? (uint16_t)NONE : fast->open;
    for (uint16_t page = 0; page < pages && fast->valid[slot] > 0 && most > 0; page++) {
        uint32_t sector = fast->sector[(size_t)slot * pages + page];

        if (sector != NW_NO_PAGE) {
            int result = merge(chain, (uint16_t)(sector / chain->span));
            if (result < 0) {
                return result;
            }
            most--;
        }
    }
    if (fast->valid[slot] == 0) {
        nw_fast_drop(chain, slot);
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
    return reclaim(chain, nw_fast_slot(chain, block), most);
}

/* The merge policy's place: win a block, by merging so many units at most. A chain of several
 * blocks first. */
static int merge_one(struct nw_chain *chain, uint16_t most)
{
    uint16_t unit = nw_chain_longest(chain, 2);
    int result = nw_hybrid_flush(&chain->hybrid);

    if (result < 0) {
        return result;
    }
    return unit != NONE ? fold(chain, unit, 0) : reclaim_oldest(chain, most);
}

static int make_room(struct nw_chain *chain)
{
    int result = NW_OK;

    while (result == NW_OK && nw_hybrid_free(&chain->hybrid) <= nw_hybrid_floor(&chain->hybrid)) {
        result = merge_one(chain, chain->hybrid.block_pages);
    }
    if (result == NW_ERR_FULL && !nw_chain_is_stopped(chain)) { /* no more to win: enough? */
        result = nw_hybrid_spare(&chain->hybrid, NW_HYBRID_FLOOR);
    }
    return result == NW_OK ? nw_hybrid_flush(&chain->hybrid) : result;
}

/* To the shared logs. */
static int write_shared(struct nw_chain *chain, const struct nw_hybrid_put *put)
{
    struct nw_fast *fast = chain->fast;
    int result = NW_OK;

    if (fast->open == NONE) {
        while (result == NW_OK && fast->count >= fast->most) {
            result = reclaim_oldest(chain, chain->hybrid.block_pages);
        }
        result = result == NW_OK ? make_room(chain) : result;
    }
    result = result == NW_OK ? nw_fast_put(chain, put) : result;
    int mends = NW_OK;

    for (uint16_t slot = 0; result > 0 && mends == NW_OK && slot < fast->slots; slot++) {
        uint16_t block = fast->block[slot];
        if (block != NONE && (chain->flags[block] & NW_CHAIN_FAILED) != 0) {
            /* It has to wait if that fails: the sector is written. */
            mends = reclaim(chain, slot, chain->hybrid.block_pages);
        }
    }
    return result;
}

/* To the chain of its unit: a data block in place, or the sequential log block. */
static int write_chain(struct nw_chain *chain, const struct nw_hybrid_put *put)
{
    uint16_t unit = (uint16_t)(put->sector / chain->span);
    int result = nw_chain_put(chain, put);

    if (result >= 0 && chain->hybrid.urgent != 0) {
        nw_chain_drop_outdated(chain, unit);
    } else if (result > 0) {
        (void)fold(chain, unit, 0); /* has to wait if that fails */
    }
    return result;
}

/* The first sector of a unit begins the sequential log block, for which the last one is merged. */
static int begin_in_order(struct nw_chain *chain, const struct nw_hybrid_put *put)
{
    struct nw_fast *fast = chain->fast;
    uint16_t unit = (uint16_t)(put->sector / chain->span);
    int result = fast->in_order != NONE ? fold(chain, fast->in_order, 0) : (int)NW_OK;

    if (result == NW_OK) {
        result = fold(chain, unit, 0);
    }
    if (result == NW_OK) {
        result = make_room(chain);
    }
    if (result == NW_OK) {
        result = nw_chain_extend(chain, unit, 0, unit);
    }
    if (result == NW_OK) {
        fast->in_order = unit;
        result = write_chain(chain, put);
    }
    return result;
}

static int place_sector(struct nw_chain *chain, const struct nw_hybrid_put *put)
{
    uint16_t unit = (uint16_t)(put->sector / chain->span);
    uint16_t sector = (uint16_t)(put->sector % chain->span);
    uint16_t newest = chain->newest[unit];

    if (chain->hybrid.urgent != 0) {
        return write_chain(chain, put);
    }
    if (newest == NONE) {
        int result = make_room(chain);
        return result == NW_OK ? write_chain(chain, put) : result;
    }
    int takes = nw_chain_takes(chain, newest, sector);
    if (takes && (chain->length[unit] == 1U ||
                  (chain->fast->in_order == unit && sector == chain->next[newest]))) {
        return write_chain(chain, put);
    }
    return sector == 0 ? begin_in_order(chain, put) : write_shared(chain, put);
}

static int fast_write(struct nw_hybrid *hybrid, const struct nw_hybrid_put *put)
{
    int result = place_sector(nw_chain_of(hybrid), put);

    return result > 0 ? (int)NW_OK : result;
}

static int fast_meet(struct nw_hybrid *hybrid, uint32_t at, const struct nw_tag *tag)
{
    struct nw_chain *chain = nw_chain_of(hybrid);
    uint16_t block = nw_hybrid_block_of(hybrid, at);
    uint16_t page = (uint16_t)(at - nw_hybrid_first(hybrid, block));
    uint16_t owner = chain->owner[block];

    if ((tag->word & NW_HYBRID_SHARED) == 0) {
        if (owner != chain->units && chain->fast->found != 0) {
            nw_fast_forget(chain, tag->word & NW_HYBRID_SECTOR);
        }
        return owner == chain->units ? (int)NW_OK : nw_chain_meet(hybrid, at, tag);
    }
    if (owner != NONE && owner != chain->units) {
        return NW_OK; /* what an erase that was cut has left */
    }
    chain->owner[block] = chain->units;
    if (page >= chain->next[block]) {
        chain->next[block] = (uint16_t)(page + 1U);
    }
    return chain->fast->found != 0 ? nw_fast_meet(chain, at, tag) : (int)NW_OK;
}

static int tidy(struct nw_hybrid *hybrid, uint16_t most)
{
    struct nw_chain *chain = nw_chain_of(hybrid);
    int result = merge_one(chain, most);

    if (result == NW_ERR_FULL && !nw_chain_is_stopped(chain)) {
        return 0;
    }
    return result < 0 ? result : 1;
}

static int fast_tidy(struct nw_hybrid *hybrid)
{
    return tidy(hybrid, hybrid->block_pages);
}

/* A log block is won by as many steps as units have sectors in it. */
static int fast_step(struct nw_hybrid *hybrid)
{
    return tidy(hybrid, 1);
}

static int fast_evict(struct nw_hybrid *hybrid, uint16_t block)
{
    struct nw_chain *chain = nw_chain_of(hybrid);
    uint16_t unit = chain->owner[block];

    if (unit == chain->units) {
        return reclaim(chain, nw_fast_slot(chain, block), hybrid->block_pages);
    }
    return unit != NONE ? fold(chain, unit, 1) : (int)NW_OK;
}

static int fast_renew(struct nw_hybrid *hybrid, uint32_t sector)
{
    struct nw_chain *chain = nw_chain_of(hybrid);
    int result = merge(chain, (uint16_t)(sector / chain->span));

    return result < 0 ? result : 1;
}

/* As it began: a merge of a chain alone has passed by sectors that are in entries and nowhere
 * else. */
static int fast_finish(struct nw_hybrid *hybrid)
{
    struct nw_chain *chain = nw_chain_of(hybrid);
    uint16_t unit = chain->merging;

    if (unit == NONE) {
        return NW_OK;
    }
    return chain->fast->whole != 0 ? merge(chain, unit) : fold(chain, unit, 0);
}

static const struct nw_hybrid_kind fast_kind = {.find = fast_find,
                                                .write = fast_write,
                                                .meet = fast_meet,
                                                .forget = nw_chain_forget,
                                                .goes_on = nw_chain_goes_on,
                                                .arrange = nw_chain_arrange,
                                                .tidy = fast_tidy,
                                                .step = fast_step,
                                                .step_reads = nw_chain_step_reads,
                                                .evict = fast_evict,
                                                .renew = fast_renew,
                                                .finish = fast_finish};

/* The configuration as a plan; NW_ERR_CONFIG. */
static int plan_of(const struct nw_ftl_fast_config *config, const struct nw_geometry *geometry,
                   struct nw_chain_plan *plan)
{
    uint32_t spare = config->spare_blocks != 0
                         ? config->spare_blocks
                         : geometry->blocks / 14U + NW_HYBRID_LEAST_SPARE;
    uint32_t most = spare > NW_HYBRID_FLOOR + 3U ? spare - NW_HYBRID_FLOOR - 3U : 0;
    uint32_t pages = geometry->block_pages != 0 ? geometry->block_pages : 1U;
    uint32_t numbers = (NW_NO_BLOCK - 1U) / pages; /* entries have 16 bits */
    uint32_t room = numbers > NW_FAST_MORE ? numbers - NW_FAST_MORE : 0;
    uint32_t logs = most < room ? most : room;

    logs = config->log_blocks != 0 ? config->log_blocks : logs;

    *plan = (struct nw_chain_plan){.kind = &fast_kind,
                                   .beside = &nw_fast_beside,
                                   .name = NW_MARK_FAST,
                                   .wear = config->wear,
                                   .spare_blocks = config->spare_blocks,
                                   .flags = config->flags,
                                   .degree = 1,
                                   .longest = 3, /* a mount may add a block */
                                   .log_blocks = (uint16_t)logs,
                                   .style = NW_CHAIN_FAST};
    return logs > 0 && logs <= most && logs <= room &&
                   nw_chain_sectors(plan, geometry) != 0
               ? NW_OK
               : NW_ERR_CONFIG;
}

uint32_t nw_ftl_fast_sectors(const struct nw_ftl_fast_config *config,
                            const struct nw_geometry *geometry)
{
    struct nw_chain_plan plan;

    return plan_of(config, geometry, &plan) < 0 ? 0 : nw_chain_sectors(&plan, geometry);
}

size_t nw_ftl_fast_ram_bytes(const struct nw_ftl_fast_config *config,
                            const struct nw_geometry *geometry)
{
    struct nw_chain_plan plan;

    return plan_of(config, geometry, &plan) < 0 ? 0 : nw_chain_ram_bytes(&plan, geometry);
}

static int start(struct nw_ftl_fast *ftl, struct nw_chip *chip,
                 const struct nw_ftl_fast_config *config, void *ram, size_t ram_bytes, int how)
{
    struct nw_chain_plan plan;

    if (plan_of(config, &chip->geometry, &plan) < 0) {
        return NW_ERR_CONFIG;
    }
    return nw_chain_open(&ftl->block, &ftl->stats, chip, &plan, ram, ram_bytes, how);
}

int nw_ftl_fast_format(struct nw_ftl_fast *ftl, struct nw_chip *chip,
                      const struct nw_ftl_fast_config *config, void *ram, size_t ram_bytes)
{
    return start(ftl, chip, config, ram, ram_bytes, NW_CHAIN_FORMAT);
}

int nw_ftl_fast_mount(struct nw_ftl_fast *ftl, struct nw_chip *chip,
                     const struct nw_ftl_fast_config *config, void *ram, size_t ram_bytes)
{
    return start(ftl, chip, config, ram, ram_bytes, NW_CHAIN_MOUNT);
}

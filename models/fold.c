/* SPDX-License-Identifier: Apache-2.0 */
/* Merges of chains whose blocks lie in place (nftl, log, fast), and the writes of nftl and log. */
#include "chain.h"

/* 1 if the sector is held, but not by that block. */
static int is_elsewhere(const struct nw_chain *chain, uint16_t unit, uint16_t block,
                        uint16_t sector)
{
    uint16_t holder = nw_chain_holder(chain, unit, sector);

    return holder != NW_NO_BLOCK && holder != block;
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

    if ((chain->flags[newest] & NW_CHAIN_CLOSED) != 0) {
        return 0;
    }
    for (uint16_t sector = 0; sector < chain->span; sector++) {
        if (is_elsewhere(chain, unit, newest, sector) && !nw_chain_takes(chain, newest, sector)) {
            return 0;
        }
    }
    return 1;
}

/* The same for a last block of any kind, which is in place afterwards if it can. */
static int make_gather(struct nw_chain *chain, uint16_t unit)
{
    uint16_t newest = chain->newest[unit];
    int mapped = (chain->flags[newest] & NW_CHAIN_MAPPED) != 0;
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

/* Move all that the last block lacks to it: how many sectors, or an error. */
static int32_t gather(struct nw_chain *chain, uint16_t unit)
{
    uint16_t target = chain->newest[unit];
    int32_t moved = 0;

    for (uint16_t sector = 0; sector < chain->span; sector++) {
        if (is_elsewhere(chain, unit, target, sector)) {
            int result = nw_chain_move(chain, (uint32_t)unit * chain->span + sector);
            if (result < 0) {
                return result;
            }
            target = chain->newest[unit]; /* another one, if a program failed */
            moved++;
        }
    }
    return moved;
}

static int is_folded(const struct nw_chain *chain, uint16_t unit)
{
    return chain->length[unit] == 1U &&
           (chain->flags[chain->newest[unit]] & (NW_CHAIN_FAILED | NW_CHAIN_MAPPED)) == 0;
}

int nw_chain_fold(struct nw_chain *chain, uint16_t unit, int fresh)
{
    struct nw_stats *stats = chain->stats;

    while (chain->newest[unit] != NW_NO_BLOCK && (fresh || !is_folded(chain, unit))) {
        int32_t result = fresh ? 0 : make_gather(chain, unit);
        int gathers = result > 0;

        if (result == 0) {
            result = nw_chain_extend(chain, unit, 0, fresh ? NW_WEAR_MOVED : unit);
        }
        if (result >= 0) {
            result = gather(chain, unit);
        }
        if (result < 0) {
            return (int)result;
        }
        (void)nw_chain_drop_stale(chain, unit);
        fresh = 0;
        stats->merges_full += !gathers;
        stats->merges_partial += gathers && result > 0;
        stats->merges_switch += gathers && result == 0;
    }
    return NW_OK;
}

static int fold_merge(struct nw_chain *chain, int step)
{
    uint16_t unit = nw_chain_longest(chain, 2);

    (void)step;
    return unit != NW_NO_BLOCK ? nw_chain_fold(chain, unit, 0) : (int)NW_ERR_FULL;
}

static int fold_evict(struct nw_chain *chain, uint16_t block)
{
    return nw_chain_fold(chain, chain->owner[block], 1);
}

/* Room in the chain for one more block, then in the chip. */
static int make_room(struct nw_chain *chain, uint16_t unit, uint16_t sector)
{
    uint16_t newest = chain->newest[unit];
    int result = NW_OK;

    if (chain->length[unit] >= chain->longest ||
        (newest != NW_NO_BLOCK && (chain->flags[newest] & NW_CHAIN_MAPPED) != 0)) {
        result = nw_chain_fold(chain, unit, 0);
        newest = chain->newest[unit];
    }
    if (newest != NW_NO_BLOCK && nw_chain_takes(chain, newest, sector)) {
        return result;
    }
    while (result == NW_OK && chain->kind == NW_MODEL_LOG && newest != NW_NO_BLOCK &&
           chain->logs >= chain->log_blocks) {
        result = fold_merge(chain, 0);
    }
    return result == NW_OK ? nw_chain_make_room(chain) : result;
}

static int fold_write(struct nw_chain *chain, const struct nw_chain_put *put)
{
    uint16_t unit = (uint16_t)(put->sector / chain->span);
    uint16_t sector = (uint16_t)(put->sector % chain->span);
    uint16_t newest = chain->newest[unit];
    int result = NW_OK;

    if (newest == NW_NO_BLOCK || !nw_chain_takes(chain, newest, sector)) {
        result = make_room(chain, unit, sector);
    }
    result = result == NW_OK ? nw_chain_put(chain, put) : result;
    if (result > 0) {
        nw_chain_mend(chain, unit);
    }
    return result < 0 ? result : NW_OK;
}

const struct nw_chain_ops nw_fold_ops = {
    .find = nw_chain_find, .write = fold_write, .merge = fold_merge, .evict = fold_evict};

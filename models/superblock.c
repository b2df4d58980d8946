/* SPDX-License-Identifier: Apache-2.0 */
/* Writes and merges of superblock. A merge moves the valid sectors of the emptiest blocks of a
 * superblock to its end. */
#include <string.h>

#include "chain.h"

/* Sectors of a block that no later one of its chain holds. Blocks are asked for from the last one
 * on, after chain->seen was cleared. */
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

/* Of the blocks before `behind` (NW_NO_BLOCK: of all) that with the fewest valid sectors, but some;
 * NW_NO_BLOCK. */
static uint16_t emptiest(struct nw_chain *chain, uint16_t unit, uint16_t behind, uint16_t *valid)
{
    uint16_t best = NW_NO_BLOCK;
    int counts = behind == NW_NO_BLOCK;

    *valid = 0;
    memset(chain->seen, 0, chain->bit_bytes);
    for (uint16_t block = chain->newest[unit]; block != NW_NO_BLOCK; block = chain->older[block]) {
        uint16_t count = count_next(chain, block);

        if (counts && count > 0 && (best == NW_NO_BLOCK || count < *valid)) {
            best = block;
            *valid = count;
        }
        counts |= block == behind;
    }
    return best;
}

/* Move up to `room` valid sectors of a block to the end of the chain: how many, or an error. */
static int32_t move_out(struct nw_chain *chain, uint16_t unit, uint16_t block, uint16_t room)
{
    int32_t moved = 0;

    for (uint16_t sector = 0; sector < chain->span && moved < room; sector++) {
        if (nw_chain_holds(chain, block, sector) &&
            nw_chain_holder(chain, unit, sector) == block) {
            int result = nw_chain_move(chain, (uint32_t)unit * chain->span + sector);
            if (result < 0) {
                return result;
            }
            moved++;
        }
    }
    return moved;
}

/* Sectors that one more block could take from those that are not full of valid ones. */
static uint16_t count_loose(struct nw_chain *chain, uint16_t unit)
{
    uint32_t sum = 0;

    memset(chain->seen, 0, chain->bit_bytes);
    for (uint16_t block = chain->newest[unit]; block != NW_NO_BLOCK; block = chain->older[block]) {
        uint16_t valid = count_next(chain, block);

        sum += valid < chain->block_pages ? valid : 0U;
    }
    return sum < chain->block_pages ? (uint16_t)sum : chain->block_pages;
}

/* Move all valid sectors of `block` to a fresh one, and with them those of the emptiest others, as
 * long as they are `left` together. */
static int compact(struct nw_chain *chain, uint16_t unit, uint16_t block, uint16_t left)
{
    int32_t moved = nw_chain_extend(chain, unit, NW_CHAIN_MAPPED, NW_WEAR_MOVED);
    uint16_t fresh = chain->newest[unit];
    uint16_t valid;

    while (moved >= 0 && left > 0 && block != NW_NO_BLOCK) {
        moved = move_out(chain, unit, block, left);
        left = (uint16_t)(left - (moved > 0 ? moved : 0));
        block = emptiest(chain, unit, fresh, &valid);
    }
    if (moved < 0) {
        return (int)moved;
    }
    (void)nw_chain_drop_stale(chain, unit);
    chain->stats->merges_full++;
    return NW_OK;
}

/* Win pages; `all`: gather as many sectors as a block takes, to win blocks. */
static int clean(struct nw_chain *chain, uint16_t unit, int all)
{
    uint16_t valid;

    if (nw_chain_drop_stale(chain, unit) > 0) {
        chain->stats->merges_switch++;
        return NW_OK;
    }
    uint16_t newest = chain->newest[unit];
    uint16_t block = emptiest(chain, unit, newest, &valid);
    if (block != NW_NO_BLOCK && nw_chain_takes(chain, newest, 0) &&
        valid <= chain->block_pages - chain->next[newest]) {
        int32_t moved = move_out(chain, unit, block, valid);
        if (moved < 0) {
            return (int)moved;
        }
        (void)nw_chain_drop_stale(chain, unit);
        chain->stats->merges_partial++;
        return NW_OK;
    }
    block = emptiest(chain, unit, NW_NO_BLOCK, &valid);
    return compact(chain, unit, block, all ? count_loose(chain, unit) : valid);
}

/* Win a block. NW_ERR_FULL: the chain has no more than its sectors need. */
static int shrink(struct nw_chain *chain, uint16_t unit)
{
    uint16_t before = chain->length[unit];

    for (uint16_t turn = 0; turn <= before; turn++) {
        int result = clean(chain, unit, 1);
        if (result < 0 || chain->length[unit] < before) {
            return result;
        }
    }
    return NW_ERR_FULL;
}

static int superblock_merge(struct nw_chain *chain, int step)
{
    uint16_t unit = nw_chain_longest(chain, (uint16_t)(chain->degree + 1U));

    if (unit == NW_NO_BLOCK) {
        return NW_ERR_FULL;
    }
    return step ? clean(chain, unit, 1) : shrink(chain, unit);
}

static int superblock_evict(struct nw_chain *chain, uint16_t block)
{
    uint16_t unit = chain->owner[block];
    uint16_t valid = 0;

    for (uint16_t sector = 0; sector < chain->span; sector++) {
        valid = (uint16_t)(valid + (nw_chain_holder(chain, unit, sector) == block ? 1U : 0U));
    }
    return compact(chain, unit, block, valid);
}

static int superblock_write(struct nw_chain *chain, const struct nw_chain_put *put)
{
    uint16_t unit = (uint16_t)(put->sector / chain->span);
    uint16_t newest = chain->newest[unit];
    int result = NW_OK;

    if (newest == NW_NO_BLOCK || !nw_chain_takes(chain, newest, 0)) {
        while (result == NW_OK && chain->length[unit] > chain->longest) {
            result = shrink(chain, unit); /* blocks failed */
        }
        if (result == NW_OK && chain->length[unit] == chain->longest) {
            result = clean(chain, unit, 0);
        }
        newest = chain->newest[unit];
        if (result == NW_OK && (newest == NW_NO_BLOCK || !nw_chain_takes(chain, newest, 0))) {
            result = nw_chain_make_room(chain);
        }
    }
    result = result == NW_OK ? nw_chain_put(chain, put) : result;
    if (result > 0) {
        nw_chain_mend(chain, unit);
    }
    return result < 0 ? result : NW_OK;
}

const struct nw_chain_ops nw_superblock_ops = {.find = nw_chain_find,
                                               .write = superblock_write,
                                               .merge = superblock_merge,
                                               .evict = superblock_evict};

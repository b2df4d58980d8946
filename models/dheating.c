/* SPDX-License-Identifier: Apache-2.0 */
/* Dispersed heating: see nandwich-models/wear_dheating.h. */
#include <string.h>

#include "nandwich-models/wear_dheating.h"
#include "wear.h"

#define HOT 0x01U /* in flags, of the logical block */
#define OLD 0x02U /* of the physical block */
#define FULL_COUNT 255U

/* Pools in the order in which cold data takes them. */
enum { YOUNG, NEW, OLDER };

/* And in that of hot data: a new block only when no young one is left. */
static const uint8_t hot_turn[] = {[OLDER] = 0, [YOUNG] = 1, [NEW] = 2};

/* `wear` comes first in struct nw_dheating. */
static struct nw_dheating *dheating_of(struct nw_wear *wear)
{
    return (struct nw_dheating *)(void *)wear;
}

static uint8_t pool_of(const struct nw_dheating *dheating, uint16_t block)
{
    if (nw_wear_heals(dheating->wear.view.erases[block]) > dheating->round) {
        return NEW;
    }
    return (dheating->flags[block] & OLD) != 0 ? OLDER : YOUNG;
}

static int dheating_start(struct nw_wear *wear)
{
    struct nw_dheating *dheating = dheating_of(wear);

    dheating->round = 0;
    dheating->joined = NW_WEAR_NONE;
    memset(dheating->updates, 0, wear->room);
    memset(dheating->flags, 0, wear->room);
    return nw_wear_start(wear);
}

static int is_hot(const struct nw_dheating *dheating, uint16_t data)
{
    if (data >= dheating->wear.view.blocks) {
        return data == NW_WEAR_HOST;
    }
    return (dheating->flags[data] & HOT) != 0;
}

/* How gladly a kind of data takes a block, least first: by pool, then by wear. */
static uint64_t rank_of(const struct nw_dheating *dheating, uint16_t block, int hot)
{
    uint32_t erases = dheating->wear.view.erases[block];
    uint8_t pool = pool_of(dheating, block);

    if (hot && pool != NEW) {
        erases = ~erases;
    }
    return (uint64_t)(hot ? hot_turn[pool] : pool) << 32 | erases;
}

static uint16_t dheating_choose(struct nw_wear *wear, uint16_t first, uint16_t data)
{
    struct nw_dheating *dheating = dheating_of(wear);
    int hot = is_hot(dheating, data);
    uint64_t least = rank_of(dheating, first, hot);
    uint16_t best = first;

    for (; first < wear->view.blocks; first = wear->view.next[first]) {
        uint64_t rank = rank_of(dheating, first, hot);

        if (rank < least) {
            least = rank;
            best = first;
        }
    }
    if (hot && data < wear->view.blocks && best < wear->view.blocks &&
        pool_of(dheating, best) == YOUNG) {
        dheating->flags[best] |= OLD;
    }
    return best;
}

/* The most worn of the young blocks joins the old pool. */
static void grow_old(struct nw_dheating *dheating)
{
    const struct nw_wear_view *view = &dheating->wear.view;
    uint16_t oldest = NW_WEAR_NONE;

    for (uint16_t block = 0; block < view->blocks; block++) {
        if (view->state[block] != NW_BLOCK_BAD && pool_of(dheating, block) == YOUNG &&
            (oldest == NW_WEAR_NONE || view->erases[block] > view->erases[oldest])) {
            oldest = block;
        }
    }
    if (oldest != NW_WEAR_NONE) {
        dheating->flags[oldest] |= OLD;
        dheating->joined = oldest;
    }
}

/* The hot data filter, each time a counter is full. */
static void filter(struct nw_dheating *dheating)
{
    uint16_t blocks = dheating->wear.view.blocks;
    uint16_t warmest = NW_WEAR_NONE;
    uint16_t updated = 0;
    uint32_t sum = 0;

    for (uint16_t data = 0; data < blocks; data++) {
        uint8_t updates = dheating->updates[data];

        sum += updates;
        updated = (uint16_t)(updated + (updates > 0));
        if (updates > 0 && !is_hot(dheating, data) &&
            (warmest == NW_WEAR_NONE || updates > dheating->updates[warmest])) {
            warmest = data;
        }
    }
    if (warmest != NW_WEAR_NONE && (uint32_t)dheating->updates[warmest] * updated >= sum) {
        dheating->flags[warmest] |= HOT;
        dheating->wear.stats.hot++;
        grow_old(dheating);
    }
    memset(dheating->updates, 0, blocks);
}

static void dheating_updated(struct nw_wear *wear, uint16_t data)
{
    struct nw_dheating *dheating = dheating_of(wear);

    if (data < wear->view.blocks && ++dheating->updates[data] == FULL_COUNT) {
        filter(dheating);
    }
}

/* When no block is left that was not healed, the next round begins. */
static void next_round(struct nw_dheating *dheating)
{
    const struct nw_wear_view *view = &dheating->wear.view;

    for (uint16_t block = 0; block < view->blocks; block++) {
        if (view->state[block] != NW_BLOCK_BAD && pool_of(dheating, block) != NEW) {
            return;
        }
    }
    dheating->round++;
    dheating->wear.stats.rounds++;
    memset(dheating->flags, 0, view->blocks);
    memset(dheating->updates, 0, view->blocks);
}

static int32_t dheating_heal(struct nw_wear *wear, int when)
{
    struct nw_dheating *dheating = dheating_of(wear);
    int32_t block = nw_heal_one(wear, when);

    if (block >= 0 && block < wear->view.blocks) {
        dheating->flags[block] &= (uint8_t)~OLD;
        grow_old(dheating); /* hot data keeps as many old blocks */
        next_round(dheating);
    }
    return block;
}

static uint16_t dheating_move(struct nw_wear *wear)
{
    struct nw_dheating *dheating = dheating_of(wear);
    uint16_t block = dheating->joined;

    dheating->joined = NW_WEAR_NONE;
    if (block == NW_WEAR_NONE || wear->view.state[block] != NW_BLOCK_USED) {
        return NW_WEAR_NONE;
    }
    wear->stats.moves++;
    return block;
}

static const struct nw_wear_ops dheating_ops = {.start = dheating_start,
                                                .choose = dheating_choose,
                                                .erased = nw_wear_erased,
                                                .given = nw_heal_given,
                                                .heal = dheating_heal,
                                                .updated = dheating_updated,
                                                .move = dheating_move};

static int place(struct nw_dheating *dheating, const struct nw_dheating_config *config,
                 uint16_t blocks, struct nw_ram *ram)
{
    int result = nw_wear_place(&dheating->wear, &dheating_ops, &config->heal, blocks, ram);

    dheating->updates = NW_RAM_TAKE(ram, uint8_t, blocks);
    dheating->flags = NW_RAM_TAKE(ram, uint8_t, blocks);
    return result;
}

size_t nw_dheating_ram_bytes(const struct nw_dheating_config *config, uint16_t blocks)
{
    struct nw_ram ram = {0};
    struct nw_dheating dheating;

    return place(&dheating, config, blocks, &ram) < 0 ? 0 : ram.used;
}

int nw_dheating_open(struct nw_dheating *dheating, const struct nw_dheating_config *config,
                     uint16_t blocks, void *ram, size_t ram_bytes)
{
    struct nw_ram arena = {.start = ram, .bytes = ram_bytes};
    int result = place(dheating, config, blocks, &arena);

    return result < 0 || (ram != NULL && arena.used <= ram_bytes) ? result : (int)NW_ERR_RAM;
}

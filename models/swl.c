/* SPDX-License-Identifier: Apache-2.0 */
/* Static wear levelling: see nandwich-models/wear_swl.h. */
#include <string.h>

#include "nandwich-models/wear_swl.h"
#include "wear.h"

#define DEFAULT_THRESHOLD 100U
#define MOST_SHIFT 15U

/* `wear` comes first in struct nw_swl. */
static struct nw_swl *swl_of(struct nw_wear *wear)
{
    return (struct nw_swl *)(void *)wear;
}

static void clear(struct nw_swl *swl)
{
    uint16_t sets = (uint16_t)((swl->wear.view.blocks + (1UL << swl->shift) - 1U) >> swl->shift);

    memset(swl->flags, 0, swl->wear.view.blocks);
    swl->erases = 0;
    swl->set_flags = 0;
    swl->cursor = (uint16_t)((nw_random_next(&swl->random) % sets) << swl->shift);
}

static int swl_start(struct nw_wear *wear)
{
    struct nw_swl *swl = swl_of(wear);
    int result = nw_wear_start(wear);

    if (result == NW_OK) {
        clear(swl);
    }
    return result;
}

static uint16_t swl_choose(struct nw_wear *wear, uint16_t first, uint16_t data)
{
    const struct nw_wear_view *view = &wear->view;
    uint16_t most = first;

    if (data != NW_WEAR_MOVED) {
        return nw_wear_fewest(wear, first, data);
    }
    for (; first < view->blocks; first = view->next[first]) {
        if (view->erases[first] > view->erases[most]) {
            most = first;
        }
    }
    return most;
}

static void set_flag(struct nw_swl *swl, uint16_t block)
{
    if (swl->flags[block] == 0) {
        swl->flags[block] = 1;
        swl->set_flags++;
    }
    if (swl->set_flags == swl->wear.view.blocks) {
        swl->wear.stats.rounds++;
        clear(swl);
    }
}

static void swl_erased(struct nw_wear *wear, uint16_t block)
{
    struct nw_swl *swl = swl_of(wear);

    swl->erases++;
    set_flag(swl, block);
}

static int is_due(const struct nw_swl *swl)
{
    return swl->set_flags > 0 && swl->erases >= (uint32_t)swl->threshold * swl->set_flags;
}

/* Looks on through the set under way, or else at the next ones, for data that has to move. */
static uint16_t swl_move(struct nw_wear *wear)
{
    struct nw_swl *swl = swl_of(wear);
    uint16_t blocks = wear->view.blocks;
    uint16_t mask = (uint16_t)((1UL << swl->shift) - 1U);

    for (uint16_t i = 0; i < blocks; i++) {
        uint16_t block = swl->cursor;

        if ((block & mask) == 0 && !is_due(swl)) {
            break; /* no further set begins */
        }
        swl->cursor = (uint16_t)(block + 1U < blocks ? block + 1U : 0);
        if (swl->flags[block] == 0) {
            int holds = wear->view.state[block] == NW_BLOCK_USED;

            set_flag(swl, block); /* now: the layer may have a reason not to move it */
            if (holds) {
                wear->stats.moves++;
                return block;
            }
        }
    }
    return NW_WEAR_NONE;
}

static const struct nw_wear_ops swl_ops = {.start = swl_start,
                                           .choose = swl_choose,
                                           .erased = swl_erased,
                                           .given = nw_heal_given,
                                           .heal = nw_heal_one,
                                           .updated = nw_wear_updated,
                                           .move = swl_move};

static int place(struct nw_swl *swl, const struct nw_swl_config *config, uint16_t blocks,
                 struct nw_ram *ram)
{
    int result = nw_wear_place(&swl->wear, &swl_ops, &config->heal, blocks, ram);

    swl->flags = NW_RAM_TAKE(ram, uint8_t, blocks);
    return config->threshold == 1U || config->set_shift > MOST_SHIFT ? (int)NW_ERR_CONFIG : result;
}

size_t nw_swl_ram_bytes(const struct nw_swl_config *config, uint16_t blocks)
{
    struct nw_ram ram = {0};
    struct nw_swl swl;

    return place(&swl, config, blocks, &ram) < 0 ? 0 : ram.used;
}

int nw_swl_open(struct nw_swl *swl, const struct nw_swl_config *config, uint16_t blocks, void *ram,
                size_t ram_bytes)
{
    struct nw_ram arena = {.start = ram, .bytes = ram_bytes};
    int result = place(swl, config, blocks, &arena);

    if (result < 0) {
        return result;
    }
    swl->threshold = config->threshold != 0 ? config->threshold : DEFAULT_THRESHOLD;
    swl->shift = config->set_shift;
    nw_random_seed(&swl->random, config->seed);
    return ram != NULL && arena.used <= ram_bytes ? (int)NW_OK : (int)NW_ERR_RAM;
}

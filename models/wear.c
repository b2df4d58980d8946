/* SPDX-License-Identifier: Apache-2.0 */
/* What policies share, and the simplest of them: dynamic wear levelling. */
#include "wear.h"

#include <string.h>

#define LOOK 256U /* free blocks compared; a list is that long only on a chip hardly used */

int nw_wear_place(struct nw_wear *wear, const struct nw_wear_ops *ops,
                  const struct nw_heal_config *heal, uint16_t blocks, struct nw_ram *ram)
{
    memset(wear, 0, sizeof *wear);
    wear->ops = ops;
    wear->room = blocks;
    wear->heal.waits = NW_RAM_TAKE(ram, uint8_t, blocks);
    if (heal != NULL) {
        wear->heal.config = *heal;
    }
    return wear->heal.config.percent > 100U ? (int)NW_ERR_CONFIG : (int)NW_OK;
}

int nw_wear_start(struct nw_wear *wear)
{
    return wear->view.blocks > wear->room ? (int)NW_ERR_CONFIG : nw_heal_start(wear);
}

uint16_t nw_wear_fewest(struct nw_wear *wear, uint16_t first, uint16_t data)
{
    const struct nw_wear_view *view = &wear->view;
    uint16_t best = first;

    (void)data; /* all data alike */
    for (uint16_t i = 0; i < LOOK && first < view->blocks; i++) {
        if (view->erases[first] < view->erases[best]) {
            best = first;
        }
        first = view->next[first];
    }
    return best;
}

void nw_wear_erased(struct nw_wear *wear, uint16_t block)
{
    (void)wear;
    (void)block;
}

void nw_wear_updated(struct nw_wear *wear, uint16_t data)
{
    (void)wear;
    (void)data;
}

uint16_t nw_wear_move(struct nw_wear *wear)
{
    (void)wear;
    return NW_WEAR_NONE;
}

static const struct nw_wear_ops dynamic_ops = {.start = nw_wear_start,
                                               .choose = nw_wear_fewest,
                                               .erased = nw_wear_erased,
                                               .given = nw_heal_given,
                                               .heal = nw_heal_one,
                                               .updated = nw_wear_updated,
                                               .move = nw_wear_move};

size_t nw_wear_dynamic_ram_bytes(uint16_t blocks)
{
    struct nw_ram ram = {0};
    struct nw_wear wear;

    (void)nw_wear_place(&wear, &dynamic_ops, NULL, blocks, &ram);
    return ram.used;
}

int nw_wear_dynamic_open(struct nw_wear *wear, const struct nw_heal_config *heal, uint16_t blocks,
                         void *ram, size_t ram_bytes)
{
    struct nw_ram arena = {.start = ram, .bytes = ram_bytes};
    int result = nw_wear_place(wear, &dynamic_ops, heal, blocks, &arena);

    return result < 0 || (ram != NULL && arena.used <= ram_bytes) ? result : (int)NW_ERR_RAM;
}

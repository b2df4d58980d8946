/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wear_dheating.h - dispersed heating: few blocks are worn on purpose, so that healings come one by
 * one and not all blocks reach their bar together.
 *
 * Source: Chen, "Hardware/Software Codesign for Performance and Lifetime Enhancement in
 * NAND-Flash-based Embedded Storage Systems", PhD thesis, Hong Kong Polytechnic University, 2016,
 * chapter 2. The stages there come out of three rules here:
 *   - Blocks lie in pools. At first all are young; for each logical block found hot, and for each
 *     block healed, the most erased young block joins the old pool, and its data moves away if it
 *     has any; a block that was healed is new.
 *   - Hot data takes old blocks, the most worn first, else the most worn young one, which gets old;
 *     a new one, the least worn, only when none is young. Cold data takes young blocks, else new
 *     ones, else old ones, each the least worn first. (The thesis does not say which old block,
 *     what hot data does while none is free, nor what makes blocks old once healings have begun.)
 *   - When every block but the bad ones has been healed, all are young again and what was hot is
 *     forgotten.
 * Which data is hot: each logical block has a counter of updates. When one reaches 255, the cold
 * block with the largest counter becomes hot if that is not below the mean of all blocks updated
 * meanwhile, and all counters start from 0.
 *
 * For the page-mapped layer the host's writes (NW_WEAR_HOST) are hot and what cleaning moves is
 * cold; there the filter only says how many blocks are old.
 *
 * Where the chip cannot heal, or heal.heals is 0, no block ever gets new: hot data wears the old
 * blocks out first, on purpose. How even wear is is not promised, only that no block passes its bar
 * before it is healed, as long as it may be, as with every policy that heals (wear.h).
 *
 * RAM: 3 bytes a block. Cost: a pass over all blocks for each hot block found (255 updates at
 * least) and each healing, over the free list for each block taken.
 */
#ifndef NANDWICH_WEAR_DHEATING_H
#define NANDWICH_WEAR_DHEATING_H

#include "nandwich-models/wear.h"

#ifdef __cplusplus
extern "C" {
#endif

struct nw_dheating_config {
    struct nw_heal_config heal;
};

struct nw_dheating {
    struct nw_wear wear; /* give &dheating.wear to the layer */
    uint8_t *updates;    /* by logical block */
    uint8_t *flags;      /* by block; the logical one's and the physical one's side by side */
    uint16_t round;      /* a block healed more often than this is new */
    uint16_t joined;     /* the block that joined the old pool last and has to be emptied */
};

size_t nw_dheating_ram_bytes(const struct nw_dheating_config *config, uint16_t blocks);

/* NW_ERR_CONFIG: percent above 100; NW_ERR_RAM. */
int nw_dheating_open(struct nw_dheating *dheating, const struct nw_dheating_config *config,
                     uint16_t blocks, void *ram, size_t ram_bytes);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wear_swl.h - static wear levelling: blocks under data that never changes take their turn as well.
 *
 * Source: Chang, Hsieh, Kuo, "Endurance Enhancement of Flash-Memory Storage Systems: An Efficient
 * Static Wear Leveling Design", DAC 2007. A flag for each block tells whether it was erased since
 * the flags were cleared. When the erases since then, divided by the flags set, reach the
 * threshold, the data of the next set of 2^k blocks has to move, as far as they have no flag; when
 * all flags are set they are cleared, and the search goes on from a set drawn at random.
 *
 * In the source the blocks of a set share one flag, which saves RAM; but then one block erased
 * often hides still ones beside it for good. Here k only says how many blocks move together.
 *
 * HOW EVEN. This is measured, there is no proof. With F blocks free at least, F 2 or more, 8 sets
 * or more, and some data written over and over while the rest never changes, whatever its share,
 * the most erased block stays near the mean of all blocks + threshold * (1 + 2^k / F), and below
 * the mean + 2 + twice that term. Where the data that is written changes, and comes to lie on worn
 * blocks, it came to 8 times that term above the mean in three million writes. With one block
 * free two blocks may take turns for ever. At most one erase in 0.9 * threshold is for a move. All
 * this holds where the layer empties each block it is asked for before it asks again, with one
 * erase; one that spreads this over several writes, or merges for it, is less even.
 *
 * Free blocks are chosen by fewest erases, as the dynamic policy does; but moved data
 * (NW_WEAR_MOVED) takes the one with the most, where it may lie still again. The source leaves that
 * to the layer; with fewest erases, cold data would go from one hardly used block to the next.
 *
 * A block's flag is set when its data is asked to move, so that a block the layer cannot move is
 * not asked for again and again. A block that holds no data, a free, worn or bad one, is passed
 * over with its flag set: it is given out in its turn anyway.
 *
 * RAM: 2 bytes a block. Cost: a few instructions an erase; the search looks at each block once in a
 * round.
 */
#ifndef NANDWICH_WEAR_SWL_H
#define NANDWICH_WEAR_SWL_H

#include "nandwich/random.h"
#include "nandwich-models/wear.h"

#ifdef __cplusplus
extern "C" {
#endif

struct nw_swl_config {
    struct nw_heal_config heal;
    uint16_t threshold; /* erases a flag that make data move, 2 .. 65535; 0: 100. The fewer, the
                         * more even and the more moves */
    uint8_t set_shift;  /* k, 0 .. 15: 2^k blocks move together */
    uint32_t seed;
};

struct nw_swl {
    struct nw_wear wear; /* give &swl.wear to the layer */
    uint8_t *flags;      /* by block */
    uint32_t erases;     /* since the flags were cleared */
    struct nw_random random;
    uint16_t threshold;
    uint16_t set_flags; /* flags set */
    uint16_t cursor;    /* the block looked at next; inside a set: that one is moving */
    uint8_t shift;
};

size_t nw_swl_ram_bytes(const struct nw_swl_config *config, uint16_t blocks);

/* NW_ERR_CONFIG: threshold 1, set_shift above 15, percent above 100; NW_ERR_RAM. */
int nw_swl_open(struct nw_swl *swl, const struct nw_swl_config *config, uint16_t blocks, void *ram,
                size_t ram_bytes);

#ifdef __cplusplus
}
#endif

#endif

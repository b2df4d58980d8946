/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blocks.h - the erase blocks of a chip as the models see them: free, ready, used or bad.
 *
 *   free    content does not matter any more; erased when it is taken
 *   ready   free, and erased ahead in this session
 *   used    the owner's: every block that was taken and not given back
 *   bad     marked on the chip, never touched again
 *   worn    holds nothing and waits to be healed; only with a wear policy that heals
 *
 * After nw_blocks_load() every good block is free, none is ready.
 *
 * Free blocks leave in the order they came, which already spreads wear over all blocks that move;
 * among the first NW_BLOCKS_LOOK of them the one with the fewest erases goes first. A wear policy
 * (nandwich-models/wear.h) chooses in its own way; it is asked here and nowhere else.
 *
 * The owner may also keep used blocks in lists of its own (by valid count, by age): linking and
 * unlinking cost a few instructions, no search, no branch.
 *
 * RAM: 9 bytes a block and 4 a list.
 */
#ifndef NANDWICH_MODELS_BLOCKS_H
#define NANDWICH_MODELS_BLOCKS_H

#include <stdint.h>

#include "nandwich/chip.h"
#include "nandwich/ram.h"
#include "nandwich-models/wear.h"
#include "../core/ftl/tag.h"

#define NW_NO_BLOCK 0xFFFFU
#define NW_BLOCKS_PLACES 65530U /* blocks, two lists of this file, and the owner's */
#define NW_BLOCKS_LOOK 8U /* free blocks compared when one is taken */

struct nw_blocks {
    uint16_t count;          /* blocks of the chip */
    uint16_t free;           /* blocks free or ready */
    uint16_t ready;          /* of these, ready */
    uint16_t places;         /* blocks and lists */
    uint16_t bad;            /* blocks known to be bad */
    uint8_t idle; /* set by the owner while it works ahead: no block is healed for that */
    struct nw_wear *wear;    /* NULL: none */
    uint8_t *state;          /* by block: enum nw_block_state */
    uint32_t *erases;        /* by block: erases since nw_blocks_load() */
    uint16_t *next;          /* circular lists through block numbers; entry count + i is list i */
    uint16_t *prev;
    struct nw_tagged tagged; /* the chip, for all that the owner does there */
};

/* Take the arrays for a chip, whose blocks have two pages at least, and `lists` lists of the owner
 * from `ram` (ram.h: measures when the arena has no memory). The owner sets wear and opens
 * `tagged` before nw_blocks_load(). NW_ERR_CONFIG when there are more than NW_BLOCKS_PLACES. */
int nw_blocks_place(struct nw_blocks *blocks, const struct nw_geometry *geometry, uint16_t lists,
                    struct nw_ram *ram);

/* Start a session: empty the owner's lists, ask the chip for bad blocks, make the others free.
 * Cost: one is_bad a block. Erase counts begin at 0. */
int nw_blocks_load(struct nw_blocks *blocks);

/* A block for `data` (the number of a logical block, NW_WEAR_HOST or NW_WEAR_MOVED), erased and
 * ready to be programmed from its first page; it becomes used. The number or NW_ERR_FULL when none
 * is free, or the chip's error. Cost: at most one erase that works; a block whose erase fails is
 * marked bad and the next one tried. A wear policy may heal blocks first, unless `idle` is set. */
int32_t nw_blocks_take_for(struct nw_blocks *blocks, uint16_t data);

/* In idle time: heal a worn block if `budget_us` allows it. 1: done, 0: no, or the chip's error. */
int nw_blocks_heal(struct nw_blocks *blocks, uint32_t budget_us);

/* When free blocks are short: heal a worn block, due or not. 1: done, 0: none waits, or `idle` is
 * set; or the chip's error. An owner asks before it answers NW_ERR_FULL. */
int nw_blocks_heal_now(struct nw_blocks *blocks);

/* Erase one free block ahead. 1: done, also when that failed and the block is bad now; 0: every
 * free block is ready, or the chip's error. Cost: one erase. */
int nw_blocks_prepare(struct nw_blocks *blocks);

/* Erase a used block. NW_OK, NW_ERR_ERASE when it failed and is marked bad now, or an error of the
 * chip that leaves it used. */
int nw_blocks_erase(struct nw_blocks *blocks, uint16_t block);

/* Erase a free or worn block where it is; a free one becomes ready. A worn one whose erase fails is
 * bad and waits no more. NW_OK, also when it is marked bad now, or the chip's error. */
int nw_blocks_wipe(struct nw_blocks *blocks, uint16_t block);

/* A used block, in no list of the owner, becomes free (or worn). */
void nw_blocks_give(struct nw_blocks *blocks, uint16_t block);

/* A used block, in no list of the owner, becomes bad: marked on the chip, never used again, also
 * when marking fails. NW_OK or the chip's error. */
int nw_blocks_retire(struct nw_blocks *blocks, uint16_t block);

/* The owner's list i as a place in next and prev; a list is empty when it follows itself. */
static inline uint16_t nw_blocks_list(const struct nw_blocks *blocks, uint16_t list)
{
    return (uint16_t)(blocks->count + 2U + list);
}

/* First block of the owner's list i, or NW_NO_BLOCK. */
static inline uint16_t nw_blocks_first(const struct nw_blocks *blocks, uint16_t list)
{
    uint16_t first = blocks->next[nw_blocks_list(blocks, list)];

    return first < blocks->count ? first : (uint16_t)NW_NO_BLOCK;
}

/* A request of the host updates logical block `data`. */
static inline void nw_blocks_updated(const struct nw_blocks *blocks, uint16_t data)
{
    if (blocks->wear != NULL) {
        blocks->wear->ops->updated(blocks->wear, data);
    }
}

/* A block whose data the wear policy wants moved elsewhere, or NW_NO_BLOCK. */
static inline uint16_t nw_blocks_move(const struct nw_blocks *blocks)
{
    return blocks->wear != NULL ? blocks->wear->ops->move(blocks->wear) : (uint16_t)NW_NO_BLOCK;
}

/* That block was emptied, or is about to be, by so many copies. */
static inline void nw_blocks_moved(const struct nw_blocks *blocks, uint32_t copies)
{
    blocks->wear->stats.moved++;
    blocks->wear->stats.copies += copies;
}

/* Take a block out of the list it is in. */
void nw_blocks_unlink(struct nw_blocks *blocks, uint16_t block);

/* Put a used block at the end of the owner's list i. */
void nw_blocks_link(struct nw_blocks *blocks, uint16_t block, uint16_t list);

#endif

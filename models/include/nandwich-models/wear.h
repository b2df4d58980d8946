/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wear.h - which erase block takes which data, what has to move for the sake of wear, and when a
 * worn block is healed. How policies compare: docs/wear.md.
 *
 * A policy is an object of its own. Open one, hand it to a translation layer in its config (`wear`)
 * and keep it as long as the layer; one policy serves one layer. Without one a layer takes the free
 * block with the fewest erases among the first few, and the code here is not linked.
 *
 *   none       config.wear == NULL
 *   dynamic    here: the free block with the fewest erases
 *   swl        wear_swl.h: also moves data that never changes, so that its block takes its turn
 *   dheating   wear_dheating.h: wears few blocks on purpose, so that healings come one by one
 *
 * WHAT A LAYER OWES (layers that take blocks from models/blocks.h get most of it from there)
 *   - It tells what a block is taken for: the number of a logical block, or NW_WEAR_HOST or
 *     NW_WEAR_MOVED where blocks hold data of several.
 *   - It tells of each logical block in which a request of the host writes sectors that held
 *     something (`updated`).
 *   - When it has time, after a write or in idle, it asks which block's data has to move (`move`),
 *     moves it elsewhere and gives the block back. An answer is given once; a layer that cannot
 *     move that block just now forgets it.
 *
 * HEALING. On chips whose geometry has heal_life every policy heals, if told so (nw_heal_config). A
 * block that has reached its bar and comes free goes on the heating list and is not given out
 * before it was healed.
 *   - Eager: the write that takes the next block heals all of the list, and waits.
 *   - Lazy (period_s > 0): when none was healed for a period, not in idle either, the write that
 *     takes the next block heals one first. Unless it is `fixed` the period shrinks as the list
 *     grows. It is over when more than a block in 32 is on it, hardly one is free, or a write would
 *     have to be refused.
 *   - Either way nw_block_idle() heals one block when its budget is idle_us or more, else none.
 *   - A healing that fails: the request that asked for it answers the chip's error. After NW_ERR_IO
 *     and NW_ERR_BUSY the block waits on, behind the others; after any other error it stays out of
 *     use.
 * A policy has no clock: set now_s before requests when healing is lazy.
 *
 * WEAR IN NUMBERS. `erases` of a block, kept by the layer, orders blocks: erases since the layer
 * was opened; on chips that heal, erases since the last healing in the low 16 bits and healings
 * above.
 */
#ifndef NANDWICH_WEAR_H
#define NANDWICH_WEAR_H

#include <stddef.h>
#include <stdint.h>

#include "nandwich/chip.h"
#include "nandwich/ram.h"
#include "nandwich/stats.h"

#ifdef __cplusplus
extern "C" {
#endif

#define NW_WEAR_NONE 0xFFFFU  /* no block */
#define NW_WEAR_HOST 0xFFFFU  /* taken for what the host writes now */
#define NW_WEAR_MOVED 0xFFFEU /* taken for data that has lain still and is moved */

enum nw_block_state {
    NW_BLOCK_FREE,
    NW_BLOCK_READY, /* free and erased */
    NW_BLOCK_USED,
    NW_BLOCK_BAD,
    NW_BLOCK_WORN /* holds nothing, waits to be healed */
};

/* When a block is healed. */
enum nw_heal_when {
    NW_HEAL_DUE,  /* if it has waited long enough: a write takes a block */
    NW_HEAL_IDLE, /* at once: nobody waits for it */
    NW_HEAL_NOW   /* at once: no other block is left for what is written */
};

struct nw_wear;

/* All there: a policy that has nothing to do somewhere answers NONE or 0. */
struct nw_wear_ops {
    /* A session starts: view is set, every good block is about to become free. */
    int (*start)(struct nw_wear *wear);
    /* The block to take for `data` from the free list that starts at `first` and follows
     * view.next up to a number >= view.blocks; not empty. NW_WEAR_NONE: rather one of another
     * list. */
    uint16_t (*choose)(struct nw_wear *wear, uint16_t first, uint16_t data);
    /* A block was erased, counted in view.erases. */
    void (*erased)(struct nw_wear *wear, uint16_t block);
    /* A block holds nothing any more. 1: keep it back (NW_BLOCK_WORN) until `heal` answers it. */
    int (*given)(struct nw_wear *wear, uint16_t block);
    /* Heal one block; `when` is enum nw_heal_when. It, to be made free; NW_WEAR_NONE; or the chip's
     * error. */
    int32_t (*heal)(struct nw_wear *wear, int when);
    /* A request of the host writes anew in logical block `data`. */
    void (*updated)(struct nw_wear *wear, uint16_t data);
    /* A block whose data has to move, or NW_WEAR_NONE. */
    uint16_t (*move)(struct nw_wear *wear);
};

/* What a policy sees of the layer's blocks; filled in by the layer before `start`. */
struct nw_wear_view {
    struct nw_chip *chip;
    uint32_t *erases;     /* by block; a healing is noted here */
    const uint16_t *next; /* free lists */
    const uint8_t *state; /* by block: enum nw_block_state */
    const uint16_t *free; /* how many blocks are free */
    uint16_t blocks;
};

/* Zero: no healing. */
struct nw_heal_config {
    uint8_t heals;     /* 1: heal, where the chip can */
    uint8_t fixed;     /* lazy: 1: the period does not shrink as the list grows */
    uint8_t percent;   /* bar in percent of the life a block has, one erase at least; 0: 100 */
    uint16_t cycles;   /* bar in erases since the last healing, whatever the life; 0: by percent */
    uint32_t period_s; /* lazy: longest wait of the list in a session while the device is
                        * busy; 0: eager */
    uint32_t idle_us;  /* least idle time offered in which to heal; 0: heal_us. With less than
                        * heal_us idle may exceed its budget by a healing: with 1 the first idle
                        * moment is used, though requests may come within it */
};

struct nw_wear_stats {
    nw_count moves;        /* blocks whose data was asked to move */
    nw_count moved;        /* of these: that the layer emptied; each costs an erase more */
    nw_count copies;       /* pages it copied for that */
    nw_count heals;
    nw_count heals_idle;   /* of these: in idle time */
    nw_count heals_forced; /* of these: lazy, and could wait no longer */
    nw_count most_waiting; /* longest the heating list has been */
    nw_count hot;          /* dheating: logical blocks found hot */
    nw_count rounds;       /* swl: all flags were set; dheating: all blocks were healed */
};

/* The heating list. */
struct nw_heal {
    struct nw_heal_config config;
    uint8_t *waits;  /* by block: 1 on the list */
    uint16_t count;  /* on the list */
    uint16_t cursor; /* where the search for the next one starts */
    uint32_t since_s; /* the wait for an idle moment began */
    uint8_t most;    /* healings a block takes; 0: no healing in this session */
};

/* What all policies begin with. */
struct nw_wear {
    const struct nw_wear_ops *ops;
    struct nw_wear_view view;
    struct nw_wear_stats stats;
    uint32_t now_s; /* the caller's clock, any origin; may stand still when nothing is lazy */
    struct nw_heal heal;
    uint16_t room; /* blocks it was opened for */
};

/*
 * Dynamic wear levelling: of the free blocks, the one with the fewest erases (the first 256 of the
 * list are compared). It moves no data. Where all sectors are written in their order, again and
 * again, no block comes over 2 erases above the mean.
 * In another order no bound holds: a block is not erased while its data stays. Where some sectors
 * never change their blocks are never erased. Static levelling (wear_swl.h) is for that.
 *
 * RAM: 1 byte a block. NW_ERR_CONFIG: percent above 100; NW_ERR_RAM: `ram` does not hold
 * nw_wear_dynamic_ram_bytes(). A layer with more blocks than the policy was opened for is refused
 * when it opens: NW_ERR_CONFIG. So is one that heals on a part whose life, rated or won back by a
 * healing, is 65,535 erases or more or not told, whatever the bar: a block's erases since its last
 * healing have 16 bits.
 */
size_t nw_wear_dynamic_ram_bytes(uint16_t blocks);
int nw_wear_dynamic_open(struct nw_wear *wear, const struct nw_heal_config *heal, uint16_t blocks,
                         void *ram, size_t ram_bytes);

/* The least idle time in which it heals. */
static inline uint32_t nw_wear_idle_us(const struct nw_wear *wear)
{
    uint32_t least = wear->heal.config.idle_us;

    return least != 0 ? least : wear->view.chip->geometry.heal_us;
}

/* What `erases` says on a chip that heals: healings, and erases since the last one. */
static inline uint16_t nw_wear_heals(uint32_t erases)
{
    return (uint16_t)(erases >> 16);
}

static inline uint16_t nw_wear_since(uint32_t erases)
{
    return (uint16_t)(erases & 0xFFFFU);
}

#ifdef __cplusplus
}
#endif

#endif

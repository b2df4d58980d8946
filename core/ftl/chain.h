/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chain.h - chains of blocks, one for each unit of neighbouring sectors: what nftl, log and
 * superblock have in common beyond hybrid.h.
 *
 * The newest copy of a sector is in the last block of its unit's chain that holds it; a bit for
 * each sector of the unit tells which blocks do. A block is in place (each sector in the page of
 * its own number) or mapped (sectors in the order they came; a list tells where). Lists live in RAM
 * as long as there is room, and are read again from the tags. Every page of a block is older than
 * every page of the next one in its chain: only the last block is programmed.
 *
 *   nftl        unit: a logical block; all blocks in place
 *   log         unit: a logical block; the first in place, then one mapped log block
 *   superblock  unit: several logical blocks; all blocks mapped
 *   fast        unit: a logical block; all blocks in place, beside log blocks that all units share
 */
#ifndef NANDWICH_FTL_CHAIN_H
#define NANDWICH_FTL_CHAIN_H

#include "hybrid.h"

enum nw_chain_style { NW_CHAIN_NFTL, NW_CHAIN_LOG, NW_CHAIN_SUPERBLOCK, NW_CHAIN_FAST };

/* How a layer uses chains. */
struct nw_chain;
struct nw_chain_plan;

/* What a layer keeps beside its chains: its own place for sectors, newer than they are. */
struct nw_chain_beside {
    /* Takes its memory. */
    void (*place)(struct nw_chain *chain, const struct nw_chain_plan *plan, struct nw_ram *ram);
    /* Empty. */
    void (*clear)(struct nw_chain *chain);
    /* Mounting, as arrange() of a kind, when the chains are linked. */
    int (*arrange)(struct nw_chain *chain, int last);
    /* The sector was put into a chain: that page is newer now. */
    void (*forget)(struct nw_chain *chain, uint32_t sector);
};

struct nw_chain_plan {
    const struct nw_hybrid_kind *kind; /* NULL: chains and nothing else */
    const struct nw_chain_beside *beside; /* NULL: nothing */
    uint32_t name;         /* four letters, on flash */
    struct nw_wear *wear;
    uint16_t spare_blocks; /* 0: the default */
    uint16_t flags;        /* NW_FTL_HYBRID_... */
    uint16_t degree;       /* logical blocks a unit */
    uint16_t longest;      /* blocks a chain may have */
    uint16_t log_blocks;   /* log: mapped blocks of all chains together; fast: shared blocks */
    uint16_t lists;        /* lists in RAM; 0: no block is mapped */
    uint8_t style;         /* enum nw_chain_style */
};

#define NW_CHAIN_MAPPED 0x01U
#define NW_CHAIN_CLOSED 0x02U /* takes no more pages: found by a mount */
#define NW_CHAIN_FAILED 0x04U /* takes no more pages: a program failed */
#define NW_CHAIN_COPIES 0x08U /* holds nothing but what a merge moved there */
#define NW_CHAIN_LINKED 0x10U /* mounting: has its place in a chain */

#define NW_CHAIN_UNREAD 0xFFFEU /* in a list: the tag of this page cannot be read */

struct nw_fast;

struct nw_chain {
    struct nw_hybrid hybrid; /* first: what the shared code is given */
    const struct nw_chain_beside *beside; /* or NULL */
    struct nw_fast *fast;    /* fast: the shared log blocks; else NULL */
    uint16_t *newest;        /* by unit, and one more for the shared log blocks: last
                              * block of its chain, or NW_NO_BLOCK */
    uint16_t *length;        /* by unit: blocks in its chain */
    uint16_t *older;         /* by block: the one before it in the chain */
    uint16_t *owner;         /* by block: its unit, or NW_NO_BLOCK */
    uint16_t *next;          /* by block: pages behind the last one that counts start here */
    uint8_t *flags;          /* by block: NW_CHAIN_... */
    uint8_t *bits;           /* by block, a bit for each sector of the unit: held */
    uint8_t *seen;           /* the same, to reckon with */
    uint16_t *slot;          /* by block: its list, or NW_NO_BLOCK */
    uint16_t *lists;         /* by slot: the sector in each page */
    uint16_t *listed;        /* by slot: its block, or NW_NO_BLOCK */
    uint32_t *used;          /* by slot: when it was used last */
    uint32_t clock;
    uint16_t slots;
    uint16_t units;
    uint16_t span;           /* sectors a unit */
    uint16_t bit_bytes;      /* of one block's bits */
    uint16_t degree;
    uint16_t missing;        /* logical blocks that the last unit has fewer */
    uint16_t longest;
    uint16_t log_blocks;
    uint16_t logs;           /* mapped blocks in chains */
    uint16_t merging;        /* unit of a merge whose last page is not programmed, or NW_NO_BLOCK:
                              * the last block of its chain takes the rest */
    uint8_t style;
    uint8_t in_order;
};

/* chain.c: where sectors are, programming, and the life of a chain. `unit` and `sector` (in the
 * unit) are in range. */
uint16_t nw_chain_holder(const struct nw_chain *chain, uint16_t unit, uint16_t sector);
int nw_chain_find(struct nw_hybrid *hybrid, uint32_t sector, uint32_t *at);
int nw_chain_list(struct nw_chain *chain, uint16_t block, const uint16_t **list);
int nw_chain_takes(const struct nw_chain *chain, uint16_t block, uint16_t sector);
uint16_t nw_chain_data(const struct nw_chain *chain, uint16_t unit, uint8_t flags);
int nw_chain_extend(struct nw_chain *chain, uint16_t unit, uint8_t flags, uint16_t data);
/* 1 if blocks failed on the way, 0, or an error. */
int nw_chain_put(struct nw_chain *chain, const struct nw_hybrid_put *put);
/* Take out blocks in which every sector is outdated: how many. */
uint16_t nw_chain_drop_stale(struct nw_chain *chain, uint16_t unit, int mounting);
void nw_chain_enlist(struct nw_chain *chain, uint16_t unit);
void nw_chain_unlist(struct nw_chain *chain, uint16_t unit);
/* A merge has ended: what lies beside the chain is outdated by what it moved to its own block. */
void nw_chain_forget_moved(struct nw_chain *chain, uint16_t unit);
/* First unit of those whose chains are longest, `least` blocks at least; NW_NO_BLOCK. */
uint16_t nw_chain_longest(const struct nw_chain *chain, uint16_t least);

/* chain_mount.c: opening. */
uint32_t nw_chain_sectors(const struct nw_chain_plan *plan, const struct nw_geometry *geometry);
size_t nw_chain_ram_bytes(const struct nw_chain_plan *plan, const struct nw_geometry *geometry);
int nw_chain_meet(struct nw_hybrid *hybrid, uint32_t at, const struct nw_tag *tag);
void nw_chain_forget(struct nw_hybrid *hybrid, uint16_t block);
int nw_chain_goes_on(struct nw_hybrid *hybrid);
int nw_chain_arrange(struct nw_hybrid *hybrid, int last);
/* The version of the last page of a block that counts. */
int nw_chain_version(struct nw_chain *chain, uint16_t block, uint64_t *version);
/* Put a block where it belongs in a chain. */
int nw_chain_insert(struct nw_chain *chain, uint16_t unit, uint16_t block, uint64_t version);
int nw_chain_open(struct nw_block *block, struct nw_stats *stats, struct nw_chip *chip,
                  const struct nw_chain_plan *plan, void *ram, size_t ram_bytes, int mount);

/* What nw_chain_open() is asked to do. */
enum { NW_CHAIN_FORMAT, NW_CHAIN_MOUNT };

/* chain_fold.c: merges. */
int nw_chain_fold(struct nw_chain *chain, uint16_t unit, int fresh);
int nw_chain_write(struct nw_hybrid *hybrid, const struct nw_hybrid_put *put);
int nw_chain_tidy(struct nw_hybrid *hybrid);
int nw_chain_step(struct nw_hybrid *hybrid);
uint32_t nw_chain_step_reads(struct nw_hybrid *hybrid);
int nw_chain_evict(struct nw_hybrid *hybrid, uint16_t block);
int nw_chain_renew(struct nw_hybrid *hybrid, uint32_t sector);
int nw_chain_finish(struct nw_hybrid *hybrid);
/* A sector of this unit was written anew without a merge: the blocks of its chain that are outdated
 * go back. A merge that failed at its last page leaves some. */
void nw_chain_drop_outdated(struct nw_chain *chain, uint16_t unit);

static inline struct nw_chain *nw_chain_of(struct nw_hybrid *hybrid)
{
    return (struct nw_chain *)(void *)hybrid;
}

/* Whether an error has left something that has to be done before anything else is merged or
 * written: nw_hybrid_settle() does it. */
static inline int nw_chain_is_stopped(const struct nw_chain *chain)
{
    return chain->merging != NW_NO_BLOCK || chain->hybrid.doubt != NW_NO_PAGE;
}

/* The sectors in the pages of a mapped block, by its slot. */
static inline uint16_t *nw_chain_list_at(const struct nw_chain *chain, uint16_t slot)
{
    return chain->lists + (size_t)slot * chain->hybrid.block_pages;
}

/* Chains are listed by length through their newest block. A log block without data before it counts
 * as two; a last superblock of fewer logical blocks as if it had them all. */
static inline uint16_t nw_chain_list_of(const struct nw_chain *chain, uint16_t unit)
{
    uint16_t length = chain->length[unit];

    if (chain->style == NW_CHAIN_LOG && length == 1U &&
        (chain->flags[chain->newest[unit]] & NW_CHAIN_MAPPED) != 0) {
        length = 2U;
    }
    if (unit + 1U == chain->units) {
        length = (uint16_t)(length + chain->missing);
    }
    return (uint16_t)(NW_HYBRID_LISTS + (length < chain->longest ? length : chain->longest));
}

static inline uint8_t *nw_chain_bits(const struct nw_chain *chain, uint16_t block)
{
    return chain->bits + (size_t)block * chain->bit_bytes;
}

static inline int nw_chain_holds(const struct nw_chain *chain, uint16_t block, uint16_t sector)
{
    return (nw_chain_bits(chain, block)[sector >> 3] & (1U << (sector & 7U))) != 0;
}

/* Whether a merge that goes on in this block has moved a sector already: to this block or, on a
 * chip that programs in order, to one before it in which a program failed. Merges move sectors in
 * their order. */
static inline int nw_chain_has_moved(const struct nw_chain *chain, uint16_t block, uint16_t sector)
{
    return nw_chain_holds(chain, block, sector) ||
           (chain->in_order != 0 && sector < chain->next[block]);
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chain.h - chains of blocks, one for each unit of neighbouring sectors, and how the files of the
 * models see each other:
 *   pages.c       pages with tags
 *   chain.c       where sectors lie, the life of a chain
 *   fold.c        merges of nftl and log
 *   superblock.c  merges of superblock
 *   mapped.c      page: a map and no chains
 *   fast.c        the log blocks that all share, merges of fast
 *   models.c      opening, and the block device
 * Each file calls those above it, and of the files below what struct nw_chain_ops has.
 *
 * The newest copy of a sector is in the last block of its unit's chain that holds it; a bit for
 * each sector of the unit tells which blocks do. A block is in place (each sector in the page of
 * its own number) or mapped (sectors in the order they came; a list tells where). Only the last
 * block of a chain is programmed.
 *
 *   nftl        unit: a logical block; all blocks in place
 *   log         unit: a logical block; the first in place, then one mapped log block
 *   superblock  unit: several logical blocks; all blocks mapped
 *   fast        unit: a logical block; all blocks in place, beside log blocks that all units share.
 *               These have a chain of their own behind the units'
 */
#ifndef NANDWICH_MODELS_CHAIN_H
#define NANDWICH_MODELS_CHAIN_H

#include "blocks.h"
#include "nandwich-models/models.h"

#define NW_NO_PAGE 0xFFFFFFFFUL

/* Free blocks that a write leaves: a merge takes one, others stand in where blocks fail. Six, so
 * that figures can be compared with those taken when the layers kept a block for mounts. */
#define NW_CHAIN_RESERVE 6U

#define NW_CHAIN_MAPPED 0x01U
#define NW_CHAIN_CLOSED 0x02U /* takes no more pages */
#define NW_CHAIN_FAILED 0x04U /* a program failed in it: bad, once it is emptied */

#define NW_CHAIN_DAMAGED 0x80000000UL /* in a tag: the content was lost when it had to be moved */

struct nw_chain;

/* What to put: bytes, zeros (data NULL on a chip with payload), or the page `from`. */
struct nw_chain_put {
    uint32_t sector; /* NW_NO_PAGE: what the tag of the page `from` says */
    uint32_t from; /* NW_NO_PAGE: not from a page; else a move */
    uint8_t *data;
};

/* What a model does. */
struct nw_chain_ops {
    /* The page where a sector lies, or NW_NO_PAGE. */
    int (*find)(struct nw_chain *chain, uint32_t sector, uint32_t *at);
    int (*write)(struct nw_chain *chain, const struct nw_chain_put *put);
    /* Merge to win a block, or take one `step` towards it, which moves no more than a block of
     * pages. NW_ERR_FULL: nothing to merge. */
    int (*merge)(struct nw_chain *chain, int step);
    /* Move all that this block holds elsewhere. */
    int (*evict)(struct nw_chain *chain, uint16_t block);
    /* A sector was put into a chain: what lies beside it is older. NULL: nothing does. */
    void (*forget)(struct nw_chain *chain, uint32_t sector);
    /* The sector holds nothing any more. NULL: zeros are written. */
    void (*drop)(struct nw_chain *chain, uint32_t sector);
};

/* fast: an entry for each page of a log block says which sector it holds, if that is the newest
 * copy. */
struct nw_fast {
    uint32_t *sector;  /* by entry (slot * block_pages + page): what it holds, or NW_NO_PAGE */
    uint16_t *link;    /* by entry: another one of its unit, or NW_NO_BLOCK */
    uint16_t *head;    /* by unit: an entry, or NW_NO_BLOCK */
    uint16_t *block;   /* by slot: the log block, or NW_NO_BLOCK */
    uint16_t *valid;   /* by slot: entries that hold something */
    uint16_t slots;
    uint16_t count;    /* log blocks */
    uint16_t open;     /* slot of the block that takes the next sector, or NW_NO_BLOCK */
    uint16_t in_order; /* unit with the sequential log block, or NW_NO_BLOCK */
};

/* page. The bits of a block tell which of its pages the map points to. */
struct nw_mapped {
    uint32_t *map;   /* by sector: its page, or NW_NO_PAGE */
    uint16_t *valid; /* by block: pages that the map points to; closed blocks are listed by that */
    uint16_t lowest; /* no closed block has fewer */
    uint16_t open[2]; /* blocks for what the host writes and what is moved, or NW_NO_BLOCK */
};

struct nw_chain {
    const struct nw_chain_ops *ops;
    struct nw_chip *chip;
    struct nw_stats *stats;
    uint8_t *buffer;      /* one page */
    uint16_t *newest;     /* by unit, and one more for fast: last block of its chain, or
                           * NW_NO_BLOCK */
    uint16_t *length;     /* by unit: blocks in its chain */
    uint16_t *older;      /* by block: the one before it in the chain */
    uint16_t *owner;      /* by block in a chain: its unit */
    uint16_t *next;       /* by block: pages from here on are not programmed */
    uint8_t *flags;       /* by block: NW_CHAIN_... */
    uint8_t *bits;        /* by block, a bit for each sector of the unit: held */
    uint8_t *seen;        /* the same, to reckon with */
    uint16_t *slot;       /* by block: its list, or NW_NO_BLOCK */
    uint16_t *lists;      /* by slot: the sector in each page */
    uint16_t *listed;     /* by slot: its block, or NW_NO_BLOCK */
    uint32_t *used;       /* by slot: when it was used last */
    uint32_t clock;
    uint32_t sectors;
    uint16_t block_pages;
    uint16_t page_bytes;
    uint16_t slots;
    uint16_t units;
    uint16_t span;        /* sectors a unit */
    uint16_t bit_bytes;   /* of one block's bits */
    uint16_t degree;      /* logical blocks a unit */
    uint16_t missing;     /* logical blocks that the last unit has fewer */
    uint16_t longest;     /* blocks a chain may have */
    uint16_t log_blocks;  /* log: mapped blocks of all chains; fast: shared blocks */
    uint16_t logs;        /* mapped blocks in chains */
    uint8_t kind;         /* enum nw_model_kind */
    uint8_t in_order;     /* the chip programs pages in order */
    uint8_t payload;      /* the chip keeps data */
    uint8_t copies;       /* the chip has the copy verb */
    struct nw_fast fast;
    struct nw_mapped mapped;
    struct nw_blocks blocks;
};

/* pages.c */
/* Reads page `at` and checks that it holds the sector. NW_ERR_ECC or NW_ERR_CORRUPT: it is lost. */
int nw_chain_read(struct nw_chain *chain, uint32_t at, uint32_t sector, uint8_t *data);
/* The sector whose page this is; NW_ERR_ECC when its tag cannot be read. */
int nw_chain_read_tag(struct nw_chain *chain, uint32_t at, uint32_t *sector);
/* NW_ERR_ECC: a page to be moved cannot be read, nor who it is; nothing was programmed. */
int nw_chain_program(struct nw_chain *chain, uint32_t at, const struct nw_chain_put *put);

/* chain.c: `unit` and `sector` (in the unit) are in range. */
uint16_t nw_chain_holder(const struct nw_chain *chain, uint16_t unit, uint16_t sector);
int nw_chain_find(struct nw_chain *chain, uint32_t sector, uint32_t *at);
/* The list of a mapped block, in RAM from then on. */
int nw_chain_list(struct nw_chain *chain, uint16_t block, const uint16_t **list);
/* 1 if a sector can be programmed in this block. */
int nw_chain_takes(const struct nw_chain *chain, uint16_t block, uint16_t sector);
/* A fresh block, for `data` of the wear policy: its number, or an error. */
int32_t nw_chain_take(struct nw_chain *chain, uint16_t data);
/* A fresh block at the end of a chain. */
int nw_chain_extend(struct nw_chain *chain, uint16_t unit, uint8_t flags, uint16_t data);
/* 1 if blocks failed on the way, 0, or an error. */
int nw_chain_put(struct nw_chain *chain, const struct nw_chain_put *put);
/* Move one sector, from wherever it is, to the end of its chain. As nw_chain_put(). */
int nw_chain_move(struct nw_chain *chain, uint32_t sector);
/* Gives back the blocks of a chain in which every sector is outdated: how many. */
uint16_t nw_chain_drop_stale(struct nw_chain *chain, uint16_t unit);
/* A block that nothing needs. */
void nw_chain_give(struct nw_chain *chain, uint16_t block);
/* First unit of those whose chains are longest, `least` blocks at least; NW_NO_BLOCK. */
uint16_t nw_chain_longest(const struct nw_chain *chain, uint16_t least);
/* Empties the blocks of a chain in which a program failed. */
void nw_chain_mend(struct nw_chain *chain, uint16_t unit);
/* Merges until a write may take a block. */
int nw_chain_make_room(struct nw_chain *chain);
/* Reads of tags that a step may need for lists that are not in RAM. */
uint32_t nw_chain_step_reads(struct nw_chain *chain);

/* fold.c */
extern const struct nw_chain_ops nw_fold_ops;
/* Make a chain one block, in place and sound; `fresh`: and not of the chain before. */
int nw_chain_fold(struct nw_chain *chain, uint16_t unit, int fresh);

/* superblock.c */
extern const struct nw_chain_ops nw_superblock_ops;

/* fast.c */
extern const struct nw_chain_ops nw_fast_ops;
void nw_fast_place(struct nw_chain *chain, struct nw_ram *ram);
void nw_fast_clear(struct nw_chain *chain);

/* mapped.c */
extern const struct nw_chain_ops nw_mapped_ops;
void nw_mapped_place(struct nw_chain *chain, struct nw_ram *ram);
void nw_mapped_clear(struct nw_chain *chain);

#define NW_FAST_MORE 2U /* slots beyond log_blocks: for blocks in which a program failed */

static inline uint32_t nw_chain_first(const struct nw_chain *chain, uint16_t block)
{
    return (uint32_t)block * chain->block_pages;
}

static inline uint8_t *nw_chain_bits(const struct nw_chain *chain, uint16_t block)
{
    return chain->bits + (size_t)block * chain->bit_bytes;
}

static inline int nw_chain_holds(const struct nw_chain *chain, uint16_t block, uint16_t sector)
{
    return (nw_chain_bits(chain, block)[sector >> 3] & (1U << (sector & 7U))) != 0;
}

#endif

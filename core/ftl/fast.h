/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fast.h - the log blocks that all logical blocks share (ftl_fast.h), beside chains (chain.h).
 *
 * A shared log block takes any sectors in the order they come. An entry for each of its pages says
 * which sector it holds, if that is the newest copy; the entries of a logical block are linked. The
 * blocks are kept in a chain of their own, behind those of the units. What is put in a chain is
 * newer than the entry of its sector, which is forgotten then.
 */
#ifndef NANDWICH_FTL_FAST_STATE_H
#define NANDWICH_FTL_FAST_STATE_H

#include "chain.h"

#define NW_FAST_MORE 6U /* logs beyond log_blocks: some that failed, some that a mount finds */

struct nw_fast {
    uint32_t *sector;  /* by entry (slot * block_pages + page): what it holds, or NW_NO_PAGE */
    uint16_t *link;    /* by entry: another one of its unit, or NW_NO_BLOCK */
    uint16_t *head;    /* by unit: an entry, or NW_NO_BLOCK */
    uint16_t *block;   /* by slot: the log block, or NW_NO_BLOCK */
    uint16_t *valid;   /* by slot: entries that hold something */
    uint16_t slots;
    uint16_t most;     /* log blocks there may be */
    uint16_t count;    /* log blocks */
    uint16_t open;     /* slot of the block that takes the next sector, or NW_NO_BLOCK */
    uint16_t in_order; /* unit with the sequential log block, or NW_NO_BLOCK */
    uint8_t found;     /* mounting: the entries are there */
    uint8_t whole;     /* the merge under way, or the last one, moves entries of its unit too */
};

/* fast_log.c: as the chains know it */
extern const struct nw_chain_beside nw_fast_beside;

/* fast_log.c, for fast.c */
void nw_fast_forget(struct nw_chain *chain, uint32_t sector);
uint16_t nw_fast_lookup(const struct nw_chain *chain, uint32_t sector);
int nw_fast_put(struct nw_chain *chain, const struct nw_hybrid_put *put);
uint16_t nw_fast_slot(const struct nw_chain *chain, uint16_t block);
/* Mounting, with the entries there: a page of a log block newer than they. */
int nw_fast_meet(struct nw_chain *chain, uint32_t at, const struct nw_tag *tag);
/* Let go of a log block without entries. */
void nw_fast_drop(struct nw_chain *chain, uint16_t slot);

static inline uint32_t nw_fast_at(const struct nw_chain *chain, uint16_t entry)
{
    uint16_t pages = chain->hybrid.block_pages;

    return nw_hybrid_first(&chain->hybrid, chain->fast->block[entry / pages]) + entry % pages;
}

#endif

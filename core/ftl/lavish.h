/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lavish.h - how the files of the lavish layer see each other. Bottom first; each calls only those
 * above it:
 *   lavish_space.c  lavish blocks, the chip blocks they are made of, the pages in them
 *   lavish_log.c    maps in RAM, appending to a logical block, making room
 *   lavish.c        the block device
 * Numbers of blocks and sectors stay below 65,535 and travel as unsigned, 16 bits or more.
 */
#ifndef NANDWICH_FTL_LAVISH_INTERNAL_H
#define NANDWICH_FTL_LAVISH_INTERNAL_H

#include "nandwich/bytes.h"
#include "nandwich/ftl_lavish.h"

#define NONE NW_LAVISH_NONE
#define NW_LAVISH_RESERVED 2U /* lavish blocks beyond one a logical block: a log, one in reserve */

/* 1 for an error that says a block is worn, not the request wrong or the power gone. */
static inline int nw_lavish_is_worn(int result)
{
    return result == NW_ERR_PROGRAM || result == NW_ERR_ERASE;
}

/* Calls are smaller than 64-bit additions in place. */
void nw_lavish_count(nw_count *count, unsigned by);
void nw_lavish_tick(nw_count *count);

/* Looks for bad blocks at open and replaces them. */
int nw_lavish_scan(struct nw_ftl_lavish *lavish);

/* The free lavish block that goes next, or NONE. */
unsigned nw_lavish_next(const struct nw_ftl_lavish *lavish);

/* A free lavish block, now used; NONE. */
unsigned nw_lavish_take(struct nw_ftl_lavish *lavish);

/* A used lavish block (NONE: nothing to do) becomes free, erased unless erasing late. If `worn` is
 * one of its sectors, that one's program or erase failed: its block is replaced, or the lavish
 * block given up and what is good of it kept as spares. */
int nw_lavish_release(struct nw_ftl_lavish *lavish, unsigned block, unsigned worn);

/* Erases what is not erased of a free lavish block; worn blocks as above. */
int nw_lavish_clean(struct nw_ftl_lavish *lavish, unsigned block, unsigned worn);

/* 1 if every block of it is erased. */
int nw_lavish_is_clean(const struct nw_ftl_lavish *lavish, unsigned block);

/* In nw_ftl_lavish.state: what a lavish block is (GONE: given up), and whether a spare stands for
 * one of its blocks. */
enum {
    NW_LAVISH_FREE,
    NW_LAVISH_USED,
    NW_LAVISH_GONE,
    NW_LAVISH_STATE = 0x0F,
    NW_LAVISH_REPLACED = 0x10
};

/* The bit of a block of the chip. */
static inline int nw_lavish_bit(const struct nw_ftl_lavish *lavish, unsigned chip_block)
{
    return (lavish->bits[chip_block >> 3] >> (chip_block & 7U)) & 1;
}

/* The chip's page that is a sector of a lavish block. */
uint32_t nw_lavish_page(const struct nw_ftl_lavish *lavish, unsigned block, unsigned sector);

int nw_lavish_read(struct nw_ftl_lavish *lavish, uint32_t page, uint8_t *data, unsigned length);

/* Both first erase the chip block they enter, if it is not erased. */
int nw_lavish_program(struct nw_ftl_lavish *lavish, unsigned block, unsigned sector, uint8_t *data,
                      unsigned length);
/* NW_ERR_ECC: the source is unreadable, nothing was programmed. */
int nw_lavish_copy(struct nw_ftl_lavish *lavish, uint32_t from, unsigned block, unsigned sector);

/* An index is a sector of the data lavish block, or, from lavish_sectors up, of the log. */

static inline uint8_t *nw_lavish_entry(const struct nw_ftl_lavish *lavish,
                                       const struct nw_lavish_map *map, unsigned sector)
{
    return lavish->map_bytes + (size_t)map->slot * lavish->map_slot + sector * 2U;
}

/* Reads from the page that an index of a logical block is. */
int nw_lavish_read_index(struct nw_ftl_lavish *lavish, unsigned number, unsigned index,
                         uint8_t *data, unsigned length);

/* Brings the map of a logical block to lavish->maps[0]. Another one may be written out. */
int nw_lavish_load(struct nw_ftl_lavish *lavish, unsigned number);

/* Programs the next free index of a logical block whose map is dirty; relocates it when a block
 * fails. Answers the index or an error. */
int32_t nw_lavish_append(struct nw_ftl_lavish *lavish, struct nw_lavish_map *map, uint8_t *data,
                         unsigned length);

/* At least `need` free indices for a logical block, and a lavish block in reserve. Its map is then
 * loaded. */
int nw_lavish_make_room(struct nw_ftl_lavish *lavish, unsigned number, unsigned need);

/* Lavish blocks to keep in reserve: one, for a merge or the flight from a worn block; two once no
 * spare is left to replace a worn block, which then costs a lavish block on the way. With no more
 * than are needed at all it is one again. */
unsigned nw_lavish_least(const struct nw_ftl_lavish *lavish);

/* One merge, II or III, which wins a lavish block if nothing fails in it. NW_ERR_FULL: none can. */
int nw_lavish_win(struct nw_ftl_lavish *lavish);

/* Until `more` lavish blocks beyond the reserve are free: such merges. */
int nw_lavish_reserve(struct nw_ftl_lavish *lavish, unsigned more);

/* The logical block that merges cheapest, or NONE; without a free lavish block only one that merges
 * into its own log. */
unsigned nw_lavish_victim(const struct nw_ftl_lavish *lavish);

/* Merge I of the logical block whose map is at lavish->maps[0], if its data block has nothing valid
 * left. */
int nw_lavish_merge_1(struct nw_ftl_lavish *lavish);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ftl_nftl.h - NFTL: a chain of blocks for each logical block, each sector at its own place in one
 * of them.
 *
 * The first block written for a logical block is its primary block. A sector that cannot be
 * written there, because its page is taken (or, on parts that program in order, a higher one), goes
 * to the same page of a replacement block behind it. The newest copy of a sector is in the last
 * block of the chain that holds it. When free blocks run low, or the chain is as long as it may be,
 * the chain is folded into one block. Pictures: docs/ftl-nftl.md.
 *
 * Source: A. Ban, US patent 5,937,425 (1999); as the base of wear levelling in R. Chen's thesis
 * (Hong Kong Polytechnic University 2016, chapter 2). Others look for a page by reading tags along
 * the chain; here a bit a page in RAM tells.
 *
 * COST of a write in chip operations, beside ftl_hybrid.h: 1 program; 1 erase when a block is
 * added to the chain; when a chain must be folded first, a move (1 read and 1 program, or 1 copy)
 * for each sector that is not in the block it is folded into, and an erase. A chain whose last
 * block holds everything is folded without a move (switch merge); one whose last block still takes
 * what it lacks moves that alone (partial merge); else all is moved to a fresh block (full merge).
 * A mount compares a block with the others of its chain, and with those of it that were not yet
 * erased.
 *
 * RAM: 7 bytes and a bit a page for each block, 9 bytes and a bit a block for allocation, 4 a
 * logical block, one page: nw_ftl_nftl_ram_bytes().
 */
#ifndef NANDWICH_FTL_NFTL_H
#define NANDWICH_FTL_NFTL_H

#include <stddef.h>
#include <stdint.h>

#include "nandwich/block.h"
#include "nandwich/chip.h"
#include "nandwich/ftl_hybrid.h"
#include "nandwich/stats.h"
#include "nandwich/wear.h"

#ifdef __cplusplus
extern "C" {
#endif

#define NW_FTL_NFTL_CHAIN 8U
#define NW_FTL_NFTL_MOST_CHAIN 64U

struct nw_ftl_nftl_config {
    uint16_t spare_blocks; /* blocks kept for replacements, merges and bad blocks, at least 10;
                            * 0: blocks / 14 + 10 */
    uint16_t flags;        /* NW_FTL_HYBRID_... */
    struct nw_wear *wear;  /* wear policy (wear.h), this layer's alone; NULL: none. Its data are
                            * logical blocks */
    uint8_t chain;         /* most blocks of a chain, the primary one included: 2 ..
                            * NW_FTL_NFTL_MOST_CHAIN; 0: NW_FTL_NFTL_CHAIN. Each mount may
                            * have another */
};

/* May be read; the layer itself lives in the caller's RAM. */
struct nw_ftl_nftl {
    struct nw_block block; /* give &ftl.block to the layer above */
    struct nw_stats stats;
};

/* Bytes of RAM for this chip, and sectors the device will have; 0: the part will not do. */
size_t nw_ftl_nftl_ram_bytes(const struct nw_ftl_nftl_config *config,
                             const struct nw_geometry *geometry);
uint32_t nw_ftl_nftl_sectors(const struct nw_ftl_nftl_config *config,
                             const struct nw_geometry *geometry);

/* As ftl_hybrid.h tells. */
int nw_ftl_nftl_format(struct nw_ftl_nftl *ftl, struct nw_chip *chip,
                       const struct nw_ftl_nftl_config *config, void *ram, size_t ram_bytes);
int nw_ftl_nftl_mount(struct nw_ftl_nftl *ftl, struct nw_chip *chip,
                      const struct nw_ftl_nftl_config *config, void *ram, size_t ram_bytes);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ftl_superblock.h - neighbouring logical blocks share their blocks: page-mapped inside.
 *
 * `degree` neighbouring logical blocks are a superblock. Its sectors lie in any page of its
 * blocks, in the order they were written; it may have `log_blocks` blocks more than it needs. So
 * hot sectors gather in few blocks, and a map spans a superblock and not the chip. The map is kept
 * in the spare area: each page's tag names its sector. In RAM a bit tells for each block and
 * sector whether the block holds it; where in the block, tell lists, of which `lists` are in RAM
 * at a time and others are read from the tags again. Pictures: docs/ftl-superblock.md.
 *
 * Source: Kang, Jo, Kim, Lee, "A superblock-based flash translation layer for NAND flash memory",
 * EMSOFT 2006; as Superblock-FTL the peer in Lin et al., "Providing Virtual Memory Support for
 * Sensor Networks with Mass Data Processing", IJDSN 2013. There the spare area of a page holds
 * parts of a three-level map; here the tag alone, which fits any part, and a list is block_pages
 * reads of tags.
 *
 * COST of a write in chip operations, beside ftl_hybrid.h: 1 program; 1 erase each block_pages
 * writes; when the superblock has all its blocks, or free blocks run low: a block without a valid
 * sector is given back (switch merge); or the valid sectors of the emptiest block move behind the
 * newest (partial merge) or to a fresh block (full merge), a move (1 read and 1 program, or 1
 * copy) each, and an erase. A list that is not in RAM, as after a mount: block_pages reads of
 * tags at most; so for reads.
 * A mount compares a block with the others of its superblock, and with those of it that were not
 * yet erased.
 *
 * RAM: 9 bytes and a bit a sector of the superblock for each block, 9 bytes and a bit a block for
 * allocation, 4 a superblock, 2 a page of each list, one page: nw_ftl_superblock_ram_bytes().
 */
#ifndef NANDWICH_FTL_SUPERBLOCK_H
#define NANDWICH_FTL_SUPERBLOCK_H

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

#define NW_FTL_SUPERBLOCK_DEGREE 8U
#define NW_FTL_SUPERBLOCK_LOGS 4U
#define NW_FTL_SUPERBLOCK_LISTS 32U
#define NW_FTL_SUPERBLOCK_MOST 64U

struct nw_ftl_superblock_config {
    uint16_t spare_blocks; /* blocks kept for log blocks, merges and bad blocks, at least 10; 0:
                            * blocks / 14 + 10 */
    uint16_t flags;        /* NW_FTL_HYBRID_... */
    struct nw_wear *wear;  /* wear policy (wear.h), this layer's alone; NULL: none. What the host
                            * writes is its NW_WEAR_HOST, what merges move its NW_WEAR_MOVED */
    uint16_t degree;       /* logical blocks a superblock, 1 .. NW_FTL_SUPERBLOCK_MOST; 0:
                            * NW_FTL_SUPERBLOCK_DEGREE. Below 65,535 sectors together. It
                            * cannot change: a mount with another one answers NW_ERR_VERSION */
    uint16_t log_blocks;   /* blocks a superblock may have beyond these, at most
                            * NW_FTL_SUPERBLOCK_MOST; 0: NW_FTL_SUPERBLOCK_LOGS. Each mount
                            * may have another */
    uint16_t lists;        /* lists of sectors in RAM, at least 2; 0: NW_FTL_SUPERBLOCK_LISTS. Each
                            * mount may have another */
};

/* May be read; the layer itself lives in the caller's RAM. */
struct nw_ftl_superblock {
    struct nw_block block; /* give &ftl.block to the layer above */
    struct nw_stats stats;
};

/* Bytes of RAM for this chip, and sectors the device will have; 0: the part will not do. */
size_t nw_ftl_superblock_ram_bytes(const struct nw_ftl_superblock_config *config,
                                   const struct nw_geometry *geometry);
uint32_t nw_ftl_superblock_sectors(const struct nw_ftl_superblock_config *config,
                                   const struct nw_geometry *geometry);

/* As ftl_hybrid.h tells. */
int nw_ftl_superblock_format(struct nw_ftl_superblock *ftl, struct nw_chip *chip,
                             const struct nw_ftl_superblock_config *config,
                             void *ram, size_t ram_bytes);
int nw_ftl_superblock_mount(struct nw_ftl_superblock *ftl, struct nw_chip *chip,
                            const struct nw_ftl_superblock_config *config,
                            void *ram, size_t ram_bytes);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ftl_fast.h - log blocks shared by all logical blocks (FAST), one of them sequential.
 *
 * Each logical block has a data block, in which every sector has its own page. A sector whose page
 * is taken goes to the next page of the shared log, whatever logical block it belongs to: so the
 * log is full before anything has to be merged. The first sector of a logical block, and those that
 * follow it in order, go to one log block of their own, the sequential one, which can become the
 * data block. Pictures: docs/ftl-fast.md.
 *
 * Source: Lee, Park, Chung, Lee, Park, Song, "A log buffer-based flash translation layer using
 * fully-associative sector translation", ACM Trans. Embedded Computing Systems 6(3), 2007; a peer
 * in Lin et al., "Providing Virtual Memory Support for Sensor Networks with Mass Data Processing",
 * IJDSN 2013.
 *
 * COST of a write in chip operations, beside ftl_hybrid.h: 1 program; 1 erase when a block is
 * begun. When the shared log has all its blocks, the oldest is emptied: each logical block of which
 * it holds a newest copy is moved to a fresh block (full merge), a move (1 read and 1 program, or 1
 * copy) for each of its sectors, and an erase: up to block_pages full merges for one write. The
 * sequential block is merged when another one begins: without a move when it holds all (switch
 * merge), by moving what it lacks (partial merge), or by a full merge.
 * A mount compares a data block with the others of its logical block, three at most and what was
 * not yet erased; it reads the tags of the log blocks once more, and for each sector they hold the
 * tag of the page that was replaced.
 *
 * RAM: 7 bytes and a bit a page for each block, 9 bytes and a bit a block for allocation, 6 a
 * logical block, 6 a page of each log block (and of six more), one page: nw_ftl_fast_ram_bytes().
 */
#ifndef NANDWICH_FTL_FAST_H
#define NANDWICH_FTL_FAST_H

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

struct nw_ftl_fast_config {
    uint16_t spare_blocks; /* blocks kept for log blocks, merges and bad blocks, at least 10; 0:
                            * blocks / 14 + 10 */
    uint16_t flags;        /* NW_FTL_HYBRID_... */
    struct nw_wear *wear;  /* wear policy (wear.h), this layer's alone; NULL: none. Its data are
                            * logical blocks */
    uint16_t log_blocks;   /* shared log blocks, at most spare_blocks - 8, and with six more below
                            * 65,535 pages together; 0: as many as that allows. A mount may
                            * have more than those before it, never fewer: NW_ERR_VERSION */
};

/* May be read; the layer itself lives in the caller's RAM. */
struct nw_ftl_fast {
    struct nw_block block; /* give &ftl.block to the layer above */
    struct nw_stats stats;
};

/* Bytes of RAM for this chip, and sectors the device will have. 0: the part will not do, which here
 * also holds for more than 9,362 pages a block: not even one log block could be numbered. */
size_t nw_ftl_fast_ram_bytes(const struct nw_ftl_fast_config *config,
                            const struct nw_geometry *geometry);
uint32_t nw_ftl_fast_sectors(const struct nw_ftl_fast_config *config,
                            const struct nw_geometry *geometry);

/* As ftl_hybrid.h tells. */
int nw_ftl_fast_format(struct nw_ftl_fast *ftl, struct nw_chip *chip,
                      const struct nw_ftl_fast_config *config, void *ram, size_t ram_bytes);
int nw_ftl_fast_mount(struct nw_ftl_fast *ftl, struct nw_chip *chip,
                     const struct nw_ftl_fast_config *config, void *ram, size_t ram_bytes);

#ifdef __cplusplus
}
#endif

#endif

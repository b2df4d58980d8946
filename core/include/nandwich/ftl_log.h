/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ftl_log.h - one log block for each data block (BAST): sectors written again go to the log in the
 * order they come.
 *
 * Each logical block has a data block, in which every sector has its own page. A sector whose page
 * is taken goes to the next page of the log block. A limited number of log blocks serves the
 * device; when one is full, or one is needed elsewhere, it is merged with its data block.
 * Pictures: docs/ftl-log.md.
 *
 * Source: Kim, Kim, Noh, Min, Cho, "A space-efficient flash translation layer for CompactFlash
 * systems", IEEE Trans. Consumer Electronics 48(2), 2002; as Log-FTL the peer in Lin et al.,
 * "Providing Virtual Memory Support for Sensor Networks with Mass Data Processing", IJDSN 2013.
 *
 * COST of a write in chip operations, beside ftl_hybrid.h: 1 program; 1 erase when a log block is
 * begun; when a log block must be merged first, a move (1 read and 1 program, or 1 copy) for each
 * sector that moves, and an erase: none when the log was written in order from the first page to
 * the last (switch merge); those it lacks when it was written in order so far (partial merge);
 * else all of the logical block's (full merge). The log merged is that which was begun longest
 * ago.
 * The first use of a log block after a mount also reads its tags, block_pages at most.
 * A mount compares a block with the others of its logical block, three at most and what was not
 * yet erased.
 *
 * RAM: 9 bytes and a bit a page for each block, 9 bytes and a bit a block for allocation, 4 a
 * logical block, 2 a page of each log block, one page: nw_ftl_log_ram_bytes().
 */
#ifndef NANDWICH_FTL_LOG_H
#define NANDWICH_FTL_LOG_H

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

struct nw_ftl_log_config {
    uint16_t spare_blocks; /* blocks kept for log blocks, merges and bad blocks, at least 10; 0:
                            * blocks / 14 + 10 */
    uint16_t flags;        /* NW_FTL_HYBRID_... */
    struct nw_wear *wear;  /* wear policy (wear.h), this layer's alone; NULL: none. Its data are
                            * logical blocks */
    uint16_t log_blocks;   /* log blocks at a time, at most spare_blocks - 7; 0: as many.
                            * Each mount may have another */
};

/* May be read; the layer itself lives in the caller's RAM. */
struct nw_ftl_log {
    struct nw_block block; /* give &ftl.block to the layer above */
    struct nw_stats stats;
};

/* Bytes of RAM for this chip, and sectors the device will have; 0: the part will not do. */
size_t nw_ftl_log_ram_bytes(const struct nw_ftl_log_config *config,
                            const struct nw_geometry *geometry);
uint32_t nw_ftl_log_sectors(const struct nw_ftl_log_config *config,
                            const struct nw_geometry *geometry);

/* As ftl_hybrid.h tells. */
int nw_ftl_log_format(struct nw_ftl_log *ftl, struct nw_chip *chip,
                      const struct nw_ftl_log_config *config, void *ram, size_t ram_bytes);
int nw_ftl_log_mount(struct nw_ftl_log *ftl, struct nw_chip *chip,
                     const struct nw_ftl_log_config *config, void *ram, size_t ram_bytes);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ftl_hybrid_check.h - looks whether what a layer that maps blocks (ftl_nftl.h, ftl_log.h,
 * ftl_superblock.h, ftl_fast.h) has in RAM agrees with itself, and with the tags on the chip. For
 * tests and for hunting memory that was overwritten: a device needs it at no time.
 */
#ifndef NANDWICH_FTL_HYBRID_CHECK_H
#define NANDWICH_FTL_HYBRID_CHECK_H

#include <stdint.h>

#include "nandwich/block.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Of the block device that one of these layers gave at a mount or format, between two calls. Any
 * other block device must not be asked.
 *
 * Each block of the chip is one thing alone: free, bad, waiting for its erase or its mark, part of
 * the chain of one logical block, a shared log block, or the block of this session; lists and
 * counts say the same. So no block is lost. (Not asked of a device whose mount found no block to
 * write to.) The page of each sector is on the chip where the chain says: its tag names that
 * sector, and it is newer than the page of the same sector in any older block. Pages that cannot be
 * read are passed by.
 *
 * NW_OK, or NW_ERR_CORRUPT with the number in *where: of a block of the chip, behind them of a unit
 * (logical block, or superblock), behind these all counts together. Else the chip's error.
 * Cost: at most one read for each page of the blocks in use, and for fast one more for each sector
 * in a shared log block. It changes nothing but scratch memory of the layer.
 */
int nw_ftl_hybrid_check(const struct nw_block *block, uint32_t *where);

#ifdef __cplusplus
}
#endif

#endif

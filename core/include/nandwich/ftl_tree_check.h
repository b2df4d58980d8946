/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ftl_tree_check.h - looks whether the map of the tree layer agrees with what it counts in RAM. For
 * tests and for hunting memory that was overwritten: a device needs it at no time.
 */
#ifndef NANDWICH_FTL_TREE_CHECK_H
#define NANDWICH_FTL_TREE_CHECK_H

#include "nandwich/ftl_tree.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Of a device that is mounted, between two calls. Each page that a sector, a leaf or an inner node
 * lies in is on the chip, no head of a block and in no free block; and each block has as many as
 * are counted for it. Behind a mount in the session that failed RAM says nothing, and nothing is
 * asked. NW_OK, or NW_ERR_CORRUPT with the number in *where: of the sector, behind them of an
 * inner node, behind these all counts together. Else the error of a node that cannot be read.
 * Cost: a look-up for each sector, and a read for each leaf.
 */
int nw_ftl_tree_check(const struct nw_ftl_tree *ftl, uint32_t *where);

/* Blocks that are free, of a device that is mounted. */
uint32_t nw_ftl_tree_free_blocks(const struct nw_ftl_tree *ftl);

#ifdef __cplusplus
}
#endif

#endif

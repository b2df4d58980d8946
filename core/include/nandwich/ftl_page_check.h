/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ftl_page_check.h - looks whether what the page-mapped layer has in RAM agrees with itself. For
 * tests and for hunting memory that was overwritten: a device needs it at no time.
 */
#ifndef NANDWICH_FTL_PAGE_CHECK_H
#define NANDWICH_FTL_PAGE_CHECK_H

#include "nandwich/ftl_page.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Of a device that is mounted, between two calls. Each page that a sector or a trim page lies in is
 * in a block in use, counts as one that is needed, and is no other's; each block has as many as are
 * counted for it, and free ones have none. NW_OK, or NW_ERR_CORRUPT with the number in *where: of
 * the sector, behind them of a trim page, behind these of a block.
 * Cost: no chip operation; a step a sector, and one a page of the chip.
 */
int nw_ftl_page_check(const struct nw_ftl_page *ftl, uint32_t *where);

/* Blocks that are free, of a device that is mounted. */
uint32_t nw_ftl_page_free_blocks(const struct nw_ftl_page *ftl);

#ifdef __cplusplus
}
#endif

#endif

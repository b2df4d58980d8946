/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ftl_lavish_check.h - looks whether what the lavish layer has in RAM agrees with itself. For tests
 * and for hunting memory that was overwritten: a device needs it at no time.
 */
#ifndef NANDWICH_FTL_LAVISH_CHECK_H
#define NANDWICH_FTL_LAVISH_CHECK_H

#include "nandwich/ftl_lavish.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Of a device that is open, between two calls. Each lavish block is free, given up, or the data or
 * the log of one logical block alone, and the counts say the same; no block of the chip stands for
 * two. Of each logical block whose map is in RAM: every sector lies in a page of its own below the
 * next free one, and as many lie in the data block as are counted. Other maps lie in such a page.
 *
 * NW_OK, or NW_ERR_CORRUPT with the number in *where: of a logical block, behind them of a lavish
 * block, behind these of a spare.
 * Cost: no chip operation; for each map in RAM the square of the sectors of a logical block.
 */
int nw_ftl_lavish_check(const struct nw_ftl_lavish *lavish, uint32_t *where);

#ifdef __cplusplus
}
#endif

#endif

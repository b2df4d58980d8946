/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blank.h - whether anything is written on a chip.
 *
 * A page is blank when all its spare bytes are erased and, on chips that may be read where they are
 * erased (NW_CHIP_READ_ERASED) and keep payload, all its data bytes too. On other chips the spare
 * bytes are all that may be asked: whoever writes there has to leave a mark in them.
 *
 * Nothing is written or erased.
 */
#ifndef NANDWICH_BLANK_H
#define NANDWICH_BLANK_H

#include "nandwich/chip.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * 1: every page of every good block is blank; 0: one is not, or cannot be read; NW_ERR_UNSUPPORTED:
 * the chip has no spare bytes and cannot be read where it is erased, so nobody can tell; else the
 * chip's error. So is every chip from the factory, bad blocks or not, and one that was erased.
 * Cost: an is_bad a block; page after page, until one is not blank, a read of its spare bytes, or
 * of all its bytes, in pieces of NW_BLANK_PIECE. For a blank chip that is about the time of a
 * format, once.
 */
int nw_chip_is_blank(struct nw_chip *chip);

#define NW_BLANK_PIECE 32U /* bytes read at a time, on the stack */

/* The same of the blocks below `end`. */
int nw_blocks_are_blank(struct nw_chip *chip, uint32_t end);

/* The same of the pages with numbers first .. end - 1, whether their blocks are bad or not. */
int nw_pages_are_blank(struct nw_chip *chip, uint32_t first, uint32_t end);

/* What a mount answers that found no device of its kind: NW_ERR_BLANK, NW_ERR_NOT_FOUND when
 * something is written, or the chip's error. Cost as nw_chip_is_blank(). */
int nw_chip_not_found(struct nw_chip *chip);

#ifdef __cplusplus
}
#endif

#endif

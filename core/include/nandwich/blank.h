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

#include <stddef.h>

#include "nandwich/chip.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * 1: every page of every good block is blank; 0: one is not, or cannot be read; NW_ERR_UNSUPPORTED:
 * the chip has no spare bytes and cannot be read where it is erased, so nobody can tell; else the
 * chip's error. So is every chip from the factory, bad blocks or not, and one that was erased.
 * Cost: an is_bad a block; page after page, until one is not blank, a read of its spare bytes, or
 * of all its bytes, in pieces of NW_BLANK_PIECE. A blank chip that is asked for its data is slow:
 * 128 MiB in pages of 2 KiB are 4.3 million reads, minutes on NAND. nw_chip_not_found() is quicker.
 */
int nw_chip_is_blank(struct nw_chip *chip);

#define NW_BLANK_PIECE 32U /* bytes read at a time, on the stack */

/* The same of the blocks below `end`. */
int nw_blocks_are_blank(struct nw_chip *chip, uint32_t end);

/* The same of the pages with numbers first .. end - 1, whether their blocks are bad or not. */
int nw_pages_are_blank(struct nw_chip *chip, uint32_t first, uint32_t end);

/*
 * What a mount answers that found no device of its kind: NW_ERR_BLANK, NW_ERR_NOT_FOUND when
 * something is written, or the chip's error. Cost as nw_chip_is_blank(), but in pieces as large as
 * `ram`, 1 byte at least, whose content goes: with a page, 2 reads a page. So a blank chip is read
 * once: 128 MiB take 60 s over a serial bus of 20 MHz, 12 s in parallel cycles of 25 ns.
 */
int nw_chip_not_found(struct nw_chip *chip, void *ram, size_t bytes);

#ifdef __cplusplus
}
#endif

#endif

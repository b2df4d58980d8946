/* SPDX-License-Identifier: Apache-2.0 */
/*
 * oob.h - a spare area for chips that have none: serial NOR, whose pages take any number of
 * programs, seen as a chip with larger pages and 18 spare bytes each (out-of-band data).
 *
 *   block above     `join` erase blocks of the chip, one behind the other
 *   its pages       page_bytes each, a whole number of the chip's pages
 *   then            what is left over
 *   its last pages  spare areas, 18 B a page above, none across the edge of a chip page; the last
 *                   4 B of the block are its bad block mark
 *
 * SHAPES. With n the chip's pages a block above, s those of a page above and t = (chip page - 4) /
 * 18: n * t / (s * t + 1) pages a block, rounded down. Chip pages of 256 B (t is 14):
 *
 *   block above       8 KiB   16 KiB   32 KiB   64 KiB   68 KiB   128 KiB
 *   pages of 512 B       15       30       61      123      131       247
 *   pages of 4,096 B      1        3        7       15       16        31
 *
 * CUTS. A program programs the data first and the spare bytes last, so a page whose spare is whole
 * has whole data. A cut before leaves blank spare bytes, above data that nobody may take for
 * erased. Erase begins with the last block of the chip: the spare areas are gone before the data.
 * docs/chip-filters.md argues that this is what chip.h and docs/faults.md allow.
 *
 * BAD BLOCKS. A block is bad when one of the chip's is, and mark_bad marks them all. A chip without
 * mark_bad gets marks of the filter: mark_bad erases the chip's last block there and programs the
 * mark. If that fails the block has no mark, the answer is NW_OK, and the block may fail again.
 *
 * COST, in operations of the chip
 *   read      as many as its data touches chip pages, and 1 with spare bytes; of spare alone 1
 *   program   likewise
 *   erase     `join`
 *   is_bad    `join`, and 1 read where the marks are the filter's
 * No RAM beyond the struct. There is no copy, no heal, and there are no buffers above.
 */
#ifndef NANDWICH_OOB_H
#define NANDWICH_OOB_H

#include <stdint.h>

#include "nandwich/chip.h"

#ifdef __cplusplus
extern "C" {
#endif

#define NW_OOB_BYTES 18U

struct nw_oob {
    struct nw_chip chip;   /* give &oob.chip to the layer above */
    struct nw_chip *below; /* must outlive the filter */
    uint16_t join;         /* blocks of the chip a block */
    uint16_t span;         /* pages of the chip a page */
    uint16_t spare_page;   /* first page of the chip in a block that holds spare areas */
    uint16_t page_spares;  /* spare areas in one */
};

/*
 * NW_ERR_CONFIG when page_bytes is no whole number of chip pages, when the chip limits programs a
 * page (NAND; DataFlash, which programs whole pages once), asks for ascending order or programs
 * units of more than 2 B, when `join` is 0 or more than the chip's blocks, or when a block above
 * has no page or more than 65,535 pages of the chip. Blocks of the chip that do not fill another
 * block above stay unused.
 */
int nw_oob_open(struct nw_oob *oob, struct nw_chip *below, uint16_t page_bytes, uint16_t join);

#ifdef __cplusplus
}
#endif

#endif

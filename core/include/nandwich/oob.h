/* SPDX-License-Identifier: Apache-2.0 */
/*
 * oob.h - a spare area (out-of-band data) for chips that have none, serial NOR and DataFlash, seen
 * as a chip with larger pages and `join` erase blocks in one.
 *
 * NOR, whose pages take any number of programs: 18 spare bytes a page, in pages of their own at the
 * end of the block, none across the edge of a page. With n pages of the chip a block, s those of a
 * page above and t = chip page / 18: n * t / (s * t + 1) pages a block, rounded down.
 *   blocks of         8 KiB   16 KiB   32 KiB   64 KiB   68 KiB   128 KiB
 *   pages of 512 B       15       30       61      123      131       247    (chip pages of 256 B)
 *   pages of 4,096 B      1        3        7       15       16        31
 *
 * DATAFLASH, whose pages are programmed whole and have a few bytes more than a power of two: the
 * spare area is what a page above leaves of its last page, at its end: 16 bytes for 512 on two of
 * 264 or one of 528, 18 for 1,024. This takes a page of RAM. Pages set to 256 or 512 bytes have no
 * room.
 *
 * CUTS. Spare bytes are programmed last, so where they are whole the data are. On NOR erase begins
 * with them, with the chip's last block; blank spare bytes may stand beside data then, and behind a
 * program that was cut. docs/chip-filters.md argues that this is what chip.h and docs/faults.md
 * allow.
 *
 * BAD BLOCKS. A block is bad when one of the chip's is, and mark_bad marks them all. A chip without
 * mark_bad gets marks in the spare bytes of the last page: the chip's last block is erased for it.
 * If that fails the block has no mark, the answer is NW_OK, and the block may fail again.
 *
 * COST, in operations of the chip. RAM: the struct. No copy, heal or buffers above.
 *   read      as many as its data touches chip pages, and 1 with spare bytes; of spare alone 1
 *   program   likewise; DataFlash: one for each of its pages, without data 1
 *   erase     `join`
 *   is_bad    `join`, and 1 read where the marks are the filter's
 */
#ifndef NANDWICH_OOB_H
#define NANDWICH_OOB_H

#include <stdint.h>

#include "nandwich/chip.h"

#ifdef __cplusplus
extern "C" {
#endif

#define NW_OOB_BYTES 18U /* spare bytes a page, at most */
#define NW_OOB_LEAST 15U

struct nw_oob {
    struct nw_chip chip;   /* give &oob.chip to the layer above */
    struct nw_chip *below; /* must outlive the filter */
    uint8_t *tail;         /* DataFlash: its last page of one above, put together; else NULL */
    uint16_t join;         /* blocks of the chip a block */
    uint16_t span;         /* pages of the chip a page */
    uint16_t spare_page;   /* NOR: first page of the chip in a block that holds spare areas, */
    uint16_t page_spares;  /* and how many one holds */
};

/*
 * `tail`: NULL for NOR, for DataFlash as many bytes as a page of the chip, which stay the filter's.
 * NW_ERR_CONFIG when `join` is 0 or more than the chip's blocks; when a block has no page or more
 * than 65,535 of the chip. NOR: when page_bytes is no whole number of the chip's pages, or the chip
 * limits programs a page, asks for ascending order or programs units that do not divide 18 B.
 * DataFlash: when the chip does not program whole pages, less than 15 B are left, or the chip's
 * pages of one above do not divide a block. Blocks that do not fill one above stay unused.
 */
int nw_oob_open(struct nw_oob *oob, struct nw_chip *below, uint16_t page_bytes, uint16_t join,
                uint8_t *tail);

#ifdef __cplusplus
}
#endif

#endif

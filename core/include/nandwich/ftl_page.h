/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ftl_page.h - the page-mapped translation layer: any sector may lie in any page of the chip.
 *
 * A log of pages: each write goes to the next page of an open block, a map in RAM says where the
 * newest copy of each sector lies, a tag in the spare area lets a mount find the map again. The
 * block with the fewest valid pages is cleaned first (greedy). What the host writes and what
 * cleaning moves fill blocks of their own. How, why, every bit on flash: docs/ftl-page.md.
 *
 * SECTORS. One sector is one page. The device has (blocks - spare_blocks) * block_pages sectors,
 * less a few pages that remember trims.
 *
 * RAM: 4 bytes a sector, 12 a block, a bit a page and a page buffer: nw_ftl_page_ram_bytes().
 *
 * DURABLE. A write is durable when it has returned NW_OK; a sync only has to write down trims. A
 * trim is durable after a sync (or earlier). Power may be cut at any moment, in mount too.
 *
 * A FAILED WRITE (NW_ERR_IO, say) leaves its sector at its old content. The next write, sync or
 * idle first writes that content anew and answers an error when it cannot.
 *
 * COST, in chip operations; n: pages of a block; one read more for each that answers NW_ERR_ECC
 *   read   1 read (data and tag); 0 when the sector holds nothing
 *   write  1 program, and 1 erase every n writes unless idle erased ahead. While free blocks are
 *          few also ceil(n / (n - v)) moves at most, of the v valid pages of the block being
 *          cleaned, and another erase. After a failed program up to n pages are written more. That
 *          holds while 7 of the spare blocks are good: with fewer a write may clean several blocks
 *   trim   0; the next sync writes one page for each range of 8 * page_bytes sectors touched
 *   sync   0 without trims before it; with them also an erase, and moves when free blocks are few
 *   idle   steps that each fit the budget left: a move, an erase, or a healing (wear.h)
 *   the first write, sync or idle after a call that failed: also 1 read, 1 program and 1 erase
 *   mount  a read for page 0 of every block, each written page and each outdated page found, 1
 *          more, 4 programs and 1 erase; behind a cut and when free blocks are few also moves
 *          (docs)
 *
 * ERRORS of the block verbs: NW_ERR_FULL of a write, of a sync with trims to write down and of what
 * settles a failed write, when bad blocks have eaten the spare blocks; until the next mount, when
 * many programs or erases fail in quick succession (docs). Reads go on. NW_ERR_ECC or
 * NW_ERR_CORRUPT for a sector whose content is lost (the sector is req->sector + req->done),
 * NW_ERR_UNSUPPORTED for data == NULL on a chip that keeps payload or data on one that keeps none,
 * else what the chip answers.
 */
#ifndef NANDWICH_FTL_PAGE_H
#define NANDWICH_FTL_PAGE_H

#include <stddef.h>
#include <stdint.h>

#include "nandwich/block.h"
#include "nandwich/chip.h"
#include "nandwich/ram.h"
#include "nandwich/stats.h"
#include "nandwich/wear.h"

#ifdef __cplusplus
extern "C" {
#endif

struct nw_ftl_page_config {
    uint16_t spare_blocks; /* blocks kept for cleaning, bad blocks and the log itself, at least 10;
                            * 0: blocks / 14 + 10. The fewer, the more moves a write */
    struct nw_wear *wear;  /* wear policy (wear.h), this layer's alone; NULL: none. What the host
                            * writes is its NW_WEAR_HOST, what cleaning moves its NW_WEAR_MOVED */
};

struct nw_page; /* in the caller's RAM */

/* block and stats may be read, the rest is the layer's own. */
struct nw_ftl_page {
    struct nw_block block; /* give &ftl.block to the layer above */
    struct nw_stats stats;
    struct nw_page *page;
};

/*
 * Bytes of RAM for this chip, and sectors the device will have. 0 when the layer cannot work on it:
 * not more than spare_blocks blocks, fewer than 8 pages a block or more than 8,191, blocks and
 * pages a block together above 65,526, pages below 256 bytes, a spare area below 15 bytes (no room
 * for the tag), or config->spare_blocks from 1 to 9.
 */
size_t nw_ftl_page_ram_bytes(const struct nw_ftl_page_config *config,
                             const struct nw_geometry *geometry);
uint32_t nw_ftl_page_sectors(const struct nw_ftl_page_config *config,
                             const struct nw_geometry *geometry);

/*
 * Make the chip an empty device and open it. Erases every good block. A cut in the midst leaves
 * the device there was, a chip that mount does not know (NW_ERR_NOT_FOUND, or NW_ERR_BLANK when all
 * is erased and nothing programmed yet) or an empty device: format again. That holds for any number
 * of formats, of any layers, each of them cut. (Of a page device so full of bad blocks that its
 * last mount found no block to keep for the next one, half may mount.)
 * Cost: reads the tag of page 0 of every block, an erase a block, 3 programs and a read of one.
 * Where a page or tree device was, a few reads, 2 erases and 2 programs more; on another chip that
 * is not blank the tags of pages up to the first with data in each block, twice.
 * NW_ERR_CONFIG, NW_ERR_RAM, NW_ERR_FULL: too many bad blocks; or the chip's error.
 */
int nw_ftl_page_format(struct nw_ftl_page *ftl, struct nw_chip *chip,
                       const struct nw_ftl_page_config *config, void *ram, size_t ram_bytes);

/*
 * Open a device as the last session left it, cut or not. `ram` is aligned for any type and belongs
 * to the layer from now on, like `chip`. Sectors found lost are counted in stats.lost.
 * Nothing is written or erased on a chip that holds none: NW_ERR_BLANK: nothing is written there;
 * NW_ERR_NOT_FOUND: something else is, nw_identify() tells what (behind a format that was cut it
 * may still name the layer whose device that format has ended); NW_ERR_VERSION: another format,
 * configuration or geometry. Else as format. A device without a free block mounts and can be read.
 * A page that can be programmed and never read (NW_ERR_ECC) keeps no device from mounting. When the
 * newest list rots later, the mount builds on the one before, and what later mounts had moved may
 * be lost; or it answers NW_ERR_NOT_FOUND when no other is left.
 * There is nothing to close.
 */
int nw_ftl_page_mount(struct nw_ftl_page *ftl, struct nw_chip *chip,
                      const struct nw_ftl_page_config *config, void *ram, size_t ram_bytes);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ftl_tree.h - a translation layer for little RAM: any sector may lie in any page, and the map that
 * says where lies on the chip. 128 MB of NAND and 4 KB of RAM, the page buffer of 2 KB included.
 * How, each bit on the chip, and why a cut is survived: docs/faults.md and docs/ftl-tree.md.
 *
 * RAM IS A DIAL, from nw_ftl_tree_ram_bytes() on. More brings in this order: a longer list of
 * changes, so that up to four blocks stand behind one root; a bit a page, so that cleaning reads
 * only what it moves; a cache of the map, for which four pages are kept before. Each mount may have
 * other RAM. Without writing, one with less than the session before may answer NW_ERR_RAM.
 *
 * SECTORS. One sector is one page: nw_ftl_tree_sectors(). The smaller pages, the fewer are offered.
 *
 * DURABLE. A write is durable when it has returned NW_OK; a trim after a sync (or earlier). Power
 * may be cut at any moment, any number of times, in mounts and formats too; what was being written
 * then is old or new, and stays what a mount shows.
 *
 * FAILURES. A program or erase that fails is as if nothing had happened, as long as 8 spare blocks
 * are good and a call has answered NW_OK since the one before. Behind a program that failed, or
 * answered an error that tells nothing, the layer mounts itself and tries the call once more. A
 * second failure in the same call: it answers an error, and the next call goes on.
 *
 * A PAGE THAT ROTS costs what it alone held: reads of that sector answer NW_ERR_ECC or
 * NW_ERR_CORRUPT until it is written (it is req->sector + req->done). Of map and roots nothing, for
 * these stand twice. Two exceptions show older content and no error at the next mount: the page
 * written last of all, which looks torn; and where tags have less than 18 spare bytes any page
 * written since the newest root. Beyond this: two such pages at a time, and wrong bits in nodes, of
 * which look-ups read parts without a checksum. A mount checks each node. Scrubbing: see config.
 *
 * COST, in chip operations; nw_ftl_tree_longest() computes the longest calls.
 *   read   a look-up of at most 3 reads, none for most of the next 31 sectors; and the page, or 2
 *   write  1 program, a look-up and, as a rule, one of these: begin a block (2 programs, or none
 *          behind a root), erase one, push changes down the tree (mostly 4 programs), clean pages
 *   trim   a look-up; it may push      sync   0 without trims before it, else 2 programs or 3
 *   idle   steps that each fit the budget left: a page of cleaning, or an erase
 *   mount  the tag of each block's first page, tags of the last block, or four; the map once; 5
 *          programs, an erase; cleaning if free blocks are short
 * ERRORS: NW_ERR_FULL when bad blocks have eaten the spare ones (reads go on); NW_ERR_UNSUPPORTED
 * for data == NULL on a chip that keeps payload or data on one that keeps none; else the chip's.
 */
#ifndef NANDWICH_FTL_TREE_H
#define NANDWICH_FTL_TREE_H

#include <stddef.h>
#include <stdint.h>

#include "nandwich/block.h"
#include "nandwich/chip.h"
#include "nandwich/ram.h"
#include "nandwich/stats.h"

#ifdef __cplusplus
extern "C" {
#endif

struct nw_ftl_tree_config {
    uint16_t spare_blocks; /* blocks kept for cleaning and bad blocks, at least 12;
                            * 0: blocks / 8 + 12. The fewer, the more moves a write */
    uint8_t scrub_bits;    /* 0: never; else a block is written anew in which a read corrected so
                            * many bits: below what the chip can correct. One in 64 writes at most;
                            * stats.scrubbed. In a read-only mount never */
};

struct nw_tree; /* in the caller's RAM */

/* block and stats may be read, the rest is the layer's own. */
struct nw_ftl_tree {
    struct nw_block block; /* give &ftl.block to the layer above */
    struct nw_stats stats;
    struct nw_tree *tree;
};

/*
 * Least bytes of RAM for this chip, and sectors the device will have. 0 when the layer cannot work
 * on it: not more than spare_blocks blocks or more than 65,534, fewer than 16 pages a block or more
 * than 256, pages below 256 bytes, a spare area below 15 bytes, config->spare_blocks from 1 to 11,
 * or more than c * (c + 1) * (page_bytes / w) pages in the blocks that are not spare, the first two
 * apart: then the places of nodes would take over half a page. `w` is 2 where the chip has up to
 * 65,536 pages in all, else 3; `c` is (page_bytes / 2 - 36) / w; quotients are rounded down. So no
 * chip of up to 65,536 pages has too many; beyond that 79,050 such pages of 256 bytes are the most,
 * 918,340 of 512 and 8,566,602 of 1,024; of 2,048 or more bytes there are never too many. Of 256
 * pages a block 253 are used.
 */
size_t nw_ftl_tree_ram_bytes(const struct nw_ftl_tree_config *config,
                             const struct nw_geometry *geometry);
uint32_t nw_ftl_tree_sectors(const struct nw_ftl_tree_config *config,
                             const struct nw_geometry *geometry);

/*
 * Make the chip an empty device and open it. A device of this kind gets an empty root, and that is
 * all; any other chip is erased, each good block. A cut in the midst leaves the device there was,
 * an empty one, or a chip that mount does not know (NW_ERR_NOT_FOUND or NW_ERR_BLANK): once more.
 * All of ram_bytes is used, whole pages of it as a cache of the map.
 * NW_ERR_CONFIG, NW_ERR_RAM, NW_ERR_FULL: too many bad blocks; or the chip's error.
 */
int nw_ftl_tree_format(struct nw_ftl_tree *ftl, struct nw_chip *chip,
                       const struct nw_ftl_tree_config *config, void *ram, size_t ram_bytes);

/*
 * Open a device as the last session left it, cut or not, with any RAM from the least on. `ram` is
 * aligned for any type and belongs to the layer from now on, like `chip`.
 * Nothing is written or erased on a chip that holds none: NW_ERR_BLANK: nothing is written there;
 * NW_ERR_NOT_FOUND: something else is, nw_identify() tells what; NW_ERR_VERSION: another
 * configuration, geometry or format; NW_ERR_CORRUPT: the newest root is there and cannot be read.
 * Else as format. A device without a free block, or with a node of which both copies are lost,
 * mounts and can be read: changes answer NW_ERR_FULL or that error. There is nothing to close.
 */
int nw_ftl_tree_mount(struct nw_ftl_tree *ftl, struct nw_chip *chip,
                      const struct nw_ftl_tree_config *config, void *ram, size_t ram_bytes);

/*
 * The same without writing anything, for as long as the device is open: changes answer
 * NW_ERR_UNSUPPORTED. It shows what a mount would show. What was under way when power went is old
 * or new at each read, until a mount writes; what was acknowledged is there. NW_ERR_RAM: also where
 * the session before had more RAM, and left more changes than there is room for here.
 */
int nw_ftl_tree_mount_read_only(struct nw_ftl_tree *ftl, struct nw_chip *chip,
                                const struct nw_ftl_tree_config *config, void *ram,
                                size_t ram_bytes);

/*
 * The longest that a call takes, in chip operations, whatever the device went through: a read of a
 * sector; a change: the write or trim of a sector, or a sync; a step of idle time; a mount. Each
 * read counts twice, for it may fail once. A change in which a program fails, or behind one whose
 * mount failed, takes two changes and a mount; with a second failure in it two mounts. Idle time
 * takes a step, one more for each 10 reads, 6 programs and an erase that its budget has room for by
 * the chip's times, and likewise a mount or two. A read behind a mount that failed takes a mount.
 * NW_ERR_CONFIG.
 */
enum nw_ftl_tree_call {
    NW_FTL_TREE_READ,
    NW_FTL_TREE_CHANGE,
    NW_FTL_TREE_STEP,
    NW_FTL_TREE_MOUNT
};

struct nw_ftl_tree_most {
    uint32_t reads;
    uint32_t programs;
    uint32_t erases;
};

int nw_ftl_tree_longest(const struct nw_ftl_tree_config *config,
                        const struct nw_geometry *geometry, enum nw_ftl_tree_call call,
                        struct nw_ftl_tree_most *most);

#ifdef __cplusplus
}
#endif

#endif

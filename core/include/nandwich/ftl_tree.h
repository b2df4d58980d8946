/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ftl_tree.h - a translation layer for little RAM: any sector may lie in any page, as in
 * ftl_page.h, and the map that says where lies on the chip.
 *
 * 128 MB of NAND and 4 KB of RAM, the page buffer of 2 KB included. More RAM is a cache of the map.
 *
 * A log of pages. The map is a tree of three levels in pages of its own: a root, inner nodes,
 * leaves. Root and inner nodes also hold changes that the level below has not heard of yet, so one
 * program of a leaf takes many at once (a buffered tree: Brodal and Fagerberg, SODA 2003). The
 * newest changes are in RAM, and in the tags of the pages that were written since the root. Each
 * block of the log begins with a root: a mount needs the newest block alone. Bits and argument:
 * docs/ftl-tree.md.
 *
 * SECTORS. One sector is one page. Of the blocks that are not kept back as many pages are
 * offered as let the cleaning of an average block win something: nw_ftl_tree_sectors(). Small pages
 * hold few changes, so each costs more there and fewer are offered.
 *
 * DURABLE. A write is durable when it has returned NW_OK; a sync only has to write down trims. A
 * trim is durable after a sync (or earlier). Power may be cut at any moment, in mount too.
 *
 * A FAILED WRITE (NW_ERR_IO, say) leaves its sector at its old content. The next write, sync or
 * idle begins with a new block, whose root, written twice, does not know of the page that failed;
 * the next write also copies the page before that one. Power that goes before may bring the new
 * content: a program that answered an error may have been done.
 *
 * COST, in chip operations. A look-up is at most 3 reads, fewer where changes or cached nodes tell.
 *   read   a look-up and 1 read; a look-up alone when the sector holds nothing. A look-up of a leaf
 *          serves the next 31 sectors, too. Here and everywhere one more for each that answers
 *          NW_ERR_ECC: what fails once is not lost
 *   write  1 program and a look-up, and beside it at most one of these: 1 program and 1 read to
 *          begin a block; an erase, once a block; a push of changes down the tree, about every
 *          page_bytes / 20 changes (2 programs as a rule, at most 5, on pages of 256 B 8); while
 *          free blocks are few, pages of the block being cleaned: n * 9/8 shared among the writes
 *          that its cleaning wins, of n, and that do nothing else; and one for each free block less
 *          than seven. Each is a read of its tag and a look-up, a valid one a write more.
 *          Only when failures or mounts have used up the free blocks a write waits for more
 *   trim   a look-up; as a write it may push changes
 *   sync   0 without trims before it and after no failed call; else 2 programs, and an erase when
 *          they take a block
 *   idle   steps that each fit the budget left: a page of cleaning, or an erase
 *   mount  reads the tag of each block's first page, the tags of the newest block, and the map once
 *          (a read for each node, and about 3 more a leaf); 4 to 6 programs and an erase, a push
 *          besides if one is due. When free blocks are few it cleans, as far as its own block has
 *          room. Where the newest block is full but for two pages, or the last one is torn, the
 *          block is emptied by the writes to come, about 5 pages each
 *
 * ERRORS of the block verbs: NW_ERR_FULL when bad blocks have eaten the spare blocks (reads go on).
 * Errors in quick succession may use up the free blocks: NW_ERR_FULL until the next mount. Each
 * takes one at most. Where writes clean, three are free at least, and the last is for a mount, so
 * two errors in a row are always borne.
 * NW_ERR_UNSUPPORTED for data == NULL on a chip that keeps payload or data on one that keeps none,
 * else what the chip answers. A block in which a program fails is emptied and marked bad.
 *
 * PAGES THAT ROT: that answer NW_ERR_ECC to each read, or whose content does not fit its checksum.
 * One such page, wherever it is, costs what it alone held:
 *   a sector's   reads of it answer NW_ERR_ECC or NW_ERR_CORRUPT until it is written or trimmed
 *                (the sector is req->sector + req->done). Where the tag is lost too, its block is
 *                not used until then and a mount
 *   a node's     nothing: the tags of all pages tell the same. The mount, or the write or trim that
 *                meets it, makes it anew: a read of each page of the chip for a leaf; for an inner
 *                node that for each of its leaves. Until then reads of its sectors answer such an
 *                error. What was trimmed may hold again what it held before
 *   a root's     nothing: a mount takes it from the block before, but for trims of that time. Until
 *                that mount reads, writes, syncs and trims may answer such an error
 * But in use content that is wrong without NW_ERR_ECC is found in sectors and in leaves only:
 * look-ups read parts of inner nodes and roots, which have no checksum of their own. Such a part
 * may have a read answer other content or zeros, or NW_ERR_RANGE or NW_ERR_UNWRITTEN, and what is
 * written meanwhile may be lost. A mount right behind the damage finds it, whatever it is in.
 * Twice older content may be shown, and no error: by the page that was written last of all, which
 * looks as if power had been cut in it; and where tags have less than 18 spare bytes by any page
 * written since the newest root, at most block_pages ago. Two such pages at a time may cost more:
 * at worst a mount answers NW_ERR_CORRUPT.
 *
 * RAM: a page buffer, a byte a block, up to 8 bytes for each page of a block, 4 to 6 bytes a leaf
 * (page_bytes / 2 sectors, from 2^16 pages on page_bytes / 3), 12 bytes an inner node (the square
 * root of the leaves), about 400 bytes; nw_ftl_tree_ram_bytes() is the least.
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
 * or more than c * (c + 1) * (page_bytes / w) pages in the blocks that are not spare, first pages
 * apart: then the places of nodes would take over half a page. `w` is 2 where the chip has up to
 * 65,536 pages in all, else 3; `c` is (page_bytes / 2 - 64) / w; quotients are rounded down. So no
 * chip of up to 65,536 pages has too many; beyond that 39,270 such pages of 256 bytes are the most,
 * 707,200 of 512 and 7,621,350 of 1,024; of 2,048 or more bytes there are never too many.
 */
size_t nw_ftl_tree_ram_bytes(const struct nw_ftl_tree_config *config,
                             const struct nw_geometry *geometry);
uint32_t nw_ftl_tree_sectors(const struct nw_ftl_tree_config *config,
                             const struct nw_geometry *geometry);

/*
 * Make the chip an empty device and open it. Erases every good block. A cut in the midst leaves
 * the device there was, a chip that mount does not know (NW_ERR_NOT_FOUND or NW_ERR_BLANK) or an
 * empty device: format again; so do several formats, of any layers, each of them cut. All of
 * ram_bytes is used, whole pages of it as a cache of the map.
 * NW_ERR_CONFIG, NW_ERR_RAM, NW_ERR_FULL: too many bad blocks; or the chip's error.
 */
int nw_ftl_tree_format(struct nw_ftl_tree *ftl, struct nw_chip *chip,
                       const struct nw_ftl_tree_config *config, void *ram, size_t ram_bytes);

/*
 * Open a device as the last session left it, cut or not, with any RAM from the least on. `ram` is
 * aligned for any type and belongs to the layer from now on, like `chip`.
 * Nothing is written or erased on a chip that holds none: NW_ERR_BLANK: nothing is written there;
 * NW_ERR_NOT_FOUND: something else is, nw_identify() tells what; NW_ERR_VERSION: another format,
 * configuration or geometry; NW_ERR_CORRUPT: the newest root is there and cannot be read, nor what
 * else tells of it (PAGES THAT ROT). Else as format. A device without a free block mounts and can
 * be read. There is nothing to close.
 */
int nw_ftl_tree_mount(struct nw_ftl_tree *ftl, struct nw_chip *chip,
                      const struct nw_ftl_tree_config *config, void *ram, size_t ram_bytes);

/*
 * The same without writing anything, for as long as the device is open: changes answer
 * NW_ERR_UNSUPPORTED. It shows what a mount would show; what a torn tail shows here may change at
 * the next mount of either kind.
 */
int nw_ftl_tree_mount_read_only(struct nw_ftl_tree *ftl, struct nw_chip *chip,
                                const struct nw_ftl_tree_config *config, void *ram,
                                size_t ram_bytes);

/*
 * The longest that a call takes, in chip operations, whatever the device went through: a read of a
 * sector; a change: the write or trim of a sector, or a sync; a mount. Each read counts twice, for
 * it may fail once. A change in which a program fails, or behind one whose mount failed, takes two
 * changes and a mount; a read behind such a mount one mount's reads more. NW_ERR_CONFIG.
 */
enum nw_ftl_tree_call { NW_FTL_TREE_READ, NW_FTL_TREE_CHANGE, NW_FTL_TREE_MOUNT };

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

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ftl_hybrid.h - what the layers that map blocks and not single pages have in common: ftl_nftl.h,
 * ftl_log.h, ftl_superblock.h, ftl_fast.h.
 *
 * SECTORS. One sector is one page; block_pages neighbouring sectors are a logical block. A device
 * has (blocks - spare_blocks) * block_pages sectors. Of spare_blocks seven are always needed (one
 * holds the record of the last mount, five are left free, one takes what is written); the rest is
 * room for log blocks, replacements and bad blocks.
 *
 * DURABLE. A write is durable when it has returned NW_OK; so is a trim, which writes a page of
 * zeros for each sector that held something. Sync has nothing to do, but after a failed write.
 * Power may be cut at any moment, in mount too.
 *
 * A FAILED WRITE or trim (NW_ERR_IO, say) leaves its sector at its old content, although the chip
 * may have programmed the new one. So the next write, trim, sync or idle first writes that sector
 * anew, with its old content, and answers an error when it cannot. And when an error has stopped a
 * merge, the next write, the next trim of a sector that holds something and the next idle first
 * end it, in the block that it began, and answer an error when they cannot.
 *
 * COST, in chip operations
 *   read   1 read (data and tag); 0 when the sector holds nothing. log and superblock also read the
 *          tags of a block whose list of sectors is not in RAM, at most block_pages: log at the
 *          first use of a log block after a mount, superblock also when the list has left RAM.
 *          Here and everywhere below one read more for each that answers NW_ERR_ECC: what fails
 *          once is not lost
 *   write  1 program, and what the layer's merges take: see its own header
 *   trim   as a write; 0 when the sector holds nothing
 *   sync   0
 *   idle   a healing (wear.h), or steps that each fit the budget left: an erase, or a merge of one
 *          block (at most block_pages reads and programs and one of each more; a read more for
 *          each page that the chip copies and for each tag of a list that is not in RAM). A log
 *          block of fast and a block of a superblock are won by several such steps
 *   the first of these after an error of the chip: also 1 program, at most 2 erases and one more
 *          for each block in which a program of a merge failed, and the merges that win this block
 *          back; and the rest of a merge that was stopped, at most block_pages reads and programs.
 *          Idle does that whatever its budget, also behind a call that answered NW_OK: a write
 *          whose sector is there does not tell an error of the merge behind it
 *   mount  reads the tag of each block's first page (up to three more in a block that a mount began
 *          or where they cannot be read), then each tag of the chip once, then one of
 *          each block in use and of those it is compared with (see the layer's own header); erases
 *          one block, programs 3 or 4 pages, of which it reads one again (another block when
 *          that one fails), and writes the newest sector again; merges until five blocks are
 *          free, and then programs one page more. After a cut also: erases the block in which a
 *          page was torn. If that block holds other pages, a later mount merges what it holds:
 *          when half of the fences that a record takes are newer, which is 11 sessions with pages
 *          of 256 bytes, 24 with 512, 101 with 2 KiB
 *
 * BAD BLOCKS. A write leaves five blocks free for merges, and one more for each block that went bad
 * in this session, ten more at most: logs are merged to keep that. When blocks fail under it, it
 * merges and tries again. Blocks that wait to be healed are healed, due or not, when merges win
 * no more. So writes go on while seven spare blocks are good, unless the free blocks, five at
 * least, all fail one after the other with no merge that ends between: then no block is left to
 * merge to, and no mount can win one. A mount takes one of them, another one for the sector that it
 * saves; a merge that is cut takes one too, and gives it back unless power went at its last two
 * moves, of superblock at any. Where power went right behind a merge that was the last of all, a
 * mount finds four, fewer by each block that failed in that session. When all that it finds fail,
 * the answer is the same. Reads go on even then. Behind such a mount nothing is erased or healed,
 * in idle time either: the next mount finds what this one found.
 *
 * ERRORS of the block verbs: NW_ERR_FULL when bad blocks have eaten the spare blocks as above,
 * NW_ERR_ECC or NW_ERR_CORRUPT for a sector whose content is lost (req->sector + req->done),
 * or whose newest page cannot be told as long as the tag of another one cannot be read,
 * NW_ERR_UNSUPPORTED for data == NULL on a chip that keeps payload or data on one that keeps none,
 * else what the chip answers. A block in which a program fails (NW_ERR_PROGRAM) is emptied and
 * marked bad. After another error of a program (NW_ERR_IO: of the bus) its block takes no more
 * pages and is merged as others are, or erased by the next call: such errors use up no blocks,
 * however many there are. The first call without one works.
 *
 * A PART WILL NOT DO (0 bytes of RAM, 0 sectors, NW_ERR_CONFIG) with spare_blocks from 1 to 9 or
 * not fewer than its blocks, fewer than 4 pages a block, pages below 256 bytes, a spare area below
 * 15 bytes, blocks above 65,000 or sectors above 2^27, 65,535 pages a block (fast and superblock
 * have lower limits: see there).
 *
 * A TAG THAT A MOUNT CANNOT READ, twice in a row (NW_ERR_ECC), looks like that of a torn page: its
 * sector shows the content it had before, without an error. After the mount such a sector answers
 * an error, as above. A page that can be programmed and never read keeps no device from mounting:
 * two hold the record of a mount, and one of them has to read before the older record goes. When
 * both rot later the answer is NW_ERR_NOT_FOUND.
 *
 * FORMAT erases every good block. A cut in the midst leaves the device there was, a chip that
 * mount does not know (NW_ERR_NOT_FOUND, or NW_ERR_BLANK when all is erased and nothing programmed
 * yet) or an empty device: format again; so do several formats, of any layers, each of them cut.
 * NW_ERR_FULL: too many bad blocks.
 *
 * MOUNT opens a device as the last session left it, cut or not. On a chip that holds none it writes
 * and erases nothing: NW_ERR_BLANK: nothing is written there; NW_ERR_NOT_FOUND:
 * something else is, nw_identify() tells what; NW_ERR_VERSION: another format or geometry, other
 * sectors (spare_blocks), a superblock of another degree, or fewer log blocks of fast than a mount
 * before had. What else is configured (flags, the wear policy, a layer's other fields) may be
 * different at each mount. There is nothing to close. The RAM is aligned for any type and belongs
 * to the layer from then on, like the chip; NW_ERR_RAM: it is too small.
 */
#ifndef NANDWICH_FTL_HYBRID_PUBLIC_H
#define NANDWICH_FTL_HYBRID_PUBLIC_H

#ifdef __cplusplus
extern "C" {
#endif

#define NW_FTL_HYBRID_NO_CHECK 0x01U /* reads do not verify the CRC-32: saves processor time */
#define NW_FTL_HYBRID_NO_COPY 0x02U  /* move pages through RAM although the chip could copy, so
                                      * that bit errors do not travel along */

#ifdef __cplusplus
}
#endif

#endif

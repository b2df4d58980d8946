/* SPDX-License-Identifier: Apache-2.0 */
/*
 * models.h - translation layers as they were published. They are there to compare with, on the
 * twin. Opening one erases the chip; nothing outlives power. docs/models.md has pictures of them.
 *
 *   page        a map of all sectors: any sector in any page, greedy cleaning. The least that a log
 *               of pages can cost, since nothing is kept for a mount
 *   nftl        A. Ban, US patent 5,937,425 (1999). A logical block has a chain of blocks; each
 *               sector lies at its own place in one of them
 *   log         Kim, Kim, Noh, Min, Cho, "A space-efficient flash translation layer for
 *               CompactFlash systems", IEEE Trans. Consumer Electronics 48(2), 2002 (BAST). A data
 *               block in place, and a log block in any order
 *   superblock  Kang, Jo, Kim, Lee, "A superblock-based flash translation layer for NAND flash
 *               memory", EMSOFT 2006. Neighbouring logical blocks share blocks in any order
 *   fast        Lee, Park, Chung, Lee, Park, Song, "A log buffer-based flash translation layer
 *               using fully-associative sector translation", ACM TECS 6(3), 2007. Data blocks in
 *               place, log blocks that all share, and one sequential log block
 *
 * SECTORS. One sector is one page; block_pages neighbouring sectors are a logical block. A device
 * has (blocks - spare_blocks) * block_pages sectors. Six spare blocks stay free.
 *
 * COST, in chip operations: open an erase a good block. A read 1 read, 0 when the sector holds
 * nothing; superblock reads a list of tags first when it is not in RAM. A write 1 program and the
 * merges: a moved sector is 1 read and 1 program, or 1 read of a tag and 1 copy; a block taken or
 * given back is 1 erase. A trim writes zeros where something lies; of page it costs nothing. Idle
 * erases ahead and merges within its budget.
 *
 * FAILURES. A block in which a program fails is emptied and marked bad. Other errors of the chip
 * are answered, and close the block. A sector whose content was lost on a move answers an error
 * until it is written anew. NW_ERR_FULL: too few blocks are left.
 *
 * RAM: page: 4 bytes a sector, 14 a block, a bit a page, 2 a page of one block, one page. Others:
 * 16 bytes and a bit a sector of its unit for each block, 4 bytes a unit (logical block, or
 * superblock), one page; log and superblock 2 bytes a page of each list; fast 6 bytes a page of
 * each log block and 2 a unit.
 */
#ifndef NANDWICH_MODELS_MODELS_H
#define NANDWICH_MODELS_MODELS_H

#include <stddef.h>
#include <stdint.h>

#include "nandwich/block.h"
#include "nandwich/chip.h"
#include "nandwich/stats.h"
#include "nandwich-models/wear.h"

#ifdef __cplusplus
extern "C" {
#endif

#define NW_MODEL_LEAST_SPARE 10U
#define NW_MODEL_CHAIN 8U  /* defaults */
#define NW_MODEL_DEGREE 8U
#define NW_MODEL_LOGS 4U
#define NW_MODEL_LISTS 32U
#define NW_MODEL_MOST 64U  /* of the degree, and of log blocks of superblock */

enum nw_model_kind {
    NW_MODEL_NFTL,
    NW_MODEL_LOG,
    NW_MODEL_SUPERBLOCK,
    NW_MODEL_FAST,
    NW_MODEL_PAGE
};

struct nw_model_config {
    struct nw_wear *wear;  /* wear policy (wear.h), this model's alone; NULL: none. Its data are
                            * logical blocks; of superblock and page NW_WEAR_HOST, NW_WEAR_MOVED */
    uint16_t spare_blocks; /* at least NW_MODEL_LEAST_SPARE; 0: blocks / 14 + 10 */
    uint16_t log_blocks;   /* log: at most spare_blocks - 7; fast: spare_blocks - 8; 0: as many.
                            * superblock: blocks beyond its degree; 0: NW_MODEL_LOGS */
    uint16_t degree;       /* superblock: logical blocks that share; 0: NW_MODEL_DEGREE. nftl:
                            * blocks of a chain, at least 2; 0: NW_MODEL_CHAIN */
    uint16_t lists;        /* superblock: lists in RAM, at least 2; 0: NW_MODEL_LISTS */
    uint8_t kind;          /* enum nw_model_kind */
};

/* May be read; the rest lives in the caller's RAM. */
struct nw_model {
    struct nw_block block; /* give &model.block to the layer above */
    struct nw_stats stats;
};

/* Bytes of RAM for this chip, and sectors of the device. 0: the part will not do. It needs 4 pages
 * a block, 256 bytes a page, 15 of spare; at most 65,000 blocks, 2^27 sectors, fewer than 65,535
 * sectors a superblock, and as many pages of fast's log blocks. */
size_t nw_model_ram_bytes(const struct nw_model_config *config, const struct nw_geometry *geometry);
uint32_t nw_model_sectors(const struct nw_model_config *config, const struct nw_geometry *geometry);

/* Erases the chip and begins an empty device. The RAM is aligned for any type and belongs to the
 * model from then on, like the chip. NW_ERR_CONFIG, NW_ERR_RAM, NW_ERR_FULL (too many bad blocks),
 * or the chip's error. */
int nw_model_open(struct nw_model *model, struct nw_chip *chip,
                  const struct nw_model_config *config, void *ram, size_t ram_bytes);

uint32_t nw_model_free_blocks(const struct nw_model *model); /* erased or not */

#ifdef __cplusplus
}
#endif

#endif

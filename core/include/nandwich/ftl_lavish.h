/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ftl_lavish.h - a translation layer that spends flash to save erases and copies: swap space for
 * virtual memory. What it holds dies with power.
 *
 * SPACE. A sector is a page of the chip, a logical block as many sectors as a block has pages, a
 * lavish block `degree` blocks of the chip. At least (logical blocks + 2) x degree blocks, and one
 * for the mark (see OPEN). With more, by default up to (2 x logical blocks + 2) x degree, merges
 * have less to copy. Blocks beyond are spares: they replace bad ones.
 *   8 MB at degree 8 on pages of 2,048 bytes, 64 a block: 64 logical blocks, at least 529 blocks.
 *
 * RAM: nw_ftl_lavish_ram_bytes(). 10 bytes a logical block, 4 + 2 x block_pages a map in RAM, a
 * byte a lavish block, a bit a block, 4 x (spare_blocks + degree), a page if the chip has no copy.
 *   The example with 4 maps, 124 lavish blocks and 32 spares, over a chip with copy: 1.6 KB.
 *
 * COST. D: sectors of a logical block. A read or copy that answers NW_ERR_ECC is done once more.
 *   read   1 read; with its map not in RAM also 1 map read and, if the map that leaves was changed,
 *          1 map program
 *   write  1 program; on a map miss as above; when a block of the chip is entered first in this
 *          session, its erase; when the log is full a switch: < D copies, `degree` erases; when
 *          lavish blocks run low a merge: <= D copies, 2 x degree erases, and a map miss. A program
 *          that fails costs a merge into a fresh lavish block, without a spare also a merge, once
 *   Free blocks won per erase are at least (degree - 1) / degree, copies per sector appended at
 *   most 1 / degree, or 1 / (degree - 1) when lavish blocks are few.
 *
 * ERRORS. A sector whose content could not be read when it had to be moved answers NW_ERR_ECC until
 * it is written again, and so do all of a logical block whose map cannot be read. An error is that
 * of the sector req->sector + req->done. NW_ERR_UNSUPPORTED: data == NULL where payload is kept.
 *
 * BLOCKS THAT FAIL are marked bad and replaced by spares. Without one a lavish block is given up;
 * its good blocks are spares. So writes and trims go on while (logical blocks + 2) x degree good
 * blocks are left beside the mark's, if no call meets two that fail; errors of the bus may come in
 * between until the first spares are used up. Beyond spare_blocks + degree bad ones each costs a
 * lavish block. With fewer than logical blocks + 2: NW_ERR_FULL, of idle too. Reads always go on.
 *
 * OPEN takes a blank chip (blank.h) and marks it, or one with its mark; others only with `erase`.
 * The mark lies in the last good block and is made once in the chip's life.
 *
 * Source: Lin et al., "Providing Virtual Memory Support for Sensor Networks with Mass Data
 * Processing", IJDSN 2013. Merges, the mark, what the paper leaves open: docs/ftl-lavish.md.
 */
#ifndef NANDWICH_FTL_LAVISH_H
#define NANDWICH_FTL_LAVISH_H

#include <stddef.h>
#include <stdint.h>

#include "nandwich/block.h"
#include "nandwich/chip.h"
#include "nandwich/stats.h"

#ifdef __cplusplus
extern "C" {
#endif

#define NW_FTL_LAVISH_DEGREE 8U /* defaults */
#define NW_FTL_LAVISH_MAPS 4U

struct nw_ftl_lavish_config {
    uint32_t sectors;       /* sectors offered above; no default */
    uint16_t lavish_blocks; /* 0: 2 x logical blocks + 2, or what fits the chip */
    uint16_t spare_blocks;  /* blocks kept to replace bad ones; 0: about one in 32, at least one,
                             * but none on a chip that has but the blocks needed */
    uint8_t degree;         /* blocks a lavish block, 1 .. 255; 0: NW_FTL_LAVISH_DEGREE */
    uint8_t maps;           /* maps in RAM, 1 .. 255; 0: NW_FTL_LAVISH_MAPS */
    uint8_t erase_late;     /* 0: a merge erases at once, as published; 1: blocks are erased when
                             * they are entered or in idle, which makes merges short */
    uint8_t erase;          /* 1: open erases a chip that holds something else */
};

/* By logical block. An index is a sector of the data lavish block or, counted on, of the log. */
struct nw_lavish_logical {
    uint16_t data;   /* its data and log lavish block, or NW_LAVISH_NONE */
    uint16_t log;
    uint16_t next;   /* first free index */
    uint16_t stored; /* index of the map on flash unless RAM has a newer one; NW_LAVISH_NONE: none,
                      * it is in RAM or blank */
    uint16_t valid;  /* sectors whose content lies in the data block */
};

/* A map in RAM; they stand in order of use, latest first. */
struct nw_lavish_map {
    uint16_t logical; /* whose; NW_LAVISH_NONE: nobody's */
    uint8_t slot;     /* where its bytes are */
    uint8_t dirty;    /* differs from what is stored on flash */
};

struct nw_lavish_spare {
    uint16_t block;      /* of the chip; NW_LAVISH_NONE: empty entry */
    uint16_t stands_for; /* the block it replaces, likewise */
};

#define NW_LAVISH_NONE 0xFFFFU
#define NW_LAVISH_LOST 0xFEFEU /* in a map: the content could not be read */

/* All fields are the layer's own; block, stats, merges_1, good and free may be read. */
struct nw_ftl_lavish {
    uint8_t degree;
    uint8_t map_count;
    uint8_t erase_late;
    uint8_t chip_copies;
    uint16_t block_pages;
    uint16_t logical_count;
    uint16_t logical_sectors;
    uint16_t lavish_count;
    uint16_t lavish_sectors;
    uint16_t blocks;      /* of the chip that may be used: the lavish blocks', then spares */
    uint16_t spare_count; /* entries of the table of spares */
    uint16_t spare;       /* the block that replaces the next bad one, or NW_LAVISH_NONE */
    uint16_t map_slot; /* bytes a map takes in RAM and when programmed */
    uint16_t good;     /* lavish blocks not given up */
    uint16_t free;     /* of these, free ones */
    uint16_t hand;     /* where the search for a free one goes on */
    uint32_t mark;     /* the chip's last good block, which tells whose the chip is */
    struct nw_lavish_logical *logical;
    struct nw_lavish_map *maps;
    struct nw_lavish_spare *spares;
    uint8_t *map_bytes; /* maps, little-endian, 2 bytes a sector */
    uint8_t *page;      /* for copies; NULL: the chip copies or keeps no payload */
    uint8_t *state;     /* by lavish block */
    uint8_t *bits;      /* a bit a block of the chip. Of a lavish block: it is erased and was not
                         * entered since. Else: it is bad */
    struct nw_block block;  /* give &lavish.block to the layer above */
    struct nw_chip_req req; /* the one request to the chip */
    uint32_t merges_1;      /* merges I, which stats counts together with switches */
    struct nw_stats stats;  /* merges: II is partial; III and flights from worn blocks are full */
};

/* Blocks of the chip that a device of config->sectors needs at least, bad ones not counted: what to
 * print beside chip->geometry.blocks when open refuses. 0: config->sectors or the chip's geometry
 * is not usable at all. */
uint32_t nw_ftl_lavish_blocks_needed(const struct nw_ftl_lavish_config *config,
                                     const struct nw_chip *chip);

/* RAM for open. 0: the config does not fit the chip. */
size_t nw_ftl_lavish_ram_bytes(const struct nw_ftl_lavish_config *config,
                               const struct nw_chip *chip);

/*
 * A device of config->sectors, reading zeros. Cost: one is_bad a block and 1 read; on a chip
 * without the mark nw_chip_is_blank(), 1 erase and 2 programs; to erase what it holds an erase a
 * block, and what ftl_tree.h says of a format where another layer has been: no cut leaves half of
 * its device. NW_ERR_NOT_FOUND: the chip holds something else, nothing was touched: nw_identify()
 * tells what. NW_ERR_UNSUPPORTED: the chip cannot be asked, and erase is 0. NW_ERR_CONFIG: fewer
 * blocks than needed; a map (2 bytes a page of a block) larger than a page; more than 32,512
 * sectors a lavish block; degree 1 with one-page blocks. NW_ERR_RAM. NW_ERR_FULL: too many bad
 * blocks. NW_ERR_ECC: no page of the mark can be read (erase takes the chip all the same). Else
 * the chip's error.
 */
int nw_ftl_lavish_open(struct nw_ftl_lavish *lavish, struct nw_chip *chip,
                       const struct nw_ftl_lavish_config *config, void *ram, size_t ram_bytes);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_forge.h - images that no store wrote: made from any bytes, mounted, read and written. What
 * may go wrong is told by an abort or a sanitizer; tests/fuzz and test_store_forge.c share it.
 *
 * Sealed chips tell more: who changes the image has no key, so all that is read there was written
 * once, and anything else aborts, too. The seal is a toy, see toy_seal.h.
 *
 * Bytes 0 and 1 choose the chip (0 .. 191: 0 .. 2, in turn; then sealed ones, 3 and 4 in turn) and
 * the way; the rest:
 *   way 0        lies over the image from its start
 *   way 1        a store is formatted and worked with (one byte an action up to a 0xFF), then
 *                changed four bytes at a time: place (2, little-endian), value, what the place
 *                counts in (0: image; 1: newest anchor; 2: headers of blocks; 3: bad blocks; of
 *                sealed ones also 4: a page gets what another has, which is `value` pages on)
 *   way 2        the same, and every checksum is made right again, as far as it needs no key
 */
#ifndef NANDWICH_TEST_STORE_FORGE_H
#define NANDWICH_TEST_STORE_FORGE_H

#include "nandwich/store.h"
#include "toy_seal.h"

#define FORGE_BLOCKS 40U
#define FORGE_BLOCK_PAGES 16U
#define FORGE_PAGE_BYTES 128U
#define FORGE_PAGES (FORGE_BLOCKS * FORGE_BLOCK_PAGES)
#define FORGE_BYTES (FORGE_PAGES * FORGE_PAGE_BYTES)
#define FORGE_OBJECTS 6U
#define FORGE_MOST_CALLS 400000UL /* of the chip in one call of the store, or a few that read */

struct forge {
    struct nw_chip chip;
    uint8_t data[FORGE_BYTES];
    uint8_t spare[FORGE_PAGES];
    uint8_t bad[FORGE_BLOCKS];
    unsigned long calls;
    void (*before_read)(struct forge *forge, uint32_t page); /* an attacker at the bus, or NULL */
    /* A witness of programs and, with no data, erases, or NULL. */
    void (*after_write)(struct forge *forge, const struct nw_chip_req *req);
    uint32_t rotten;  /* no read of that page goes well until its block is erased, if has_rot */
    uint8_t has_rot;
    uint32_t fail_at; /* the so many-th program from now on fails; 0: none */
    uint8_t chunk_head; /* bytes of a chunk's header */
    uint8_t block_head; /* and of a block's */
    uint8_t sealed;     /* with the toy's key */
    uint8_t put[FORGE_OBJECTS][256]; /* sealed: content the objects ever had */
    struct nw_seal seal;
    struct toy_state hash;
    struct nw_store *store;
    struct nw_store_config config;
    uint64_t ram[1024];
};

/* Chip 0: NAND with a mark; 1: NOR; 2: NAND, read ahead; 3: 0 sealed; 4: 1 sealed. All erased. */
void forge_open(struct forge *forge, uint8_t chip);

/* Formats it and makes one object of each type: NW_OK or the store's error. */
int forge_format(struct forge *forge);

/* Mounts: NW_OK or the store's error. */
int forge_mount(struct forge *forge);

/* Makes every checksum of what lies there right again, headers of blocks and chunks alike. */
void forge_sign(struct forge *forge);

/* The newest anchor's payload, of its first copy 0 or of its second one 1; or NULL. */
uint8_t *forge_anchor(struct forge *forge, uint8_t copy);

/* Makes an image of the bytes, mounts, uses and mounts again; aborts on what must not happen. */
void forge_try(struct forge *forge, const uint8_t *data, size_t size);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * block.h - waist 2: numbered sectors that can be rewritten.
 *
 * Every translation layer is one, and so are an SD card and the NVM tier. Everything above (vm,
 * sched, tier, serve) uses only this.
 *
 * WHAT A LAYER OWES
 *   - A sector reads as what was last written; a sector never written or trimmed reads as zeros.
 *   - With NW_BLOCK_PERSISTENT: what was written before a sync that returned NW_OK survives a power
 *     cut; a sector written after the last sync reads after the cut as its old or its new content,
 *     never as a mix. Without the flag the content dies with power.
 *   - A request that fails leaves the sector it failed at (sector + done) at its old content or at
 *     its new content, never as a mix, and the sectors behind it at their old content. What a read
 *     shows after the failed call stays: it is what a read shows after the next sync that returned
 *     NW_OK, and after the power cuts that follow. Without such a sync a power cut may bring the
 *     other of the two.
 *
 * METADATA ONLY: data == NULL moves no payload and is valid only over a chip that takes it.
 */
#ifndef NANDWICH_BLOCK_H
#define NANDWICH_BLOCK_H

#include <stdint.h>

#include "nandwich/error.h"
#include "nandwich/stats.h"

#ifdef __cplusplus
extern "C" {
#endif

#define NW_BLOCK_PERSISTENT 0x01U /* content survives power loss as told above */

struct nw_block;

struct nw_block_req {
    struct nw_block *block;
    uint32_t sector; /* first sector */
    uint32_t count;  /* sectors, >= 1 */
    uint8_t *data;   /* count * sector_bytes; never written through by write */
    uint32_t done;   /* set by read, write, trim: sectors completed, from the first */
    uint32_t budget_us; /* idle: about how long it may take, by the chip's typical times */
    uint16_t app;  /* read, write: which application asks, by any numbers; 0: nobody says */
    uint8_t hint;  /* write: what it is, enum nw_block_hint */
};

/* What a file system or a recogniser below it may know of a sector. Layers that do not place data
 * by it leave it alone. */
enum nw_block_hint {
    NW_HINT_NONE,     /* nobody says */
    NW_HINT_DATA,     /* content of files and folders */
    NW_HINT_METADATA, /* superblocks, group descriptors, bitmaps, inode tables */
    NW_HINT_JOURNAL
};

struct nw_block_ops {
    int (*read)(struct nw_block_req *req);
    int (*write)(struct nw_block_req *req);
    int (*trim)(struct nw_block_req *req); /* the content is no longer needed */
    int (*sync)(struct nw_block_req *req);
    /* Work ahead (cleaning, pre-erase) in steps that each fit the budget left. 1: more could be
     * done with more time, 0: nothing left to do. May be NULL: nothing to do ever. */
    int (*idle)(struct nw_block_req *req);
};

struct nw_block {
    const struct nw_block_ops *ops;
    void *context;
    uint32_t sectors;
    uint16_t sector_bytes;
    uint8_t flags;
    struct nw_stats *stats; /* the layer's counts; NULL: it keeps none */
};

/* The verbs: NW_ERR_RANGE outside the device or for count 0, else what the layer answers. */
int nw_block_read(struct nw_block_req *req);
int nw_block_write(struct nw_block_req *req);
int nw_block_trim(struct nw_block_req *req);
int nw_block_sync(struct nw_block_req *req);
int nw_block_idle(struct nw_block_req *req);

#ifdef __cplusplus
}
#endif

#endif

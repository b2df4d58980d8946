/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tier.h - inside the tier: the map, on NVM and in RAM.
 *
 * ON NVM, little-endian: a header of 32 bytes, an entry of 8 bytes a frame, and from the next
 * multiple of 64 on the frames. An entry is the sector (4), the state (1), hint (1) and application
 * (2) of its last write, written in one piece; zeros: the frame is free. Where two tell of one
 * sector, the generation says which is newer: of three that follow each other any two can be told
 * apart, and more than two there never are.
 */
#ifndef NANDWICH_TIER_INTERNAL_H
#define NANDWICH_TIER_INTERNAL_H

#include "nandwich/bytes.h"
#include "nandwich/tier.h"

#define TIER_HEAD_BYTES 32U
#define TIER_ENTRY_BYTES 8U
#define TIER_NO_SECTOR UINT32_MAX

/* The state in an entry. */
#define ENTRY_USED 0x01U
#define ENTRY_GENERATION 0x06U /* two bits that count up */
#define ENTRY_NEXT 0x02U

/* In RAM a slot's state is that byte of its entry and */
#define SLOT_DIRTY 0x10U   /* flash has something older */
#define SLOT_WRITTEN 0x20U /* written back, not synced */
#define SLOT_NO_DATA 0x40U /* metadata only */

int nw_tier_read_nvm(struct nw_tier *tier, uint32_t address, uint8_t *data, uint32_t length);
int nw_tier_write_nvm(struct nw_tier *tier, uint32_t address, uint8_t *data, uint32_t length);
uint32_t nw_tier_entry_at(uint16_t frame);
uint32_t nw_tier_frame_at(const struct nw_tier *tier, uint16_t frame);

/* A verb on sectors of flash; tier->below.done tells how many were. */
int nw_tier_ask_flash(struct nw_tier *tier, uint32_t sector, uint32_t count, uint8_t *data,
                      int (*verb)(struct nw_block_req *req));

/* The slot of a sector, or NW_TIER_NONE. */
uint16_t nw_tier_find(const struct nw_tier *tier, uint32_t sector);

/* Empties the map in RAM: slot i has frame i, the last frame is spare. */
void nw_tier_clear(struct nw_tier *tier);

/* A free slot becomes a sector's, in RAM. */
uint16_t nw_tier_take(struct nw_tier *tier, uint32_t sector);

/* The sector's new content; `slot` NW_TIER_NONE: a free one is taken, *slot becomes it. Of a read
 * flash has the same. */
int nw_tier_put(struct nw_tier *tier, const struct nw_tier_ask *ask, uint16_t *slot, uint8_t *data);

/* What the spare frame's entry says is known again. Without this no sync and no write is told as
 * done. */
int nw_tier_settle(struct nw_tier *tier);

/* The spare frame tells of no sector: to be called before slots leave. */
int nw_tier_clear_spare(struct nw_tier *tier);

/* A slot gives up its sector, of which flash has what it is to read as from now on: so it does,
 * whatever this answers. */
int nw_tier_leave(struct nw_tier *tier, uint16_t slot);

extern const struct nw_block_ops nw_tier_ops;

#endif

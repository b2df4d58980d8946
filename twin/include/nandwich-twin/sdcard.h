/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sdcard.h - an emulated SD card: a block device with its own translation layer inside, of which
 * only times show. After Dou and Kalogeraki (RG-EDF, SEUS 2008): a block is written in a fixed time
 * however little of it is used, but the first write to a sector of many blocks other than the one
 * written last takes 60 to 140 ms, and reads vary.
 *
 * Times that vary are drawn from the seed and the count of operations, evenly between their ends,
 * so a run repeats. A block is written whole or not at all, also when power is cut, and needs no
 * sync. Never written blocks read as zeros. Trim is free of cost. Energy of a slow operation is
 * that of a plain one, grown with its time.
 *
 * MEMORY. Address space of the whole card, memory as it is written. On the host only.
 */
#ifndef NANDWICH_TWIN_SDCARD_H
#define NANDWICH_TWIN_SDCARD_H

#include "nandwich-twin/meter.h"
#include "nandwich-twin/part.h"
#include "nandwich/block.h"

#ifdef __cplusplus
extern "C" {
#endif

#define NW_SDCARD_NO_PAYLOAD 0x01U /* takes data == NULL */
#define NW_SDCARD_NODE_COSTS 0x20U /* charge card and processor */

struct nw_sdcard_config {
    const struct nw_part *part; /* of kind NW_PART_SDCARD; copied */
    uint32_t blocks;            /* another size than the part's; 0: the part's */
    uint32_t seed;
    uint32_t flags;         /* NW_SDCARD_... */
    struct nw_meter *meter; /* shared with other parts; NULL: its own */
};

struct nw_sdcard;

/* NW_ERR_CONFIG: not an SD card, or node costs asked of a part without them; NW_ERR_RAM. */
int nw_sdcard_open(struct nw_sdcard **card, const struct nw_sdcard_config *config);
void nw_sdcard_close(struct nw_sdcard *card); /* NULL is fine */

struct nw_block *nw_sdcard_block(struct nw_sdcard *card);
struct nw_meter *nw_sdcard_meter(struct nw_sdcard *card);

uint64_t nw_sdcard_opens(const struct nw_sdcard *card); /* first writes to another sector so far */
/* The sector written last, which takes writes at once; UINT32_MAX: none yet. */
uint32_t nw_sdcard_open_sector(const struct nw_sdcard *card);

/* Cuts power in the request that comes `after` others: its first `blocks` blocks are done, no more.
 * Then every request answers NW_ERR_POWER until nw_sdcard_power_up(). */
void nw_sdcard_cut(struct nw_sdcard *card, uint64_t after, uint32_t blocks);
void nw_sdcard_power_up(struct nw_sdcard *card);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sectors.h - what one sector may read as, by the contract of block.h: a small set of values, each
 * the number of the write that made it, 0 for zeros.
 *
 * A write that was acknowledged leaves one value. One that failed or was cut adds a second; a trim
 * before its sync, or a write that is held back until then, leaves the old one for a power cut to
 * bring back. What a read shows stays until
 * power goes, and for good once a sync or a mount has ended before it.
 */
#ifndef NANDWICH_SIM_SECTORS_H
#define NANDWICH_SIM_SECTORS_H

#include <stdint.h>

#define SIM_VALUES 6U
#define SIM_ANY_LATER 2U /* once power has gone: what shows now, as behind a trim, is not durable */
#define SIM_LOST 0xFFFFFFFFU /* an error instead of content: NW_ERR_ECC or NW_ERR_CORRUPT */

struct sim_sector {
    uint32_t value[SIM_VALUES]; /* may show after power has gone */
    uint8_t count;
    uint8_t live;   /* bit i: value i may show in this session too */
    uint8_t lasts;  /* what is shown now is what later power-ups show */
    uint8_t any;    /* 1: more values than are kept: whatever shows is believed once; or LATER */
    uint8_t rotten; /* its page was spoilt: a mount may take it for one that a cut has torn */
};

/* Holds this value for good: a write, or a trim that is durable at once. */
void sim_sector_set(struct sim_sector *sector, uint32_t value);

/* A write or trim of this value failed or was cut: it or what there was. */
void sim_sector_may(struct sim_sector *sector, uint32_t value);

/* Holds this value, or 0 if trimmed, but a power cut may bring back what there was until a sync. */
void sim_sector_late(struct sim_sector *sector, uint32_t value);

/* A sync that returned NW_OK. */
void sim_sector_sync(struct sim_sector *sector);

/* A mount that returned NW_OK. */
void sim_sector_mount(struct sim_sector *sector);

/* Its pages were spoilt. */
void sim_sector_rot(struct sim_sector *sector);

/* A read showed this value: 0 if it may, else -1. */
int sim_sector_show(struct sim_sector *sector, uint32_t value);

/* The values as "5 or 7", for messages. */
void sim_sector_text(const struct sim_sector *sector, char *text, unsigned bytes);

#endif

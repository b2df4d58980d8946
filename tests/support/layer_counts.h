/* SPDX-License-Identifier: Apache-2.0 */
/* layer_counts.h - what an operation on a rig costs, to the unit. */
#ifndef NANDWICH_TESTS_LAYER_COUNTS_H
#define NANDWICH_TESTS_LAYER_COUNTS_H

#include "layer_rig.h"

struct layer_counts {
    uint32_t reads;
    uint32_t programs;
    uint32_t erases;
    uint32_t copies; /* chip copies */
    uint32_t moved;  /* sectors moved by merges and mounts */
    uint32_t full;   /* merges */
    uint32_t partial;
    uint32_t swaps; /* switch merges */
};

/* So far. */
struct layer_counts layer_counts_now(const struct layer_rig *rig);

/* Writes `count` sectors one by one from `sector` on, `step` apart: what that cost. */
struct layer_counts layer_counts_write(struct layer_rig *rig, uint32_t sector, uint32_t count,
                                       uint32_t step);

/* Another operation. */
struct layer_counts layer_counts_run(struct layer_rig *rig, uint8_t kind, uint32_t sector,
                                     uint32_t count);

/* Reads them all. */
struct layer_counts layer_counts_read(struct layer_rig *rig, uint32_t sector, uint32_t count);

/* 1000 writes at random, seeded. */
struct layer_counts layer_counts_churn(struct layer_rig *rig);

/* A power-up and a mount. */
struct layer_counts layer_counts_mount(struct layer_rig *rig);

/* Fails the test, with both, when they differ. */
void layer_counts_expect(const char *what, struct layer_counts got, struct layer_counts wanted);

#endif

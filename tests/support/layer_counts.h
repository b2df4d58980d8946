/* SPDX-License-Identifier: Apache-2.0 */
/*
 * layer_counts.h - what an operation on a rig costs, to the unit, and the scripts that all models
 * go through on 20 blocks of 8 pages, 10 spare: 80 sectors.
 */
#ifndef NANDWICH_TESTS_LAYER_COUNTS_H
#define NANDWICH_TESTS_LAYER_COUNTS_H

#include "layer_rig.h"

struct layer_counts {
    uint32_t reads;
    uint32_t programs;
    uint32_t erases;
    uint32_t copies; /* chip copies */
    uint32_t moved;  /* sectors moved by merges */
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

/* Fails the test, with both, when they differ. */
void layer_counts_expect(const char *what, struct layer_counts got, struct layer_counts wanted);

/* Content is right and the chip was not misused; the rig closes. */
void layer_counts_close(struct layer_rig *rig);

/* Open, fill, trim, sync, read; then 1000 writes at random at the model's price. */
void layer_counts_script(const struct nw_layer_kind *kind, const struct layer_shape *shape,
                         struct layer_counts churn);

/* A program fails in a merge, in each block in turn: nothing is lost, the block goes, its place is
 * taken by a spare. */
void layer_counts_failed_merge(const struct nw_layer_kind *kind, const struct layer_shape *shape);

#endif

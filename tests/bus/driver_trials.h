/* SPDX-License-Identifier: Apache-2.0 */
/*
 * driver_trials.h - what stands above a driver, with power cut at bus bytes: a translation layer,
 * the object store, or the block device itself, beside a plain model. Inside a cmocka test; a trial
 * that fails prints its seed and how many cuts went before. NW_SEED=n runs that seed instead.
 */
#ifndef NANDWICH_TESTS_DRIVER_TRIALS_H
#define NANDWICH_TESTS_DRIVER_TRIALS_H

#include "bus.h"
#include "nandwich-stack/layers.h"

struct driver_trial {
    struct bus *bus;
    void *context;
    struct nw_chip *chip;   /* of the driver; NULL: */
    struct nw_block *block; /* of the driver */
    /* Gives the part its power back and opens the driver anew: its answer. */
    int (*power_up)(struct driver_trial *trial);
    uint32_t cuts;      /* so many, */
    uint32_t cut_bytes; /* each within so many bus bytes of the work */
    uint32_t seed;
};

/* The layer on the chip; with kind NULL the trial's own block device. */
void driver_trial_layer(struct driver_trial *trial, const struct nw_layer_kind *kind);

/* The object store on the chip. */
void driver_trial_store(struct driver_trial *trial);

/* Every verb of the chip contract beside a plain copy: programs in units and in parts, spare bytes,
 * reads anywhere in a page, erases, page buffers; on blocks first .. first + count - 1. */
void driver_trial_verbs(struct nw_chip *chip, uint32_t first, uint32_t count, uint32_t seed);

#endif

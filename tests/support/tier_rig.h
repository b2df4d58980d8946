/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tier_rig.h - the tier over the tree on an emulated chip and over an emulated NVM, which lose
 * power together: a cut inside an operation of one ends both. What a cut leaves on the chip is
 * unstable. A plain model beside them knows what each sector may read as.
 */
#ifndef NANDWICH_TESTS_TIER_RIG_H
#define NANDWICH_TESTS_TIER_RIG_H

#include "layer_rig.h"
#include "nandwich-twin/nvm.h"
#include "nandwich/tier_lrfu.h"

#define TIER_RIG_VALUES 12U

/* What a sector may read as: the last value, and after a cut those since the last sync too. */
struct tier_model {
    uint32_t value[TIER_RIG_VALUES]; /* the last one: now */
    uint32_t count;
};

struct tier_rig {
    struct layer_rig below; /* chip and layer; its model is not used */
    struct nw_nvm_twin *twin;
    /* Between tier and parts: the fuse. */
    struct nw_chip chip;
    struct nw_chip_ops chip_ops;
    struct nw_nvm nvm;
    uint32_t changes; /* of cells, on either part, since it was set */
    uint32_t blow_at; /* the change that is cut; UINT32_MAX: none */
    uint32_t writes;  /* changes asked for since fail_at was set */
    uint32_t fail_at; /* the one that answers NW_ERR_IO */
    uint32_t fail_times; /* and so many in all, 1 at first: the tree bears one */
    uint32_t rotten; /* the page that cannot be read until its block is erased */
    uint8_t fail_acts; /* and is done all the same */
    uint8_t phase;
    uint8_t torn;
    uint8_t off;
    /* The tier. */
    struct nw_tier_lrfu lrfu;
    struct nw_tier_config config;
    struct nw_tier tier;
    void *lrfu_ram;
    void *ram;
    size_t ram_bytes;
    struct tier_model *model;
    uint32_t sectors;
    uint32_t token;
    uint8_t *data;
    char why[160];
};

/* A formatted tier with an NVM of so many bytes, under LRFU with this lambda, which takes what is
 * read too if `reads`; aborts the test program when that fails. */
void tier_rig_open(struct tier_rig *rig, const struct layer_shape *shape, uint32_t nvm_bytes,
                   uint32_t lambda, uint8_t reads);
void tier_rig_close(struct tier_rig *rig);

/* The next change but `after` is cut. */
void tier_rig_cut(struct tier_rig *rig, uint32_t after, uint8_t phase, uint8_t torn);

/* Power comes back, with rubbish in RAM; layer and tier are mounted: the answer. */
int tier_rig_mount(struct tier_rig *rig);

/* Verbs on the tier, which keep the model. */
int tier_rig_write(struct tier_rig *rig, uint32_t sector, uint32_t count);
int tier_rig_read(struct tier_rig *rig, uint32_t sector, uint32_t count); /* looks at nothing */
int tier_rig_trim(struct tier_rig *rig, uint32_t sector, uint32_t count);
int tier_rig_sync(struct tier_rig *rig);
int tier_rig_idle(struct tier_rig *rig, uint32_t budget_us);

/* Reads every sector: 0 if each is its last value; with `settle` 1, after a mount, one that may
 * show, which is its value then; with 2, after a call that failed, too, but a cut may still bring
 * the others. -1 with why. */
int tier_rig_check(struct tier_rig *rig, int settle);

#endif

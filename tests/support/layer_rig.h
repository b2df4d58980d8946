/* SPDX-License-Identifier: Apache-2.0 */
/*
 * layer_rig.h - a translation layer, by its entry in the table of layers, on an emulated
 * chip, with a plain model beside it that knows what each sector may read as after a power cut.
 * Snapshots make it cheap to cut the same host operation at every chip operation it consists of.
 */
#ifndef NANDWICH_TESTS_LAYER_RIG_H
#define NANDWICH_TESTS_LAYER_RIG_H

#include "nandwich-stack/layers.h"
#include "nandwich-twin/faults.h"
#include "nandwich-twin/nand.h"
#include "nandwich-twin/parts.h"
#include "nandwich/random.h"

/* A small variant of a real part. */
struct layer_shape {
    const char *part;
    uint16_t blocks;
    uint16_t block_pages;
    uint16_t page_bytes;  /* 0: the part's */
    uint16_t spare_bytes; /* 0: the part's */
    uint8_t erased;       /* 0x00 turns the erased value round */
    uint8_t no_copy;
    uint16_t spare_blocks;
    uint16_t log_blocks;
    uint8_t degree;
    uint8_t maps;
    uint32_t nand_flags;
};

/* Parts that tests go through: in order with copy-back, in order with ECC inside, free order with
 * 15 spare bytes, in order with erased value 0x00. */
extern const struct layer_shape layer_shapes[4];

enum layer_op_kind { OP_WRITE, OP_TRIM, OP_SYNC, OP_IDLE, OP_DOOM_PROGRAM, OP_DOOM_ERASE };

struct layer_op {
    uint8_t kind;
    uint32_t sector; /* doom: block */
    uint32_t count;  /* idle: budget in us */
};

/* What a sector may read as: 0 is zeros, else the number of the write that made it. */
struct layer_model {
    uint32_t now;    /* acknowledged */
    uint32_t before; /* may show again until a sync: what an unsynced trim took away */
    uint32_t coming; /* may show after a cut: under way when power went */
    uint8_t has_before;
    uint8_t has_coming;
};

struct layer_rig {
    const struct layer_shape *shape;
    struct layer_shape fitted; /* the one asked for, as the layer can work on it */
    struct nw_nand *nand;
    const struct nw_layer_kind *kind;
    struct nw_layer_config config;
    struct nw_layer_site site;
    struct nw_block *block;
    struct layer_model *model;
    uint32_t sectors;
    uint32_t page_bytes;
    uint32_t token; /* of the last write */
    uint8_t trims_late; /* a trim is durable with the next sync only */
    uint32_t lost;  /* sector whose content was spoilt: has to answer an error; or UINT32_MAX */
    uint8_t *data;  /* buffer of up to LAYER_RIG_RUN sectors */
    uint8_t *expected;
    struct nw_fault fault; /* of the filter below, once there is one; verb NONE: everything */
    struct nw_faults faults;
    char why[256];  /* the last failure of layer_rig_check */
};

#define LAYER_RIG_RUN 12U

/* State of a rig to come back to. */
struct layer_snapshot {
    struct nw_nand *nand;
    void *state;
    uint8_t *ram;
    struct layer_model *model;
    uint32_t token;
};

/* 2 KiB pages: a record has room for 202 fences here. */
extern const struct layer_shape layer_shape_large;

/* The smallest pages that parts have, 512 + 16 bytes, free order. */
extern const struct layer_shape layer_shape_small;

/* Opens and formats; aborts the test program when that fails. */
void layer_rig_open(struct layer_rig *rig, const struct nw_layer_kind *kind,
                    const struct layer_shape *shape, uint32_t seed);
void layer_rig_close(struct layer_rig *rig);

/* Mounts with fresh RAM (filled with rubbish first): the layer's answer. */
int layer_rig_mount(struct layer_rig *rig);

/* Puts a filter between layer and chip that makes requests fail as rig->fault tells, which is
 * quiet at first, and mounts: the layer's answer. */
int layer_rig_filter(struct layer_rig *rig);
void layer_rig_quiet(struct layer_rig *rig);

/* Runs an operation and keeps the model: the layer's answer. */
int layer_rig_run(struct layer_rig *rig, const struct layer_op *op);

/* A random operation; `sectors` and sizes suit the rig. */
struct layer_op layer_rig_draw(struct layer_rig *rig, struct nw_random *random);

/* Reads every sector: 0 and, when `settle`, the model is set to what was read; -1 with why. */
int layer_rig_check(struct layer_rig *rig, int settle);

/* Spoils the page with the newest copy of a sector, which becomes `lost`: bits of its data, or of
 * its tag. */
void layer_rig_spoil(struct layer_rig *rig, uint32_t sector, int in_tag);

/* No misuse of the chip so far; -1 with why. */
int layer_rig_clean(struct layer_rig *rig);

void layer_snapshot_open(struct layer_snapshot *snapshot, const struct layer_rig *rig);
void layer_snapshot_take(struct layer_snapshot *snapshot, const struct layer_rig *rig);
void layer_snapshot_restore(const struct layer_snapshot *snapshot, struct layer_rig *rig);
void layer_snapshot_close(struct layer_snapshot *snapshot);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_rig.h - the page-mapped layer on an emulated chip, with a plain model beside it that knows
 * what each sector may read as after a power cut. Snapshots make it cheap to cut the same host
 * operation at every chip operation it consists of.
 */
#ifndef NANDWICH_TESTS_PAGE_RIG_H
#define NANDWICH_TESTS_PAGE_RIG_H

#include "nandwich-twin/nand.h"
#include "nandwich-twin/parts.h"
#include "nandwich/ftl_page.h"
#include "nandwich/random.h"

/* A small variant of a real part. */
struct page_shape {
    const char *part;
    uint16_t blocks;
    uint16_t block_pages;
    uint16_t page_bytes;  /* 0: the part's */
    uint16_t spare_bytes; /* 0: the part's */
    uint8_t erased;       /* 0x00 turns the erased value round */
    uint8_t no_copy;
    uint16_t spare_blocks;
    uint32_t nand_flags;
};

/* Parts that tests go through: in order with copy-back, in order with ECC inside, free order with
 * 15 spare bytes, in order with erased value 0x00. */
extern const struct page_shape page_shapes[4];

enum page_op_kind { OP_WRITE, OP_TRIM, OP_SYNC, OP_IDLE, OP_DOOM_PROGRAM, OP_DOOM_ERASE };

struct page_op {
    uint8_t kind;
    uint32_t sector; /* doom: block */
    uint32_t count;  /* idle: budget in us */
};

/* What a sector may read as: 0 is zeros, else the number of the write that made it. */
struct page_model {
    uint32_t now;    /* acknowledged */
    uint32_t before; /* may show again until a sync: what an unsynced trim took away */
    uint32_t coming; /* may show after a cut: under way when power went */
    uint8_t has_before;
    uint8_t has_coming;
};

struct page_rig {
    const struct page_shape *shape;
    struct nw_nand *nand;
    struct nw_ftl_page ftl;
    struct nw_ftl_page_config config;
    uint8_t *ram;
    size_t ram_bytes;
    struct page_model *model;
    uint32_t sectors;
    uint32_t page_bytes;
    uint32_t token; /* of the last write */
    uint8_t *data;  /* buffer of up to PAGE_RIG_RUN sectors */
    uint8_t *expected;
    char why[256];  /* the last failure of page_rig_check */
};

#define PAGE_RIG_RUN 12U

/* State of a rig to come back to. */
struct page_snapshot {
    struct nw_nand *nand;
    struct nw_ftl_page ftl;
    uint8_t *ram;
    struct page_model *model;
    uint32_t token;
};

/* Opens and formats; aborts the test program when that fails. */
void page_rig_open(struct page_rig *rig, const struct page_shape *shape, uint32_t seed);
void page_rig_close(struct page_rig *rig);

/* Mounts with fresh RAM (filled with rubbish first): the layer's answer. */
int page_rig_mount(struct page_rig *rig);

/* Runs an operation and keeps the model: the layer's answer. */
int page_rig_run(struct page_rig *rig, const struct page_op *op);

/* A random operation; `sectors` and sizes suit the rig. */
struct page_op page_rig_draw(struct page_rig *rig, struct nw_random *random);

/* Reads every sector: 0 and, when `settle`, the model is set to what was read; -1 with why. */
int page_rig_check(struct page_rig *rig, int settle);

/* No misuse of the chip so far; -1 with why. */
int page_rig_clean(struct page_rig *rig);

void page_snapshot_open(struct page_snapshot *snapshot, const struct page_rig *rig);
void page_snapshot_take(struct page_snapshot *snapshot, const struct page_rig *rig);
void page_snapshot_restore(const struct page_snapshot *snapshot, struct page_rig *rig);
void page_snapshot_close(struct page_snapshot *snapshot);

#endif

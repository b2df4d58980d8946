/* SPDX-License-Identifier: Apache-2.0 */
/*
 * layers.h - the one table of translation layers by name. `nandwich run`, `replay` and whatever
 * else opens a device find a layer here; a new layer is one file layer_NAME.c and one line in
 * layers.c.
 */
#ifndef NANDWICH_STACK_LAYERS_H
#define NANDWICH_STACK_LAYERS_H

#include <stdint.h>

#include "nandwich-stack/why.h"
#include "nandwich/block.h"
#include "nandwich/chip.h"
#include "nandwich-models/wear.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a layer may be told; 0 is its default everywhere. Each layer takes what it knows. */
struct nw_layer_config {
    uint32_t sectors;      /* sectors offered above, where the layer lets one choose; 0: as many as
                            * it offers by itself */
    uint16_t spare_blocks; /* blocks kept for cleaning and bad blocks */
    uint16_t log_blocks;   /* models: log blocks */
    uint8_t scrub_bits;    /* tree: bits corrected in a page, for which its block is cleaned */
    uint8_t degree;        /* lavish: blocks a lavish block; superblock: blocks a superblock;
                            * nftl: most blocks of a chain */
    uint16_t maps;         /* lavish, superblock: maps in RAM, up to 255; tree: nodes in its
                            * cache */
    struct nw_wear *wear;  /* filled in by nw_stack_layer() */
};

/* A layer about to be opened. */
struct nw_layer_site {
    const struct nw_layer_config *config;
    struct nw_chip *chip;
    const char *chip_name; /* for messages */
    void *state;           /* state_bytes of the kind */
    void *ram;             /* what ram_bytes asked for, aligned for any type */
    size_t ram_bytes;
};

struct nw_layer_kind {
    const char *name;
    const char *what;   /* one line for help */
    size_t state_bytes; /* of the layer's own struct */
    uint8_t wears;      /* 1: takes a wear policy */
    uint8_t tags;       /* 1: keeps a tag in the spare area of each page */
    uint8_t model;      /* 1: no layer for a device, there to compare with */

    /* Sectors of the device that config asks for on this chip; 0: it does not fit. */
    uint32_t (*sectors)(const struct nw_layer_site *site);
    /* RAM to open it; 0: it does not fit. Here state and ram are NULL. */
    size_t (*ram_bytes)(const struct nw_layer_site *site);
    /* An empty device. Sets *block; a negative enum nw_error else. */
    int (*format)(const struct nw_layer_site *site, struct nw_block **block);
    /* The device as it was left. NULL: the layer forgets with power. */
    int (*mount)(const struct nw_layer_site *site, struct nw_block **block);
    /* Blocks that hold nothing, by an open layer's state. NULL: it cannot tell. */
    uint32_t (*free_blocks)(const void *state);
    /* Says why the layer does not go on this chip so, or why opening it answered `error`;
     * answers `error`. */
    int (*refuse)(const struct nw_layer_site *site, int error, struct nw_why *why);
};

extern const struct nw_layer_kind nw_layer_tree;
extern const struct nw_layer_kind nw_layer_lavish;
extern const struct nw_layer_kind nw_layer_page;
extern const struct nw_layer_kind nw_layer_nftl;
extern const struct nw_layer_kind nw_layer_log;
extern const struct nw_layer_kind nw_layer_superblock;
extern const struct nw_layer_kind nw_layer_fast;

/* The table, in the order to show it. */
extern const struct nw_layer_kind *const nw_layer_kinds[];
extern const uint32_t nw_layer_kind_count;

/* The kind of that name, or NULL. */
const struct nw_layer_kind *nw_layer_find(const char *name);

#ifdef __cplusplus
}
#endif

#endif

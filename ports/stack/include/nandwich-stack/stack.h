/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack.h - a block device put together from a description:
 *
 *   twin chip -> [timeline] -> [ecc or oob] -> [sector-shrink] -> [slice]
 *             -> translation layer [with a wear policy] -> [tier with an NVM]
 *
 * Opened in steps, bottom first, so that who uses it may look at the chip before going on. Each
 * step answers NW_OK, or an error with its line in `why`; close in either case. On the host: memory
 * comes from malloc.
 */
#ifndef NANDWICH_STACK_STACK_H
#define NANDWICH_STACK_STACK_H

#include "nandwich-stack/layers.h"
#include "nandwich-stack/why.h"
#include "nandwich-twin/nand.h"
#include "nandwich-twin/nvm.h"
#include "nandwich-twin/part.h"
#include "nandwich-twin/timeline.h"
#include "nandwich/ecc.h"
#include "nandwich/oob.h"
#include "nandwich/shrink.h"
#include "nandwich/slice.h"
#include "nandwich/tier.h"

#ifdef __cplusplus
extern "C" {
#endif

#define NW_STACK_OOB_PAGES 30U

struct nw_stack {
    struct nw_part part;
    struct nw_nand *nand;
    struct nw_timeline *timeline; /* the caller's; NULL: none */
    struct nw_ecc ecc;
    struct nw_oob oob;
    uint8_t *oob_tail; /* of a chip that programs whole pages */
    struct nw_shrink shrink;
    struct nw_slice slice;
    struct nw_chip *chip; /* the topmost so far: what the translation layer works on */
    uint8_t from_image;   /* it was there before */
    const struct nw_layer_kind *kind;
    struct nw_layer_config layer_config;
    struct nw_block *layer; /* the translation layer's */
    struct nw_block *block; /* what is used: the layer, or the tier above it */
    struct nw_wear *wear;   /* NULL: none; see nandwich-stack/wear.h */
    void *wear_ram;
    size_t wear_ram_bytes;
    void *ecc_ram;
    struct nw_tier *tier; /* NULL: none; see nandwich-stack/tier.h */
    struct nw_block tier_flash; /* the layer, as the tier sees it */
    struct nw_nvm_twin *nvm;
    struct nw_part tier_part; /* of the NVM */
    struct nw_tier_policies *tier_policies;
    uint32_t *tier_clock_s; /* of the policy that has one, seconds; else NULL */
    void *tier_ram;
    size_t tier_ram_bytes; /* of tier and policy */
    void *layer_state;
    void *layer_ram;
    size_t ecc_ram_bytes;
    size_t layer_ram_bytes;
    struct nw_nand_counts before; /* the chip's counts when the device stood ready */
    uint32_t *erases_before;     /* of each block, then */
};

/* All zero: nothing is open. */
void nw_stack_init(struct nw_stack *stack);

/* A new chip; config->part must be one of raw flash. */
int nw_stack_chip(struct nw_stack *stack, const struct nw_nand_config *config, struct nw_why *why);

/* The chip of an image file, which tells its part. NW_ERR_VERSION when that is no `part_name`
 * (letter case does not count; NULL: any). */
int nw_stack_image(struct nw_stack *stack, const char *path, const char *part_name,
                   struct nw_why *why);

/* Everything from here on up is seen by the timeline, once nw_stack_start_counting() is called. */
void nw_stack_timeline(struct nw_stack *stack, struct nw_timeline *timeline);

/* Our own single error correction over the chip, for parts without any. */
int nw_stack_ecc(struct nw_stack *stack, struct nw_why *why);

/* Does this layer keep tags in a spare area that the chip does not have? */
int nw_stack_wants_oob(const struct nw_stack *stack, const struct nw_layer_kind *kind);

/* A spare area, for parts without one: pages of page_bytes (0: 512), `join` blocks joined to one
 * (0: the fewest that have NW_STACK_OOB_PAGES of these pages). */
int nw_stack_oob(struct nw_stack *stack, uint32_t page_bytes, uint32_t join, struct nw_why *why);

/* Pages split in `parts`. */
int nw_stack_shrink(struct nw_stack *stack, uint8_t parts, struct nw_why *why);

/* Only the first `blocks` blocks from here on up. */
int nw_stack_slice(struct nw_stack *stack, uint32_t blocks, struct nw_why *why);

/* The layer on top; `mount` != 0: as it was left. Else an empty device: a chip from an image must
 * be blank then or hold this layer (NW_ERR_EXISTS). */
int nw_stack_layer(struct nw_stack *stack, const struct nw_layer_kind *kind,
                   const struct nw_layer_config *config, int mount, struct nw_why *why);

/* What the layers did so far, formatting above all, is no part of what follows: clock and energy
 * start from zero, `before` and `erases_before` are set. */
int nw_stack_start_counting(struct nw_stack *stack, struct nw_why *why);

/* Free blocks of the layer, or NW_TIMELINE_UNKNOWN. */
uint32_t nw_stack_free_blocks(const struct nw_stack *stack);

/* Gives all memory back. */
void nw_stack_close(struct nw_stack *stack);

#ifdef __cplusplus
}
#endif

#endif

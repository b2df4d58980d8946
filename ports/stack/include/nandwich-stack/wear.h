/* SPDX-License-Identifier: Apache-2.0 */
/* wear.h - the one table of wear policies by name, and how one is put into a stack. */
#ifndef NANDWICH_STACK_WEAR_H
#define NANDWICH_STACK_WEAR_H

#include "nandwich-stack/stack.h"
#include "nandwich-models/wear.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a policy may be told; 0 is its default everywhere. Each takes what it knows. */
struct nw_wear_choice {
    struct nw_heal_config heal;
    uint16_t threshold; /* swl */
    uint8_t set_shift;  /* swl */
    uint32_t seed;      /* swl */
};

struct nw_wear_kind {
    const char *name;
    const char *what;   /* one line for help */
    size_t state_bytes; /* of the policy's own struct, which begins with struct nw_wear */
    size_t (*ram_bytes)(const struct nw_wear_choice *choice, uint16_t blocks);
    int (*open)(void *state, const struct nw_wear_choice *choice, uint16_t blocks, void *ram,
                size_t ram_bytes);
};

/* The table, in the order to show it. "none" is no policy and not in it. */
extern const struct nw_wear_kind nw_wear_kinds[];
extern const uint32_t nw_wear_kind_count;

/*
 * The policy that the layer opened next will take; after the filters, before nw_stack_layer().
 * "none": nothing. NW_ERR_NOT_FOUND, NW_ERR_CONFIG (also healing on a part that cannot) or
 * NW_ERR_RAM, with a line in `why`.
 */
int nw_stack_wear(struct nw_stack *stack, const char *name, const struct nw_wear_choice *choice,
                  struct nw_why *why);

#ifdef __cplusplus
}
#endif

#endif

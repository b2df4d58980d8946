/* SPDX-License-Identifier: Apache-2.0 */
/* tier.h - how a tier is put on a stack. */
#ifndef NANDWICH_STACK_TIER_H
#define NANDWICH_STACK_TIER_H

#include "nandwich-stack/stack.h"
#include "nandwich-stack/tier_policy.h"

#ifdef __cplusplus
extern "C" {
#endif

struct nw_tier_choice {
    const struct nw_part *part; /* of the NVM */
    uint32_t bytes;             /* of NVM; 0: the part's */
    uint32_t lambda;            /* lrfu, in 65,536ths; 0: one counts half after 1,000 more */
    uint8_t reads;              /* 1: what is read goes to the NVM too */
    uint16_t apps;              /* told apart by habit; 0: 64 */
    uint32_t seed;
};

/*
 * A tier on the translation layer, which has to be a new one; over a model it forgets with power,
 * as the model does. Clock and meter are the chip's. Policies by name: tier_policy.h.
 * NW_ERR_NOT_FOUND, NW_ERR_CONFIG or NW_ERR_RAM, with a line in `why`.
 */
int nw_stack_tier(struct nw_stack *stack, const char *name, const struct nw_tier_choice *choice,
                  struct nw_why *why);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* tier_policy.h - the one table of placement policies by name, and how one is opened. */
#ifndef NANDWICH_STACK_TIER_POLICY_H
#define NANDWICH_STACK_TIER_POLICY_H

#include "nandwich-stack/layers.h"
#include "nandwich/tier.h"

#ifdef __cplusplus
extern "C" {
#endif

#define NW_TIER_NEEDS_APPS 0x01U    /* it tells applications apart */
#define NW_TIER_NEEDS_CONTENT 0x02U /* it goes by what a sector is */
#define NW_TIER_HAS_LAMBDA 0x04U    /* lambda is free to choose */
#define NW_TIER_INTER_ONLY 0x08U    /* of habit: inter_only */
#define NW_TIER_LEAST_FREE 0x10U    /* of habit: least_free, one slot in 16 */
#define NW_TIER_REST_LRU 0x20U      /* of habit: lru */

/* Who places what is not metadata, or all. */
enum nw_tier_rest { NW_TIER_BY_NOBODY, NW_TIER_BY_LRFU, NW_TIER_BY_HARC, NW_TIER_BY_HABIT };

struct nw_tier_kind {
    const char *name;
    const char *what; /* one line for help */
    uint32_t lambda;  /* of LRFU */
    uint8_t rest;     /* enum nw_tier_rest */
    uint8_t flags;    /* NW_TIER_... above */
};

/* The table, in the order to show it. */
extern const struct nw_tier_kind nw_tier_kinds[];
extern const uint32_t nw_tier_kind_count;

/* The row of that name, or NULL. */
const struct nw_tier_kind *nw_tier_kind_find(const char *name);

struct nw_tier_policy_choice {
    uint32_t lambda;  /* lrfu, in 65,536ths; 0: one counts half after 1,000 more */
    uint8_t reads;    /* 1: what is read goes to the NVM too, where the policy knows of that */
    uint16_t apps;    /* told apart by those that need it; 0: 64 */
    uint16_t slots;   /* of the tier, at most */
    uint32_t sectors; /* of the device */
};

struct nw_tier_policies;

/* NW_ERR_CONFIG or NW_ERR_RAM with a line in `why`; *made is NULL then. */
int nw_tier_policies_open(struct nw_tier_policies **made, const struct nw_tier_kind *kind,
                          const struct nw_tier_policy_choice *choice, struct nw_why *why);
void nw_tier_policies_close(struct nw_tier_policies *policies); /* NULL is fine */

/* For the tier; NULL: nothing goes to the NVM. */
struct nw_tier_policy *nw_tier_policies_first(struct nw_tier_policies *policies);

/* Where the time of day is to be set, in seconds; NULL: it has no clock. */
uint32_t *nw_tier_policies_clock_s(struct nw_tier_policies *policies);

/* What it takes on the device. */
size_t nw_tier_policies_ram_bytes(const struct nw_tier_policies *policies);

#ifdef __cplusplus
}
#endif

#endif

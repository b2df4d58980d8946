/* SPDX-License-Identifier: Apache-2.0 */
/* Placement policies by name. */
#include "nandwich-stack/tier_policy.h"

#include <stdlib.h>
#include <string.h>

#include "nandwich/tier_class.h"
#include "nandwich/tier_habit.h"
#include "nandwich/tier_harc.h"
#include "nandwich/tier_lrfu.h"

#define LAMBDA 66U /* 65,536 / 1,000 */
#define APPS 64U

struct nw_tier_policies {
    struct nw_tier_lrfu lrfu;
    struct nw_tier_harc harc;
    struct nw_tier_habit habit;
    struct nw_tier_class by_class;
    struct nw_tier_policy *first;
    uint32_t *clock_s;
    void *ram[2]; /* of the rest, of the class */
    size_t ram_bytes;
};

const struct nw_tier_kind nw_tier_kinds[] = {
    {"none", "nothing goes to the NVM", 0, NW_TIER_BY_NOBODY, 0},
    {"lru", "what was written least lately leaves", NW_TIER_LRU, NW_TIER_BY_LRFU, 0},
    {"lfu", "what was written least often leaves", NW_TIER_LFU, NW_TIER_BY_LRFU, 0},
    {"lrfu", "between the two, by its half-life", LAMBDA, NW_TIER_BY_LRFU, NW_TIER_HAS_LAMBDA},
    {"harc", "H-ARC: what was written once or often, and what was read, in its own balance", 0,
     NW_TIER_BY_HARC, 0},
    {"habit", "vFlash: room for applications that run at this hour", 0, NW_TIER_BY_HABIT,
     NW_TIER_NEEDS_APPS},
    {"habit-inter", "the same, but who updates most is not served first", 0, NW_TIER_BY_HABIT,
     NW_TIER_NEEDS_APPS | NW_TIER_INTER_ONLY},
    {"habit-room", "the same, and idle always keeps one slot in 16 free", 0, NW_TIER_BY_HABIT,
     NW_TIER_NEEDS_APPS | NW_TIER_LEAST_FREE},
    {"habit-lru", "the same, and what is not reserved is in lru's order", 0, NW_TIER_BY_HABIT,
     NW_TIER_NEEDS_APPS | NW_TIER_LEAST_FREE | NW_TIER_REST_LRU},
    {"class", "metadata of file systems alone", 0, NW_TIER_BY_NOBODY, NW_TIER_NEEDS_CONTENT},
    {"class+lrfu", "metadata first, lrfu in what is left", LAMBDA, NW_TIER_BY_LRFU,
     NW_TIER_NEEDS_CONTENT | NW_TIER_HAS_LAMBDA},
    {"class+harc", "metadata first, harc in what is left", 0, NW_TIER_BY_HARC,
     NW_TIER_NEEDS_CONTENT},
    {"class+habit", "metadata first, habit in what is left", 0, NW_TIER_BY_HABIT,
     NW_TIER_NEEDS_CONTENT | NW_TIER_NEEDS_APPS},
};
const uint32_t nw_tier_kind_count = sizeof nw_tier_kinds / sizeof nw_tier_kinds[0];

const struct nw_tier_kind *nw_tier_kind_find(const char *name)
{
    for (uint32_t i = 0; i < nw_tier_kind_count; i++) {
        if (strcmp(nw_tier_kinds[i].name, name) == 0) {
            return &nw_tier_kinds[i];
        }
    }
    return NULL;
}

/* Memory of a policy, on the device. */
static void *take(struct nw_tier_policies *made, uint8_t which, size_t bytes)
{
    made->ram[which] = malloc(bytes + 1U);
    made->ram_bytes += bytes;
    return made->ram[which];
}

static int open_lrfu(struct nw_tier_policies *made, const struct nw_tier_kind *kind,
                     const struct nw_tier_policy_choice *choice, struct nw_why *why)
{
    uint32_t lambda = (kind->flags & NW_TIER_HAS_LAMBDA) != 0 && choice->lambda != 0
                          ? choice->lambda
                          : kind->lambda;
    size_t bytes = nw_tier_lrfu_ram_bytes(choice->slots);
    int result = nw_tier_lrfu_open(&made->lrfu, lambda, choice->reads, choice->slots,
                                   take(made, 0, bytes), bytes);

    made->first = &made->lrfu.policy;
    return result == NW_ERR_CONFIG ? nw_refuse(why, result, "lambda=%u: at most 65536", lambda)
                                   : result;
}

static int open_harc(struct nw_tier_policies *made, const struct nw_tier_policy_choice *choice,
                     struct nw_why *why)
{
    size_t bytes = nw_tier_harc_ram_bytes(choice->slots);
    int result = nw_tier_harc_open(&made->harc, choice->reads, choice->slots,
                                   take(made, 0, bytes), bytes);

    made->first = &made->harc.policy;
    return result == NW_ERR_CONFIG
               ? nw_refuse(why, result, "%u slots, at most %u: give a smaller NVM",
                           (unsigned)choice->slots, (unsigned)NW_TIER_HARC_SLOTS)
               : result;
}

static int open_habit(struct nw_tier_policies *made, const struct nw_tier_kind *kind,
                      const struct nw_tier_policy_choice *choice, struct nw_why *why)
{
    uint16_t one_in_16 = (uint16_t)((choice->slots + 15U) / 16U); /* as LRFU has it */
    struct nw_tier_habit_config config = {
        .slots = choice->slots,
        .apps = choice->apps != 0 ? choice->apps : APPS,
        .sectors = choice->sectors,
        .least_free = (kind->flags & NW_TIER_LEAST_FREE) != 0 ? one_in_16 : 0U,
        .lru = (kind->flags & NW_TIER_REST_LRU) != 0,
        .inter_only = (kind->flags & NW_TIER_INTER_ONLY) != 0};
    size_t bytes = nw_tier_habit_ram_bytes(&config);
    int result = nw_tier_habit_open(&made->habit, &config, take(made, 0, bytes), bytes);

    made->first = &made->habit.policy;
    made->clock_s = &made->habit.now_s;
    return result == NW_ERR_CONFIG
               ? nw_refuse(why, result,
                           "%u slots and %u applications: with two for each application at most "
                           "65535, so give a smaller NVM",
                           config.slots, config.apps)
               : result;
}

static int open_class(struct nw_tier_policies *made, const struct nw_tier_policy_choice *choice)
{
    size_t bytes = nw_tier_class_ram_bytes(choice->slots);
    int result = nw_tier_class_open(&made->by_class, 0, made->first, choice->slots,
                                    take(made, 1, bytes), bytes);

    made->first = &made->by_class.policy;
    return result;
}

int nw_tier_policies_open(struct nw_tier_policies **made, const struct nw_tier_kind *kind,
                          const struct nw_tier_policy_choice *choice, struct nw_why *why)
{
    struct nw_tier_policies *all = calloc(1, sizeof *all);
    int result = all == NULL ? NW_ERR_RAM : NW_OK;

    if (result == NW_OK && kind->rest == NW_TIER_BY_LRFU) {
        result = open_lrfu(all, kind, choice, why);
    } else if (result == NW_OK && kind->rest == NW_TIER_BY_HARC) {
        result = open_harc(all, choice, why);
    } else if (result == NW_OK && kind->rest == NW_TIER_BY_HABIT) {
        result = open_habit(all, kind, choice, why);
    }
    if (result == NW_OK && (kind->flags & NW_TIER_NEEDS_CONTENT) != 0) {
        result = open_class(all, choice);
    }
    if (result == NW_ERR_RAM) {
        (void)nw_refuse(why, result, "this host has no memory left");
    }
    if (result < 0) {
        nw_tier_policies_close(all);
        all = NULL;
    }
    *made = all;
    return result;
}

void nw_tier_policies_close(struct nw_tier_policies *policies)
{
    if (policies != NULL) {
        free(policies->ram[0]);
        free(policies->ram[1]);
        free(policies);
    }
}

struct nw_tier_policy *nw_tier_policies_first(struct nw_tier_policies *policies)
{
    return policies->first;
}

uint32_t *nw_tier_policies_clock_s(struct nw_tier_policies *policies)
{
    return policies->clock_s;
}

size_t nw_tier_policies_ram_bytes(const struct nw_tier_policies *policies)
{
    return policies->ram_bytes;
}

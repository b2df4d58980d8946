/* SPDX-License-Identifier: Apache-2.0 */
/* The tier on a stack. */
#include "nandwich-stack/tier.h"

#include <stdlib.h>

static int open_nvm(struct nw_stack *stack, const struct nw_tier_choice *choice,
                    struct nw_why *why)
{
    struct nw_nvm_twin_config config = {.part = choice->part,
                                        .bytes = choice->bytes,
                                        .seed = choice->seed,
                                        .meter = nw_nand_meter(stack->nand)};
    int result;

    if (choice->part->kind != NW_PART_NVM) {
        return nw_refuse(why, NW_ERR_CONFIG, "%s is no byte-addressable memory: choose an NVM part",
                         choice->part->name);
    }
    stack->tier_part = *choice->part;
    result = nw_nvm_twin_open(&stack->nvm, &config);
    return result < 0 ? nw_refuse(why, result, "%s cannot be opened: %s", choice->part->name,
                                  nw_error_text(result))
                      : NW_OK;
}

/* A policy for as many slots as the NVM may have. */
static int open_policy(struct nw_stack *stack, const struct nw_tier_kind *kind,
                       const struct nw_tier_choice *choice, struct nw_why *why)
{
    uint32_t frames = nw_nvm_twin_nvm(stack->nvm)->bytes / stack->layer->sector_bytes;
    struct nw_tier_policy_choice of = {
        .lambda = choice->lambda,
        .reads = choice->reads,
        .apps = choice->apps,
        .slots = (uint16_t)(frames < NW_TIER_NONE ? frames : NW_TIER_NONE - 1U),
        .sectors = stack->layer->sectors};
    int result = nw_tier_policies_open(&stack->tier_policies, kind, &of, why);

    if (result == NW_OK) {
        stack->tier_ram_bytes = nw_tier_policies_ram_bytes(stack->tier_policies);
        stack->tier_clock_s = nw_tier_policies_clock_s(stack->tier_policies);
    }
    return result;
}

static int format_tier(struct nw_stack *stack, struct nw_why *why)
{
    const struct nw_nvm *nvm = nw_nvm_twin_nvm(stack->nvm);
    struct nw_tier_config config = {.flash = &stack->tier_flash,
                                    .nvm = nw_nvm_twin_nvm(stack->nvm),
                                    .policy = nw_tier_policies_first(stack->tier_policies),
                                    .identity = 1,
                                    .move_us = stack->chip->geometry.program_us,
                                    .no_payload = (stack->chip->geometry.flags &
                                                   NW_CHIP_NO_PAYLOAD) != 0};
    size_t bytes = nw_tier_ram_bytes(&config);
    int result;

    if (bytes == 0) {
        return nw_refuse(why, NW_ERR_CONFIG,
                         "an NVM of %u B does not go before sectors of %u B: it has room for two "
                         "of them at least, and 8 B of it are never torn",
                         nvm->bytes, stack->layer->sector_bytes);
    }
    stack->tier = calloc(1, sizeof *stack->tier);
    stack->tier_ram = malloc(bytes);
    if (stack->tier == NULL || stack->tier_ram == NULL) {
        return nw_refuse(why, NW_ERR_RAM, "this host has no memory left");
    }
    stack->tier_ram_bytes += bytes;
    result = nw_tier_format(stack->tier, &config, stack->tier_ram, bytes);
    if (result < 0) {
        return nw_refuse(why, result, "the tier cannot be formatted: %s", nw_error_text(result));
    }
    stack->block = &stack->tier->block;
    return NW_OK;
}

int nw_stack_tier(struct nw_stack *stack, const char *name, const struct nw_tier_choice *choice,
                  struct nw_why *why)
{
    const struct nw_tier_kind *kind = nw_tier_kind_find(name);
    int result;

    if (kind == NULL) {
        return nw_refuse(why, NW_ERR_NOT_FOUND, "no placement policy '%s'", name);
    }
    stack->tier_flash = *stack->layer;
    stack->tier_flash.flags |= NW_BLOCK_PERSISTENT; /* nothing mounts what stands on a model */
    result = open_nvm(stack, choice, why);
    if (result == NW_OK) {
        result = open_policy(stack, kind, choice, why);
    }
    return result == NW_OK ? format_tier(stack, why) : result;
}

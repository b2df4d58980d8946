/* SPDX-License-Identifier: Apache-2.0 */
/* Wear policies, by name. */
#include "nandwich-stack/wear.h"

#include <stdlib.h>
#include <string.h>

#include "nandwich-models/wear_dheating.h"
#include "nandwich-models/wear_swl.h"

static size_t dynamic_ram_bytes(const struct nw_wear_choice *choice, uint16_t blocks)
{
    (void)choice;
    return nw_wear_dynamic_ram_bytes(blocks);
}

static int dynamic_open(void *state, const struct nw_wear_choice *choice, uint16_t blocks,
                        void *ram, size_t ram_bytes)
{
    return nw_wear_dynamic_open(state, &choice->heal, blocks, ram, ram_bytes);
}

static struct nw_swl_config swl_config(const struct nw_wear_choice *choice)
{
    return (struct nw_swl_config){.heal = choice->heal,
                                  .threshold = choice->threshold,
                                  .set_shift = choice->set_shift,
                                  .seed = choice->seed};
}

static size_t swl_ram_bytes(const struct nw_wear_choice *choice, uint16_t blocks)
{
    struct nw_swl_config config = swl_config(choice);

    return nw_swl_ram_bytes(&config, blocks);
}

static int swl_open(void *state, const struct nw_wear_choice *choice, uint16_t blocks, void *ram,
                    size_t ram_bytes)
{
    struct nw_swl_config config = swl_config(choice);

    return nw_swl_open(state, &config, blocks, ram, ram_bytes);
}

static size_t dheating_ram_bytes(const struct nw_wear_choice *choice, uint16_t blocks)
{
    struct nw_dheating_config config = {.heal = choice->heal};

    return nw_dheating_ram_bytes(&config, blocks);
}

static int dheating_open(void *state, const struct nw_wear_choice *choice, uint16_t blocks,
                         void *ram, size_t ram_bytes)
{
    struct nw_dheating_config config = {.heal = choice->heal};

    return nw_dheating_open(state, &config, blocks, ram, ram_bytes);
}

const struct nw_wear_kind nw_wear_kinds[] = {
    {"dynamic", "the free block with the fewest erases", sizeof(struct nw_wear),
     dynamic_ram_bytes, dynamic_open},
    {"swl", "static wear levelling: cold data moves too", sizeof(struct nw_swl), swl_ram_bytes,
     swl_open},
    {"dheating", "few blocks are worn on purpose, so that healings come one by one",
     sizeof(struct nw_dheating), dheating_ram_bytes, dheating_open},
};
const uint32_t nw_wear_kind_count = sizeof nw_wear_kinds / sizeof nw_wear_kinds[0];

static const struct nw_wear_kind *find(const char *name)
{
    for (uint32_t i = 0; i < nw_wear_kind_count; i++) {
        if (strcmp(nw_wear_kinds[i].name, name) == 0) {
            return &nw_wear_kinds[i];
        }
    }
    return NULL;
}

int nw_stack_wear(struct nw_stack *stack, const char *name, const struct nw_wear_choice *choice,
                  struct nw_why *why)
{
    const struct nw_wear_kind *kind = find(name);
    uint32_t blocks = stack->chip->geometry.blocks;
    size_t bytes;
    int result;

    if (strcmp(name, "none") == 0 && choice->heal.heals == 0) {
        return NW_OK;
    }
    if (kind == NULL) {
        return strcmp(name, "none") == 0
                   ? nw_refuse(why, NW_ERR_CONFIG, "healing needs a wear policy")
                   : nw_refuse(why, NW_ERR_NOT_FOUND, "no wear policy '%s'", name);
    }
    if (choice->heal.heals != 0 && stack->chip->geometry.heal_life == 0) {
        return nw_refuse(why, NW_ERR_CONFIG, "%s cannot be healed: choose a part with heal.life",
                         stack->part.name);
    }
    bytes = blocks < NW_WEAR_MOVED ? kind->ram_bytes(choice, (uint16_t)blocks) : 0;
    if (bytes == 0) {
        return nw_refuse(why, NW_ERR_CONFIG,
                         "wear policy %s does not take this: at most 65533 blocks, a threshold of "
                         "2 or more, at most 2^15 blocks a set",
                         name);
    }
    stack->wear_ram = malloc(bytes);
    stack->wear = calloc(1, kind->state_bytes);
    if (stack->wear_ram == NULL || stack->wear == NULL) {
        return nw_refuse(why, NW_ERR_RAM, "this host has no memory left");
    }
    stack->wear_ram_bytes = bytes;
    result = kind->open(stack->wear, choice, (uint16_t)blocks, stack->wear_ram, bytes);
    return result < 0 ? nw_refuse(why, result, "wear policy %s: %s: percent is at most 100", name,
                                  nw_error_text(result))
                      : NW_OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The table of what can be tortured. A new one is a struct sim_kind and a line here. */
#include <string.h>

#include "subject.h"

const struct sim_kind *const sim_kinds[] = {&sim_kind_tree,  &sim_kind_lavish, &sim_kind_tier,
                                            &sim_kind_store, &sim_kind_feed,   &sim_kind_vm,
                                            &sim_kind_heap};
const uint32_t sim_kind_count = sizeof sim_kinds / sizeof sim_kinds[0];

const struct sim_kind *sim_kind_find(const char *name)
{
    for (uint32_t i = 0; i < sim_kind_count; i++) {
        if (strcmp(sim_kinds[i]->name, name) == 0) {
            return sim_kinds[i];
        }
    }
    return NULL;
}

uint8_t sim_draw_verb(const struct sim_taste *taste, uint32_t count, struct nw_random *random)
{
    uint32_t sum = 0;
    uint8_t verb = 0;

    for (uint32_t i = 0; i < count; i++) {
        sum += taste->weights[i];
    }
    for (uint32_t dice = nw_random_next(random) % sum; dice >= taste->weights[verb]; verb++) {
        dice -= taste->weights[verb];
    }
    return (uint8_t)(SIM_COMMON + verb);
}

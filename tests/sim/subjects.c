/* SPDX-License-Identifier: Apache-2.0 */
/* The table of what can be tortured. A new one is a struct sim_kind and a line here. */
#include <string.h>

#include "subject.h"

const struct sim_kind *const sim_kinds[] = {&sim_kind_page,       &sim_kind_nftl,
                                            &sim_kind_log,        &sim_kind_superblock,
                                            &sim_kind_fast,       &sim_kind_lavish,
                                            &sim_kind_store};
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

/* SPDX-License-Identifier: Apache-2.0 */
#include "nandwich-stack/layers.h"

#include <string.h>

const struct nw_layer_kind *const nw_layer_kinds[] = {
    &nw_layer_tree,
    &nw_layer_lavish,
    &nw_layer_page,
    &nw_layer_nftl,
    &nw_layer_log,
    &nw_layer_superblock,
    &nw_layer_fast,
};
const uint32_t nw_layer_kind_count = sizeof nw_layer_kinds / sizeof nw_layer_kinds[0];

const struct nw_layer_kind *nw_layer_find(const char *name)
{
    for (uint32_t i = 0; i < nw_layer_kind_count; i++) {
        if (strcmp(nw_layer_kinds[i]->name, name) == 0) {
            return nw_layer_kinds[i];
        }
    }
    return NULL;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* How many pages of each block count: the map is read once, from left to right. */
#include <string.h>

#include "nandwich/bytes.h"
#include "tree.h"

/* A leaf with all that waits above it, to the buffer. */
static int assemble(struct nw_tree *tree, const struct nw_tree_child *child, uint32_t leaf,
                    uint16_t at[2])
{
    uint32_t first = leaf * tree->leaf_places;
    uint32_t place = nw_tree_leaf_place(tree, leaf);
    int result = NW_OK;

    memset(tree->buffer, 0, tree->page_bytes);
    if (place != 0) {
        nw_tree_gain(tree, place);
        result = nw_tree_load(tree, place);
    }
    if (result == NW_OK) {
        result = nw_tree_pour(tree, child->at, tree->inner_at, &at[0],
                              child->entries, first);
    }
    return result;
}

/* The valid pages below a child of the root. */
static int count_child(struct nw_tree *tree, uint16_t number)
{
    struct nw_tree_child *child = &tree->child[number];
    uint16_t at[2] = {0, child->start};
    uint16_t change = nw_tree_lower(tree, tree->changes, tree->change_count,
                                    number * tree->span);
    int result = nw_tree_load_inner(tree, number);

    if (nw_tree_is_lost(result)) {
        child->entries = NW_TREE_UNKNOWN;
    }
    nw_tree_gain(tree, child->at);
    for (uint32_t leaf = (uint32_t)number * tree->leaves;
         leaf < (number + 1UL) * tree->leaves && result == NW_OK; leaf++) {
        uint32_t first = leaf * tree->leaf_places;

        memset(tree->buffer, 0, tree->page_bytes);
        if (child->at != 0) {
            result = assemble(tree, child, leaf, at);
        }
        if (result == NW_OK && !child->pushed) {
            result = nw_tree_pour(tree, tree->root, tree->root_at, &at[1],
                                  child[1].start, first);
        }
        for (; change < tree->change_count; change++) {
            const uint8_t *entry = tree->changes + (size_t)change * tree->entry;
            uint32_t index = nw_tree_get(tree, entry) - first;

            if (index >= tree->leaf_places) {
                break;
            }
            nw_tree_put(tree, tree->buffer + index * tree->width,
                        nw_tree_get(tree, entry + tree->width));
        }
        for (uint16_t i = 0; i < tree->leaf_places && result == NW_OK; i++) {
            nw_tree_gain(tree, nw_tree_get(tree, tree->buffer + (size_t)i * tree->width));
        }
    }
    return result;
}

int nw_tree_count(struct nw_tree *tree)
{
    int lost = 0;

    for (uint32_t block = 0; block < tree->blocks; block++) {
        tree->counts[block] = block < tree->virgin ? 0 : (uint8_t)NW_TREE_OUT;
    }
    for (uint16_t i = 0; i < tree->children; i++) {
        int result = count_child(tree, i);

        if (nw_tree_is_lost(result)) {
            lost = 1;
        } else if (result < 0) {
            return result;
        }
    }
    for (uint8_t i = 0; i < tree->queue.count; i++) {
        tree->counts[tree->queue.block[i]] = NW_TREE_OUT;
    }
    tree->exact = !lost && tree->block_pages < NW_TREE_OUT;
    return lost;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* How many pages of each block are reached: the map is read once, from left to right. */
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

    memset(tree->floor.buffer, 0, tree->floor.page_bytes);
    if (place != 0) {
        nw_tree_gain_node(tree, place);
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

    if (result != NW_OK) {
        child->entries = NW_TREE_UNKNOWN;
    }
    nw_tree_gain_node(tree, child->at);
    for (uint32_t leaf = (uint32_t)number * tree->leaves;
         leaf < (number + 1UL) * tree->leaves && result == NW_OK; leaf++) {
        uint32_t first = leaf * tree->leaf_places;

        memset(tree->floor.buffer, 0, tree->floor.page_bytes);
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
            nw_tree_put(tree, tree->floor.buffer + index * tree->width,
                        nw_tree_get(tree, entry + tree->width));
        }
        for (uint16_t i = 0; i < tree->leaf_places && result == NW_OK; i++) {
            nw_floor_gain(&tree->floor,
                          nw_tree_get(tree, tree->floor.buffer + (size_t)i * tree->width));
        }
    }
    return result;
}

int nw_tree_count(struct nw_floor *floor)
{
    struct nw_tree *tree = nw_tree_of(floor);
    int lost = NW_OK;

    tree->buffered = 0;
    for (uint16_t i = 0; i < tree->children; i++) {
        int result = count_child(tree, i);

        if (result < 0 && result != NW_ERR_ECC && result != NW_ERR_CORRUPT) {
            return result;
        }
        lost = result < 0 ? result : lost;
    }
    return lost;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* How many pages of each block are reached: the map is read once, from left to right. */
#include <string.h>

#include "nandwich/bytes.h"
#include "tree.h"

/* The valid pages below a child of the root. */
static int count_child(struct nw_tree *tree, unsigned number)
{
    struct nw_tree_child *child = &tree->child[number];
    unsigned at = child->start;
    unsigned change = nw_tree_lower(tree, tree->changes, tree->change_count,
                                    number * tree->span);
    int result = nw_tree_load_inner(tree, number);

    if (result != NW_OK) {
        child->entries = NW_TREE_UNKNOWN;
    }
    nw_tree_reach_node(tree, child->at, 1);
    for (uint32_t leaf = (uint32_t)number * tree->leaves;
         leaf < (number + 1UL) * tree->leaves && result == NW_OK; leaf++) {
        uint32_t first = leaf * tree->leaf_places;

        nw_tree_reach_node(tree, nw_tree_leaf_place(tree, leaf), 1);
        result = nw_tree_load_leaf(tree, leaf);
        if (result == NW_OK) {
            result = nw_tree_pour(tree, tree->root, tree->root_at, &at,
                                  child->start + child->group, first);
        }
        change += nw_tree_apply(tree, tree->changes + (size_t)change * tree->entry,
                                tree->change_count - change, first);
        for (unsigned i = 0; i < tree->leaf_places && result == NW_OK; i++) {
            nw_floor_reach(&tree->floor,
                           nw_tree_get(tree, tree->floor.buffer + (size_t)i * tree->width), 1);
        }
    }
    return result;
}

int nw_tree_count(struct nw_floor *floor)
{
    struct nw_tree *tree = nw_tree_of(floor);
    int lost = NW_OK;

    if (tree->folded) {
        return NW_ERR_RAM;
    }
    tree->buffered = 0;
    for (unsigned i = 0; i < tree->children; i++) {
        int result = count_child(tree, i);

        if (result < 0 && result != NW_ERR_ECC && result != NW_ERR_CORRUPT) {
            return result;
        }
        lost = result < 0 ? result : lost;
    }
    return lost;
}

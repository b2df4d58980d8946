/* SPDX-License-Identifier: Apache-2.0 */
/* The longest calls, by the geometry: see ftl_tree.h. */
#include <string.h>

#include "tree.h"

#define SUSPECTS 8U /* blocks that cuts leave half erased or with half a root, at most */
#define CANDIDATES 10U
#define ATTEMPTS (NW_FLOOR_LIST + 2U) /* of a mount: see there */

/* The entries of a node are read in so many pieces, and one more for each group. */
static uint32_t pieces(const struct nw_tree *tree)
{
    return tree->floor.page_bytes / NW_TREE_PIECE + 1U;
}

/* A change to the map with `passes` pages of cleaning, which move as many sectors. A push frees the
 * share of one child or more, so the next one comes that many changes later. It writes each leaf
 * below a child, and the inner node for every four. */
static struct nw_ftl_tree_most change(const struct nw_tree *tree, uint32_t passes)
{
    uint32_t pushes = 2U + (passes + 1U) * tree->children / tree->root_room;
    uint32_t nodes = tree->leaves + tree->leaves / 4U + 2U;
    uint32_t saves = 1U + (passes + 1U) / tree->changes_room;
    uint32_t programs = 2U + passes + 2U * (pushes * nodes + saves);
    uint32_t blocks = 1U + programs / (tree->floor.used_pages - NW_FLOOR_ROOTS);

    return (struct nw_ftl_tree_most){
        .reads = 2U * (4U + 5U * passes + pushes * (3U * nodes + 2U * pieces(tree)) + saves +
                       blocks),
        .programs = programs + NW_FLOOR_ROOTS * blocks,
        .erases = blocks + 1U};
}

/* A mount writes its own block once, once more where a program fails, and once more for each block
 * of a list that is half erased and answers in two ways; then the map may be cleaned. */
static struct nw_ftl_tree_most mount(const struct nw_tree *tree)
{
    struct nw_ftl_tree_most most = change(tree, 2U * tree->floor.used_pages);
    uint32_t nodes = (uint32_t)tree->children * (tree->leaves + 1U);
    uint32_t heads = 2U * tree->floor.blocks + CANDIDATES * 10U;
    uint32_t map = 3U * nodes + (tree->children + 1U) * pieces(tree);
    uint32_t tail = tree->floor.used_pages * 2U * NW_FLOOR_STRETCH;

    most.reads += ATTEMPTS * 2U * (heads + map + tail);
    most.programs += ATTEMPTS * 5U + 2U * NW_FLOOR_ROOTS;
    most.erases += SUSPECTS + ATTEMPTS + 1U; /* a failed one */
    return most;
}

int nw_ftl_tree_longest(const struct nw_ftl_tree_config *config,
                        const struct nw_geometry *geometry, enum nw_ftl_tree_call call,
                        struct nw_ftl_tree_most *most)
{
    struct nw_tree tree;

    memset(&tree, 0, sizeof tree);
    if (!nw_tree_plan(&tree, config, geometry)) {
        return NW_ERR_CONFIG;
    }
    *most = call == NW_FTL_TREE_READ     ? (struct nw_ftl_tree_most){.reads = 2U * 5U}
            : call == NW_FTL_TREE_CHANGE ? change(&tree, tree.floor.used_pages / NW_TREE_SHARE)
            : call == NW_FTL_TREE_STEP   ? change(&tree, 1)
                                         : mount(&tree);
    return NW_OK;
}

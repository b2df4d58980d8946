/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the map and the counts of valid pages agree: see ftl_tree_check.h. */
#include "nandwich/ftl_tree_check.h"

#include "tree.h"

/* What a page in a block adds to a sum over pages: two rows of counts that differ have different
 * sums, but for a chance of one in many millions. */
static uint32_t weight(uint32_t block)
{
    uint32_t mixed = (uint32_t)((block + 1UL) * 2654435761UL);

    mixed ^= mixed >> 15;
    return (uint32_t)(mixed * 2246822519UL);
}

/* A place in use, to the sum. A block that is not counted keeps a page that cannot be read. */
static int add(const struct nw_tree *tree, uint32_t place, uint32_t *sum)
{
    const struct nw_floor *floor = &tree->floor;
    uint32_t block = place / floor->block_pages;

    if (place == 0) {
        return NW_OK;
    }
    if (block >= floor->blocks || floor->counts[block] == NW_FLOOR_FREE ||
        !nw_floor_is_live(floor, place)) {
        return NW_ERR_CORRUPT;
    }
    for (uint8_t i = 0; i < floor->listed; i++) {
        if (floor->list[i] == block) {
            return NW_ERR_CORRUPT;
        }
    }
    *sum += floor->counts[block] != NW_FLOOR_OUT ? weight(block) : 0U;
    return NW_OK;
}

static int add_node(const struct nw_tree *tree, uint32_t place, uint32_t *sum)
{
    int result = add(tree, place, sum);

    return result == NW_OK && place != 0 ? add(tree, place + 1U, sum) : result;
}

/* An inner node and its leaves. */
static int add_nodes(struct nw_tree *tree, uint16_t child, uint32_t *sum)
{
    uint32_t at = tree->child[child].at;
    int result = add_node(tree, at, sum);

    for (uint32_t leaf = 0; at != 0 && leaf < tree->leaves && result == NW_OK; leaf++) {
        uint8_t bytes[4] = {0};

        result = nw_tree_read(tree, at, 2U + leaf * tree->width, tree->width, bytes);
        if (result == NW_OK) {
            result = add_node(tree, nw_tree_get(tree, bytes), sum);
        }
    }
    return result;
}

int nw_ftl_tree_check(const struct nw_ftl_tree *ftl, uint32_t *where)
{
    struct nw_tree *tree = ftl->tree;
    uint32_t sum = 0;
    uint32_t end = tree->floor.stale ? 0U : tree->sectors + tree->children;

    for (*where = 0; *where < end; (*where)++) {
        uint32_t place = 0;
        int result;

        if (*where < tree->sectors) {
            result = nw_tree_find(tree, *where, &place);
            result = result == NW_OK ? add(tree, place, &sum) : result;
        } else {
            result = add_nodes(tree, (uint16_t)(*where - tree->sectors), &sum);
        }
        if (result != NW_OK) {
            return result;
        }
    }
    for (uint16_t block = 0; end != 0 && block < tree->floor.blocks; block++) {
        uint8_t count = tree->floor.counts[block];

        sum -= count < NW_FLOOR_FREE ? count * weight(block) : 0U;
    }
    return sum == 0 ? (int)NW_OK : (int)NW_ERR_CORRUPT;
}

uint32_t nw_ftl_tree_free_blocks(const struct nw_ftl_tree *ftl)
{
    return ftl->tree->floor.free;
}

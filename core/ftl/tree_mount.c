/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A mount's own block.
 *
 * The page written last may have been cut. It may show now and be gone at the next power-up. So the
 * mount does not build on it: the root of its own block knows of all before it, and behind that is
 * a copy of it, if it was whole. Only with an END does the block count: a mount that
 * was cut before leaves nothing, and the next one begins with the same block before, and writes to
 * the same free block. When the mount has ended nothing in the block before is looked at again, so
 * whatever else a torn page in it will show does not matter.
 */
#include <string.h>

#include "tree.h"

#define MARGIN 9U /* pages of a mount's block for nodes, roots and its ends */

static int is_failed(const struct nw_tree *tree, uint16_t block)
{
    for (uint8_t i = 0; i < tree->failed_count; i++) {
        if (tree->failed[i] == block) {
            return 1;
        }
    }
    return 0;
}

/* Blocks that hold nothing, whether the page written last counts or not. */
static int gather(struct nw_tree *tree, uint32_t newest)
{
    for (uint16_t block = 0; tree->exact && block < tree->blocks; block++) {
        if (tree->queue.count == NW_TREE_QUEUE) {
            break;
        }
        if (tree->counts[block] != 0 || block == newest || is_failed(tree, block)) {
            continue;
        }
        tree->tagged.req.block = block;
        int bad = nw_chip_is_bad(&tree->tagged.req);

        if (bad < 0) {
            return bad;
        }
        if (bad == 0) {
            nw_tree_enqueue(tree, block);
            tree->queue.usable = tree->queue.count;
        } else {
            tree->counts[block] = NW_TREE_OUT;
        }
    }
    return NW_OK;
}

/* The page written last counts, if it is a sector's and whole. */
static int believe(struct nw_tree *tree, uint32_t last)
{
    int state = nw_tagged_read(&tree->tagged, last, 0, NULL);
    uint32_t word = tree->tagged.tag.word;
    uint32_t sector = word & ~(uint32_t)NW_TREE_DAMAGED;
    uint32_t old = 0;

    if (state == NW_TAG_GOOD && tree->payload && sector == word) {
        state = nw_tagged_read(&tree->tagged, last, tree->page_bytes, tree->buffer);
        if (state == NW_TAG_GOOD &&
            tree->tagged.tag.crc != nw_tag_sum(tree->buffer, tree->page_bytes)) {
            state = NW_TAG_BAD;
        }
    }
    if (state != NW_TAG_GOOD || sector >= tree->sectors) {
        return state < 0 ? state : (int)NW_OK;
    }
    int result = nw_tree_find(tree, sector, &old);

    if (result != NW_OK && !nw_tree_is_lost(result)) {
        return result;
    }
    nw_tree_change(tree, sector, last);
    nw_tree_lose(tree, old);
    nw_tree_gain(tree, last);
    return NW_OK;
}

/* The mount's block: a root, twice, and a copy of the page written last, if that is whole. */
static int begin(struct nw_tree *tree, uint32_t last)
{
    int result = nw_tree_save(tree);

    if (result == NW_OK) {
        result = believe(tree, last);
    }
    if (result == NW_OK) {
        result = nw_tagged_read(&tree->tagged, last, 0, NULL);
    }
    return result == NW_TAG_GOOD ? nw_tree_move(tree, last) : result < 0 ? result : (int)NW_OK;
}

/* A few free blocks for the mounts to come, as far as the mount's block has room. */
static int restock(struct nw_tree *tree)
{
    uint8_t before = tree->queue.count;
    int result = NW_OK;

    while (result == NW_OK && tree->queue.count < NW_TREE_STOCK && tree->virgin == tree->blocks &&
           tree->left > MARGIN) {
        uint16_t most = (uint16_t)(tree->left - MARGIN);
        uint16_t worth = nw_tree_worth(tree, 1);

        result = nw_tree_clean_step(tree, most < worth ? most : worth);
    }
    return result >= 0 && tree->queue.count > before ? nw_tree_save(tree) : result;
}

/* The mount's block, from its root to its end. */
static int write_block(struct nw_tree *tree, uint32_t last)
{
    uint32_t place;
    int result = begin(tree, last);

    tree->victim = NW_TREE_NO_BLOCK;
    if (result == NW_OK) {
        result = restock(tree);
    }
    for (uint8_t i = 0; i < 2U && result >= 0; i++) { /* one may rot */
        result = nw_tree_append(tree, NW_TREE_END, NULL, &place);
    }
    return result;
}

int nw_tree_mount(struct nw_tree *tree)
{
    uint32_t last;
    int lost = 0;

    tree->mounting = 1;
    int result = nw_tree_restore(tree, &last);

    if (result == NW_OK) {
        result = lost = nw_tree_count(tree);
    }
    if (result == NW_OK && tree->current == NW_TREE_NO_BLOCK) {
        result = gather(tree, last / tree->block_pages);
    }
    if (result < 0) {
        return result;
    }
    result = NW_ERR_PROGRAM;
    for (uint8_t i = 0; i < NW_TREE_TRIES && result == NW_ERR_PROGRAM; i++) {
        result = write_block(tree, last);
    }
    tree->mounting = 0;
    tree->queue.usable = tree->queue.count;
    if (result == NW_OK && lost) {
        result = nw_tree_mend(tree);
    } else if (result == NW_ERR_FULL) { /* the device can be read, the last page where it is */
        tree->must_open = 1;
        result = believe(tree, last);
    }
    return result > 0 || result == NW_ERR_FULL ? (int)NW_OK : result;
}

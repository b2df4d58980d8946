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

/* The page written last: its tag and, of a sector, its content. NW_TAG_GOOD: it looks whole. */
static int look_at_last(struct nw_tree *tree, uint32_t last)
{
    int state = nw_tagged_read(&tree->tagged, last, 0, NULL);

    if (state == NW_TAG_GOOD && tree->payload && tree->tagged.tag.word < NW_TREE_LEAF) {
        state = nw_tagged_read(&tree->tagged, last, tree->page_bytes, tree->buffer);
        if (state == NW_TAG_GOOD &&
            tree->tagged.tag.crc != nw_tag_sum(tree->buffer, tree->page_bytes)) {
            state = NW_TAG_BAD;
        }
    }
    return state;
}

/* It counts, if it is a sector's and whole. */
static int believe(struct nw_tree *tree, uint32_t last)
{
    int state = look_at_last(tree, last);
    uint32_t sector = tree->tagged.tag.word & ~(uint32_t)NW_TREE_DAMAGED;
    uint32_t old = 0;

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

/* The mount's block: a root, twice, and copies of what tree_mend.c might not find later: the page
 * written last, if that is whole; the one before it, should that show as blank; and what the
 * session owed. A lost node is no reason to fail: what is owed stays so, and a page written last
 * that counts is among the changes, where no node is asked. */
static int begin(struct nw_tree *tree, uint32_t last)
{
    int result = nw_tree_save(tree);

    if (result == NW_OK) {
        result = believe(tree, last);
    }
    if (result == NW_OK && tree->owed != 0) {
        result = nw_tree_copy(tree, tree->owed, 0);
        tree->owed = result == NW_OK ? 0 : tree->owed;
    }
    if (result == NW_OK || nw_tree_is_lost(result)) {
        result = nw_tree_copy(tree, last - 1U, 0);
    }
    if (result == NW_OK || nw_tree_is_lost(result)) {
        result = nw_tree_copy(tree, last, 1);
    }
    return nw_tree_is_lost(result) ? (int)NW_OK : result;
}

/* May the block's end show later what it does not show now, a page that tree_mend.c believes? */
static int is_doubtful(struct nw_tree *tree, uint32_t last)
{
    uint16_t left = (uint16_t)(tree->block_pages - 1U - last % tree->block_pages);
    int state = left == 0 ? look_at_last(tree, last) : (int)NW_TAG_GOOD;

    return state < 0 ? state : state != NW_TAG_GOOD || (left != 0 && left <= NW_TREE_TAIL);
}

/* A few free blocks for the mounts to come, as far as the mount's block has room. The root tells of
 * those that were found since `before`. */
static int restock(struct nw_tree *tree, uint8_t before)
{
    int result = NW_OK;

    while (result == NW_OK && tree->queue.count < NW_TREE_STOCK && tree->virgin == tree->blocks &&
           tree->left > MARGIN) {
        uint16_t most = (uint16_t)(tree->left - MARGIN);
        uint16_t worth = nw_tree_worth(tree, 1);

        result = nw_tree_clean_step(tree, most < worth ? most : worth);
    }
    return result >= 0 && tree->queue.count > before ? nw_tree_save(tree) : result;
}

/* The mount's block, from its root to its end. Lost nodes are made anew in it: should the mount be
 * cut, it has used up nothing. With too few free blocks for that, what is lost stays so. */
static int write_block(struct nw_tree *tree, uint32_t last, int lost)
{
    uint32_t place;
    int result = begin(tree, last);
    uint8_t before;

    tree->victim = NW_TREE_NO_BLOCK;
    if (result == NW_OK && lost) {
        result = nw_tree_mend(tree);
        result = result == NW_ERR_FULL || result > 0 ? (int)NW_OK : result;
    }
    before = tree->queue.count;
    if (result == NW_OK && lost) {
        result = nw_tree_gather(tree, (uint16_t)(last / tree->block_pages));
    }
    if (result == NW_OK) {
        result = restock(tree, before);
    }
    if (result >= 0 && tree->left < 2U) {
        result = nw_tree_save(tree);
    }
    /* One may rot; and a block that is nearly full has no end of which to be in doubt. */
    for (uint8_t i = 0; result >= 0 && tree->left != 0 && (i < 2U || tree->left <= NW_TREE_TAIL);
         i++) {
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
        result = nw_tree_gather(tree, (uint16_t)(last / tree->block_pages));
        tree->queue.usable = tree->queue.count; /* whether the page written last counts or not */
    }
    if (result >= 0) {
        result = is_doubtful(tree, last);
    }
    if (result < 0) {
        return result;
    }
    if (result > 0) {
        nw_tree_list(tree, (uint16_t)(last / tree->block_pages), 1);
    }
    result = NW_ERR_PROGRAM;
    for (uint8_t i = 0; i < NW_TREE_TRIES && result == NW_ERR_PROGRAM; i++) {
        result = write_block(tree, last, lost);
    }
    tree->mounting = 0;
    tree->queue.usable = tree->queue.count;
    if (result == NW_ERR_FULL) { /* the device can be read, the last page where it is */
        tree->must_open = 1;
        tree->owed = last;
        result = believe(tree, last);
    }
    return result > 0 || result == NW_ERR_FULL ? (int)NW_OK : result;
}

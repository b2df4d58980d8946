/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nodes that cannot be read any more, made anew. All that a leaf says stands in the tags of pages,
 * too: the newest page of a sector is where it lies. A trim is not among them: what was trimmed may
 * be back. Likewise an inner node: its leaves by their tags; and with what waited in it gone, each
 * of its leaves is made anew.
 *
 * WHAT COUNTS. The page written last in a block may be torn, or of a call that failed, and what it
 * shows may change at each power-up. It is not believed, and so neither is the one before it, when
 * it shows as blank. Hence whoever ends a block so copies the sectors of both, if they count: a
 * mount those of the last two pages it finds; behind a failed call, whose own page does not count,
 * the session that of the page before. It does so before any other sector is written, and till then
 * the root names that page: `owed`.
 *
 * A block that ended as it should has nothing behind its last page, either. It ends with one of its
 * last NW_TREE_TAIL pages: a push that needs two begins another block when there is one. These are
 * believed, so a block that a mount or a failed call ended there is listed in the root. That block
 * is emptied first of all, and until then its last page is believed no more than any other's.
 */
#include <string.h>

#include "tree.h"

/* Does this page count whether there is one behind it or not? */
static int is_certain(const struct nw_tree *tree, uint32_t page)
{
    return page + 1U == tree->next || page == tree->owed ||
           (page % tree->block_pages + NW_TREE_TAIL >= tree->block_pages &&
            nw_tree_listed(tree, (uint16_t)(page / tree->block_pages)) == tree->failed_count);
}

/* A page for a word. It takes the place of one that is older; tags have it in their version. */
static int offer(struct nw_tree *tree, uint32_t page, uint8_t *to)
{
    uint64_t version = tree->tagged.tag.version;
    uint32_t old = nw_tree_get(tree, to);
    int state = NW_TAG_GOOD;

    if (!is_certain(tree, page)) {
        state = NW_TAG_BLANK;
        if ((page + 1U) % tree->block_pages != 0) {
            state = nw_tagged_read(&tree->tagged, page + 1U, 0, NULL);
        }
    }
    if (state < 0 || state == NW_TAG_BLANK) {
        return state;
    }
    if (old != 0) {
        state = nw_tagged_read(&tree->tagged, old, 0, NULL);
    }
    if (state >= 0 && (old == 0 || tree->tagged.tag.version <= version)) {
        nw_tree_put(tree, to, page);
    }
    return state;
}

/* The newest page of each of `count` words from `first` on. Blocks that are free are left out. */
static int collect(struct nw_tree *tree, uint32_t first, uint16_t count, uint8_t *to)
{
    uint32_t end = (uint32_t)tree->blocks * tree->block_pages;
    int state = NW_OK;

    for (uint32_t page = 0; page < end && state >= 0; page++) {
        uint32_t at = page % tree->block_pages;

        if (tree->counts[page / tree->block_pages] == NW_TREE_OUT || page == tree->next) {
            page += tree->block_pages - 1U - at;
            continue;
        }
        state = nw_tagged_read(&tree->tagged, page, 0, NULL);
        uint32_t index = (tree->tagged.tag.word & ~(uint32_t)NW_TREE_DAMAGED) - first;

        if (state == NW_TAG_BLANK) {
            page += tree->block_pages - 1U - at;
        } else if (state == NW_TAG_GOOD && at != 0 && index < count) {
            state = offer(tree, page, to + index * tree->width);
        }
    }
    return state < 0 ? state : (int)NW_OK;
}

/* A leaf by the tags, to the log. */
static int make_leaf(struct nw_tree *tree, uint32_t leaf, uint32_t *place)
{
    int result = nw_tree_room(tree, 1);

    memset(tree->buffer, 0, tree->page_bytes);
    if (result == NW_OK) {
        result = collect(tree, leaf * tree->leaf_places, tree->leaf_places, tree->buffer);
    }
    if (result == NW_OK) {
        tree->tagged.stats->map_programs++;
        result = nw_tree_append(tree, NW_TREE_LEAF | leaf, tree->buffer, place);
    }
    return result;
}

/* An inner node, and its leaves before it. */
static int make_inner(struct nw_tree *tree, uint16_t number)
{
    uint32_t first = (uint32_t)number * tree->leaves;
    uint32_t place;
    int result = NW_OK;

    for (uint16_t i = 0; i < tree->leaves && result == NW_OK; i++) {
        if ((first + i) * tree->leaf_places < tree->sectors) {
            result = make_leaf(tree, first + i, &place);
        }
    }
    if (result == NW_OK) {
        result = nw_tree_room(tree, 1);
    }
    memset(tree->buffer, 0, tree->page_bytes);
    if (result == NW_OK) {
        result = collect(tree, NW_TREE_LEAF | first, tree->leaves, tree->buffer + 2);
    }
    return result == NW_OK ? nw_tree_put_inner(tree, number) : result;
}

/* A leaf, if it is lost. What waits for it in the inner node goes on to do so. */
static int mend_leaf(struct nw_tree *tree, uint16_t number, uint16_t leaf)
{
    uint8_t *at = tree->buffer + 2U + (size_t)leaf * tree->width;
    uint32_t place = nw_tree_get(tree, at);
    int result = place != 0 ? nw_tree_load(tree, place) : (int)NW_OK;

    if (nw_tree_is_lost(result)) {
        result = make_leaf(tree, (uint32_t)number * tree->leaves + leaf, &place);
        if (result == NW_OK) {
            result = nw_tree_room(tree, 1);
        }
        if (result == NW_OK) {
            result = nw_tree_load(tree, tree->child[number].at);
        }
        if (result == NW_OK) {
            nw_tree_put(tree, at, place);
            result = nw_tree_put_inner(tree, number);
        }
    }
    return result;
}

static int mend_child(struct nw_tree *tree, uint16_t number)
{
    int result = NW_OK;

    for (uint16_t leaf = 0; leaf < tree->leaves && result == NW_OK; leaf++) {
        result = nw_tree_load(tree, tree->child[number].at);
        if (nw_tree_is_lost(result)) {
            return make_inner(tree, number);
        }
        if (result == NW_OK) {
            result = mend_leaf(tree, number, leaf);
        }
    }
    return result;
}

/* A block that is marked bad counts no more: it may hold anything, where its erase failed what it
 * held before. */
static int leave_out_bad(struct nw_tree *tree)
{
    for (uint16_t block = 0; block < tree->virgin; block++) {
        if (tree->counts[block] != NW_TREE_OUT) {
            tree->tagged.req.block = block;
            int bad = nw_chip_is_bad(&tree->tagged.req);

            if (bad < 0) {
                return bad;
            }
            tree->counts[block] = bad > 0 ? (uint8_t)NW_TREE_OUT : tree->counts[block];
        }
    }
    return NW_OK;
}

int nw_tree_mend(struct nw_tree *tree)
{
    int result = nw_tree_count(tree); /* of blocks that cleaning left alone, too */
    uint8_t tries = result > 0 ? (uint8_t)NW_TREE_TRIES : (uint8_t)0;

    if (result > 0) {
        result = leave_out_bad(tree);
        tries = result < 0 ? (uint8_t)0 : tries;
    }

    tree->victim = NW_TREE_NO_BLOCK;
    while (tries != 0) {
        result = NW_OK;
        for (uint16_t child = 0; child < tree->children && result == NW_OK; child++) {
            result = tree->child[child].at != 0 ? mend_child(tree, child) : (int)NW_OK;
        }
        tries = result == NW_ERR_PROGRAM ? (uint8_t)(tries - 1U) : (uint8_t)0;
        if (result == NW_OK) {
            result = nw_tree_count(tree);
        }
    }
    return result;
}

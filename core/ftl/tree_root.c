/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The root of the map, as the floor wants it: behind the floor's part the number of entries, the
 * places of the inner nodes, the entries.
 */
#include <string.h>

#include "tree.h"

/* The entry of this sector among these, or NULL. */
static const uint8_t *entry_of(const struct nw_tree *tree, const uint8_t *entries, unsigned count,
                               uint32_t sector)
{
    unsigned at = nw_tree_lower(tree, entries, count, sector);
    const uint8_t *entry = entries + (size_t)at * tree->entry;

    return at < count && nw_tree_get(tree, entry) == sector ? entry : NULL;
}

/* The root's entries in the buffer: those there were, but for what was pushed, and the changes.
 * How many; NW_ERR_CORRUPT: more than a root has room for, so it is no root of ours, or forged tags
 * stand behind it. */
static int merge(struct nw_tree *tree)
{
    unsigned most = tree->root_room + NW_TREE_OVER;
    uint8_t *entries = tree->floor.buffer + tree->root_at;
    unsigned bytes = tree->entry;
    unsigned count = 0;

    for (unsigned i = 0; i < tree->children; i++) {
        const struct nw_tree_child *child = &tree->child[i];

        nw_tree_slide(entries + (size_t)count * bytes, entries + (size_t)child->start * bytes,
                      (size_t)child->group * bytes);
        count += child->group;
    }
    for (unsigned i = 0; i < tree->change_count; i++) {
        const uint8_t *from = tree->changes + (size_t)i * bytes;
        uint32_t sector = nw_tree_get(tree, from);

        if (count == most && entry_of(tree, entries, count, sector) == NULL) {
            return NW_ERR_CORRUPT;
        }
        count = nw_tree_insert(tree, entries, count, sector,
                               nw_tree_get(tree, from + tree->width));
    }
    nw_put16(tree->floor.buffer + NW_TREE_ENTRIES_AT, (uint16_t)count);
    return (int)count;
}

static int build(struct nw_floor *floor)
{
    struct nw_tree *tree = nw_tree_of(floor);
    uint8_t *to = floor->buffer;
    int result = NW_OK;

    if (tree->live == 0) {
        memset(to, 0, floor->page_bytes);
    } else if (!tree->buffered) {
        result = nw_tree_load(tree, tree->root);
    }
    tree->buffered = 0;
    if (result == NW_OK) {
        result = merge(tree);
    }
    if (result < 0) {
        return result;
    }
    nw_put32(to + NW_FLOOR_SECTORS_AT, tree->sectors);
    for (unsigned i = 0; i < tree->children; i++) {
        nw_tree_put(tree, to + NW_TREE_HEAD + (size_t)i * tree->width, tree->child[i].at);
    }
    return NW_OK;
}

/* Which of the root's entries, in the buffer, are whose. */
static void regroup(struct nw_tree *tree, unsigned count)
{
    const uint8_t *entries = tree->floor.buffer + tree->root_at;
    struct nw_tree_child *child = tree->child;
    unsigned start = 0;

    for (unsigned i = 1; i <= tree->children; i++) {
        unsigned end = nw_tree_lower(tree, entries, count, i * tree->span);

        end = end > start ? end : start; /* forged entries: no group is negative */
        child->start = (uint16_t)start;
        child->group = (uint16_t)(end - start);
        child++;
        start = end;
    }
    tree->live = (uint16_t)start;
}

/* The root in the buffer, which lies at `page`, is the newest: what RAM knows of it. */
static void rooted(struct nw_floor *floor, uint32_t page)
{
    struct nw_tree *tree = nw_tree_of(floor);

    nw_tree_renew(tree, tree->root, page);
    for (unsigned i = 0; i < tree->children; i++) {
        tree->child[i].at =
            nw_tree_get(tree, floor->buffer + NW_TREE_HEAD + (size_t)i * tree->width);
    }
    regroup(tree, nw_get16(floor->buffer + NW_TREE_ENTRIES_AT));
    tree->root = page;
    tree->folded = 0;
}

/* The changes are in the root now, and a victim that was empty is free. */
static void confirmed(struct nw_floor *floor)
{
    struct nw_tree *tree = nw_tree_of(floor);

    tree->change_count = 0;
    tree->trimmed = 0;
    if (tree->victim != NW_FLOOR_NO_BLOCK) {
        uint8_t count = floor->counts[tree->victim];

        if (count == 0 || count == NW_FLOOR_FREE) {
            tree->victim = NW_FLOOR_NO_BLOCK;
        }
    }
}

static int adopt(struct nw_floor *floor, uint32_t page)
{
    struct nw_tree *tree = nw_tree_of(floor);

    if (nw_get32(floor->buffer + NW_FLOOR_SECTORS_AT) != tree->sectors) {
        return NW_ERR_VERSION;
    }
    if (nw_get16(floor->buffer + NW_TREE_ENTRIES_AT) > tree->root_room + NW_TREE_OVER) {
        return NW_ERR_CORRUPT;
    }
    nw_tree_drop(tree, 0, tree->change_count, 0);
    tree->run_count = 0;
    tree->victim = NW_FLOOR_NO_BLOCK;
    rooted(floor, page);
    tree->buffered = 1;
    return NW_OK;
}

/* Does RAM hold a trim of this sector? */
static int is_trimmed(const struct nw_tree *tree, uint32_t sector)
{
    const uint8_t *entry = entry_of(tree, tree->changes, tree->change_count, sector);

    return entry != NULL && nw_tree_get(tree, entry + tree->width) == 0;
}

static int moved(struct nw_floor *floor, uint32_t sector, uint32_t page)
{
    struct nw_tree *tree = nw_tree_of(floor);

    if (sector >= tree->sectors || is_trimmed(tree, sector)) {
        return 0;
    }
    if (page != NW_FLOOR_NONE) {
        nw_tree_change(tree, sector, page);
    }
    return 1;
}

/* The list is full: what it holds goes into the root in the buffer, which a mount writes next. */
static int fold(struct nw_tree *tree)
{
    int count = tree->buffered ? merge(tree) : (int)NW_ERR_CORRUPT;

    if (count < 0) {
        return NW_ERR_CORRUPT;
    }
    regroup(tree, (unsigned)count);
    nw_tree_drop(tree, 0, tree->change_count, 0);
    tree->folded = 1;
    return NW_OK;
}

/* What an inner node took waits no more; a trim in RAM came behind it. */
static int replay(struct nw_floor *floor, uint32_t page, uint32_t word)
{
    struct nw_tree *tree = nw_tree_of(floor);
    uint32_t number = word & NW_FLOOR_NUMBER;

    if ((word & NW_FLOOR_TWICE) == 0) {
        (void)moved(floor, word, page);
        if (tree->change_count > tree->changes_room) {
            return fold(tree);
        }
    } else if ((word & NW_TREE_INNER) != 0 && number < tree->children) {
        struct nw_tree_child *child = &tree->child[number];

        child->at = page;
        if ((word & NW_TREE_PUSHED) != 0) {
            tree->live = (uint16_t)(tree->live - child->group);
            child->group = 0;
            unsigned first;
            unsigned count = nw_tree_changes_of(tree, (unsigned)number, &first);

            nw_tree_drop(tree, first, count, 0);
        }
    }
    return NW_OK;
}

static void forget(struct nw_floor *floor, uint32_t first, uint32_t end)
{
    nw_tree_uncache(nw_tree_of(floor), first, end);
}

const struct nw_floor_map nw_tree_floor_map = {.adopt = adopt,
                                               .replay = replay,
                                               .build = build,
                                               .rooted = rooted,
                                               .confirmed = confirmed,
                                               .moved = moved,
                                               .count = nw_tree_count,
                                               .forget = forget,
                                               .magic = (uint32_t)NW_MARK_TREE};

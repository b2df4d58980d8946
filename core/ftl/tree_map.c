/* SPDX-License-Identifier: Apache-2.0 */
/* Where a sector lies: look-ups from the top down, changes at the top, pushes downwards. */
#include <string.h>

#include "nandwich/bytes.h"
#include "tree.h"

#define NOTES 4U /* leaves written before their inner node is */

/* A leaf written anew, of which its inner node does not know yet. */
struct note {
    uint32_t old;
    uint32_t at;
    uint16_t leaf;
    uint16_t group; /* so many entries of the inner node on flash it holds */
};

struct push {
    struct nw_tree_child *child;
    uint16_t number; /* of the child */
    uint16_t group;  /* entries that come from the root */
    uint8_t notes;
    struct note note[NOTES];
};

static uint16_t group_of(const struct nw_tree *tree, uint16_t child)
{
    const struct nw_tree_child *at = &tree->child[child];

    return at->pushed ? (uint16_t)0 : (uint16_t)(at[1].start - at->start);
}

/* A sector among entries in the buffer: 1 when it is there. */
static int is_among(const struct nw_tree *tree, const uint8_t *entries, uint16_t count,
                    uint32_t sector, uint32_t *place)
{
    uint16_t index = nw_tree_lower(tree, entries, count, sector);
    const uint8_t *at = entries + (size_t)index * tree->entry;

    if (index == count || nw_tree_get(tree, at) != sector) {
        return 0;
    }
    *place = nw_tree_get(tree, at + tree->width);
    return 1;
}

/* Below the root: inner node, then leaf. */
static int find_below(struct nw_tree *tree, const struct nw_tree_child *child, uint32_t offset,
                      uint32_t sector, uint32_t *place)
{
    uint32_t head = tree->inner_at;
    uint16_t length = (uint16_t)(head + (uint32_t)child->entries * tree->entry);
    uint8_t bytes[4] = {0};

    if (child->entries == NW_TREE_UNKNOWN) {
        return NW_ERR_ECC;
    }
    int result = nw_tree_read(tree, child->at, 0, length, tree->buffer);

    if (result < 0 || is_among(tree, tree->buffer + head, child->entries, sector, place)) {
        return result;
    }
    uint32_t leaf = nw_tree_get(tree, tree->buffer + 2U + offset / tree->leaf_places * tree->width);

    if (leaf != 0) {
        result = nw_tree_read(tree, leaf, offset % tree->leaf_places * tree->width, tree->width,
                              bytes);
        *place = nw_tree_get(tree, bytes);
    }
    return result;
}

int nw_tree_find(struct nw_tree *tree, uint32_t sector, uint32_t *place)
{
    uint16_t number = (uint16_t)(sector / tree->span);
    const struct nw_tree_child *child = &tree->child[number];
    uint16_t group = group_of(tree, number);
    uint16_t bytes = tree->entry;

    *place = 0;
    if (is_among(tree, tree->changes, tree->change_count, sector, place)) {
        return NW_OK;
    }
    if (group != 0) {
        int result = nw_tree_read(
            tree, tree->root, tree->root_at + (uint32_t)child->start * bytes,
            (uint16_t)(group * bytes), tree->buffer);

        if (result < 0 || is_among(tree, tree->buffer, group, sector, place)) {
            return result;
        }
    }
    return child->at == 0 ? (int)NW_OK
                          : find_below(tree, child, sector % tree->span, sector, place);
}

/* The inner node to the buffer; an empty one if there is none. */
static int load_inner(struct nw_tree *tree, const struct nw_tree_child *child)
{
    if (child->at == 0) {
        memset(tree->buffer, 0, tree->page_bytes);
        return NW_OK;
    }
    int result = nw_tree_load(tree, child->at);

    return result == NW_OK && nw_get16(tree->buffer) > tree->inner_room ? (int)NW_ERR_CORRUPT
                                                                        : result;
}

/* The range of a leaf's entries in the inner node in the buffer. */
static uint16_t group_in_inner(const struct nw_tree *tree, const struct push *push, uint16_t leaf,
                               uint16_t *first)
{
    const uint8_t *entries = tree->buffer + tree->inner_at;
    uint16_t count = nw_get16(tree->buffer);
    uint32_t sector = push->number * tree->span + (uint32_t)leaf * tree->leaf_places;

    *first = nw_tree_lower(tree, entries, count, sector);
    return (uint16_t)(nw_tree_lower(tree, entries, count, sector + tree->leaf_places) - *first);
}

/* What was written to leaves goes out of the inner node in the buffer. */
static void settle_notes(struct nw_tree *tree, const struct push *push)
{
    uint16_t bytes = tree->entry;
    uint16_t first;

    for (uint8_t i = 0; i < push->notes; i++) {
        uint16_t leaf = push->note[i].leaf;
        uint16_t group = group_in_inner(tree, push, leaf, &first);
        uint16_t behind = (uint16_t)(nw_get16(tree->buffer) - first - group);
        uint8_t *at = tree->buffer + tree->inner_at + (size_t)first * bytes;

        nw_tree_slide(at, at + (size_t)group * bytes, (size_t)behind * bytes);
        nw_put16(tree->buffer, (uint16_t)(first + behind));
        nw_tree_put(tree, tree->buffer + 2U + (size_t)leaf * tree->width, push->note[i].at);
    }
}

/* The leaf with most entries in the inner node in the buffer. */
static uint16_t fullest_leaf(const struct nw_tree *tree, const struct push *push)
{
    uint16_t most = 0;
    uint16_t best = 0;
    uint16_t first;

    for (uint16_t leaf = 0; leaf < tree->leaves; leaf++) {
        uint16_t group = group_in_inner(tree, push, leaf, &first);

        if (group > most) {
            most = group;
            best = leaf;
        }
    }
    return best;
}

int nw_tree_pour(struct nw_tree *tree, uint32_t page, uint32_t entries_at, uint16_t *at,
                 uint16_t end, uint32_t first)
{
    uint8_t piece[NW_TREE_PIECE];
    uint16_t bytes = tree->entry;
    uint16_t most = (uint16_t)(sizeof piece / bytes);
    uint8_t *entries = tree->buffer + tree->inner_at;
    int result = NW_OK;

    while (*at < end && result == NW_OK) {
        uint16_t now = (uint16_t)(end - *at < most ? end - *at : most);

        result = nw_tree_read(tree, page, entries_at + (uint32_t)*at * bytes,
                              (uint16_t)(now * bytes), piece);
        for (uint16_t i = 0; i < now && result == NW_OK; i++) {
            uint32_t sector = nw_tree_get(tree, piece + (size_t)i * bytes);
            uint32_t place = nw_tree_get(tree, piece + (size_t)i * bytes + tree->width);

            if (first == NW_TREE_NONE) {
                nw_put16(tree->buffer, nw_tree_insert(tree, entries, nw_get16(tree->buffer),
                                                      sector, place));
            } else if (sector - first < tree->leaf_places) {
                nw_tree_put(tree, tree->buffer + (sector - first) * tree->width, place);
            } else {
                return NW_OK;
            }
            (*at)++;
        }
    }
    return result;
}

/* One leaf takes its group of the inner node, which is in the buffer. */
static int write_leaf(struct nw_tree *tree, struct push *push)
{
    uint16_t leaf = fullest_leaf(tree, push);
    uint32_t sector = push->number * tree->span + (uint32_t)leaf * tree->leaf_places;
    struct note *note = &push->note[push->notes];
    uint16_t first;
    uint16_t group = group_in_inner(tree, push, leaf, &first);
    int result = NW_OK;

    for (uint8_t i = 0; i < push->notes; i++) { /* on flash they are still there */
        first = (uint16_t)(first + (push->note[i].leaf < leaf ? push->note[i].group : 0U));
    }
    note->leaf = leaf;
    note->group = group;
    note->old = nw_tree_get(tree, tree->buffer + 2U + (size_t)leaf * tree->width);
    memset(tree->buffer, 0, tree->page_bytes);
    if (note->old != 0) {
        result = nw_tree_load(tree, note->old);
    }
    if (result == NW_OK) {
        result = nw_tree_pour(tree, push->child->at, tree->inner_at, &first,
                              (uint16_t)(first + group), sector);
    }
    if (result == NW_OK) {
        tree->tagged.stats->map_programs++;
        result = nw_tree_append(
            tree, NW_TREE_LEAF | ((uint32_t)push->number * tree->leaves + leaf), tree->buffer,
            &note->at);
    }
    if (result == NW_OK) {
        push->notes++;
    }
    return result;
}

/* The inner node in the buffer to the log, in the place of the one there was. */
static int write_inner(struct nw_tree *tree, struct push *push, uint32_t word)
{
    struct nw_tree_child *child = push->child;
    uint32_t place;

    tree->tagged.stats->map_programs++;
    int result =
        nw_tree_append(tree, word | NW_TREE_INNER | push->number, tree->buffer, &place);

    if (result != NW_OK) {
        return result;
    }
    nw_tree_lose(tree, child->at);
    nw_tree_gain(tree, place);
    child->at = place;
    child->entries = nw_get16(tree->buffer);
    for (uint8_t i = 0; i < push->notes; i++) {
        nw_tree_lose(tree, push->note[i].old);
        nw_tree_gain(tree, push->note[i].at);
    }
    push->notes = 0;
    return NW_OK;
}

/* Makes room in an inner node: leaves take their groups. It stays in the buffer. */
static int relieve(struct nw_tree *tree, struct push *push)
{
    int result = nw_tree_room(tree, 2);

    if (result == NW_OK) {
        result = load_inner(tree, push->child);
    }
    while (result == NW_OK) {
        settle_notes(tree, push);
        if (nw_get16(tree->buffer) + push->group <= tree->inner_room) {
            break;
        }
        if (push->notes == NOTES || tree->left < 2U) {
            result = write_inner(tree, push, 0);
            if (result == NW_OK) {
                result = nw_tree_room(tree, 2);
            }
        } else {
            result = write_leaf(tree, push);
        }
        if (result == NW_OK) {
            result = load_inner(tree, push->child);
        }
    }
    return result;
}

/* A group of the root to its inner node. */
static int push_down(struct nw_tree *tree, uint16_t number)
{
    struct push push = {
        .child = &tree->child[number], .number = number, .group = group_of(tree, number)};
    int result = relieve(tree, &push);

    /* A new block meanwhile: the root may have grown by changes. Once more. */
    if (result == NW_OK && push.group != group_of(tree, number)) {
        push.group = group_of(tree, number);
        result = relieve(tree, &push);
    }
    if (result == NW_OK) {
        uint16_t at = push.child->start;

        result = nw_tree_pour(tree, tree->root, tree->root_at, &at,
                              (uint16_t)(at + push.group), NW_TREE_NONE);
    }
    if (result == NW_OK) {
        result = write_inner(tree, &push, NW_TREE_PUSHED);
    }
    if (result == NW_OK) {
        push.child->pushed = 1;
        tree->live = (uint16_t)(tree->live - push.group);
    }
    return result;
}

int nw_tree_reserve(struct nw_tree *tree)
{
    int result = NW_OK;

    while (result == NW_OK && tree->live + tree->change_count >= tree->root_room) {
        uint16_t best = 0;

        for (uint16_t i = 1; i < tree->children; i++) {
            if (group_of(tree, i) > group_of(tree, best)) {
                best = i;
            }
        }
        result = push_down(tree, best);
    }
    if (result == NW_OK && tree->change_count == tree->changes_room) {
        result = nw_tree_save(tree);
    }
    return result;
}

void nw_tree_change(struct nw_tree *tree, uint32_t sector, uint32_t place)
{
    tree->change_count =
        nw_tree_insert(tree, tree->changes, tree->change_count, sector, place);
}

int nw_tree_put_inner(struct nw_tree *tree, uint16_t number)
{
    struct push push = {.child = &tree->child[number], .number = number};

    return write_inner(tree, &push, 0);
}

int nw_tree_move_inner(struct nw_tree *tree, uint32_t child, uint32_t place)
{
    if (child >= tree->children || tree->child[child].at != place) {
        return NW_OK;
    }
    int result = nw_tree_room(tree, 1);

    if (result == NW_OK) {
        result = load_inner(tree, &tree->child[child]);
    }
    return result == NW_OK ? nw_tree_put_inner(tree, (uint16_t)child) : result;
}

int nw_tree_move_leaf(struct nw_tree *tree, uint32_t leaf, uint32_t place)
{
    uint32_t number = leaf / tree->leaves;
    uint8_t bytes[4] = {0};

    if (number >= tree->children || tree->child[number].at == 0) {
        return NW_OK;
    }
    struct push push = {.child = &tree->child[number], .number = (uint16_t)number};
    struct note *note = push.note;

    note->leaf = (uint16_t)(leaf % tree->leaves);
    int result = nw_tree_read(tree, push.child->at, 2U + (uint32_t)note->leaf * tree->width,
                              tree->width, bytes);

    note->old = nw_tree_get(tree, bytes);
    if (result != NW_OK || note->old != place) {
        return result;
    }
    result = nw_tree_room(tree, 2);
    if (result == NW_OK) {
        result = load_inner(tree, push.child);
    }
    if (result == NW_OK) { /* it takes what waits for it along */
        uint16_t first;
        uint16_t group = group_in_inner(tree, &push, note->leaf, &first);

        result = nw_tree_load(tree, place);
        if (result == NW_OK) {
            result = nw_tree_pour(tree, push.child->at, tree->inner_at, &first,
                                  (uint16_t)(first + group), leaf * tree->leaf_places);
        }
    }
    if (result == NW_OK) {
        tree->tagged.stats->map_programs++;
        result = nw_tree_append(tree, NW_TREE_LEAF | leaf, tree->buffer, &note->at);
    }
    if (result == NW_OK) {
        push.notes = 1;
        result = load_inner(tree, push.child);
    }
    if (result == NW_OK) {
        settle_notes(tree, &push);
        result = write_inner(tree, &push, 0);
    }
    return result;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Where a sector lies: look-ups from the top down, changes at the top, pushes downwards. */
#include <string.h>

#include "nandwich/bytes.h"
#include "tree.h"

#define PUSH 4U  /* pages of a leaf and its inner node, which go to one block */
#define NOTES 4U /* leaves written before their inner node is */

/* A leaf written anew, of which its inner node does not know yet. */
struct note {
    uint32_t old;
    uint32_t at;
    unsigned leaf;
};

struct push {
    struct nw_tree_child *child;
    unsigned number; /* of the child */
    uint8_t notes;
    struct note note[NOTES];
};

static struct push *begin_push(const struct nw_tree *tree, struct push *push, unsigned number)
{
    push->child = &tree->child[number];
    push->number = number;
    push->notes = 0;
    return push;
}

unsigned nw_tree_changes_of(const struct nw_tree *tree, unsigned child, unsigned *first)
{
    uint32_t sector = child * tree->span;

    *first = nw_tree_lower(tree, tree->changes, tree->change_count, sector);
    return nw_tree_lower(tree, tree->changes, tree->change_count, sector + tree->span) - *first;
}

/* What a push of this child takes. */
NW_FLOOR_APART unsigned load_of(const struct nw_tree *tree, unsigned child)
{
    unsigned first;

    return tree->child[child].group + nw_tree_changes_of(tree, child, &first);
}

void nw_tree_drop(struct nw_tree *tree, unsigned from, unsigned count, int with_trims)
{
    unsigned behind = tree->change_count - from - count;
    uint8_t *to = tree->changes + (size_t)from * tree->entry;
    const uint8_t *at = to;

    for (; count > 0; count--) {
        if (!with_trims && nw_tree_get(tree, at + tree->width) == 0) {
            nw_tree_slide(to, at, tree->entry);
            to += tree->entry;
            from++;
        }
        at += tree->entry;
    }
    nw_tree_slide(to, at, (size_t)behind * tree->entry);
    tree->change_count = (uint16_t)(from + behind);
}

uint32_t nw_tree_leaf_place(const struct nw_tree *tree, uint32_t leaf)
{
    return nw_tree_get(tree, tree->leaf_at + (size_t)leaf * tree->width);
}

/* Where an entry of an inner node lies in its page. */
static uint32_t inner_offset(const struct nw_tree *tree, unsigned entry)
{
    return tree->inner_at + (uint32_t)entry * tree->entry;
}

/* Entries of a leaf in its inner node on flash; the first of them in *first. */
static unsigned leaf_group(const struct nw_tree *tree, uint32_t leaf, unsigned *first)
{
    unsigned end = (leaf + 1U) % tree->leaves != 0 ? tree->leaf_start[leaf + 1U]
                                                   : tree->child[leaf / tree->leaves].entries;

    *first = tree->leaf_start[leaf];
    return end - *first;
}

/* The inner node at `place` has the content of the buffer. */
static void learn(struct nw_tree *tree, unsigned number, uint32_t place)
{
    struct nw_tree_child *child = &tree->child[number];
    uint32_t leaf = (uint32_t)number * tree->leaves;
    unsigned start = 0;

    child->at = place;
    child->entries = nw_get16(tree->floor.buffer);
    memcpy(tree->leaf_at + (size_t)leaf * tree->width, tree->floor.buffer + 2U,
           (size_t)tree->leaves * tree->width);
    for (unsigned i = 0; i < tree->leaves; i++) {
        unsigned at = nw_tree_lower(tree, tree->floor.buffer + tree->inner_at,
                                    child->entries, (leaf + i) * tree->leaf_places);

        start = at > start ? at : start; /* whatever is on the chip, no group is negative */
        tree->leaf_start[leaf + i] = (uint16_t)start;
    }
}

/* A node to the buffer, an empty one if there is none. */
static int load_node(struct nw_tree *tree, uint32_t place)
{
    memset(tree->floor.buffer, 0, tree->floor.page_bytes);
    return place != 0 ? nw_tree_load(tree, place) : (int)NW_OK;
}

int nw_tree_load_inner(struct nw_tree *tree, unsigned number)
{
    uint32_t place = tree->child[number].at;
    int result = load_node(tree, place);

    if (result == NW_OK && nw_get16(tree->floor.buffer) > tree->inner_room) {
        result = NW_ERR_CORRUPT;
    }
    if (result == NW_OK) {
        learn(tree, number, place);
    }
    return result;
}

/* A look-up on its way down: what the sectors behind this one hold is noted, too. */
struct look {
    uint32_t sector;
    uint32_t place; /* of the sector, once it is known */
    uint32_t known; /* a bit for each sector of the run that was met */
};

/* Entries of one level, which are in RAM: 1 when the sector is among them. */
static int look_among(struct nw_tree *tree, struct look *look, const uint8_t *entries,
                      unsigned count)
{
    unsigned bytes = tree->entry;

    for (unsigned i = nw_tree_lower(tree, entries, count, look->sector); i < count; i++) {
        const uint8_t *at = entries + (size_t)i * bytes;
        uint32_t ahead = nw_tree_get(tree, at) - look->sector;

        if (ahead == 0) {
            look->place = nw_tree_get(tree, at + tree->width);
            return 1;
        }
        if (ahead >= NW_TREE_RUN) {
            break;
        }
        if ((look->known >> ahead & 1U) == 0) { /* the upper tells the truth */
            look->known |= (uint32_t)1 << ahead;
            memcpy(tree->run + ahead * tree->width, at + tree->width, tree->width);
        }
    }
    return 0;
}

/* Entries on flash, the first of which is at `offset` of `page`: 1, 0, or an error. */
static int look_in_group(struct nw_tree *tree, struct look *look, uint32_t page, uint32_t offset,
                         unsigned count)
{
    unsigned bytes = count * tree->entry;
    int result = count != 0 ? nw_tree_read(tree, page, offset, bytes, tree->floor.buffer)
                            : (int)NW_OK;

    return result < 0 ? result : look_among(tree, look, tree->floor.buffer, count);
}

/* The leaf at `page`, 0: there is none. What no level above knew of the run is there. */
static int look_in_leaf(struct nw_tree *tree, struct look *look, uint32_t page)
{
    unsigned index = (unsigned)(look->sector % tree->leaf_places);
    unsigned left = tree->leaf_places - index;
    unsigned count = left < NW_TREE_RUN ? left : NW_TREE_RUN;
    unsigned bytes = count * tree->width;
    int result = NW_OK;

    memset(tree->floor.buffer, 0, bytes);
    if (page != 0) {
        result = nw_tree_read(tree, page, (uint32_t)index * tree->width, bytes, tree->floor.buffer);
    }
    if (result != NW_OK) {
        return result;
    }
    for (unsigned i = 0; i < count; i++) {
        unsigned at = i * tree->width;

        if ((look->known >> i & 1U) == 0) {
            memcpy(tree->run + at, tree->floor.buffer + at, tree->width);
        }
    }
    tree->run_first = look->sector;
    tree->run_count = (uint8_t)count;
    return NW_OK;
}

/* Below the root: the leaf's group in its inner node, then the leaf. */
static int look_below(struct nw_tree *tree, struct look *look, const struct nw_tree_child *child)
{
    uint32_t leaf = look->sector / tree->leaf_places;
    unsigned first;
    unsigned group = leaf_group(tree, leaf, &first);
    int result = child->entries == NW_TREE_UNKNOWN
                     ? (int)NW_ERR_ECC
                     : look_in_group(tree, look, child->at, inner_offset(tree, first), group);

    return result == 0 ? look_in_leaf(tree, look, nw_tree_leaf_place(tree, leaf)) : result;
}

/* From the top down: 1 when a list has the sector; 0: the run begins with it; or an error. */
static int look_down(struct nw_tree *tree, struct look *look)
{
    const struct nw_tree_child *child = &tree->child[look->sector / tree->span];
    uint32_t group_at = tree->root_at + (uint32_t)child->start * tree->entry;

    tree->run_count = 0;
    int result = look_among(tree, look, tree->changes, tree->change_count);

    if (result == 0) {
        result = look_in_group(tree, look, tree->root, group_at, child->group);
    }
    return result == 0 ? look_below(tree, look, child) : result;
}

int nw_tree_find(struct nw_tree *tree, uint32_t sector, uint32_t *place)
{
    struct look look = {.sector = sector};
    uint32_t ahead = sector - tree->run_first;

    if (ahead >= tree->run_count) {
        int result = look_down(tree, &look);

        if (result != 0) {
            *place = look.place;
            return result < 0 ? result : (int)NW_OK;
        }
        ahead = 0;
    }
    *place = nw_tree_get(tree, tree->run + ahead * tree->width);
    return NW_OK;
}

/* The range of a leaf's entries in the inner node in the buffer. */
static unsigned group_in_inner(const struct nw_tree *tree, const struct push *push, unsigned leaf,
                               unsigned *first)
{
    const uint8_t *entries = tree->floor.buffer + tree->inner_at;
    unsigned count = nw_get16(tree->floor.buffer);
    uint32_t sector = push->number * tree->span + (uint32_t)leaf * tree->leaf_places;

    *first = nw_tree_lower(tree, entries, count, sector);
    return nw_tree_lower(tree, entries, count, sector + tree->leaf_places) - *first;
}

/* What was written to leaves goes out of the inner node in the buffer. */
static void settle_notes(struct nw_tree *tree, const struct push *push)
{
    unsigned bytes = tree->entry;
    unsigned first;

    for (unsigned i = 0; i < push->notes; i++) {
        unsigned leaf = push->note[i].leaf;
        unsigned group = group_in_inner(tree, push, leaf, &first);
        unsigned behind = nw_get16(tree->floor.buffer) - first - group;
        uint8_t *at = tree->floor.buffer + tree->inner_at + (size_t)first * bytes;

        nw_tree_slide(at, at + (size_t)group * bytes, (size_t)behind * bytes);
        nw_put16(tree->floor.buffer, (uint16_t)(first + behind));
        nw_tree_put(tree, tree->floor.buffer + 2U + (size_t)leaf * tree->width, push->note[i].at);
    }
}

/* The leaf with most entries in the inner node in the buffer. */
static unsigned fullest_leaf(const struct nw_tree *tree, const struct push *push)
{
    const uint8_t *entries = tree->floor.buffer + tree->inner_at;
    uint32_t sector = push->number * tree->span;
    unsigned start = 0;
    unsigned most = 0;
    unsigned best = 0;

    for (unsigned leaf = 0; leaf < tree->leaves; leaf++) {
        sector += tree->leaf_places;
        unsigned end = nw_tree_lower(tree, entries, nw_get16(tree->floor.buffer), sector);

        if (end > start + most) {
            most = end - start;
            best = leaf;
        }
        start = end;
    }
    return best;
}

unsigned nw_tree_apply(struct nw_tree *tree, const uint8_t *from, unsigned count, uint32_t first)
{
    uint8_t *to = tree->floor.buffer;
    unsigned done = 0;

    for (; done < count; done++) {
        uint32_t sector = nw_tree_get(tree, from);
        uint32_t place = nw_tree_get(tree, from + tree->width);

        if (first == NW_FLOOR_NONE) {
            nw_put16(to, nw_tree_insert(tree, to + tree->inner_at, nw_get16(to), sector, place));
        } else if (sector - first < tree->leaf_places) {
            nw_tree_put(tree, to + (sector - first) * tree->width, place);
        } else {
            break;
        }
        from += tree->entry;
    }
    return done;
}

int nw_tree_pour(struct nw_tree *tree, uint32_t page, uint32_t entries_at, unsigned *at,
                 unsigned end, uint32_t first)
{
    uint8_t piece[NW_TREE_PIECE];
    unsigned bytes = tree->entry;
    unsigned most = sizeof piece / bytes;
    unsigned done = most;
    int result = NW_OK;

    while (*at < end && done == most && result == NW_OK) {
        unsigned now = end - *at < most ? end - *at : most;

        result = nw_tree_read(tree, page, entries_at + (uint32_t)*at * bytes,
                              (now * bytes), piece);
        if (result == NW_OK) {
            done = nw_tree_apply(tree, piece, now, first);
            *at = *at + done;
        }
    }
    return result;
}

int nw_tree_load_leaf(struct nw_tree *tree, uint32_t leaf)
{
    unsigned first;
    unsigned group = leaf_group(tree, leaf, &first);
    int result = load_node(tree, nw_tree_leaf_place(tree, leaf));

    return result == NW_OK ? nw_tree_pour(tree, tree->child[leaf / tree->leaves].at,
                                          tree->inner_at, &first, first + group,
                                          leaf * tree->leaf_places)
                           : result;
}

/* The inner node to the buffer, and in it the leaves written anew. */
static int load_inner(struct nw_tree *tree, const struct push *push)
{
    int result = nw_tree_load_inner(tree, push->number);

    if (result == NW_OK) {
        settle_notes(tree, push);
    }
    return result;
}

/* One leaf takes its group of the inner node. */
static int write_leaf(struct nw_tree *tree, struct push *push, unsigned leaf)
{
    uint32_t number = (uint32_t)push->number * tree->leaves + leaf;
    struct note *note = &push->note[push->notes];
    int result = nw_tree_load_leaf(tree, number);

    note->leaf = leaf;
    note->old = nw_tree_leaf_place(tree, number);
    if (result == NW_OK) {
        result = nw_floor_append_twice(&tree->floor, NW_TREE_LEAF | number);
    }
    if (result == NW_OK) {
        note->at = tree->floor.next - 2U;
        nw_tree_renew(tree, note->old, note->at);
        push->notes++;
    }
    return result;
}

/* A node was written anew. */
static void replace(struct nw_tree *tree, uint32_t old, uint32_t place)
{
    nw_tree_reach_node(tree, old, 0);
    nw_tree_reach_node(tree, place, 1);
}

/* The inner node in the buffer to the log, in the place of the one there was. */
static int write_inner(struct nw_tree *tree, struct push *push, uint32_t word)
{
    struct nw_tree_child *child = push->child;
    int result = nw_floor_append_twice(&tree->floor, word | NW_TREE_INNER | push->number);
    uint32_t place = tree->floor.next - 2U;

    if (result != NW_OK) {
        return result;
    }
    nw_tree_renew(tree, child->at, place);
    replace(tree, child->at, place);
    learn(tree, push->number, place);
    for (unsigned i = 0; i < push->notes; i++) {
        replace(tree, push->note[i].old, push->note[i].at);
    }
    push->notes = 0;
    return NW_OK;
}

/* Makes room in an inner node for what a push brings: leaves take their groups. It stays in the
 * buffer. */
static int relieve(struct nw_tree *tree, struct push *push)
{
    int result = nw_floor_room(&tree->floor, PUSH);

    if (result == NW_OK) {
        result = load_inner(tree, push);
    }
    while (result == NW_OK &&
           nw_get16(tree->floor.buffer) + load_of(tree, push->number) > tree->inner_room) {
        if (push->notes == NOTES || tree->floor.left < PUSH) {
            result = write_inner(tree, push, 0);
            if (result == NW_OK) {
                result = nw_floor_room(&tree->floor, PUSH);
            }
        } else {
            result = write_leaf(tree, push, fullest_leaf(tree, push));
        }
        if (result == NW_OK) {
            result = load_inner(tree, push);
        }
    }
    return result;
}

/* The entries of the root and the changes below a child go to its inner node. */
static int push_down(struct nw_tree *tree, unsigned number)
{
    struct push push;
    int result = relieve(tree, begin_push(tree, &push, number));
    unsigned group = push.child->group;
    unsigned at = push.child->start;
    unsigned first;
    unsigned changes = nw_tree_changes_of(tree, number, &first);

    if (result == NW_OK) {
        result = nw_tree_pour(tree, tree->root, tree->root_at, &at, at + group,
                              NW_FLOOR_NONE);
    }
    if (result == NW_OK) {
        (void)nw_tree_apply(tree, tree->changes + (size_t)first * tree->entry, changes,
                            NW_FLOOR_NONE);
        result = write_inner(tree, &push, NW_TREE_PUSHED);
    }
    if (result == NW_OK) {
        push.child->group = 0;
        tree->live = (uint16_t)(tree->live - group);
        changes = nw_tree_changes_of(tree, number, &first); /* none where a root took them */
        nw_tree_drop(tree, first, changes, 1);
    }
    return result;
}

int nw_tree_push(struct nw_tree *tree)
{
    unsigned most = 0;
    unsigned best = 0;

    for (unsigned i = 0; i < tree->children; i++) {
        unsigned load = load_of(tree, i);

        if (load > most) {
            most = load;
            best = i;
        }
    }
    return push_down(tree, best);
}

int nw_tree_reserve(struct nw_tree *tree, unsigned pages)
{
    int result = NW_OK;

    while (result == NW_OK && nw_tree_is_full(tree, 0)) {
        result = nw_tree_push(tree);
    }
    if (result == NW_OK && tree->change_count >= tree->changes_room) {
        result = nw_floor_save(&tree->floor);
    }
    return result == NW_OK ? nw_floor_room(&tree->floor, pages) : result;
}

void nw_tree_settle(struct nw_tree *tree, uint32_t sector, uint32_t old, uint32_t place)
{
    nw_tree_change(tree, sector, place);
    nw_floor_reach(&tree->floor, old, 0);
    nw_floor_reach(&tree->floor, place, 1);
}

void nw_tree_change(struct nw_tree *tree, uint32_t sector, uint32_t place)
{
    if (sector - tree->run_first < tree->run_count) {
        nw_tree_put(tree, tree->run + (sector - tree->run_first) * tree->width, place);
    }
    NW_INVARIANT(tree->change_count <= tree->changes_room + 1U);
    tree->change_count =
        nw_tree_insert(tree, tree->changes, tree->change_count, sector, place);
}

int nw_tree_move(struct nw_tree *tree, uint32_t word, uint32_t place)
{
    uint32_t number = word & NW_FLOOR_NUMBER;
    int is_inner = (word & NW_TREE_INNER) != 0;
    uint32_t child = is_inner ? number : number / tree->leaves;

    if (child >= tree->children ||
        (is_inner ? tree->child[child].at : nw_tree_leaf_place(tree, number)) != place) {
        return NW_OK;
    }
    struct push push;
    int result = nw_floor_room(&tree->floor, is_inner ? 2U : PUSH);

    (void)begin_push(tree, &push, (unsigned)child);
    if (result == NW_OK && !is_inner) { /* it takes what waits for it along */
        result = write_leaf(tree, &push, (unsigned)(number % tree->leaves));
    }
    if (result == NW_OK) {
        result = load_inner(tree, &push);
    }
    return result == NW_OK ? write_inner(tree, &push, 0) : result;
}

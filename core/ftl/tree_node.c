/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes of the tree: their bytes, and reading them. */
#include <string.h>

#include "tree.h"

struct nw_tree *nw_tree_of(struct nw_floor *floor)
{
    return (struct nw_tree *)(void *)((uint8_t *)floor - offsetof(struct nw_tree, floor));
}

/* A device has short lists, and its library no such function for certain. */
void nw_tree_slide(uint8_t *to, const uint8_t *from, size_t bytes)
{
#ifdef NW_MOVE_WIDE
    __builtin_memmove(to, from, bytes);
#else
    if (to < from) {
        for (size_t i = 0; i < bytes; i++) {
            to[i] = from[i];
        }
    } else {
        for (size_t i = bytes; i > 0; i--) {
            to[i - 1U] = from[i - 1U];
        }
    }
#endif
}

uint32_t nw_tree_get(const struct nw_tree *tree, const uint8_t *from)
{
    uint32_t value = 0;

    for (unsigned i = tree->width; i > 0; i--) {
        value = (value << 8) | from[i - 1U];
    }
    return value;
}

void nw_tree_put(const struct nw_tree *tree, uint8_t *to, uint32_t value)
{
    for (unsigned i = 0; i < tree->width; i++) {
        to[i] = (uint8_t)(value & 0xFFU);
        value >>= 8;
    }
}

unsigned nw_tree_lower(const struct nw_tree *tree, const uint8_t *entries, unsigned count,
                       uint32_t sector)
{
    size_t bytes = tree->entry; /* four or more */
    uint32_t mask = (uint32_t)0xFFFFFFFFUL >> (32U - 4U * bytes);
    unsigned low = 0;

    while (count > 0) { /* without a branch, which would be guessed wrong each second time */
        unsigned half = (count + 1U) / 2U;
        unsigned is_below = (nw_get32(entries + (low + half - 1U) * bytes) & mask) < sector;

        low += half & (0U - is_below);
        count -= half;
    }
    return low;
}

uint16_t nw_tree_insert(const struct nw_tree *tree, uint8_t *entries, unsigned count,
                        uint32_t sector, uint32_t place)
{
    unsigned bytes = tree->entry;
    unsigned index = nw_tree_lower(tree, entries, count, sector);
    uint8_t *at = entries + (size_t)index * bytes;

    if (index == count || nw_tree_get(tree, at) != sector) {
        nw_tree_slide(at + bytes, at, (size_t)(count - index) * bytes);
        nw_tree_put(tree, at, sector);
        count++;
    }
    nw_tree_put(tree, at + tree->width, place);
    return (uint16_t)count;
}

/* The frame that holds a page, or `frames`. */
static unsigned frame_of(const struct nw_tree *tree, uint32_t page)
{
    unsigned frame = 0;

    while (frame < tree->frames && tree->cached[frame] != page) {
        frame++;
    }
    return frame;
}

static uint8_t *copy_in(const struct nw_tree *tree, unsigned frame)
{
    return tree->cache + (size_t)frame * tree->floor.page_bytes;
}

/* Part of a node as it is on flash: twice if need be, then from its twin. */
static int read_part(struct nw_tree *tree, uint32_t page, uint32_t offset, unsigned length,
                     uint8_t *to)
{
    struct nw_stats *stats = tree->floor.tagged.stats;
    struct nw_chip_req req = {.chip = tree->floor.tagged.req.chip,
                              .offset = (uint16_t)offset,
                              .length = (uint16_t)length,
                              .data = to};
    int result = NW_ERR_ECC;

    for (unsigned i = 0; i < 4U && result == NW_ERR_ECC; i++) {
        req.page = page + i / 2U;
        result = nw_chip_read(&req);
        stats->reads++;
        stats->map_reads++;
        stats->bytes_read += length;
    }
    if (result > 0) {
        stats->corrected += (uint16_t)result;
        nw_floor_note(&tree->floor, req.page, result);
    }
    return result < 0 ? result : (int)NW_OK;
}

/* A whole node, checked by its tag. */
static int read_whole(struct nw_tree *tree, uint32_t page, uint8_t *to)
{
    struct nw_floor *floor = &tree->floor;

    for (unsigned i = 0; i < 2U; i++) {
        int state = nw_floor_read(floor, page + i, to);

        floor->tagged.stats->map_reads++;
        if (state < 0 || state == NW_FLOOR_WHOLE) {
            return state < 0 ? state : (int)NW_OK;
        }
    }
    return NW_ERR_ECC;
}

/* A few bytes of a node are read for themselves, mostly: a whole page would take longer, and put
 * out a node that may be needed more. One read in so many takes its node in, so that what is wanted
 * often gets there. */
static int is_passed(struct nw_tree *tree, unsigned length)
{
    tree->passed++;
    return length <= tree->floor.page_bytes / 4U && tree->passed % NW_TREE_PASSED != 0;
}

int nw_tree_read(struct nw_tree *tree, uint32_t page, uint32_t offset, unsigned length,
                 uint8_t *to)
{
    int is_whole = length == tree->floor.page_bytes;
    unsigned frame = frame_of(tree, page);

    if (frame == tree->frames) {
        if (!is_whole && (frame == 0 || is_passed(tree, length))) {
            return read_part(tree, page, offset, length, to);
        }
        if (frame == 0) {
            return read_whole(tree, page, to);
        }
        frame = tree->hand;
        tree->hand = (uint16_t)((frame + 1U) % tree->frames);
        tree->cached[frame] = NW_FLOOR_NONE;
        int result = read_whole(tree, page, copy_in(tree, frame));

        if (result != NW_OK) {
            return result;
        }
        tree->cached[frame] = page;
    }
    memcpy(to, copy_in(tree, frame) + offset, length);
    return NW_OK;
}

int nw_tree_load(struct nw_tree *tree, uint32_t page)
{
    return nw_tree_read(tree, page, 0, tree->floor.page_bytes, tree->floor.buffer);
}

void nw_tree_renew(struct nw_tree *tree, uint32_t old, uint32_t page)
{
    unsigned frame = frame_of(tree, old);

    if (frame < tree->frames) {
        tree->cached[frame] = page;
        memcpy(copy_in(tree, frame), tree->floor.buffer, tree->floor.page_bytes);
    }
}

void nw_tree_uncache(struct nw_tree *tree, uint32_t first, uint32_t end)
{
    for (unsigned i = 0; i < tree->frames; i++) {
        if (tree->cached[i] >= first && tree->cached[i] < end) {
            tree->cached[i] = NW_FLOOR_NONE;
        }
    }
}

void nw_tree_reach_node(struct nw_tree *tree, uint32_t place, int is)
{
    if (place != 0) {
        nw_floor_reach(&tree->floor, place, is);
        nw_floor_reach(&tree->floor, place + 1U, is);
    }
}

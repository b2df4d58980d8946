/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes of the tree: their bytes, and reading them. */
#include <string.h>

#include "tree.h"

void nw_tree_slide(uint8_t *to, const uint8_t *from, size_t bytes)
{
    if (to < from) {
        for (size_t i = 0; i < bytes; i++) {
            to[i] = from[i];
        }
    } else {
        for (size_t i = bytes; i > 0; i--) {
            to[i - 1U] = from[i - 1U];
        }
    }
}

uint32_t nw_tree_get(const struct nw_tree *tree, const uint8_t *from)
{
    uint32_t value = 0;

    for (uint8_t i = tree->width; i > 0; i--) {
        value = (value << 8) | from[i - 1U];
    }
    return value;
}

void nw_tree_put(const struct nw_tree *tree, uint8_t *to, uint32_t value)
{
    for (uint8_t i = 0; i < tree->width; i++) {
        to[i] = (uint8_t)(value & 0xFFU);
        value >>= 8;
    }
}

uint16_t nw_tree_lower(const struct nw_tree *tree, const uint8_t *entries, uint16_t count,
                       uint32_t sector)
{
    uint16_t bytes = tree->entry;
    uint16_t low = 0;

    while (low < count) {
        uint16_t middle = (uint16_t)(low + (count - low) / 2U);

        if (nw_tree_get(tree, entries + (size_t)middle * bytes) < sector) {
            low = (uint16_t)(middle + 1U);
        } else {
            count = middle;
        }
    }
    return low;
}

uint16_t nw_tree_insert(const struct nw_tree *tree, uint8_t *entries, uint16_t count,
                        uint32_t sector, uint32_t place)
{
    uint16_t bytes = tree->entry;
    uint16_t index = nw_tree_lower(tree, entries, count, sector);
    uint8_t *at = entries + (size_t)index * bytes;

    if (index == count || nw_tree_get(tree, at) != sector) {
        nw_tree_slide(at + bytes, at, (size_t)(count - index) * bytes);
        nw_tree_put(tree, at, sector);
        count++;
    }
    nw_tree_put(tree, at + tree->width, place);
    return count;
}

/* The cached copy of a page, or NULL. */
static uint8_t *cached(const struct nw_tree *tree, uint32_t page)
{
    for (uint16_t i = 0; i < tree->frames; i++) {
        if (tree->cached[i] == page) {
            return tree->cache + (size_t)i * tree->page_bytes;
        }
    }
    return NULL;
}

/* Part of a page as it is on flash, twice if need be. */
static int read_part(struct nw_tree *tree, uint32_t page, uint32_t offset, uint16_t length,
                     uint8_t *to)
{
    struct nw_chip_req req = {.chip = tree->tagged.req.chip,
                              .page = page,
                              .offset = (uint16_t)offset,
                              .length = length,
                              .data = to};
    int result = NW_ERR_ECC;

    for (uint8_t i = 0; i < 2U && result == NW_ERR_ECC; i++) {
        result = nw_chip_read(&req);
        tree->tagged.stats->reads++;
        tree->tagged.stats->map_reads++;
        tree->tagged.stats->bytes_read += length;
    }
    if (result > 0) {
        tree->tagged.stats->corrected += (uint16_t)result;
    }
    return result < 0 ? result : (int)NW_OK;
}

/* A whole page, checked by its tag. */
static int read_whole(struct nw_tree *tree, uint32_t page, uint8_t *to)
{
    int state = nw_tagged_read(&tree->tagged, page, tree->page_bytes, to);

    tree->tagged.stats->map_reads++;
    if (state < 0 || state == NW_TAG_LOST) {
        return state < 0 ? state : (int)NW_ERR_ECC;
    }
    return state == NW_TAG_GOOD && tree->tagged.tag.crc == nw_tag_sum(to, tree->page_bytes)
               ? (int)NW_OK
               : (int)NW_ERR_CORRUPT;
}

/* The page's copy in the cache, read if it is not there; NULL with an error in *result. */
static uint8_t *through_cache(struct nw_tree *tree, uint32_t page, int *result)
{
    uint8_t *copy = cached(tree, page);

    *result = NW_OK;
    if (copy == NULL) {
        uint16_t frame = tree->hand;

        tree->hand = (uint16_t)((frame + 1U) % tree->frames);
        tree->cached[frame] = NW_TREE_NONE;
        copy = tree->cache + (size_t)frame * tree->page_bytes;
        *result = read_whole(tree, page, copy);
        if (*result != NW_OK) {
            return NULL;
        }
        tree->cached[frame] = page;
    }
    return copy;
}

/* A few bytes of a node are read for themselves, mostly: a whole page would take longer, and put
 * out a node that may be needed more. One read in so many takes its node in, so that what is wanted
 * often gets there. */
static int is_passed(struct nw_tree *tree, uint16_t length)
{
    tree->passed++;
    return length <= tree->page_bytes / 4U && tree->passed % NW_TREE_PASSED != 0;
}

int nw_tree_read(struct nw_tree *tree, uint32_t page, uint32_t offset, uint16_t length,
                 uint8_t *to)
{
    int result;

    if (tree->frames == 0 || (cached(tree, page) == NULL && is_passed(tree, length))) {
        return read_part(tree, page, offset, length, to);
    }
    const uint8_t *copy = through_cache(tree, page, &result);

    if (copy != NULL) {
        memcpy(to, copy + offset, length);
    }
    return result;
}

int nw_tree_load(struct nw_tree *tree, uint32_t page)
{
    int result;

    if (tree->frames == 0) {
        return read_whole(tree, page, tree->buffer);
    }
    const uint8_t *copy = through_cache(tree, page, &result);

    if (copy != NULL) {
        memcpy(tree->buffer, copy, tree->page_bytes);
    }
    return result;
}

void nw_tree_renew(struct nw_tree *tree, uint32_t old, uint32_t page)
{
    for (uint16_t i = 0; i < tree->frames; i++) {
        if (tree->cached[i] == old) {
            tree->cached[i] = page;
            memcpy(tree->cache + (size_t)i * tree->page_bytes, tree->buffer, tree->page_bytes);
            return;
        }
    }
}

void nw_tree_uncache(struct nw_tree *tree, uint32_t first, uint32_t end)
{
    for (uint16_t i = 0; i < tree->frames; i++) {
        if (tree->cached[i] >= first && tree->cached[i] < end) {
            tree->cached[i] = NW_TREE_NONE;
        }
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file's extents. A node of the tree, in the inode or a block of its own, has a head of 12 bytes
 * (magic, entries, room, depth) and entries of 12: in a leaf an extent, above it a node. A child
 * counts only if it is one level lower than what points to it, so a loop comes to an end.
 */
#include <string.h>

#include "inside.h"
#include "nandwich/crc.h"

#define NODE_MAGIC 0xF30AU
#define NODE_HEAD 12U
#define NODE_ENTRY 12U
#define DEEPEST 5U
#define UNWRITTEN 32768U /* lengths above: extents that read as zeros */

void nw_content_file_clear(struct nw_content_file *file)
{
    file->count = 0;
    file->nodes = 0;
    memset(file->root, 0, sizeof file->root);
}

/* How many extents begin at this block or before. */
static uint32_t until(const struct nw_content_file *file, uint32_t block)
{
    uint32_t low = 0;
    uint32_t high = file->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2U;

        if (file->extent[middle].first <= block) {
            low = middle + 1U;
        } else {
            high = middle;
        }
    }
    return low;
}

const struct nw_content_extent *nw_content_file_find(const struct nw_content_file *file,
                                                     uint32_t block)
{
    uint32_t behind = until(file, block);

    if (behind == 0 || block - file->extent[behind - 1U].first >= file->extent[behind - 1U].count) {
        return NULL;
    }
    return &file->extent[behind - 1U];
}

const struct nw_content_extent *nw_content_file_from(const struct nw_content_file *file,
                                                     uint32_t from)
{
    const struct nw_content_extent *next = NULL;

    for (uint32_t i = 0; i < file->count; i++) {
        const struct nw_content_extent *extent = &file->extent[i];

        if (from >= extent->from && from - extent->from < extent->count) {
            return extent;
        }
        if (extent->from > from && (next == NULL || extent->from < next->from)) {
            next = extent;
        }
    }
    return next;
}

void nw_content_widen(struct nw_content_range *range, uint32_t from, uint32_t count)
{
    uint32_t end = count > UINT32_MAX - from ? UINT32_MAX : from + count;
    int none = range->first == range->end;

    range->first = none || from < range->first ? from : range->first;
    range->end = none || end > range->end ? end : range->end;
}

static void add(struct nw_content_file *file, const struct nw_content_extent *extent,
                uint32_t *refused)
{
    uint32_t at = until(file, extent->first);

    if (file->count == file->room) {
        ++*refused;
        return;
    }
    for (uint32_t i = file->count; i > at; i--) {
        file->extent[i] = file->extent[i - 1U];
    }
    file->extent[at] = *extent;
    file->count++;
}

/* What a node told before is forgotten. */
static void forget(struct nw_content_file *file, uint32_t node)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < file->count; i++) {
        if (file->extent[i].node != node) {
            file->extent[kept++] = file->extent[i];
        }
    }
    file->count = kept;
}

static void add_node(struct nw_content_file *file, uint32_t block, uint8_t depth,
                     uint32_t *refused)
{
    for (uint8_t i = 0; i < file->nodes; i++) {
        if (file->node[i] == block) {
            return;
        }
    }
    if (file->nodes == NW_CONTENT_NODES) {
        ++*refused;
        return;
    }
    file->node[file->nodes] = block;
    file->depth[file->nodes] = depth;
    file->unread[file->nodes] = 1;
    file->sum[file->nodes] = 0;
    file->nodes++;
}

/* Entries of a node that fit, or 0: it is none. */
static uint32_t entries_of(const uint8_t *node, uint32_t bytes)
{
    if (bytes < NODE_HEAD || nw_get16(node) != NODE_MAGIC || nw_get16(node + 6) > DEEPEST ||
        nw_get16(node + 2) > (bytes - NODE_HEAD) / NODE_ENTRY) {
        return 0;
    }
    return nw_get16(node + 2);
}

/* A leaf's entry: 1: it is below 2^32 blocks. */
static int read_extent(struct nw_content_extent *extent, const uint8_t *entry, uint32_t node)
{
    uint32_t length = nw_get16(entry + 4);

    extent->first = nw_get32(entry + 8);
    extent->from = nw_get32(entry);
    extent->count = length > UNWRITTEN ? length - UNWRITTEN : length;
    extent->node = node;
    return nw_get16(entry + 6) == 0;
}

/* Before a node replaces what it told: what is news in it. */
static void note_news(struct nw_content_file *file, const uint8_t *node, uint32_t bytes)
{
    uint32_t entries = nw_get16(node + 6) == 0 ? entries_of(node, bytes) : 0;
    struct nw_content_extent extent;

    for (uint32_t i = 0; i < entries; i++) {
        const struct nw_content_extent *known;
        uint32_t old = 0;

        if (!read_extent(&extent, node + NODE_HEAD + i * NODE_ENTRY, 0)) {
            continue;
        }
        known = nw_content_file_find(file, extent.first);
        if (known != NULL && extent.first - known->first == extent.from - known->from) {
            old = known->count - (extent.first - known->first);
        }
        if (old < extent.count) {
            nw_content_widen(&file->news, extent.from + old, extent.count - old);
            nw_content_widen(&file->again, extent.from + old, extent.count - old);
        }
    }
}

static void take(struct nw_content_file *file, uint32_t number, const uint8_t *node,
                 uint32_t bytes, uint32_t *refused)
{
    uint32_t entries = entries_of(node, bytes);
    uint8_t depth = (uint8_t)nw_get16(node + 6);
    struct nw_content_extent extent;

    for (uint32_t i = 0; i < entries; i++) {
        const uint8_t *entry = node + NODE_HEAD + i * NODE_ENTRY;

        if (depth > 0) {
            if (nw_get16(entry + 8) == 0) { /* else beyond 2^32 blocks */
                add_node(file, nw_get32(entry + 4), (uint8_t)(depth - 1U), refused);
            }
        } else if (read_extent(&extent, entry, number)) {
            add(file, &extent, refused);
        }
    }
}

int nw_content_file_root(struct nw_content_file *file, const uint8_t *root, uint32_t *refused)
{
    if (memcmp(file->root, root, ROOT_BYTES) == 0) {
        return 0;
    }
    note_news(file, root, ROOT_BYTES);
    nw_content_file_clear(file);
    memcpy(file->root, root, ROOT_BYTES);
    take(file, 0, root, ROOT_BYTES, refused);
    return 1;
}

/* Of a node's head and entries; never 0. */
static uint32_t sum_of(const uint8_t *node, uint32_t bytes)
{
    return nw_crc32(0, node, (size_t)(NODE_HEAD + entries_of(node, bytes) * NODE_ENTRY)) | 1U;
}

/* A node tells something else than before. */
static void replace(struct nw_content_file *file, uint8_t number, const uint8_t *node,
                    uint32_t bytes, uint32_t *refused)
{
    int tells = entries_of(node, bytes) > 0 && nw_get16(node + 6) == file->depth[number];

    if (tells) {
        note_news(file, node, bytes);
    }
    forget(file, number + 1UL);
    if (tells) {
        take(file, number + 1UL, node, bytes, refused);
    }
}

/* A node that is shown again as it was has no news: so questions come to an end, also where an
 * image's file lies over the tree that tells of it. */
int nw_content_file_node(struct nw_content_file *file, uint32_t block, const uint8_t *data,
                         uint32_t bytes, uint32_t *refused)
{
    for (uint8_t i = 0; i < file->nodes; i++) {
        if (file->node[i] == block) {
            file->unread[i] = 0;
            if (file->sum[i] != sum_of(data, bytes)) {
                file->sum[i] = sum_of(data, bytes);
                replace(file, i, data, bytes, refused);
            }
            return 1;
        }
    }
    return 0;
}

void nw_content_file_ask(struct nw_content_file *file, uint32_t block)
{
    for (uint8_t i = 0; i < file->nodes; i++) {
        if (file->node[i] == block) {
            file->unread[i] = 1;
        }
    }
}

int nw_content_node_first(const uint8_t *node, uint32_t bytes, uint32_t *from, uint32_t *block,
                          uint8_t *depth)
{
    if (entries_of(node, bytes) == 0) {
        return 0;
    }
    *depth = (uint8_t)nw_get16(node + 6);
    *from = nw_get32(node + NODE_HEAD);
    *block = nw_get32(node + NODE_HEAD + (*depth > 0 ? 4U : 8U));
    return nw_get16(node + NODE_HEAD + (*depth > 0 ? 8U : 6U)) == 0;
}

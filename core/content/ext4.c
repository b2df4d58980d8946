/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shape of an ext2, 3 or 4. Superblock copies and descriptors lie at the head of groups, where
 * arithmetic finds them. Bitmaps and inode tables lie where the descriptors say, with flex_bg in
 * another group: their places are kept, and sorted to be found.
 */
#include <string.h>

#include "inside.h"

#define MAGIC 0xEF53U
#define SHIFT_LEAST 10U
#define SHIFT_MOST 16U
#define HAS_JOURNAL 0x04U /* compatible features */
#define RESIZE_INODE 0x10U
#define SPARSE_SUPER2 0x200U
#define JOURNAL_DEVICE 0x08U /* incompatible ones */
#define META_BG 0x10U
#define WIDE 0x80U         /* 64BIT */
#define SPARSE_SUPER 0x01U /* read-only compatible */
#define DESC_BYTES 32U

static const uint8_t place_at[PLACES] = {0, 4, 8}; /* in a descriptor; high halves 32 behind */

void nw_content_volume_clear(struct nw_content *content, struct nw_content_volume *volume)
{
    content->cleared = 1;
    volume->cleared = 1;
    volume->again = 1;
    volume->ext = 0;
    volume->groups = 0;
    volume->next = 0;
    volume->scan = 0;
    volume->probe = 0;
    volume->sorted = 0;
    volume->descriptors = 0;
    nw_content_file_clear(&volume->journal);
}

static int is_power_of(uint32_t number, uint32_t base)
{
    while (number % base == 0) {
        number /= base;
    }
    return number == 1U;
}

/* Does this group begin with a copy of the superblock? */
static int has_super(const struct nw_content_volume *volume, uint32_t group)
{
    if (group == 0 || volume->sparse == 0) {
        return 1;
    }
    if (volume->sparse == 2U) {
        return group == volume->backup[0] || group == volume->backup[1];
    }
    return group == 1U || is_power_of(group, 3) || is_power_of(group, 5) || is_power_of(group, 7);
}

static uint32_t descriptors_a_block(const struct nw_content_volume *volume)
{
    return ((uint32_t)1U << volume->shift) / volume->desc_bytes;
}

/* Blocks of descriptors that stand together behind a superblock. */
static uint32_t together(const struct nw_content_volume *volume)
{
    return volume->meta_bg && volume->first_meta < volume->descriptors ? volume->first_meta
                                                                       : volume->descriptors;
}

uint32_t nw_content_descriptors_at(const struct nw_content_volume *volume, uint32_t k)
{
    if (k < together(volume)) {
        return volume->first_block + 1U + k;
    }
    uint32_t group = k * descriptors_a_block(volume);

    return volume->first_block + group * volume->per_group + (uint32_t)has_super(volume, group);
}

/* A block at `offset` in `group`: one of descriptors? */
static int is_descriptors(const struct nw_content_volume *volume, uint32_t group, uint32_t offset)
{
    uint32_t a_block = descriptors_a_block(volume);
    uint32_t in_meta = group % a_block;
    uint32_t super = (uint32_t)has_super(volume, group);

    if (!volume->meta_bg || group / a_block < volume->first_meta) {
        return super && offset <= together(volume) + volume->kept;
    }
    return offset == super && (in_meta <= 1U || in_meta == a_block - 1U);
}

/* Shell's sort with the gaps of Knuth. */
static void sort(struct nw_content_volume *volume)
{
    uint32_t count = volume->groups * PLACES;
    uint32_t gap = 1;

    for (uint32_t i = 0; i < count; i++) {
        volume->order[i] = i;
    }
    while (gap < count / 3U) {
        gap = 3U * gap + 1U;
    }
    for (; gap > 0; gap /= 3U) {
        for (uint32_t i = gap; i < count; i++) {
            uint32_t item = volume->order[i];
            uint32_t at = i;

            while (at >= gap && volume->place[volume->order[at - gap]] > volume->place[item]) {
                volume->order[at] = volume->order[at - gap];
                at -= gap;
            }
            volume->order[at] = item;
        }
    }
    volume->sorted = 1;
}

/* The place that has this block, or UINT32_MAX. */
static uint32_t find_place(struct nw_content_volume *volume, uint32_t block)
{
    uint32_t low = 0;
    uint32_t high = volume->groups * PLACES;

    if (!volume->sorted) {
        sort(volume);
    }
    while (low < high) {
        uint32_t middle = low + (high - low) / 2U;

        if (volume->place[volume->order[middle]] <= block) {
            low = middle + 1U;
        } else {
            high = middle;
        }
    }
    if (low == 0) {
        return UINT32_MAX;
    }
    uint32_t item = volume->order[low - 1U];
    uint32_t length = item % PLACES == 2U ? volume->table : 1U;

    return volume->place[item] != 0 && block - volume->place[item] < length ? item : UINT32_MAX;
}

uint8_t nw_content_block_class(struct nw_content_volume *volume, uint32_t block, uint32_t *item)
{
    if (block >= volume->blocks) {
        return NW_CONTENT_UNKNOWN;
    }
    if (block >= volume->first_block) {
        uint32_t group = (block - volume->first_block) / volume->per_group;
        uint32_t offset = (block - volume->first_block) % volume->per_group;

        if (offset == 0 && has_super(volume, group)) {
            return NW_CONTENT_SUPERBLOCK;
        }
        if (offset <= together(volume) + volume->kept + 1U &&
            is_descriptors(volume, group, offset)) {
            return NW_CONTENT_DESCRIPTORS;
        }
    }
    *item = find_place(volume, block);
    if (*item != UINT32_MAX) {
        return *item % PLACES == 2U ? NW_CONTENT_INODES : NW_CONTENT_BITMAP;
    }
    return nw_content_file_find(&volume->journal, block) != NULL ? NW_CONTENT_JOURNAL
                                                                 : NW_CONTENT_DATA;
}

/* Which block of descriptors this is, or UINT32_MAX: a copy. */
static uint32_t descriptors_number(const struct nw_content_volume *volume, uint32_t block)
{
    uint32_t k = block - volume->first_block - 1U;
    uint32_t a_block = descriptors_a_block(volume);

    if (k < together(volume)) {
        return k;
    }
    k = (block - volume->first_block) / volume->per_group / a_block;
    if (volume->meta_bg && k >= volume->first_meta && k < volume->descriptors &&
        nw_content_descriptors_at(volume, k) == block) {
        return k;
    }
    return UINT32_MAX;
}

void nw_content_descriptors_see(struct nw_content_volume *volume, uint32_t block, uint32_t offset,
                                const uint8_t *data, uint32_t bytes)
{
    uint32_t k = descriptors_number(volume, block);
    uint32_t skip = (volume->desc_bytes - offset % volume->desc_bytes) % volume->desc_bytes;
    uint32_t group = k * descriptors_a_block(volume) + (offset + skip) / volume->desc_bytes;

    if (k == UINT32_MAX) {
        return;
    }
    for (uint32_t at = skip; at + volume->desc_bytes <= bytes && group < volume->groups;
         at += volume->desc_bytes, group++) {
        for (uint32_t i = 0; i < PLACES; i++) {
            uint32_t place = nw_get32(data + at + place_at[i]);
            uint32_t *known = &volume->place[group * PLACES + i];

            if (place >= volume->blocks ||
                (volume->desc_bytes > DESC_BYTES &&
                 nw_get32(data + at + DESC_BYTES + place_at[i]) != 0)) {
                place = 0;
            }
            if (*known != place) {
                *known = place;
                volume->sorted = 0;
                volume->again = 1;
            }
        }
    }
}

/* Reads a superblock into a volume that is all zero: 1: it is one, and makes sense. */
static int read_shape(struct nw_content_volume *volume, const uint8_t *data)
{
    uint32_t compatible = nw_get32(data + 0x5C);
    uint32_t incompatible = nw_get32(data + 0x60);
    uint32_t shift = nw_get32(data + 0x18);

    if (nw_get16(data + 0x38) != MAGIC || shift > SHIFT_MOST - SHIFT_LEAST ||
        (incompatible & JOURNAL_DEVICE) != 0) {
        return 0;
    }
    int wide = (incompatible & WIDE) != 0;

    volume->shift = (uint8_t)(shift + SHIFT_LEAST);
    volume->blocks = nw_get32(data + 0x04);
    volume->first_block = nw_get32(data + 0x14);
    volume->per_group = nw_get32(data + 0x20);
    volume->inodes = nw_get32(data + 0x28);
    volume->inode_bytes = nw_get32(data + 0x4C) == 0 ? INODE_BYTES : nw_get16(data + 0x58);
    volume->desc_bytes = wide ? nw_get16(data + 0xFE) : DESC_BYTES;
    volume->meta_bg = (incompatible & META_BG) != 0;
    volume->first_meta = nw_get32(data + 0x104);
    volume->kept = (compatible & RESIZE_INODE) != 0 ? nw_get16(data + 0xCE) : 0;
    volume->sparse = (nw_get32(data + 0x64) & SPARSE_SUPER) != 0 ? 1 : 0;
    if ((compatible & SPARSE_SUPER2) != 0) {
        volume->sparse = 2;
        volume->backup[0] = nw_get32(data + 0x24C);
        volume->backup[1] = nw_get32(data + 0x250);
    }
    memcpy(volume->uuid, data + 0x68, sizeof volume->uuid);
    return volume->first_block <= 1U && volume->blocks > volume->first_block &&
           volume->per_group >= 8U && volume->per_group <= 0x100000UL && volume->inodes > 0 &&
           volume->inodes <= 0x100000UL && volume->inode_bytes >= INODE_BYTES &&
           (volume->inode_bytes & (volume->inode_bytes - 1U)) == 0 &&
           volume->inode_bytes <= ((uint32_t)1U << volume->shift) &&
           volume->desc_bytes >= DESC_BYTES &&
           (volume->desc_bytes & (volume->desc_bytes - 1U)) == 0 && volume->desc_bytes <= 1024U &&
           (!wide || nw_get32(data + 0x150) == 0); /* below 2^32 blocks */
}

static void measure(struct nw_content_volume *volume)
{
    uint32_t a_block = descriptors_a_block(volume);
    uint64_t table = (uint64_t)volume->inodes * volume->inode_bytes;

    volume->groups = (volume->blocks - volume->first_block - 1U) / volume->per_group + 1U;
    volume->descriptors = (volume->groups - 1U) / a_block + 1U;
    volume->table = (uint32_t)((table - 1U) >> volume->shift) + 1U;
}

static int same_shape(const struct nw_content_volume *a, const struct nw_content_volume *b)
{
    return a->ext && a->shift == b->shift && a->first_block == b->first_block &&
           a->per_group == b->per_group && a->inodes == b->inodes &&
           a->inode_bytes == b->inode_bytes && a->desc_bytes == b->desc_bytes &&
           memcmp(a->uuid, b->uuid, sizeof a->uuid) == 0;
}

static void take_shape(struct nw_content_volume *volume, const struct nw_content_volume *shape,
                       uint32_t known)
{
    if (shape->groups > known) {
        memset(volume->place + known * PLACES, 0,
               (size_t)(shape->groups - known) * PLACES * sizeof *volume->place);
    }
    volume->shift = shape->shift;
    volume->first_block = shape->first_block;
    volume->per_group = shape->per_group;
    volume->inodes = shape->inodes;
    volume->inode_bytes = shape->inode_bytes;
    volume->desc_bytes = shape->desc_bytes;
    volume->blocks = shape->blocks;
    volume->groups = shape->groups;
    volume->descriptors = shape->descriptors;
    volume->table = shape->table;
    volume->kept = shape->kept;
    volume->meta_bg = shape->meta_bg;
    volume->first_meta = shape->first_meta;
    volume->sparse = shape->sparse;
    volume->backup[0] = shape->backup[0];
    volume->backup[1] = shape->backup[1];
    memcpy(volume->uuid, shape->uuid, sizeof volume->uuid);
    volume->ext = 1;
    volume->again = 1;
    volume->sorted = 0;
    volume->next = 0;
}

void nw_content_super_see(struct nw_content *content, struct nw_content_volume *volume,
                          const uint8_t *data)
{
    struct nw_content_volume shape;

    memset(&shape, 0, sizeof shape);
    volume->seen = 1;
    if (!read_shape(&shape, data)) {
        nw_content_volume_clear(content, volume);
        return;
    }
    measure(&shape);
    if (shape.groups > content->config.groups) {
        nw_content_volume_clear(content, volume);
        content->refused++;
        return;
    }
    if (!same_shape(volume, &shape)) {
        nw_content_volume_clear(content, volume);
        take_shape(volume, &shape, 0);
    } else if (volume->blocks != shape.blocks || volume->kept != shape.kept ||
               volume->meta_bg != shape.meta_bg || volume->first_meta != shape.first_meta ||
               volume->sparse != shape.sparse || volume->backup[0] != shape.backup[0] ||
               volume->backup[1] != shape.backup[1]) {
        take_shape(volume, &shape, volume->groups);
    }
    if (nw_get32(data + 0xE0) != 0 && data[0xFD] == 1U) { /* a copy of the journal's inode */
        (void)nw_content_file_root(&volume->journal, data + 0x10C, &content->refused);
    } else {
        nw_content_file_clear(&volume->journal);
    }
    if ((nw_get32(data + 0x5C) & HAS_JOURNAL) != 0 && volume->journal.count == 0 &&
        volume->journal.nodes == 0) {
        content->unknown |= 1U << NW_CONTENT_JOURNAL_PLACE;
    }
}

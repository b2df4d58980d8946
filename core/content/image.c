/* SPDX-License-Identifier: Apache-2.0 */
/*
 * qcow2: a header in cluster 0, the table L1 in clusters that the header names, tables L2 of a
 * cluster each that L1 names, and clusters of the guest's disk that those name; beside them a table
 * and blocks of reference counts. All numbers are big-endian.
 *
 * Each cluster of the file has one role. What the header names comes first, then what L1 names,
 * then the rest: a table that an entry of L2 points to stays a table. So an image whose tables
 * point at each other has one answer for each cluster, and nothing is followed: every table is
 * looked at when it is seen, wherever it points.
 */
#include <string.h>

#include "inside.h"

#define MAGIC 0x514649FBUL
#define HEADER_BYTES 104U
#define SHIFT_LEAST 9U
#define SHIFT_KNOWN 10U
#define SHIFT_MOST 21U
#define ENTRY 8U
#define OFFSET_MASK 0x00FFFFFFFFFFFE00ULL
#define COMPRESSED 0x4000000000000000ULL
#define DATA_FILE 0x04U /* features */
#define WIDE 0x10U      /* sub-clusters: entries of L2 of two words, of which the first counts */

/* What a header says. */
struct header {
    uint64_t bytes; /* of the guest's disk */
    uint64_t l1_at;
    uint64_t counts_at;
    uint32_t l1;
    uint32_t counts;
    uint16_t unknown; /* by bit enum nw_content_unknown: what of it is not known */
    uint8_t shift;
    uint8_t sealed;
    uint8_t wide;
};

static uint8_t space_of(const struct nw_content *content, const struct nw_content_image *image)
{
    return (uint8_t)(image - content->image + 1);
}

static void forget_tables(struct nw_content *content, struct nw_content_image *image)
{
    memset(image->cluster, 0, (size_t)content->config.clusters * sizeof *image->cluster);
    memset(image->l2, 0, (size_t)content->config.l1 * sizeof *image->l2);
    image->l1_next = 0;
    image->l2_next = 0;
    image->l2_bytes = 0;
    image->counts_next = 0;
}

void nw_content_image_clear(struct nw_content *content, struct nw_content_image *image)
{
    nw_content_space_open(content, space_of(content, image), 0);
    nw_content_file_clear(&image->file);
    image->file.news.end = image->file.news.first;
    image->file.again.end = image->file.again.first;
    forget_tables(content, image);
    image->used = 0;
    image->inode = 0;
    image->shift = 0;
    image->header_seen = 0;
    image->l1 = 0;
    image->counts = 0;
    image->l1_at = 0;
    image->counts_at = 0;
}

/* 1: it is one, and what cannot be used as the others in it is told. */
static int read_header(struct header *header, const uint8_t *data, uint32_t bytes)
{
    uint32_t version = nw_content_be32(data + 4);
    uint32_t shift = nw_content_be32(data + 20);
    uint64_t features = version == 3U ? nw_content_be64(data + 72) : 0;

    if (bytes < HEADER_BYTES || nw_content_be32(data) != MAGIC || version < 2U || version > 3U ||
        shift < SHIFT_LEAST || shift > SHIFT_MOST) {
        return 0;
    }
    uint64_t part = (1ULL << shift) - 1U;

    header->unknown = 0;
    if (shift < SHIFT_KNOWN) {
        header->unknown |= 1U << NW_CONTENT_SMALL_CLUSTERS;
    }
    if ((features & DATA_FILE) != 0) {
        header->unknown |= 1U << NW_CONTENT_DATA_FILE;
    }
    header->wide = (features & WIDE) != 0;
    header->shift = (uint8_t)shift;
    header->bytes = nw_content_be64(data + 24);
    header->sealed = nw_content_be32(data + 32) != 0;
    header->l1 = nw_content_be32(data + 36);
    header->l1_at = nw_content_be64(data + 40);
    header->counts_at = nw_content_be64(data + 48);
    header->counts = nw_content_be32(data + 56);
    return (header->l1_at & part) == 0 && (header->counts_at & part) == 0 &&
           header->bytes <= 1ULL << (ROLE_SHIFT + shift);
}

/* A cluster of the file has another role now; what it is is to be told again. */
static void set_role(const struct nw_content *content, struct nw_content_image *image,
                     uint32_t cluster, uint32_t word)
{
    uint8_t shift = content->volume[image->volume].shift;
    uint64_t from = ((uint64_t)cluster << image->shift) >> shift;
    uint32_t blocks = (uint32_t)(((1UL << image->shift) - 1U) >> shift) + 1U;

    image->cluster[cluster] = word;
    if (from < UINT32_MAX) {
        nw_content_widen(&image->file.again, (uint32_t)from, blocks);
    }
}

/* `count` clusters from a byte of the file on are of a table. */
static void set_table(const struct nw_content *content, struct nw_content_image *image,
                      uint64_t at, uint32_t count, uint32_t role)
{
    uint64_t cluster = at >> image->shift;

    for (uint32_t i = 0; i < count && cluster + i < content->config.clusters; i++) {
        if (ROLE_OF(image->cluster[cluster + i]) == ROLE_NONE) {
            set_role(content, image, (uint32_t)cluster + i, ROLE_WORD(role, i));
        }
    }
}

static uint32_t l1_clusters(const struct nw_content_image *image)
{
    uint64_t bytes = (uint64_t)image->l1 * ENTRY;

    return (uint32_t)((bytes + (1ULL << image->shift) - 1U) >> image->shift);
}

static void see_header(struct nw_content *content, struct nw_content_image *image,
                       const uint8_t *data, uint32_t bytes)
{
    struct nw_content_space *space = &content->space[space_of(content, image)];
    struct header header;

    image->header_seen = 1;
    if (!read_header(&header, data, bytes) || header.unknown != 0) {
        nw_content_image_clear(content, image);
        return;
    }
    if (header.sealed) {
        content->unknown |= 1U << NW_CONTENT_ENCRYPTED;
    }
    if (nw_content_be32(data + 60) != 0) {
        content->unknown |= 1U << NW_CONTENT_SNAPSHOTS;
    }
    if (header.l1 > content->config.l1) {
        header.l1 = content->config.l1;
        content->refused++;
    }
    uint32_t most = (content->config.clusters * (uint32_t)ENTRY >> header.shift) + 1U;

    header.counts = header.counts < most ? header.counts : most;
    if (space->bytes != header.bytes || image->sealed != header.sealed) {
        nw_content_space_open(content, space_of(content, image),
                              header.sealed ? 0 : header.bytes);
        space->bytes = header.bytes;
        image->sealed = header.sealed;
    } else if (image->shift == header.shift && image->l1 == header.l1 &&
               image->l1_at == header.l1_at && image->counts_at == header.counts_at &&
               image->counts == header.counts && image->wide == header.wide) {
        return;
    }
    image->shift = header.shift;
    image->wide = header.wide;
    image->l1 = header.l1;
    image->l1_at = header.l1_at;
    image->counts_at = header.counts_at;
    image->counts = header.counts;
    forget_tables(content, image);
    set_table(content, image, 0, 1, ROLE_HEADER);
    set_table(content, image, image->l1_at, l1_clusters(image), ROLE_L1);
    set_table(content, image, image->counts_at, image->counts, ROLE_COUNTS);
}

/* A cluster of the guest's disk lies somewhere else now: what stood there before is to be looked at
 * again, as far as it told anything. */
static void moved(struct nw_content *content, const struct nw_content_image *image,
                  uint32_t guest)
{
    uint8_t number = space_of(content, image);
    struct nw_content_space *space = &content->space[number];
    uint64_t from = (uint64_t)guest << image->shift;
    uint64_t to = from + (1ULL << image->shift);

    if (from == 0) {
        space->seen = 0;
    }
    if (space->table_bytes > 0 && from < space->table_at + space->table_bytes &&
        to > space->table_at) {
        space->table_next = 0;
    }
    for (uint16_t i = 0; i <= content->config.volumes; i++) {
        struct nw_content_volume *volume = &content->volume[i];

        if (!volume->used || volume->space != number || to <= volume->start + SUPER_AT) {
            continue;
        }
        if (from < volume->start + SUPER_AT + SUPER_BYTES) {
            volume->seen = 0;
        }
        if (volume->ext && volume->next > 0) {
            /* Descriptors stand together near the front, or anywhere with META_BG. */
            uint64_t end = volume->start +
                           ((uint64_t)(volume->first_block + 1U + volume->descriptors)
                            << volume->shift);

            if (volume->meta_bg || from < end) {
                volume->next = 0;
            }
        }
        for (uint8_t j = 0; j < volume->journal.nodes; j++) {
            uint64_t node = volume->start + ((uint64_t)volume->journal.node[j] << volume->shift);

            if (node >= from && node < to) {
                volume->journal.unread[j] = 1;
            }
        }
    }
}

/* One cluster of those. */
static void look_again(struct nw_content *content, struct nw_content_image *image,
                       uint32_t cluster)
{
    uint32_t index = (uint32_t)ROLE_INDEX(image->cluster[cluster]);

    switch (ROLE_OF(image->cluster[cluster])) {
    case ROLE_DATA:
        moved(content, image, index);
        break;
    case ROLE_HEADER:
        image->header_seen = 0;
        break;
    case ROLE_L1:
        image->l1_next = 0;
        break;
    case ROLE_L2:
        image->l2[index] |= (uint32_t)L2_UNREAD;
        image->l2_next = index < image->l2_next ? index : image->l2_next;
        image->l2_bytes = 0;
        break;
    case ROLE_COUNTS:
        image->counts_next = 0;
        break;
    default:
        break;
    }
}

void nw_content_image_news(struct nw_content *content, struct nw_content_image *image)
{
    struct nw_content_range *news = &image->file.news;
    uint8_t shift = content->volume[image->volume].shift;

    if (news->first == news->end || image->shift == 0) {
        return;
    }
    uint64_t from = ((uint64_t)news->first << shift) >> image->shift;
    uint64_t to = (((uint64_t)news->end << shift) - 1U) >> image->shift;

    for (; from <= to && from < content->config.clusters; from++) {
        look_again(content, image, (uint32_t)from);
    }
    news->first = news->end;
}

static void see_l1(struct nw_content *content, struct nw_content_image *image, uint32_t entry,
                   uint64_t word)
{
    uint64_t cluster = (word & OFFSET_MASK) >> image->shift;

    if (entry >= image->l1) {
        return;
    }
    if (cluster >= content->config.clusters) {
        content->refused += (image->l2[entry] & ~L2_UNREAD) != 0;
        cluster = 0;
    }
    uint32_t known = image->l2[entry] & (uint32_t)~L2_UNREAD;

    if (cluster == known) {
        return;
    }
    if (known != 0 && image->cluster[known] == ROLE_WORD(ROLE_L2, entry)) {
        set_role(content, image, known, ROLE_WORD(ROLE_NONE, 0));
    }
    image->l2[entry] = (uint32_t)cluster;
    if (cluster != 0 && (ROLE_OF(image->cluster[cluster]) == ROLE_NONE ||
                         ROLE_OF(image->cluster[cluster]) == ROLE_DATA)) {
        set_role(content, image, (uint32_t)cluster, ROLE_WORD(ROLE_L2, entry));
        image->l2[entry] |= (uint32_t)L2_UNREAD;
        image->l2_next = entry < image->l2_next ? entry : image->l2_next;
        image->l2_bytes = 0;
    }
}

static void see_l2(struct nw_content *content, struct nw_content_image *image, uint64_t guest,
                   uint64_t word)
{
    uint64_t cluster = (word & OFFSET_MASK) >> image->shift;

    if ((word & COMPRESSED) != 0) {
        content->unknown |= 1U << NW_CONTENT_COMPRESSED;
        return;
    }
    if (cluster == 0 || cluster >= content->config.clusters ||
        guest > ROLE_MOST) {
        return;
    }
    uint32_t role = ROLE_OF(image->cluster[cluster]);

    if ((role == ROLE_NONE || role == ROLE_DATA) &&
        image->cluster[cluster] != ROLE_WORD(ROLE_DATA, guest)) {
        set_role(content, image, (uint32_t)cluster, ROLE_WORD(ROLE_DATA, guest));
        moved(content, image, (uint32_t)guest);
    }
}

static void see_counts(struct nw_content *content, struct nw_content_image *image, uint64_t word)
{
    uint64_t cluster = (word & OFFSET_MASK) >> image->shift;

    if (cluster != 0 && cluster < content->config.clusters &&
        ROLE_OF(image->cluster[cluster]) == ROLE_NONE) {
        set_role(content, image, (uint32_t)cluster, ROLE_WORD(ROLE_COUNTS_BLOCK, 0));
    }
}

void nw_content_image_see(struct nw_content *content, struct nw_content_image *image,
                          uint64_t file_at, const uint8_t *data, uint32_t bytes)
{
    if (file_at == 0) {
        see_header(content, image, data, bytes);
        return;
    }
    if (image->shift == 0) {
        return;
    }
    uint64_t cluster_bytes = 1ULL << image->shift;

    for (uint32_t at = 0; at + ENTRY <= bytes; at += ENTRY) {
        uint64_t cluster = (file_at + at) >> image->shift;
        uint64_t in_cluster = (file_at + at) & (cluster_bytes - 1U);

        if (cluster >= content->config.clusters) {
            return;
        }
        uint32_t role = ROLE_OF(image->cluster[cluster]);
        uint64_t entry =
            (ROLE_INDEX(image->cluster[cluster]) * cluster_bytes + in_cluster) / ENTRY;
        uint64_t word = nw_content_be64(data + at);

        if (role == ROLE_L1) {
            see_l1(content, image, (uint32_t)entry, word);
        } else if (role == ROLE_L2) {
            if (!image->wide || entry % 2U == 0) {
                see_l2(content, image, entry >> image->wide, word);
            }
        } else if (role == ROLE_COUNTS) {
            see_counts(content, image, word);
        } else {
            return;
        }
    }
}

struct nw_content_image *nw_content_image_at(struct nw_content *content,
                                             const struct nw_content_spot *spot,
                                             uint64_t *file_at, uint32_t *left)
{
    uint16_t number = (uint16_t)(spot->volume - content->volume);
    uint8_t shift = spot->volume->shift;

    for (uint16_t i = 0; i < content->config.images; i++) {
        struct nw_content_image *image = &content->image[i];
        const struct nw_content_extent *extent;

        if (!image->used || image->volume != number) {
            continue;
        }
        extent = nw_content_file_find(&image->file, spot->block);
        if (extent != NULL) {
            uint32_t in_extent = spot->block - extent->first;
            uint64_t end = (uint64_t)(extent->count - in_extent) << shift;

            *file_at = (((uint64_t)extent->from + in_extent) << shift) + spot->offset;
            end -= spot->offset;
            if (image->shift != 0) {
                uint64_t cluster = 1ULL << image->shift;
                uint64_t in_cluster = cluster - (*file_at & (cluster - 1U));

                end = end < in_cluster ? end : in_cluster;
            }
            *left = end > UINT32_MAX ? UINT32_MAX : (uint32_t)end;
            return image;
        }
    }
    return NULL;
}

void nw_content_image_begin(struct nw_content *content, const struct nw_content_spot *spot,
                            const uint8_t *data, uint32_t bytes)
{
    uint16_t number = (uint16_t)(spot->volume - content->volume);
    struct nw_content_image *free = NULL;
    struct header header;

    if (spot->space != 0 || spot->offset != 0 || bytes < HEADER_BYTES ||
        nw_content_be32(data) != MAGIC || !read_header(&header, data, bytes)) {
        return;
    }
    if (header.unknown != 0) {
        content->unknown |= header.unknown;
        return;
    }
    for (uint16_t i = 0; i < content->config.images; i++) {
        struct nw_content_image *image = &content->image[i];

        if (image->used && image->volume == number && image->first == spot->block) {
            return;
        }
        if (!image->used || (free == NULL && image->inode == 0)) {
            free = image; /* one that no inode was found for gives way */
        }
    }
    if (free == NULL) {
        content->refused++;
        return;
    }
    free->used = 1;
    free->volume = number;
    free->first = spot->block;
    spot->volume->scan = 0;
    spot->volume->probe = 0;
    spot->volume->probed = 0;
}

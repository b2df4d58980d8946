/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inodes of a host's file system, for the sake of images: one that is known may have grown; one
 * that is not yet is the regular file whose first block begins the image. Where an inode holds no
 * extents but nodes, the first leaf has to be looked at: a probe, one at a time.
 */
#include <string.h>

#include "inside.h"

#define TYPE_MASK 0xF000U
#define TYPE_REGULAR 0x8000U
#define HAS_EXTENTS 0x80000UL

static int is_regular(const uint8_t *inode)
{
    return (nw_get16(inode) & TYPE_MASK) == TYPE_REGULAR && nw_get16(inode + 26) != 0;
}

static int is_file(const uint8_t *inode)
{
    return is_regular(inode) && (nw_get32(inode + 32) & HAS_EXTENTS) != 0;
}

/* Without extents: does it begin with the first block of an image that has no inode yet? */
static void note_indirect(struct nw_content *content, uint16_t number, const uint8_t *inode)
{
    for (uint16_t i = 0; i < content->config.images; i++) {
        const struct nw_content_image *image = &content->image[i];

        if (image->used && image->volume == number && image->inode == 0 &&
            image->first == nw_get32(inode + 40)) {
            content->unknown |= 1U << NW_CONTENT_INDIRECT_FILE;
        }
    }
}

/* An image whose inode is this one now. */
static void found(struct nw_content *content, struct nw_content_volume *volume, uint32_t inode,
                  uint32_t first, const uint8_t *root)
{
    uint16_t number = (uint16_t)(volume - content->volume);

    for (uint16_t i = 0; i < content->config.images; i++) {
        struct nw_content_image *image = &content->image[i];

        if (image->used && image->volume == number && image->inode == 0 && image->first == first) {
            image->inode = inode;
            image->header_seen = 0;
            (void)nw_content_file_root(&image->file, root, &content->refused);
        }
    }
}

/* Is there an image without an inode here? */
static int searching(const struct nw_content *content, uint16_t number)
{
    for (uint16_t i = 0; i < content->config.images; i++) {
        if (content->image[i].used && content->image[i].volume == number &&
            content->image[i].inode == 0) {
            return 1;
        }
    }
    return 0;
}

static void update(struct nw_content *content, struct nw_content_image *image,
                   const uint8_t *inode)
{
    uint32_t from;
    uint32_t block;
    uint8_t depth;

    if (!is_file(inode)) {
        nw_content_image_clear(content, image);
        return;
    }
    if (nw_content_file_root(&image->file, inode + 40, &content->refused) &&
        nw_content_node_first(inode + 40, ROOT_BYTES, &from, &block, &depth) && depth == 0 &&
        from == 0 && block != image->first) {
        image->first = block; /* written anew somewhere else */
        image->header_seen = 0;
    }
}

/* Inode `number`, in block `at` of all tables one after the other. In order each is probed once, so
 * that questions come to an end. One that is written is probed at once or, behind a probe that is
 * still to come, in order: from there on that begins again. */
static void search(struct nw_content *content, struct nw_content_volume *volume, uint32_t at,
                   uint32_t number, const uint8_t *inode, enum nw_content_shown shown)
{
    uint32_t from;
    uint32_t block;
    uint8_t depth;

    if (is_regular(inode) && !is_file(inode)) {
        note_indirect(content, (uint16_t)(volume - content->volume), inode);
        return;
    }
    if (!is_file(inode) ||
        !nw_content_node_first(inode + 40, ROOT_BYTES, &from, &block, &depth)) {
        return;
    }
    if (depth == 0) {
        if (from == 0) {
            found(content, volume, number, block, inode + 40);
        }
    } else if (volume->probe == 0 && (shown == SHOWN_WRITTEN || number > volume->probed)) {
        volume->probe = block;
        volume->probe_inode = number;
        volume->probe_depth = (uint8_t)(depth - 1U);
        memcpy(volume->probe_root, inode + 40, ROOT_BYTES);
        volume->probed = shown == SHOWN_WRITTEN ? volume->probed : number;
    } else if (shown == SHOWN_WRITTEN) {
        volume->scan = at < volume->scan ? at : volume->scan;
        volume->probed = number <= volume->probed ? number - 1U : volume->probed;
    }
}

void nw_content_probe_see(struct nw_content *content, struct nw_content_volume *volume,
                          const uint8_t *data, uint32_t bytes)
{
    uint32_t from;
    uint32_t block;
    uint8_t depth;

    volume->probe = 0;
    if (!nw_content_node_first(data, bytes, &from, &block, &depth) ||
        depth != volume->probe_depth) {
        return;
    }
    if (depth > 0) {
        volume->probe = block;
        volume->probe_depth = (uint8_t)(depth - 1U);
    } else if (from == 0) {
        found(content, volume, volume->probe_inode, block, volume->probe_root);
    }
}

void nw_content_inodes_see(struct nw_content *content, const struct nw_content_spot *spot,
                           const uint8_t *data, uint32_t bytes)
{
    struct nw_content_volume *volume = spot->volume;
    uint16_t number = (uint16_t)(volume - content->volume);
    uint32_t into = ((spot->block - volume->place[spot->item]) << volume->shift) + spot->offset;
    uint32_t skip = (volume->inode_bytes - into % volume->inode_bytes) % volume->inode_bytes;
    uint32_t index = (into + skip) / volume->inode_bytes;
    uint32_t first = spot->item / PLACES * volume->inodes + 1U;
    uint32_t table = spot->item / PLACES * volume->table + (into >> volume->shift);
    int open = searching(content, number);
    enum nw_content_shown shown = nw_content_shown(content, spot->at);

    for (uint32_t at = skip; at + INODE_BYTES <= bytes && index < volume->inodes;
         at += volume->inode_bytes, index++) {
        for (uint16_t i = 0; i < content->config.images; i++) {
            struct nw_content_image *image = &content->image[i];

            if (image->used && image->volume == number && image->inode == first + index) {
                update(content, image, data + at);
            }
        }
        if (open && shown != SHOWN_ANSWER) {
            search(content, volume, table, first + index, data + at, shown);
        }
    }
}

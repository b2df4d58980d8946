/* SPDX-License-Identifier: Apache-2.0 */
#include "content_disk.h"

#include <string.h>

#include "nandwich/bytes.h"

#define PER_GROUP 128U
#define INODES 32U /* a group */
#define IMAGE_BLOCKS 128U
#define GUEST_CLUSTERS 64U

const struct nw_content_config content_disk_config = {
    .bytes = (uint64_t)CONTENT_BLOCKS * CONTENT_BLOCK,
    .volumes = 6,
    .images = 2,
    .groups = 8,
    .extents = 24,
    .clusters = 200,
    .l1 = 8,
};

uint8_t *content_disk_at(struct content_disk *disk, uint32_t block)
{
    return disk->data + block * CONTENT_BLOCK;
}

static void put_be32(uint8_t *to, uint32_t value)
{
    for (uint32_t i = 0; i < 4U; i++) {
        to[i] = (uint8_t)(value >> (24U - 8U * i));
    }
}

static void put_node(uint8_t *node, uint16_t depth, uint16_t entries)
{
    nw_put16(node, 0xF30A);
    nw_put16(node + 2, entries);
    nw_put16(node + 4, 4);
    nw_put16(node + 6, depth);
}

static void put_super(uint8_t *super, uint8_t uuid)
{
    nw_put32(super + 0x04, CONTENT_BLOCKS - (uuid == 2U ? 128U : 0U));
    nw_put32(super + 0x14, 1); /* first block */
    nw_put32(super + 0x20, PER_GROUP);
    nw_put32(super + 0x28, INODES);
    nw_put16(super + 0x38, 0xEF53);
    nw_put32(super + 0x4C, 1); /* revision */
    nw_put16(super + 0x58, 128);
    nw_put32(super + 0x64, 1); /* SPARSE_SUPER */
    super[0x68] = uuid;
}

static void put_descriptors(uint8_t *block)
{
    for (uint32_t group = 0; group < 2U; group++) {
        for (uint32_t i = 0; i < 3U; i++) {
            nw_put32(block + 32U * group + 4U * i, 4U + 6U * group + i);
        }
    }
}

static void put_image(struct content_disk *disk)
{
    uint8_t *header = content_disk_at(disk, CONTENT_IMAGE);
    uint8_t *inode = content_disk_at(disk, CONTENT_INODE) + 3U * 128U;

    nw_put16(inode, 0x81A4);
    nw_put16(inode + 26, 1);
    nw_put32(inode + 32, 0x80000);
    put_node(inode + 40, 0, 1);
    nw_put16(inode + 56, IMAGE_BLOCKS);
    nw_put32(inode + 60, CONTENT_IMAGE);
    put_be32(header, 0x514649FB);
    put_be32(header + 4, 2);
    put_be32(header + 20, 10);
    put_be32(header + 28, GUEST_CLUSTERS * CONTENT_BLOCK);
    put_be32(header + 36, 1); /* entries of L1 */
    put_be32(header + 44, 2U * CONTENT_BLOCK);
    put_be32(header + 52, CONTENT_BLOCK);
    put_be32(header + 56, 1); /* clusters of counts */
    put_be32(content_disk_at(disk, CONTENT_IMAGE + 2U) + 4, 3U * CONTENT_BLOCK);
    for (uint32_t i = 0; i < GUEST_CLUSTERS; i++) {
        put_be32(content_disk_at(disk, CONTENT_IMAGE + 3U) + 8U * i + 4U, (4U + i) * CONTENT_BLOCK);
    }
    put_super(content_disk_at(disk, CONTENT_GUEST + 1U), 2);
    put_descriptors(content_disk_at(disk, CONTENT_GUEST + 2U));
}

void content_disk_make(struct content_disk *disk)
{
    uint8_t *super = content_disk_at(disk, 1);
    uint8_t *node = content_disk_at(disk, CONTENT_NODE);

    memset(disk, 0, sizeof *disk);
    put_super(super, 1);
    put_descriptors(content_disk_at(disk, 2));
    nw_put32(super + 0xE0, 8); /* the journal's inode, of which there is a copy */
    super[0xFD] = 1;
    put_node(super + 0x10C, 1, 1);
    nw_put32(super + 0x10C + 16, CONTENT_NODE);
    put_node(node, 0, 1);
    nw_put16(node + 16, 8);
    nw_put32(node + 20, CONTENT_JOURNAL);
    put_image(disk);
}

int content_disk_answer(const struct content_disk *disk, struct nw_content *content)
{
    uint64_t at;
    uint32_t bytes;

    for (int asked = 0; asked < CONTENT_WANTS; asked++) {
        if (nw_content_want(content, &at, &bytes) == 0) {
            return asked;
        }
        if (bytes == 0 || at % 512U != 0 || bytes % 512U != 0 || at >= sizeof disk->data ||
            bytes > sizeof disk->data - at) {
            return -1;
        }
        nw_content_see(content, at, disk->data + at, bytes);
    }
    return -1;
}

void content_disk_show(const struct content_disk *disk, struct nw_content *content, uint32_t block)
{
    uint32_t at = block * CONTENT_BLOCK;

    nw_content_see(content, at, disk->data + at, CONTENT_BLOCK);
}

int content_disk_show_all(const struct content_disk *disk, struct nw_content *content)
{
    for (uint32_t block = 0; block < CONTENT_BLOCKS; block++) {
        content_disk_show(disk, content, block);
    }
    return content_disk_answer(disk, content);
}

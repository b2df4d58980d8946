/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inside.h - inside the recogniser.
 *
 * A spot is one address in one space: the disk (space 0), or the disk of a guest (image + 1). It is
 * found in two steps at most, disk and guest, so nothing here calls itself.
 */
#ifndef NANDWICH_CONTENT_INSIDE_H
#define NANDWICH_CONTENT_INSIDE_H

#include "nandwich/bytes.h"
#include "nandwich/content.h"

#define PLACES 3U /* of a group: block bitmap, inode bitmap, inode table */
#define TABLE_ZONE 17408U /* MBR, GPT's header and its usual 128 entries */
#define STEP 4096U        /* where no file system is known */
#define SUPER_AT 1024U
#define SUPER_BYTES 1024U
#define ROOT_BYTES 60U
#define INODE_BYTES 128U /* of an inode that are looked at */

/* What a cluster of an image is: above 28 bits of which. */
#define ROLE_SHIFT 28
#define ROLE_OF(word) ((word) >> ROLE_SHIFT)
#define ROLE_INDEX(word) ((word)&0x0FFFFFFFUL)
#define ROLE_WORD(role, index) (((uint32_t)(role) << ROLE_SHIFT) | (uint32_t)(index))
#define ROLE_MOST 0x0FFFFFFFUL
#define L2_UNREAD 0x80000000UL

enum { ROLE_NONE, ROLE_DATA, ROLE_HEADER, ROLE_L1, ROLE_L2, ROLE_COUNTS, ROLE_COUNTS_BLOCK };

struct nw_content_spot {
    uint64_t at; /* in the space */
    struct nw_content_volume *volume; /* NULL: none there */
    uint32_t block;  /* of the volume; only with an ext there */
    uint32_t offset; /* bytes in that block */
    uint32_t run;    /* bytes to where another answer may begin */
    uint32_t item;   /* BITMAP, INODES: index of its place */
    uint8_t space;
    uint8_t class_of;
};

static inline uint32_t nw_content_be32(const uint8_t *from)
{
    return ((uint32_t)from[0] << 24) | ((uint32_t)from[1] << 16) | ((uint32_t)from[2] << 8) |
           (uint32_t)from[3];
}

static inline uint64_t nw_content_be64(const uint8_t *from)
{
    return ((uint64_t)nw_content_be32(from) << 32) | nw_content_be32(from + 4);
}

static inline uint64_t nw_content_get64(const uint8_t *from)
{
    return nw_get32(from) | ((uint64_t)nw_get32(from + 4) << 32);
}

/* table.c: partitions. */

/* A space that begins again: one volume as large as itself, its table not looked at. */
void nw_content_space_open(struct nw_content *content, uint8_t space, uint64_t bytes);

/* These bytes of a space may be of its partition table. */
void nw_content_table_see(struct nw_content *content, uint8_t space, uint64_t at,
                          const uint8_t *data, uint32_t bytes);

/* Where the table lies, and the volume that an address belongs to, or NULL. */
int nw_content_table_has(const struct nw_content_space *space, uint64_t at);
struct nw_content_volume *nw_content_volume_at(struct nw_content *content, uint8_t space,
                                               uint64_t at);

/* ext4.c: a file system's shape. */

/* The bytes of a superblock's place: 1 KiB. */
void nw_content_super_see(struct nw_content *content, struct nw_content_volume *volume,
                          const uint8_t *data);

/* What a block is; BITMAP and INODES set *item. */
uint8_t nw_content_block_class(struct nw_content_volume *volume, uint32_t block, uint32_t *item);

/* Descriptors in a block of them, from a byte of that block on. */
void nw_content_descriptors_see(struct nw_content_volume *volume, uint32_t block, uint32_t offset,
                                const uint8_t *data, uint32_t bytes);

/* The block in which the k-th block of descriptors lies. */
uint32_t nw_content_descriptors_at(const struct nw_content_volume *volume, uint32_t k);

/* No file system there, and soon no images either. */
void nw_content_volume_clear(struct nw_content *content, struct nw_content_volume *volume);

/* file.c: where a file lies. */

void nw_content_file_clear(struct nw_content_file *file);

/* Its inode says this: 60 bytes. 1: something changed. */
int nw_content_file_root(struct nw_content_file *file, const uint8_t *root, uint32_t *refused);

/* A part of a block of a volume was seen: one of the file's tree is to be looked at again. */
void nw_content_file_ask(struct nw_content_file *file, uint32_t block);

/* A whole block of a volume was seen: 1: it was one of the file's tree. */
int nw_content_file_node(struct nw_content_file *file, uint32_t block, const uint8_t *data,
                         uint32_t bytes, uint32_t *refused);

/* The extent that has this block of the volume, or NULL. */
const struct nw_content_extent *nw_content_file_find(const struct nw_content_file *file,
                                                     uint32_t block);

/* The extent that has this block of the file; without one the next behind it, or NULL. */
const struct nw_content_extent *nw_content_file_from(const struct nw_content_file *file,
                                                     uint32_t from);

/* These blocks of a file are of the range too, and what lies between. */
void nw_content_widen(struct nw_content_range *range, uint32_t from, uint32_t count);

/* A node of an extent tree: 1 and where its first entry points, with the depth it is told of. */
int nw_content_node_first(const uint8_t *node, uint32_t bytes, uint32_t *from, uint32_t *block,
                          uint8_t *depth);

/* inode.c: inodes that are images' or may be. */

void nw_content_inodes_see(struct nw_content *content, const struct nw_content_spot *spot,
                           const uint8_t *data, uint32_t bytes);
void nw_content_probe_see(struct nw_content *content, struct nw_content_volume *volume,
                          const uint8_t *data, uint32_t bytes);

/* image.c: qcow2. */

/* Where in an image's file a block of data lies; *left: bytes that follow it there. NULL: none. */
struct nw_content_image *nw_content_image_at(struct nw_content *content,
                                             const struct nw_content_spot *spot,
                                             uint64_t *file_at, uint32_t *left);

/* A block of data on the disk: may it begin an image? */
void nw_content_image_begin(struct nw_content *content, const struct nw_content_spot *spot,
                            const uint8_t *data, uint32_t bytes);

/* Bytes of an image's own tables. */
void nw_content_image_see(struct nw_content *content, struct nw_content_image *image,
                          uint64_t file_at, const uint8_t *data, uint32_t bytes);

/* Parts of an image's file have a place only now: what they hold is to be looked at. */
void nw_content_image_news(struct nw_content *content, struct nw_content_image *image);
void nw_content_image_clear(struct nw_content *content, struct nw_content_image *image);

/* directory.c: is this whole block one of a directory? */
int nw_content_is_directory(const uint8_t *data, uint32_t bytes);

/* content.c: what an address is. */
void nw_content_find(struct nw_content *content, uint8_t space, uint64_t at,
                     struct nw_content_spot *spot);

/* want.c: why a byte of the disk is shown: it was written, asked for by the look at all inodes in
 * order, or by another question. */
enum nw_content_shown { SHOWN_WRITTEN, SHOWN_IN_ORDER, SHOWN_ANSWER };

enum nw_content_shown nw_content_shown(const struct nw_content *content, uint64_t at);

/* want.c: what was asked for last was shown, as far as it can be. */
void nw_content_settle(struct nw_content *content, uint64_t at, uint32_t bytes);

#endif

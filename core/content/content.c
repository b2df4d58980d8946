/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A request is taken apart at the borders of file system blocks. Each piece is looked up on the
 * disk and, where it is a cluster of an image, once more on that guest's disk.
 */
#include <string.h>

#include "inside.h"
#include "nandwich/ram.h"

#define LEVELS 2U
#define MOST_GROUPS 1000000UL
#define MOST_EXTENTS 65535UL
#define MOST_IMAGES 250U
#define RUN_MOST 65536UL

static const char *const names[] = {"unknown",   "partitions", "superblock", "descriptors",
                                    "bitmap",    "inodes",     "journal",    "directory",
                                    "data",      "image"};

static const char *const unknown_names[] = {"a journal without extents or on another device",
                                            "logical partitions",
                                            "an image in a file with indirect blocks",
                                            "an image with clusters of 512 bytes",
                                            "an image with a data file",
                                            "an encrypted image",
                                            "compressed clusters",
                                            "tables of snapshots"};

static const uint8_t hints[] = {NW_HINT_NONE,     NW_HINT_METADATA, NW_HINT_METADATA,
                                NW_HINT_METADATA, NW_HINT_METADATA, NW_HINT_METADATA,
                                NW_HINT_JOURNAL,  NW_HINT_DATA,     NW_HINT_DATA,
                                NW_HINT_METADATA};

/* Does a count fit the machine? */
static int fits(uint32_t count)
{
    size_t most = SIZE_MAX / sizeof(struct nw_content_extent);

    return (size_t)count == count && (size_t)count <= most;
}

static int is_config(const struct nw_content_config *config)
{
    if (!fits(config->groups) || !fits(config->extents) || !fits(config->clusters) ||
        !fits(config->l1)) {
        return 0;
    }
    return config->bytes > 0 && config->volumes > 0 && config->volumes < UINT16_MAX &&
           config->groups > 0 && config->groups <= MOST_GROUPS && config->extents > 0 &&
           config->extents <= MOST_EXTENTS && config->images <= MOST_IMAGES &&
           (config->images == 0 || (config->clusters > 0 && config->l1 > 0 &&
                                    config->clusters <= ROLE_MOST && config->l1 <= ROLE_MOST));
}

static void take_file(struct nw_ram *ram, struct nw_content_file *file, uint32_t extents)
{
    struct nw_content_extent *extent = NW_RAM_TAKE(ram, struct nw_content_extent, (size_t)extents);

    if (file != NULL) {
        file->extent = extent;
        file->room = extents;
    }
}

static void take(struct nw_content *content, const struct nw_content_config *config,
                 struct nw_ram *ram)
{
    size_t places = (size_t)config->groups * PLACES;

    content->volume = NW_RAM_TAKE(ram, struct nw_content_volume, (size_t)config->volumes + 1U);
    content->space = NW_RAM_TAKE(ram, struct nw_content_space, (size_t)config->images + 1U);
    content->image = NW_RAM_TAKE(ram, struct nw_content_image, config->images);
    for (uint32_t i = 0; i <= config->volumes; i++) {
        struct nw_content_volume *volume = content->volume == NULL ? NULL : &content->volume[i];
        uint32_t *place = NW_RAM_TAKE(ram, uint32_t, places);
        uint32_t *order = NW_RAM_TAKE(ram, uint32_t, places);

        if (volume != NULL) {
            volume->place = place;
            volume->order = order;
        }
        take_file(ram, volume == NULL ? NULL : &volume->journal, config->extents);
    }
    for (uint16_t i = 0; i < config->images; i++) {
        struct nw_content_image *image = content->image == NULL ? NULL : &content->image[i];
        uint32_t *cluster = NW_RAM_TAKE(ram, uint32_t, (size_t)config->clusters);
        uint32_t *l2 = NW_RAM_TAKE(ram, uint32_t, (size_t)config->l1);

        if (image != NULL) {
            image->cluster = cluster;
            image->l2 = l2;
        }
        take_file(ram, image == NULL ? NULL : &image->file, config->extents);
    }
}

size_t nw_content_ram_bytes(const struct nw_content_config *config)
{
    struct nw_content measured;
    struct nw_ram ram = {NULL, 0, 0};

    if (!is_config(config)) {
        return 0;
    }
    take(&measured, config, &ram);
    return ram.used;
}

int nw_content_open(struct nw_content *content, const struct nw_content_config *config, void *ram,
                    size_t ram_bytes)
{
    struct nw_ram arena = {(uint8_t *)ram, ram_bytes, 0};
    size_t needed = nw_content_ram_bytes(config);

    if (needed == 0) {
        return NW_ERR_CONFIG;
    }
    if (ram == NULL || needed > ram_bytes) {
        return NW_ERR_RAM;
    }
    memset(content, 0, sizeof *content);
    memset(ram, 0, needed);
    content->config = *config;
    take(content, config, &arena);
    nw_content_space_open(content, 0, config->bytes);
    return NW_OK;
}

void nw_content_find(struct nw_content *content, uint8_t space, uint64_t at,
                     struct nw_content_spot *spot)
{
    struct nw_content_volume *volume = nw_content_volume_at(content, space, at);

    spot->space = space;
    spot->at = at;
    spot->volume = volume;
    spot->block = 0;
    spot->offset = 0;
    spot->class_of = NW_CONTENT_UNKNOWN;
    if (nw_content_table_has(&content->space[space], at)) {
        spot->class_of = NW_CONTENT_PARTITIONS;
        spot->run = 512;
        return;
    }
    uint64_t into = volume == NULL ? at : at - volume->start;

    if (volume == NULL || !volume->ext || into >> volume->shift >= volume->blocks) {
        spot->run = STEP - (uint32_t)(into % STEP);
        return;
    }
    spot->block = (uint32_t)(into >> volume->shift);
    spot->offset = (uint32_t)(into & ((1ULL << volume->shift) - 1U));
    spot->run = (uint32_t)((1ULL << volume->shift) - spot->offset);
    spot->class_of = nw_content_block_class(volume, spot->block, &spot->item);
}

/* A superblock's place, as far as these bytes have it. */
static int see_super(struct nw_content *content, const struct nw_content_spot *spot,
                     const uint8_t *data, uint32_t bytes)
{
    uint64_t into = spot->at - spot->volume->start;

    if (into >= SUPER_AT + SUPER_BYTES || into + bytes <= SUPER_AT) {
        return 0;
    }
    if (into > SUPER_AT || into + bytes < SUPER_AT + SUPER_BYTES) {
        spot->volume->seen = 0;
        return 0;
    }
    nw_content_super_see(content, spot->volume, data + (SUPER_AT - (uint32_t)into));
    return 1;
}

/* A block of data: it may be one of a file's extent tree, which only the whole of it tells, so a
 * part has it asked for; or it begins an image. */
static void see_data(struct nw_content *content, const struct nw_content_spot *spot,
                     const uint8_t *data, uint32_t bytes)
{
    struct nw_content_volume *volume = spot->volume;
    uint16_t number = (uint16_t)(volume - content->volume);
    uint32_t whole = (uint32_t)1U << volume->shift;

    if (spot->offset != 0 || bytes < whole) {
        nw_content_file_ask(&volume->journal, spot->block);
        for (uint16_t i = 0; i < content->config.images; i++) {
            if (spot->space == 0 && content->image[i].used && content->image[i].volume == number) {
                nw_content_file_ask(&content->image[i].file, spot->block);
            }
        }
        nw_content_image_begin(content, spot, data, bytes);
        return;
    }
    (void)nw_content_file_node(&volume->journal, spot->block, data, whole, &content->refused);
    if (spot->space != 0) {
        return;
    }
    if (volume->probe != 0 && volume->probe == spot->block) {
        nw_content_probe_see(content, volume, data, whole);
    }
    for (uint16_t i = 0; i < content->config.images; i++) {
        if (content->image[i].used && content->image[i].volume == number) {
            (void)nw_content_file_node(&content->image[i].file, spot->block, data, whole,
                                       &content->refused);
        }
    }
    nw_content_image_begin(content, spot, data, whole);
}

/* Where a block of data on the disk lies in a guest; *table: 1: it is one of the image's own. 0: it
 * is no image's, or nobody knows. *left as nw_content_image_at(). */
static struct nw_content_image *guest_at(struct nw_content *content,
                                         const struct nw_content_spot *spot, uint64_t *file_at,
                                         uint64_t *guest_at, int *table, uint32_t *left)
{
    struct nw_content_image *image = nw_content_image_at(content, spot, file_at, left);
    uint64_t cluster;
    uint32_t role;

    *table = 0;
    if (image == NULL) {
        return NULL;
    }
    *table = *file_at == 0;
    cluster = *file_at >> image->shift;
    if (image->shift == 0 || cluster >= content->config.clusters) {
        return *table ? image : NULL;
    }
    role = ROLE_OF(image->cluster[cluster]);
    if (role == ROLE_NONE) {
        return NULL;
    }
    *table = role != ROLE_DATA;
    *guest_at = ((uint64_t)ROLE_INDEX(image->cluster[cluster]) << image->shift) +
                (*file_at & ((1ULL << image->shift) - 1U));
    return image;
}

/* One piece: how many bytes it has. */
static uint32_t see_piece(struct nw_content *content, uint64_t at, const uint8_t *data,
                          uint32_t bytes)
{
    struct nw_content_image *image = NULL;
    struct nw_content_spot spot;
    uint8_t space = 0;
    uint32_t run = bytes;

    for (uint32_t level = 0; level < LEVELS; level++) {
        uint64_t file_at = 0;
        uint64_t guest = 0;
        uint32_t left = 0;
        int table = 0;

        nw_content_table_see(content, space, at, data, run < STEP ? run : STEP);
        nw_content_find(content, space, at, &spot);
        left = spot.run < run ? spot.run : run;
        if (spot.volume == NULL || spot.class_of == NW_CONTENT_PARTITIONS ||
            see_super(content, &spot, data, left)) {
            return left;
        }
        if (spot.class_of == NW_CONTENT_DESCRIPTORS) {
            nw_content_descriptors_see(spot.volume, spot.block, spot.offset, data, left);
        } else if (spot.class_of == NW_CONTENT_INODES && space == 0) {
            nw_content_inodes_see(content, &spot, data, left);
        } else if (spot.class_of == NW_CONTENT_DATA) {
            see_data(content, &spot, data, left);
        }
        if (spot.class_of != NW_CONTENT_DATA || space != 0) {
            return left;
        }
        bytes = left;
        image = guest_at(content, &spot, &file_at, &guest, &table, &left);
        if (image == NULL) {
            return bytes;
        }
        if (table) {
            nw_content_image_see(content, image, file_at, data, bytes);
            return bytes;
        }
        run = left < run ? left : run;
        space = (uint8_t)(image - content->image + 1);
        at = guest;
    }
    return run;
}

/* Images go with the file system in which they lay. */
static void sweep(struct nw_content *content)
{
    for (uint16_t i = 0; i < content->config.images; i++) {
        struct nw_content_image *image = &content->image[i];

        if (image->used && content->volume[image->volume].cleared) {
            nw_content_image_clear(content, image);
        }
    }
    for (uint32_t i = 0; i <= content->config.volumes; i++) {
        content->volume[i].cleared = 0;
    }
    content->cleared = 0;
}

void nw_content_see(struct nw_content *content, uint64_t at, const uint8_t *data, uint32_t bytes)
{
    uint32_t done = 0;

    while (data != NULL && done < bytes) {
        done += see_piece(content, at + done, data + done, bytes - done);
        if (content->cleared) {
            sweep(content);
        }
    }
    nw_content_settle(content, at, bytes);
}

uint8_t nw_content_class(struct nw_content *content, uint64_t at, const uint8_t *data,
                         uint32_t bytes, uint32_t *run)
{
    struct nw_content_image *image = NULL;
    struct nw_content_spot spot;
    uint32_t most = data != NULL ? bytes : (uint32_t)RUN_MOST;
    uint64_t file_at = 0;
    uint64_t guest = 0;
    uint32_t left = 0;
    uint8_t class_of;
    int table = 0;

    nw_content_find(content, 0, at, &spot);
    class_of = spot.class_of;
    if (class_of == NW_CONTENT_DATA) {
        image = guest_at(content, &spot, &file_at, &guest, &table, &left);
    }
    if (image != NULL && table) {
        class_of = NW_CONTENT_IMAGE;
        spot.run = left < spot.run ? left : spot.run;
    } else if (image != NULL) {
        nw_content_find(content, (uint8_t)(image - content->image + 1), guest, &spot);
        class_of = spot.class_of == NW_CONTENT_UNKNOWN ? NW_CONTENT_DATA : spot.class_of;
        most = left < most ? left : most;
    }
    if (class_of == NW_CONTENT_DATA && data != NULL && spot.offset == 0 && spot.volume != NULL &&
        spot.volume->ext && most >= spot.run && nw_content_is_directory(data, spot.run)) {
        class_of = NW_CONTENT_DIRECTORY;
    }
    if (run != NULL) {
        *run = spot.run < most ? spot.run : most;
    }
    return image != NULL && !table ? (uint8_t)(class_of | NW_CONTENT_GUEST) : class_of;
}

enum nw_block_hint nw_content_hint(uint8_t class_of)
{
    uint8_t plain = class_of & (uint8_t)~NW_CONTENT_GUEST;

    return plain < NW_CONTENT_CLASSES ? (enum nw_block_hint)hints[plain] : NW_HINT_NONE;
}

const char *nw_content_name(uint8_t class_of)
{
    uint8_t plain = class_of & (uint8_t)~NW_CONTENT_GUEST;

    return plain < NW_CONTENT_CLASSES ? names[plain] : "none";
}

const char *nw_content_unknown_name(enum nw_content_unknown what)
{
    return (unsigned)what < NW_CONTENT_UNKNOWNS ? unknown_names[what] : "none";
}

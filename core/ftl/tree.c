/* SPDX-License-Identifier: Apache-2.0 */
/* The tree layer as a block device: opening it and the verbs. */
#include "tree.h"

#include <string.h>

#include "nandwich/blank.h"

#define LEAST_SPARE 12U
#define LEAST_PAGES 16U
#define MOST_PAGES 256U
#define LEAST_BYTES 256U
#define LEAST_FRAMES 3U
#define MOST_FRAMES 0xFFFFU
#define FIRST_FRAMES 4U /* pages of the map that go before all else that RAM is good for */
#define PLENTY 2U /* more free blocks that idle time cleans for */

/* How sectors, leaves and inner nodes fit together. 0: pages too small for so many. */
static int shape(struct nw_tree *tree, const struct nw_geometry *geometry, uint32_t sectors)
{
    struct nw_floor *floor = &tree->floor;
    uint32_t pages = geometry->blocks * geometry->block_pages;
    uint32_t leaves;

    tree->sectors = sectors;
    floor->map = &nw_tree_floor_map;
    floor->blocks = (uint16_t)geometry->blocks;
    floor->block_pages = geometry->block_pages;
    floor->used_pages = geometry->block_pages < NW_FLOOR_PAGES ? geometry->block_pages
                                                               : (uint16_t)NW_FLOOR_PAGES;
    floor->page_bytes = geometry->page_bytes;
    floor->payload = (geometry->flags & NW_CHIP_NO_PAYLOAD) == 0;
    tree->width = (uint8_t)(pages <= 0x10000UL ? 2U : pages <= 0x1000000UL ? 3U : 4U);
    tree->leaf_places = (uint16_t)(tree->floor.page_bytes / tree->width);
    leaves = (sectors + tree->leaf_places - 1U) / tree->leaf_places;
    tree->leaves = 1;
    while ((uint32_t)tree->leaves * tree->leaves < leaves) {
        tree->leaves++;
    }
    tree->children = (uint16_t)((leaves + tree->leaves - 1U) / tree->leaves);
    tree->span = (uint32_t)tree->leaves * tree->leaf_places;
    tree->entry = (uint8_t)(2U * tree->width);
    /* As many leaves as children, or one more: an inner node has more room than a root. */
    uint32_t root_at = NW_TREE_HEAD + (uint32_t)tree->children * tree->width;

    if (root_at > tree->floor.page_bytes / 2U) {
        return 0;
    }
    tree->inner_at = (uint16_t)(2U + tree->leaves * tree->width);
    tree->root_at = (uint16_t)root_at;
    tree->inner_room = (uint16_t)((tree->floor.page_bytes - tree->inner_at) /
                                  tree->entry);
    tree->root_room =
        (uint16_t)((tree->floor.page_bytes - root_at) / tree->entry - NW_TREE_OVER);
    tree->changes_room = floor->used_pages;
    if (tree->changes_room > tree->root_room / 2U) {
        tree->changes_room = (uint16_t)(tree->root_room / 2U);
    }
    /* The largest group is a share of the room, or more; roots within a block come on top. */
    tree->cost = (uint16_t)(512UL * tree->children / tree->root_room +
                            512UL * tree->leaves / tree->inner_room +
                            (tree->changes_room < floor->used_pages
                                 ? 512U / tree->changes_room
                                 : 0U));
    return 1;
}

/* The shape, and in it the sectors: as many as let cleaning win something of an average block. */
int nw_tree_plan(struct nw_tree *tree, const struct nw_ftl_tree_config *config,
                 const struct nw_geometry *geometry)
{
    uint32_t spare = config->spare_blocks;

    if (nw_geometry_check(geometry) < 0) {
        return 0;
    }
    if (spare == 0) {
        spare = geometry->blocks / 8U + LEAST_SPARE;
    }
    if (spare < LEAST_SPARE || geometry->blocks <= spare ||
        geometry->blocks >= NW_FLOOR_NO_BLOCK || geometry->block_pages < LEAST_PAGES ||
        geometry->block_pages > MOST_PAGES || geometry->spare_bytes < NW_TAG_BYTES ||
        geometry->page_bytes < LEAST_BYTES ||
        geometry->blocks > NW_FLOOR_NUMBER / geometry->block_pages) {
        return 0;
    }
    if (!shape(tree, geometry,
               (geometry->blocks - spare) * (geometry->block_pages - NW_FLOOR_ROOTS))) {
        return 0;
    }
    uint32_t nodes = 2U * (uint32_t)tree->children * (tree->leaves + 1U);
    uint32_t valid = (geometry->blocks - spare) * nw_tree_worth(tree, 2);
    uint32_t ease = (spare - LEAST_SPARE) / 2U;

    tree->low = (uint8_t)(NW_TREE_LOW + (ease < NW_TREE_EASE ? ease : NW_TREE_EASE));

    return valid > 2U * nodes && shape(tree, geometry, valid - nodes);
}

uint32_t nw_ftl_tree_sectors(const struct nw_ftl_tree_config *config,
                             const struct nw_geometry *geometry)
{
    struct nw_tree tree;

    return nw_tree_plan(&tree, config, geometry) ? tree.sectors : 0;
}

static uint8_t *take_bytes(struct nw_ram *ram, size_t count)
{
    return NW_RAM_TAKE(ram, uint8_t, count);
}

/* The one place that knows the layout of RAM: measures or places. */
static int place(struct nw_tree **tree, const struct nw_ftl_tree_config *config,
                 const struct nw_geometry *geometry, struct nw_ram *ram)
{
    struct nw_tree measure;

    *tree = NW_RAM_TAKE(ram, struct nw_tree, 1);
    struct nw_tree *to = *tree != NULL ? *tree : &measure;

    memset(to, 0, sizeof *to);
    if (!nw_tree_plan(to, config, geometry)) {
        return NW_ERR_CONFIG;
    }
    to->child = NW_RAM_TAKE(ram, struct nw_tree_child, to->children);
    to->floor.buffer = take_bytes(ram, to->floor.page_bytes);
    to->floor.counts = take_bytes(ram, to->floor.blocks);
    to->leaf_start = NW_RAM_TAKE(ram, uint16_t, (size_t)to->children * to->leaves);
    to->leaf_at = take_bytes(ram, (size_t)to->children * to->leaves * to->width);
    to->run = take_bytes(ram, NW_TREE_RUN * (size_t)to->width);
    to->floor.begun_at = NW_RAM_TAKE(ram, uint16_t, 1);
    to->floor.stretch = 1;
    to->changes = take_bytes(ram, (to->changes_room + 2U) * (size_t)to->entry);
    return NW_OK;
}

size_t nw_ftl_tree_ram_bytes(const struct nw_ftl_tree_config *config,
                             const struct nw_geometry *geometry)
{
    struct nw_ram ram = {0};
    struct nw_tree *tree;

    return place(&tree, config, geometry, &ram) < 0 ? 0 : ram.used;
}

/* Is there room for so much, and some pages of the map? */
static int fits(const struct nw_tree *tree, const struct nw_ram *ram, size_t bytes)
{
    return ram->used + bytes + FIRST_FRAMES * (size_t)tree->floor.page_bytes <= ram->bytes;
}

/* Stretches, with a list of changes as long as a root has room for: the one there is, which comes
 * last in RAM, grows. */
static void take_stretch(struct nw_tree *tree, struct nw_ram *ram)
{
    unsigned more = tree->root_room - tree->changes_room;

    if (fits(tree, ram, (size_t)more * tree->entry + NW_FLOOR_STRETCH * sizeof(uint16_t))) {
        (void)take_bytes(ram, (size_t)more * tree->entry);
        tree->changes_room = tree->root_room;
        tree->floor.begun_at = NW_RAM_TAKE(ram, uint16_t, NW_FLOOR_STRETCH);
        tree->floor.stretch = NW_FLOOR_STRETCH;
    }
}

/* A bit a page. */
static void take_live(struct nw_tree *tree, struct nw_ram *ram)
{
    size_t bytes = nw_floor_live_bytes(&tree->floor);

    if (fits(tree, ram, bytes)) {
        tree->floor.live = take_bytes(ram, bytes);
    }
}

/* Whole pages of what is left cache the map. */
static void take_cache(struct nw_tree *tree, struct nw_ram *ram)
{
    size_t most = (size_t)tree->children * (tree->leaves + 1U) + 1U;
    size_t frames;

    take_stretch(tree, ram);
    take_live(tree, ram);
    tree->cached = NW_RAM_TAKE(ram, uint32_t, 0); /* the rest */
    frames = ram->used < ram->bytes
                 ? (ram->bytes - ram->used) / (tree->floor.page_bytes + sizeof(uint32_t))
                 : 0U;
    frames = frames < most ? frames : most;
    frames = frames < MOST_FRAMES ? frames : MOST_FRAMES;
    if (frames >= LEAST_FRAMES) {
        tree->frames = (uint16_t)frames;
        tree->cache = (uint8_t *)(tree->cached + frames);
        memset(tree->cached, 0xFF, frames * sizeof(uint32_t));
    }
}

static const struct nw_block_ops tree_ops;

static int prepare(struct nw_ftl_tree *ftl, struct nw_chip *chip,
                   const struct nw_ftl_tree_config *config, void *ram, size_t ram_bytes)
{
    struct nw_ram arena = {.start = ram, .bytes = ram_bytes};
    struct nw_tree *tree;
    int result = place(&tree, config, &chip->geometry, &arena);

    memset(&ftl->stats, 0, sizeof ftl->stats);
    if (result < 0) {
        return result;
    }
    if (ram == NULL || arena.used > ram_bytes) {
        return NW_ERR_RAM;
    }
    memset(tree + 1, 0, arena.used - sizeof *tree);
    take_cache(tree, &arena);
    nw_tagged_open(&tree->floor.tagged, chip, &ftl->stats);
    tree->root = NW_FLOOR_NONE;
    tree->victim = NW_FLOOR_NO_BLOCK;
    tree->floor.current = NW_FLOOR_NO_BLOCK;
    tree->floor.ahead = NW_FLOOR_NO_BLOCK;
    tree->floor.scrub = NW_FLOOR_NO_BLOCK;
    tree->floor.scrub_bits = config->scrub_bits;
    ftl->tree = tree;
    ftl->block = (struct nw_block){.ops = &tree_ops,
                                   .context = tree,
                                   .sectors = tree->sectors,
                                   .sector_bytes = tree->floor.page_bytes,
                                   .flags = NW_BLOCK_PERSISTENT,
                                   .stats = &ftl->stats};
    return NW_OK;
}

/* A mount, and behind it as many free blocks as the next one may need. A program that fails in that
 * work takes a mount of its own, and the work waits for the next change. */
static int open_floor(struct nw_tree *tree)
{
    struct nw_floor *floor = &tree->floor;
    int result = nw_floor_mount(floor, NW_FLOOR_WRITE);

    if (result == NW_OK && floor->broken == 0) {
        result = nw_tree_restock(tree);
        if (floor->must_mount) {
            result = nw_floor_mount(floor, NW_FLOOR_WRITE);
        }
    }
    return result == NW_ERR_FULL ? (int)NW_OK : result;
}

static int start(struct nw_ftl_tree *ftl, struct nw_chip *chip,
                 const struct nw_ftl_tree_config *config, void *ram, size_t ram_bytes,
                 enum nw_floor_how how)
{
    int result = prepare(ftl, chip, config, ram, ram_bytes);

    if (result == NW_OK) {
        result = how == NW_FLOOR_WRITE ? open_floor(ftl->tree)
                                       : nw_floor_mount(&ftl->tree->floor, how);
    }
    if (result == NW_OK && how == NW_FLOOR_SHOW) {
        ftl->tree->floor.broken = NW_ERR_UNSUPPORTED;
        ftl->tree->floor.must_mount = 0;
    }
    return result == NW_ERR_NOT_FOUND ? nw_chip_not_found(chip, ram, ram_bytes) : result;
}

int nw_ftl_tree_format(struct nw_ftl_tree *ftl, struct nw_chip *chip,
                       const struct nw_ftl_tree_config *config, void *ram, size_t ram_bytes)
{
    return start(ftl, chip, config, ram, ram_bytes, NW_FLOOR_FORMAT);
}

int nw_ftl_tree_mount(struct nw_ftl_tree *ftl, struct nw_chip *chip,
                      const struct nw_ftl_tree_config *config, void *ram, size_t ram_bytes)
{
    return start(ftl, chip, config, ram, ram_bytes, NW_FLOOR_WRITE);
}

int nw_ftl_tree_mount_read_only(struct nw_ftl_tree *ftl, struct nw_chip *chip,
                                const struct nw_ftl_tree_config *config, void *ram,
                                size_t ram_bytes)
{
    return start(ftl, chip, config, ram, ram_bytes, NW_FLOOR_SHOW);
}

/* One sector after the other. Data that is read or written is given exactly when the chip keeps
 * it. */
static int each(struct nw_block_req *req,
                int (*verb)(struct nw_tree *tree, uint32_t sector, uint8_t *data), int with_data)
{
    struct nw_tree *tree = req->block->context;
    uint8_t *data = req->data;

    if (with_data && (data != NULL) != (tree->floor.payload != 0)) {
        return NW_ERR_UNSUPPORTED;
    }
    for (; req->done < req->count; req->done++) {
        int result = verb(tree, req->sector + req->done, data);

        if (result < 0) {
            return result;
        }
        data = data != NULL ? data + tree->floor.page_bytes : NULL;
    }
    return NW_OK;
}

/* Behind a mount that failed RAM does not say what the chip says: another one, which writes nothing
 * if it can. Beside trims that no page tells of a stretch may tell more than there is room for. */
static int look(struct nw_tree *tree)
{
    int result = tree->floor.stale ? nw_floor_mount(&tree->floor, NW_FLOOR_SHOW) : (int)NW_OK;

    return result == NW_ERR_RAM && tree->floor.broken == 0 ? open_floor(tree) : result;
}

/* A page that holds this sector. */
static int read_page(struct nw_tree *tree, uint32_t sector, uint32_t page, uint8_t *data)
{
    struct nw_floor *floor = &tree->floor;
    int state = nw_floor_read(floor, page, data);

    if (state < 0 || state == NW_TAG_LOST) {
        return state < 0 ? state : (int)NW_ERR_ECC;
    }
    return state == NW_FLOOR_WHOLE && floor->tagged.tag.word == sector ? (int)NW_OK
                                                                       : (int)NW_ERR_CORRUPT;
}

/* Where a torn tail stands beside the map it goes before, if it is whole. */
static int read_sector(struct nw_tree *tree, uint32_t sector, uint8_t *data)
{
    struct nw_floor *floor = &tree->floor;
    int result = look(tree);
    int is_torn = floor->before == (sector | NW_FLOOR_OWN);
    uint32_t place = floor->next;

    floor->tagged.stats->host_reads++;
    while (result == NW_OK) {
        if (!is_torn) {
            result = nw_tree_find(tree, sector, &place);
        }
        if (result == NW_OK && place == 0 && data != NULL) {
            memset(data, 0, floor->page_bytes);
        }
        if (result != NW_OK || place == 0) {
            break;
        }
        result = read_page(tree, sector, place, data);
        if (!is_torn || (result != NW_ERR_ECC && result != NW_ERR_CORRUPT)) {
            break;
        }
        is_torn = 0;
        result = NW_OK;
    }
    return result;
}

static int tree_read(struct nw_block_req *req)
{
    return each(req, read_sector, 1);
}

/* What may change something: a mount first, where a program failed. */
static int ready(struct nw_tree *tree)
{
    struct nw_floor *floor = &tree->floor;

    int result = floor->broken == 0 && floor->must_mount ? open_floor(tree) : (int)NW_OK;

    return result == NW_OK ? floor->broken : result;
}

/* An error of a program is a cut: behind it a mount, and the change once more. A second error takes
 * a mount as well: it settles what reads show of that page from now on. */
static int change(struct nw_tree *tree, uint32_t sector, uint8_t *data,
                  int (*verb)(struct nw_tree *tree, uint32_t sector, uint8_t *data))
{
    int result = ready(tree);

    if (result == NW_OK) {
        result = verb(tree, sector, data);
        if (result < 0 && tree->floor.must_mount) {
            result = ready(tree);
            result = result == NW_OK ? verb(tree, sector, data) : result;
        }
        if (tree->floor.must_mount && !tree->floor.stale) {
            (void)ready(tree);
        }
    }
    return result;
}

static int try_write(struct nw_tree *tree, uint32_t sector, uint8_t *data)
{
    uint32_t old;
    int result = nw_tree_pace(tree);

    if (result == NW_OK) {
        result = nw_tree_reserve(tree, 1);
    }
    if (result == NW_OK) {
        result = nw_tree_find(tree, sector, &old);
    }
    if (result == NW_OK) {
        result = nw_floor_append(&tree->floor, sector, data);
    }
    if (result == NW_OK) {
        nw_tree_settle(tree, sector, old, tree->floor.next - 1U);
        tree->floor.tagged.stats->host_writes++;
    }
    return result;
}

static int write_sector(struct nw_tree *tree, uint32_t sector, uint8_t *data)
{
    return change(tree, sector, data, try_write);
}

static int tree_write(struct nw_block_req *req)
{
    return each(req, write_sector, 1);
}

static int try_trim(struct nw_tree *tree, uint32_t sector, uint8_t *data)
{
    uint32_t old;
    int result = nw_tree_find(tree, sector, &old);

    (void)data;
    if (result == NW_OK && old != 0) {
        result = nw_tree_reserve(tree, 0);
        if (result == NW_OK) { /* a root that does not count yet has not heard of this one */
            result = nw_floor_confirm(&tree->floor);
        }
        if (result == NW_OK) {
            nw_tree_settle(tree, sector, old, 0);
            tree->trimmed = 1;
        }
    }
    tree->floor.tagged.stats->host_trims += result == NW_OK;
    return result;
}

static int trim_sector(struct nw_tree *tree, uint32_t sector, uint8_t *data)
{
    return change(tree, sector, data, try_trim);
}

static int tree_trim(struct nw_block_req *req)
{
    return each(req, trim_sector, 0);
}

static int try_sync(struct nw_tree *tree, uint32_t sector, uint8_t *data)
{
    (void)sector;
    (void)data;
    return tree->trimmed ? nw_floor_save(&tree->floor) : (int)NW_OK;
}

static int tree_sync(struct nw_block_req *req)
{
    struct nw_tree *tree = req->block->context;

    tree->floor.tagged.stats->syncs++;
    return tree->trimmed || tree->floor.must_mount ? change(tree, 0, NULL, try_sync) : (int)NW_OK;
}

/* The longest that a page of cleaning takes: a push, and a new block. */
static uint32_t step_us(const struct nw_tree *tree)
{
    const struct nw_geometry *geometry = &tree->floor.tagged.req.chip->geometry;

    return 10U * geometry->read_us + 6U * geometry->program_us + geometry->erase_us;
}

static int tree_idle(struct nw_block_req *req)
{
    struct nw_tree *tree = req->block->context;
    struct nw_floor *floor = &tree->floor;
    uint32_t erase_us = floor->tagged.req.chip->geometry.erase_us;
    unsigned most = nw_tree_worth(tree, floor->block_pages / 8U);
    uint32_t left = req->budget_us;
    int result = ready(tree);

    while (result == NW_OK && nw_floor_may_erase(floor)) {
        if (left < erase_us) {
            return 1;
        }
        left -= erase_us;
        result = nw_floor_erase_ahead(floor);
    }
    while (result == NW_OK && nw_tree_wants(tree, tree->low + PLENTY)) {
        if (left < step_us(tree)) {
            return 1;
        }
        left -= step_us(tree);
        result = nw_tree_clean_step(tree, most);
    }
    if (result < 0 && floor->must_mount) { /* one more step of work */
        result = ready(tree);
    }
    return result > 0 || result == NW_ERR_FULL ? 0 : result;
}

static const struct nw_block_ops tree_ops = {.read = tree_read,
                                             .write = tree_write,
                                             .trim = tree_trim,
                                             .sync = tree_sync,
                                             .idle = tree_idle};

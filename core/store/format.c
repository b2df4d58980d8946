/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a configuration comes to on a chip, the store's place in the caller's RAM, and format.
 */
#include <string.h>

#include "nandwich/ram.h"
#include "store.h"

/* Configuration */

static uint8_t log2_of(uint16_t value)
{
    uint8_t bits = 0;

    while ((value >>= 1) != 0) {
        bits++;
    }
    return bits;
}

static int take_config(struct nw_store *store, const struct nw_store_config *config)
{
    store->slots = config->objects != 0 ? config->objects : 8U;
    store->name_bytes = config->name_bytes != 0 ? config->name_bytes : 12U;
    store->frame_count = config->frames;
    if (config->frames == 0) { /* five levels of each table, lest they push out each other's */
        store->frame_count =
            (uint8_t)(config->checkpoints > 0 ? 5U + config->checkpoints * 5U : 8U);
    }
    uint8_t fan = config->fan != 0 ? config->fan : 16U;
    store->fan_mask = (uint8_t)(fan - 1U);
    store->fan_shift = log2_of(fan);
    store->node_bytes = (uint16_t)(4U * fan);
    store->tables = (uint8_t)(config->checkpoints + 1U);
    store->interval = config->anchor_bytes;
    store->chunk_header = CHUNK_HEADER;
    store->block_header = BLOCK_HEADER;
    if (config->seal != NULL) {
        store->sealing = config->seal;
        store->seal = config->seal->verbs;
        store->chunk_header = SEALED_CHUNK_HEADER;
        store->block_header = SEALED_BLOCK_HEADER;
    }
    return store->slots <= 60U && store->name_bytes <= 32U && store->frame_count >= 4U &&
                   store->frame_count <= 64U && fan >= 8U && fan <= 64U &&
                   (fan & store->fan_mask) == 0 && config->checkpoints <= NW_STORE_CHECKPOINTS
               ? NW_OK
               : (int)NW_ERR_CONFIG;
}

static int take_geometry(struct nw_store *store, const struct nw_geometry *geometry)
{
    store->page_bytes = geometry->page_bytes;
    store->block_pages = geometry->block_pages;
    store->block_bytes = (uint32_t)geometry->block_pages * geometry->page_bytes;
    store->blocks = (uint16_t)geometry->blocks;
    store->program_bytes = geometry->program_bytes;
    store->page_programs = geometry->page_programs;
    store->erased = geometry->erased;
    store->shift = (uint8_t)(log2_of(geometry->page_bytes) + 1U);
    store->marks = (geometry->flags & NW_CHIP_READ_ERASED) == 0 ? 1U : 0U;
    return nw_geometry_check(geometry) >= 0 && geometry->blocks <= 65535UL &&
                   store->blocks >= 16U && store->block_pages >= 8U &&
                   store->page_bytes >= (store->seal != NULL ? 128U : 64U) &&
                   store->page_bytes <= 16384U && (geometry->flags & NW_CHIP_NO_PAYLOAD) == 0 &&
                   geometry->spare_bytes >= store->marks
               ? NW_OK
               : (int)NW_ERR_CONFIG;
}

/* How often anchors are written. */
static int set_interval(struct nw_store *store)
{
    uint32_t pages = store_first_page(store, store->blocks);
    uint32_t bytes = store->interval;

    if (pages > (STORE_NONE >> store->shift) || bytes > pages / 16U * store->page_bytes) {
        return NW_ERR_CONFIG; /* what a mount walks would leave no blocks to write */
    }
    if (bytes == 0) {
        bytes = pages / 64U * store->page_bytes;
        bytes = bytes < 4096U ? 4096U : bytes;
        bytes = bytes > 65536U ? 65536U : bytes;
    }
    store->interval = bytes;
    return NW_OK;
}

/* What is kept free. */
static int set_reserve(struct nw_store *store)
{
    uint32_t block_bytes = store_block_bytes(store);
    uint32_t longest = block_bytes / 3U - store->chunk_header;
    uint32_t anchor = store_whole(store, store_anchor_most(store));

    store->longest = (uint16_t)(longest < STORE_LONGEST ? longest : STORE_LONGEST);
    if (anchor + store->block_header > block_bytes / 2U) {
        return NW_ERR_CONFIG;
    }
    anchor += store->page_bytes +
              store->frame_count * (uint32_t)store_whole(store, store->node_bytes);
    store->low = (uint16_t)(anchor * 4U / block_bytes + 4U);
    anchor += store_whole(store, store_anchor_most(store)) + store->page_bytes * 2U;
    store->reserve = (uint16_t)((store->interval * 4U + anchor) / block_bytes + 2U);
    store->low = (uint16_t)(store->low + store->reserve);
    return store->low + 6U < store->blocks ? (int)NW_OK : (int)NW_ERR_CONFIG;
}

static int fill_config(struct nw_store *store, const struct nw_store_config *from,
                       const struct nw_geometry *geometry)
{
    memset(store, 0, sizeof *store);
    int result = take_config(store, from);
    if (result == NW_OK) {
        result = take_geometry(store, geometry);
    }
    if (result == NW_OK) {
        result = set_interval(store);
    }
    return result == NW_OK ? set_reserve(store) : result;
}

/* Takes the RAM of a store that is like this one, which gets to know what lies where. NULL: it is
 * too little. */
static struct nw_store *place(struct nw_ram *ram, struct nw_store *like, uint8_t read_ahead)
{
    uint16_t objects = (uint16_t)(like->tables * like->slots);
    struct nw_store *store = NW_RAM_TAKE(ram, struct nw_store, 1);

    like->objects = NW_RAM_TAKE(ram, struct object, objects);
    like->frames = nw_ram_take(ram, like->frame_count, sizeof *like->frames + like->node_bytes,
                               _Alignof(struct frame));
    like->kept = NW_RAM_TAKE(ram, uint32_t, like->tables);
    like->buffer = NW_RAM_TAKE(ram, uint8_t, like->page_bytes);
    like->cache = like->buffer; /* for reading, until the first block is begun */
    if (read_ahead != 0) {
        like->cache = NW_RAM_TAKE(ram, uint8_t, like->page_bytes);
    }
    like->names = NW_RAM_TAKE(ram, char, (size_t)objects * like->name_bytes);
    if (ram->start == NULL || ram->used > ram->bytes) {
        return NULL;
    }
    memset(ram->start, 0, ram->used);
    *store = *like;
    return store;
}

size_t nw_store_ram_bytes(const struct nw_store_config *config,
                          const struct nw_geometry *geometry)
{
    struct nw_store like;
    struct nw_ram ram = {0};

    if (fill_config(&like, config, geometry) < 0) {
        return 0;
    }
    (void)place(&ram, &like, config->read_ahead);
    return ram.used;
}

/* A store in the caller's RAM that knows nothing of the chip yet. */
int store_open(struct nw_store **store, struct nw_chip *chip, const struct nw_store_config *config,
               void *memory, size_t bytes)
{
    struct nw_store like;
    struct nw_ram ram = {.start = memory, .bytes = bytes};

    int result = fill_config(&like, config, &chip->geometry);
    if (result < 0) {
        return result;
    }
    like.chip = chip;
    like.anchor = STORE_NONE;
    like.told = STORE_NONE;
    like.first = STORE_NO_BLOCK;
    like.behind = STORE_NO_BLOCK;
    like.torn = STORE_NONE;
    like.image = STORE_NONE;
    like.known = STORE_NONE;
    like.cache_page = STORE_NONE;
    like.full = PAGE_BLIND;
    *store = place(&ram, &like, config->read_ahead);
    return *store != NULL ? (int)NW_OK : (int)NW_ERR_RAM;
}

int nw_store_format(struct nw_store **made, struct nw_chip *chip,
                    const struct nw_store_config *config, void *ram, size_t ram_bytes)
{
    int result = store_open(made, chip, config, ram, ram_bytes);

    if (result < 0) {
        return result;
    }
    struct nw_store *store = *made;
    uint16_t first = STORE_NO_BLOCK;
    uint16_t block;
    result = store_end_all(store, &block);
    store->good = store->blocks;
    for (uint16_t left = store->blocks; left > 0 && result >= 0; left--) { /* the mark's last */
        block = store_next_block(store, block);
        int bad = store_is_bad(store, block);
        result = bad == 0 ? store_make_ready(store, block) : bad;
        if (bad > 0) {
            store->good--;
        } else if (result > 0 && block < first) {
            first = block;
        }
    }
    if (result < 0) {
        return result;
    }
    store_set_limit(store);
    if (store->limit < store_block_bytes(store)) {
        return NW_ERR_FULL; /* not worth having */
    }
    store->sequence = 0;
    store->page = store_first_page(store, store->blocks) - 1U;
    store->free = store->good;
    store->prepared = store->good;
    store->safe = first;
    store->told_sweep.end = first;
    store_sweep_from_safe(store);
    store->since = 0;
    result = store_open_block(store);
    store->redo = store_frontier(store);
    return result < 0 ? result : store_write_anchor(store);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The page-mapped layer as a block device: opening it and the verbs. */
#include "page.h"

#include <string.h>

#include "nandwich/blank.h"
#include "nandwich/options.h"
#include "wipe.h"

/* Where a map outgrows the caches its entry can be on its way while other work goes on. */
#ifdef NW_FETCH_EARLY
#define FETCH_EARLY(at) __builtin_prefetch(at)
#else
#define FETCH_EARLY(at) ((void)(at))
#endif

/* Sectors and trim pages together; 0: this part or configuration will not do. */
static uint32_t slots_of(const struct nw_ftl_page_config *config,
                         const struct nw_geometry *geometry)
{
    uint32_t spare = config->spare_blocks;

    if (nw_geometry_check(geometry) < 0) {
        return 0;
    }
    if (spare == 0) {
        spare = geometry->blocks / 14U + NW_PAGE_LEAST_SPARE;
    }
    if (spare < NW_PAGE_LEAST_SPARE || geometry->blocks <= spare ||
        geometry->block_pages < NW_PAGE_LEAST_PAGES ||
        geometry->blocks + geometry->block_pages > NW_PAGE_MOST_PLACES ||
        geometry->block_pages > NW_PAGE_COUNT || geometry->spare_bytes < NW_TAG_BYTES ||
        geometry->page_bytes < NW_PAGE_LEAST_BYTES) {
        return 0;
    }
    uint32_t slots = (geometry->blocks - spare) * geometry->block_pages;
    return slots < NW_PAGE_MOST_SLOTS ? slots : 0;
}

uint32_t nw_ftl_page_sectors(const struct nw_ftl_page_config *config,
                             const struct nw_geometry *geometry)
{
    uint32_t slots = slots_of(config, geometry);

    /* s sectors need s / (8 * page_bytes) trim pages, rounded up: this many are always enough. */
    return slots == 0 ? 0 : slots - (slots / ((uint32_t)geometry->page_bytes * 8U) + 1U);
}

/* The one place that knows shape and layout: measures or places. */
static int place(struct nw_page **page, const struct nw_ftl_page_config *config,
                 const struct nw_geometry *geometry, struct nw_ram *ram)
{
    uint32_t slots = slots_of(config, geometry);
    uint32_t live = geometry->blocks * geometry->block_pages / 8U + 1U;
    int fits = (size_t)slots == slots && (size_t)live == live; /* size_t may have 16 bits */
    struct nw_page measure;

    if (slots == 0) {
        return NW_ERR_CONFIG;
    }
    *page = NW_RAM_TAKE(ram, struct nw_page, 1);
    struct nw_page *to = *page != NULL ? *page : &measure;
    memset(to, 0, sizeof *to);
    to->slots = slots;
    to->sectors = nw_ftl_page_sectors(config, geometry);
    to->block_pages = geometry->block_pages;
    to->page_bytes = geometry->page_bytes;
    to->fences = NW_PAGE_MOST_FENCES;
    if (to->page_bytes < NW_PAGE_FENCES_AT + NW_PAGE_FENCE_BYTES * NW_PAGE_MOST_FENCES) {
        to->fences = (uint8_t)((to->page_bytes - NW_PAGE_FENCES_AT) / NW_PAGE_FENCE_BYTES);
    }
    to->floor = to->block_pages >= 32U ? 1U : 2U;
    to->session = NW_NO_BLOCK;
    to->reserve[0] = NW_NO_BLOCK;
    to->reserve[1] = NW_NO_BLOCK;
    to->list = NW_PAGE_NONE;
    to->host.block = NW_NO_BLOCK;
    to->cold.block = NW_NO_BLOCK;
    to->map = fits ? NW_RAM_TAKE(ram, uint32_t, (size_t)slots) : NULL;
    to->valid = NW_RAM_TAKE(ram, uint16_t, (size_t)geometry->blocks);
    to->live = NW_RAM_TAKE(ram, uint8_t, (size_t)live);
    to->buffer = NW_RAM_TAKE(ram, uint8_t, geometry->page_bytes);
    (void)nw_blocks_place(&to->blocks, geometry, /* slots_of() saw that they fit */
                          (uint16_t)(geometry->block_pages + NW_PAGE_LISTS), ram);
    to->data = (geometry->flags & NW_CHIP_NO_PAYLOAD) == 0 ? to->buffer : NULL;
    to->blocks.wear = config->wear;
    return fits ? (int)NW_OK : (int)NW_ERR_RAM;
}

size_t nw_ftl_page_ram_bytes(const struct nw_ftl_page_config *config,
                             const struct nw_geometry *geometry)
{
    struct nw_ram ram = {0};
    struct nw_page *page;

    return place(&page, config, geometry, &ram) < 0 ? 0 : ram.used;
}

static const struct nw_block_ops page_ops;

static int prepare(struct nw_ftl_page *ftl, struct nw_chip *chip,
                   const struct nw_ftl_page_config *config, void *ram, size_t ram_bytes)
{
    const struct nw_geometry *geometry = &chip->geometry;
    struct nw_ram arena = {.start = ram, .bytes = ram_bytes};
    struct nw_page *page;
    int result = place(&page, config, geometry, &arena);

    if (result < 0) {
        return result;
    }
    if (ram == NULL || arena.used > ram_bytes) {
        return NW_ERR_RAM;
    }
    nw_tagged_open(&page->blocks.tagged, chip, &ftl->stats);
    nw_page_forget_all(page);
    memset(page->buffer, 0, page->page_bytes);
    ftl->page = page;
    ftl->block = (struct nw_block){.ops = &page_ops,
                                   .context = page,
                                   .sectors = page->sectors,
                                   .sector_bytes = page->page_bytes,
                                   .flags = NW_BLOCK_PERSISTENT,
                                   .stats = &ftl->stats};
    return nw_blocks_load(&page->blocks);
}

/* A block that goes bad while a mount writes costs another turn. */
static int start(struct nw_ftl_page *ftl, struct nw_chip *chip,
                 const struct nw_ftl_page_config *config, void *ram, size_t ram_bytes,
                 int (*find)(struct nw_page *page))
{
    int result = NW_ERR_ERASE;

    memset(&ftl->stats, 0, sizeof ftl->stats);
    for (uint8_t turn = 0; turn < NW_PAGE_LEAST_SPARE; turn++) {
        result = prepare(ftl, chip, config, ram, ram_bytes);
        if (result == NW_OK) {
            result = find(ftl->page);
        }
        if (result == NW_OK) {
            result = nw_page_start(ftl->page);
        }
        if (result != NW_ERR_PROGRAM && result != NW_ERR_ERASE) {
            break;
        }
    }
    return result;
}

static int wipe_all(struct nw_page *page)
{
    return nw_wipe_all(&page->blocks);
}

int nw_ftl_page_format(struct nw_ftl_page *ftl, struct nw_chip *chip,
                       const struct nw_ftl_page_config *config, void *ram, size_t ram_bytes)
{
    return start(ftl, chip, config, ram, ram_bytes, wipe_all);
}

int nw_ftl_page_mount(struct nw_ftl_page *ftl, struct nw_chip *chip,
                      const struct nw_ftl_page_config *config, void *ram, size_t ram_bytes)
{
    int result = start(ftl, chip, config, ram, ram_bytes, nw_page_find);

    if (result == NW_ERR_NOT_FOUND) {
        return nw_chip_not_found(chip, ram, ram_bytes);
    }
    return result == NW_ERR_FULL ? (int)NW_OK : result; /* it can be read */
}

/* One sector after the other. */
static int each(struct nw_block_req *req,
                int (*verb)(struct nw_page *page, uint32_t sector, uint8_t *data))
{
    struct nw_page *page = req->block->context;
    uint8_t *data = req->data;

    if ((data != NULL) != (page->data != NULL)) { /* given exactly when the chip keeps it */
        return NW_ERR_UNSUPPORTED;
    }
    for (; req->done < req->count; req->done++) {
        int result = verb(page, req->sector + req->done, data);
        if (result < 0) {
            return result;
        }
        data = data != NULL ? data + page->page_bytes : NULL;
    }
    return NW_OK;
}

static int read_sector(struct nw_page *page, uint32_t sector, uint8_t *data)
{
    uint32_t at = page->map[sector];

    page->blocks.tagged.stats->host_reads++;
    if (at == NW_PAGE_NONE) {
        if (data != NULL) {
            memset(data, 0, page->page_bytes);
        }
        return NW_OK;
    }
    int state = nw_page_check(page, at, data);
    if (state < 0 || state == NW_TAG_LOST) {
        return state < 0 ? state : (int)NW_ERR_ECC;
    }
    /* Corrupt, too, when marked as damaged. */
    return state == NW_TAG_GOOD && (page->blocks.tagged.tag.word & ~NW_WORD_MOUNT) == sector
               ? (int)NW_OK
               : (int)NW_ERR_CORRUPT;
}

static int page_read(struct nw_block_req *req)
{
    return each(req, read_sector);
}

/* A block for the host's writes. When all that were free fail to erase, cleaning wins others. */
static int open_host(struct nw_page *page)
{
    int result = NW_OK;

    while (result == NW_OK && page->host.left == 0) { /* every further turn has cost blocks */
        result = nw_page_make_room(page);
        if (result == NW_OK) {
            result = nw_page_begin(page, &page->host);
            result = result == NW_ERR_FULL ? (int)NW_OK : result;
        }
    }
    return result;
}

/* First what the writes before have left to do, so that an error there leaves the old content. */
static int write_sector(struct nw_page *page, uint32_t sector, uint8_t *data)
{
    FETCH_EARLY(&page->map[sector]);
    int result = page->writable != 0 ? nw_page_drain(page) : (int)NW_ERR_FULL;

    if (result == NW_OK) {
        result = nw_page_pace(page);
    }
    if (result == NW_OK) {
        result = open_host(page);
    }
    if (result == NW_OK) {
        result = nw_page_write(page, &page->host, sector, data);
    }
    if (result == NW_OK) {
        page->blocks.tagged.stats->host_writes++;
    }
    return result;
}

/* The wear policy hears once of each block's worth of sectors that a request updates. */
static void tell_updates(const struct nw_page *page, const struct nw_block_req *req)
{
    uint32_t sector = req->sector;

    while (sector < req->sector + req->count) {
        uint16_t block = nw_page_block_of(page, sector);

        if (page->map[sector] != NW_PAGE_NONE) {
            nw_blocks_updated(&page->blocks, block);
        }
        sector = nw_page_first(page, block) + page->block_pages;
    }
}

static int page_write(struct nw_block_req *req)
{
    const struct nw_page *page = req->block->context;

    if (page->blocks.wear != NULL) {
        tell_updates(page, req);
    }
    return each(req, write_sector);
}

static int page_trim(struct nw_block_req *req)
{
    struct nw_page *page = req->block->context;

    for (; req->done < req->count; req->done++) {
        nw_page_forget(page, req->sector + req->done);
        page->blocks.tagged.stats->host_trims++;
    }
    return NW_OK;
}

static int page_sync(struct nw_block_req *req)
{
    struct nw_page *page = req->block->context;
    int result = page->writable != 0 ? nw_page_drain(page) : (int)NW_OK;

    page->blocks.tagged.stats->syncs++;
    if (result == NW_OK && page->unsaved != 0) {
        result = page->writable != 0 ? NW_OK : (int)NW_ERR_FULL;
        if (result == NW_OK && page->cold.left == 0 && page->host.left == 0) {
            result = nw_page_make_room(page);
        }
        if (result == NW_OK) {
            result = nw_page_save_trims(page);
        }
    }
    return result;
}

/* The longest that a step of cleaning takes. The one that empties a block writes down trims first,
 * and a wear policy may want another block than those erased ahead. */
static uint32_t step_us(const struct nw_page *page)
{
    const struct nw_geometry *geometry = &page->blocks.tagged.req.chip->geometry;
    uint32_t programs = 1;

    if (page->unsaved != 0 && (page->cleaning == 0 || page->valid[page->victim] < 2U)) {
        programs += page->slots - page->sectors;
    }
    return geometry->read_us + programs * geometry->program_us +
           (page->cold.left < programs && page->blocks.wear != NULL ? geometry->erase_us : 0);
}

/* One erased block before all, then free ones by cleaning, then more erased ones. */
static int work_ahead(struct nw_page *page, uint32_t left)
{
    struct nw_blocks *blocks = &page->blocks;
    uint16_t plenty = (uint16_t)(page->floor + NW_PAGE_IDLE);
    int result = NW_OK;

    while (result >= 0) {
        int cleans = page->cleaning != 0 || blocks->free < plenty;
        int erases = blocks->ready < (cleans ? 1U : plenty) && blocks->free > 0;
        uint32_t cost = erases ? page->blocks.tagged.req.chip->geometry.erase_us : step_us(page);

        if (!cleans && !erases) {
            return 0;
        }
        if (cost > left) {
            return 1;
        }
        left -= cost;
        result = erases ? nw_blocks_prepare(blocks) : nw_page_clean_step(page);
    }
    return result == NW_ERR_FULL ? (int)NW_OK : result;
}

static int page_idle(struct nw_block_req *req)
{
    struct nw_page *page = req->block->context;

    if (page->writable == 0) {
        return NW_OK; /* the mount found no block: the next one has to find all as it is */
    }
    int result = nw_page_settle(page);

    if (result == NW_OK) {
        result = nw_blocks_heal(&page->blocks, req->budget_us);
    }
    if (result == 0) {
        page->blocks.idle = 1;
        result = work_ahead(page, req->budget_us);
        page->blocks.idle = 0;
    }
    return result;
}

static const struct nw_block_ops page_ops = {.read = page_read,
                                             .write = page_write,
                                             .trim = page_trim,
                                             .sync = page_sync,
                                             .idle = page_idle};

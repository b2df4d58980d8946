/* SPDX-License-Identifier: Apache-2.0 */
/* Opening a model, and the block device on top: its verbs, work ahead. See models.h. */
#include "nandwich-models/models.h"

#include <string.h>

#include "chain.h"

#define READY_AHEAD 4U /* blocks that idle keeps erased */
#define MOST_BLOCKS 65000U
#define MOST_SECTORS 0x08000000UL

/* Verbs */

/* Payload is given exactly when the chip keeps it. */
static int suits(const struct nw_chain *chain, const struct nw_block_req *req)
{
    return (req->data != NULL) == (chain->payload != 0);
}

static int model_read(struct nw_block_req *req)
{
    struct nw_chain *chain = req->block->context;
    uint8_t *data = req->data;

    if (!suits(chain, req)) {
        return NW_ERR_UNSUPPORTED;
    }
    for (; req->done < req->count; req->done++) {
        uint32_t sector = req->sector + req->done;
        uint32_t at;
        int result = chain->ops->find(chain, sector, &at);

        if (result == NW_OK && at != NW_NO_PAGE) {
            result = nw_chain_read(chain, at, sector, data);
        } else if (result == NW_OK && data != NULL) {
            memset(data, 0, chain->page_bytes);
        }
        if (result < 0) {
            return result;
        }
        chain->stats->host_reads++;
        data = data != NULL ? data + chain->page_bytes : NULL;
    }
    return NW_OK;
}

/* The wear policy hears once of each logical block that a request updates. */
static void tell_update(struct nw_chain *chain, uint32_t sector, int first)
{
    uint32_t at;

    if ((first || sector % chain->block_pages == 0) &&
        chain->ops->find(chain, sector, &at) == NW_OK && at != NW_NO_PAGE) {
        nw_blocks_updated(&chain->blocks, (uint16_t)(sector / chain->block_pages));
    }
}

/* What the wear policy wants moved. The sector is written by now, so an error is not told. */
static void level(struct nw_chain *chain)
{
    uint16_t block = nw_blocks_move(&chain->blocks);
    nw_count copies = chain->stats->copies;
    int result = NW_OK;

    if (block == NW_NO_BLOCK || chain->blocks.state[block] != NW_BLOCK_USED) {
        return;
    }
    while (result == NW_OK && chain->blocks.free <= NW_CHAIN_RESERVE) {
        result = chain->ops->merge(chain, 0);
    }
    if (result == NW_OK && chain->blocks.state[block] == NW_BLOCK_USED) {
        (void)chain->ops->evict(chain, block);
        nw_blocks_moved(&chain->blocks, (uint32_t)(chain->stats->copies - copies));
    }
}

static int model_write(struct nw_block_req *req)
{
    struct nw_chain *chain = req->block->context;
    struct nw_chain_put put = {.from = NW_NO_PAGE, .data = req->data};

    if (!suits(chain, req)) {
        return NW_ERR_UNSUPPORTED;
    }
    while (req->done < req->count) {
        put.sector = req->sector + req->done;
        if (chain->blocks.wear != NULL) {
            tell_update(chain, put.sector, req->done == 0);
        }
        int result = chain->ops->write(chain, &put);
        if (result < 0) {
            return result;
        }
        req->done++;
        chain->stats->host_writes++;
        if (chain->blocks.wear != NULL) {
            level(chain);
        }
        put.data = put.data != NULL ? put.data + chain->page_bytes : NULL;
    }
    return NW_OK;
}

static int model_trim(struct nw_block_req *req)
{
    struct nw_chain *chain = req->block->context;
    struct nw_chain_put zeros = {.from = NW_NO_PAGE};

    for (; req->done < req->count; req->done++) {
        uint32_t at;

        zeros.sector = req->sector + req->done;
        int result = chain->ops->find(chain, zeros.sector, &at);
        if (result == NW_OK && at != NW_NO_PAGE && chain->ops->drop != NULL) {
            chain->ops->drop(chain, zeros.sector);
        } else if (result == NW_OK && at != NW_NO_PAGE) {
            result = chain->ops->write(chain, &zeros);
        }
        if (result < 0) {
            return result;
        }
        chain->stats->host_trims++;
    }
    return NW_OK;
}

static int model_sync(struct nw_block_req *req)
{
    struct nw_chain *chain = req->block->context;

    chain->stats->syncs++;
    return NW_OK;
}

/* What one step towards a free block takes at most; a page that the chip copies costs a read of its
 * tag too. */
static uint32_t step_us(struct nw_chain *chain)
{
    const struct nw_geometry *geometry = &chain->chip->geometry;
    uint32_t pages = chain->block_pages;
    uint32_t reads = (chain->copies != 0 ? 2U * pages : pages) + nw_chain_step_reads(chain);

    return reads * geometry->read_us + pages * geometry->program_us + geometry->erase_us;
}

/* 1 if a merge has to wait until others are healed. What it gives back may have to be healed too,
 * and must not leave the writes that follow without free blocks. */
static int heals_first(const struct nw_chain *chain)
{
    const struct nw_wear *wear = chain->blocks.wear;

    return wear != NULL && wear->heal.count > 0 &&
           (wear->heal.config.period_s == 0 || chain->blocks.free <= NW_CHAIN_RESERVE);
}

/* Erase ahead, then merge until so many blocks are free above the reserve. */
static int work_ahead(struct nw_chain *chain, uint32_t left)
{
    struct nw_blocks *blocks = &chain->blocks;

    for (;;) { /* each step leaves less of the budget */
        int erases = blocks->ready < READY_AHEAD && blocks->ready < blocks->free;

        if (!erases && blocks->free >= NW_CHAIN_RESERVE + READY_AHEAD) {
            return 0;
        }
        uint32_t cost = erases ? chain->chip->geometry.erase_us : step_us(chain);
        if (cost > left || (!erases && heals_first(chain))) {
            return 1;
        }
        left -= cost;
        int result = erases ? nw_blocks_prepare(blocks) : chain->ops->merge(chain, 1);
        if (result < 0) {
            return result == NW_ERR_FULL ? 0 : result;
        }
    }
}

static int model_idle(struct nw_block_req *req)
{
    struct nw_chain *chain = req->block->context;
    int result = nw_blocks_heal(&chain->blocks, req->budget_us);

    if (result == 0) {
        chain->blocks.idle = 1;
        result = work_ahead(chain, req->budget_us);
        chain->blocks.idle = 0;
    }
    return result;
}

static const struct nw_block_ops model_ops = {.read = model_read,
                                              .write = model_write,
                                              .trim = model_trim,
                                              .sync = model_sync,
                                              .idle = model_idle};

/* Opening */

static uint32_t or_default(uint32_t value, uint32_t otherwise)
{
    return value != 0 ? value : otherwise;
}

static uint32_t spare_of(const struct nw_model_config *config, const struct nw_geometry *geometry)
{
    return or_default(config->spare_blocks, geometry->blocks / 14U + NW_MODEL_LEAST_SPARE);
}

/* log, fast: the shared or mapped blocks, at most. */
static uint32_t most_logs(const struct nw_model_config *config, const struct nw_geometry *geometry)
{
    uint32_t most = spare_of(config, geometry) - NW_CHAIN_RESERVE - 1U;

    if (config->kind == NW_MODEL_FAST) { /* the sequential one; and entries have 16 bits */
        uint32_t numbers = (NW_NO_BLOCK - 1U) / geometry->block_pages;
        uint32_t room = numbers > NW_FAST_MORE ? numbers - NW_FAST_MORE : 0;

        most = most - 1U < room ? most - 1U : room;
    }
    return most;
}

static int fits(const struct nw_model_config *config, const struct nw_geometry *geometry)
{
    uint32_t spare = spare_of(config, geometry);

    return config->kind <= NW_MODEL_PAGE && nw_geometry_check(geometry) >= 0 &&
           spare >= NW_MODEL_LEAST_SPARE && geometry->blocks > spare &&
           geometry->blocks <= MOST_BLOCKS && geometry->block_pages >= 4U &&
           geometry->page_bytes >= 256U && nw_tag_bytes(geometry) != 0 &&
           (geometry->blocks - spare) * geometry->block_pages < MOST_SECTORS;
}

/* What follows from the configuration; NW_ERR_CONFIG. */
static int shape(struct nw_chain *chain, const struct nw_model_config *config,
                 const struct nw_geometry *geometry)
{
    uint32_t degree = 1;
    uint32_t longest = 2;
    uint32_t logs = 0;
    uint32_t lists = 0;

    if (!fits(config, geometry)) {
        return NW_ERR_CONFIG;
    }
    switch (config->kind) {
    case NW_MODEL_PAGE: break;
    case NW_MODEL_NFTL: longest = or_default(config->degree, NW_MODEL_CHAIN); break;
    case NW_MODEL_SUPERBLOCK:
        degree = or_default(config->degree, NW_MODEL_DEGREE);
        longest = degree + or_default(config->log_blocks, NW_MODEL_LOGS);
        lists = or_default(config->lists, NW_MODEL_LISTS);
        break;
    default:
        logs = or_default(config->log_blocks, most_logs(config, geometry));
        lists = config->kind == NW_MODEL_LOG ? logs + 2U : 0;
        if (logs == 0 || logs > most_logs(config, geometry)) {
            return NW_ERR_CONFIG;
        }
    }
    uint32_t span = degree * geometry->block_pages;
    if (longest < 2U || longest - degree > NW_MODEL_MOST || degree > NW_MODEL_MOST ||
        span >= NW_NO_BLOCK || lists == 1U) {
        return NW_ERR_CONFIG;
    }
    chain->kind = config->kind;
    chain->sectors = (geometry->blocks - spare_of(config, geometry)) * geometry->block_pages;
    chain->block_pages = geometry->block_pages;
    chain->page_bytes = geometry->page_bytes;
    chain->degree = (uint16_t)degree;
    chain->longest = (uint16_t)longest;
    chain->log_blocks = (uint16_t)logs;
    chain->slots = (uint16_t)lists;
    chain->span = (uint16_t)span;
    chain->units = (uint16_t)((chain->sectors + span - 1U) / span);
    chain->missing = (uint16_t)((chain->units * span - chain->sectors) / geometry->block_pages);
    chain->bit_bytes = (uint16_t)((span - 1U) / 8U + 1U);
    return NW_OK;
}

/* The one place that knows the layout: measures or places. */
static int place(struct nw_chain *chain, const struct nw_geometry *geometry, struct nw_ram *ram)
{
    size_t blocks = geometry->blocks;
    size_t units = chain->units + (size_t)1;
    uint16_t lists = chain->kind == NW_MODEL_PAGE ? chain->block_pages : chain->longest;
    int result = nw_blocks_place(&chain->blocks, geometry, (uint16_t)(lists + 1U), ram);

    chain->buffer = NW_RAM_TAKE(ram, uint8_t, geometry->page_bytes);
    if (chain->kind == NW_MODEL_PAGE) {
        nw_mapped_place(chain, ram);
        return result;
    }
    if (chain->slots != 0) {
        chain->used = NW_RAM_TAKE(ram, uint32_t, chain->slots);
        chain->slot = NW_RAM_TAKE(ram, uint16_t, blocks);
        chain->listed = NW_RAM_TAKE(ram, uint16_t, chain->slots);
        chain->lists = NW_RAM_TAKE(ram, uint16_t, (size_t)chain->slots * geometry->block_pages);
    }
    if (chain->kind == NW_MODEL_FAST) {
        nw_fast_place(chain, ram);
    }
    chain->newest = NW_RAM_TAKE(ram, uint16_t, units);
    chain->length = NW_RAM_TAKE(ram, uint16_t, units);
    chain->older = NW_RAM_TAKE(ram, uint16_t, blocks);
    chain->owner = NW_RAM_TAKE(ram, uint16_t, blocks);
    chain->next = NW_RAM_TAKE(ram, uint16_t, blocks);
    chain->flags = NW_RAM_TAKE(ram, uint8_t, blocks);
    chain->bits = NW_RAM_TAKE(ram, uint8_t, blocks * chain->bit_bytes);
    chain->seen = NW_RAM_TAKE(ram, uint8_t, chain->bit_bytes);
    return result;
}

uint32_t nw_model_sectors(const struct nw_model_config *config, const struct nw_geometry *geometry)
{
    struct nw_chain chain;

    return shape(&chain, config, geometry) < 0 ? 0 : chain.sectors;
}

size_t nw_model_ram_bytes(const struct nw_model_config *config, const struct nw_geometry *geometry)
{
    struct nw_chain chain;
    struct nw_ram ram = {0};

    (void)NW_RAM_TAKE(&ram, struct nw_chain, 1);
    return shape(&chain, config, geometry) < 0 || place(&chain, geometry, &ram) < 0 ? 0 : ram.used;
}

static void clear(struct nw_chain *chain)
{
    size_t blocks = chain->blocks.count;
    size_t units = chain->units + (size_t)1;

    if (chain->kind == NW_MODEL_PAGE) {
        nw_mapped_clear(chain);
        return;
    }
    memset(chain->newest, 0xFF, sizeof *chain->newest * units);
    memset(chain->length, 0, sizeof *chain->length * units);
    memset(chain->owner, 0xFF, sizeof *chain->owner * blocks);
    if (chain->slots != 0) {
        memset(chain->used, 0, sizeof *chain->used * chain->slots);
        memset(chain->slot, 0xFF, sizeof *chain->slot * blocks);
        memset(chain->listed, 0xFF, sizeof *chain->listed * chain->slots);
    }
    if (chain->kind == NW_MODEL_FAST) {
        nw_fast_clear(chain);
    }
}

/* All good blocks, ready to be programmed. */
static int erase_all(struct nw_chain *chain)
{
    struct nw_blocks *blocks = &chain->blocks;
    int result = nw_blocks_load(blocks);

    for (uint16_t block = 0; result == NW_OK && block < blocks->count; block++) {
        if (blocks->state[block] != NW_BLOCK_BAD) {
            result = nw_blocks_wipe(blocks, block);
        }
    }
    if (result == NW_OK &&
        blocks->free < chain->sectors / chain->block_pages + NW_CHAIN_RESERVE + 1U) {
        return NW_ERR_FULL;
    }
    return result;
}

int nw_model_open(struct nw_model *model, struct nw_chip *chip,
                  const struct nw_model_config *config, void *ram, size_t ram_bytes)
{
    static const struct nw_chain_ops *const ops[] = {
        [NW_MODEL_NFTL] = &nw_fold_ops,
        [NW_MODEL_LOG] = &nw_fold_ops,
        [NW_MODEL_SUPERBLOCK] = &nw_superblock_ops,
        [NW_MODEL_FAST] = &nw_fast_ops,
        [NW_MODEL_PAGE] = &nw_mapped_ops,
    };
    const struct nw_geometry *geometry = &chip->geometry;
    struct nw_ram arena = {.start = ram, .bytes = ram_bytes};
    size_t bytes = nw_model_ram_bytes(config, geometry);

    if (bytes == 0) {
        return NW_ERR_CONFIG;
    }
    if (ram == NULL || bytes > ram_bytes) {
        return NW_ERR_RAM;
    }
    struct nw_chain *chain = NW_RAM_TAKE(&arena, struct nw_chain, 1);
    memset(chain, 0, sizeof *chain);
    memset(&model->stats, 0, sizeof model->stats);
    (void)shape(chain, config, geometry);
    (void)place(chain, geometry, &arena);
    clear(chain);
    chain->ops = ops[config->kind];
    chain->chip = chip;
    chain->stats = &model->stats;
    chain->in_order = (geometry->flags & NW_CHIP_IN_ORDER) != 0;
    chain->payload = (geometry->flags & NW_CHIP_NO_PAYLOAD) == 0;
    chain->copies = chip->ops->copy != NULL;
    chain->blocks.wear = config->wear;
    nw_tagged_open(&chain->blocks.tagged, chip, chain->stats);
    model->block = (struct nw_block){.ops = &model_ops,
                                     .context = chain,
                                     .sectors = chain->sectors,
                                     .sector_bytes = geometry->page_bytes,
                                     .stats = &model->stats};
    return erase_all(chain);
}

uint32_t nw_model_free_blocks(const struct nw_model *model)
{
    const struct nw_chain *chain = model->block.context;

    return chain->blocks.free;
}

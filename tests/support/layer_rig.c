/* SPDX-License-Identifier: Apache-2.0 */
#include "layer_rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Small pages: the trials check the content of whole devices many thousand times. */
const struct layer_shape layer_shapes[4] = {
    {.part = "K9F1G08U0A", .blocks = 19, .block_pages = 8, .page_bytes = 256, .spare_blocks = 11,
     .degree = 3},
    {.part = "W25N01GV", .blocks = 18, .block_pages = 12, .page_bytes = 256, .spare_blocks = 11},
    {.part = "TC58DVG02A1FT00", .blocks = 19, .block_pages = 8, .page_bytes = 256,
     .spare_blocks = 11, .degree = 4, .nand_flags = NW_NAND_UNERASED},
    {.part = "K9LBG08U0M", .blocks = 18, .block_pages = 10, .page_bytes = 256, .erased = 0x00,
     .spare_blocks = 11, .degree = 2},
};

const struct layer_shape layer_shape_large = {
    .part = "K9F1G08U0A", .blocks = 18, .block_pages = 8, .spare_blocks = 10};

const struct layer_shape layer_shape_small = {
    .part = "TC58DVG02A1FT00", .blocks = 24, .block_pages = 8, .spare_blocks = 11, .degree = 3};

static void die(const char *what, int error)
{
    (void)fprintf(stderr, "layer rig: %s: %s\n", what, nw_error_text(error));
    abort();
}

static void *need(size_t bytes)
{
    void *memory = calloc(1, bytes);

    if (memory == NULL) {
        die("memory", NW_ERR_RAM);
    }
    return memory;
}

static void open_nand(struct layer_rig *rig, uint32_t seed)
{
    const struct layer_shape *shape = rig->shape;
    struct nw_part part;
    int result = nw_parts_get(shape->part, &part);

    if (result < 0) {
        die(shape->part, result);
    }
    part.blocks = shape->blocks;
    part.block_pages = shape->block_pages;
    part.page_bytes = shape->page_bytes != 0 ? shape->page_bytes : part.page_bytes;
    part.spare_bytes = shape->spare_bytes != 0 ? shape->spare_bytes : part.spare_bytes;
    part.program_bytes = part.program_bytes > part.page_bytes ? part.page_bytes
                                                              : part.program_bytes;
    part.factory_bad = part.factory_bad > 1U ? 1U : part.factory_bad;
    if (strcmp(shape->part, "K9LBG08U0M") == 0) {
        part.program_bytes = part.page_bytes;
        part.erased = shape->erased;
    }
    if (shape->no_copy != 0) {
        part.copy = 0;
    }
    struct nw_nand_config config = {.part = &part, .seed = seed, .flags = shape->nand_flags};
    result = nw_nand_open(&rig->nand, &config);
    if (result < 0) {
        die("open", result);
    }
}

void layer_rig_open(struct layer_rig *rig, const struct nw_layer_kind *kind,
                    const struct layer_shape *shape, uint32_t seed)
{
    memset(rig, 0, sizeof *rig);
    rig->fitted = *shape;
    rig->shape = &rig->fitted;
    if (kind == &nw_layer_tree) { /* its blocks have 16 pages or more, 12 are spare or more */
        rig->fitted.block_pages = (uint16_t)(2U * shape->block_pages);
        rig->fitted.spare_blocks = shape->spare_blocks < 12U ? 12U : shape->spare_blocks;
    }
    shape = rig->shape;
    rig->kind = kind;
    rig->lost = UINT32_MAX;
    rig->trims_late = kind->model == 0; /* models write a trim at once */
    rig->config = (struct nw_layer_config){.spare_blocks = shape->spare_blocks,
                                           .log_blocks = shape->log_blocks,
                                           .degree = shape->degree,
                                           .maps = shape->maps};
    open_nand(rig, seed);
    rig->site = (struct nw_layer_site){.config = &rig->config,
                                       .chip = nw_nand_chip(rig->nand),
                                       .chip_name = shape->part,
                                       .state = need(kind->state_bytes)};
    rig->site.ram_bytes = kind->ram_bytes(&rig->site);
    if (rig->site.ram_bytes == 0) {
        die("the layer does not work here", NW_ERR_CONFIG);
    }
    rig->site.ram = need(rig->site.ram_bytes);
    int result = kind->format(&rig->site, &rig->block);
    if (result < 0) {
        die("format", result);
    }
    rig->sectors = rig->block->sectors;
    rig->page_bytes = rig->block->sector_bytes;
    rig->model = need(rig->sectors * sizeof *rig->model);
    rig->data = need((size_t)LAYER_RIG_RUN * rig->page_bytes);
    rig->expected = need(rig->page_bytes);
}

void layer_rig_close(struct layer_rig *rig)
{
    nw_nand_close(rig->nand);
    free(rig->site.state);
    free(rig->site.ram);
    free(rig->model);
    free(rig->data);
    free(rig->expected);
}

int layer_rig_mount(struct layer_rig *rig)
{
    memset(rig->site.ram, 0xC3, rig->site.ram_bytes);
    if (rig->kind->mount == NULL) {
        memset(rig->model, 0, rig->sectors * sizeof *rig->model);
        return rig->kind->format(&rig->site, &rig->block);
    }
    return rig->kind->mount(&rig->site, &rig->block);
}

void layer_rig_quiet(struct layer_rig *rig)
{
    rig->fault = (struct nw_fault){.verb = NW_VERB_HEAL};
}

int layer_rig_filter(struct layer_rig *rig)
{
    layer_rig_quiet(rig);
    nw_faults_open(&rig->faults, nw_nand_chip(rig->nand), &rig->fault, 1, 1);
    rig->site.chip = &rig->faults.chip;
    return layer_rig_mount(rig);
}

/* The content of write number `token`: all words differ, so that a mix of two writes shows. */
static void fill(uint8_t *data, uint32_t bytes, uint32_t token)
{
    for (uint32_t i = 0; i + 4U <= bytes; i += 4U) {
        uint32_t word = token == 0 ? 0 : token ^ (i * 2654435761U);
        memcpy(data + i, &word, 4);
    }
}

static int run_write(struct layer_rig *rig, const struct layer_op *op)
{
    int has_data = (rig->shape->nand_flags & NW_NAND_NO_PAYLOAD) == 0;
    struct nw_block_req req = {.block = rig->block,
                               .sector = op->sector,
                               .count = op->count,
                               .data = has_data ? rig->data : NULL};

    for (uint32_t i = 0; i < op->count; i++) {
        fill(rig->data + (size_t)i * rig->page_bytes, rig->page_bytes, ++rig->token);
    }
    int result = nw_block_write(&req);
    for (uint32_t i = 0; i < op->count; i++) {
        struct layer_model *model = &rig->model[op->sector + i];
        uint32_t token = rig->token - op->count + 1U + i;

        if (i < req.done) {
            *model = (struct layer_model){.now = token};
        } else if (i == req.done) { /* later ones were not begun */
            model->coming = token;
            model->has_coming = 1;
        }
    }
    return result;
}

/* What a trim has done: of `count` sectors the first `done` were acknowledged. */
static void model_trim(struct layer_rig *rig, const struct layer_op *op, uint32_t done)
{
    for (uint32_t i = 0; i < done; i++) {
        struct layer_model *model = &rig->model[op->sector + i];

        if (rig->trims_late == 0) {
            *model = (struct layer_model){0};
        } else if (model->now != 0) {
            model->before = model->now;
            model->has_before = 1;
            model->now = 0;
        }
    }
    if (done < op->count && rig->trims_late == 0) {
        rig->model[op->sector + done].coming = 0;
        rig->model[op->sector + done].has_coming = 1;
    }
}

int layer_rig_run(struct layer_rig *rig, const struct layer_op *op)
{
    struct nw_block_req req = {.block = rig->block,
                               .sector = op->sector,
                               .count = op->count,
                               .budget_us = op->count};
    int result;

    switch (op->kind) {
    case OP_WRITE: return run_write(rig, op);
    case OP_TRIM:
        result = nw_block_trim(&req);
        model_trim(rig, op, req.done);
        return result;
    case OP_SYNC:
        result = nw_block_sync(&req);
        for (uint32_t i = 0; result == NW_OK && i < rig->sectors; i++) {
            rig->model[i].has_before = 0;
        }
        return result;
    case OP_IDLE: return nw_block_idle(&req);
    default: nw_nand_doom(rig->nand, op->sector, op->kind == OP_DOOM_PROGRAM); return NW_OK;
    }
}

struct layer_op layer_rig_draw(struct layer_rig *rig, struct nw_random *random)
{
    struct layer_op op = {.kind = OP_WRITE};
    uint32_t dice = nw_random_below(random, 100);
    uint32_t hot = rig->sectors / 8U + 1U;

    op.count = 1U + (nw_random_below(random, 4) == 0 ? nw_random_below(random, LAYER_RIG_RUN) : 0U);
    op.sector = nw_random_below(random, nw_random_below(random, 2) == 0 ? hot : rig->sectors);
    if (op.count > rig->sectors - op.sector) {
        op.count = rig->sectors - op.sector;
    }
    if (dice >= 95U) {
        op.kind = OP_IDLE;
        op.count = nw_random_below(random, 6000);
    } else if (dice >= 88U) {
        op.kind = OP_SYNC;
    } else if (dice >= 74U) {
        op.kind = OP_TRIM;
    }
    return op;
}

/* What the sector shows, given its first word: the number of a write, 0, or UINT32_MAX. */
static uint32_t token_of(struct layer_rig *rig, const uint8_t *data)
{
    uint32_t token;

    memcpy(&token, data, 4);
    fill(rig->expected, rig->page_bytes, token);
    return memcmp(rig->expected, data, rig->page_bytes) == 0 ? token : UINT32_MAX;
}

void layer_rig_spoil(struct layer_rig *rig, uint32_t sector, int in_tag)
{
    const struct nw_geometry *geometry = &nw_nand_chip(rig->nand)->geometry;
    uint32_t bit = in_tag ? 8U * (geometry->page_bytes + 2U) : 64U;

    fill(rig->expected, rig->page_bytes, rig->model[sector].now);
    for (uint32_t page = 0; page < geometry->blocks * geometry->block_pages; page++) {
        nw_nand_peek(rig->nand, page, rig->data, NULL);
        if (nw_nand_page_programs(rig->nand, page) > 0 &&
            memcmp(rig->data, rig->expected, rig->page_bytes) == 0) {
            nw_nand_flip(rig->nand, page, bit);
            nw_nand_flip(rig->nand, page, bit + 3U);
        }
    }
    rig->lost = sector;
}

/* Reads a spoilt sector: 0 if it tells. */
static int check_lost(struct layer_rig *rig, uint32_t sector, int result)
{
    if (result != NW_ERR_CORRUPT && result != NW_ERR_ECC) {
        (void)snprintf(rig->why, sizeof rig->why, "sector %u is spoilt and reads well",
                       (unsigned)sector);
        return -1;
    }
    return 0;
}

int layer_rig_check(struct layer_rig *rig, int settle)
{
    for (uint32_t sector = 0; sector < rig->sectors; sector++) {
        struct layer_model *model = &rig->model[sector];
        struct nw_block_req req = {
            .block = rig->block, .sector = sector, .count = 1, .data = rig->data};
        int result = nw_block_read(&req);
        uint32_t token = result < 0 ? UINT32_MAX : token_of(rig, rig->data);

        if (sector == rig->lost) {
            if (check_lost(rig, sector, result) < 0) {
                return -1;
            }
            continue;
        }
        if (result < 0) {
            (void)snprintf(rig->why, sizeof rig->why, "sector %u: %s", (unsigned)sector,
                           nw_error_text(result));
            return -1;
        }
        if (token != model->now && !(model->has_before != 0 && token == model->before) &&
            !(model->has_coming != 0 && token == model->coming)) {
            (void)snprintf(rig->why, sizeof rig->why,
                           "sector %u reads as write %u, wanted %u, before %u (%u), coming %u (%u)",
                           (unsigned)sector, (unsigned)token, (unsigned)model->now,
                           (unsigned)model->before, (unsigned)model->has_before,
                           (unsigned)model->coming, (unsigned)model->has_coming);
            return -1;
        }
        if (settle != 0) {
            *model = (struct layer_model){.now = token};
        }
    }
    return 0;
}

int layer_rig_clean(struct layer_rig *rig)
{
    const struct nw_misuse *misuse = nw_nand_misuse(rig->nand);

    if (misuse->error == 0) {
        return 0;
    }
    (void)nw_misuse_text(misuse, rig->why, sizeof rig->why);
    return -1;
}

void layer_snapshot_open(struct layer_snapshot *snapshot, const struct layer_rig *rig)
{
    snapshot->state = need(rig->kind->state_bytes);
    snapshot->ram = need(rig->site.ram_bytes);
    snapshot->model = need(rig->sectors * sizeof *rig->model);
    if (nw_nand_fork(&snapshot->nand, rig->nand) < 0) {
        die("fork", NW_ERR_RAM);
    }
}

void layer_snapshot_take(struct layer_snapshot *snapshot, const struct layer_rig *rig)
{
    if (nw_nand_assign(snapshot->nand, rig->nand) < 0) {
        die("assign", NW_ERR_CONFIG);
    }
    memcpy(snapshot->state, rig->site.state, rig->kind->state_bytes);
    memcpy(snapshot->ram, rig->site.ram, rig->site.ram_bytes);
    memcpy(snapshot->model, rig->model, rig->sectors * sizeof *rig->model);
    snapshot->token = rig->token;
}

void layer_snapshot_restore(const struct layer_snapshot *snapshot, struct layer_rig *rig)
{
    if (nw_nand_assign(rig->nand, snapshot->nand) < 0) {
        die("assign", NW_ERR_CONFIG);
    }
    memcpy(rig->site.state, snapshot->state, rig->kind->state_bytes);
    memcpy(rig->site.ram, snapshot->ram, rig->site.ram_bytes);
    memcpy(rig->model, snapshot->model, rig->sectors * sizeof *rig->model);
    rig->token = snapshot->token;
}

void layer_snapshot_close(struct layer_snapshot *snapshot)
{
    nw_nand_close(snapshot->nand);
    free(snapshot->state);
    free(snapshot->ram);
    free(snapshot->model);
}

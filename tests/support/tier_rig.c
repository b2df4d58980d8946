/* SPDX-License-Identifier: Apache-2.0 */
#include "tier_rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RUN 8U /* sectors of a request, at most */

static void die(const char *what, int error)
{
    (void)fprintf(stderr, "tier rig: %s: %s\n", what, nw_error_text(error));
    abort();
}

static void *need(size_t count, size_t bytes)
{
    void *memory = calloc(count, bytes);

    if (memory == NULL) {
        die("memory", NW_ERR_RAM);
    }
    return memory;
}

/* The fuse */

/* Before an operation on the chip: is there power? Arms the cut that strikes in it. */
static int chip_power(struct tier_rig *rig, int changes)
{
    struct nw_cut cut = {.phase = rig->phase, .data = rig->torn, .spare = rig->torn};

    if (rig->off == 0 && changes && rig->changes++ == rig->blow_at) {
        nw_nand_cut(rig->below.nand, &cut);
    }
    return rig->off == 0;
}

/* A change is asked for: does it fail? */
static int is_failing(struct tier_rig *rig)
{
    uint32_t at = rig->writes++;

    return at >= rig->fail_at && at - rig->fail_at < rig->fail_times;
}

static int pass(struct nw_chip_req *req, int (*verb)(struct nw_chip_req *), int changes)
{
    struct nw_chip *own = req->chip;
    struct tier_rig *rig = own->context;

    if (!chip_power(rig, changes)) {
        return NW_ERR_POWER;
    }
    int fails = changes && is_failing(rig);
    if (fails && rig->fail_acts == 0) {
        return NW_ERR_IO;
    }
    req->chip = nw_nand_chip(rig->below.nand);
    int result = verb(req);
    req->chip = own;
    rig->off = nw_nand_is_off(rig->below.nand) != 0;
    return fails ? (int)NW_ERR_IO : result;
}

#define FUSED(verb, changes)                             \
    static int fused_##verb(struct nw_chip_req *req)     \
    {                                                    \
        return pass(req, nw_chip_##verb, changes);       \
    }

FUSED(program, 1)
FUSED(is_bad, 0)
FUSED(mark_bad, 1)
FUSED(copy, 1)

static int fused_read(struct nw_chip_req *req)
{
    const struct tier_rig *rig = req->chip->context;

    return req->page == rig->rotten ? (int)NW_ERR_ECC : pass(req, nw_chip_read, 0);
}

static int fused_erase(struct nw_chip_req *req)
{
    struct tier_rig *rig = req->chip->context;

    if (rig->rotten / rig->chip.geometry.block_pages == req->block) {
        rig->rotten = UINT32_MAX;
    }
    return pass(req, nw_chip_erase, 1);
}

static int fused_nvm_read(struct nw_nvm_req *req)
{
    struct tier_rig *rig = req->nvm->context;

    if (rig->off != 0) {
        return NW_ERR_POWER;
    }
    struct nw_nvm_req below = *req;
    below.nvm = nw_nvm_twin_nvm(rig->twin);
    return nw_nvm_read(&below);
}

static int fused_nvm_write(struct nw_nvm_req *req)
{
    struct tier_rig *rig = req->nvm->context;
    struct nw_nvm_req below = *req;
    int fails = is_failing(rig);

    if (rig->off != 0) {
        return NW_ERR_POWER;
    }
    if (rig->changes++ == rig->blow_at) {
        nw_nvm_twin_cut(rig->twin, 0);
        rig->off = 1;
    }
    if (fails && rig->fail_acts == 0) {
        return NW_ERR_IO;
    }
    below.nvm = nw_nvm_twin_nvm(rig->twin);
    int result = nw_nvm_write(&below);
    return fails ? (int)NW_ERR_IO : result;
}

static const struct nw_nvm_ops fused_nvm = {fused_nvm_read, fused_nvm_write};

static void put_fuse(struct tier_rig *rig)
{
    const struct nw_chip *below = nw_nand_chip(rig->below.nand);
    const struct nw_nvm *nvm = nw_nvm_twin_nvm(rig->twin);

    rig->blow_at = UINT32_MAX;
    rig->fail_at = UINT32_MAX;
    rig->fail_times = 1;
    rig->rotten = UINT32_MAX;
    rig->chip_ops = (struct nw_chip_ops){.read = fused_read,
                                         .program = fused_program,
                                         .erase = fused_erase,
                                         .is_bad = fused_is_bad,
                                         .mark_bad = fused_mark_bad,
                                         .copy = below->ops->copy != NULL ? fused_copy : NULL};
    rig->chip = (struct nw_chip){
        .ops = &rig->chip_ops, .context = rig, .geometry = below->geometry};
    rig->chip.geometry.buffers = 0;
    rig->below.site.chip = &rig->chip;
    rig->nvm = *nvm;
    rig->nvm.ops = &fused_nvm;
    rig->nvm.context = rig;
}

void tier_rig_cut(struct tier_rig *rig, uint32_t after, uint8_t phase, uint8_t torn)
{
    rig->changes = 0;
    rig->blow_at = after;
    rig->phase = phase;
    rig->torn = torn;
}

/* Open */

void tier_rig_open(struct tier_rig *rig, const struct layer_shape *shape, uint32_t nvm_bytes,
                   uint32_t lambda, uint8_t reads)
{
    struct layer_shape unstable = *shape;
    struct nw_part part;

    memset(rig, 0, sizeof *rig);
    unstable.nand_flags |= NW_NAND_UNSTABLE;
    layer_rig_open(&rig->below, &nw_layer_tree, &unstable, 1);
    int result = nw_parts_get("PCM-16M", &part);
    struct nw_nvm_twin_config config = {.part = &part, .bytes = nvm_bytes, .seed = 1};
    if (result >= 0) {
        result = nw_nvm_twin_open(&rig->twin, &config);
    }
    if (result < 0) {
        die("nvm", result);
    }
    put_fuse(rig);
    result = layer_rig_mount(&rig->below);
    if (result < 0) {
        die("mount", result);
    }
    rig->config = (struct nw_tier_config){.flash = rig->below.block,
                                          .nvm = &rig->nvm,
                                          .policy = &rig->lrfu.policy,
                                          .identity = 4711};
    size_t lrfu_bytes = nw_tier_lrfu_ram_bytes(1000);
    rig->lrfu_ram = need(1, lrfu_bytes);
    (void)nw_tier_lrfu_open(&rig->lrfu, lambda, reads, 1000, rig->lrfu_ram, lrfu_bytes);
    rig->ram_bytes = nw_tier_ram_bytes(&rig->config);
    rig->ram = need(1, rig->ram_bytes);
    result = nw_tier_format(&rig->tier, &rig->config, rig->ram, rig->ram_bytes);
    if (result < 0) {
        die("format", result);
    }
    rig->sectors = rig->tier.block.sectors;
    rig->model = need(rig->sectors, sizeof *rig->model);
    for (uint32_t i = 0; i < rig->sectors; i++) {
        rig->model[i].count = 1;
    }
    rig->data = need(RUN, rig->tier.block.sector_bytes);
}

void tier_rig_close(struct tier_rig *rig)
{
    layer_rig_close(&rig->below);
    nw_nvm_twin_close(rig->twin);
    free(rig->lrfu_ram);
    free(rig->ram);
    free(rig->model);
    free(rig->data);
}

int tier_rig_mount(struct tier_rig *rig)
{
    nw_nand_power_up(rig->below.nand);
    nw_nvm_twin_power_up(rig->twin);
    rig->off = 0;
    memset(rig->ram, 0xA5, rig->ram_bytes);
    int result = layer_rig_mount(&rig->below);
    if (result == NW_OK) {
        rig->config.flash = rig->below.block;
        result = nw_tier_mount(&rig->tier, &rig->config, rig->ram, rig->ram_bytes);
    }
    return result;
}

/* Verbs */

static void fill(const struct tier_rig *rig, uint8_t *data, uint32_t token)
{
    for (uint32_t i = 0; i + 4U <= rig->tier.block.sector_bytes; i += 4U) {
        uint32_t word = token == 0 ? 0 : token ^ (i * 2654435761U);
        memcpy(data + i, &word, 4);
    }
}

/* A value that a sector may have from now on: it has it, or shows it after a cut only. */
static void add_value(struct tier_rig *rig, uint32_t sector, uint32_t token, int done)
{
    struct tier_model *model = &rig->model[sector];

    if (model->count == TIER_RIG_VALUES) {
        die("more values of a sector than the model holds", NW_ERR_FULL);
    }
    model->value[model->count] = token;
    if (!done) { /* behind the one it has */
        model->value[model->count] = model->value[model->count - 1U];
        model->value[model->count - 1U] = token;
    }
    model->count++;
}

int tier_rig_write(struct tier_rig *rig, uint32_t sector, uint32_t count)
{
    struct nw_block_req req = {
        .block = &rig->tier.block, .sector = sector, .count = count, .data = rig->data};
    uint32_t first = rig->token + 1U;

    for (uint32_t i = 0; i < count; i++) {
        fill(rig, rig->data + (size_t)i * rig->tier.block.sector_bytes, ++rig->token);
    }
    int result = nw_block_write(&req);
    for (uint32_t i = 0; i < count && i <= req.done; i++) {
        add_value(rig, sector + i, first + i, i < req.done);
    }
    return result;
}

int tier_rig_read(struct tier_rig *rig, uint32_t sector, uint32_t count)
{
    struct nw_block_req req = {
        .block = &rig->tier.block, .sector = sector, .count = count, .data = rig->data};

    return nw_block_read(&req);
}

int tier_rig_trim(struct tier_rig *rig, uint32_t sector, uint32_t count)
{
    struct nw_block_req req = {.block = &rig->tier.block, .sector = sector, .count = count};
    int result = nw_block_trim(&req);

    for (uint32_t i = 0; i < count && i <= req.done; i++) {
        add_value(rig, sector + i, 0, i < req.done);
    }
    return result;
}

int tier_rig_sync(struct tier_rig *rig)
{
    struct nw_block_req req = {.block = &rig->tier.block};
    int result = nw_block_sync(&req);

    for (uint32_t i = 0; i < rig->sectors && result == NW_OK; i++) {
        rig->model[i].value[0] = rig->model[i].value[rig->model[i].count - 1U];
        rig->model[i].count = 1;
    }
    return result;
}

int tier_rig_idle(struct tier_rig *rig, uint32_t budget_us)
{
    struct nw_block_req req = {.block = &rig->tier.block, .budget_us = budget_us};

    return nw_block_idle(&req);
}

/* What a sector shows: the number of a write, 0, or UINT32_MAX. */
static uint32_t token_of(struct tier_rig *rig)
{
    uint8_t *expected = rig->data + rig->tier.block.sector_bytes;
    uint32_t token;

    memcpy(&token, rig->data, 4);
    fill(rig, expected, token);
    return memcmp(expected, rig->data, rig->tier.block.sector_bytes) == 0 ? token : UINT32_MAX;
}

int tier_rig_check(struct tier_rig *rig, int settle)
{
    for (uint32_t sector = 0; sector < rig->sectors; sector++) {
        struct tier_model *model = &rig->model[sector];
        struct nw_block_req req = {
            .block = &rig->tier.block, .sector = sector, .count = 1, .data = rig->data};
        int result = nw_block_read(&req);
        uint32_t token = result < 0 ? UINT32_MAX : token_of(rig);
        uint32_t i = settle ? 0 : model->count - 1U;

        while (i < model->count && model->value[i] != token) {
            i++;
        }
        if (i == model->count) {
            (void)snprintf(rig->why, sizeof rig->why, "sector %u reads as write %u (%s), wanted %u",
                           (unsigned)sector, (unsigned)token, nw_error_text(result),
                           (unsigned)model->value[model->count - 1U]);
            return -1;
        }
        if (settle == 1) {
            model->value[0] = token;
            model->count = 1;
        } else if (i != model->count - 1U) { /* a cut may still bring the other one */
            model->value[i] = model->value[model->count - 1U];
            model->value[model->count - 1U] = token;
        }
    }
    return 0;
}

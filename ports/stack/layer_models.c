/* SPDX-License-Identifier: Apache-2.0 */
/* The models of published layers, by name. */
#include "nandwich-models/models.h"
#include "nandwich-stack/layers.h"

static struct nw_model_config config_of(const struct nw_layer_site *site, uint8_t kind)
{
    return (struct nw_model_config){.kind = kind,
                                    .wear = site->config->wear,
                                    .spare_blocks = site->config->spare_blocks,
                                    .log_blocks = site->config->log_blocks,
                                    .degree = site->config->degree,
                                    .lists = site->config->maps};
}

static uint32_t all_sectors(const struct nw_layer_site *site, uint8_t kind)
{
    struct nw_model_config config = config_of(site, kind);

    return nw_model_sectors(&config, &site->chip->geometry);
}

/* 0: fewer than are asked for. */
static uint32_t sectors(const struct nw_layer_site *site, uint8_t kind)
{
    uint32_t all = all_sectors(site, kind);

    return site->config->sectors <= all ? all : 0;
}

static size_t ram_bytes(const struct nw_layer_site *site, uint8_t kind)
{
    struct nw_model_config config = config_of(site, kind);

    return nw_model_ram_bytes(&config, &site->chip->geometry);
}

static int format(const struct nw_layer_site *site, uint8_t kind, struct nw_block **block)
{
    struct nw_model_config config = config_of(site, kind);
    struct nw_model *model = site->state;

    *block = &model->block;
    return nw_model_open(model, site->chip, &config, site->ram, site->ram_bytes);
}

static uint32_t free_blocks(const void *state)
{
    return nw_model_free_blocks(state);
}

static int refuse(const struct nw_layer_site *site, uint8_t kind, int error, struct nw_why *why)
{
    static const char *const names[] = {"nftl", "log", "superblock", "fast", "page"};
    static const char *const own[] = {
        "a chain of 2 to 65 blocks", "at most spare_blocks - 7 log blocks",
        "a degree (logical blocks a superblock) and log blocks of 64 at most, below 65,535 sectors "
        "a superblock",
        "at most spare_blocks - 8 log blocks", "at most 65,527 blocks and pages of one together"};
    const struct nw_geometry *geometry = &site->chip->geometry;
    uint32_t all = all_sectors(site, kind);

    if (all == 0) {
        return nw_refuse(why, error,
                         "the %s layer does not work on %s with %u blocks of %u pages of %u B, "
                         "%u B of spare a page (%u blocks kept back; 0: a part of them): it needs "
                         "more blocks than it keeps back, at least 10 of these, at most 65,000 "
                         "blocks, 4 pages a block, 256 B a page, 15 B of spare, and %s",
                         names[kind], site->chip_name, geometry->blocks, geometry->block_pages,
                         geometry->page_bytes, geometry->spare_bytes, site->config->spare_blocks,
                         own[kind]);
    }
    if (all < site->config->sectors) {
        return nw_refuse(why, error,
                         "the %s layer on %s has %u sectors of %u B, asked for are %u: choose a "
                         "larger chip or fewer spare blocks",
                         names[kind], site->chip_name, all, geometry->page_bytes,
                         site->config->sectors);
    }
    return nw_refuse(why, error, "%s layer on %s: %s", names[kind], site->chip_name,
                     nw_error_text(error));
}

/* An entry of the table; `kind` is one of enum nw_model_kind. */
#define MODEL(word, kind, line)                                                                 \
    static uint32_t word##_sectors(const struct nw_layer_site *site)                            \
    {                                                                                           \
        return sectors(site, kind);                                                             \
    }                                                                                           \
    static size_t word##_ram_bytes(const struct nw_layer_site *site)                            \
    {                                                                                           \
        return ram_bytes(site, kind);                                                           \
    }                                                                                           \
    static int word##_format(const struct nw_layer_site *site, struct nw_block **block)         \
    {                                                                                           \
        return format(site, kind, block);                                                       \
    }                                                                                           \
    static int word##_refuse(const struct nw_layer_site *site, int error, struct nw_why *why)   \
    {                                                                                           \
        return refuse(site, kind, error, why);                                                  \
    }                                                                                           \
    const struct nw_layer_kind nw_layer_##word = {                                              \
        .name = #word,                                                                          \
        .what = line,                                                                           \
        .wears = 1,                                                                             \
        .tags = 1,                                                                              \
        .model = 1,                                                                             \
        .state_bytes = sizeof(struct nw_model),                                                 \
        .sectors = word##_sectors,                                                              \
        .ram_bytes = word##_ram_bytes,                                                          \
        .format = word##_format,                                                                \
        .free_blocks = free_blocks,                                                             \
        .refuse = word##_refuse,                                                                \
    }

MODEL(page, NW_MODEL_PAGE, "a map of all pages, greedy cleaning; a model, forgets with power");
MODEL(nftl, NW_MODEL_NFTL, "chains of replacement blocks (NFTL); a model, forgets with power");
MODEL(log, NW_MODEL_LOG, "one log block a data block (BAST); a model, forgets with power");
MODEL(superblock, NW_MODEL_SUPERBLOCK,
      "neighbouring logical blocks share blocks; a model, forgets with power");
MODEL(fast, NW_MODEL_FAST,
      "log blocks shared by all, one sequential (FAST); a model, forgets with power");

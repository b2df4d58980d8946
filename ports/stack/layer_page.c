/* SPDX-License-Identifier: Apache-2.0 */
/* The page-mapped layer, by name. */
#include "nandwich-stack/layers.h"
#include "nandwich/ftl_page.h"
#include "nandwich/ftl_page_check.h"

static struct nw_ftl_page_config config_of(const struct nw_layer_site *site)
{
    return (struct nw_ftl_page_config){.spare_blocks = site->config->spare_blocks,
                                       .wear = site->config->wear};
}

static uint32_t page_sectors(const struct nw_layer_site *site)
{
    struct nw_ftl_page_config config = config_of(site);
    uint32_t sectors = nw_ftl_page_sectors(&config, &site->chip->geometry);

    return site->config->sectors <= sectors ? sectors : 0;
}

static size_t page_ram_bytes(const struct nw_layer_site *site)
{
    struct nw_ftl_page_config config = config_of(site);

    return nw_ftl_page_ram_bytes(&config, &site->chip->geometry);
}

static int page_format(const struct nw_layer_site *site, struct nw_block **block)
{
    struct nw_ftl_page_config config = config_of(site);
    struct nw_ftl_page *ftl = site->state;

    *block = &ftl->block;
    return nw_ftl_page_format(ftl, site->chip, &config, site->ram, site->ram_bytes);
}

static int page_mount(const struct nw_layer_site *site, struct nw_block **block)
{
    struct nw_ftl_page_config config = config_of(site);
    struct nw_ftl_page *ftl = site->state;

    *block = &ftl->block;
    return nw_ftl_page_mount(ftl, site->chip, &config, site->ram, site->ram_bytes);
}

static uint32_t page_free_blocks(const void *state)
{
    return nw_ftl_page_free_blocks(state);
}

static int page_refuse(const struct nw_layer_site *site, int error, struct nw_why *why)
{
    const struct nw_geometry *geometry = &site->chip->geometry;
    struct nw_ftl_page_config config = config_of(site);
    uint32_t sectors = nw_ftl_page_sectors(&config, geometry);

    if (sectors == 0) {
        return nw_refuse(why, error,
                         "the page layer does not work on %s with %u blocks of %u pages, %u B of "
                         "spare a page and programs of %u B (%u blocks kept back; 0: a part of "
                         "them): it needs more blocks than it keeps back, at least 10 of these, 8 "
                         "to 32767 pages a block, at most 65,526 blocks and pages of one together, "
                         "15 B of spare, and whole pages",
                         site->chip_name, geometry->blocks, geometry->block_pages,
                         geometry->spare_bytes, geometry->program_bytes, config.spare_blocks);
    }
    if (sectors < site->config->sectors) {
        return nw_refuse(why, error,
                         "the page layer on %s has %u sectors of %u B, asked for are %u: choose a "
                         "smaller size (vm), a larger chip or fewer spare blocks",
                         site->chip_name, sectors, geometry->page_bytes, site->config->sectors);
    }
    return nw_refuse(why, error, "page layer on %s: %s", site->chip_name, nw_error_text(error));
}

const struct nw_layer_kind nw_layer_page = {
    .name = "page",
    .what = "page-mapped log, greedy cleaning",
    .state_bytes = sizeof(struct nw_ftl_page),
    .wears = 1,
    .tags = 1,
    .sectors = page_sectors,
    .ram_bytes = page_ram_bytes,
    .format = page_format,
    .mount = page_mount,
    .free_blocks = page_free_blocks,
    .refuse = page_refuse,
};

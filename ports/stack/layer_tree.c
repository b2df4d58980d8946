/* SPDX-License-Identifier: Apache-2.0 */
/* The tree layer, by name. */
#include "nandwich-stack/layers.h"
#include "nandwich/ftl_tree.h"
#include "nandwich/ftl_tree_check.h"

static struct nw_ftl_tree_config config_of(const struct nw_layer_site *site)
{
    return (struct nw_ftl_tree_config){.spare_blocks = site->config->spare_blocks,
                                       .scrub_bits = site->config->scrub_bits};
}

static uint32_t tree_sectors(const struct nw_layer_site *site)
{
    struct nw_ftl_tree_config config = config_of(site);
    uint32_t sectors = nw_ftl_tree_sectors(&config, &site->chip->geometry);

    return site->config->sectors <= sectors ? sectors : 0;
}

/* The least, and `maps` nodes in a cache. */
static size_t tree_ram_bytes(const struct nw_layer_site *site)
{
    struct nw_ftl_tree_config config = config_of(site);
    size_t least = nw_ftl_tree_ram_bytes(&config, &site->chip->geometry);
    size_t node = site->chip->geometry.page_bytes + sizeof(uint32_t);

    return least == 0 ? 0 : least + site->config->maps * node + sizeof(uint32_t);
}

static int tree_format(const struct nw_layer_site *site, struct nw_block **block)
{
    struct nw_ftl_tree_config config = config_of(site);
    struct nw_ftl_tree *ftl = site->state;

    *block = &ftl->block;
    return nw_ftl_tree_format(ftl, site->chip, &config, site->ram, site->ram_bytes);
}

static int tree_mount(const struct nw_layer_site *site, struct nw_block **block)
{
    struct nw_ftl_tree_config config = config_of(site);
    struct nw_ftl_tree *ftl = site->state;

    *block = &ftl->block;
    return nw_ftl_tree_mount(ftl, site->chip, &config, site->ram, site->ram_bytes);
}

static uint32_t tree_free_blocks(const void *state)
{
    return nw_ftl_tree_free_blocks(state);
}

static int tree_refuse(const struct nw_layer_site *site, int error, struct nw_why *why)
{
    const struct nw_geometry *geometry = &site->chip->geometry;
    struct nw_ftl_tree_config config = config_of(site);
    uint32_t sectors = nw_ftl_tree_sectors(&config, geometry);

    if (sectors == 0) {
        return nw_refuse(why, error,
                         "the tree layer does not work on %s with %u blocks of %u pages of %u B, "
                         "%u B of spare a page (%u blocks kept back; 0: a part of them): it needs "
                         "more blocks than it keeps back, at least 12 of these, at most 65,534 "
                         "blocks of 16 to 256 pages, pages of 256 B or more, and 15 B of spare",
                         site->chip_name, geometry->blocks, geometry->block_pages,
                         geometry->page_bytes, geometry->spare_bytes, config.spare_blocks);
    }
    if (sectors < site->config->sectors) {
        return nw_refuse(why, error,
                         "the tree layer on %s has %u sectors of %u B, asked for are %u: choose a "
                         "smaller size (vm), a larger chip or fewer spare blocks",
                         site->chip_name, sectors, geometry->page_bytes, site->config->sectors);
    }
    return nw_refuse(why, error, "tree layer on %s: %s", site->chip_name, nw_error_text(error));
}

const struct nw_layer_kind nw_layer_tree = {
    .name = "tree",
    .what = "page-mapped, its map on flash: for little RAM",
    .state_bytes = sizeof(struct nw_ftl_tree),
    .tags = 1,
    .sectors = tree_sectors,
    .ram_bytes = tree_ram_bytes,
    .format = tree_format,
    .mount = tree_mount,
    .free_blocks = tree_free_blocks,
    .refuse = tree_refuse,
};

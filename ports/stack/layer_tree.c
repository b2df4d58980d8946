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

/* Which bound of nw_ftl_tree_ram_bytes() the chip or the configuration is beyond. */
static int refuse_shape(const struct nw_layer_site *site,
                        const struct nw_ftl_tree_config *config, int error, struct nw_why *why)
{
    struct nw_geometry more = site->chip->geometry;
    const struct nw_geometry *chip = &site->chip->geometry;
    const char *name = site->chip_name;

    if (chip->spare_bytes < 15U) {
        return nw_refuse(why, error, "15 B of spare a page are needed; %s has %u B", name,
                         chip->spare_bytes);
    }
    if (chip->block_pages < 16U || chip->block_pages > 256U) {
        return nw_refuse(why, error, "%s has %u pages a block; the tree layer takes 16 to 256",
                         name, chip->block_pages);
    }
    if (chip->page_bytes < 256U) {
        return nw_refuse(why, error, "%s has pages of %u B; the tree layer takes 256 B or more",
                         name, chip->page_bytes);
    }
    if (chip->blocks > 65534U) {
        return nw_refuse(why, error, "%s has %u blocks; the tree layer takes at most 65,534 blocks",
                         name, chip->blocks);
    }
    if (config->spare_blocks != 0 && config->spare_blocks < 12U) {
        return nw_refuse(why, error, "%u spare blocks are too few; the tree layer needs 12",
                         config->spare_blocks);
    }
    more.blocks *= 2U;
    if (chip->blocks <= 32U || chip->blocks <= config->spare_blocks ||
        nw_ftl_tree_sectors(config, &more) != 0) {
        return nw_refuse(why, error,
                         "%s has %u blocks, too few for the tree layer and its spare blocks "
                         "(12 and an eighth, if none are told)",
                         name, chip->blocks);
    }
    return nw_refuse(why, error, "%s has %u pages, too many of %u B for the tree layer", name,
                     chip->blocks * chip->block_pages, chip->page_bytes);
}

static int tree_refuse(const struct nw_layer_site *site, int error, struct nw_why *why)
{
    const struct nw_geometry *geometry = &site->chip->geometry;
    struct nw_ftl_tree_config config = config_of(site);
    uint32_t sectors = nw_ftl_tree_sectors(&config, geometry);

    if (sectors == 0) {
        return refuse_shape(site, &config, error, why);
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

/* SPDX-License-Identifier: Apache-2.0 */
/* The superblock layer, by name. */
#include "layer_hybrid.h"
#include "nandwich/ftl_superblock.h"

static struct nw_ftl_superblock_config config_of(const struct nw_layer_site *site)
{
    return (struct nw_ftl_superblock_config){.spare_blocks = site->config->spare_blocks,
                                             .wear = site->config->wear,
                                       .degree = site->config->degree,
                                             .log_blocks = site->config->log_blocks,
                                             .lists = site->config->maps};
}

static uint32_t superblock_sectors(const struct nw_layer_site *site)
{
    struct nw_ftl_superblock_config config = config_of(site);

    return nw_layer_hybrid_sectors(site, nw_ftl_superblock_sectors(&config, &site->chip->geometry));
}

static size_t superblock_ram_bytes(const struct nw_layer_site *site)
{
    struct nw_ftl_superblock_config config = config_of(site);

    return nw_ftl_superblock_ram_bytes(&config, &site->chip->geometry);
}

static int superblock_format(const struct nw_layer_site *site, struct nw_block **block)
{
    struct nw_ftl_superblock_config config = config_of(site);
    struct nw_ftl_superblock *ftl = site->state;

    *block = &ftl->block;
    return nw_ftl_superblock_format(ftl, site->chip, &config, site->ram, site->ram_bytes);
}

static int superblock_mount(const struct nw_layer_site *site, struct nw_block **block)
{
    struct nw_ftl_superblock_config config = config_of(site);
    struct nw_ftl_superblock *ftl = site->state;

    *block = &ftl->block;
    return nw_ftl_superblock_mount(ftl, site->chip, &config, site->ram, site->ram_bytes);
}

static int superblock_refuse(const struct nw_layer_site *site, int error, struct nw_why *why)
{
    struct nw_ftl_superblock_config config = config_of(site);

    return nw_layer_hybrid_refuse(site, "superblock",
                                  nw_ftl_superblock_sectors(&config, &site->chip->geometry),
                                  "a degree (logical blocks a superblock) and log blocks of 64 at "
                                  "most, below 65,535 sectors a superblock",
                                  error, why);
}

const struct nw_layer_kind nw_layer_superblock = {
    .name = "superblock",
    .what = "neighbouring logical blocks share log blocks, page-mapped inside",
    .wears = 1,
    .state_bytes = sizeof(struct nw_ftl_superblock),
    .sectors = superblock_sectors,
    .ram_bytes = superblock_ram_bytes,
    .format = superblock_format,
    .mount = superblock_mount,
    .refuse = superblock_refuse,
};

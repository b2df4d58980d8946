/* SPDX-License-Identifier: Apache-2.0 */
/* The FAST layer, by name. */
#include "layer_hybrid.h"
#include "nandwich/ftl_fast.h"

static struct nw_ftl_fast_config config_of(const struct nw_layer_site *site)
{
    return (struct nw_ftl_fast_config){.spare_blocks = site->config->spare_blocks,
                                       .wear = site->config->wear,
                                       .log_blocks = site->config->log_blocks};
}

static uint32_t fast_sectors(const struct nw_layer_site *site)
{
    struct nw_ftl_fast_config config = config_of(site);

    return nw_layer_hybrid_sectors(site, nw_ftl_fast_sectors(&config, &site->chip->geometry));
}

static size_t fast_ram_bytes(const struct nw_layer_site *site)
{
    struct nw_ftl_fast_config config = config_of(site);

    return nw_ftl_fast_ram_bytes(&config, &site->chip->geometry);
}

static int fast_format(const struct nw_layer_site *site, struct nw_block **block)
{
    struct nw_ftl_fast_config config = config_of(site);
    struct nw_ftl_fast *ftl = site->state;

    *block = &ftl->block;
    return nw_ftl_fast_format(ftl, site->chip, &config, site->ram, site->ram_bytes);
}

static int fast_mount(const struct nw_layer_site *site, struct nw_block **block)
{
    struct nw_ftl_fast_config config = config_of(site);
    struct nw_ftl_fast *ftl = site->state;

    *block = &ftl->block;
    return nw_ftl_fast_mount(ftl, site->chip, &config, site->ram, site->ram_bytes);
}

static int fast_refuse(const struct nw_layer_site *site, int error, struct nw_why *why)
{
    struct nw_ftl_fast_config config = config_of(site);

    return nw_layer_hybrid_refuse(site, "fast",
                                  nw_ftl_fast_sectors(&config, &site->chip->geometry),
                                  "at most spare_blocks - 8 log blocks", error, why);
}

const struct nw_layer_kind nw_layer_fast = {
    .name = "fast",
    .what = "block-mapped, log blocks shared by all, one sequential (FAST)",
    .wears = 1,
    .state_bytes = sizeof(struct nw_ftl_fast),
    .sectors = fast_sectors,
    .ram_bytes = fast_ram_bytes,
    .format = fast_format,
    .mount = fast_mount,
    .refuse = fast_refuse,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* The log-block layer, by name. */
#include "layer_hybrid.h"
#include "nandwich/ftl_log.h"

static struct nw_ftl_log_config config_of(const struct nw_layer_site *site)
{
    return (struct nw_ftl_log_config){.spare_blocks = site->config->spare_blocks,
                                       .wear = site->config->wear,
                                       .log_blocks = site->config->log_blocks};
}

static uint32_t log_sectors(const struct nw_layer_site *site)
{
    struct nw_ftl_log_config config = config_of(site);

    return nw_layer_hybrid_sectors(site, nw_ftl_log_sectors(&config, &site->chip->geometry));
}

static size_t log_ram_bytes(const struct nw_layer_site *site)
{
    struct nw_ftl_log_config config = config_of(site);

    return nw_ftl_log_ram_bytes(&config, &site->chip->geometry);
}

static int log_format(const struct nw_layer_site *site, struct nw_block **block)
{
    struct nw_ftl_log_config config = config_of(site);
    struct nw_ftl_log *ftl = site->state;

    *block = &ftl->block;
    return nw_ftl_log_format(ftl, site->chip, &config, site->ram, site->ram_bytes);
}

static int log_mount(const struct nw_layer_site *site, struct nw_block **block)
{
    struct nw_ftl_log_config config = config_of(site);
    struct nw_ftl_log *ftl = site->state;

    *block = &ftl->block;
    return nw_ftl_log_mount(ftl, site->chip, &config, site->ram, site->ram_bytes);
}

static int log_refuse(const struct nw_layer_site *site, int error, struct nw_why *why)
{
    struct nw_ftl_log_config config = config_of(site);

    return nw_layer_hybrid_refuse(site, "log",
                                  nw_ftl_log_sectors(&config, &site->chip->geometry),
                                  "at most spare_blocks - 7 log blocks", error, why);
}

const struct nw_layer_kind nw_layer_log = {
    .name = "log",
    .what = "block-mapped, one log block a data block (BAST)",
    .wears = 1,
    .state_bytes = sizeof(struct nw_ftl_log),
    .sectors = log_sectors,
    .ram_bytes = log_ram_bytes,
    .format = log_format,
    .mount = log_mount,
    .refuse = log_refuse,
};

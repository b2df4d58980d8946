/* SPDX-License-Identifier: Apache-2.0 */
/* The NFTL layer, by name. */
#include "layer_hybrid.h"
#include "nandwich/ftl_nftl.h"

static struct nw_ftl_nftl_config config_of(const struct nw_layer_site *site)
{
    return (struct nw_ftl_nftl_config){.spare_blocks = site->config->spare_blocks,
                                       .wear = site->config->wear,
                                       .chain = site->config->degree};
}

static uint32_t nftl_sectors(const struct nw_layer_site *site)
{
    struct nw_ftl_nftl_config config = config_of(site);

    return nw_layer_hybrid_sectors(site, nw_ftl_nftl_sectors(&config, &site->chip->geometry));
}

static size_t nftl_ram_bytes(const struct nw_layer_site *site)
{
    struct nw_ftl_nftl_config config = config_of(site);

    return nw_ftl_nftl_ram_bytes(&config, &site->chip->geometry);
}

static int nftl_format(const struct nw_layer_site *site, struct nw_block **block)
{
    struct nw_ftl_nftl_config config = config_of(site);
    struct nw_ftl_nftl *ftl = site->state;

    *block = &ftl->block;
    return nw_ftl_nftl_format(ftl, site->chip, &config, site->ram, site->ram_bytes);
}

static int nftl_mount(const struct nw_layer_site *site, struct nw_block **block)
{
    struct nw_ftl_nftl_config config = config_of(site);
    struct nw_ftl_nftl *ftl = site->state;

    *block = &ftl->block;
    return nw_ftl_nftl_mount(ftl, site->chip, &config, site->ram, site->ram_bytes);
}

static int nftl_refuse(const struct nw_layer_site *site, int error, struct nw_why *why)
{
    struct nw_ftl_nftl_config config = config_of(site);

    return nw_layer_hybrid_refuse(site, "nftl",
                                  nw_ftl_nftl_sectors(&config, &site->chip->geometry),
                                  "a degree (blocks of a chain) of 2 to 64", error, why);
}

const struct nw_layer_kind nw_layer_nftl = {
    .name = "nftl",
    .what = "block-mapped, chains of replacement blocks folded when room runs out",
    .wears = 1,
    .state_bytes = sizeof(struct nw_ftl_nftl),
    .sectors = nftl_sectors,
    .ram_bytes = nftl_ram_bytes,
    .format = nftl_format,
    .mount = nftl_mount,
    .refuse = nftl_refuse,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* The lavish layer, by name. */
#include <stdio.h>

#include "nandwich-stack/layers.h"
#include "nandwich/ftl_lavish.h"

/* Blocks in so many kept aside for bad ones by the default below. */
#define SPARE_SHARE 32U

/* As many sectors as leave each logical block a data and a log lavish block, and two over. */
static uint32_t default_sectors(const struct nw_layer_site *site)
{
    const struct nw_geometry *geometry = &site->chip->geometry;
    uint32_t degree = site->config->degree != 0 ? site->config->degree : NW_FTL_LAVISH_DEGREE;
    uint32_t spare = site->config->spare_blocks != 0 ? site->config->spare_blocks
                                                     : geometry->blocks / SPARE_SHARE + 1U;
    uint32_t kept = spare + 1U; /* and the chip's mark */
    uint32_t lavish = geometry->blocks > kept ? (geometry->blocks - kept) / degree : 0;

    return lavish >= 4U ? (lavish / 2U - 1U) * geometry->block_pages : 0;
}

static struct nw_ftl_lavish_config config_of(const struct nw_layer_site *site)
{
    return (struct nw_ftl_lavish_config){
        .sectors = site->config->sectors != 0 ? site->config->sectors : default_sectors(site),
        .spare_blocks = site->config->spare_blocks,
        .degree = site->config->degree,
        .maps = (uint8_t)(site->config->maps <= UINT8_MAX ? site->config->maps : UINT8_MAX),
        .erase = 1,
    };
}

static size_t lavish_ram_bytes(const struct nw_layer_site *site)
{
    struct nw_ftl_lavish_config config = config_of(site);

    return nw_ftl_lavish_ram_bytes(&config, site->chip);
}

static uint32_t lavish_sectors(const struct nw_layer_site *site)
{
    return lavish_ram_bytes(site) != 0 ? config_of(site).sectors : 0;
}

static int lavish_format(const struct nw_layer_site *site, struct nw_block **block)
{
    struct nw_ftl_lavish_config config = config_of(site);
    struct nw_ftl_lavish *lavish = site->state;

    *block = &lavish->block;
    return nw_ftl_lavish_open(lavish, site->chip, &config, site->ram, site->ram_bytes);
}

static uint32_t lavish_free_blocks(const void *state)
{
    const struct nw_ftl_lavish *lavish = state;

    return (uint32_t)lavish->free * lavish->degree;
}

static int lavish_refuse(const struct nw_layer_site *site, int error, struct nw_why *why)
{
    const struct nw_geometry *geometry = &site->chip->geometry;
    struct nw_ftl_lavish_config config = config_of(site);
    uint32_t needed = nw_ftl_lavish_blocks_needed(&config, site->chip);
    uint32_t degree = config.degree != 0 ? config.degree : NW_FTL_LAVISH_DEGREE;
    uint32_t maps = config.maps != 0 ? config.maps : NW_FTL_LAVISH_MAPS;

    if (needed > geometry->blocks) {
        uint64_t bytes = (uint64_t)config.sectors * geometry->page_bytes;
        uint64_t logical = (uint64_t)geometry->block_pages * geometry->page_bytes;
        char lower[32] = "";

        for (config.degree = (uint8_t)degree; config.degree > 1U && lower[0] == '\0';) {
            config.degree--;
            if (nw_ftl_lavish_blocks_needed(&config, site->chip) <= geometry->blocks) {
                (void)snprintf(lower, sizeof lower, "degree=%u, ", config.degree);
            }
        }
        return nw_refuse(why, NW_ERR_FULL,
                         "lavish with degree=%u needs %u blocks: (%llu B / %llu B a logical block "
                         "+ 2) x %u + 1; %s has %u: choose %sa smaller size (vm) or a larger chip",
                         degree, needed, (unsigned long long)bytes, (unsigned long long)logical,
                         degree, site->chip_name, geometry->blocks, lower);
    }
    if (error == NW_ERR_FULL) {
        return nw_refuse(why, error, "lavish: too many bad blocks on %s", site->chip_name);
    }
    return nw_refuse(why, error,
                     "lavish (degree=%u, maps=%u) does not fit %s: a map of 2 B for each of "
                     "%u pages of a block must fit a page of %u B, a lavish block hold at most "
                     "32512 sectors (%u x %u), and 4 lavish blocks fit the chip's %u blocks",
                     degree, maps, site->chip_name, geometry->block_pages, geometry->page_bytes,
                     degree, geometry->block_pages, geometry->blocks);
}

const struct nw_layer_kind nw_layer_lavish = {
    .name = "lavish",
    .what = "swap space: blocks given lavishly, erased late; forgets with power",
    .state_bytes = sizeof(struct nw_ftl_lavish),
    .sectors = lavish_sectors,
    .ram_bytes = lavish_ram_bytes,
    .format = lavish_format,
    .free_blocks = lavish_free_blocks,
    .refuse = lavish_refuse,
};

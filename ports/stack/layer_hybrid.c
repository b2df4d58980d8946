/* SPDX-License-Identifier: Apache-2.0 */
#include "layer_hybrid.h"

uint32_t nw_layer_hybrid_sectors(const struct nw_layer_site *site, uint32_t sectors)
{
    return site->config->sectors <= sectors ? sectors : 0;
}

int nw_layer_hybrid_refuse(const struct nw_layer_site *site, const char *name, uint32_t sectors,
                           const char *own, int error, struct nw_why *why)
{
    const struct nw_geometry *geometry = &site->chip->geometry;

    if (sectors == 0) {
        return nw_refuse(why, error,
                         "the %s layer does not work on %s with %u blocks of %u pages of %u B, "
                         "%u B of spare a page (%u blocks kept back; 0: a part of them): it needs "
                         "more blocks than it keeps back, at least 10 of these, at most 65,000 "
                         "blocks, 4 pages a block, 256 B a page, 15 B of spare, and %s",
                         name, site->chip_name, geometry->blocks, geometry->block_pages,
                         geometry->page_bytes, geometry->spare_bytes, site->config->spare_blocks,
                         own);
    }
    if (sectors < site->config->sectors) {
        return nw_refuse(why, error,
                         "the %s layer on %s has %u sectors of %u B, asked for are %u: choose a "
                         "larger chip or fewer spare blocks",
                         name, site->chip_name, sectors, geometry->page_bytes,
                         site->config->sectors);
    }
    return nw_refuse(why, error, "%s layer on %s: %s", name, site->chip_name,
                     nw_error_text(error));
}

/* SPDX-License-Identifier: Apache-2.0 */
/* NFTL: chains of blocks that all lie in place. See ftl_nftl.h. */
#include "nandwich/ftl_nftl.h"

#include "chain.h"
#include "mark.h"

/* The configuration as a plan; NW_ERR_CONFIG. */
static int plan_of(const struct nw_ftl_nftl_config *config, const struct nw_geometry *geometry,
                   struct nw_chain_plan *plan)
{
    uint8_t chain = config->chain != 0 ? config->chain : (uint8_t)NW_FTL_NFTL_CHAIN;

    *plan = (struct nw_chain_plan){.name = NW_MARK_NFTL,
                                   .wear = config->wear,
                                   .spare_blocks = config->spare_blocks,
                                   .flags = config->flags,
                                   .degree = 1,
                                   .longest = chain,
                                   .style = NW_CHAIN_NFTL};
    return chain >= 2U && chain <= NW_FTL_NFTL_MOST_CHAIN &&
                   nw_chain_sectors(plan, geometry) != 0
               ? NW_OK
               : NW_ERR_CONFIG;
}

uint32_t nw_ftl_nftl_sectors(const struct nw_ftl_nftl_config *config,
                             const struct nw_geometry *geometry)
{
    struct nw_chain_plan plan;

    return plan_of(config, geometry, &plan) < 0 ? 0 : nw_chain_sectors(&plan, geometry);
}

size_t nw_ftl_nftl_ram_bytes(const struct nw_ftl_nftl_config *config,
                             const struct nw_geometry *geometry)
{
    struct nw_chain_plan plan;

    return plan_of(config, geometry, &plan) < 0 ? 0 : nw_chain_ram_bytes(&plan, geometry);
}

static int start(struct nw_ftl_nftl *ftl, struct nw_chip *chip,
                 const struct nw_ftl_nftl_config *config, void *ram, size_t ram_bytes, int how)
{
    struct nw_chain_plan plan;

    if (plan_of(config, &chip->geometry, &plan) < 0) {
        return NW_ERR_CONFIG;
    }
    return nw_chain_open(&ftl->block, &ftl->stats, chip, &plan, ram, ram_bytes, how);
}

int nw_ftl_nftl_format(struct nw_ftl_nftl *ftl, struct nw_chip *chip,
                       const struct nw_ftl_nftl_config *config, void *ram, size_t ram_bytes)
{
    return start(ftl, chip, config, ram, ram_bytes, NW_CHAIN_FORMAT);
}

int nw_ftl_nftl_mount(struct nw_ftl_nftl *ftl, struct nw_chip *chip,
                      const struct nw_ftl_nftl_config *config, void *ram, size_t ram_bytes)
{
    return start(ftl, chip, config, ram, ram_bytes, NW_CHAIN_MOUNT);
}

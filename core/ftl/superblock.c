/* SPDX-License-Identifier: Apache-2.0 */
/* Neighbouring logical blocks share mapped blocks. See ftl_superblock.h. */
#include "nandwich/ftl_superblock.h"

#include "chain.h"
#include "mark.h"

/* The configuration as a plan; NW_ERR_CONFIG. */
static int plan_of(const struct nw_ftl_superblock_config *config,
                   const struct nw_geometry *geometry, struct nw_chain_plan *plan)
{
    uint16_t degree = config->degree != 0 ? config->degree : NW_FTL_SUPERBLOCK_DEGREE;
    uint16_t logs = config->log_blocks != 0 ? config->log_blocks : NW_FTL_SUPERBLOCK_LOGS;
    uint16_t lists = config->lists != 0 ? config->lists : NW_FTL_SUPERBLOCK_LISTS;

    *plan = (struct nw_chain_plan){.name = NW_MARK_SUPERBLOCK,
                                   .wear = config->wear,
                                   .spare_blocks = config->spare_blocks,
                                   .flags = config->flags,
                                   .degree = degree,
                                   .longest = (uint16_t)(degree + logs),
                                   .lists = lists,
                                   .style = NW_CHAIN_SUPERBLOCK};
    return degree <= NW_FTL_SUPERBLOCK_MOST && logs <= NW_FTL_SUPERBLOCK_MOST && lists >= 2U &&
                   nw_chain_sectors(plan, geometry) != 0
               ? NW_OK
               : NW_ERR_CONFIG;
}

uint32_t nw_ftl_superblock_sectors(const struct nw_ftl_superblock_config *config,
                                   const struct nw_geometry *geometry)
{
    struct nw_chain_plan plan;

    return plan_of(config, geometry, &plan) < 0 ? 0 : nw_chain_sectors(&plan, geometry);
}

size_t nw_ftl_superblock_ram_bytes(const struct nw_ftl_superblock_config *config,
                                   const struct nw_geometry *geometry)
{
    struct nw_chain_plan plan;

    return plan_of(config, geometry, &plan) < 0 ? 0 : nw_chain_ram_bytes(&plan, geometry);
}

static int begin(struct nw_ftl_superblock *ftl, struct nw_chip *chip,
                 const struct nw_ftl_superblock_config *config, void *ram, size_t ram_bytes,
                 int how)
{
    struct nw_chain_plan plan;

    if (plan_of(config, &chip->geometry, &plan) < 0) {
        return NW_ERR_CONFIG;
    }
    return nw_chain_open(&ftl->block, &ftl->stats, chip, &plan, ram, ram_bytes, how);
}

int nw_ftl_superblock_format(struct nw_ftl_superblock *ftl, struct nw_chip *chip,
                             const struct nw_ftl_superblock_config *config,
                             void *ram, size_t ram_bytes)
{
    return begin(ftl, chip, config, ram, ram_bytes, NW_CHAIN_FORMAT);
}

int nw_ftl_superblock_mount(struct nw_ftl_superblock *ftl, struct nw_chip *chip,
                            const struct nw_ftl_superblock_config *config,
                            void *ram, size_t ram_bytes)
{
    return begin(ftl, chip, config, ram, ram_bytes, NW_CHAIN_MOUNT);
}

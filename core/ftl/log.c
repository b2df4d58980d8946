/* SPDX-License-Identifier: Apache-2.0 */
/* A data block in place and one log block for each logical block. See ftl_log.h. */
#include "nandwich/ftl_log.h"

#include "chain.h"
#include "mark.h"

/* The configuration as a plan; NW_ERR_CONFIG. */
static int plan_of(const struct nw_ftl_log_config *config, const struct nw_geometry *geometry,
                   struct nw_chain_plan *plan)
{
    uint32_t spare = config->spare_blocks != 0
                         ? config->spare_blocks
                         : geometry->blocks / 14U + NW_HYBRID_LEAST_SPARE;
    uint32_t most = spare > NW_HYBRID_FLOOR + 2U ? spare - NW_HYBRID_FLOOR - 2U : 0;
    uint32_t logs = config->log_blocks != 0 ? config->log_blocks : most;

    *plan = (struct nw_chain_plan){.name = NW_MARK_LOG,
                                   .wear = config->wear,
                                   .spare_blocks = config->spare_blocks,
                                   .flags = config->flags,
                                   .degree = 1,
                                   .longest = 3, /* a mount may add a second log block */
                                   .log_blocks = (uint16_t)logs,
                                   .lists = (uint16_t)(logs + 2U),
                                   .style = NW_CHAIN_LOG};
    return logs > 0 && logs <= most && logs < NW_NO_BLOCK - 2U &&
                   nw_chain_sectors(plan, geometry) != 0
               ? NW_OK
               : NW_ERR_CONFIG;
}

uint32_t nw_ftl_log_sectors(const struct nw_ftl_log_config *config,
                            const struct nw_geometry *geometry)
{
    struct nw_chain_plan plan;

    return plan_of(config, geometry, &plan) < 0 ? 0 : nw_chain_sectors(&plan, geometry);
}

size_t nw_ftl_log_ram_bytes(const struct nw_ftl_log_config *config,
                            const struct nw_geometry *geometry)
{
    struct nw_chain_plan plan;

    return plan_of(config, geometry, &plan) < 0 ? 0 : nw_chain_ram_bytes(&plan, geometry);
}

static int start(struct nw_ftl_log *ftl, struct nw_chip *chip,
                 const struct nw_ftl_log_config *config, void *ram, size_t ram_bytes, int how)
{
    struct nw_chain_plan plan;

    if (plan_of(config, &chip->geometry, &plan) < 0) {
        return NW_ERR_CONFIG;
    }
    return nw_chain_open(&ftl->block, &ftl->stats, chip, &plan, ram, ram_bytes, how);
}

int nw_ftl_log_format(struct nw_ftl_log *ftl, struct nw_chip *chip,
                      const struct nw_ftl_log_config *config, void *ram, size_t ram_bytes)
{
    return start(ftl, chip, config, ram, ram_bytes, NW_CHAIN_FORMAT);
}

int nw_ftl_log_mount(struct nw_ftl_log *ftl, struct nw_chip *chip,
                     const struct nw_ftl_log_config *config, void *ram, size_t ram_bytes)
{
    return start(ftl, chip, config, ram, ram_bytes, NW_CHAIN_MOUNT);
}

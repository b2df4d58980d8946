/* SPDX-License-Identifier: Apache-2.0 */
#include "nandwich-replay/sched_device.h"

#include <stdlib.h>
#include <string.h>

#include "nandwich-twin/nand.h"
#include "nandwich-twin/sdcard.h"

/* What the node's processor adds to a program of the chip. */
static uint64_t added_ns(const struct nw_part *part)
{
    uint64_t node_ns = nw_cost_ns(&part->node.program, part->page_bytes);
    uint64_t chip_ns = nw_cost_ns(&part->chip.program, part->page_bytes);

    return node_ns > chip_ns ? node_ns - chip_ns : 0;
}

static int open_card(struct nw_sim_device *device, const struct nw_part *part, uint32_t seed,
                     int node)
{
    const struct nw_part_costs *costs = node ? &part->node : &part->chip;
    struct nw_sdcard_config config = {
        .part = part,
        .seed = seed,
        .flags = NW_SDCARD_NO_PAYLOAD | (node ? NW_SDCARD_NODE_COSTS : 0),
        .meter = &device->meter,
    };
    int status = nw_sdcard_open(&device->card, &config);

    if (status < 0) {
        return status;
    }
    device->block = nw_sdcard_block(device->card);
    device->unit = part->sector_blocks;
    device->write_ns = nw_cost_ns(&costs->program, part->page_bytes);
    device->read_ns = nw_cost_ns(&costs->read, part->page_bytes);
    device->open_ns = (part->open_least_ns + part->open_most_ns) / 2U;
    device->longest_write_ns = device->write_ns;
    device->longest_read_ns = device->read_ns + part->read_spread_ns;
    device->longest_open_ns = part->open_most_ns;
    if (node) { /* what the processor adds to a write is not in the table's openings */
        device->longest_open_ns += added_ns(part);
    }
    return NW_OK;
}

static int open_chip(struct nw_sim_device *device, const struct nw_part *part, uint32_t blocks,
                     uint32_t seed, int node)
{
    const struct nw_part_costs *costs = node ? &part->node : &part->chip;
    struct nw_nand_config config = {
        .part = part,
        .blocks = blocks,
        .seed = seed,
        .flags = NW_NAND_NO_PAYLOAD | (node ? NW_NAND_NODE_COSTS : 0),
        .meter = &device->meter,
    };
    struct nw_model_config ftl = {.kind = NW_MODEL_PAGE};
    struct nw_chip *chip;
    size_t bytes;
    int status = nw_nand_open(&device->nand, &config);

    if (status < 0) {
        return status;
    }
    chip = nw_nand_chip(device->nand);
    bytes = nw_model_ram_bytes(&ftl, &chip->geometry);
    if (bytes == 0) {
        return NW_ERR_CONFIG;
    }
    device->ram = malloc(bytes);
    if (device->ram == NULL) {
        return NW_ERR_RAM;
    }
    status = nw_model_open(&device->ftl, chip, &ftl, device->ram, bytes);
    if (status == NW_OK) {
        struct nw_block_req first = {.block = &device->ftl.block, .count = 1};

        status = nw_block_write(&first);
    }
    device->meter.time_ns = 0;
    device->meter.energy_pj = 0;
    device->block = &device->ftl.block;
    device->write_ns = nw_cost_ns(&costs->program, part->page_bytes);
    device->read_ns = nw_cost_ns(&costs->read, part->page_bytes);
    return status;
}

int nw_sim_device_open(struct nw_sim_device *device, const struct nw_part *part, uint32_t blocks,
                       uint32_t seed, uint32_t flags)
{
    int node = nw_part_has_node_costs(part);

    memset(device, 0, sizeof *device);
    if (node && (flags & NW_SIM_FETCH_FILLED) != 0) {
        device->fetch_ns = added_ns(part);
        node = 0;
    }
    switch (part->kind) {
    case NW_PART_SDCARD:
        return open_card(device, part, seed, node);
    case NW_PART_NAND:
        return open_chip(device, part, blocks, seed, node);
    default:
        return NW_ERR_UNSUPPORTED;
    }
}

void nw_sim_device_close(struct nw_sim_device *device)
{
    nw_sdcard_close(device->card);
    nw_nand_close(device->nand);
    free(device->ram);
    memset(device, 0, sizeof *device);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* part_spi_nand.c - a serial NAND with error correction of its own. */
#include "bus.h"
#include "nandwich/driver_spi_nand_ahead.h"
#include "part.h"

static struct nw_spi_nand part;

struct nw_chip *part_open(void)
{
    part_check(nw_spi_nand_open(&part, &device_bus, NULL), part.id + 1);
    return &part.chip;
}

uint32_t part_map(struct nw_chip_map *map, uint32_t layer_blocks)
{
    map->chip = &part.chip;
    map->read = nw_spi_nand_read_on;
    map->ahead = PART_AHEAD(nw_spi_nand_ahead);
    return layer_blocks;
}

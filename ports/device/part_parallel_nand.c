/* SPDX-License-Identifier: Apache-2.0 */
/* part_parallel_nand.c - a parallel NAND, which repairs no bits: ours does (ecc.h), for the layer
 * and for files. */
#include "bus.h"
#include "nandwich/ecc.h"
#include "part.h"

#define ECC_BYTES (256U + 62U) /* a unit, and the spare bytes of a page */

static struct nw_parallel_nand part;
static struct nw_ecc repaired;

struct nw_chip *part_open(void)
{
    static const struct nw_ecc_config config;
    static uint8_t ram[ECC_BYTES];

    part_check(nw_parallel_nand_open(&part, &device_lanes, NULL), part.id);
    part_check(nw_ecc_open(&repaired, &part.chip, &config, ram, sizeof ram), part.id);
    return &repaired.chip;
}

uint32_t part_map(struct nw_chip_map *map, uint32_t layer_blocks)
{
    map->chip = &repaired.chip;
    return layer_blocks;
}

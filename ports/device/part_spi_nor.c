/* SPDX-License-Identifier: Apache-2.0 */
/*
 * part_spi_nor.c - a serial NOR. The layer lies on pages with a spare area (oob.h); files are read
 * as they lie, a whole frame by a command. NOR has no array to read first: nothing is read ahead.
 */
#include "bus.h"
#include "nandwich/driver_spi_nor.h"
#include "nandwich/oob.h"
#include "part.h"

#define PAGE_BYTES 512U /* of the layer */
#define JOIN 4U         /* blocks of the part in one of the layer: 30 pages of 16 KiB */

static struct nw_spi_nor part;
static struct nw_oob paged;
static struct nw_chip whole; /* the part with blocks of one page */

struct nw_chip *part_open(void)
{
    part_check(nw_spi_nor_open(&part, &device_bus, NULL), part.id);
    part_check(nw_oob_open(&paged, &part.chip, PAGE_BYTES, JOIN, NULL), part.id);
    return &paged.chip;
}

uint32_t part_map(struct nw_chip_map *map, uint32_t layer_blocks)
{
    whole = part.chip;
    whole.geometry.page_bytes =
        (uint16_t)(whole.geometry.page_bytes * whole.geometry.block_pages);
    whole.geometry.block_pages = 1;
    map->chip = &whole;
    return layer_blocks * JOIN;
}

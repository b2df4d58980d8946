/* SPDX-License-Identifier: Apache-2.0 */
/*
 * part.h - the part beside the board's processor, as virtual memory and mapped files want it. One
 * of part_*.c is in a firmware (lab/device/parts.py).
 */
#ifndef NW_DEVICE_PART_H
#define NW_DEVICE_PART_H

#include "device.h"
#include "nandwich/chip_map.h"

/* Driver, and what a layer needs in front of it: the chip for the layer. What the driver refuses
 * ends the run. */
struct nw_chip *part_open(void);

/* Chip, read and ahead of a map. The part's first block behind the layer's, of which it has so
 * many: blocks are those of map->chip, erased at once. */
uint32_t part_map(struct nw_chip_map *map, uint32_t layer_blocks);

/* Refuses what the driver refused, with the three bytes of the id that it read. */
static inline void part_check(int result, const uint8_t *id)
{
    if (result < 0) {
        device_refuse(REFUSE_PART, (uint32_t)result,
                      (uint32_t)id[0] << 16 | (uint32_t)id[1] << 8 | id[2]);
    }
}

#if defined(NW_BOARD_NO_PREFETCH)
#define PART_AHEAD(function) NULL
#else
#define PART_AHEAD(function) function
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * area.h - a partition of Zephyr's flash map as a chip: the object store on serial NOR or on the
 * processor's own flash.
 *
 *     static struct nw_zephyr_area area;
 *     nw_zephyr_area_open(&area, FIXED_PARTITION_ID(storage_partition), 256);
 *     nw_store_mount(&store, &area.chip, ...);
 *
 * The chip has no spare bytes, so translation layers do not take it; the store does. A block is an
 * erase page of the flash driver; all those of the partition must have one size. No block is bad,
 * and none can be marked: NW_ERR_UNSUPPORTED. The flash driver keeps calls apart by itself, the
 * store above it does not: call it from one thread at a time.
 */
#ifndef NANDWICH_ZEPHYR_AREA_H
#define NANDWICH_ZEPHYR_AREA_H

#include <zephyr/drivers/flash.h>
#include <zephyr/storage/flash_map.h>

#include <nandwich/chip.h>

#ifdef __cplusplus
extern "C" {
#endif

struct nw_zephyr_area {
    const struct flash_area *area;
    struct nw_chip chip; /* for the store; its context is this struct */
    int error;           /* the flash driver's last error; 0: none yet */
};

/*
 * Opens partition `id` with pages of page_bytes: say 256, and a multiple of the flash's write
 * block. Nothing is written or erased. NW_ERR_NOT_FOUND: no such partition, or its flash is not
 * ready. NW_ERR_CONFIG: page_bytes does not divide the erase pages, these differ, or the shape is
 * none of chip.h.
 */
int nw_zephyr_area_open(struct nw_zephyr_area *area, uint8_t id, uint16_t page_bytes);

#ifdef __cplusplus
}
#endif

#endif

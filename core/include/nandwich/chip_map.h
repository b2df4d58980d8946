/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chip_map.h - a map (vm_map.h) of pages of a flash chip that nothing writes: weights, tables,
 * pictures that were put there once, in blocks one behind another.
 *
 * A fault reads the bytes of its frame out of the page they lie in. What a chip can do beyond that
 * is given by two functions: of a serial NAND nw_spi_nand_read_on(), which does not read the array
 * again for the next frame of the same page, and nw_spi_nand_ahead(), which has the part read the
 * next page while the processor works. Ahead is read where the last bytes of a page were asked for
 * and the bytes before them had been asked for last, or always or never by `advice`.
 *
 * COST. RAM: sizeof(struct nw_chip_map), 60 bytes on a Cortex-M. A read of the chip for each page
 * that a frame touches.
 */
#ifndef NANDWICH_CHIP_MAP_H
#define NANDWICH_CHIP_MAP_H

#include "nandwich/chip.h"
#include "nandwich/vm_map.h"

#ifdef __cplusplus
extern "C" {
#endif

enum nw_chip_map_advice {
    NW_CHIP_MAP_NORMAL = 0,     /* the next page is asked for behind two reads in order */
    NW_CHIP_MAP_SEQUENTIAL = 1, /* behind each read that ends a page */
    NW_CHIP_MAP_RANDOM = 2      /* never */
};

/* The caller owns it and fills in the fields up to `advice`; of `map` address, bytes and the
 * kind, which is private or read only. Then nw_vm_map(vm, &chip.map). */
struct nw_chip_map {
    struct nw_vm_map map; /* first */
    struct nw_chip *chip;
    uint32_t page;   /* of the chip, where the content begins; good blocks from there on */
    uint32_t offset; /* what of the content the map begins with, bytes */
    uint32_t bytes;  /* of the content; behind it are zeros */
    int (*read)(struct nw_chip_req *req);  /* NULL: nw_chip_read */
    int (*ahead)(struct nw_chip_req *req); /* NULL: nothing is read ahead */
    uint8_t advice;  /* enum nw_chip_map_advice; may be changed at any time */
    uint32_t next;   /* the map's own: where the last read ended in the content */
};

/* For map.read. What the chip answers when it is an error; repaired bits are none. */
int nw_chip_map_read(struct nw_vm_map *map, uintptr_t offset, uint8_t *to, size_t n);

/* For map.part, of a map that is read only: these bytes alone. What is read ahead goes on as if
 * they had not been read. */
int nw_chip_map_part(struct nw_vm_map *map, uintptr_t offset, uint8_t *to, size_t n);

/* The page with this offset of the map is asked for now. Nothing happens behind the content, or
 * where ahead is NULL; an error shows when the page is read. */
void nw_chip_map_ahead(struct nw_chip_map *chip, uintptr_t offset);

#ifdef __cplusplus
}
#endif

#endif

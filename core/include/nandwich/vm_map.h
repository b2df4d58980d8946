/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vm_map.h - ranges of a virtual memory whose first content comes from elsewhere: a file, or a part
 * of a flash chip that nothing else writes.
 *
 * A page of such a range is read from the map's source when it is first touched, and again after it
 * has left its frame clean. What is written to a private map goes to the VM's block device, as any
 * page does, and is read from there from then on. What is written to a shared one goes to the
 * source when the page leaves its frame, or at nw_vm_map_sync(). A store to a read-only map is
 * NW_ERR_READ_ONLY for panic; its pages are never written anywhere.
 *
 * COST. A fault reads frame_bytes of the source, no more: where these are less than a page of a
 * flash chip, so much less goes over the bus. A map with `part` may be read in less: nw_vm_move()
 * (memcpy() of a program) asks it for what lies on a page that is not resident. The first
 * write-back of a private page reads the other pages of its unit (sector or frame, the larger) that
 * are not resident. Every fault and write-back looks through the maps.
 */
#ifndef NANDWICH_VM_MAP_H
#define NANDWICH_VM_MAP_H

#include "nandwich/vm.h"

#ifdef __cplusplus
extern "C" {
#endif

enum nw_vm_map_kind {
    NW_VM_MAP_PRIVATE = 0,
    NW_VM_MAP_SHARED = 1,
    NW_VM_MAP_READ_ONLY = 2
};

/* The caller owns the struct and fills it in up to `kind`; it stays where it is and as it is until
 * it is unmapped. */
struct nw_vm_map {
    uintptr_t address; /* where it begins, and ... */
    uintptr_t bytes;   /* ... how long it is: multiples of nw_vm_map_unit(), not 0 */
    /* n bytes from `offset` in the map on, which do not pass its end. NW_OK, or an error, which
     * goes to panic with the address of the page. */
    int (*read)(struct nw_vm_map *map, uintptr_t offset, uint8_t *to, size_t n);
    /* The same to the source, a whole page; of a shared map, else NULL. */
    int (*write)(struct nw_vm_map *map, uintptr_t offset, const uint8_t *from, size_t n);
    /* Of a read-only map, or NULL: n bytes of a page that is not resident, for a move into plain
     * memory, without a frame for the page. NW_OK, an error, or 1: the page is to come in. */
    int (*part)(struct nw_vm_map *map, uintptr_t offset, uint8_t *to, size_t n);
    uint8_t kind;      /* enum nw_vm_map_kind */
    struct nw_vm_map *next; /* the VM's */
};

/* What a map begins and ends at a multiple of, bytes: the larger of frame and sector. */
static inline uint32_t nw_vm_map_unit(const struct nw_vm *vm)
{
    return (uint32_t)vm->frame_bytes << vm->unit_shift;
}

/* The range has the source's content from now on; what it held is gone. To be called from plain
 * code only, for it empties every slot. NW_ERR_CONFIG: off the unit, empty, or without what its
 * kind needs; NW_ERR_RANGE: not inside the virtual memory; NW_ERR_EXISTS: on another map;
 * NW_ERR_PINNED: nw_vm_pin() holds a page. Cost: as nw_vm_discard()'s. */
int nw_vm_map(struct nw_vm *vm, struct nw_vm_map *map);

/* The range reads as zeros from now on. What was written to a shared map and has not reached its
 * source is lost. Errors and cost are those of nw_vm_map(); NW_ERR_NOT_FOUND: it is not mapped. */
int nw_vm_unmap(struct nw_vm *vm, struct nw_vm_map *map);

/* Writes the dirty pages from `offset` on, n bytes, to the source of a shared map; of others
 * nothing. Empties every slot. */
int nw_vm_map_sync(struct nw_vm *vm, struct nw_vm_map *map, uintptr_t offset, uintptr_t n);

#ifdef __cplusplus
}
#endif

#endif

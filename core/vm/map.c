/* SPDX-License-Identifier: Apache-2.0 */
/* Ranges whose first content comes from elsewhere. */
#include "frames.h"

static struct nw_vm_map *find(const struct nw_vm *vm, uintptr_t address)
{
    struct nw_vm_map *map = vm->maps;

    while (map != NULL && address - map->address >= map->bytes) {
        map = map->next;
    }
    return map;
}

static int fill(struct nw_vm *vm, uint32_t page, uint8_t *to, size_t n)
{
    uintptr_t address = nw_vm_address_of(vm, page);
    struct nw_vm_map *map = find(vm, address);
    int error = map->read(map, address - map->address, to, n);

    vm->error_at = address;
    return error < 0 ? error : (int)NW_OK;
}

static int load(struct nw_vm *vm, uint32_t page, uint8_t *to)
{
    vm->stats.mapped++;
    return fill(vm, page, to, vm->frame_bytes);
}

static int prepare(struct nw_vm *vm, uint32_t unit)
{
    uint32_t first = unit << vm->unit_shift;
    uint32_t page = first;
    uint32_t end = first + nw_vm_unit_pages(vm);

    while (page < end && nw_vm_resident(vm, page) != NW_VM_NONE) {
        page++;
    }
    if (page == end || find(vm, nw_vm_address_of(vm, first)) == NULL) {
        return NW_OK;
    }
    vm->stats.merges++;
    return fill(vm, first, vm->sector, vm->block->sector_bytes);
}

static int store(struct nw_vm *vm, uint32_t page)
{
    uintptr_t address = nw_vm_address_of(vm, page);
    struct nw_vm_map *map = find(vm, address);
    uint16_t frame = nw_vm_resident(vm, page);
    int error;

    if (map == NULL || map->kind != NW_VM_MAP_SHARED) {
        return 1;
    }
    error = map->write(map, address - map->address, nw_vm_memory_of(vm, frame), vm->frame_bytes);
    if (error < 0) {
        vm->error_at = address;
        return error;
    }
    nw_vm_saved(vm, frame);
    return NW_OK;
}

static int part(struct nw_vm *vm, uint8_t *to, uintptr_t from, size_t n)
{
    struct nw_vm_map *map = find(vm, from);
    uint16_t frame;

    if (map == NULL || map->part == NULL || nw_vm_straddles(vm, from, n) ||
        nw_vm_look_up(vm, from, &frame)) {
        return 1;
    }
    vm->error_at = from;
    return map->part(map, from - map->address, to, n);
}

static const struct nw_vm_mapped mapped = {find, load, prepare, store, part};

static int check(const struct nw_vm *vm, const struct nw_vm_map *map)
{
    uintptr_t offset = map->address - vm->base;
    const struct nw_vm_map *other;

    if (map->bytes == 0 || ((offset | map->bytes) & (nw_vm_map_unit(vm) - 1U)) != 0 ||
        map->kind > NW_VM_MAP_READ_ONLY || map->read == NULL ||
        (map->kind == NW_VM_MAP_SHARED) != (map->write != NULL) ||
        (map->kind != NW_VM_MAP_READ_ONLY && map->part != NULL)) {
        return NW_ERR_CONFIG;
    }
    if (offset > vm->bytes || map->bytes > vm->bytes - offset) {
        return NW_ERR_RANGE;
    }
    for (other = vm->maps; other != NULL; other = other->next) {
        if (other->address - map->address < map->bytes ||
            map->address - other->address < other->bytes) {
            return NW_ERR_EXISTS;
        }
    }
    return NW_OK;
}

/* What a range holds is gone, in RAM and on the device. */
static int empty(struct nw_vm *vm, const struct nw_vm_map *map)
{
    uint16_t frame;

    nw_vm_slots_release(vm);
    for (frame = 0; frame < vm->frames; frame++) {
        const struct nw_vm_frame *held = &vm->frame[frame];

        if (nw_vm_is_pinned(held) && nw_vm_begin(vm, held->tag) - map->address < map->bytes) {
            vm->error_at = nw_vm_begin(vm, held->tag);
            return NW_ERR_PINNED;
        }
    }
    return nw_vm_discard(vm, map->address, map->bytes);
}

int nw_vm_map(struct nw_vm *vm, struct nw_vm_map *map)
{
    int error = check(vm, map);

    if (error == NW_OK) {
        error = empty(vm, map);
    }
    if (error == NW_OK) {
        map->next = vm->maps;
        vm->maps = map;
        vm->mapped = &mapped;
    }
    return error;
}

int nw_vm_unmap(struct nw_vm *vm, struct nw_vm_map *map)
{
    struct nw_vm_map **link = &vm->maps;
    int error;

    while (*link != NULL && *link != map) {
        link = &(*link)->next;
    }
    if (*link == NULL) {
        return NW_ERR_NOT_FOUND;
    }
    error = empty(vm, map);
    if (error == NW_OK) {
        *link = map->next;
    }
    return error;
}

int nw_vm_map_sync(struct nw_vm *vm, struct nw_vm_map *map, uintptr_t offset, uintptr_t n)
{
    uintptr_t begin = map->address + offset;
    uint16_t frame;
    int error = NW_OK;

    nw_vm_slots_release(vm);
    if (map->kind != NW_VM_MAP_SHARED) {
        return NW_OK;
    }
    for (frame = 0; frame < vm->frames && error == NW_OK; frame++) {
        const struct nw_vm_frame *held = &vm->frame[frame];

        if ((held->state & NW_VM_DIRTY) != 0 &&
            nw_vm_begin(vm, held->tag) + vm->frame_bytes - 1U - begin <
                n + vm->frame_bytes - 1U) {
            error = nw_vm_unit_store(vm, nw_vm_page_in(vm, held));
        }
    }
    return nw_vm_report(vm, error);
}

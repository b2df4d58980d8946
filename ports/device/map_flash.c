/* SPDX-License-Identifier: Apache-2.0 */
/*
 * map_flash.c - mmap() on the board: a file that was put on the part before the program began, in
 * blocks of its own behind those of virtual memory.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "device.h"
#include "internal.h"
#include "map.h"
#include "part.h"

struct mapping {
    struct nw_chip_map chip; /* first: the VM knows this alone */
    struct mapping *next;
    size_t bytes; /* as wanted, in whole pages of mmap() */
    uintptr_t random_begin, random_end; /* in the mapping: read in parts, as advised */
    uint8_t is_closed;
    uint8_t is_anonymous;
};

static struct mapping *mappings;

/* Nothing behind the last of a file's pages. */
static int map_read(struct nw_vm_map *map, uintptr_t offset, uint8_t *to, size_t n)
{
    const struct mapping *mapping = (const struct mapping *)map;
    uint32_t at = mapping->chip.offset + (uint32_t)offset;

    if (mapping->is_closed) {
        return NW_ERR_RANGE;
    }
    if (mapping->is_anonymous) {
        memset(to, 0, n);
        return NW_OK;
    }
    if (at >= map_up(mapping->chip.bytes, MAP_PAGE)) {
        return NW_ERR_RANGE;
    }
    return nw_chip_map_read(map, offset, to, n);
}

/* Some bytes where the program told that it reads at random. */
static int map_part(struct nw_vm_map *map, uintptr_t offset, uint8_t *to, size_t n)
{
    const struct mapping *mapping = (const struct mapping *)map;

    return offset - mapping->random_begin < mapping->random_end - mapping->random_begin &&
                   mapping->chip.offset + offset < mapping->chip.bytes
               ? nw_chip_map_part(map, offset, to, n)
               : 1;
}

/* Where the host has put a file: 0, or errno. */
static int find_file(struct mapping *mapping, int file, off_t offset)
{
    off_t bytes = map_size(file);

    if (bytes < 0) {
        return errno;
    }
    uint32_t first = part_map(&mapping->chip, device_layer_blocks());
    int32_t block = device_call(CALL_PLACE, (uintptr_t)file, first, 0);
    if (block < 0) {
        return ENOSPC;
    }
    mapping->chip.page = (uint32_t)block * mapping->chip.chip->geometry.block_pages;
    mapping->chip.offset = (uint32_t)offset;
    mapping->chip.bytes = (uint32_t)bytes;
    return 0;
}

static int place(struct mapping *mapping, size_t bytes)
{
    uintptr_t unit = nw_vm_map_unit(&nw_guest_vm);
    uintptr_t address;

    unit = unit > MAP_PAGE ? unit : MAP_PAGE;
    if (nw_guest_heap.bytes == 0 ||
        nw_heap_alloc(&nw_guest_heap, map_up(bytes, unit), unit, &address) < 0) {
        return ENOMEM;
    }
    mapping->chip.map.address = address;
    mapping->chip.map.bytes = map_up(bytes, unit);
    mapping->bytes = map_up(bytes, MAP_PAGE);
    nw_guest_must(nw_vm_map(&nw_guest_vm, &mapping->chip.map), (const void *)address);
    return 0;
}

NW_LIBC(void *, mmap,
        (void *hint, size_t bytes, int protection, int flags, int file, off_t offset))
{
    int error = map_refusal(bytes, protection, flags, offset);
    struct mapping *mapping = error == 0 ? calloc(1, sizeof *mapping) : NULL;

    (void)hint;
    if (error == 0 && mapping == NULL) {
        error = ENOMEM;
    }
    if (error == 0) {
        mapping->chip.map.read = map_read;
        mapping->chip.map.kind =
            (protection & PROT_WRITE) != 0 ? NW_VM_MAP_PRIVATE : NW_VM_MAP_READ_ONLY;
        mapping->is_closed = protection == PROT_NONE;
        mapping->is_anonymous = (flags & MAP_ANONYMOUS) != 0;
        if ((protection & PROT_WRITE) == 0 && !mapping->is_closed && !mapping->is_anonymous) {
            mapping->chip.map.part = map_part;
        }
        error = mapping->is_anonymous ? 0 : find_file(mapping, file, offset);
    }
    if (error == 0) {
        error = place(mapping, bytes);
    }
    if (error != 0) {
        free(mapping);
        errno = error;
        return MAP_FAILED;
    }
    mapping->next = mappings;
    mappings = mapping;
    return (void *)mapping->chip.map.address;
}

/* A whole mapping. */
NW_LIBC(int, munmap, (void *address, size_t bytes))
{
    struct mapping **link = &mappings;

    while (*link != NULL && (*link)->chip.map.address != (uintptr_t)address) {
        link = &(*link)->next;
    }
    struct mapping *mapping = *link;
    if (mapping == NULL || map_up(bytes, MAP_PAGE) != mapping->bytes) {
        errno = EINVAL;
        return -1;
    }
    *link = mapping->next;
    nw_guest_must(nw_vm_unmap(&nw_guest_vm, &mapping->chip.map), address);
    nw_guest_must(nw_heap_free(&nw_guest_heap, (uintptr_t)address), address);
    free(mapping);
    return 0;
}

NW_LIBC(int, msync, (void *address, size_t bytes, int flags))
{
    (void)bytes;
    return map_sync(address, flags);
}

/* What is read at random may be a part of a mapping, all else is of a whole one. What is not mapped
 * is not told here. */
int nw_guest_advise(void *address, size_t bytes, int advice)
{
    struct mapping *mapping = mappings;
    int error = map_advice(address, advice);

    if (error != 0) {
        return error;
    }
    while (mapping != NULL &&
           (uintptr_t)address - mapping->chip.map.address >= mapping->chip.map.bytes) {
        mapping = mapping->next;
    }
    if (mapping == NULL) {
        return 0;
    }
    uintptr_t begin = (uintptr_t)address - mapping->chip.map.address;
    switch (advice) {
    case MADV_RANDOM:
        mapping->random_begin = begin;
        mapping->random_end = begin + map_up(bytes, MAP_PAGE);
        if (begin > 0 || mapping->random_end < mapping->bytes) {
            return 0;
        }
        mapping->chip.advice = NW_CHIP_MAP_RANDOM;
        break;
    case MADV_WILLNEED: nw_chip_map_ahead(&mapping->chip, begin); break;
    default:
        mapping->random_end = mapping->random_begin;
        mapping->chip.advice =
            advice == MADV_SEQUENTIAL ? NW_CHIP_MAP_SEQUENTIAL : NW_CHIP_MAP_NORMAL;
    }
    return 0;
}

NW_LIBC(int, open, (const char *path, int flags, ...))
{
    struct nw_guest_text name;
    va_list list;

    va_start(list, flags);
    int mode = (flags & O_CREAT) != 0 ? va_arg(list, int) : 0;
    va_end(list);
    int file = open(nw_guest_text(&name, path), flags, mode);
    nw_guest_text_done(&name);
    return file;
}

NW_LIBC(int, fstat, (int file, struct stat *to))
{
    struct stat own;
    int result = fstat(file, &own);

    if (result == 0) {
        nw_guest_put(to, &own, sizeof own);
    }
    return result;
}

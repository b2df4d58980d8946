/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What moves between frames and the device.
 *
 * Multi-cache (Lin et al. 2013, section 5): a sector larger than a frame is written with all its
 * dirty pages at once. Ours beyond it: pages resident but clean and pages never written count as
 * known too, so the sector is read first only when something in it is known to the device alone;
 * and the one sector buffer this takes is kept as a mirror of the last sector moved, so that
 * neighbouring pages are not read again.
 */
#include "frames.h"

#include <string.h>

/* Read, write or trim a whole unit; *count goes up by the sectors done. */
static int transfer(struct nw_vm *vm, uint32_t unit, uint8_t *data,
                    int (*verb)(struct nw_block_req *req), nw_count *count)
{
    struct nw_block_req req;
    int error;

    req.block = vm->block;
    req.sector = unit * vm->unit_sectors;
    req.count = vm->unit_sectors;
    req.data = data;
    req.done = 0;
    req.budget_us = 0;
    error = verb(&req);
    *count += req.done;
    if (error >= 0) {
        return NW_OK;
    }
    vm->error_at = nw_vm_address_of(vm, unit << vm->unit_shift);
    return error;
}

static int read_unit(struct nw_vm *vm, uint32_t unit, uint8_t *to)
{
    return transfer(vm, unit, to, nw_block_read, &vm->stats.sectors_read);
}

static int write_unit(struct nw_vm *vm, uint32_t unit, uint8_t *from)
{
    return transfer(vm, unit, from, nw_block_write, &vm->stats.sectors_written);
}

/* Makes the sector buffer mirror a unit that was written before. */
static int mirror(struct nw_vm *vm, uint32_t unit)
{
    int error;

    vm->sector_unit = NW_VM_NO_UNIT;
    error = read_unit(vm, unit, vm->sector);
    if (error == NW_OK) {
        vm->sector_unit = unit;
    }
    return error;
}

int nw_vm_page_load(struct nw_vm *vm, uint32_t page, uint16_t frame)
{
    uint32_t unit = page >> vm->unit_shift;
    uint32_t index = page & (nw_vm_unit_pages(vm) - 1U);
    uint8_t *to = nw_vm_memory_of(vm, frame);

    if (!nw_vm_unit_written(vm, unit)) {
        if (vm->mapped != NULL && vm->mapped->find(vm, nw_vm_address_of(vm, page)) != NULL) {
            return vm->mapped->load(vm, page, to);
        }
        memset(to, 0, vm->frame_bytes);
        vm->stats.zero_pages++;
        return NW_OK;
    }
    if (vm->unit_shift == 0) {
        return read_unit(vm, unit, to);
    }
    if (vm->sector_unit == unit) {
        vm->stats.buffer_hits++;
    } else {
        int error = mirror(vm, unit);

        if (error != NW_OK) {
            return error;
        }
    }
    memcpy(to, vm->sector + ((size_t)index << vm->frame_shift), vm->frame_bytes);
    return NW_OK;
}

/* Somebody may store to the page without telling: a slot with its write tag, or who pinned it. */
static int has_writer(const struct nw_vm *vm, const struct nw_vm_frame *held)
{
    int found = (held->state & NW_VM_WRITER) != 0;
    uint16_t slot;

    for (slot = 0; !found && slot < vm->slots; slot++) {
        found = vm->slot_table[slot].write_tag == nw_vm_begin(vm, held->tag);
    }
    return found;
}

void nw_vm_saved(struct nw_vm *vm, uint16_t frame)
{
    struct nw_vm_frame *held = &vm->frame[frame];

    if ((held->state & NW_VM_DIRTY) != 0) {
        vm->stats.writebacks++;
        if (!nw_vm_is_pinned(held) || !has_writer(vm, held)) {
            held->state &= (uint16_t)~NW_VM_DIRTY;
            /* A write tag would say that it still is dirty. */
            (void)nw_vm_aside_forget(vm, held);
        }
    }
}

/* Makes the sector buffer a base to lay the resident pages on: read only if it must be. */
static int prepare(struct nw_vm *vm, uint32_t unit)
{
    uint32_t page = unit << vm->unit_shift;
    uint32_t end = page + nw_vm_unit_pages(vm);

    if (vm->sector_unit == unit) {
        return NW_OK;
    }
    if (!nw_vm_unit_written(vm, unit)) {
        memset(vm->sector, 0, vm->block->sector_bytes);
        return vm->mapped != NULL ? vm->mapped->prepare(vm, unit) : (int)NW_OK;
    }
    while (page < end && nw_vm_resident(vm, page) != NW_VM_NONE) {
        page++;
    }
    if (page == end) {
        return NW_OK;
    }
    vm->stats.merges++;
    return mirror(vm, unit);
}

static int gather(struct nw_vm *vm, uint32_t unit)
{
    uint32_t first = unit << vm->unit_shift;
    uint32_t pages = nw_vm_unit_pages(vm);
    uint32_t index;
    int error = prepare(vm, unit);

    if (error != NW_OK) {
        return error;
    }
    vm->sector_unit = NW_VM_NO_UNIT;
    for (index = 0; index < pages; index++) {
        uint16_t frame = nw_vm_resident(vm, first + index);

        if (frame != NW_VM_NONE) {
            memcpy(vm->sector + ((size_t)index << vm->frame_shift), nw_vm_memory_of(vm, frame),
                   vm->frame_bytes);
        }
    }
    error = write_unit(vm, unit, vm->sector);
    if (error != NW_OK) {
        return error;
    }
    vm->sector_unit = unit;
    for (index = 0; index < pages; index++) {
        uint16_t frame = nw_vm_resident(vm, first + index);

        if (frame != NW_VM_NONE) {
            nw_vm_saved(vm, frame);
        }
    }
    return NW_OK;
}

int nw_vm_unit_store(struct nw_vm *vm, uint32_t page)
{
    uint32_t unit = page >> vm->unit_shift;
    int error = vm->mapped != NULL ? vm->mapped->store(vm, page) : 1;

    if (error <= 0) {
        return error;
    }
    if (vm->unit_shift != 0) {
        error = gather(vm, unit);
    } else {
        uint16_t frame = nw_vm_resident(vm, page);

        error = write_unit(vm, unit, nw_vm_memory_of(vm, frame));
        if (error == NW_OK) {
            nw_vm_saved(vm, frame);
        }
    }
    if (error == NW_OK) {
        vm->written[unit >> 3] = (uint8_t)(vm->written[unit >> 3] | (1U << (unit & 7U)));
    }
    return error;
}

int nw_vm_unit_trim(struct nw_vm *vm, uint32_t unit)
{
    int error = transfer(vm, unit, NULL, nw_block_trim, &vm->stats.sectors_trimmed);

    if (error == NW_OK) {
        vm->written[unit >> 3] = (uint8_t)(vm->written[unit >> 3] & ~(1U << (unit & 7U)));
        if (vm->sector_unit == unit) {
            vm->sector_unit = NW_VM_NO_UNIT;
        }
    }
    return error;
}

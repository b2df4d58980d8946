/* SPDX-License-Identifier: Apache-2.0 */
/* The slow sides of the guard: refill a slot, or do what no slot can. */
#include "frames.h"

#include <string.h>

/* A slot's hold on its page ends. */
static void release(struct nw_vm *vm, struct nw_vm_slot *slot)
{
    if (slot->frame != 0) {
        nw_vm_frame_unpin(vm, (uint16_t)(slot->frame - 1U));
        slot->frame = 0;
    }
}

void nw_vm_slots_release(struct nw_vm *vm)
{
    uint16_t index;

    for (index = 0; index < vm->slots; index++) {
        struct nw_vm_slot *slot = &vm->slot_table[index];

        release(vm, slot);
        slot->read_tag = NW_VM_NO_TAG(vm->frame_bytes);
        slot->write_tag = NW_VM_NO_TAG(vm->frame_bytes);
        slot->base = NULL;
    }
}

/* Whether n bytes from address on leave its page. */
static int straddles(const struct nw_vm *vm, uintptr_t address, size_t n)
{
    return (address & (vm->frame_bytes - 1U)) + n > vm->frame_bytes;
}

static void hold_plain(struct nw_vm *vm, struct nw_vm_slot *slot, uintptr_t address)
{
    uintptr_t page = address & ~(uintptr_t)(vm->frame_bytes - 1U);

    vm->stats.identity++;
    release(vm, slot);
    slot->read_tag = page;
    slot->write_tag = page;
    slot->base = (uint8_t *)page;
}

/* Refills the slot with the page of a virtual address. The new page is found before the old one
 * is let go, so that an error leaves the slot as it was. */
static int hold_page(struct nw_vm *vm, struct nw_vm_slot *slot, uintptr_t address)
{
    uint16_t frame;
    int error = nw_vm_frame_get(vm, nw_vm_page_of(vm, address), NW_VM_WANT_CONTENT, &frame);

    if (error != NW_OK) {
        return nw_vm_report(vm, error);
    }
    vm->frame[frame].pins++;
    release(vm, slot);
    slot->read_tag = address & ~(uintptr_t)(vm->frame_bytes - 1U);
    slot->write_tag = NW_VM_NO_TAG(vm->frame_bytes);
    slot->base = nw_vm_memory_of(vm, frame);
    slot->frame = frame + (uintptr_t)1;
    return NW_OK;
}

const uint8_t *nw_vm_load_miss(struct nw_vm *vm, struct nw_vm_slot *slot, uintptr_t address,
                               size_t n)
{
    vm->stats.slot_misses++;
    if (n > NW_VM_ACCESS_MAX) {
        vm->error_at = address;
        (void)nw_vm_report(vm, NW_ERR_RANGE); /* a miscompiled guard: nothing to answer it to */
    } else if (straddles(vm, address, n)) {
        vm->stats.straddles++;
        if (nw_vm_is_plain(vm, address, n)) {
            return (const uint8_t *)address;
        }
        if (nw_vm_pass(vm, (uintptr_t)vm->bounce, address, n) == NW_OK) {
            return vm->bounce;
        }
    } else if (!nw_vm_is_virtual(vm, address)) {
        hold_plain(vm, slot, address);
        return (const uint8_t *)address;
    } else if (hold_page(vm, slot, address) == NW_OK) {
        return slot->base + (address - slot->read_tag);
    }
    memset(vm->bounce, 0, sizeof vm->bounce);
    return vm->bounce;
}

/* Where a virtual byte may be stored; the slot holds its page for writing. NULL after panic. */
static uint8_t *hold_for_write(struct nw_vm *vm, struct nw_vm_slot *slot, uintptr_t address)
{
    if (slot->frame == 0 || address - slot->read_tag >= vm->frame_bytes) {
        if (hold_page(vm, slot, address) != NW_OK) {
            return NULL;
        }
    }
    vm->frame[slot->frame - 1U].flags |= NW_VM_DIRTY | NW_VM_WRITER;
    slot->write_tag = slot->read_tag;
    return slot->base + (address - slot->read_tag);
}

void nw_vm_store_miss(struct nw_vm *vm, struct nw_vm_slot *slot, uintptr_t address, size_t n,
                      const void *value)
{
    uint8_t *to = NULL;

    vm->stats.slot_misses++;
    if (n > NW_VM_ACCESS_MAX) {
        vm->error_at = address;
        (void)nw_vm_report(vm, NW_ERR_RANGE); /* a miscompiled guard: nothing to answer it to */
    } else if (straddles(vm, address, n)) {
        vm->stats.straddles++;
        (void)nw_vm_pass(vm, address, (uintptr_t)value, n); /* has told panic */
    } else if (!nw_vm_is_virtual(vm, address)) {
        hold_plain(vm, slot, address);
        to = (uint8_t *)address;
    } else {
        to = hold_for_write(vm, slot, address);
    }
    if (to != NULL) {
        memcpy(to, value, n);
    }
}

uint8_t *nw_vm_modify_miss(struct nw_vm *vm, struct nw_vm_slot *slot, uintptr_t address, size_t n)
{
    uint8_t *at = NULL;

    vm->stats.slot_misses++;
    if (n <= NW_VM_ACCESS_MAX && straddles(vm, address, n) && nw_vm_is_plain(vm, address, n)) {
        vm->stats.straddles++;
        return (uint8_t *)address;
    }
    if (n > NW_VM_ACCESS_MAX || straddles(vm, address, n)) {
        vm->error_at = address;
        (void)nw_vm_report(vm, NW_ERR_ALIGN); /* answered by scratch memory below */
    } else if (!nw_vm_is_virtual(vm, address)) {
        hold_plain(vm, slot, address);
        at = (uint8_t *)address;
    } else {
        at = hold_for_write(vm, slot, address);
    }
    if (at == NULL) {
        memset(vm->bounce, 0, sizeof vm->bounce);
        at = vm->bounce;
    }
    return at;
}

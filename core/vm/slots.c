/* SPDX-License-Identifier: Apache-2.0 */
/* The slow sides of the guard: refill a slot, or do what no slot can. */
#include "frames.h"

#include <string.h>

/* A slot's hold on its page ends. Its hits went unseen: for all we know it was used just now. */
static void release(struct nw_vm *vm, struct nw_vm_slot *slot)
{
    if (slot->frame != 0) {
        uint16_t frame = (uint16_t)(slot->frame - 1U);

        nw_vm_policy_use(vm, frame);
        nw_vm_frame_unpin(vm, frame);
        slot->frame = 0;
    }
}

static void clear(const struct nw_vm *vm, struct nw_vm_slot *slot)
{
    slot->read_tag = NW_VM_NO_TAG(vm->frame_bytes);
    slot->write_tag = NW_VM_NO_TAG(vm->frame_bytes);
}

void nw_vm_slots_release(struct nw_vm *vm)
{
    uint16_t index;

    for (index = 0; index < vm->slots; index++) {
        struct nw_vm_slot *slot = &vm->slot_table[index];

        release(vm, slot);
        clear(vm, slot);
    }
    for (index = 0; vm->lookaside != NULL && index <= vm->lookaside_mask; index++) {
        clear(vm, &vm->lookaside[index]);
        vm->lookaside[index].frame = 0;
    }
}

int nw_vm_aside_forget(struct nw_vm *vm, uint32_t page)
{
    uintptr_t address = nw_vm_address_of(vm, page);
    struct nw_vm_slot *entry;

    if (vm->lookaside == NULL) {
        return 0;
    }
    entry = &vm->lookaside[(address >> vm->frame_shift) & vm->lookaside_mask];
    if (entry->read_tag != address) {
        return 0;
    }
    clear(vm, entry);
    return 1;
}

/* A look-aside entry, which pins nothing. */
static int is_aside(const struct nw_vm *vm, const struct nw_vm_slot *slot)
{
    return vm->lookaside != NULL && slot >= vm->lookaside &&
           slot <= vm->lookaside + vm->lookaside_mask;
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
static int hold_page(struct nw_vm *vm, struct nw_vm_slot *slot, uintptr_t address,
                     uint16_t *frame_held)
{
    uint16_t frame;
    int error = nw_vm_frame_get(vm, nw_vm_page_of(vm, address), NW_VM_WANT_CONTENT, &frame);

    if (error != NW_OK) {
        return nw_vm_report(vm, error);
    }
    if (!is_aside(vm, slot)) {
        vm->frame[frame].pins++;
        release(vm, slot);
        slot->frame = frame + (uintptr_t)1;
    }
    slot->read_tag = address & ~(uintptr_t)(vm->frame_bytes - 1U);
    slot->write_tag = NW_VM_NO_TAG(vm->frame_bytes);
    slot->base = nw_vm_memory_of(vm, frame);
    *frame_held = frame;
    return NW_OK;
}

#define STRADDLE 1 /* nw_error numbers are 0 and below */

/* What every miss begins with: NW_OK with the place in *at, STRADDLE when it takes two pages and
 * not both are plain, or an error panic knows of. */
static int refill(struct nw_vm *vm, struct nw_vm_slot *slot, uintptr_t address, size_t n, int write,
                  uint8_t **at)
{
    uint16_t frame = 0;

    vm->stats.slot_misses++;
    *at = (uint8_t *)address;
    if (n > NW_VM_ACCESS_MAX) {
        vm->error_at = address;
        return nw_vm_report(vm, NW_ERR_RANGE); /* a guard compiled wrongly */
    }
    if ((address & (vm->frame_bytes - 1U)) + n > vm->frame_bytes) {
        vm->stats.straddles++;
        return nw_vm_is_plain(vm, address, n) ? NW_OK : STRADDLE;
    }
    if (!nw_vm_is_virtual(vm, address)) {
        hold_plain(vm, slot, address);
        return NW_OK;
    }
    if (write && slot->frame != 0 && address - slot->read_tag < vm->frame_bytes) {
        frame = (uint16_t)(slot->frame - 1U);
    } else {
        int error = hold_page(vm, slot, address, &frame);

        if (error != NW_OK) {
            return error;
        }
    }
    if (write) {
        vm->frame[frame].flags |= NW_VM_DIRTY;
        if (slot->frame != 0) {
            vm->frame[frame].flags |= NW_VM_WRITER;
        }
        slot->write_tag = slot->read_tag;
    }
    *at = slot->base + (address - slot->read_tag);
    return NW_OK;
}

const uint8_t *nw_vm_load_miss(struct nw_vm *vm, struct nw_vm_slot *slot, uintptr_t address,
                               size_t n)
{
    uint8_t *at;
    int error = refill(vm, slot, address, n, 0, &at);

    if (error == NW_OK) {
        return at;
    }
    if (error != STRADDLE || nw_vm_pass(vm, (uintptr_t)vm->bounce, address, n) != NW_OK) {
        memset(vm->bounce, 0, sizeof vm->bounce);
    }
    return vm->bounce;
}

void nw_vm_store_miss(struct nw_vm *vm, struct nw_vm_slot *slot, uintptr_t address, size_t n,
                      const void *value)
{
    uint8_t *at;
    int error = refill(vm, slot, address, n, 1, &at);

    if (error == NW_OK) {
        memcpy(at, value, n);
    } else if (error == STRADDLE) {
        (void)nw_vm_put_across(vm, address, value, n); /* panic knows of any error */
    }
}

uint8_t *nw_vm_modify_miss(struct nw_vm *vm, struct nw_vm_slot *slot, uintptr_t address, size_t n)
{
    uint8_t *at;
    int error = refill(vm, slot, address, n, 1, &at);

    if (error == NW_OK) {
        return at;
    }
    if (error == STRADDLE) {
        vm->error_at = address;
        (void)nw_vm_report(vm, NW_ERR_ALIGN); /* what follows goes to scratch memory */
    }
    memset(vm->bounce, 0, sizeof vm->bounce);
    return vm->bounce;
}

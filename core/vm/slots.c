/* SPDX-License-Identifier: Apache-2.0 */
/* The slow sides of the guard: refill a slot, or do what no slot can. */
#include "frames.h"

#include <string.h>

#define ASIDE UINTPTR_MAX /* in a look-aside entry's frame: it pins nothing */

/* A slot's hold on its page ends. Its hits went unseen: for all we know it was used just now. */
static void release(struct nw_vm *vm, struct nw_vm_slot *slot)
{
    if (slot->frame != 0 && slot->frame != ASIDE) {
        uint16_t frame = (uint16_t)(slot->frame - 1U);

        nw_vm_policy_use(vm, frame);
        nw_vm_frame_unpin(&vm->frame[frame]);
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
        vm->lookaside[index].frame = ASIDE;
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

static void hold_plain(struct nw_vm *vm, struct nw_vm_slot *slot, uintptr_t address)
{
    uintptr_t page = address & ~(uintptr_t)(vm->frame_bytes - 1U);

    vm->stats.identity++;
    release(vm, slot);
    slot->read_tag = page;
    slot->write_tag = page;
    slot->base = (uint8_t *)page;
}

/* The slot now holds the page in this frame, which lies where the answer says. A pinned page counts
 * as used when it is let go. Everything that makes calls comes last, so that the short way saves no
 * registers. */
static inline uint8_t *hold_page(struct nw_vm *vm, struct nw_vm_slot *slot, uintptr_t tag,
                                 uint16_t frame, int write)
{
    struct nw_vm_frame *held = &vm->frame[frame];
    uintptr_t before = slot->frame;
    uint16_t used = frame;

    slot->read_tag = tag;
    slot->base = nw_vm_memory_of(vm, frame);
    slot->write_tag = NW_VM_NO_TAG(vm->frame_bytes);
    if (write) {
        slot->write_tag = tag;
        held->flags |= NW_VM_DIRTY;
    }
    if (before != ASIDE) {
        if (write) {
            held->flags |= NW_VM_WRITER;
        }
        held->pins++;
        slot->frame = frame + (uintptr_t)1;
        if (before == 0) {
            return slot->base;
        }
        used = (uint16_t)(before - 1U);
        nw_vm_frame_unpin(&vm->frame[used]);
    }
    if (vm->order != NULL) {
        nw_vm_policy_use(vm, used);
    } else {
        vm->frame[used].flags |= NW_VM_REFERENCED;
    }
    return slot->base;
}

/* Most misses end here: kept short, and no calls but under LRU. */
uint8_t *nw_vm_hold(struct nw_vm *vm, struct nw_vm_slot *slot, uintptr_t address, size_t n,
                    int write)
{
    uintptr_t offset = address & (vm->frame_bytes - 1U);
    uint32_t page = nw_vm_page_of(vm, address);
    uint16_t frame;

    if (offset + n > vm->frame_bytes || !nw_vm_is_virtual(vm, address)) {
        return NULL;
    }
    frame = *nw_vm_bucket_of(vm, page);
    while (frame != NW_VM_NONE && vm->frame[frame].page != page) {
        frame = vm->frame[frame].next;
    }
    if (frame == NW_VM_NONE) {
        return NULL;
    }
    vm->stats.slot_misses++;
    return hold_page(vm, slot, address - offset, frame, write) + offset;
}

#define STRADDLE 1 /* nw_error numbers are 0 and below */

/* What every miss begins with: NW_OK with the place in *at, STRADDLE when it takes two pages and
 * not both are plain, or an error panic knows of. The new page is found before the old one is let
 * go, so that an error leaves the slot as it was. */
static int refill(struct nw_vm *vm, struct nw_vm_slot *slot, uintptr_t address, size_t n, int write,
                  uint8_t **at)
{
    int within = (address & (vm->frame_bytes - 1U)) + n <= vm->frame_bytes;
    int error = NW_ERR_RANGE; /* more than one guard may take: compiled wrongly */
    uint16_t frame;

    *at = (uint8_t *)address;
    if (n <= NW_VM_ACCESS_MAX && within && nw_vm_is_virtual(vm, address)) {
        error = nw_vm_frame_get(vm, nw_vm_page_of(vm, address), NW_VM_WANT_CONTENT, &frame);
        if (error == NW_OK) {
            *at = nw_vm_hold(vm, slot, address, n, write);
            return NW_OK;
        }
    }
    vm->stats.slot_misses++;
    if (n > NW_VM_ACCESS_MAX) {
        vm->error_at = address;
    } else if (!within) {
        vm->stats.straddles++;
        return nw_vm_is_plain(vm, address, n) ? NW_OK : STRADDLE;
    } else if (!nw_vm_is_virtual(vm, address)) {
        hold_plain(vm, slot, address);
        return NW_OK;
    }
    return nw_vm_report(vm, error);
}

/* After an error: zeros, and stores are dropped. */
static uint8_t *nothing(struct nw_vm *vm)
{
    memset(vm->bounce, 0, sizeof vm->bounce);
    return vm->bounce;
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
        return nothing(vm);
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
    return nothing(vm);
}

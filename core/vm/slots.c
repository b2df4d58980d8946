/* SPDX-License-Identifier: Apache-2.0 */
/* The slow sides of the guard: refill a slot, or do what no slot can. */
#include "frames.h"

#include <string.h>

#define ASIDE UINTPTR_MAX /* in a look-aside entry's frame: it pins nothing */

/* A slot's hold on the page of this frame ends. Its hits went unseen: for all we know it was used
 * just now. Answers `at`. */
NW_VM_SHARED uint8_t *let_go(struct nw_vm *vm, uint16_t frame, uint8_t *at)
{
    vm->frame[frame].flags |= NW_VM_REFERENCED;
    nw_vm_frame_unpin(&vm->frame[frame]);
    if (vm->order != NULL) {
        nw_vm_policy_use(vm, frame);
    }
    return at;
}

/* The slot, or look-aside entry, is empty from now on. */
NW_VM_APART void empty(struct nw_vm *vm, struct nw_vm_slot *slot)
{
    slot->read_tag = NW_VM_NO_TAG(vm->frame_bytes);
    slot->write_tag = slot->read_tag;
    if (slot->frame != 0 && slot->frame != ASIDE) {
        (void)let_go(vm, (uint16_t)(slot->frame - 1U), NULL);
        slot->frame = 0;
    }
}

void nw_vm_slots_release(struct nw_vm *vm)
{
    uint16_t index;

    for (index = 0; index < vm->slots; index++) {
        empty(vm, &vm->slot_table[index]);
    }
    for (index = 0; vm->lookaside != NULL && index <= vm->lookaside_mask; index++) {
        vm->lookaside[index].frame = ASIDE;
        empty(vm, &vm->lookaside[index]);
    }
}

static void hold_plain(struct nw_vm *vm, struct nw_vm_slot *slot, uintptr_t address)
{
    uintptr_t page = address & ~(uintptr_t)(vm->frame_bytes - 1U);

    vm->stats.identity++;
    empty(vm, slot);
    slot->read_tag = page;
    slot->write_tag = page;
    slot->base = (uint8_t *)page;
}

/* A look-aside entry only uses this frame. A slot pins it and lets go of the one it pinned before.
 * Answers `at`. */
NW_VM_SHARED uint8_t *keep(struct nw_vm_slot *slot, uint16_t frame, struct nw_vm *vm, uint8_t *at)
{
    uintptr_t before = slot->frame;

    if (before == ASIDE) {
        nw_vm_policy_use(vm, frame);
        return at;
    }
    if (slot->write_tag == slot->read_tag) {
        vm->frame[frame].flags |= NW_VM_WRITER;
    }
    vm->frame[frame].pins++;
    slot->frame = frame + (uintptr_t)1;
    return before == 0 ? at : let_go(vm, (uint16_t)(before - 1U), at);
}

/* The frame of n bytes on one resident page, or NW_VM_NONE. */
NW_VM_INLINE uint16_t find(const struct nw_vm *vm, uintptr_t address, size_t n)
{
    uintptr_t tag = address & NW_VM_NO_TAG(vm->frame_bytes);
    uint32_t page = nw_vm_page_of(vm, address);

    /* Where the page's number holds a whole address, a plain one makes a number no frame has. */
    if (address - tag + n > vm->frame_bytes ||
        (sizeof address > sizeof page && !nw_vm_is_virtual(vm, address))) {
        return NW_VM_NONE;
    }
    return nw_vm_look_up(vm, page);
}

/* The slot knows the page in this frame from now on, and the page gets `marks`, of which
 * NW_VM_DIRTY opens it for writing. Answers where the byte lies. */
NW_VM_INLINE uint8_t *fill(struct nw_vm_slot *slot, uintptr_t address, uint16_t frame,
                           struct nw_vm *vm, uint8_t marks)
{
    uintptr_t none = NW_VM_NO_TAG(vm->frame_bytes), tag = address & none;
    uint8_t *base = nw_vm_memory_of(vm, frame);

    vm->frame[frame].flags |= marks;
    slot->read_tag = tag;
    slot->write_tag = (marks & NW_VM_DIRTY) != 0 ? tag : none;
    slot->base = base;
    return base + (address - tag);
}

/* What most misses are: kept short, and without a call for a look-aside entry under CLOCK. */
NW_VM_INLINE uint8_t *hold(struct nw_vm_slot *slot, uintptr_t address, uint16_t frame,
                           struct nw_vm *vm, uint8_t marks)
{
    uint8_t *at = fill(slot, address, frame, vm, marks);

    vm->stats.slot_misses++;
    return slot->frame == ASIDE && vm->order == NULL ? at : keep(slot, frame, vm, at);
}

uint8_t *nw_vm_hold_write(struct nw_vm_slot *slot, uintptr_t address, size_t n, struct nw_vm *vm)
{
    uint16_t frame = find(vm, address, n);

    return frame == NW_VM_NONE
               ? NULL
               : hold(slot, address, frame, vm, NW_VM_REFERENCED | NW_VM_DIRTY);
}

#define STRADDLE 1 /* nw_error numbers are 0 and below */

/* What every miss does that the short way does not end: NW_OK with the place in *at, STRADDLE when
 * it takes two pages and not both are plain, or an error panic knows of. The slot lets go of its
 * old page last, so an error leaves it as it was. */
static int refill(struct nw_vm *vm, struct nw_vm_slot *slot, uintptr_t address, size_t n,
                  uint8_t marks, uint8_t **at)
{
    uint16_t frame;
    int error;

    *at = (uint8_t *)address;
    vm->stats.slot_misses++;
    if (n > NW_VM_ACCESS_MAX) { /* more than one guard may take: compiled wrongly */
        vm->error_at = address;
        return nw_vm_report(vm, NW_ERR_RANGE);
    }
    if ((address & (vm->frame_bytes - 1U)) + n > vm->frame_bytes) {
        vm->stats.straddles++;
        return nw_vm_is_plain(vm, address, n) ? NW_OK : STRADDLE;
    }
    if (!nw_vm_is_virtual(vm, address)) {
        hold_plain(vm, slot, address);
        return NW_OK;
    }
    error = nw_vm_frame_get(vm, nw_vm_page_of(vm, address), NW_VM_WANT_CONTENT, &frame);
    if (error != NW_OK) {
        return nw_vm_report(vm, error);
    }
    *at = keep(slot, frame, vm, fill(slot, address, frame, vm, marks));
    return NW_OK;
}

/* After an error: zeros, and stores are dropped. */
static uint8_t *nothing(struct nw_vm *vm)
{
    memset(vm->bounce, 0, sizeof vm->bounce);
    return vm->bounce;
}

/* Where the short way of a load does not lead. */
NW_VM_APART const uint8_t *load_slowly(struct nw_vm_slot *slot, uintptr_t address, size_t n,
                                       struct nw_vm *vm)
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

const uint8_t *nw_vm_load_miss(struct nw_vm_slot *slot, uintptr_t address, size_t n,
                               struct nw_vm *vm)
{
    uint16_t frame = find(vm, address, n);

    if (frame == NW_VM_NONE) {
        return n == 0 ? NULL : load_slowly(slot, address, n, vm);
    }
    return hold(slot, address, frame, vm, NW_VM_REFERENCED);
}

void nw_vm_store_miss(struct nw_vm *vm, struct nw_vm_slot *slot, uintptr_t address, size_t n,
                      const void *value)
{
    uint8_t *at;
    int error = refill(vm, slot, address, n, NW_VM_DIRTY, &at);

    if (error == NW_OK) {
        memcpy(at, value, n);
    } else if (error == STRADDLE) {
        (void)nw_vm_put_across(vm, address, value, n); /* panic knows of any error */
    }
}

uint8_t *nw_vm_modify_miss(struct nw_vm *vm, struct nw_vm_slot *slot, uintptr_t address, size_t n)
{
    uint8_t *at;
    int error = refill(vm, slot, address, n, NW_VM_DIRTY, &at);

    if (error == NW_OK) {
        return at;
    }
    if (error == STRADDLE) {
        vm->error_at = address;
        (void)nw_vm_report(vm, NW_ERR_ALIGN); /* what follows goes to scratch memory */
    }
    return nothing(vm);
}

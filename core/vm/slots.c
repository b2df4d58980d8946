/* SPDX-License-Identifier: Apache-2.0 */
/* The slow sides of the guard: refill a slot, or do what no slot can. */
#include "frames.h"

#include <string.h>

/* In a look-aside entry's frame: it pins nothing. The second one where uses have an order (LRU). */
#define ASIDE UINTPTR_MAX
#define ASIDE_ORDERED (UINTPTR_MAX - 1U)

static uint16_t number_of(const struct nw_vm *vm, const struct nw_vm_frame *held)
{
    return (uint16_t)(held - vm->frame);
}

/* A slot's hold on the page of this frame ends. Its hits went unseen: for all we know it was used
 * just now. CLOCK knows, as a pinned page keeps its mark. */
NW_VM_INLINE void let_go(struct nw_vm *vm, struct nw_vm_frame *held)
{
    nw_vm_frame_unpin(held);
    if (vm->order != NULL && held != nw_vm_no_frame(vm)) {
        nw_vm_policy_use(vm, number_of(vm, held));
    }
}

/* The slot, or look-aside entry, is empty from now on. */
NW_VM_APART void empty(struct nw_vm *vm, struct nw_vm_slot *slot)
{
    slot->read_tag = vm->no_tag;
    slot->write_tag = slot->read_tag;
    if (slot->frame < ASIDE_ORDERED) {
        let_go(vm, (struct nw_vm_frame *)slot->frame);
        slot->frame = (uintptr_t)nw_vm_no_frame(vm);
    }
}

void nw_vm_slots_release(struct nw_vm *vm)
{
    uint16_t index;

    for (index = 0; index < vm->slots; index++) {
        empty(vm, &vm->slot_table[index]);
    }
    for (index = 0; vm->lookaside != NULL && index <= vm->lookaside_mask; index++) {
        vm->lookaside[index].frame = vm->order == NULL ? ASIDE : ASIDE_ORDERED;
        empty(vm, &vm->lookaside[index]);
    }
}

static void hold_plain(struct nw_vm *vm, struct nw_vm_slot *slot, uintptr_t address)
{
    uintptr_t page = address & vm->no_tag;

    vm->stats.identity++;
    empty(vm, slot);
    slot->read_tag = page;
    slot->write_tag = page;
    slot->base = (uint8_t *)page;
}

/* A slot pins this frame from now on, and lets go of the one it pinned before. Under LRU that one
 * counts as used, as does the frame of a look-aside entry. Answers `at`. */
NW_VM_APART uint8_t *keep(struct nw_vm_slot *slot, struct nw_vm_frame *held, uint8_t *at,
                          struct nw_vm *vm)
{
    uintptr_t before = slot->frame;

    if (before >= ASIDE_ORDERED) {
        if (before == ASIDE_ORDERED) {
            nw_vm_policy_use(vm, number_of(vm, held));
        }
        return at;
    }
    nw_vm_frame_pin(held);
    slot->frame = (uintptr_t)held;
    let_go(vm, (struct nw_vm_frame *)before);
    return at;
}

/* Where the short way of a miss does not lead. */
NW_VM_APART uint8_t *load_slowly(struct nw_vm_slot *slot, uintptr_t address, size_t n,
                                 struct nw_vm *vm);
NW_VM_APART uint8_t *bring(struct nw_vm_slot *slot, uintptr_t address, int write, struct nw_vm *vm);

/* The short way: the page is in this frame, as most misses find it. Each instruction here is of
 * them all, and so that no registers need be saved, what is called comes last. Answers where the
 * byte lies. */
NW_VM_INLINE uint8_t *hold(struct nw_vm_slot *slot, uintptr_t address, uint16_t frame,
                           struct nw_vm *vm, int write)
{
    uintptr_t none = vm->no_tag, tag = address & none, before = slot->frame;
    struct nw_vm_frame *held = &vm->frame[frame];
    unsigned state = held->state | (write ? NW_VM_REFERENCED | NW_VM_DIRTY : NW_VM_REFERENCED);
    uint8_t *base = nw_vm_memory_of(vm, frame);
    uint8_t *at = base + (address - tag);

    vm->stats.slot_misses++;
    slot->read_tag = tag;
    slot->write_tag = write ? tag : none;
    slot->base = base;
    if (before == ASIDE) {
        held->state = (uint16_t)state;
        return at;
    }
    if (vm->order != NULL) {
        held->state = (uint16_t)state;
        return keep(slot, held, at, vm);
    }
    held->state = (uint16_t)(state + NW_VM_PIN);
    slot->frame = (uintptr_t)held;
    nw_vm_frame_unpin((struct nw_vm_frame *)before);
    return at;
}

const uint8_t *nw_vm_load_miss(struct nw_vm_slot *slot, uintptr_t address, size_t n,
                               struct nw_vm *vm)
{
    uint16_t frame;

    if (nw_vm_straddles(vm, address, n) || !nw_vm_look_up(vm, address, &frame)) {
        return n == 0 ? NULL : load_slowly(slot, address, n, vm);
    }
    return hold(slot, address, frame, vm, 0);
}

uint8_t *nw_vm_write_miss(struct nw_vm_slot *slot, uintptr_t address, size_t n, struct nw_vm *vm)
{
    uint16_t frame;

    if (!nw_vm_look_up(vm, address, &frame) || (vm->frame[frame].state & NW_VM_FIXED) != 0) {
        return n == 0 ? NULL : bring(slot, address, 1, vm);
    }
    return hold(slot, address, frame, vm, 1);
}

uint8_t *nw_vm_hold_write(struct nw_vm_slot *slot, uintptr_t address, size_t n, struct nw_vm *vm)
{
    return nw_vm_straddles(vm, address, n) ? NULL : nw_vm_write_miss(slot, address, 0, vm);
}

/* After an error: zeros, and stores are dropped. */
static uint8_t *nothing(struct nw_vm *vm, int error)
{
    (void)nw_vm_report(vm, error);
    memset(vm->bounce, 0, sizeof vm->bounce);
    return vm->bounce;
}

static uint8_t *refuse(struct nw_vm *vm, uintptr_t address, int error)
{
    vm->error_at = address;
    return nothing(vm, error);
}

/* A page that is not resident, or plain memory. */
NW_VM_APART uint8_t *bring(struct nw_vm_slot *slot, uintptr_t address, int write, struct nw_vm *vm)
{
    struct nw_vm_frame *held;
    uint16_t frame;
    int error;

    vm->stats.slot_misses++;
    if (!nw_vm_is_virtual(vm, address)) {
        hold_plain(vm, slot, address);
        return (uint8_t *)address;
    }
    error = nw_vm_frame_get(vm, address, NW_VM_WANT_CONTENT, &frame);
    if (error == NW_OK && write) {
        error = nw_vm_soil(vm, frame, address);
    }
    if (error != NW_OK) {
        return nothing(vm, error);
    }
    held = &vm->frame[frame];
    held->state |= NW_VM_REFERENCED;
    slot->read_tag = address & vm->no_tag;
    slot->write_tag = write ? slot->read_tag : vm->no_tag;
    slot->base = nw_vm_memory_of(vm, frame);
    return keep(slot, held, slot->base + (address - slot->read_tag), vm);
}

enum shape { ON_A_PAGE, PLAIN_PAGES, TWO_PAGES, TOO_LONG };

/* How n bytes lie. What no slot can do is counted here. */
static enum shape shape_of(struct nw_vm *vm, uintptr_t address, size_t n)
{
    if (n <= NW_VM_ACCESS_MAX && !nw_vm_straddles(vm, address, n)) {
        return ON_A_PAGE;
    }
    vm->stats.slot_misses++;
    if (n > NW_VM_ACCESS_MAX) { /* more than one guard may take: compiled wrongly */
        return TOO_LONG;
    }
    vm->stats.straddles++;
    return nw_vm_is_plain(vm, address, n) ? PLAIN_PAGES : TWO_PAGES;
}

NW_VM_APART uint8_t *load_slowly(struct nw_vm_slot *slot, uintptr_t address, size_t n,
                                 struct nw_vm *vm)
{
    switch (shape_of(vm, address, n)) {
    case ON_A_PAGE:
        return bring(slot, address, 0, vm);
    case PLAIN_PAGES:
        return (uint8_t *)address;
    case TWO_PAGES:
        /* panic knows of any error */
        return nw_vm_pass(vm, (uintptr_t)vm->bounce, address, n) == NW_OK ? vm->bounce
                                                                          : nothing(vm, NW_OK);
    default:
        return refuse(vm, address, NW_ERR_RANGE);
    }
}

void nw_vm_store_miss(struct nw_vm *vm, struct nw_vm_slot *slot, uintptr_t address, size_t n,
                      const void *value)
{
    switch (shape_of(vm, address, n)) {
    case ON_A_PAGE:
        memcpy(nw_vm_write_miss(slot, address, n, vm), value, n);
        break;
    case PLAIN_PAGES:
        memcpy((uint8_t *)address, value, n);
        break;
    case TWO_PAGES:
        (void)nw_vm_put_across(vm, address, value, n); /* panic knows of any error */
        break;
    default:
        (void)refuse(vm, address, NW_ERR_RANGE);
    }
}

uint8_t *nw_vm_modify_miss(struct nw_vm *vm, struct nw_vm_slot *slot, uintptr_t address, size_t n)
{
    switch (shape_of(vm, address, n)) {
    case ON_A_PAGE:
        return nw_vm_write_miss(slot, address, n, vm);
    case PLAIN_PAGES:
        return (uint8_t *)address;
    case TWO_PAGES:
        return refuse(vm, address, NW_ERR_ALIGN);
    default:
        return refuse(vm, address, NW_ERR_RANGE);
    }
}

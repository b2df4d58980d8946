/* SPDX-License-Identifier: Apache-2.0 */
/* What all the others ask: which frame holds a page, and whether the look-aside knows it. */
#include "frames.h"

uint16_t nw_vm_resident(const struct nw_vm *vm, uint32_t page)
{
    uint16_t frame;

    return nw_vm_look_up(vm, nw_vm_address_of(vm, page), &frame) ? frame : NW_VM_NONE;
}

int nw_vm_aside_forget(struct nw_vm *vm, const struct nw_vm_frame *held)
{
    uintptr_t address = nw_vm_begin(vm, held->tag);
    struct nw_vm_slot *entry;

    if (vm->lookaside == NULL) {
        return 0;
    }
    entry = &vm->lookaside[(address >> vm->frame_shift) & vm->lookaside_mask];
    if (entry->read_tag != address) {
        return 0;
    }
    entry->read_tag = NW_VM_NO_TAG(vm->frame_bytes); /* it pins nothing */
    entry->write_tag = entry->read_tag;
    return 1;
}

int nw_vm_soil(struct nw_vm *vm, uint16_t frame, uintptr_t address)
{
    struct nw_vm_frame *held = &vm->frame[frame];

    if ((held->state & NW_VM_FIXED) != 0) {
        vm->error_at = address;
        return NW_ERR_READ_ONLY;
    }
    held->state |= NW_VM_DIRTY;
    return NW_OK;
}

int nw_vm_report(struct nw_vm *vm, int error)
{
    if (error != NW_OK && vm->panic != NULL) {
        vm->panic(vm, error, vm->error_at);
    }
    return error;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Frames: pages are faulted in, and dropped. */
#include "frames.h"

void nw_vm_frame_drop(struct nw_vm *vm, uint16_t frame)
{
    uint16_t *link = nw_vm_bucket_of(vm, vm->frame[frame].tag);

    while (*link != frame) {
        link = &vm->frame[*link].next;
    }
    *link = vm->frame[frame].next;
    (void)nw_vm_aside_forget(vm, &vm->frame[frame]);
    nw_vm_policy_remove(vm, frame);
    vm->frame[frame].state = 0;
    vm->frame[frame].next = vm->free;
    vm->free = frame;
}

/* Sees to it that there is a free frame. */
static int make_room(struct nw_vm *vm, uint32_t tag)
{
    uint16_t victim;

    if (vm->free != NW_VM_NONE) {
        return NW_OK;
    }
    victim = nw_vm_policy_victim(vm);
    if (victim == NW_VM_NONE) {
        vm->error_at = nw_vm_begin(vm, tag);
        return NW_ERR_PINNED;
    }
    if ((vm->frame[victim].state & NW_VM_DIRTY) != 0) {
        int error = nw_vm_unit_store(vm, nw_vm_page_in(vm, &vm->frame[victim]));

        if (error != NW_OK) {
            return error;
        }
    }
    nw_vm_frame_drop(vm, victim);
    vm->stats.evictions++;
    return NW_OK;
}

static int fault(struct nw_vm *vm, uint32_t tag, enum nw_vm_want want, uint16_t *frame)
{
    uint16_t *bucket = nw_vm_bucket_of(vm, tag);
    const struct nw_vm_map *map =
        vm->mapped != NULL ? vm->mapped->find(vm, nw_vm_begin(vm, tag)) : NULL;
    int is_fixed = map != NULL && map->kind == NW_VM_MAP_READ_ONLY;
    uint16_t room;
    int error;

    vm->stats.faults++;
    if (is_fixed && want == NW_VM_WANT_ROOM) {
        want = NW_VM_WANT_CONTENT; /* it stays: who wants to overwrite it is refused */
    }
    error = make_room(vm, tag);
    if (error != NW_OK) {
        return error;
    }
    room = vm->free;
    if (want == NW_VM_WANT_ROOM) {
        vm->stats.covered++;
    } else {
        error = nw_vm_page_load(vm, nw_vm_page_of(vm, nw_vm_begin(vm, tag)), room);
        if (error != NW_OK) {
            return error;
        }
    }
    vm->free = vm->frame[room].next;
    vm->frame[room].tag = tag;
    vm->frame[room].next = *bucket;
    *bucket = room;
    nw_vm_policy_add(vm, room);
    if (is_fixed) {
        vm->frame[room].state |= NW_VM_FIXED;
    }
    *frame = room;
    return NW_OK;
}

int nw_vm_frame_get(struct nw_vm *vm, uintptr_t address, enum nw_vm_want want, uint16_t *frame)
{
    if (!nw_vm_look_up(vm, address, frame)) {
        return fault(vm, nw_vm_tag_of(vm, address), want, frame);
    }
    nw_vm_policy_use(vm, *frame);
    return NW_OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Which page leaves: second chance that spares dirty pages, or exact LRU. Pinned pages never
 * leave. */
#include "frames.h"

/* How far past a dirty candidate CLOCK looks for a clean one: bounds the search in large caches. */
#define CLEAN_REACH 64U

/* The order is a ring: behind the last frame's entry stands one that is older than the newest and
 * newer than the oldest. */
void nw_vm_policy_open(struct nw_vm *vm)
{
    vm->hand = 0;
    if (vm->order != NULL) {
        vm->order[vm->frames].older = vm->frames;
        vm->order[vm->frames].newer = vm->frames;
    }
}

static void unlink_order(struct nw_vm *vm, uint16_t frame)
{
    struct nw_vm_order own = vm->order[frame];

    vm->order[own.newer].older = own.older;
    vm->order[own.older].newer = own.newer;
}

void nw_vm_policy_add(struct nw_vm *vm, uint16_t frame)
{
    struct nw_vm_order *end;

    if (vm->order == NULL) {
        vm->frame[frame].state |= NW_VM_REFERENCED;
        return;
    }
    end = &vm->order[vm->frames];
    vm->order[frame].older = end->older;
    vm->order[frame].newer = vm->frames;
    vm->order[end->older].newer = frame;
    end->older = frame;
}

void nw_vm_policy_remove(struct nw_vm *vm, uint16_t frame)
{
    if (vm->order != NULL) {
        unlink_order(vm, frame);
    }
}

void nw_vm_policy_use(struct nw_vm *vm, uint16_t frame)
{
    nw_vm_policy_remove(vm, frame);
    nw_vm_policy_add(vm, frame);
}

static uint16_t after(const struct nw_vm *vm, uint16_t frame)
{
    return frame + 1U < vm->frames ? (uint16_t)(frame + 1U) : 0;
}

/* An unreferenced clean page within reach of the dirty candidate; the candidate itself if none
 * is. Its place under the hand is kept, and reference bits on the way are left, so the pages
 * passed over lose nothing by it. */
static uint16_t clean_near(const struct nw_vm *vm, uint16_t candidate)
{
    uint16_t reach = vm->frames < CLEAN_REACH ? vm->frames : CLEAN_REACH;
    uint16_t frame = candidate;
    uint16_t step;

    for (step = 1; step < reach; step++) {
        frame = after(vm, frame);
        if (!nw_vm_is_pinned(&vm->frame[frame]) &&
            (vm->frame[frame].state & (NW_VM_DIRTY | NW_VM_REFERENCED)) == 0) {
            return frame;
        }
    }
    return candidate;
}

static uint16_t clock_victim(struct nw_vm *vm)
{
    uint32_t step;

    /* One turn may go by clearing reference bits, the second finds. */
    for (step = 0; step < 2UL * vm->frames; step++) {
        uint16_t frame = vm->hand;
        struct nw_vm_frame *held = &vm->frame[frame];

        if (!nw_vm_is_pinned(held) && (held->state & NW_VM_REFERENCED) == 0) {
            if ((held->state & NW_VM_DIRTY) != 0) {
                uint16_t clean = clean_near(vm, frame);

                if (clean != frame) {
                    return clean;
                }
            }
            vm->hand = after(vm, frame);
            return frame;
        }
        if (!nw_vm_is_pinned(held)) {
            held->state &= (uint16_t)~NW_VM_REFERENCED;
            (void)nw_vm_aside_forget(vm, held);
        }
        vm->hand = after(vm, frame);
    }
    return NW_VM_NONE;
}

/* A page some look-aside entry knows may have been used unseen: it counts as used just now. Its
 * entry is gone then, so no frame is passed twice for that. */
static uint16_t lru_victim(struct nw_vm *vm)
{
    uint16_t frame = vm->order[vm->frames].newer;

    while (frame != vm->frames) {
        uint16_t newer = vm->order[frame].newer;

        if (!nw_vm_is_pinned(&vm->frame[frame])) {
            if (newer == vm->frames || !nw_vm_aside_forget(vm, &vm->frame[frame])) {
                return frame;
            }
            nw_vm_policy_use(vm, frame);
        }
        frame = newer;
    }
    return NW_VM_NONE;
}

uint16_t nw_vm_policy_victim(struct nw_vm *vm)
{
    return vm->order != NULL ? lru_victim(vm) : clock_victim(vm);
}

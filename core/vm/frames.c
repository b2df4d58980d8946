/* SPDX-License-Identifier: Apache-2.0 */
/* Opening a VM, finding resident pages, and faulting the others in. */
#include "frames.h"

#include <string.h>

#include "nandwich/ram.h"

#define FRAME_ALIGN 16U

uint16_t nw_vm_resident(const struct nw_vm *vm, uint32_t page)
{
    return nw_vm_look_up(vm, page);
}

static int is_power_of_two(uint32_t value)
{
    return value != 0 && (value & (value - 1U)) == 0;
}

static uint8_t log2_of(uint32_t value)
{
    uint8_t log = 0;

    while (value > 1U) {
        value >>= 1;
        log++;
    }
    return log;
}

static uint8_t bucket_bits(uint16_t frames)
{
    uint8_t bits = 1;

    while ((1UL << bits) < frames) {
        bits++;
    }
    return bits;
}

static uint32_t unit_bytes(const struct nw_vm_config *config)
{
    return config->block->sector_bytes > config->frame_bytes ? config->block->sector_bytes
                                                             : config->frame_bytes;
}

/* Takes everything in a fixed order; called once to measure and once to place. */
static void layout(struct nw_vm *vm, const struct nw_vm_config *config, struct nw_ram *ram)
{
    uint32_t units = config->bytes / unit_bytes(config);

    vm->memory = nw_ram_take(ram, config->frames, config->frame_bytes, FRAME_ALIGN);
    vm->sector = NULL;
    if (config->block->sector_bytes > config->frame_bytes) {
        vm->sector = nw_ram_take(ram, 1, config->block->sector_bytes, FRAME_ALIGN);
    }
    vm->frame = NW_RAM_TAKE(ram, struct nw_vm_frame, config->frames);
    vm->bucket = NW_RAM_TAKE(ram, uint16_t, (size_t)1 << bucket_bits(config->frames));
    vm->order = NULL;
    if (config->policy == NW_VM_LRU) {
        vm->order = NW_RAM_TAKE(ram, struct nw_vm_order, (size_t)config->frames + 1U);
    }
    vm->written = NW_RAM_TAKE(ram, uint8_t, (size_t)((units + 7U) / 8U));
}

static size_t measure(const struct nw_vm_config *config)
{
    struct nw_ram ram = {NULL, 0, 0};
    struct nw_vm vm;

    layout(&vm, config, &ram);
    return ram.used;
}

static uint8_t shape_reason(const struct nw_vm_config *config)
{
    uint32_t sector_bytes = config->block->sector_bytes;

    if (!is_power_of_two(config->frame_bytes) || config->frame_bytes < 16U ||
        config->frame_bytes > 32768U) {
        return NW_VM_BAD_FRAME;
    }
    if (!is_power_of_two(sector_bytes) ||
        (config->scheme == NW_VM_DIRECT && sector_bytes > config->frame_bytes)) {
        return NW_VM_BAD_SECTOR;
    }
    if (config->bytes == 0 || config->bytes % unit_bytes(config) != 0 ||
        config->base % config->frame_bytes != 0 ||
        config->bytes > NW_VM_NO_TAG(config->frame_bytes) ||
        config->base > NW_VM_NO_TAG(config->frame_bytes) - (uintptr_t)config->bytes) {
        return NW_VM_BAD_RANGE;
    }
    if (config->policy > NW_VM_LRU || config->scheme > NW_VM_DIRECT ||
        config->slots > NW_VM_SLOTS_MAX ||
        (config->lookaside_entries != 0 && !is_power_of_two(config->lookaside_entries))) {
        return NW_VM_BAD_CHOICE;
    }
    return NW_VM_FITS;
}

int nw_vm_check(const struct nw_vm_config *config, struct nw_vm_needs *needs)
{
    needs->frames = (uint32_t)config->slots + config->pins + 2U;
    needs->sectors = 0;
    needs->ram_bytes = 0;
    needs->reason = shape_reason(config);
    if (needs->reason != NW_VM_FITS) {
        return NW_ERR_CONFIG;
    }
    needs->sectors = config->bytes / config->block->sector_bytes;
    if (config->frames < needs->frames || config->frames > NW_VM_FRAMES_MAX) {
        needs->reason = NW_VM_FEW_FRAMES;
    } else if (config->block->sectors < needs->sectors) {
        needs->reason = NW_VM_SMALL_BLOCK;
    } else {
        needs->ram_bytes = measure(config);
        if ((config->slots > 0 && (config->slot_table == NULL || config->panic == NULL)) ||
            (config->lookaside_entries > 0 && config->lookaside == NULL)) {
            needs->reason = NW_VM_BAD_CHOICE;
        } else if (config->ram == NULL || config->ram_bytes < needs->ram_bytes) {
            needs->reason = NW_VM_SMALL_RAM;
            return NW_ERR_RAM;
        }
    }
    return needs->reason == NW_VM_FITS ? NW_OK : NW_ERR_CONFIG;
}

size_t nw_vm_ram_bytes(const struct nw_vm_config *config)
{
    struct nw_vm_needs needs;

    (void)nw_vm_check(config, &needs); /* the refusal shows as 0 bytes */
    return needs.ram_bytes;
}

static void empty_frames(struct nw_vm *vm)
{
    uint16_t frame;

    memset(vm->frame, 0, (size_t)vm->frames * sizeof vm->frame[0]);
    vm->free = NW_VM_NONE;
    for (frame = vm->frames; frame > 0; frame--) {
        vm->frame[frame - 1U].next = vm->free;
        vm->free = (uint16_t)(frame - 1U);
    }
}

int nw_vm_open(struct nw_vm *vm, const struct nw_vm_config *config)
{
    struct nw_vm_needs needs;
    struct nw_ram ram = {config->ram, config->ram_bytes, 0};
    uint8_t bits = bucket_bits(config->frames);
    int error = nw_vm_check(config, &needs);

    if (error != NW_OK) {
        return error;
    }
    memset(vm, 0, sizeof *vm);
    layout(vm, config, &ram);
    vm->base = config->base;
    vm->bytes = (uintptr_t)config->bytes;
    vm->frame_bytes = config->frame_bytes;
    vm->frames = config->frames;
    vm->slots = config->slots;
    vm->policy = config->policy;
    vm->scheme = config->scheme;
    vm->block = config->block;
    vm->slot_table = config->slot_table;
    vm->panic = config->panic;
    vm->context = config->context;
    if (config->lookaside_entries != 0) {
        vm->lookaside = config->lookaside;
        vm->lookaside_mask = (uint16_t)(config->lookaside_entries - 1U);
    }
    vm->sector_unit = NW_VM_NO_UNIT;
    vm->units = config->bytes / unit_bytes(config);
    vm->unit_sectors = (uint16_t)(unit_bytes(config) / vm->block->sector_bytes);
    vm->unit_shift = log2_of(unit_bytes(config) / config->frame_bytes);
    vm->frame_shift = log2_of(config->frame_bytes);
    vm->bucket_shift = (uint8_t)(32U - bits);
    vm->pins_left = (uint16_t)(config->frames - config->slots - 2U);
    empty_frames(vm);
    memset(vm->bucket, 0xFF, sizeof(uint16_t) << bits);
    memset(vm->written, 0, (size_t)((vm->units + 7U) / 8U));
    nw_vm_policy_open(vm);
    if (vm->slots > 0) {
        memset(vm->slot_table, 0, vm->slots * sizeof vm->slot_table[0]);
    }
    nw_vm_slots_release(vm);
    return NW_OK;
}

int nw_vm_report(struct nw_vm *vm, int error)
{
    if (vm->panic != NULL) {
        vm->panic(vm, error, vm->error_at);
    }
    return error;
}

void nw_vm_frame_drop(struct nw_vm *vm, uint16_t frame)
{
    uint16_t *link = nw_vm_bucket_of(vm, vm->frame[frame].page);

    while (*link != frame) {
        link = &vm->frame[*link].next;
    }
    *link = vm->frame[frame].next;
    (void)nw_vm_aside_forget(vm, vm->frame[frame].page);
    nw_vm_policy_remove(vm, frame);
    vm->frame[frame].flags = 0;
    vm->frame[frame].next = vm->free;
    vm->free = frame;
}

/* Sees to it that there is a free frame. */
static int make_room(struct nw_vm *vm, uint32_t page)
{
    uint16_t victim;

    if (vm->free != NW_VM_NONE) {
        return NW_OK;
    }
    victim = nw_vm_policy_victim(vm);
    if (victim == NW_VM_NONE) {
        vm->error_at = nw_vm_address_of(vm, page);
        return NW_ERR_PINNED;
    }
    if ((vm->frame[victim].flags & NW_VM_DIRTY) != 0) {
        int error = nw_vm_unit_store(vm, vm->frame[victim].page);

        if (error != NW_OK) {
            return error;
        }
    }
    nw_vm_frame_drop(vm, victim);
    vm->stats.evictions++;
    return NW_OK;
}

static int fault(struct nw_vm *vm, uint32_t page, enum nw_vm_want want, uint16_t *frame)
{
    uint16_t *bucket = nw_vm_bucket_of(vm, page);
    uint16_t room;
    int error;

    vm->stats.faults++;
    error = make_room(vm, page);
    if (error != NW_OK) {
        return error;
    }
    room = vm->free;
    if (want == NW_VM_WANT_ROOM) {
        vm->stats.covered++;
    } else {
        error = nw_vm_page_load(vm, page, room);
        if (error != NW_OK) {
            return error;
        }
    }
    vm->free = vm->frame[room].next;
    vm->frame[room].page = page;
    vm->frame[room].next = *bucket;
    *bucket = room;
    nw_vm_policy_add(vm, room);
    *frame = room;
    return NW_OK;
}

int nw_vm_frame_get(struct nw_vm *vm, uint32_t page, enum nw_vm_want want, uint16_t *frame)
{
    uint16_t found = nw_vm_resident(vm, page);

    if (found == NW_VM_NONE) {
        return fault(vm, page, want, frame);
    }
    nw_vm_policy_use(vm, found);
    *frame = found;
    return NW_OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* A virtual memory as a whole: opening it, flushing it, discarding ranges of it. */
#include <string.h>

#include "frames.h"
#include "nandwich/ram.h"

#define FRAME_ALIGN 16U
#define SPREAD 0x9E3779B1UL /* 2^32 over the golden ratio: see nw_vm_bucket_of() */

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
    vm->frame = NW_RAM_TAKE(ram, struct nw_vm_frame, (size_t)config->frames + 1U);
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

static void empty_frames(struct nw_vm *vm, uint32_t buckets)
{
    uint16_t frame;

    memset(vm->frame, 0, ((size_t)vm->frames + 1U) * sizeof vm->frame[0]);
    vm->frame[vm->frames].tag = 1; /* no page begins there */
    while (buckets-- > 0) {
        vm->bucket[buckets] = vm->frames;
    }
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
    uint16_t index;
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
    vm->no_tag = NW_VM_NO_TAG(config->frame_bytes);
    vm->bucket_shift = (uint8_t)(32U - bits);
    vm->spread = SPREAD >> vm->frame_shift;
    vm->pins_left = (uint16_t)(config->frames - config->slots - 2U);
    empty_frames(vm, (uint32_t)1 << bits);
    memset(vm->written, 0, (size_t)((vm->units + 7U) / 8U));
    nw_vm_policy_open(vm);
    for (index = 0; index < vm->slots; index++) {
        vm->slot_table[index].frame = (uintptr_t)nw_vm_no_frame(vm);
    }
    nw_vm_slots_release(vm);
    return NW_OK;
}

int nw_vm_flush(struct nw_vm *vm)
{
    struct nw_block_req req;
    uint16_t frame;
    int error;

    nw_vm_slots_release(vm);
    for (frame = 0; frame < vm->frames; frame++) {
        if ((vm->frame[frame].state & NW_VM_DIRTY) != 0) {
            error = nw_vm_unit_store(vm, nw_vm_page_in(vm, &vm->frame[frame]));
            if (error != NW_OK) {
                return nw_vm_report(vm, error);
            }
        }
    }
    memset(&req, 0, sizeof req);
    req.block = vm->block;
    error = nw_block_sync(&req);
    if (error < 0) {
        vm->error_at = vm->base;
        return nw_vm_report(vm, error);
    }
    return NW_OK;
}

/* Whether a pin keeps one of the unit's pages. */
static int is_unit_pinned(const struct nw_vm *vm, uint32_t unit)
{
    uint32_t page = unit << vm->unit_shift;
    uint32_t end = page + nw_vm_unit_pages(vm);

    for (; page < end; page++) {
        uint16_t frame = nw_vm_resident(vm, page);

        if (frame != NW_VM_NONE && nw_vm_is_pinned(&vm->frame[frame])) {
            return 1;
        }
    }
    return 0;
}

/* nw_vm_discard() of pages of one unit, up to `end`. A dirty page stays while the device keeps an
 * older content of it: dropped, it would read as that again. The unit is trimmed before its pages
 * are dropped, so that an error leaves them as they were. */
static int discard_in_unit(struct nw_vm *vm, uint32_t page, uint32_t end)
{
    uint32_t unit = page >> vm->unit_shift;
    uint16_t kept = 0; /* state of a page that stays */

    if (nw_vm_unit_written(vm, unit)) {
        if (end - page < nw_vm_unit_pages(vm) || is_unit_pinned(vm, unit)) {
            kept = NW_VM_DIRTY;
        } else {
            int error = nw_vm_unit_trim(vm, unit);

            if (error != NW_OK) {
                return error;
            }
        }
    }
    for (; page < end; page++) {
        uint16_t frame = nw_vm_resident(vm, page);

        if (frame != NW_VM_NONE && !nw_vm_is_pinned(&vm->frame[frame]) &&
            (vm->frame[frame].state & kept) == 0) {
            nw_vm_frame_drop(vm, frame);
            vm->stats.discards++;
        }
    }
    return NW_OK;
}

int nw_vm_discard(struct nw_vm *vm, uintptr_t address, size_t n)
{
    uintptr_t offset = address - vm->base;
    uint32_t page;
    uint32_t end;
    int error = NW_OK;

    if (offset > vm->bytes || n > vm->bytes - offset) {
        vm->error_at = address;
        return nw_vm_report(vm, NW_ERR_RANGE);
    }
    page = (uint32_t)((offset + vm->frame_bytes - 1U) >> vm->frame_shift);
    end = (uint32_t)((offset + n) >> vm->frame_shift);
    while (error == NW_OK && page < end) {
        uint32_t next = ((page >> vm->unit_shift) + 1U) << vm->unit_shift;

        if (next > end) {
            next = end;
        }
        error = discard_in_unit(vm, page, next);
        page = next;
    }
    return nw_vm_report(vm, error);
}

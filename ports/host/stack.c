/* SPDX-License-Identifier: Apache-2.0 */
#include "stack.h"

#include "nandwich-twin/parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Frames below this many bytes in all: sector-shrink wins (Lin et al. 2013, figure 11). */
#define SHRINK_BELOW_BYTES (16UL << 10)

static int find_part(const struct nw_host_config *config, struct nw_part *part,
                     struct nw_why *why)
{
    if (config->part_keys > 0 && strcmp(config->part_key[0][0], "name") == 0) {
        nw_part_init(part);
    } else if (nw_parts_get(config->chip, part) < 0) {
        return nw_refuse(why, NW_ERR_NOT_FOUND, "unknown chip '%s'; `nandwich chips` lists all",
                         config->chip);
    }
    for (uint32_t i = 0; i < config->part_keys; i++) {
        const char *key = config->part_key[i][0], *value = config->part_key[i][1];
        int result = nw_part_set(part, key, value);

        if (result < 0) {
            return nw_refuse(why, result, "part.%s=%s: %s", key, value,
                             result == NW_ERR_NOT_FOUND ? "no such figure"
                                                        : nw_error_text(result));
        }
    }
    return NW_OK;
}

static int open_chip(struct nw_host_stack *stack, struct nw_why *why)
{
    const struct nw_host_config *config = &stack->config;
    struct nw_part part;
    struct nw_nand_config nand = {.part = &part, .seed = config->seed};
    int result = find_part(config, &part, why);

    if (result < 0) {
        return result;
    }
    if (config->image[0] != '\0' && access(config->image, F_OK) == 0) {
        return nw_stack_image(&stack->device, config->image, part.name, why);
    }
    /* Raw bit errors only where something repairs them: the part itself, or our own code. */
    nand.flags = NW_NAND_WEAR_OUT | NW_NAND_FACTORY_BAD;
    if (part.ecc_bits > 0 || config->ecc != NW_HOST_ECC_NONE) {
        nand.flags |= NW_NAND_BIT_ERRORS;
    }
    return nw_stack_chip(&stack->device, &nand, why);
}

/* Into how many sectors sector-shrink splits a page: of a frame each, or as small as the chip lets
 * a page be programmed; 0: it cannot. */
static uint32_t shrink_parts(const struct nw_host_stack *stack, uint32_t frame_bytes)
{
    const struct nw_geometry *geometry = &stack->device.chip->geometry;
    uint32_t parts = geometry->page_bytes / frame_bytes;

    if (geometry->page_bytes % frame_bytes != 0) {
        return 0;
    }
    while (parts > 128 || parts > geometry->page_programs) {
        parts /= 2U;
    }
    if (parts < 2 || geometry->page_bytes / parts % geometry->program_bytes != 0) {
        return 0;
    }
    return parts;
}

static uint32_t frame_ram_bytes(const struct nw_host_stack *stack)
{
    return stack->config.ram_bytes - stack->statics_bytes;
}

static int choose_scheme(struct nw_host_stack *stack, const struct nw_host_guest *guest,
                         struct nw_why *why)
{
    const struct nw_geometry *geometry = &stack->device.chip->geometry;
    uint32_t parts = shrink_parts(stack, guest->frame_bytes);

    stack->scheme = stack->config.scheme;
    if (stack->scheme == NW_HOST_AUTO) {
        if (guest->frame_bytes >= geometry->page_bytes) {
            stack->scheme = NW_HOST_DIRECT;
        } else if (parts == geometry->page_bytes / guest->frame_bytes &&
                   frame_ram_bytes(stack) < SHRINK_BELOW_BYTES) {
            stack->scheme = NW_HOST_SECTOR_SHRINK;
        } else {
            stack->scheme = NW_HOST_MULTI_CACHE;
        }
    }
    if (stack->scheme == NW_HOST_DIRECT && guest->frame_bytes < geometry->page_bytes) {
        return nw_refuse(why, NW_ERR_CONFIG,
                         "scheme=direct: a frame of %u B holds no whole page of %u B; choose "
                         "multi-cache, or frames of %u B",
                         guest->frame_bytes, geometry->page_bytes, geometry->page_bytes);
    }
    if (stack->scheme == NW_HOST_SECTOR_SHRINK && parts == 0) {
        return nw_refuse(why, NW_ERR_CONFIG,
                         "scheme=sector-shrink: a page of %u B in sectors of a frame of %u B or "
                         "more takes 2 programs at least; %s allows %u programs a page in units "
                         "of %u B",
                         geometry->page_bytes, guest->frame_bytes, stack->device.part.name,
                         geometry->page_programs, geometry->program_bytes);
    }
    return NW_OK;
}

static int open_shrink(struct nw_host_stack *stack, const struct nw_host_guest *guest,
                       struct nw_why *why)
{
    int result = choose_scheme(stack, guest, why);

    if (result < 0 || stack->scheme != NW_HOST_SECTOR_SHRINK) {
        return result;
    }
    return nw_stack_shrink(&stack->device, (uint8_t)shrink_parts(stack, guest->frame_bytes), why);
}

static int refuse_sector(uint32_t sector_bytes, const char *chip_name, struct nw_why *why)
{
    return nw_refuse(why, NW_ERR_CONFIG,
                     "sectors of %u B: virtual memory needs a power of two; %s has another page "
                     "size",
                     sector_bytes, chip_name);
}

static int open_layer(struct nw_host_stack *stack, struct nw_why *why)
{
    const struct nw_host_config *config = &stack->config;
    uint32_t sector_bytes = stack->device.chip->geometry.page_bytes;
    struct nw_layer_config layer = {.degree = (uint8_t)config->degree,
                                    .maps = (uint8_t)config->maps,
                                    .spare_blocks = (uint16_t)config->spare_blocks,
                                    .sectors = config->vm_bytes / sector_bytes};

    /* First of all: no other size of anything would help. */
    if ((sector_bytes & (sector_bytes - 1U)) != 0) {
        return refuse_sector(sector_bytes, stack->device.part.name, why);
    }
    return nw_stack_layer(&stack->device, config->layer, &layer, 0, why);
}

static int refuse_frames(const struct nw_host_stack *stack, const struct nw_vm_needs *needs,
                         struct nw_why *why)
{
    const struct nw_vm_config *vm = &stack->vm;
    char ram[64];

    snprintf(ram, sizeof ram, stack->statics_bytes != 0 ? "(ram=%u - %u of statics)" : "ram=%u",
             stack->config.ram_bytes, stack->statics_bytes);
    return nw_refuse(why, NW_ERR_RAM,
                     "%s / frame=%u = %lu frames: at least %u are needed (%u slots + "
                     "%u pins + 2), at most 65000",
                     ram, vm->frame_bytes,
                     (unsigned long)frame_ram_bytes(stack) / vm->frame_bytes, needs->frames,
                     vm->slots, vm->pins);
}

static int refuse_vm(const struct nw_host_stack *stack, const struct nw_vm_needs *needs,
                     struct nw_why *why)
{
    const struct nw_vm_config *vm = &stack->vm;

    switch (needs->reason) {
    case NW_VM_BAD_FRAME:
        return nw_refuse(why, NW_ERR_CONFIG,
                         "frames of %u B: allowed are powers of two from 16 to 32768",
                         vm->frame_bytes);
    case NW_VM_FEW_FRAMES:
        return refuse_frames(stack, needs, why);
    case NW_VM_SMALL_BLOCK:
        return nw_refuse(why, NW_ERR_FULL,
                         "vm=%u needs %u sectors of %u B; %s over %s has %u: give less vm or "
                         "a larger chip",
                         vm->bytes, needs->sectors, vm->block->sector_bytes,
                         stack->config.layer->name, stack->device.part.name,
                         vm->block->sectors);
    case NW_VM_BAD_SECTOR:
        return refuse_sector(vm->block->sector_bytes, stack->device.part.name, why);
    default:
        return nw_refuse(why, NW_ERR_CONFIG,
                         "vm=%u: must be a multiple of the frame (%u B) and of the sector "
                         "(%u B)",
                         vm->bytes, vm->frame_bytes, vm->block->sector_bytes);
    }
}

static int plan_vm(struct nw_host_stack *stack, const struct nw_host_guest *guest,
                   struct nw_why *why)
{
    uint32_t frames = frame_ram_bytes(stack) / guest->frame_bytes;
    struct nw_vm_needs needs;

    stack->vm = (struct nw_vm_config){
        .base = guest->base,
        .bytes = stack->config.vm_bytes,
        .frame_bytes = guest->frame_bytes,
        .frames = (uint16_t)(frames > 0xFFFFU ? 0xFFFFU : frames),
        .slots = guest->slots,
        .pins = NW_HOST_PINS,
        .policy = (uint8_t)stack->config.policy,
        .scheme = guest->frame_bytes < stack->block->sector_bytes ? NW_VM_MULTI_CACHE
                                                                  : NW_VM_DIRECT,
        .block = stack->block,
    };
    nw_vm_check(&stack->vm, &needs);
    if (needs.reason != NW_VM_FITS && needs.reason != NW_VM_SMALL_RAM &&
        (needs.reason != NW_VM_BAD_CHOICE || needs.ram_bytes == 0)) {
        return refuse_vm(stack, &needs, why);
    }
    stack->vm.ram_bytes = needs.ram_bytes;
    stack->vm.ram = aligned_alloc(64, (needs.ram_bytes + 63U) & ~(size_t)63U);
    return stack->vm.ram == NULL ? nw_refuse(why, NW_ERR_RAM, "this host has no memory left")
                                 : NW_OK;
}

static int open_timeline(struct nw_host_stack *stack, struct nw_why *why)
{
    struct nw_timeline_config config = {.faults = 1};
    int result = nw_host_line_window(stack->config.timeline_window, &config);

    if (result < 0) {
        return nw_refuse(why, result,
                         "timeline_window=%s: write requests:0:10000 or ns:0:1000000",
                         stack->config.timeline_window);
    }
    result = nw_timeline_open(&stack->timeline, &config);
    if (result < 0) {
        return nw_refuse(why, result, "this host has no memory left");
    }
    nw_stack_timeline(&stack->device, stack->timeline);
    return NW_OK;
}

static int check_statics(const struct nw_host_stack *stack, struct nw_why *why)
{
    if (stack->statics_bytes <= stack->config.ram_bytes) {
        return NW_OK;
    }
    return nw_refuse(why, NW_ERR_RAM,
                     "ram=%u does not hold the program's statics, %u bytes of globals built to "
                     "stay in RAM: give more ram, or build with less --nw-statics",
                     stack->config.ram_bytes, stack->statics_bytes);
}

int nw_host_stack_open(struct nw_host_stack *stack, const struct nw_host_config *config,
                       const struct nw_host_guest *guest, struct nw_why *why)
{
    int result;

    memset(stack, 0, sizeof *stack);
    stack->config = *config;
    stack->statics_bytes = guest->statics_bytes;
    result = check_statics(stack, why);
    if (result >= 0) {
        result = open_chip(stack, why);
    }
    if (result >= 0 && config->timeline[0] != '\0') {
        result = open_timeline(stack, why);
    }
    if (result >= 0 && config->ecc != NW_HOST_ECC_NONE) {
        result = nw_stack_ecc(&stack->device, why);
    }
    if (result >= 0 && nw_stack_wants_oob(&stack->device, config->layer)) {
        (void)nw_stack_oob(&stack->device, 0, 0, why); /* else the layer says what it needs */
    }
    if (result >= 0) {
        result = open_shrink(stack, guest, why);
    }
    if (result >= 0 && config->blocks != 0) {
        result = nw_stack_slice(&stack->device, config->blocks, why);
    }
    if (result >= 0) {
        result = open_layer(stack, why);
    }
    if (result >= 0) {
        result = nw_stack_start_counting(&stack->device, why);
    }
    if (result < 0) {
        return result;
    }
    stack->block = stack->device.block;
    if (stack->timeline != NULL) {
        nw_host_line_open(&stack->line, &stack->device, guest->base);
        stack->block = &stack->line.block;
    }
    if (config->timing != 0) {
        nw_host_timer_open(&stack->timer, stack->block);
        stack->block = &stack->timer.block;
    }
    return plan_vm(stack, guest, why);
}

void nw_host_stack_moved(struct nw_host_stack *stack, size_t bytes, int to_file)
{
    const struct nw_part_costs *costs = nw_nand_costs(stack->device.nand);
    size_t page = nw_nand_chip(stack->device.nand)->geometry.page_bytes;
    struct nw_host_mapped *mapped = &stack->mapped;

    *(to_file ? &mapped->bytes_written : &mapped->bytes_read) += bytes;
    for (size_t n; bytes > 0; bytes -= n) {
        n = bytes < page ? bytes : page;
        nw_meter_charge(nw_nand_meter(stack->device.nand), to_file ? &costs->program : &costs->read,
                        n);
        mapped->reads += !to_file;
        mapped->writes += (unsigned)(to_file != 0);
    }
}

void nw_host_stack_close(struct nw_host_stack *stack)
{
    nw_stack_close(&stack->device);
    nw_timeline_close(stack->timeline);
    free(stack->vm.ram);
    memset(stack, 0, sizeof *stack);
}

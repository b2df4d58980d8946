/* SPDX-License-Identifier: Apache-2.0 */
#include "stack.h"

#include "image.h"
#include "layer.h"

#include "nandwich-twin/parts.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Frames below this many bytes in all: sector-shrink wins (Lin et al. 2013, figure 11). */
#define SHRINK_BELOW_BYTES (16UL << 10)

int nw_host_refuse(struct nw_host_why *why, int error, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(why->text, why->bytes, format, arguments);
    va_end(arguments);
    return error;
}

static int find_part(struct nw_host_stack *stack, struct nw_host_why *why)
{
    const struct nw_host_config *config = &stack->config;
    const char *fault;

    if (config->part_keys > 0 && strcmp(config->part_key[0][0], "name") == 0) {
        nw_part_init(&stack->part);
    } else if (nw_parts_get(config->chip, &stack->part) < 0) {
        return nw_host_refuse(why, NW_ERR_NOT_FOUND,
                              "unknown chip '%s'; `nandwich chips` lists all", config->chip);
    }
    for (uint32_t i = 0; i < config->part_keys; i++) {
        const char *key = config->part_key[i][0], *value = config->part_key[i][1];
        int result = nw_part_set(&stack->part, key, value);

        if (result < 0) {
            return nw_host_refuse(why, result, "part.%s=%s: %s", key, value,
                                  result == NW_ERR_NOT_FOUND ? "no such figure"
                                                             : nw_error_text(result));
        }
    }
    if (nw_part_check(&stack->part, &fault) < 0) {
        return nw_host_refuse(why, NW_ERR_CONFIG, "chip %s: %s", config->chip, fault);
    }
    if (stack->part.kind == NW_PART_SDCARD || stack->part.kind == NW_PART_NVM) {
        return nw_host_refuse(why, NW_ERR_UNSUPPORTED,
                              "%s is no raw flash: a translation layer has nothing to do there; "
                              "choose a NAND, NOR or DataFlash part",
                              stack->part.name);
    }
    return NW_OK;
}

static int open_chip(struct nw_host_stack *stack, struct nw_host_why *why)
{
    /* Raw bit errors only where something repairs them: the part itself, or our own code. */
    int repaired = stack->part.ecc_bits > 0 || stack->config.ecc != NW_HOST_ECC_NONE;
    struct nw_nand_config config = {
        .part = &stack->part,
        .seed = stack->config.seed,
        .flags = NW_NAND_WEAR_OUT | NW_NAND_FACTORY_BAD | (repaired ? NW_NAND_BIT_ERRORS : 0U),
    };
    int result = nw_host_image_load(stack, why);

    if (result == 0) {
        result = nw_nand_open(&stack->nand, &config);
        if (result < 0) {
            nw_host_refuse(why, result, "chip %s cannot be opened: %s", stack->part.name,
                           nw_error_text(result));
        }
    }
    if (result >= 0) {
        stack->chip = nw_nand_chip(stack->nand);
    }
    return result;
}

static int open_ecc(struct nw_host_stack *stack, struct nw_host_why *why)
{
    struct nw_ecc_config config = {0};
    int result;

    if (stack->config.ecc == NW_HOST_ECC_NONE) {
        return NW_OK;
    }
    stack->ecc_ram_bytes = nw_ecc_ram_bytes(&config, &stack->chip->geometry);
    stack->ecc_ram = malloc(stack->ecc_ram_bytes);
    result = stack->ecc_ram_bytes == 0 || stack->ecc_ram == NULL
                 ? NW_ERR_CONFIG
                 : nw_ecc_open(&stack->ecc, stack->chip, &config, stack->ecc_ram,
                               stack->ecc_ram_bytes);
    if (result < 0) {
        return nw_host_refuse(why, result,
                              "ecc=secded does not fit %s: a page of %u B has %u spare bytes for "
                              "3 bytes of code each 256 B",
                              stack->part.name, stack->chip->geometry.page_bytes,
                              stack->chip->geometry.spare_bytes);
    }
    stack->chip = &stack->ecc.chip;
    return NW_OK;
}

/* How many frames make a page, when sector-shrink can split it so; else 0. */
static uint32_t shrink_parts(const struct nw_host_stack *stack, uint32_t frame_bytes)
{
    const struct nw_geometry *geometry = &stack->chip->geometry;
    uint32_t parts = geometry->page_bytes / frame_bytes;

    if (parts < 2 || parts > 128 || geometry->page_bytes % frame_bytes != 0 ||
        parts > geometry->page_programs || frame_bytes % geometry->program_bytes != 0) {
        return 0;
    }
    return parts;
}

static int choose_scheme(struct nw_host_stack *stack, const struct nw_host_guest *guest,
                         struct nw_host_why *why)
{
    const struct nw_geometry *geometry = &stack->chip->geometry;
    uint32_t parts = shrink_parts(stack, guest->frame_bytes);

    stack->scheme = stack->config.scheme;
    if (stack->scheme == NW_HOST_AUTO) {
        if (guest->frame_bytes >= geometry->page_bytes) {
            stack->scheme = NW_HOST_DIRECT;
        } else if (parts > 0 && stack->config.ram_bytes < SHRINK_BELOW_BYTES) {
            stack->scheme = NW_HOST_SECTOR_SHRINK;
        } else {
            stack->scheme = NW_HOST_MULTI_CACHE;
        }
    }
    if (stack->scheme == NW_HOST_DIRECT && guest->frame_bytes < geometry->page_bytes) {
        return nw_host_refuse(why, NW_ERR_CONFIG,
                              "scheme=direct: a frame of %u B holds no whole page of %u B; choose "
                              "multi-cache, or frames of %u B",
                              guest->frame_bytes, geometry->page_bytes, geometry->page_bytes);
    }
    if (stack->scheme == NW_HOST_SECTOR_SHRINK && parts == 0) {
        return nw_host_refuse(why, NW_ERR_CONFIG,
                              "scheme=sector-shrink: a page of %u B in frames of %u B takes %u "
                              "programs of %u B; %s allows %u programs a page in units of %u B",
                              geometry->page_bytes, guest->frame_bytes,
                              geometry->page_bytes / guest->frame_bytes, guest->frame_bytes,
                              stack->part.name, geometry->page_programs, geometry->program_bytes);
    }
    return NW_OK;
}

static int open_shrink(struct nw_host_stack *stack, const struct nw_host_guest *guest,
                       struct nw_host_why *why)
{
    uint32_t parts;
    int result = choose_scheme(stack, guest, why);

    if (result < 0 || stack->scheme != NW_HOST_SECTOR_SHRINK) {
        return result;
    }
    parts = shrink_parts(stack, guest->frame_bytes);
    result = nw_shrink_open(&stack->shrink, stack->chip, (uint8_t)parts);
    if (result < 0) {
        return nw_host_refuse(why, result, "scheme=sector-shrink: %s cannot be split in %u: %s",
                              stack->part.name, parts, nw_error_text(result));
    }
    stack->chip = &stack->shrink.chip;
    return NW_OK;
}

static int open_slice(struct nw_host_stack *stack, struct nw_host_why *why)
{
    uint32_t blocks = stack->config.blocks;
    int result;

    if (blocks == 0) {
        return NW_OK;
    }
    result = nw_slice_open(&stack->slice, stack->chip, 0, blocks);
    if (result < 0) {
        return nw_host_refuse(why, result, "blocks=%u: %s has %u", blocks, stack->part.name,
                              stack->chip->geometry.blocks);
    }
    stack->chip = &stack->slice.chip;
    return NW_OK;
}

static int refuse_vm(const struct nw_host_stack *stack, const struct nw_vm_needs *needs,
                     struct nw_host_why *why)
{
    const struct nw_vm_config *vm = &stack->vm;

    switch (needs->reason) {
    case NW_VM_BAD_FRAME:
        return nw_host_refuse(why, NW_ERR_CONFIG,
                              "frames of %u B: allowed are powers of two from 16 to 32768",
                              vm->frame_bytes);
    case NW_VM_FEW_FRAMES:
        return nw_host_refuse(why, NW_ERR_CONFIG,
                              "ram=%u / frame=%u = %lu frames: at least %u are needed (%u slots + "
                              "%u pins + 2), at most 65000",
                              stack->config.ram_bytes, vm->frame_bytes,
                              (unsigned long)stack->config.ram_bytes / vm->frame_bytes,
                              needs->frames, vm->slots, vm->pins);
    case NW_VM_SMALL_BLOCK:
        return nw_host_refuse(why, NW_ERR_CONFIG,
                              "vm=%u needs %u sectors of %u B; %s over %s has %u: give less vm or "
                              "a larger chip",
                              vm->bytes, needs->sectors, vm->block->sector_bytes,
                              nw_host_ftl_name(stack->config.ftl), stack->part.name,
                              vm->block->sectors);
    case NW_VM_BAD_SECTOR:
        return nw_host_refuse(why, NW_ERR_CONFIG,
                              "sectors of %u B: virtual memory needs a power of two; %s has "
                              "another page size",
                              vm->block->sector_bytes, stack->part.name);
    default:
        return nw_host_refuse(why, NW_ERR_CONFIG,
                              "vm=%u: must be a multiple of the frame (%u B) and of the sector "
                              "(%u B)",
                              vm->bytes, vm->frame_bytes, vm->block->sector_bytes);
    }
}

static int plan_vm(struct nw_host_stack *stack, const struct nw_host_guest *guest,
                   struct nw_host_why *why)
{
    uint32_t frames = stack->config.ram_bytes / guest->frame_bytes;
    struct nw_vm_needs needs;

    stack->vm = (struct nw_vm_config){
        .base = guest->base,
        .bytes = stack->config.vm_bytes,
        .frame_bytes = guest->frame_bytes,
        .frames = (uint16_t)(frames > 0xFFFFU ? 0xFFFFU : frames),
        .slots = guest->slots,
        .pins = NW_HOST_PINS,
        .policy = (uint8_t)stack->config.policy,
        .scheme = stack->scheme == NW_HOST_MULTI_CACHE ? NW_VM_MULTI_CACHE : NW_VM_DIRECT,
        .block = stack->block,
    };
    nw_vm_check(&stack->vm, &needs);
    if (needs.reason != NW_VM_FITS && needs.reason != NW_VM_SMALL_RAM &&
        (needs.reason != NW_VM_BAD_CHOICE || needs.ram_bytes == 0)) {
        return refuse_vm(stack, &needs, why);
    }
    stack->vm.ram_bytes = needs.ram_bytes;
    stack->vm.ram = aligned_alloc(64, (needs.ram_bytes + 63U) & ~(size_t)63U);
    return stack->vm.ram == NULL ? nw_host_refuse(why, NW_ERR_RAM, "this host has no memory left")
                                 : NW_OK;
}

/* What the layers did so far, formatting above all, is no part of the run. */
static int start_counting(struct nw_host_stack *stack, struct nw_host_why *why)
{
    uint32_t blocks = nw_nand_chip(stack->nand)->geometry.blocks;

    stack->erases_before = calloc(blocks, sizeof *stack->erases_before);
    if (stack->erases_before == NULL) {
        return nw_host_refuse(why, NW_ERR_RAM, "this host has no memory left");
    }
    for (uint32_t block = 0; block < blocks; block++) {
        stack->erases_before[block] = nw_nand_block_erases(stack->nand, block);
    }
    stack->before = *nw_nand_stats(stack->nand);
    memset(nw_nand_meter(stack->nand), 0, sizeof(struct nw_meter));
    memset(stack->layer->stats, 0, sizeof *stack->layer->stats);
    return NW_OK;
}

int nw_host_stack_open(struct nw_host_stack *stack, const struct nw_host_config *config,
                       const struct nw_host_guest *guest, struct nw_host_why *why)
{
    static int (*const steps[])(struct nw_host_stack *, struct nw_host_why *) = {
        find_part, open_chip, open_ecc};
    int result = NW_OK;

    memset(stack, 0, sizeof *stack);
    stack->config = *config;
    for (size_t i = 0; i < sizeof steps / sizeof steps[0] && result >= 0; i++) {
        result = steps[i](stack, why);
    }
    if (result >= 0) {
        result = open_shrink(stack, guest, why);
    }
    if (result >= 0) {
        result = open_slice(stack, why);
    }
    if (result >= 0) {
        result = nw_host_layer_open(stack, why);
    }
    if (result >= 0) {
        result = start_counting(stack, why);
    }
    if (result < 0) {
        return result;
    }
    stack->block = stack->layer;
    if (config->timing != 0) {
        nw_host_timer_open(&stack->timer, stack->layer);
        stack->block = &stack->timer.block;
    }
    return plan_vm(stack, guest, why);
}

void nw_host_stack_close(struct nw_host_stack *stack)
{
    nw_nand_close(stack->nand);
    free(stack->ecc_ram);
    free(stack->layer_ram);
    free(stack->vm.ram);
    free(stack->erases_before);
    memset(stack, 0, sizeof *stack);
}

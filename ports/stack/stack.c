/* SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE /* madvise */
#include "nandwich-stack/stack.h"
#include "nandwich-stack/tier_policy.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>

#include "nandwich/identify.h"

#define LARGE_PAGE ((size_t)2 << 20) /* bytes */
#define OOB_PAGE_BYTES 512U

void nw_stack_init(struct nw_stack *stack)
{
    memset(stack, 0, sizeof *stack);
}

static int have_chip(struct nw_stack *stack)
{
    stack->part = *nw_nand_part(stack->nand);
    stack->chip = nw_nand_chip(stack->nand);
    return NW_OK;
}

int nw_stack_chip(struct nw_stack *stack, const struct nw_nand_config *config, struct nw_why *why)
{
    const struct nw_part *part = config->part;
    const char *fault;
    int result;

    if (nw_part_check(part, &fault) < 0) {
        return nw_refuse(why, NW_ERR_CONFIG, "chip %s: %s", part->name, fault);
    }
    if (part->kind == NW_PART_SDCARD || part->kind == NW_PART_NVM) {
        return nw_refuse(why, NW_ERR_UNSUPPORTED,
                         "%s is no raw flash: a translation layer has nothing to do there; "
                         "choose a NAND, NOR or DataFlash part",
                         part->name);
    }
    if ((uint64_t)config->blocks * part->block_pages > UINT32_MAX) {
        return nw_refuse(why, NW_ERR_CONFIG,
                         "chip %s: %u blocks of %u pages are more pages than there are numbers "
                         "for: at most %u blocks",
                         part->name, (unsigned)config->blocks, (unsigned)part->block_pages,
                         (unsigned)(UINT32_MAX / part->block_pages));
    }
    result = nw_nand_open(&stack->nand, config);
    if (result < 0) {
        return nw_refuse(why, result, "chip %s cannot be opened: %s", part->name,
                         nw_error_text(result));
    }
    return have_chip(stack);
}

int nw_stack_image(struct nw_stack *stack, const char *path, const char *part_name,
                   struct nw_why *why)
{
    struct nw_image_fault fault = {0, ""};
    int result = nw_nand_load(&stack->nand, path, &fault);

    if (result == NW_ERR_IO) {
        return nw_refuse(why, result, "%s: cannot be read: %s", path, strerror(errno));
    }
    if (result < 0) {
        return nw_refuse(why, result, "%s: byte %llu: %s; nothing was written", path,
                         (unsigned long long)fault.offset, fault.text);
    }
    have_chip(stack);
    if (part_name != NULL && strcasecmp(stack->part.name, part_name) != 0) {
        return nw_refuse(why, NW_ERR_VERSION, "%s holds a %s, not a %s: name that chip", path,
                         stack->part.name, part_name);
    }
    stack->from_image = 1;
    return NW_OK;
}

void nw_stack_timeline(struct nw_stack *stack, struct nw_timeline *timeline)
{
    stack->timeline = timeline;
    stack->chip = nw_timeline_chip(timeline, stack->chip, stack->nand);
}

int nw_stack_ecc(struct nw_stack *stack, struct nw_why *why)
{
    struct nw_ecc_config config = {0};
    int result = NW_ERR_CONFIG;

    stack->ecc_ram_bytes = nw_ecc_ram_bytes(&config, &stack->chip->geometry);
    if (stack->ecc_ram_bytes != 0) {
        stack->ecc_ram = malloc(stack->ecc_ram_bytes);
        result = nw_ecc_open(&stack->ecc, stack->chip, &config, stack->ecc_ram,
                             stack->ecc_ram != NULL ? stack->ecc_ram_bytes : 0);
    }
    if (result < 0) {
        return nw_refuse(why, result,
                         "ecc=secded does not fit %s: a page of %u B has %u spare bytes for "
                         "3 bytes of code each 256 B",
                         stack->part.name, stack->chip->geometry.page_bytes,
                         stack->chip->geometry.spare_bytes);
    }
    stack->chip = &stack->ecc.chip;
    return NW_OK;
}

/* The fewest blocks that have so many pages when they are joined to one. */
static int open_oob(struct nw_stack *stack, uint32_t page_bytes, uint32_t join)
{
    uint32_t first = join != 0 ? join : 1U;
    uint32_t last = join != 0 ? join : stack->chip->geometry.blocks;
    int result = NW_ERR_CONFIG;

    for (uint32_t i = first; i <= last && page_bytes <= UINT16_MAX && i <= UINT16_MAX; i++) {
        result = nw_oob_open(&stack->oob, stack->chip, (uint16_t)page_bytes, (uint16_t)i,
                             stack->oob_tail);
        if (result == NW_OK && (join != 0 ||
                                stack->oob.chip.geometry.block_pages >= NW_STACK_OOB_PAGES)) {
            break;
        }
    }
    return result;
}

int nw_stack_wants_oob(const struct nw_stack *stack, const struct nw_layer_kind *kind)
{
    return kind->tags != 0 && stack->chip->geometry.spare_bytes == 0;
}

int nw_stack_oob(struct nw_stack *stack, uint32_t page_bytes, uint32_t join, struct nw_why *why)
{
    uint32_t bytes = page_bytes != 0 ? page_bytes : OOB_PAGE_BYTES;
    const struct nw_geometry *geometry = &stack->chip->geometry;
    int result;

    if (geometry->program_bytes == geometry->page_bytes) {
        stack->oob_tail = malloc(geometry->page_bytes);
        if (stack->oob_tail == NULL) {
            return nw_refuse(why, NW_ERR_RAM, "this host has no memory left");
        }
    }
    result = open_oob(stack, bytes, join);
    if (result < 0) {
        char programs[16] = "any number of";

        if (geometry->page_programs != UINT8_MAX) {
            (void)snprintf(programs, sizeof programs, "%u", geometry->page_programs);
        }
        return nw_refuse(why, result,
                         "%s cannot be given a spare area with pages of %u B and %u blocks joined "
                         "to one (0: as many as it takes). It has %u blocks of %u pages of %u B, "
                         "of %s programs in units of %u B. A NOR takes any number, and its pages "
                         "are joined whole; DataFlash needs 15 B in its pages besides",
                         stack->part.name, bytes, join, geometry->blocks, geometry->block_pages,
                         geometry->page_bytes, programs, geometry->program_bytes);
    }
    stack->chip = &stack->oob.chip;
    return NW_OK;
}

int nw_stack_shrink(struct nw_stack *stack, uint8_t parts, struct nw_why *why)
{
    int result = nw_shrink_open(&stack->shrink, stack->chip, parts);

    if (result < 0) {
        return nw_refuse(why, result, "scheme=sector-shrink: %s cannot be split in %u: %s",
                         stack->part.name, parts, nw_error_text(result));
    }
    stack->chip = &stack->shrink.chip;
    return NW_OK;
}

int nw_stack_slice(struct nw_stack *stack, uint32_t blocks, struct nw_why *why)
{
    int result = nw_slice_open(&stack->slice, stack->chip, 0, blocks);

    if (result < 0) {
        return nw_refuse(why, result, "blocks=%u: %s has %u", blocks, stack->part.name,
                         stack->chip->geometry.blocks);
    }
    stack->chip = &stack->slice.chip;
    return NW_OK;
}

/* A layer's map is asked at random: in large pages of the host that costs far fewer misses. */
static void *take_ram(size_t bytes)
{
    size_t align = bytes >= LARGE_PAGE ? LARGE_PAGE : 64U;
    size_t whole = (bytes + align - 1U) & ~(align - 1U);
    void *ram = aligned_alloc(align, whole);

    if (ram != NULL && align == LARGE_PAGE) {
        (void)madvise(ram, whole, MADV_HUGEPAGE); /* a host without them is only slower */
    }
    return ram;
}

/* What an image holds is formatted only if it is this layer's own, or nothing. */
static int check_held(const struct nw_stack *stack, struct nw_why *why)
{
    struct nw_identity held;
    int result = stack->from_image != 0 ? nw_identify(stack->chip, &held)
                                        : (int)NW_ERR_UNSUPPORTED;

    if (result == NW_ERR_UNSUPPORTED) {
        return NW_OK; /* a new chip, or one that nobody can ask */
    }
    if (result < 0) {
        return nw_refuse(why, result, "%s: what it holds cannot be read: %s", stack->part.name,
                         nw_error_text(result));
    }
    if (held.kind == NW_KIND_BLANK ||
        strcmp(nw_kind_text(held.kind), stack->kind->name) == 0) {
        return NW_OK;
    }
    return nw_refuse(why, NW_ERR_EXISTS,
                     "the image of %s holds something else than layer %s (%s) and would be "
                     "erased: nothing was touched; name another image or layer",
                     stack->part.name, stack->kind->name, nw_kind_text(held.kind));
}

/* Why a chip is not mounted: what else is on it, or what it was formatted with. */
static int refuse_mount(const struct nw_layer_site *site, const struct nw_layer_kind *kind,
                        int error, struct nw_why *why)
{
    struct nw_identity found;

    if (nw_identify(site->chip, &found) < 0 ||
        (error != NW_ERR_NOT_FOUND && error != NW_ERR_BLANK && error != NW_ERR_VERSION)) {
        return kind->refuse(site, error, why);
    }
    if (strcmp(nw_kind_text(found.kind), kind->name) != 0) {
        return nw_refuse(why, error, "this chip holds no %s: what is there is %s", kind->name,
                         nw_kind_text(found.kind));
    }
    if (found.sectors != 0 && found.sectors != kind->sectors(site)) {
        return nw_refuse(why, error,
                         "the %s on this chip has %u sectors, and would have %u as asked for: give "
                         "the spare blocks that it was formatted with",
                         kind->name, found.sectors, kind->sectors(site));
    }
    return kind->refuse(site, error, why);
}

int nw_stack_layer(struct nw_stack *stack, const struct nw_layer_kind *kind,
                   const struct nw_layer_config *config, int mount, struct nw_why *why)
{
    struct nw_layer_site site = {.config = &stack->layer_config,
                                 .chip = stack->chip,
                                 .chip_name = stack->part.name};
    int result;

    stack->kind = kind;
    stack->layer_config = *config;
    stack->layer_config.wear = stack->wear;
    if (stack->wear != NULL && kind->wears == 0) {
        return nw_refuse(why, NW_ERR_UNSUPPORTED,
                         "layer %s takes no wear policy: it chooses blocks in its own way",
                         kind->name);
    }
    if (mount != 0 && kind->mount == NULL) {
        return nw_refuse(why, NW_ERR_UNSUPPORTED,
                         "layer %s forgets with power: nothing can be mounted", kind->name);
    }
    result = mount != 0 ? NW_OK : check_held(stack, why);
    if (result < 0) {
        return result;
    }
    site.ram_bytes = kind->sectors(&site) != 0 ? kind->ram_bytes(&site) : 0;
    if (site.ram_bytes == 0) {
        return kind->refuse(&site, NW_ERR_CONFIG, why);
    }
    stack->layer_ram_bytes = site.ram_bytes;
    stack->layer_ram = take_ram(site.ram_bytes);
    stack->layer_state = calloc(1, kind->state_bytes);
    if (stack->layer_ram == NULL || stack->layer_state == NULL) {
        return nw_refuse(why, NW_ERR_RAM, "this host has no memory left");
    }
    site.ram = stack->layer_ram;
    site.state = stack->layer_state;
    result = mount != 0 ? kind->mount(&site, &stack->layer) : kind->format(&site, &stack->layer);
    stack->block = stack->layer;
    if (result >= 0 && stack->timeline != NULL) {
        nw_timeline_watch(stack->timeline, stack->layer->stats);
    }
    if (result >= 0) {
        return NW_OK;
    }
    return mount != 0 ? refuse_mount(&site, kind, result, why) : kind->refuse(&site, result, why);
}

int nw_stack_start_counting(struct nw_stack *stack, struct nw_why *why)
{
    uint32_t blocks = nw_nand_chip(stack->nand)->geometry.blocks;

    free(stack->erases_before);
    stack->erases_before = calloc(blocks, sizeof *stack->erases_before);
    if (stack->erases_before == NULL) {
        return nw_refuse(why, NW_ERR_RAM, "this host has no memory left");
    }
    for (uint32_t block = 0; block < blocks; block++) {
        stack->erases_before[block] = nw_nand_block_erases(stack->nand, block);
    }
    stack->before = *nw_nand_stats(stack->nand);
    memset(nw_nand_meter(stack->nand), 0, sizeof(struct nw_meter));
    if (stack->layer != NULL && stack->layer->stats != NULL) {
        memset(stack->layer->stats, 0, sizeof *stack->layer->stats);
    }
    if (stack->tier != NULL) {
        memset(&stack->tier->stats, 0, sizeof stack->tier->stats);
    }
    if (stack->timeline != NULL) {
        nw_timeline_start(stack->timeline);
    }
    return NW_OK;
}

uint32_t nw_stack_free_blocks(const struct nw_stack *stack)
{
    return stack->kind->free_blocks != NULL ? stack->kind->free_blocks(stack->layer_state)
                                            : NW_TIMELINE_UNKNOWN;
}

void nw_stack_close(struct nw_stack *stack)
{
    nw_nand_close(stack->nand);
    nw_nvm_twin_close(stack->nvm);
    free(stack->tier);
    nw_tier_policies_close(stack->tier_policies);
    free(stack->tier_ram);
    free(stack->ecc_ram);
    free(stack->oob_tail);
    free(stack->layer_state);
    free(stack->layer_ram);
    free(stack->wear);
    free(stack->wear_ram);
    free(stack->erases_before);
    nw_stack_init(stack);
}

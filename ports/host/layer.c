/* SPDX-License-Identifier: Apache-2.0 */
#include "layer.h"

#include <stdlib.h>

static void *layer_ram(struct nw_host_stack *stack, size_t bytes)
{
    stack->layer_ram_bytes = bytes;
    stack->layer_ram = aligned_alloc(64, (bytes + 63U) & ~(size_t)63U);
    return stack->layer_ram;
}

static int refuse_lavish(const struct nw_host_stack *stack,
                         const struct nw_ftl_lavish_config *config, int result,
                         struct nw_host_why *why)
{
    const struct nw_geometry *geometry = &stack->chip->geometry;
    uint32_t needed = nw_ftl_lavish_blocks_needed(config, stack->chip);
    uint64_t logical_bytes = (uint64_t)geometry->block_pages * geometry->page_bytes;

    if (needed > geometry->blocks) {
        return nw_host_refuse(why, result,
                              "vm=%u under lavish with degree=%u needs %u blocks: (%u / %llu B a "
                              "logical block + 2) x %u; %s has %u: give less vm, a lower degree or "
                              "a larger chip",
                              stack->config.vm_bytes, config->degree, needed,
                              stack->config.vm_bytes, (unsigned long long)logical_bytes,
                              config->degree, stack->part.name, geometry->blocks);
    }
    return nw_host_refuse(why, result,
                          "lavish (degree=%u, maps=%u) does not fit %s: a map of 2 B for each of "
                          "%u pages of a block must fit a page of %u B, and a lavish block hold at "
                          "most 32766 sectors (%u x %u)",
                          config->degree, config->maps, stack->part.name, geometry->block_pages,
                          geometry->page_bytes, config->degree, geometry->block_pages);
}

static int open_lavish(struct nw_host_stack *stack, struct nw_host_why *why)
{
    struct nw_ftl_lavish_config config = {
        .sectors = stack->config.vm_bytes / stack->chip->geometry.page_bytes,
        .degree = (uint8_t)stack->config.degree,
        .maps = (uint8_t)stack->config.maps,
    };
    size_t bytes = nw_ftl_lavish_ram_bytes(&config, stack->chip);
    void *ram;
    int result;

    if (bytes == 0) {
        return refuse_lavish(stack, &config, NW_ERR_CONFIG, why);
    }
    ram = layer_ram(stack, bytes);
    result = ram == NULL ? NW_ERR_RAM
                         : nw_ftl_lavish_open(&stack->lavish, stack->chip, &config, ram, bytes);
    if (result == NW_ERR_FULL) {
        return nw_host_refuse(why, result, "lavish: too many bad blocks on %s", stack->part.name);
    }
    if (result < 0) {
        return nw_host_refuse(why, result, "lavish on %s: %s", stack->part.name,
                              nw_error_text(result));
    }
    stack->layer = &stack->lavish.block;
    return NW_OK;
}

static int open_page(struct nw_host_stack *stack, struct nw_host_why *why)
{
    const struct nw_geometry *geometry = &stack->chip->geometry;
    struct nw_ftl_page_config config = {0};
    size_t bytes = nw_ftl_page_ram_bytes(&config, geometry);
    void *ram = bytes == 0 ? NULL : layer_ram(stack, bytes);
    int result;

    if (ram == NULL) {
        return nw_host_refuse(why, NW_ERR_CONFIG,
                              "the page layer does not work on %s with %u blocks of %u pages, %u B "
                              "of spare a page and programs of %u B: it needs 9 to about 32700 "
                              "blocks of 8 to 32767 pages, 15 B of spare, and whole pages",
                              stack->part.name, geometry->blocks, geometry->block_pages,
                              geometry->spare_bytes, geometry->program_bytes);
    }
    result = nw_ftl_page_format(&stack->page, stack->chip, &config, ram, bytes);
    if (result < 0) {
        return nw_host_refuse(why, result, "page layer on %s: %s", stack->part.name,
                              nw_error_text(result));
    }
    stack->layer = &stack->page.block;
    return NW_OK;
}

int nw_host_layer_open(struct nw_host_stack *stack, struct nw_host_why *why)
{
    return stack->config.ftl == NW_HOST_PAGE ? open_page(stack, why) : open_lavish(stack, why);
}

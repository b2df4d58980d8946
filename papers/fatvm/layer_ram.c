/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RAM of translation layers on a Cortex-M3, where a pointer takes four bytes: what each asks for,
 * and its own struct. LAYERS, a call for each, is in the header that layer_ram.py writes.
 */
#include <stddef.h>

#include "firmware.h"
#include "nandwich-models/models.h"
#include "nandwich/ftl_lavish.h"

static int copy(struct nw_chip_req *req)
{
    (void)req;
    return NW_OK;
}

static const struct nw_chip_ops ops = {.copy = copy};

static struct nw_chip chip(uint32_t blocks)
{
    return (struct nw_chip){.ops = &ops,
                            .geometry = {.blocks = blocks,
                                         .block_pages = 64,
                                         .page_bytes = 2048,
                                         .spare_bytes = 62,
                                         .program_bytes = 1,
                                         .page_programs = 4,
                                         .erased = 0xFF,
                                         .flags = NW_CHIP_IN_ORDER}};
}

static void say_lavish(uint32_t blocks, struct nw_ftl_lavish_config config)
{
    struct nw_chip part = chip(blocks);
    size_t bytes = nw_ftl_lavish_ram_bytes(&config, &part);

    firmware_say("lavish", (int32_t)(bytes != 0 ? bytes + sizeof(struct nw_ftl_lavish) : 0));
}

static void say_model(uint32_t blocks, struct nw_model_config config)
{
    struct nw_geometry geometry = chip(blocks).geometry;
    size_t bytes = nw_model_ram_bytes(&config, &geometry);

    firmware_say("model", (int32_t)(bytes != 0 ? bytes + sizeof(struct nw_model) : 0));
}

int firmware_main(void)
{
    LAYERS
    return 0;
}

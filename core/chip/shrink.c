/* SPDX-License-Identifier: Apache-2.0 */
#include "nandwich/shrink.h"

#include <stddef.h>

static int narrowed(struct nw_chip_req *req, int (*verb)(struct nw_chip_req *))
{
    struct nw_chip *chip = req->chip;
    const struct nw_shrink *shrink = chip->context;
    uint32_t page = req->page;
    uint16_t offset = req->offset;
    uint16_t spare_offset = req->spare_offset;
    uint16_t part = (uint16_t)(page & ((1UL << shrink->shift) - 1UL));
    int result;

    req->chip = shrink->below;
    req->page = page >> shrink->shift;
    req->offset = (uint16_t)(offset + part * chip->geometry.page_bytes);
    req->spare_offset = (uint16_t)(spare_offset + part * chip->geometry.spare_bytes);
    result = verb(req);
    req->chip = chip;
    req->page = page;
    req->offset = offset;
    req->spare_offset = spare_offset;
    return result;
}

/* Erase, is_bad, mark_bad, heal: blocks are the same above and below. */
static int passed(struct nw_chip_req *req, int (*verb)(struct nw_chip_req *))
{
    struct nw_chip *chip = req->chip;
    const struct nw_shrink *shrink = chip->context;
    int result;

    req->chip = shrink->below;
    result = verb(req);
    req->chip = chip;
    return result;
}

static int shrink_read(struct nw_chip_req *req)
{
    return narrowed(req, nw_chip_read);
}

static int shrink_program(struct nw_chip_req *req)
{
    return narrowed(req, nw_chip_program);
}

static int shrink_erase(struct nw_chip_req *req)
{
    return passed(req, nw_chip_erase);
}

static int shrink_is_bad(struct nw_chip_req *req)
{
    return passed(req, nw_chip_is_bad);
}

static int shrink_mark_bad(struct nw_chip_req *req)
{
    return passed(req, nw_chip_mark_bad);
}

static int shrink_heal(struct nw_chip_req *req)
{
    return passed(req, nw_chip_heal);
}

static const struct nw_chip_ops shrink_ops = {
    shrink_read, shrink_program, shrink_erase, shrink_is_bad, shrink_mark_bad, NULL,
    NULL,        NULL,           NULL,         NULL,          shrink_heal,
};

int nw_shrink_open(struct nw_shrink *shrink, struct nw_chip *below, uint8_t parts)
{
    struct nw_geometry *geometry = &shrink->chip.geometry;
    uint8_t shift = 0;

    while (shift < 7 && (1U << shift) < parts) {
        shift++;
    }
    if (nw_geometry_check(&below->geometry) != NW_OK || (1U << shift) != parts) {
        return NW_ERR_CONFIG;
    }
    *geometry = below->geometry;
    if (geometry->page_programs < parts ||
        geometry->page_bytes % ((uint32_t)geometry->program_bytes * parts) != 0 ||
        (uint32_t)geometry->block_pages * parts > 0xFFFFUL ||
        geometry->blocks > 0xFFFFFFFFUL / ((uint32_t)geometry->block_pages * parts)) {
        return NW_ERR_CONFIG;
    }
    geometry->block_pages = (uint16_t)(geometry->block_pages * parts);
    geometry->page_bytes = (uint16_t)(geometry->page_bytes / parts);
    geometry->spare_bytes = (uint16_t)(geometry->spare_bytes / parts);
    if (geometry->page_programs != NW_PROGRAMS_UNLIMITED) {
        geometry->page_programs = (uint8_t)(geometry->page_programs / parts);
    }
    geometry->buffers = 0;
    shrink->chip.ops = &shrink_ops;
    shrink->chip.context = shrink;
    shrink->below = below;
    shrink->shift = shift;
    return NW_OK;
}

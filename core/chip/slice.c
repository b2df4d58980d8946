/* SPDX-License-Identifier: Apache-2.0 */
#include "nandwich/slice.h"

#include <stddef.h>

/* Every verb alike: addresses it does not use are moved too, and put back unread. */
static int shifted(struct nw_chip_req *req, int (*verb)(struct nw_chip_req *))
{
    struct nw_chip *chip = req->chip;
    const struct nw_slice *slice = chip->context;
    int result;

    req->chip = slice->below;
    req->block += slice->first_block;
    req->page += slice->first_page;
    req->to_page += slice->first_page;
    result = verb(req);
    req->chip = chip;
    req->block -= slice->first_block;
    req->page -= slice->first_page;
    req->to_page -= slice->first_page;
    return result;
}

static int slice_read(struct nw_chip_req *req)
{
    return shifted(req, nw_chip_read);
}

static int slice_program(struct nw_chip_req *req)
{
    return shifted(req, nw_chip_program);
}

static int slice_erase(struct nw_chip_req *req)
{
    return shifted(req, nw_chip_erase);
}

static int slice_is_bad(struct nw_chip_req *req)
{
    return shifted(req, nw_chip_is_bad);
}

static int slice_mark_bad(struct nw_chip_req *req)
{
    return shifted(req, nw_chip_mark_bad);
}

static int slice_copy(struct nw_chip_req *req)
{
    return shifted(req, nw_chip_copy);
}

static int slice_buffer_load(struct nw_chip_req *req)
{
    return shifted(req, nw_chip_buffer_load);
}

static int slice_buffer_read(struct nw_chip_req *req)
{
    return shifted(req, nw_chip_buffer_read);
}

static int slice_buffer_write(struct nw_chip_req *req)
{
    return shifted(req, nw_chip_buffer_write);
}

static int slice_buffer_program(struct nw_chip_req *req)
{
    return shifted(req, nw_chip_buffer_program);
}

static int slice_heal(struct nw_chip_req *req)
{
    return shifted(req, nw_chip_heal);
}

/* A verb the chip lacks must be missing here too: callers look. One table for each kind of part. */
#define COPY 1
#define BUFFERS 2
static const struct nw_chip_ops slice_ops[4] = {
    {slice_read, slice_program, slice_erase, slice_is_bad, slice_mark_bad, NULL, NULL, NULL, NULL,
     NULL, slice_heal},
    {slice_read, slice_program, slice_erase, slice_is_bad, slice_mark_bad, slice_copy, NULL, NULL,
     NULL, NULL, slice_heal},
    {slice_read, slice_program, slice_erase, slice_is_bad, slice_mark_bad, NULL, slice_buffer_load,
     slice_buffer_read, slice_buffer_write, slice_buffer_program, slice_heal},
    {slice_read, slice_program, slice_erase, slice_is_bad, slice_mark_bad, slice_copy,
     slice_buffer_load, slice_buffer_read, slice_buffer_write, slice_buffer_program, slice_heal},
};

int nw_slice_open(struct nw_slice *slice, struct nw_chip *below, uint32_t first, uint32_t count)
{
    const struct nw_geometry *geometry = &below->geometry;
    uint8_t kind = 0;

    if (nw_geometry_check(geometry) != NW_OK) {
        return NW_ERR_CONFIG;
    }
    if (count == 0 || first >= geometry->blocks || count > geometry->blocks - first) {
        return NW_ERR_RANGE;
    }
    if (below->ops->copy != NULL) {
        kind |= COPY;
    }
    if (below->ops->buffer_program != NULL) {
        kind |= BUFFERS;
    }
    slice->chip.ops = &slice_ops[kind];
    slice->chip.context = slice;
    slice->chip.geometry = *geometry;
    slice->chip.geometry.blocks = count;
    slice->below = below;
    slice->first_block = first;
    slice->first_page = first * geometry->block_pages;
    return NW_OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The checked front of every chip: ranges and alignment are refused here, once for all parts. */
#include "nandwich/chip.h"

#include <stddef.h>

static int page_ok(const struct nw_geometry *geometry, uint32_t page)
{
    return page < geometry->blocks * (uint32_t)geometry->block_pages;
}

static int data_ok(const struct nw_geometry *geometry, const struct nw_chip_req *req)
{
    return req->offset <= geometry->page_bytes &&
           req->length <= (uint16_t)(geometry->page_bytes - req->offset);
}

static int spare_ok(const struct nw_geometry *geometry, const struct nw_chip_req *req)
{
    return req->spare_offset <= geometry->spare_bytes &&
           req->spare_length <= (uint16_t)(geometry->spare_bytes - req->spare_offset);
}

static int buffer_ok(const struct nw_geometry *geometry, const struct nw_chip_req *req)
{
    return req->buffer < geometry->buffers;
}

int nw_chip_read(struct nw_chip_req *req)
{
    const struct nw_geometry *geometry = &req->chip->geometry;

    if (!page_ok(geometry, req->page) || !data_ok(geometry, req) || !spare_ok(geometry, req)) {
        return NW_ERR_RANGE;
    }
    return req->chip->ops->read(req);
}

int nw_chip_program(struct nw_chip_req *req)
{
    const struct nw_geometry *geometry = &req->chip->geometry;

    if (!page_ok(geometry, req->page) || !data_ok(geometry, req) || !spare_ok(geometry, req)) {
        return NW_ERR_RANGE;
    }
    if (req->offset % geometry->program_bytes != 0 || req->length % geometry->program_bytes != 0) {
        return NW_ERR_ALIGN;
    }
    return req->chip->ops->program(req);
}

int nw_chip_erase(struct nw_chip_req *req)
{
    return req->block < req->chip->geometry.blocks ? req->chip->ops->erase(req) : NW_ERR_RANGE;
}

int nw_chip_is_bad(struct nw_chip_req *req)
{
    return req->block < req->chip->geometry.blocks ? req->chip->ops->is_bad(req) : NW_ERR_RANGE;
}

int nw_chip_mark_bad(struct nw_chip_req *req)
{
    return req->block < req->chip->geometry.blocks ? req->chip->ops->mark_bad(req) : NW_ERR_RANGE;
}

int nw_chip_copy(struct nw_chip_req *req)
{
    const struct nw_geometry *geometry = &req->chip->geometry;

    if (req->chip->ops->copy == NULL) {
        return NW_ERR_UNSUPPORTED;
    }
    if (!page_ok(geometry, req->page) || !page_ok(geometry, req->to_page) ||
        !spare_ok(geometry, req)) {
        return NW_ERR_RANGE;
    }
    return req->chip->ops->copy(req);
}

int nw_chip_buffer_load(struct nw_chip_req *req)
{
    const struct nw_geometry *geometry = &req->chip->geometry;

    if (req->chip->ops->buffer_load == NULL) {
        return NW_ERR_UNSUPPORTED;
    }
    if (!page_ok(geometry, req->page) || !buffer_ok(geometry, req)) {
        return NW_ERR_RANGE;
    }
    return req->chip->ops->buffer_load(req);
}

int nw_chip_buffer_read(struct nw_chip_req *req)
{
    const struct nw_geometry *geometry = &req->chip->geometry;

    if (req->chip->ops->buffer_read == NULL) {
        return NW_ERR_UNSUPPORTED;
    }
    if (!buffer_ok(geometry, req) || !data_ok(geometry, req)) {
        return NW_ERR_RANGE;
    }
    return req->chip->ops->buffer_read(req);
}

int nw_chip_buffer_write(struct nw_chip_req *req)
{
    const struct nw_geometry *geometry = &req->chip->geometry;

    if (req->chip->ops->buffer_write == NULL) {
        return NW_ERR_UNSUPPORTED;
    }
    if (!buffer_ok(geometry, req) || !data_ok(geometry, req)) {
        return NW_ERR_RANGE;
    }
    return req->chip->ops->buffer_write(req);
}

int nw_chip_buffer_program(struct nw_chip_req *req)
{
    const struct nw_geometry *geometry = &req->chip->geometry;

    if (req->chip->ops->buffer_program == NULL) {
        return NW_ERR_UNSUPPORTED;
    }
    if (!page_ok(geometry, req->page) || !buffer_ok(geometry, req)) {
        return NW_ERR_RANGE;
    }
    return req->chip->ops->buffer_program(req);
}

int nw_geometry_check(const struct nw_geometry *geometry)
{
    if (geometry->blocks == 0 || geometry->block_pages == 0 || geometry->page_bytes == 0 ||
        geometry->program_bytes == 0 || geometry->page_programs == 0) {
        return NW_ERR_CONFIG;
    }
    if (geometry->blocks > 0xFFFFFFFFUL / geometry->block_pages) {
        return NW_ERR_CONFIG;
    }
    if (geometry->page_bytes % geometry->program_bytes != 0) {
        return NW_ERR_CONFIG;
    }
    return geometry->erased == 0xFFU || geometry->erased == 0x00U ? NW_OK : NW_ERR_CONFIG;
}

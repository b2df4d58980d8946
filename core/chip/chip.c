/* SPDX-License-Identifier: Apache-2.0 */
/* The checked front of every chip: ranges and alignment are refused here, once for all parts. */
#include "nandwich/chip.h"

#include <stddef.h>

/* What of a request a verb uses, and so has to be in range. */
#define OF_PAGE 0x01U
#define OF_TO_PAGE 0x02U
#define OF_DATA 0x04U
#define OF_SPARE 0x08U
#define OF_BUFFER 0x10U
#define OF_BLOCK 0x20U
#define OF_UNIT 0x40U /* data in whole program units */

typedef int (*chip_verb)(struct nw_chip_req *req);

/* The verb is told by its place in the table: each front function then is two constants. */
static int call(struct nw_chip_req *req, uint8_t place, uint8_t used)
{
    const struct nw_geometry *geometry = &req->chip->geometry;
    uint32_t pages = geometry->blocks * (uint32_t)geometry->block_pages;
    chip_verb verb = *(const chip_verb *)((const char *)req->chip->ops + place);

    if (verb == NULL) {
        return NW_ERR_UNSUPPORTED;
    }
    if (((used & OF_PAGE) != 0 && req->page >= pages) ||
        ((used & OF_TO_PAGE) != 0 && req->to_page >= pages) ||
        ((used & OF_DATA) != 0 && (uint32_t)req->offset + req->length > geometry->page_bytes) ||
        ((used & OF_SPARE) != 0 &&
         (uint32_t)req->spare_offset + req->spare_length > geometry->spare_bytes) ||
        ((used & OF_BUFFER) != 0 && req->buffer >= geometry->buffers) ||
        ((used & OF_BLOCK) != 0 && req->block >= geometry->blocks)) {
        return NW_ERR_RANGE;
    }
    if ((used & OF_UNIT) != 0 && (req->offset % geometry->program_bytes != 0 ||
                                  req->length % geometry->program_bytes != 0)) {
        return NW_ERR_ALIGN;
    }
    return verb(req);
}

int nw_chip_read(struct nw_chip_req *req)
{
    return call(req, offsetof(struct nw_chip_ops, read), OF_PAGE | OF_DATA | OF_SPARE);
}

int nw_chip_program(struct nw_chip_req *req)
{
    return call(req, offsetof(struct nw_chip_ops, program), OF_PAGE | OF_DATA | OF_SPARE | OF_UNIT);
}

int nw_chip_erase(struct nw_chip_req *req)
{
    return call(req, offsetof(struct nw_chip_ops, erase), OF_BLOCK);
}

int nw_chip_is_bad(struct nw_chip_req *req)
{
    return call(req, offsetof(struct nw_chip_ops, is_bad), OF_BLOCK);
}

int nw_chip_mark_bad(struct nw_chip_req *req)
{
    return call(req, offsetof(struct nw_chip_ops, mark_bad), OF_BLOCK);
}

int nw_chip_copy(struct nw_chip_req *req)
{
    return call(req, offsetof(struct nw_chip_ops, copy), OF_PAGE | OF_TO_PAGE | OF_SPARE);
}

int nw_chip_buffer_load(struct nw_chip_req *req)
{
    return call(req, offsetof(struct nw_chip_ops, buffer_load), OF_PAGE | OF_BUFFER);
}

int nw_chip_buffer_read(struct nw_chip_req *req)
{
    return call(req, offsetof(struct nw_chip_ops, buffer_read), OF_BUFFER | OF_DATA);
}

int nw_chip_buffer_write(struct nw_chip_req *req)
{
    return call(req, offsetof(struct nw_chip_ops, buffer_write), OF_BUFFER | OF_DATA);
}

int nw_chip_buffer_program(struct nw_chip_req *req)
{
    return call(req, offsetof(struct nw_chip_ops, buffer_program), OF_PAGE | OF_BUFFER);
}

int nw_chip_heal(struct nw_chip_req *req)
{
    return call(req, offsetof(struct nw_chip_ops, heal), OF_BLOCK);
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

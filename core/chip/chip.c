/* SPDX-License-Identifier: Apache-2.0 */
/* The checked front of every chip: ranges and alignment are refused here, once for all parts. */
#include "call.h"

typedef int (*chip_verb)(struct nw_chip_req *req);

int nw_chip_call(struct nw_chip_req *req, uint8_t place, uint8_t used)
{
    const struct nw_geometry *geometry = &req->chip->geometry;
    uint32_t pages = geometry->blocks * (uint32_t)geometry->block_pages;
    chip_verb verb = *(const chip_verb *)((const char *)req->chip->ops + place);

    if (verb == NULL) {
        return NW_ERR_UNSUPPORTED;
    }
    if ((used & CALL_NEVER) != 0 || ((used & CALL_PAGE) != 0 && req->page >= pages) ||
        ((used & CALL_DATA) != 0 && (uint32_t)req->offset + req->length > geometry->page_bytes) ||
        ((used & CALL_SPARE) != 0 &&
         (uint32_t)req->spare_offset + req->spare_length > geometry->spare_bytes) ||
        ((used & CALL_BLOCK) != 0 && req->block >= geometry->blocks)) {
        return NW_ERR_RANGE;
    }
    if ((used & CALL_UNIT) != 0 && (req->offset % geometry->program_bytes != 0 ||
                                    req->length % geometry->program_bytes != 0)) {
        return NW_ERR_ALIGN;
    }
    return verb(req);
}

int nw_chip_read(struct nw_chip_req *req)
{
    return nw_chip_call(req, offsetof(struct nw_chip_ops, read),
                        CALL_PAGE | CALL_DATA | CALL_SPARE);
}

int nw_chip_program(struct nw_chip_req *req)
{
    return nw_chip_call(req, offsetof(struct nw_chip_ops, program),
                        CALL_PAGE | CALL_DATA | CALL_SPARE | CALL_UNIT);
}

int nw_chip_erase(struct nw_chip_req *req)
{
    return nw_chip_call(req, offsetof(struct nw_chip_ops, erase), CALL_BLOCK);
}

int nw_chip_is_bad(struct nw_chip_req *req)
{
    return nw_chip_call(req, offsetof(struct nw_chip_ops, is_bad), CALL_BLOCK);
}

int nw_chip_mark_bad(struct nw_chip_req *req)
{
    return nw_chip_call(req, offsetof(struct nw_chip_ops, mark_bad), CALL_BLOCK);
}

int nw_geometry_check(const struct nw_geometry *geometry)
{
    if (geometry->blocks == 0 || geometry->block_pages == 0 || geometry->page_bytes == 0 ||
        geometry->program_bytes == 0 || geometry->page_programs == 0 ||
        geometry->blocks > 0xFFFFFFFFUL / geometry->block_pages ||
        geometry->page_bytes % geometry->program_bytes != 0) {
        return NW_ERR_CONFIG;
    }
    return geometry->erased == 0xFFU || geometry->erased == 0x00U ? NW_OK : NW_ERR_CONFIG;
}

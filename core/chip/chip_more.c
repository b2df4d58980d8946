/* SPDX-License-Identifier: Apache-2.0 */
/* The checked front of verbs that only some parts have: page buffers, copies, healing. */
#include "call.h"

static int call_buffer(struct nw_chip_req *req, uint8_t place, uint8_t used)
{
    return nw_chip_call(req, place,
                        req->buffer < req->chip->geometry.buffers ? used : CALL_NEVER);
}

int nw_chip_copy(struct nw_chip_req *req)
{
    const struct nw_geometry *geometry = &req->chip->geometry;

    uint32_t pages = geometry->blocks * (uint32_t)geometry->block_pages;

    return nw_chip_call(req, offsetof(struct nw_chip_ops, copy),
                        req->to_page < pages ? CALL_PAGE | CALL_SPARE : CALL_NEVER);
}

int nw_chip_buffer_load(struct nw_chip_req *req)
{
    return call_buffer(req, offsetof(struct nw_chip_ops, buffer_load), CALL_PAGE);
}

int nw_chip_buffer_read(struct nw_chip_req *req)
{
    return call_buffer(req, offsetof(struct nw_chip_ops, buffer_read), CALL_DATA);
}

int nw_chip_buffer_write(struct nw_chip_req *req)
{
    return call_buffer(req, offsetof(struct nw_chip_ops, buffer_write), CALL_DATA);
}

int nw_chip_buffer_program(struct nw_chip_req *req)
{
    return call_buffer(req, offsetof(struct nw_chip_ops, buffer_program), CALL_PAGE);
}

int nw_chip_heal(struct nw_chip_req *req)
{
    return nw_chip_call(req, offsetof(struct nw_chip_ops, heal), CALL_BLOCK);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "nandwich/block.h"

#include <stddef.h>

static int in_range(const struct nw_block_req *req)
{
    const struct nw_block *block = req->block;

    return req->count > 0 && req->sector < block->sectors &&
           req->count <= block->sectors - req->sector;
}

int nw_block_read(struct nw_block_req *req)
{
    req->done = 0;
    return in_range(req) ? req->block->ops->read(req) : NW_ERR_RANGE;
}

int nw_block_write(struct nw_block_req *req)
{
    req->done = 0;
    return in_range(req) ? req->block->ops->write(req) : NW_ERR_RANGE;
}

int nw_block_trim(struct nw_block_req *req)
{
    req->done = 0;
    return in_range(req) ? req->block->ops->trim(req) : NW_ERR_RANGE;
}

int nw_block_sync(struct nw_block_req *req)
{
    return req->block->ops->sync(req);
}

int nw_block_idle(struct nw_block_req *req)
{
    return req->block->ops->idle != NULL ? req->block->ops->idle(req) : 0;
}

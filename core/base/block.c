/* SPDX-License-Identifier: Apache-2.0 */
#include "nandwich/block.h"

#include <stddef.h>

/* A verb on sectors that are all there. */
static int run(struct nw_block_req *req, int (*verb)(struct nw_block_req *req))
{
    uint32_t sectors = req->block->sectors;

    req->done = 0;
    if (req->count == 0 || req->sector >= sectors || req->count > sectors - req->sector) {
        return NW_ERR_RANGE;
    }
    return verb(req);
}

int nw_block_read(struct nw_block_req *req)
{
    return run(req, req->block->ops->read);
}

int nw_block_write(struct nw_block_req *req)
{
    return run(req, req->block->ops->write);
}

int nw_block_trim(struct nw_block_req *req)
{
    return run(req, req->block->ops->trim);
}

int nw_block_sync(struct nw_block_req *req)
{
    return req->block->ops->sync(req);
}

int nw_block_idle(struct nw_block_req *req)
{
    return req->block->ops->idle != NULL ? req->block->ops->idle(req) : 0;
}

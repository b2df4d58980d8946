/* SPDX-License-Identifier: Apache-2.0 */
#include "nandwich/nvm.h"

static int in_range(const struct nw_nvm_req *req)
{
    return req->address <= req->nvm->bytes && req->length <= req->nvm->bytes - req->address;
}

int nw_nvm_read(struct nw_nvm_req *req)
{
    if (!in_range(req)) {
        return NW_ERR_RANGE;
    }
    return req->length == 0 ? NW_OK : req->nvm->ops->read(req);
}

int nw_nvm_write(struct nw_nvm_req *req)
{
    if (!in_range(req)) {
        return NW_ERR_RANGE;
    }
    return req->length == 0 ? NW_OK : req->nvm->ops->write(req);
}

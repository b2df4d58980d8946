/* SPDX-License-Identifier: Apache-2.0 */
#include "timer.h"

#include "clock.h"

static int through(struct nw_block_req *req, int (*verb)(struct nw_block_req *req))
{
    struct nw_host_timer *timer = req->block->context;
    uint64_t started_ns = nw_host_now_ns();
    int result;

    req->block = timer->below;
    result = verb(req);
    req->block = &timer->block;
    timer->host_ns += nw_host_now_ns() - started_ns;
    return result;
}

static int timed_read(struct nw_block_req *req)
{
    return through(req, nw_block_read);
}

static int timed_write(struct nw_block_req *req)
{
    return through(req, nw_block_write);
}

static int timed_trim(struct nw_block_req *req)
{
    return through(req, nw_block_trim);
}

static int timed_sync(struct nw_block_req *req)
{
    return through(req, nw_block_sync);
}

static int timed_idle(struct nw_block_req *req)
{
    return through(req, nw_block_idle);
}

void nw_host_timer_open(struct nw_host_timer *timer, struct nw_block *below)
{
    static const struct nw_block_ops ops = {timed_read, timed_write, timed_trim, timed_sync,
                                            timed_idle};

    timer->block = *below;
    timer->block.ops = &ops;
    timer->block.context = timer;
    timer->below = below;
    timer->host_ns = 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "held.h"

#include <string.h>

static struct nw_block_req part_of(const struct nw_block_req *req, uint32_t count)
{
    const struct sim_held *held = req->block->context;

    return (struct nw_block_req){.block = held->below,
                                 .sector = req->sector + req->done,
                                 .count = count,
                                 .data = req->data + (size_t)req->done * held->block.sector_bytes,
                                 .app = req->app,
                                 .hint = req->hint};
}

static uint32_t find(const struct sim_held *held, uint32_t sector)
{
    uint32_t at = 0;

    while (at < held->count && held->sector[at] != sector) {
        at++;
    }
    return at;
}

static void drop(struct sim_held *held, uint32_t at)
{
    held->count--;
    held->sector[at] = held->sector[held->count];
    memcpy(held->data[at], held->data[held->count], sizeof held->data[at]);
}

/* One goes down: which one, the gate's counts tell. */
static int let_go(struct sim_held *held)
{
    uint32_t at = (uint32_t)(held->gate->counts.changes * 2654435761U >> 8) % held->count;
    struct nw_block_req req = {
        .block = held->below, .sector = held->sector[at], .count = 1, .data = held->data[at]};
    int result = nw_block_write(&req);

    if (result >= 0) {
        drop(held, at);
    }
    return result;
}

static int let_all_go(struct sim_held *held)
{
    int result = NW_OK;

    while (held->count > 0 && result >= 0) {
        result = let_go(held);
    }
    return result;
}

static int held_read(struct nw_block_req *req)
{
    struct sim_held *held = req->block->context;
    int result = held->gate->off != 0 ? (int)NW_ERR_POWER : (int)NW_OK;

    while (req->done < req->count && result >= 0) {
        struct nw_block_req part = part_of(req, 1);
        uint32_t at = find(held, part.sector);

        if (at < held->count) {
            memcpy(part.data, held->data[at], held->block.sector_bytes);
        } else {
            result = nw_block_read(&part);
        }
        req->done += result >= 0;
    }
    return result;
}

static int held_write(struct nw_block_req *req)
{
    struct sim_held *held = req->block->context;
    int result = held->gate->off != 0 ? (int)NW_ERR_POWER : (int)NW_OK;

    while (req->done < req->count && result >= 0) {
        struct nw_block_req part = part_of(req, 1);
        uint32_t at = find(held, part.sector);

        if (at == SIM_HELD) {
            result = let_go(held);
            continue;
        }
        held->sector[at] = part.sector;
        memcpy(held->data[at], part.data, held->block.sector_bytes);
        held->count += at == held->count;
        req->done++;
    }
    return result;
}

/* Trims are not held; nor may what is held come behind them. */
static int held_trim(struct nw_block_req *req)
{
    struct sim_held *held = req->block->context;
    struct nw_block_req part = *req;
    int result = let_all_go(held);

    if (result >= 0) {
        part.block = held->below;
        result = nw_block_trim(&part);
        req->done = part.done;
    }
    return result;
}

static int held_sync(struct nw_block_req *req)
{
    struct sim_held *held = req->block->context;
    struct nw_block_req below = {.block = held->below};
    int result = let_all_go(held);

    return result < 0 ? result : nw_block_sync(&below);
}

static int held_idle(struct nw_block_req *req)
{
    const struct sim_held *held = req->block->context;
    struct nw_block_req below = {.block = held->below, .budget_us = req->budget_us};

    return nw_block_idle(&below);
}

void sim_held_open(struct sim_held *held, struct nw_block *below, const struct sim_gate *gate,
                   int anew)
{
    static const struct nw_block_ops ops = {held_read, held_write, held_trim, held_sync,
                                            held_idle};

    if (anew || held->powers != gate->counts.powers) {
        held->count = 0;
    }
    held->powers = gate->counts.powers;
    held->gate = gate;
    held->below = below;
    held->block = *below;
    held->block.ops = &ops;
    held->block.context = held;
}

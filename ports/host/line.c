/* SPDX-License-Identifier: Apache-2.0 */
#include "line.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static int through(struct nw_block_req *req, int (*verb)(struct nw_block_req *req), uint8_t kind)
{
    struct nw_host_line *line = req->block->context;
    const struct nw_meter *meter = nw_nand_meter(line->device->nand);
    int has_place = kind != NW_TIMELINE_SYNC;
    struct nw_timeline_request told = {
        .arrival_ns = meter->time_ns,
        .start_ns = meter->time_ns,
        .sector = has_place ? req->sector : 0,
        .count = has_place ? req->count : 0,
        .queue = NW_TIMELINE_UNKNOWN,
        .kind = kind,
        .fault = line->faults != NULL ? (uint32_t)*line->faults : 0,
    };
    int result;

    told.address = line->base + (uint64_t)told.sector * line->block.sector_bytes;
    nw_timeline_begin(line->timeline, 0);
    req->block = line->below;
    result = verb(req);
    req->block = &line->block;
    told.end_ns = meter->time_ns;
    told.free_blocks = nw_stack_free_blocks(line->device);
    nw_timeline_end(line->timeline, &told);
    return result;
}

static int line_read(struct nw_block_req *req)
{
    return through(req, nw_block_read, NW_TIMELINE_READ);
}

static int line_write(struct nw_block_req *req)
{
    return through(req, nw_block_write, NW_TIMELINE_WRITE);
}

static int line_trim(struct nw_block_req *req)
{
    return through(req, nw_block_trim, NW_TIMELINE_TRIM);
}

static int line_sync(struct nw_block_req *req)
{
    return through(req, nw_block_sync, NW_TIMELINE_SYNC);
}

void nw_host_line_open(struct nw_host_line *line, const struct nw_stack *device, uintptr_t base)
{
    /* No idle: virtual memory never asks for it. */
    static const struct nw_block_ops ops = {line_read, line_write, line_trim, line_sync, NULL};

    line->block = *device->block;
    line->block.ops = &ops;
    line->block.context = line;
    line->below = device->block;
    line->device = device;
    line->timeline = device->timeline;
    line->base = base;
    line->faults = NULL;
}

int nw_host_line_window(const char *text, struct nw_timeline_config *config)
{
    char kind[16], rest;
    int found = sscanf(text, "%15[a-z]:%" SCNu64 ":%" SCNu64 "%c", kind, &config->from,
                       &config->to, &rest);

    if (found != 3 || (strcmp(kind, "ns") != 0 && strcmp(kind, "requests") != 0)) {
        return NW_ERR_CONFIG;
    }
    config->by_time = strcmp(kind, "ns") == 0;
    return config->from < config->to ? (int)NW_OK : (int)NW_ERR_CONFIG;
}

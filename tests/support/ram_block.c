/* SPDX-License-Identifier: Apache-2.0 */
#include "ram_block.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct ram_block *own(const struct nw_block_req *req)
{
    return req->block->context;
}

static size_t bytes(const struct nw_block_req *req, uint32_t sectors)
{
    return (size_t)sectors * req->block->sector_bytes;
}

static int fails(uint32_t *left)
{
    if (*left == 0) {
        return 1;
    }
    if (*left != UINT32_MAX) {
        (*left)--;
    }
    return 0;
}

static int ram_read(struct nw_block_req *req)
{
    struct ram_block *ram = own(req);

    if (fails(&ram->fail_after_reads)) {
        memset(req->data, 0xEE, bytes(req, req->count)); /* a failed read may leave anything */
        return ram->error;
    }
    memcpy(req->data, ram->content + bytes(req, req->sector), bytes(req, req->count));
    ram->reads += req->count;
    req->done = req->count;
    return NW_OK;
}

static int ram_write(struct nw_block_req *req)
{
    struct ram_block *ram = own(req);

    if (fails(&ram->fail_after_writes)) {
        return ram->error;
    }
    memcpy(ram->content + bytes(req, req->sector), req->data, bytes(req, req->count));
    ram->writes += req->count;
    req->done = req->count;
    return NW_OK;
}

static int ram_trim(struct nw_block_req *req)
{
    struct ram_block *ram = own(req);

    if (fails(&ram->fail_after_trims)) {
        return ram->error;
    }
    memset(ram->content + bytes(req, req->sector), ram->garbage, bytes(req, req->count));
    ram->trims += req->count;
    req->done = req->count;
    return NW_OK;
}

static int ram_sync(struct nw_block_req *req)
{
    own(req)->syncs++;
    return NW_OK;
}

static const struct nw_block_ops ops = {ram_read, ram_write, ram_trim, ram_sync, NULL};

void ram_block_open(struct ram_block *ram, uint32_t sectors, uint16_t sector_bytes,
                    uint8_t garbage)
{
    size_t size = (size_t)sectors * sector_bytes;

    memset(ram, 0, sizeof *ram);
    ram->content = malloc(size);
    if (ram->content == NULL) {
        fprintf(stderr, "ram_block: no memory for %zu bytes\n", size);
        exit(2);
    }
    memset(ram->content, garbage, size);
    ram->garbage = garbage;
    ram->fail_after_reads = UINT32_MAX;
    ram->fail_after_writes = UINT32_MAX;
    ram->fail_after_trims = UINT32_MAX;
    ram->error = NW_ERR_IO;
    ram->block.ops = &ops;
    ram->block.context = ram;
    ram->block.sectors = sectors;
    ram->block.sector_bytes = sector_bytes;
}

void ram_block_close(struct ram_block *ram)
{
    free(ram->content);
    memset(ram, 0, sizeof *ram);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "memory_chip.h"

#include <string.h>

static struct memory_chip *noted(struct nw_chip_req *req, enum memory_chip_verb verb)
{
    struct memory_chip *memory = req->chip->context;

    memory->calls[verb]++;
    memory->last = *req;
    return memory;
}

static int memory_read(struct nw_chip_req *req)
{
    struct memory_chip *memory = noted(req, MEMORY_READ);
    const struct nw_geometry *geometry = &memory->chip.geometry;

    if (req->length > 0 && req->data != NULL) {
        memcpy(req->data, memory->data + req->page * geometry->page_bytes + req->offset,
               req->length);
    }
    if (req->spare_length > 0) {
        memcpy(req->spare, memory->spare + req->page * geometry->spare_bytes + req->spare_offset,
               req->spare_length);
    }
    return memory->answer;
}

static int memory_program(struct nw_chip_req *req)
{
    struct memory_chip *memory = noted(req, MEMORY_PROGRAM);
    const struct nw_geometry *geometry = &memory->chip.geometry;

    if (req->length > 0 && req->data != NULL) {
        memcpy(memory->data + req->page * geometry->page_bytes + req->offset, req->data,
               req->length);
    }
    if (req->spare_length > 0) {
        memcpy(memory->spare + req->page * geometry->spare_bytes + req->spare_offset, req->spare,
               req->spare_length);
    }
    return memory->answer;
}

static int memory_erase(struct nw_chip_req *req)
{
    return noted(req, MEMORY_ERASE)->answer;
}

static int memory_is_bad(struct nw_chip_req *req)
{
    return noted(req, MEMORY_IS_BAD)->answer;
}

static int memory_mark_bad(struct nw_chip_req *req)
{
    return noted(req, MEMORY_MARK_BAD)->answer;
}

static int memory_copy(struct nw_chip_req *req)
{
    return noted(req, MEMORY_COPY)->answer;
}

static int memory_buffer_load(struct nw_chip_req *req)
{
    return noted(req, MEMORY_BUFFER_LOAD)->answer;
}

static int memory_buffer_read(struct nw_chip_req *req)
{
    return noted(req, MEMORY_BUFFER_READ)->answer;
}

static int memory_buffer_write(struct nw_chip_req *req)
{
    return noted(req, MEMORY_BUFFER_WRITE)->answer;
}

static int memory_buffer_program(struct nw_chip_req *req)
{
    return noted(req, MEMORY_BUFFER_PROGRAM)->answer;
}

void memory_chip_open(struct memory_chip *memory, const struct nw_geometry *geometry, int copy,
                      int buffers)
{
    static const struct nw_chip_ops ops[4] = {
        {memory_read, memory_program, memory_erase, memory_is_bad, memory_mark_bad, NULL, NULL,
         NULL, NULL, NULL, NULL},
        {memory_read, memory_program, memory_erase, memory_is_bad, memory_mark_bad, memory_copy,
         NULL, NULL, NULL, NULL, NULL},
        {memory_read, memory_program, memory_erase, memory_is_bad, memory_mark_bad, NULL,
         memory_buffer_load, memory_buffer_read, memory_buffer_write, memory_buffer_program, NULL},
        {memory_read, memory_program, memory_erase, memory_is_bad, memory_mark_bad, memory_copy,
         memory_buffer_load, memory_buffer_read, memory_buffer_write, memory_buffer_program, NULL},
    };

    memset(memory, 0, sizeof *memory);
    memory->chip.ops = &ops[(copy ? 1 : 0) + (buffers ? 2 : 0)];
    memory->chip.context = memory;
    memory->chip.geometry = *geometry;
    memory->chip.geometry.buffers = buffers ? 2 : 0;
    memset(memory->data, geometry->erased, sizeof memory->data);
    memset(memory->spare, geometry->erased, sizeof memory->spare);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "record.h"

#include "nandwich/error.h"

#include <stdint.h>

#define DEVICE "vm" /* the one file fio would open */

static void note(const struct nw_host_record *record, const char *action, uint64_t sector,
                 uint64_t count)
{
    unsigned long long bytes = record->block.sector_bytes;

    if (record->file != NULL) {
        fprintf(record->file, DEVICE " %s %llu %llu\n", action, sector * bytes, count * bytes);
    }
}

static int pass(struct nw_block_req *req, int (*verb)(struct nw_block_req *req))
{
    struct nw_host_record *record = req->block->context;
    int result;

    req->block = record->below;
    result = verb(req);
    req->block = &record->block;
    return result;
}

static int recorded_read(struct nw_block_req *req)
{
    note(req->block->context, "read", req->sector, req->count);
    return pass(req, nw_block_read);
}

static int recorded_write(struct nw_block_req *req)
{
    note(req->block->context, "write", req->sector, req->count);
    return pass(req, nw_block_write);
}

static int recorded_trim(struct nw_block_req *req)
{
    note(req->block->context, "trim", req->sector, req->count);
    return pass(req, nw_block_trim);
}

static int recorded_sync(struct nw_block_req *req)
{
    note(req->block->context, "sync", 0, 0);
    return pass(req, nw_block_sync);
}

int nw_host_record_open(struct nw_host_record *record, struct nw_block *below, const char *path)
{
    /* No idle: virtual memory never asks for it, and fio has no word for it. */
    static const struct nw_block_ops ops = {recorded_read, recorded_write, recorded_trim,
                                            recorded_sync, NULL};

    record->block = *below;
    record->block.ops = &ops;
    record->block.context = record;
    record->below = below;
    if (nw_replace_begin(&record->replace, path) != 0) {
        return NW_ERR_IO;
    }
    record->file = nw_replace_stream(&record->replace);
    if (record->file == NULL) {
        (void)nw_replace_end(&record->replace, 0);
        return NW_ERR_IO;
    }
    fputs("fio version 2 iolog\n" DEVICE " add\n" DEVICE " open\n", record->file);
    return NW_OK;
}

int nw_host_record_close(struct nw_host_record *record)
{
    FILE *file = record->file;
    int failed;

    record->file = NULL;
    if (file == NULL) {
        return NW_OK;
    }
    fputs(DEVICE " close\n", file);
    failed = ferror(file) != 0;
    failed |= fclose(file) != 0;
    return nw_replace_end(&record->replace, !failed) == 0 ? NW_OK : NW_ERR_IO;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The byte-addressable memory model: a flat array, a count a line, a cost a line and a byte. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS, MAP_NORESERVE */
#include "nandwich-twin/nvm.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "nandwich/random.h"

struct nw_nvm_twin {
    struct nw_nvm nvm;
    struct nw_part part;
    struct nw_meter own_meter;
    struct nw_meter *meter;
    struct nw_nvm_twin_counts stats;
    struct nw_random random; /* only for torn writes */
    uint8_t *data;
    uint32_t *line_writes;
    uint64_t accesses;
    uint64_t cut_at;
    uint32_t line_count;
    bool off;
};

static uint32_t lines_of(const struct nw_nvm_twin *twin, const struct nw_nvm_req *req)
{
    uint32_t line = twin->part.line_bytes;

    return (req->address + (req->length - 1U)) / line - req->address / line + 1U;
}

static void charge(struct nw_nvm_twin *twin, const struct nw_cost *cost, uint32_t lines,
                   uint32_t bytes)
{
    twin->meter->time_ns += lines * cost->fixed_ns + (bytes * cost->byte_ps + 999U) / 1000U;
    twin->meter->energy_pj += lines * cost->fixed_pj + bytes * cost->byte_pj;
}

/* The bytes of a cut write, unit by unit old or new. */
static void tear(struct nw_nvm_twin *twin, const struct nw_nvm_req *req)
{
    uint32_t unit = twin->nvm.atomic_bytes;
    uint32_t done = 0;

    while (done < req->length) {
        uint32_t at = req->address + done;
        uint32_t here = unit - at % unit;

        if (here > req->length - done) {
            here = req->length - done;
        }
        if (nw_random_below(&twin->random, 2) != 0) {
            memcpy(twin->data + at, req->data + done, here);
        }
        done += here;
    }
}

static int nvm_read(struct nw_nvm_req *req)
{
    struct nw_nvm_twin *twin = req->nvm->context;
    uint32_t lines = lines_of(twin, req);

    if (twin->off || twin->accesses++ == twin->cut_at) {
        twin->off = true;
        return NW_ERR_POWER;
    }
    if (req->data != NULL) {
        memcpy(req->data, twin->data + req->address, req->length);
    }
    twin->stats.reads++;
    twin->stats.bytes_read += req->length;
    twin->stats.lines_read += lines;
    charge(twin, &twin->part.chip.read, lines, req->length);
    return NW_OK;
}

static int nvm_write(struct nw_nvm_req *req)
{
    struct nw_nvm_twin *twin = req->nvm->context;
    uint32_t lines = lines_of(twin, req);
    uint32_t first = req->address / twin->part.line_bytes;

    if (twin->off) {
        return NW_ERR_POWER;
    }
    for (uint32_t i = 0; i < lines; i++) {
        if (twin->line_writes[first + i] < UINT32_MAX) {
            twin->line_writes[first + i]++;
        }
    }
    if (twin->accesses++ == twin->cut_at) {
        if (req->data != NULL) {
            tear(twin, req);
        }
        twin->off = true;
        return NW_ERR_POWER;
    }
    if (req->data != NULL) {
        memcpy(twin->data + req->address, req->data, req->length);
    }
    twin->stats.writes++;
    twin->stats.bytes_written += req->length;
    twin->stats.lines_written += lines;
    charge(twin, &twin->part.chip.program, lines, req->length);
    return NW_OK;
}

static const struct nw_nvm_ops nvm_ops = { .read = nvm_read, .write = nvm_write };

int nw_nvm_twin_open(struct nw_nvm_twin **out, const struct nw_nvm_twin_config *config)
{
    const struct nw_part *part = config->part;
    struct nw_nvm_twin *twin;
    void *data;

    *out = NULL;
    if (part == NULL || part->kind != NW_PART_NVM || nw_part_check(part, NULL) < 0) {
        return NW_ERR_CONFIG;
    }
    twin = calloc(1, sizeof *twin);
    if (twin == NULL) {
        return NW_ERR_RAM;
    }
    twin->part = *part;
    twin->nvm.ops = &nvm_ops;
    twin->nvm.context = twin;
    twin->nvm.bytes = config->bytes != 0 ? config->bytes : (uint32_t)part->nvm_bytes;
    twin->nvm.atomic_bytes = part->atomic_bytes;
    twin->nvm.endurance = part->endurance;
    twin->meter = config->meter != NULL ? config->meter : &twin->own_meter;
    twin->cut_at = UINT64_MAX;
    nw_random_seed(&twin->random, config->seed);
    twin->line_count = (twin->nvm.bytes - 1U) / part->line_bytes + 1U;
    twin->line_writes = calloc(twin->line_count, sizeof *twin->line_writes);
    data = mmap(NULL, twin->nvm.bytes, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    twin->data = data == MAP_FAILED ? NULL : data;
    if (twin->line_writes == NULL || twin->data == NULL) {
        nw_nvm_twin_close(twin);
        return NW_ERR_RAM;
    }
    *out = twin;
    return NW_OK;
}

void nw_nvm_twin_close(struct nw_nvm_twin *twin)
{
    if (twin == NULL) {
        return;
    }
    if (twin->data != NULL) {
        (void)munmap(twin->data, twin->nvm.bytes); /* mapped above: cannot fail */
    }
    free(twin->line_writes);
    free(twin);
}

struct nw_nvm *nw_nvm_twin_nvm(struct nw_nvm_twin *twin)
{
    return &twin->nvm;
}

struct nw_meter *nw_nvm_twin_meter(struct nw_nvm_twin *twin)
{
    return twin->meter;
}

const struct nw_nvm_twin_counts *nw_nvm_twin_stats(const struct nw_nvm_twin *twin)
{
    return &twin->stats;
}

uint32_t nw_nvm_twin_line_writes(const struct nw_nvm_twin *twin, uint32_t line)
{
    return twin->line_writes[line];
}

void nw_nvm_twin_cut(struct nw_nvm_twin *twin, uint64_t after)
{
    twin->cut_at = twin->accesses + after;
}

void nw_nvm_twin_power_up(struct nw_nvm_twin *twin)
{
    twin->off = false;
    twin->cut_at = UINT64_MAX;
}

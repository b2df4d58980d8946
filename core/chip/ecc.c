/* SPDX-License-Identifier: Apache-2.0 */
#include "nandwich/ecc.h"

#include <string.h>

#include "nandwich/ram.h"

#define DEFAULT_UNIT_BYTES 256U

/* The parts of a page that a request touches: the spare on the chip from first to last is moved. */
struct span {
    uint16_t first;
    uint16_t last;
    uint8_t any;
};

static void span_add(struct span *span, uint16_t offset, uint16_t length, uint16_t bytes)
{
    uint16_t first;
    uint16_t last;

    if (length == 0) {
        return;
    }
    first = offset / bytes;
    last = (uint16_t)(offset + length - 1U) / bytes;
    if (!span->any || first < span->first) {
        span->first = first;
    }
    if (!span->any || last > span->last) {
        span->last = last;
    }
    span->any = 1;
}

static void span_of(const struct nw_ecc *ecc, const struct nw_chip_req *req, struct span *span)
{
    span->first = 0;
    span->last = 0;
    span->any = 0;
    span_add(span, req->offset, req->length, ecc->part_bytes);
    span_add(span, req->spare_offset, req->spare_length, ecc->part_own);
}

/* The spare bytes of a part as they lie in ecc->spare, which holds the span. */
static uint8_t *part_spare(const struct nw_ecc *ecc, const struct span *span, uint16_t part)
{
    return ecc->spare + (uint16_t)(part - span->first) * ecc->part_spare;
}

/* The code word over the caller's bytes of a part: behind the codes of its data. */
static void own_unit(const struct nw_ecc *ecc, uint8_t *spare, struct nw_ecc_unit *unit)
{
    uint16_t units = ecc->part_bytes / ecc->unit_bytes;

    unit->data = spare;
    unit->parity = spare + ecc->part_own + units * ecc->code->parity_bytes;
    unit->length = ecc->part_own;
    unit->erased = ecc->chip.geometry.erased;
}

/* The code word over the data unit that starts at `offset` of the page. */
static void data_unit(const struct nw_ecc *ecc, const struct span *span, uint16_t offset,
                      uint8_t *data, struct nw_ecc_unit *unit)
{
    uint16_t index = (uint16_t)(offset % ecc->part_bytes / ecc->unit_bytes);

    unit->data = data;
    unit->parity = part_spare(ecc, span, (uint16_t)(offset / ecc->part_bytes)) + ecc->part_own +
                   index * ecc->code->parity_bytes;
    unit->length = ecc->unit_bytes;
    unit->erased = ecc->chip.geometry.erased;
}

/* Hands the request as it now stands to the chip below. */
static int pass(struct nw_chip_req *req, int (*verb)(struct nw_chip_req *))
{
    struct nw_chip *chip = req->chip;
    const struct nw_ecc *ecc = chip->context;
    int result;

    req->chip = ecc->below;
    result = verb(req);
    req->chip = chip;
    return result;
}

static void take_spare(const struct nw_ecc *ecc, struct nw_chip_req *req, const struct span *span)
{
    req->spare_offset = (uint16_t)(span->first * ecc->part_spare);
    req->spare_length =
        span->any ? (uint16_t)((span->last - span->first + 1U) * ecc->part_spare) : 0U;
    req->spare = ecc->spare;
}

static int ecc_program(struct nw_chip_req *req)
{
    const struct nw_ecc *ecc = req->chip->context;
    struct nw_chip_req saved;
    struct nw_ecc_unit unit;
    struct span span;
    uint16_t i;
    int result;

    memcpy(&saved, req, sizeof saved);
    span_of(ecc, req, &span);
    take_spare(ecc, req, &span);
    memset(ecc->spare, ecc->chip.geometry.erased, req->spare_length);
    for (i = 0; i < saved.spare_length; i++) {
        uint16_t at = (uint16_t)(saved.spare_offset + i);

        part_spare(ecc, &span, (uint16_t)(at / ecc->part_own))[at % ecc->part_own] = saved.spare[i];
    }
    for (i = span.first; saved.spare_length > 0 && i <= span.last; i++) {
        own_unit(ecc, part_spare(ecc, &span, i), &unit);
        ecc->code->encode(&unit);
    }
    for (i = 0; saved.data != NULL && i < saved.length; i = (uint16_t)(i + ecc->unit_bytes)) {
        data_unit(ecc, &span, (uint16_t)(saved.offset + i), saved.data + i, &unit);
        ecc->code->encode(&unit);
    }
    result = pass(req, nw_chip_program);
    memcpy(req, &saved, sizeof saved);
    return result;
}

/* Adds up bits corrected; the first error stays while other words are still looked at. */
static int summed(int sum, int result)
{
    if (sum < 0) {
        return sum;
    }
    return result < 0 ? result : sum + result;
}

/* Checks the caller's spare bytes of the request, now in ecc->spare, and hands them over. */
static int spare_out(const struct nw_ecc *ecc, const struct nw_chip_req *req,
                     const struct span *span)
{
    struct span parts = {0, 0, 0};
    struct nw_ecc_unit unit;
    uint16_t i;
    int sum = 0;

    span_add(&parts, req->spare_offset, req->spare_length, ecc->part_own);
    for (i = parts.first; parts.any && i <= parts.last; i++) {
        own_unit(ecc, part_spare(ecc, span, i), &unit);
        sum = summed(sum, ecc->code->check(&unit));
    }
    for (i = 0; i < req->spare_length; i++) {
        uint16_t at = (uint16_t)(req->spare_offset + i);

        req->spare[i] = part_spare(ecc, span, (uint16_t)(at / ecc->part_own))[at % ecc->part_own];
    }
    return sum;
}

/* Checks the units of a run just read into `data`. */
static int run_check(const struct nw_ecc *ecc, const struct span *span, uint16_t offset,
                     uint16_t length, uint8_t *data)
{
    struct nw_ecc_unit unit;
    uint16_t i;
    int sum = 0;

    for (i = 0; data != NULL && i < length; i = (uint16_t)(i + ecc->unit_bytes)) {
        data_unit(ecc, span, (uint16_t)(offset + i), data + i, &unit);
        sum = summed(sum, ecc->code->check(&unit));
    }
    return sum;
}

/* Reads the next run of the request from `done` on: whole units in place, or one cut unit. Sets
 * *run to the bytes of the request it covered. The first read brings the spare of the span. */
static int run_read(const struct nw_ecc *ecc, struct nw_chip_req *req, const struct span *span,
                    uint16_t done, uint16_t *run)
{
    struct nw_chip_req saved;
    uint16_t left = (uint16_t)(req->length - done);
    uint16_t skip = (uint16_t)((req->offset + done) % ecc->unit_bytes);
    uint16_t length = (uint16_t)(left - left % ecc->unit_bytes);
    uint8_t *cut = NULL; /* where a unit lies of which the request wants a part */
    int result;

    memcpy(&saved, req, sizeof saved);
    take_spare(ecc, req, span);
    if (done > 0) {
        req->spare_length = 0;
    }
    *run = length;
    if (saved.data != NULL) {
        req->data = saved.data + done;
    }
    if (left > 0 && (skip > 0 || length == 0)) {
        length = ecc->unit_bytes;
        *run = length - skip < left ? (uint16_t)(length - skip) : left;
        cut = saved.data != NULL ? ecc->unit : NULL;
        req->data = cut;
    }
    req->offset = (uint16_t)(saved.offset + done - skip);
    req->length = length;
    result = pass(req, nw_chip_read);
    if (result >= 0) {
        result = summed(result, run_check(ecc, span, req->offset, length, req->data));
    }
    if (cut != NULL) {
        memcpy(saved.data + done, cut + skip, *run);
    }
    memcpy(req, &saved, sizeof saved);
    return result;
}

static int ecc_read(struct nw_chip_req *req)
{
    const struct nw_ecc *ecc = req->chip->context;
    struct span span;
    uint16_t done = 0;
    uint16_t run = 0;
    int sum = 0;

    span_of(ecc, req, &span);
    do {
        int result = run_read(ecc, req, &span, done, &run);

        if (result < 0 && result != NW_ERR_ECC) {
            return result;
        }
        sum = summed(sum, result);
        done = (uint16_t)(done + run);
    } while (done < req->length);
    return summed(sum, spare_out(ecc, req, &span));
}

static int ecc_erase(struct nw_chip_req *req)
{
    return pass(req, nw_chip_erase);
}

static int ecc_is_bad(struct nw_chip_req *req)
{
    return pass(req, nw_chip_is_bad);
}

static int ecc_mark_bad(struct nw_chip_req *req)
{
    return pass(req, nw_chip_mark_bad);
}

static int ecc_heal(struct nw_chip_req *req)
{
    return pass(req, nw_chip_heal);
}

static const struct nw_chip_ops ecc_ops = {
    ecc_read, ecc_program, ecc_erase, ecc_is_bad, ecc_mark_bad, NULL,
    NULL,     NULL,        NULL,      NULL,       ecc_heal,
};

/* Cuts the page into `parts`. 1 when that fits the chip. */
static int cut(struct nw_ecc *ecc, const struct nw_geometry *geometry, uint16_t parts)
{
    uint16_t units = geometry->page_bytes / ecc->unit_bytes;
    uint32_t codes;

    if (units % parts != 0 || geometry->page_bytes / parts % geometry->program_bytes != 0) {
        return 0;
    }
    codes = (uint32_t)(units / parts) * ecc->code->parity_bytes;
    ecc->part_bytes = geometry->page_bytes / parts;
    ecc->part_spare = geometry->spare_bytes / parts;
    ecc->part_own = 0;
    if (ecc->part_spare > codes + ecc->code->parity_bytes) {
        ecc->part_own = (uint16_t)(ecc->part_spare - codes - ecc->code->parity_bytes);
    }
    if (ecc->part_own > ecc->code->unit_max) {
        ecc->part_own = ecc->code->unit_max;
    }
    return ecc->part_spare >= codes;
}

/* Fills in all but the buffers. */
static int layout(struct nw_ecc *ecc, const struct nw_ecc_config *config,
                  const struct nw_geometry *geometry)
{
    uint16_t parts = config->parts;

    ecc->code = config->code != NULL ? config->code : &nw_ecc_secded;
    ecc->unit_bytes = config->unit_bytes != 0 ? config->unit_bytes : DEFAULT_UNIT_BYTES;
    if (nw_geometry_check(geometry) != NW_OK || parts > geometry->page_programs ||
        ecc->unit_bytes > ecc->code->unit_max || geometry->page_bytes % ecc->unit_bytes != 0) {
        return NW_ERR_CONFIG;
    }
    if (parts != 0) {
        return cut(ecc, geometry, parts) ? NW_OK : NW_ERR_CONFIG;
    }
    for (parts = geometry->page_programs; parts > 0; parts--) {
        if (cut(ecc, geometry, parts)) {
            return NW_OK;
        }
    }
    return NW_ERR_CONFIG;
}

size_t nw_ecc_ram_bytes(const struct nw_ecc_config *config, const struct nw_geometry *geometry)
{
    struct nw_ecc ecc;

    return layout(&ecc, config, geometry) == NW_OK ? (size_t)ecc.unit_bytes + geometry->spare_bytes
                                                   : 0U;
}

int nw_ecc_open(struct nw_ecc *ecc, struct nw_chip *below, const struct nw_ecc_config *config,
                void *ram, size_t ram_bytes)
{
    struct nw_geometry *geometry = &ecc->chip.geometry;
    struct nw_ram arena = {ram, ram_bytes, 0};
    uint16_t parts;

    *geometry = below->geometry;
    if (layout(ecc, config, geometry) != NW_OK) {
        return NW_ERR_CONFIG;
    }
    ecc->unit = NW_RAM_TAKE(&arena, uint8_t, ecc->unit_bytes);
    ecc->spare = NW_RAM_TAKE(&arena, uint8_t, geometry->spare_bytes);
    if (ram == NULL || arena.used > ram_bytes) {
        return NW_ERR_RAM;
    }
    parts = geometry->page_bytes / ecc->part_bytes;
    geometry->spare_bytes = (uint16_t)(ecc->part_own * parts);
    geometry->program_bytes = ecc->part_bytes;
    geometry->page_programs = (uint8_t)parts;
    geometry->buffers = 0;
    ecc->chip.ops = &ecc_ops;
    ecc->chip.context = ecc;
    ecc->below = below;
    return NW_OK;
}

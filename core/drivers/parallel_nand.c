/* SPDX-License-Identifier: Apache-2.0 */
/* NAND on an eight-bit bus: commands and addresses by latch, data by cycles. */
#include "nandwich/driver_parallel_nand.h"

#include <stddef.h>
#include <string.h>

#include "nandwich/bytes.h"
#include "onfi.h"

#define READ 0x00U /* small pages: from the first half; 01h from the second, 50h from the spare */
#define READ_SECOND 0x01U
#define READ_SPARE 0x50U
#define READ_GO 0x30U
#define READ_SEEK 0x05U
#define READ_SEEK_GO 0xE0U
#define PROGRAM 0x80U
#define PROGRAM_GO 0x10U
#define ERASE 0x60U
#define ERASE_GO 0xD0U
#define STATUS 0x70U
#define ID 0x90U
#define PARAMETERS 0xECU
#define RESET 0xFFU

#define STATUS_FAILED 0x01U
#define STATUS_READY 0x40U
#define STATUS_WRITABLE 0x80U

#define STEP_US 20U
#define STEPS 1000U /* 20 ms */

#define SMALL_BYTES 512U
#define MARK_PAGES 2U
#define ONFI_COPIES 3U
#define COLUMNS 0xFFF0U /* of a page with its spare, which two cycles tell */

static const struct nw_parallel_nand_part parts[] = {
    {0x73U, 9, 2, 1, 1024}, {0x75U, 9, 2, 1, 2048},  {0x76U, 9, 3, 1, 4096},
    {0x79U, 9, 3, 4, 8192}, {0xF1U, 11, 2, 4, 1024}, {0xDAU, 11, 3, 4, 2048},
    {0xDCU, 11, 3, 4, 4096}, {0xD3U, 11, 3, 4, 8192},
};

/* The first error of a verb stays, and nothing is sent behind it; deselecting is. */
static void choose(struct nw_parallel_nand *nand, uint8_t on)
{
    int result = nand->bus->ops->select(nand->bus, on);

    if (nand->error >= 0) {
        nand->error = result;
    }
}

/* Write cycles of a command (one byte) or of an address, its lowest byte first. */
static void latch(struct nw_parallel_nand *nand, uint8_t is_address, uint32_t value,
                  uint8_t cycles)
{
    uint8_t bytes[4];

    for (uint8_t i = 0; i < 4U; i++) {
        bytes[i] = (uint8_t)(value & 0xFFU);
        value >>= 8;
    }
    if (nand->error >= 0) {
        nand->error = nand->bus->ops->latch(nand->bus, is_address, bytes, cycles);
    }
}

static void command(struct nw_parallel_nand *nand, uint8_t code)
{
    latch(nand, 0, code, 1);
}

static void transfer(struct nw_parallel_nand *nand, uint8_t *data, uint16_t length, uint8_t writing)
{
    const struct nw_parallel_bus_ops *bus = nand->bus->ops;

    if (nand->error >= 0) {
        nand->error = writing ? bus->write(nand->bus, data, length)
                              : bus->read(nand->bus, data, length);
    }
}

/* Asks until the part is ready, within the limit: its status. */
static uint8_t ready(struct nw_parallel_nand *nand)
{
    nand->busy = 1; /* also behind an error: the part may have taken the command in */
    command(nand, STATUS);
    for (uint16_t step = STEPS;; step--) {
        transfer(nand, &nand->status, 1, 0);
        if (nand->error < 0) {
            break;
        }
        if ((nand->status & STATUS_READY) != 0) {
            nand->busy = 0;
            break;
        }
        nand->error = step > 0 ? nand->bus->ops->wait(nand->bus, STEP_US) : (int)NW_ERR_BUSY;
    }
    return nand->status;
}

/* A command that keeps the part busy. */
static uint8_t work(struct nw_parallel_nand *nand, uint8_t code)
{
    command(nand, code);
    return ready(nand);
}

static struct nw_parallel_nand *begin(struct nw_parallel_nand *nand)
{
    nand->error = NW_OK;
    nand->at = 0;
    choose(nand, 1);
    if (nand->busy != 0) {
        (void)ready(nand);
    }
    return nand;
}

/* Deselects; what the verb answers whose operation ended with that status. */
static int end(struct nw_parallel_nand *nand, uint8_t status, int failed)
{
    choose(nand, 0);
    if (nand->error < 0) {
        return nand->error;
    }
    if ((status & STATUS_WRITABLE) == 0) {
        return NW_ERR_IO;
    }
    return (status & STATUS_FAILED) != 0 ? failed : (int)NW_OK;
}

/* A part with pages of 512 bytes. */
static int is_small(const struct nw_parallel_nand *nand)
{
    return nand->column_cycles == 1U;
}

/* Where a small part's address counts from: the first half of a page, the second, the spare. */
static void aim(struct nw_parallel_nand *nand, uint16_t column)
{
    command(nand, column < 256U || !is_small(nand) ? READ
                  : column < SMALL_BYTES           ? READ_SECOND
                                                   : READ_SPARE);
}

/* Has the part deliver a page, or take one in, from a column on. */
static void open_page(struct nw_parallel_nand *nand, uint16_t column, uint32_t page,
                      uint8_t writing)
{
    if (!writing || is_small(nand)) {
        aim(nand, column);
    }
    if (writing) {
        command(nand, PROGRAM);
    }
    latch(nand, 1, column, nand->column_cycles);
    latch(nand, 1, page, nand->row_cycles);
    if (!writing) {
        if (!is_small(nand)) {
            command(nand, READ_GO);
        }
        (void)ready(nand);
        aim(nand, column < SMALL_BYTES ? 0 : column); /* from status back to data */
    }
}

/* Moves bytes of a page from a column on, further up than those moved before, which ended at
 * nand->at; 0: these are the first ones. What lies between is passed over. */
static void move(struct nw_parallel_nand *nand, uint32_t page, uint16_t column, uint8_t *data,
                 uint16_t length, uint8_t writing)
{
    if (length == 0) {
        return;
    }
    if (nand->at == 0 || (!writing && is_small(nand))) {
        open_page(nand, column, page, writing);
    } else if (writing) {
        transfer(nand, NULL, (uint16_t)(column - nand->at), 1); /* FF leaves bytes as they are */
    } else {
        command(nand, READ_SEEK);
        latch(nand, 1, column, 2);
        command(nand, READ_SEEK_GO);
    }
    transfer(nand, data, length, writing);
    nand->at = (uint16_t)(column + length);
}

/* All bytes that a request names: data, then spare up to the mark and behind it. */
static void move_all(struct nw_parallel_nand *nand, const struct nw_chip_req *req, uint8_t writing)
{
    uint16_t spare = (uint16_t)(req->chip->geometry.page_bytes + req->spare_offset);
    uint16_t below = 0;

    if (req->spare_offset < nand->hole_at) {
        below = (uint16_t)(nand->hole_at - req->spare_offset);
        below = below < req->spare_length ? below : req->spare_length;
    }
    move(nand, req->page, req->offset, req->data, req->length, writing);
    move(nand, req->page, spare, req->spare, below, writing);
    move(nand, req->page, (uint16_t)(spare + below + nand->hole_bytes), req->spare + below,
         (uint16_t)(req->spare_length - below), writing);
}

static int run(struct nw_chip_req *req, uint8_t writing)
{
    struct nw_parallel_nand *nand = begin(req->chip->context);
    uint8_t status = STATUS_WRITABLE;

    move_all(nand, req, writing);
    if (writing && nand->at != 0) {
        status = work(nand, PROGRAM_GO);
    }
    return end(nand, status, NW_ERR_PROGRAM);
}

static int parallel_nand_read(struct nw_chip_req *req)
{
    return run(req, 0);
}

static int parallel_nand_program(struct nw_chip_req *req)
{
    return run(req, 1);
}

static int parallel_nand_erase(struct nw_chip_req *req)
{
    struct nw_parallel_nand *nand = begin(req->chip->context);

    command(nand, ERASE);
    latch(nand, 1, req->block * req->chip->geometry.block_pages, nand->row_cycles);
    return end(nand, work(nand, ERASE_GO), NW_ERR_ERASE);
}

/* The bad-block marks of a block's first pages, read or set to zero: whether one of them stands.
 * One that can be set is enough: a worn block may refuse the other. */
static int marks(struct nw_chip_req *req, uint8_t writing)
{
    const struct nw_geometry *geometry = &req->chip->geometry;
    struct nw_parallel_nand *nand = begin(req->chip->context);
    uint8_t status = writing ? 0xFFU : STATUS_WRITABLE;
    uint8_t both = 0xFFU;
    int result;

    for (uint8_t i = 0; i < MARK_PAGES; i++) {
        uint8_t mark[2] = {0, 0};

        nand->at = 0;
        move(nand, req->block * geometry->block_pages + i,
             (uint16_t)(geometry->page_bytes + nand->hole_at), mark, nand->hole_bytes, writing);
        both &= mark[0];
        if (writing) {
            status &= work(nand, PROGRAM_GO);
        }
    }
    result = end(nand, status, NW_ERR_PROGRAM);
    return result < 0 || writing ? result : both != 0xFFU;
}

static int parallel_nand_is_bad(struct nw_chip_req *req)
{
    return marks(req, 0);
}

static int parallel_nand_mark_bad(struct nw_chip_req *req)
{
    return marks(req, 1);
}

static const struct nw_chip_ops ops = {
    .read = parallel_nand_read,
    .program = parallel_nand_program,
    .erase = parallel_nand_erase,
    .is_bad = parallel_nand_is_bad,
    .mark_bad = parallel_nand_mark_bad,
};

static void read_id(struct nw_parallel_nand *nand, uint8_t what, uint8_t *id)
{
    command(nand, ID);
    latch(nand, 1, what, 1);
    transfer(nand, id, 4, 0);
}

/* What the parameter page tells: 1; 0: there is none. */
static int read_parameters(struct nw_parallel_nand *nand)
{
    struct nw_geometry *geometry = &nand->chip.geometry;
    uint8_t page[ONFI_BYTES];
    int found = 0;

    page[0] = 0;
    read_id(nand, 0x20U, page);
    if (page[0] == 'O' && page[3] == 'I') { /* the page has a checksum besides */
        command(nand, PARAMETERS);
        latch(nand, 1, 0, 1);
        (void)ready(nand);
        command(nand, READ);
        for (uint8_t copy = 0; copy < ONFI_COPIES && found == 0; copy++) {
            transfer(nand, page, ONFI_BYTES, 0);
            found = nw_onfi_get(page, geometry);
        }
        geometry->spare_bytes = nw_get16(page + ONFI_SPARE);
        nand->row_cycles = page[ONFI_CYCLES] & 15U;
    }
    return found;
}

/* The shape, by the part itself and by the table, which must agree. */
static int describe(struct nw_parallel_nand *nand, const struct nw_parallel_nand_part *part)
{
    struct nw_geometry *geometry = &nand->chip.geometry;
    const uint8_t *id = nand->id;
    int told = read_parameters(nand);
    uint32_t transfer_us;

    if (id[0] == id[1] && (uint8_t)(id[0] + 1U) <= 1U) { /* all 0x00 or all 0xFF */
        return NW_ERR_NOT_FOUND;
    }
    for (uint8_t i = 0; part == NULL && i < sizeof parts / sizeof parts[0]; i++) {
        if (parts[i].device == id[1]) {
            part = &parts[i];
        }
    }
    if (part == NULL && !told) {
        return NW_ERR_UNSUPPORTED;
    }
    nand->column_cycles = 2;
    nand->hole_bytes = 2;
    geometry->flags = NW_CHIP_IN_ORDER;
    if (part != NULL) {
        uint16_t page_bytes = (uint16_t)(1U << part->page_shift);
        uint8_t block_pages = 64;
        uint8_t fourth = id[3] & 0x33U; /* of a large part: pages of 2 KiB, blocks of 128 KiB */

        if (page_bytes == SMALL_BYTES) {
            block_pages = 32;
            fourth = 0x11U;
            nand->column_cycles = 1;
            nand->hole_bytes = 1;
            nand->hole_at = 5;
            geometry->flags = 0;
        }
        if (!told) {
            geometry->blocks = part->blocks;
            geometry->block_pages = block_pages;
            geometry->page_bytes = page_bytes;
            geometry->spare_bytes = page_bytes >> 5;
            geometry->page_programs = part->page_programs;
            geometry->endurance = 100000;
            nand->row_cycles = part->row_cycles;
        }
        if (id[1] != part->device || geometry->blocks != part->blocks ||
            geometry->block_pages != block_pages || geometry->page_bytes != page_bytes ||
            fourth != 0x11U) {
            return NW_ERR_CONFIG;
        }
    }
    geometry->spare_bytes = (uint16_t)(geometry->spare_bytes - nand->hole_bytes);
    geometry->program_bytes = 1;
    geometry->erased = 0xFFU;
    transfer_us = (uint32_t)geometry->page_bytes * nand->bus->byte_ns / 1000U;
    geometry->read_us = 25U + transfer_us;
    geometry->program_us = 200U + transfer_us;
    geometry->erase_us = 2000;
    if ((uint8_t)(nand->row_cycles - 1U) > 3U || geometry->spare_bytes > COLUMNS ||
        geometry->page_bytes > COLUMNS - geometry->spare_bytes) {
        return NW_ERR_CONFIG;
    }
    /* Which also bounds the product of the two to 32 bits. */
    return nw_geometry_check(geometry) < 0 ||
                   (geometry->blocks * geometry->block_pages - 1U) >> 4U * nand->row_cycles >>
                           4U * nand->row_cycles != 0
               ? (int)NW_ERR_CONFIG
               : (int)NW_OK;
}

int nw_parallel_nand_open(struct nw_parallel_nand *nand, struct nw_parallel_bus *bus,
                          const struct nw_parallel_nand_part *part)
{
    int result, bus_result;

    memset(nand, 0, sizeof *nand);
    nand->bus = bus;
    nand->chip.ops = &ops;
    nand->chip.context = nand;
    if (work(begin(nand), RESET) == 0 && nand->error == NW_ERR_BUSY) {
        nand->error = NW_OK; /* a bus at 0 reads as a busy part: so does its id */
    }
    read_id(nand, 0, nand->id);
    if (nand->busy != 0 && (nand->id[0] | nand->id[1]) != 0) {
        nand->error = NW_ERR_BUSY;
    }
    result = describe(nand, part);
    bus_result = end(nand, STATUS_WRITABLE, NW_OK);
    return bus_result < 0 ? bus_result : result;
}

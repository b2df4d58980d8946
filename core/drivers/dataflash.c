/* SPDX-License-Identifier: Apache-2.0 */
/* DataFlash: every page passes one of the part's buffers. */
#include "nandwich/driver_dataflash.h"

#include <stddef.h>
#include <string.h>

#include "spi.h"

/* Commands of buffer 0, and how far that of buffer 1 is away. */
#define LOAD (0x53U | SPI_ADDRESS(3))
#define LOAD_STEP 2U
#define COMPARE (0x60U | SPI_ADDRESS(3))
#define COMPARE_STEP 1U
#define BUFFER_READ (0xD4U | SPI_ADDRESS(3) | SPI_DUMMY(1) | SPI_IN)
#define BUFFER_READ_STEP 2U
#define BUFFER_WRITE (0x84U | SPI_ADDRESS(3))
#define BUFFER_WRITE_STEP 3U
#define REWRITE (0x83U | SPI_ADDRESS(3))
#define REWRITE_STEP 3U
#define PROGRAM (0x88U | SPI_ADDRESS(3))
#define PROGRAM_STEP 1U

#define PAGE_READ (0xD2U | SPI_ADDRESS(3) | SPI_DUMMY(4) | SPI_IN)
#define BLOCK_ERASE (0x50U | SPI_ADDRESS(3))
#define STATUS (0xD7U | SPI_IN)
#define PROTECTION (0x3DU | SPI_ADDRESS(3))
#define PROTECTION_OFF 0x2A7F9AUL
#define WAKE_US 35U

#define STATUS_READY 0x80U
#define STATUS_DIFFERS 0x40U
#define STATUS_POWER_OF_TWO 0x01U

#define MAKER_ATMEL 0x1FU
#define BLOCK_PAGES 8U
#define COMPARE_US 200U

/* Logarithms of page and pages by density; the last one is the AT45DB641E. */
static const uint8_t shapes[8][2] = {{8, 9},  {8, 10}, {8, 11},  {8, 12},
                                     {9, 12}, {9, 13}, {10, 13}, {8, 15}};
#define SHAPE_641E 7U

/* 0.5 s, asked every 100 us. */
static const struct spi_status when_ready = {
    .command = STATUS, .mask = STATUS_READY, .ready = STATUS_READY, .step_us = 100, .steps = 5000};

static struct nw_spi *begin(const struct nw_chip_req *req)
{
    struct nw_dataflash *flash = req->chip->context;

    nw_spi_begin(flash->spi, &when_ready);
    return flash->spi;
}

static uint32_t address(const struct nw_chip_req *req)
{
    const struct nw_dataflash *flash = req->chip->context;

    return req->page << flash->page_shift;
}

/* A command that keeps the part busy: the status it ends with. */
static uint8_t work(struct nw_spi *spi, uint16_t command, uint32_t at)
{
    nw_spi_run(spi, command, at, NULL, 0);
    return nw_spi_ready(spi, &when_ready);
}

static int dataflash_read(struct nw_chip_req *req)
{
    struct nw_spi *spi = begin(req);

    nw_spi_run(spi, PAGE_READ, address(req) + req->offset, req->data, req->length);
    return spi->error;
}

static int end(const struct nw_spi *spi, uint8_t status, int failed)
{
    return spi->error < 0 ? spi->error : (status & STATUS_DIFFERS) != 0 ? failed : (int)NW_OK;
}

/* Has the part compare a buffer with the page at an address: the status that tells. */
static uint8_t compare(struct nw_spi *spi, uint8_t buffer, uint32_t at)
{
    return work(spi, (uint16_t)(COMPARE + buffer * COMPARE_STEP), at);
}

/* Buffer to page, and has the part compare the two. */
static int program(struct nw_chip_req *req, uint8_t buffer, uint16_t command)
{
    struct nw_dataflash *flash = req->chip->context;
    uint32_t at = address(req);

    (void)work(flash->spi, command, at);
    return end(flash->spi, compare(flash->spi, buffer, at), NW_ERR_PROGRAM);
}

static int dataflash_program(struct nw_chip_req *req)
{
    struct nw_spi *spi = begin(req);
    uint8_t last = (uint8_t)(req->chip->geometry.buffers - 1U);

    if (req->length == 0) {
        return spi->error;
    }
    nw_spi_run(spi, (uint16_t)(BUFFER_WRITE + last * BUFFER_WRITE_STEP), 0, req->data,
               req->length);
    return program(req, last, (uint16_t)(PROGRAM + last * PROGRAM_STEP));
}

/* The part compares the pages with a buffer of FF, which is sent once. */
static int dataflash_erase(struct nw_chip_req *req)
{
    const struct nw_dataflash *flash = req->chip->context;
    const struct nw_geometry *geometry = &req->chip->geometry;
    struct nw_spi *spi = begin(req);
    uint8_t last = (uint8_t)(geometry->buffers - 1U);
    uint32_t at = req->block * BLOCK_PAGES << flash->page_shift;
    uint8_t status = 0;

    nw_spi_run(spi, (uint16_t)(BUFFER_WRITE + last * BUFFER_WRITE_STEP), 0, NULL,
               geometry->page_bytes);
    (void)work(spi, BLOCK_ERASE, at);
    for (uint8_t i = 0; i < BLOCK_PAGES; i++) {
        status |= compare(spi, last, at);
        at += (uint32_t)1 << flash->page_shift;
    }
    return end(spi, status, NW_ERR_ERASE);
}

static int dataflash_is_bad(struct nw_chip_req *req)
{
    (void)req;
    return 0;
}

static int dataflash_buffer_load(struct nw_chip_req *req)
{
    struct nw_spi *spi = begin(req);

    (void)work(spi, (uint16_t)(LOAD + req->buffer * LOAD_STEP), address(req));
    return spi->error;
}

static int dataflash_buffer_read(struct nw_chip_req *req)
{
    struct nw_spi *spi = begin(req);

    nw_spi_run(spi, (uint16_t)(BUFFER_READ + req->buffer * BUFFER_READ_STEP), req->offset,
               req->data, req->length);
    return spi->error;
}

static int dataflash_buffer_write(struct nw_chip_req *req)
{
    struct nw_spi *spi = begin(req);

    nw_spi_run(spi, (uint16_t)(BUFFER_WRITE + req->buffer * BUFFER_WRITE_STEP), req->offset,
               req->data, req->length);
    return spi->error;
}

static int dataflash_buffer_program(struct nw_chip_req *req)
{
    (void)begin(req);
    return program(req, req->buffer, (uint16_t)(REWRITE + req->buffer * REWRITE_STEP));
}

static const struct nw_chip_ops ops = {
    .read = dataflash_read,
    .program = dataflash_program,
    .erase = dataflash_erase,
    .is_bad = dataflash_is_bad,
    .buffer_load = dataflash_buffer_load,
    .buffer_read = dataflash_buffer_read,
    .buffer_write = dataflash_buffer_write,
    .buffer_program = dataflash_buffer_program,
};

/* The shape, from status and id. */
static int describe(struct nw_dataflash *flash, uint8_t status)
{
    struct nw_geometry *geometry = &flash->chip.geometry;
    const uint8_t *id = flash->id;
    uint8_t density = (status >> 2) & 15U;
    uint8_t row = (uint8_t)((density >> 1) - 1U); /* 3, 5, .. 15: 0 .. 6 */
    uint8_t power_of_two = 0;
    uint8_t page;

    if (density < 3U || (density & 1U) == 0) {
        return NW_ERR_UNSUPPORTED;
    }
    if ((uint8_t)(id[0] + 1U) > 1U) { /* 0x00 and 0xFF: a revision without an id */
        if (id[0] != MAKER_ATMEL || (id[1] & 0x1FU) != row + 2U) {
            return NW_ERR_CONFIG;
        }
        if (row == SHAPE_641E - 1U && id[3] != 0) {
            row = SHAPE_641E;
        }
        power_of_two = status & STATUS_POWER_OF_TWO; /* without an id this bit means nothing */
    }
    page = shapes[row][0];
    flash->page_shift = page;
    geometry->page_bytes = (uint16_t)(1U << page);
    if (power_of_two == 0) {
        flash->page_shift++;
        geometry->page_bytes += (uint16_t)(geometry->page_bytes >> 5);
    }
    geometry->blocks = ((uint32_t)1 << shapes[row][1]) / BLOCK_PAGES;
    geometry->block_pages = BLOCK_PAGES;
    geometry->program_bytes = geometry->page_bytes;
    geometry->page_programs = 1;
    geometry->erased = 0xFFU;
    geometry->buffers = row == 0 ? 1 : 2;
    geometry->flags = NW_CHIP_READ_ERASED | NW_CHIP_REWRITE;
    geometry->endurance = 100000;
    geometry->read_us = nw_spi_us(flash->spi, geometry->page_bytes);
    geometry->program_us = 4000U + geometry->read_us;
    geometry->erase_us = 30000U + BLOCK_PAGES * COMPARE_US + geometry->read_us;
    return nw_geometry_check(geometry);
}

/* Whether anybody drives the line: a status is never all zeros or all ones. */
static int ask(struct nw_spi *spi)
{
    nw_spi_run(spi, STATUS, 0, &spi->status, 1);
    return spi->error < 0                         ? spi->error
           : (uint8_t)(spi->status + 1U) <= 1U ? (int)NW_ERR_NOT_FOUND
                                                  : (int)NW_OK;
}

int nw_dataflash_open(struct nw_dataflash *flash, struct nw_spi *spi)
{
    uint8_t status;
    int result;

    memset(flash, 0, sizeof *flash);
    flash->spi = spi;
    flash->chip.ops = &ops;
    flash->chip.context = flash;
    spi->error = NW_OK;
    result = ask(spi);
    if (result == NW_ERR_NOT_FOUND) { /* asleep, or nobody */
        nw_spi_code(spi, SPI_WAKE, WAKE_US);
        result = ask(spi);
    }
    if (result < 0) {
        return result;
    }
    status = nw_spi_ready(spi, &when_ready); /* the processor may have begun anew */
    nw_spi_run(spi, SPI_ID, 0, flash->id, sizeof flash->id);
    nw_spi_run(spi, PROTECTION, PROTECTION_OFF, NULL, 0);
    result = describe(flash, status);
    return spi->error < 0 ? spi->error : result;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* NAND on a serial bus: row into cache, cache over the bus, and back. */
#include "nandwich/driver_spi_nand.h"

#include <stddef.h>
#include <string.h>

#include "onfi.h"
#include "spi.h"

#define ENABLE 0x06U                               /* write enable */
#define LOAD (0x02U | SPI_ADDRESS(2))              /* bytes into an emptied cache */
#define LOAD_ON (0x84U | SPI_ADDRESS(2))           /* further bytes */
#define EXECUTE (0x10U | SPI_ADDRESS(3))           /* cache to row */
#define ROW_READ (0x13U | SPI_ADDRESS(3))          /* row to cache */
#define CACHE_READ (0x03U | SPI_ADDRESS(2) | SPI_DUMMY(1) | SPI_IN)
#define ERASE (0xD8U | SPI_ADDRESS(3))
#define FEATURE_GET (0x0FU | SPI_ADDRESS(1) | SPI_IN)
#define FEATURE_SET (0x1FU | SPI_ADDRESS(1))
#define RESET 0xFFU

#define FEATURE_PROTECTION 0xA0U
#define FEATURE_CONFIG 0xB0U
#define FEATURE_STATUS 0xC0U

#define PROTECTION_BITS 0x7CU
#define CONFIG_OTP 0x40U
#define CONFIG_ECC 0x10U
#define CONFIG_BUFFER 0x08U /* W25N: reads end with the page */

#define STATUS_BUSY 0x01U
#define STATUS_FAILED 0x0CU /* erase or program */

#define MARK_BYTES 2U
#define MARK_PAGES 2U
#define OWN_AT 4U     /* the caller's bytes of each 16 of spare */
#define OWN_BYTES 4U
#define UNIT_BYTES 512U
#define PAGE_BYTES 2048U /* of all parts in the table */
#define BLOCK_PAGES 64U
#define ROWS 0x1000000UL /* that three bytes tell apart */
#define MAKER_WINBOND 0xEFU

static const struct nw_spi_nand_part parts[] = {
    {0xEFU, 0xAAU, 1024U, 1U, 4U, NW_SPI_NAND_ECC_W25N},    /* W25N01GV */
    {0xC8U, 0xF1U, 1024U, 1U, 1U, NW_SPI_NAND_ECC_GD5F_Q4}, /* GD5F1GQ4xA */
    {0xC8U, 0xD1U, 1024U, 1U, 1U, NW_SPI_NAND_ECC_GD5F_Q4}, /* GD5F1GQ4UExxG */
    {0xC8U, 0x51U, 1024U, 1U, 1U, NW_SPI_NAND_ECC_GD5F_Q5}, /* GD5F1GQ5UExxG */
    {0xC2U, 0x12U, 1024U, 1U, 1U, NW_SPI_NAND_ECC_MX35},    /* MX35LF1GE4AB */
    {0xC2U, 0x22U, 2048U, 2U, 1U, NW_SPI_NAND_ECC_MX35},    /* MX35LF2GE4AB */
    {0x2CU, 0x14U, 1024U, 1U, 1U, NW_SPI_NAND_ECC_MT29},    /* MT29F1G01ABAFD */
};

/* 20 ms, asked every 20 us. */
static const struct spi_status when_ready = {
    .command = FEATURE_GET,
    .address = FEATURE_STATUS,
    .mask = STATUS_BUSY,
    .step_us = 20,
    .steps = 1000,
};

/* A command that names a row and keeps the part busy: the status it ends with. */
static uint8_t run_row(struct nw_spi *spi, uint16_t command, uint32_t row)
{
    nw_spi_run(spi, command, row, NULL, 0);
    return nw_spi_ready(spi, &when_ready);
}

static struct nw_spi *begin(const struct nw_chip_req *req)
{
    struct nw_spi_nand *nand = req->chip->context;

    nw_spi_begin(nand->spi, &when_ready);
    return nand->spi;
}

/* What a verb answers whose operation ended with that status. */
static int end(const struct nw_spi *spi, uint8_t status, int failed)
{
    return spi->error < 0 ? spi->error : (status & STATUS_FAILED) != 0 ? failed : (int)NW_OK;
}

/* Moves bytes between memory and the cache at a column. */
static void move(struct nw_chip *chip, uint16_t command, uint32_t page, uint16_t column,
                 uint8_t *data, uint16_t length)
{
    struct nw_spi_nand *nand = chip->context;

    if (nand->planes == 2 && ((page / chip->geometry.block_pages) & 1U) != 0) {
        column |= 0x1000U;
    }
    nw_spi_run(nand->spi, command, column, data, length);
}

/* All bytes a request names, piece by piece: the data, then each run of the caller's spare. */
static void move_all(struct nw_chip_req *req, uint16_t command)
{
    uint16_t at = req->spare_offset;
    uint16_t last = (uint16_t)(at + req->spare_length);
    uint8_t *spare = req->spare;

    if (req->length > 0) {
        move(req->chip, command, req->page, req->offset, req->data, req->length);
        command = command == LOAD ? LOAD_ON : command;
    }
    while (at < last) {
        uint16_t own = at % OWN_BYTES;
        uint16_t run = (uint16_t)(OWN_BYTES - own);

        if (run > last - at) {
            run = (uint16_t)(last - at);
        }
        move(req->chip, command, req->page,
             (uint16_t)(req->chip->geometry.page_bytes + OWN_AT + (at - own) * 4U + own), spare,
             run);
        command = command == LOAD ? LOAD_ON : command;
        spare += run;
        at = (uint16_t)(at + run);
    }
}

static int spi_nand_read(struct nw_chip_req *req)
{
    struct nw_spi_nand *nand = req->chip->context;
    struct nw_spi *spi = begin(req);
    uint8_t status = run_row(spi, ROW_READ, req->page);
    int bits = (int)((nand->ecc >> ((status >> 2) & 0x1C)) & 15U);

    move_all(req, CACHE_READ);
    return spi->error < 0 ? spi->error : bits == 15 ? (int)NW_ERR_ECC : bits;
}

static int spi_nand_program(struct nw_chip_req *req)
{
    struct nw_spi *spi = begin(req);

    if (req->spare_length > 0 && req->spare_offset % OWN_BYTES != 0) {
        return NW_ERR_ALIGN; /* its code may be there already */
    }
    nw_spi_run(spi, ENABLE, 0, NULL, 0);
    move_all(req, LOAD);
    return end(spi, run_row(spi, EXECUTE, req->page), NW_ERR_PROGRAM);
}

static int spi_nand_erase(struct nw_chip_req *req)
{
    struct nw_spi *spi = begin(req);

    nw_spi_run(spi, ENABLE, 0, NULL, 0);
    return end(spi, run_row(spi, ERASE, req->block * req->chip->geometry.block_pages),
               NW_ERR_ERASE);
}

static int spi_nand_is_bad(struct nw_chip_req *req)
{
    const struct nw_geometry *geometry = &req->chip->geometry;
    struct nw_spi *spi = begin(req);
    uint32_t page = req->block * geometry->block_pages;
    uint8_t both = 0xFFU;

    for (uint8_t i = 0; i < MARK_PAGES; i++) {
        uint8_t mark = 0xFFU;

        (void)run_row(spi, ROW_READ, page + i);
        move(req->chip, CACHE_READ, page, geometry->page_bytes, &mark, 1);
        both &= mark;
    }
    return spi->error < 0 ? spi->error : both != 0xFFU;
}

static int spi_nand_mark_bad(struct nw_chip_req *req)
{
    const struct nw_geometry *geometry = &req->chip->geometry;
    struct nw_spi *spi = begin(req);
    uint32_t page = req->block * geometry->block_pages;
    uint8_t mark[MARK_BYTES] = {0, 0};
    uint8_t failed = STATUS_FAILED;

    /* One of the two marks is enough: a worn block may refuse the other. */
    for (uint8_t i = 0; i < MARK_PAGES; i++) {
        nw_spi_run(spi, ENABLE, 0, NULL, 0);
        move(req->chip, LOAD, page, geometry->page_bytes, mark, MARK_BYTES);
        failed &= run_row(spi, EXECUTE, page + i);
    }
    return end(spi, failed, NW_ERR_PROGRAM);
}

static const struct nw_chip_ops ops = {
    .read = spi_nand_read,
    .program = spi_nand_program,
    .erase = spi_nand_erase,
    .is_bad = spi_nand_is_bad,
    .mark_bad = spi_nand_mark_bad,
};

/* Changes bits of the configuration register and leaves the others. */
static void configure(struct nw_spi *spi, uint8_t on, uint8_t off)
{
    uint8_t value;

    nw_spi_run(spi, FEATURE_GET, FEATURE_CONFIG, &value, 1);
    value = (uint8_t)((value | on) & (uint8_t)~off);
    nw_spi_run(spi, FEATURE_SET, FEATURE_CONFIG, &value, 1);
}

/* The shape as the parameter page tells it: 1; 0: there is none, in neither place. */
static int read_parameters(struct nw_spi_nand *nand)
{
    uint8_t page[ONFI_BYTES];
    int found = 0;

    configure(nand->spi, CONFIG_OTP, 0);
    for (uint32_t row = 1; found == 0 && row <= 4U; row += 3U) {
        page[0] = 0; /* after an error: no signature */
        (void)run_row(nand->spi, ROW_READ, row);
        nw_spi_run(nand->spi, CACHE_READ, 0, page, ONFI_BYTES);
        found = nw_onfi_get(page, &nand->chip.geometry);
    }
    configure(nand->spi, CONFIG_ECC | (nand->id[1] == MAKER_WINBOND ? CONFIG_BUFFER : 0U),
              CONFIG_OTP);
    return found;
}

/* The shape, from the part itself and from its row of the table, which must agree. */
static int describe(struct nw_spi_nand *nand, const struct nw_spi_nand_part *part)
{
    struct nw_geometry *geometry = &nand->chip.geometry;
    uint32_t transfer_us;

    if (read_parameters(nand) == 0) {
        if (part == NULL) {
            return NW_ERR_UNSUPPORTED;
        }
        geometry->blocks = part->blocks;
        geometry->block_pages = BLOCK_PAGES;
        geometry->page_bytes = PAGE_BYTES;
    }
    if (part != NULL) {
        nand->planes = part->planes;
        nand->ecc = part->ecc;
        if (geometry->blocks != part->blocks || geometry->block_pages != BLOCK_PAGES ||
            geometry->page_bytes != PAGE_BYTES) {
            return NW_ERR_CONFIG;
        }
    }
    geometry->page_programs = part != NULL ? part->programs : 1;
    geometry->program_bytes = geometry->page_programs > 1U ? UNIT_BYTES : geometry->page_bytes;
    geometry->spare_bytes = geometry->page_bytes / UNIT_BYTES * OWN_BYTES;
    geometry->erased = 0xFFU;
    geometry->flags = NW_CHIP_IN_ORDER;
    transfer_us = nw_spi_us(nand->spi, geometry->page_bytes);
    geometry->read_us = 60U + transfer_us;
    geometry->program_us = 250U + transfer_us;
    geometry->erase_us = 2000;
    return nw_geometry_check(geometry) < 0 ||
                   geometry->blocks > ROWS / geometry->block_pages
               ? (int)NW_ERR_CONFIG
               : (int)NW_OK;
}

/* The row of an id, which some parts tell at once and most behind one byte without meaning. */
static int identify(struct nw_spi_nand *nand, const struct nw_spi_nand_part **part)
{
    const uint8_t *id = nand->id;
    const struct nw_spi_nand_part *row = *part;
    uint8_t rows = 1;

    nw_spi_run(nand->spi, SPI_ID, 0, nand->id, sizeof nand->id);
    if (row == NULL) {
        row = parts;
        rows = sizeof parts / sizeof parts[0];
    }
    for (; rows > 0; rows--, row++) {
        if ((id[0] == row->maker && id[1] == row->device) ||
            (id[1] == row->maker && id[2] == row->device)) {
            *part = row;
            return NW_OK;
        }
    }
    if (id[1] == id[2] && (uint8_t)(id[1] + 1U) <= 1U) { /* all 0x00 or all 0xFF */
        return NW_ERR_NOT_FOUND;
    }
    return *part == NULL ? NW_OK : NW_ERR_CONFIG;
}

int nw_spi_nand_open(struct nw_spi_nand *nand, struct nw_spi *spi,
                     const struct nw_spi_nand_part *part)
{
    uint8_t protection = 0;
    int result;

    memset(nand, 0, sizeof *nand);
    nand->spi = spi;
    nand->chip.ops = &ops;
    nand->chip.context = nand;
    nand->planes = 1;
    nand->ecc = NW_SPI_NAND_ECC_UNKNOWN;
    spi->error = NW_OK;
    if (nw_spi_silent(spi, &when_ready)) {
        return NW_ERR_NOT_FOUND;
    }
    (void)nw_spi_ready(spi, &when_ready); /* the processor may have begun anew in an erase */
    (void)run_row(spi, RESET, 0);
    result = identify(nand, &part);
    if (result == NW_OK) {
        result = describe(nand, part);
    }
    nw_spi_run(spi, FEATURE_SET, FEATURE_PROTECTION, &protection, 1);
    nw_spi_run(spi, FEATURE_GET, FEATURE_PROTECTION, &protection, 1);
    if (result == NW_OK && (protection & PROTECTION_BITS) != 0) {
        result = NW_ERR_CONFIG;
    }
    return spi->error < 0 ? spi->error : result;
}

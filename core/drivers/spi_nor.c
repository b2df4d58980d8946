/* SPDX-License-Identifier: Apache-2.0 */
/* Serial NOR: a part that says by itself how large it is and how it erases. */
#include "nandwich/driver_spi_nor.h"

#include <stddef.h>
#include <string.h>

#include "nandwich/bytes.h"
#include "spi.h"

#define ENABLE 0x06U
#define STATUS (0x05U | SPI_IN)
#define PROGRAM 0x02U
#define READ (0x0BU | SPI_DUMMY(1) | SPI_IN)
#define SFDP (0x5AU | SPI_ADDRESS(3) | SPI_DUMMY(1) | SPI_IN)
#define RESET_ENABLE 0x66U
#define RESET 0x99U
#define FOUR_BYTES 0xB7U

#define STATUS_BUSY 0x01U
#define STATUS_LATCH 0x02U
#define STATUS_PROTECTED 0x3CU /* of a maker that nobody knows */

#define RESET_US 200U

#define SIGNATURE 0x50444653UL /* "SFDP" */
#define HEADER_BYTES 16U
#define TABLE_BYTES 64U
#define ERASES_4K 0x03U     /* of the first byte: where blocks of 4 KiB are erased */
#define ERASES_4K_ALL 0x01U /* everywhere; else the part has a sector map */
#define LOG_4K 12U
#define TABLE_OLD_BYTES 36U /* of JESD216 without a letter: no times, no page */

/* Addresses of four bytes: by B7h alone, or with write enable before it; and in an old table. */
#define WIDE_PLAIN 0x01U
#define WIDE_ENABLED 0x02U
#define WIDE_BITS 0x06U
#define WIDE_TOO 0x02U

/* 3 s, asked every 100 us. */
static const struct spi_status when_ready = {
    .command = STATUS, .mask = STATUS_BUSY, .step_us = 100, .steps = 30000};

static const struct nw_spi_nor_maker makers[] = {
    {0xEFU, 0, 0, 0, 0, 0x3CU},                 /* Winbond */
    {0xC2U, 0x2BU, 0x20U, 0x40U, 0, 0x3CU},     /* Macronix */
    {0x9DU, 0x81U, 0x04U, 0x08U, 0x82U, 0x3CU}, /* ISSI */
    {0x20U, 0x70U, 0x10U, 0x20U, 0x50U, 0x5CU}, /* Micron: BP3 is bit 6, and bit 5 says where */
};

static void code(struct nw_spi *spi, uint16_t command)
{
    nw_spi_run(spi, command, 0, NULL, 0);
}

static void read_bytes(struct nw_spi_nor *nor, uint32_t address, uint8_t *data, uint16_t length)
{
    nw_spi_run(nor->spi, (uint16_t)(READ | SPI_ADDRESS(nor->address_bytes)), address, data, length);
}

static int spi_nor_read(struct nw_chip_req *req)
{
    struct nw_spi_nor *nor = req->chip->context;

    nw_spi_begin(nor->spi, &when_ready);
    read_bytes(nor, req->page * req->chip->geometry.page_bytes + req->offset, req->data,
               req->length);
    return nor->spi->error;
}

/* Whether bytes differ from those given, or, with data NULL, from erased ones. */
static uint8_t differ(struct nw_spi_nor *nor, uint32_t address, const uint8_t *data,
                      uint32_t length)
{
    uint8_t byte;
    uint8_t bits = 0;

    for (uint32_t i = 0; i < length && nor->spi->error >= 0; i++) {
        read_bytes(nor, address + i, &byte, 1);
        byte = (uint8_t)(byte ^ (data != NULL ? data[i] : 0xFFU));
        bits |= byte;
    }
    return bits;
}

/* A program or an erase (data NULL) at an address, from write enable to its end: `failed` where the
 * part says it did not work. */
static int change(struct nw_spi_nor *nor, uint8_t command, uint32_t address, uint8_t *data,
                  uint32_t length, int failed)
{
    const struct nw_spi_nor_maker *maker = nor->maker;
    struct nw_spi *spi = nor->spi;
    uint8_t left;
    uint8_t told = 0;

    nw_spi_begin(spi, &when_ready);
    code(spi, ENABLE);
    nw_spi_run(spi, (uint16_t)(command | SPI_ADDRESS(nor->address_bytes)), address, data,
               data != NULL ? (uint16_t)length : 0);
    left = nw_spi_ready(spi, &when_ready) & STATUS_LATCH;
    if (maker != NULL && maker->failed_code != 0) {
        nw_spi_run(spi, maker->failed_code | SPI_IN, 0, &told, 1);
        if (told == 0xFFU) {
            told = 0;
        }
        told = (uint8_t)(told & (data != NULL ? maker->program_failed : maker->erase_failed));
        if (told != 0 && maker->clear_code != 0) {
            code(spi, maker->clear_code);
        }
    }
    if (left != 0) { /* the command was not taken in, or the part (QEMU's) leaves the latch */
        told |= differ(nor, address, data, length);
    }
    return spi->error < 0 ? spi->error : told != 0 ? failed : (int)NW_OK;
}

static int spi_nor_program(struct nw_chip_req *req)
{
    if (req->length == 0) {
        return NW_OK;
    }
    return change(req->chip->context, PROGRAM,
                  req->page * req->chip->geometry.page_bytes + req->offset, req->data,
                  req->length, NW_ERR_PROGRAM);
}

static int spi_nor_erase(struct nw_chip_req *req)
{
    const struct nw_geometry *geometry = &req->chip->geometry;
    struct nw_spi_nor *nor = req->chip->context;
    uint32_t bytes = (uint32_t)geometry->block_pages * geometry->page_bytes;

    return change(nor, nor->erase_code, req->block * bytes, NULL, bytes, NW_ERR_ERASE);
}

static int spi_nor_is_bad(struct nw_chip_req *req)
{
    (void)req;
    return 0;
}

static const struct nw_chip_ops ops = {
    .read = spi_nor_read,
    .program = spi_nor_program,
    .erase = spi_nor_erase,
    .is_bad = spi_nor_is_bad,
};

static const uint16_t erase_units_ms[4] = {1, 16, 128, 1000};

/* Sets the shape from the basic table; the logarithm of its bytes, or an error. */
static int shape(struct nw_spi_nor *nor, const uint8_t *table, uint8_t length)
{
    struct nw_geometry *geometry = &nor->chip.geometry;
    uint32_t bits = nw_get32(table + 4);
    uint32_t times = 0;
    uint8_t size = 0;
    uint8_t page = 8;
    uint8_t block = 0;

    if ((bits & 0x80000000UL) != 0) {
        size = (uint8_t)((bits & 0x3FU) - 3U);
    } else {
        for (bits >>= 3; bits != 0; bits >>= 1) {
            size++;
        }
    }
    for (uint8_t i = 0; i < 4U; i++) {
        uint8_t log = table[28U + 2U * i];

        if (log != 0 && (block == 0 || log < block)) {
            block = log;
            nor->erase_code = table[29U + 2U * i];
            times = nw_get32(table + 36) >> (4U + 7U * i);
        }
    }
    geometry->program_us = 400;
    geometry->erase_us = 45000;
    if (length > TABLE_OLD_BYTES) {
        page = table[40] >> 4;
        geometry->program_us = ((table[41] & 0x1FU) + 1U) << ((table[41] & 0x20U) != 0 ? 6 : 3);
        geometry->erase_us = erase_units_ms[(times >> 5) & 3U] * (uint32_t)1000;
        geometry->erase_us *= (times & 0x1FU) + 1U;
    }
    if ((table[0] & ERASES_4K) != ERASES_4K_ALL && block == LOG_4K) {
        return NW_ERR_UNSUPPORTED;
    }
    if (size > 31U || page > 15U || block > size || block == 0 ||
        (uint8_t)(block - page) > 15U) {
        return NW_ERR_UNSUPPORTED;
    }
    geometry->blocks = (uint32_t)1 << (size - block);
    geometry->block_pages = (uint16_t)((uint32_t)1 << (block - page));
    geometry->page_bytes = (uint16_t)(1U << page);
    return size;
}

/* Addresses of four bytes for a part above 16 MiB. */
static int widen(struct nw_spi_nor *nor, uint8_t ways)
{
    if ((ways & (WIDE_PLAIN | WIDE_ENABLED)) == 0) {
        return NW_ERR_UNSUPPORTED;
    }
    if ((ways & WIDE_PLAIN) == 0) {
        code(nor->spi, ENABLE);
    }
    code(nor->spi, FOUR_BYTES);
    nor->address_bytes = 4;
    return NW_OK;
}

static int describe(struct nw_spi_nor *nor)
{
    struct nw_geometry *geometry = &nor->chip.geometry;
    uint8_t table[TABLE_BYTES] = {0};
    uint8_t length = TABLE_BYTES;
    uint8_t told = nor->id[2];
    uint32_t at;
    int size;

    nw_spi_run(nor->spi, SFDP, 0, table, HEADER_BYTES);
    if (nw_get32(table) != SIGNATURE) {
        return NW_ERR_UNSUPPORTED;
    }
    if (table[11] < TABLE_BYTES / 4U) {
        length = (uint8_t)(table[11] * 4U);
    }
    at = nw_get32(table + 12) & 0xFFFFFFUL;
    memset(table, 0, sizeof table);
    nw_spi_run(nor->spi, SFDP, at, table, length);
    size = shape(nor, table, length);
    if (size < 0) {
        return size;
    }
    if (nor->maker != NULL && size != (told < 0x20U ? told : told - 6)) {
        return NW_ERR_CONFIG;
    }
    geometry->program_bytes = 1;
    geometry->page_programs = NW_PROGRAMS_UNLIMITED;
    geometry->erased = 0xFFU;
    geometry->flags = NW_CHIP_READ_ERASED;
    geometry->endurance = 100000;
    geometry->read_us = nw_spi_us(nor->spi, geometry->page_bytes);
    geometry->program_us += geometry->read_us;
    if (length < TABLE_BYTES && (table[2] & WIDE_BITS) == WIDE_TOO) {
        table[63] = WIDE_ENABLED; /* an old table tells that it can, and not how */
    }
    return size > 24 ? widen(nor, table[63]) : (int)NW_OK;
}

/* The row of a maker; one that nobody knows is taken by SFDP alone. */
static int identify(struct nw_spi_nor *nor, const struct nw_spi_nor_maker *maker)
{
    uint8_t first;

    nw_spi_run(nor->spi, SPI_ID, 0, nor->id, sizeof nor->id);
    first = nor->id[0];
    if (first == nor->id[1] && (uint8_t)(first + 1U) <= 1U) { /* all 0x00 or all 0xFF */
        return NW_ERR_NOT_FOUND;
    }
    for (uint8_t i = 0; maker == NULL && i < sizeof makers / sizeof makers[0]; i++) {
        if (makers[i].maker == first) {
            maker = &makers[i];
        }
    }
    nor->maker = maker;
    return maker != NULL && maker->maker != first ? (int)NW_ERR_CONFIG : (int)NW_OK;
}

int nw_spi_nor_open(struct nw_spi_nor *nor, struct nw_spi *spi,
                    const struct nw_spi_nor_maker *maker)
{
    uint8_t silent;
    int result;

    memset(nor, 0, sizeof *nor);
    nor->spi = spi;
    nor->chip.ops = &ops;
    nor->chip.context = nor;
    nor->address_bytes = 3;
    spi->error = NW_OK;
    silent = nw_spi_silent(spi, &when_ready); /* asleep, and the line floats high, or nobody */
    if (!silent) {
        (void)nw_spi_ready(spi, &when_ready); /* the processor may have begun anew in an erase */
    }
    nw_spi_code(spi, SPI_WAKE, RESET_US);
    if (silent && nw_spi_silent(spi, &when_ready)) {
        return NW_ERR_NOT_FOUND;
    }
    code(spi, RESET_ENABLE);
    nw_spi_code(spi, RESET, RESET_US);
    result = identify(nor, maker);
    maker = nor->maker;
    if (result == NW_OK && (nw_spi_ready(spi, &when_ready) &
                            (maker != NULL ? maker->protection : STATUS_PROTECTED)) != 0) {
        result = NW_ERR_CONFIG;
    }
    if (result == NW_OK) {
        result = describe(nor);
    }
    return spi->error < 0 ? spi->error : result;
}

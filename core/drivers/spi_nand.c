/* SPDX-License-Identifier: Apache-2.0 */
/* NAND on a serial bus: row into cache, cache over the bus, and back. */
#include "nandwich/driver_spi_nand.h"

#include <stddef.h>
#include <string.h>

#include "onfi.h"
#include "spi_nand.h"

#define ENABLE 0x06U                               /* write enable */
#define LOAD (0x02U | SPI_ADDRESS(2))              /* bytes into an emptied cache */
#define LOAD_ON (0x84U | SPI_ADDRESS(2))           /* further bytes */
#define EXECUTE (0x10U | SPI_ADDRESS(3))           /* cache to row */
#define CACHE_READ (0x03U | SPI_ADDRESS(2) | SPI_DUMMY(1) | SPI_IN | SPI_FOUR)
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

/* An operation clears its own one of the two where it begins, and leaves the other as it is. */
#define STATUS_BUSY 0x01U
#define STATUS_ERASE_FAILED 0x04U
#define STATUS_PROGRAM_FAILED 0x08U

#define MARK_BYTES 2U
#define MARK_PAGES 2U
#define OWN_BYTES 4U /* the caller's bytes for each 512 of data */
#define UNIT_BYTES 512U
#define BLOCK_PAGES 64U
#define COPIES 4U /* of the parameter page, which come three times or more, in row 1 or 4 */

#define WINBOND (NW_SPI_NAND_BIT_3_STOPS | NW_SPI_NAND_FOUR_PROGRAMS)
#define MICRON (NW_SPI_NAND_BIT_0_GOES_ON | NW_SPI_NAND_SPARE_HIGH)
#define PLANES NW_SPI_NAND_TWO_PLANES
#define QUAD NW_SPI_NAND_BIT_0_QUAD

static const struct nw_spi_nand_part parts[] = {
    {0xEFU, 0xAAU, 0x21U, WINBOND, 1024U, 2048U, NW_SPI_NAND_ECC_W25N},      /* W25N01GV */
    {0xC8U, 0xF1U, 0, QUAD, 1024U, 2048U, NW_SPI_NAND_ECC_GD5F_Q4},          /* GD5F1GQ4xA */
    {0xC8U, 0xD1U, 0, QUAD, 1024U, 2048U, NW_SPI_NAND_ECC_GD5F_Q4},          /* GD5F1GQ4UExxG */
    {0xC8U, 0x51U, 0, QUAD, 1024U, 2048U, NW_SPI_NAND_ECC_GD5F_Q5},          /* GD5F1GQ5UExxG */
    {0xC2U, 0x12U, 0, QUAD, 1024U, 2048U, NW_SPI_NAND_ECC_MX35},             /* MX35LF1GE4AB */
    {0xC2U, 0x22U, 0, QUAD | PLANES, 2048U, 2048U, NW_SPI_NAND_ECC_MX35},    /* MX35LF2GE4AB */
    {0x2CU, 0x14U, 0, MICRON, 1024U, 2048U, NW_SPI_NAND_ECC_MT29},           /* MT29F1G01ABAFD */
    {0x2CU, 0x24U, 0, MICRON | PLANES, 2048U, 2048U, NW_SPI_NAND_ECC_MT29},  /* MT29F2G01ABAGD */
    {0x2CU, 0x34U, 0, MICRON, 2048U, 4096U, NW_SPI_NAND_ECC_MT29},           /* MT29F4G01ABAFD */
};

/* 20 ms, asked every 20 us. */
static const struct spi_status when_ready = {
    .command = FEATURE_GET,
    .address = FEATURE_STATUS,
    .mask = STATUS_BUSY,
    .step_us = 20,
    .steps = 1000,
};

uint8_t nw_spi_nand_row(struct nw_spi *spi, uint16_t command, uint32_t row)
{
    nw_spi_run(spi, command, row, NULL, 0);
    return nw_spi_ready(spi, &when_ready);
}

struct nw_spi *nw_spi_nand_begin(const struct nw_chip_req *req)
{
    struct nw_spi_nand *nand = req->chip->context;

    nand->held = 0;
    nw_spi_begin(nand->spi, &when_ready);
    return nand->spi;
}

/* What a verb answers whose operation ended with these bits of failure. */
static int end(const struct nw_spi *spi, uint8_t bits, int failed)
{
    return spi->error < 0 ? spi->error : bits != 0 ? failed : (int)NW_OK;
}

/* Moves bytes between memory and the cache at a column. */
static void move(struct nw_chip *chip, uint16_t command, uint32_t page, uint16_t column,
                 uint8_t *data, uint16_t length)
{
    struct nw_spi_nand *nand = chip->context;

    if ((nand->part->flags & NW_SPI_NAND_TWO_PLANES) != 0 &&
        ((page / BLOCK_PAGES) & 1U) != 0) {
        column = (uint16_t)(column + 2U * chip->geometry.page_bytes); /* the bit above a page */
    }
    nw_spi_run(nand->spi, command, column, data, length);
}

/* All bytes a request names, piece by piece: the data, then each run of the caller's spare. */
static void move_all(struct nw_chip_req *req, uint16_t command)
{
    const struct nw_spi_nand *nand = req->chip->context;
    uint16_t page_bytes = req->chip->geometry.page_bytes;
    uint32_t base = page_bytes + OWN_BYTES;
    uint8_t shift = 2;
    uint16_t at = req->spare_offset;
    uint16_t last = (uint16_t)(at + req->spare_length);
    uint16_t column = req->offset;
    uint16_t run = req->length;
    uint8_t *data = req->data;
    uint8_t *spare = req->spare;

    if ((nand->part->flags & NW_SPI_NAND_SPARE_HIGH) != 0) {
        base = page_bytes + page_bytes / 64U;
        shift = 1;
    }
    for (;;) {
        uint16_t own = at % OWN_BYTES;

        if (run > 0) {
            move(req->chip, command, req->page, column, data, run);
            command = command == LOAD ? LOAD_ON : command;
        }
        if (at == last) {
            return;
        }
        column = (uint16_t)(base + own + ((uint32_t)(at - own) << shift));
        run = (uint16_t)(OWN_BYTES - own);
        if (run > last - at) {
            run = (uint16_t)(last - at);
        }
        data = spare;
        spare += run;
        at = (uint16_t)(at + run);
    }
}

int nw_spi_nand_deliver(struct nw_chip_req *req)
{
    const struct nw_spi_nand *nand = req->chip->context;
    const struct nw_spi *spi = nand->spi;
    int bits = (int)((nand->part->ecc >> ((spi->status >> 2) & 0x1C)) & 15U);

    move_all(req, CACHE_READ);
    return spi->error < 0 ? spi->error : bits == 15 ? (int)NW_ERR_ECC : bits;
}

static int spi_nand_read(struct nw_chip_req *req)
{
    (void)nw_spi_nand_row(nw_spi_nand_begin(req), SPI_NAND_ROW_READ, req->page);
    return nw_spi_nand_deliver(req);
}

static int spi_nand_program(struct nw_chip_req *req)
{
    struct nw_spi *spi = nw_spi_nand_begin(req);

    if (req->spare_length > 0 && req->spare_offset % OWN_BYTES != 0) {
        return NW_ERR_ALIGN; /* its code may be there already */
    }
    nw_spi_run(spi, ENABLE, 0, NULL, 0);
    move_all(req, LOAD);
    (void)nw_spi_nand_row(spi, EXECUTE, req->page);
    return end(spi, spi->status & STATUS_PROGRAM_FAILED, NW_ERR_PROGRAM);
}

static int spi_nand_erase(struct nw_chip_req *req)
{
    struct nw_spi *spi = nw_spi_nand_begin(req);

    nw_spi_run(spi, ENABLE, 0, NULL, 0);
    (void)nw_spi_nand_row(spi, ERASE, req->block * BLOCK_PAGES);
    return end(spi, spi->status & STATUS_ERASE_FAILED, NW_ERR_ERASE);
}

/* The bad-block marks of a block's first pages, read or set to zero: whether one of them stands.
 * One that can be set is enough: a worn block may refuse the other. */
static int marks(struct nw_chip_req *req, uint8_t writing)
{
    const struct nw_geometry *geometry = &req->chip->geometry;
    struct nw_spi *spi = nw_spi_nand_begin(req);
    uint32_t page = req->block * BLOCK_PAGES;
    uint8_t both = 0xFFU; /* marks, or bits of failure */

    for (uint8_t i = 0; i < MARK_PAGES; i++) {
        uint8_t mark[MARK_BYTES] = {0, 0};

        if (writing) {
            nw_spi_run(spi, ENABLE, 0, NULL, 0);
            move(req->chip, LOAD, page, geometry->page_bytes, mark, MARK_BYTES);
            mark[0] = nw_spi_nand_row(spi, EXECUTE, page + i) & STATUS_PROGRAM_FAILED;
        } else {
            (void)nw_spi_nand_row(spi, SPI_NAND_ROW_READ, page + i);
            move(req->chip, CACHE_READ, page, geometry->page_bytes, mark, 1);
        }
        both &= mark[0];
    }
    return writing ? end(spi, both, NW_ERR_PROGRAM) : end(spi, (uint8_t)~both, 1);
}

static int spi_nand_is_bad(struct nw_chip_req *req)
{
    return marks(req, 0);
}

static int spi_nand_mark_bad(struct nw_chip_req *req)
{
    return marks(req, 1);
}

static const struct nw_chip_ops ops = {
    .read = spi_nand_read,
    .program = spi_nand_program,
    .erase = spi_nand_erase,
    .is_bad = spi_nand_is_bad,
    .mark_bad = spi_nand_mark_bad,
};

/* Changes bits of a register and leaves the others: whether it holds them now. */
static int configure(struct nw_spi *spi, uint8_t feature, uint8_t on, uint8_t off)
{
    uint8_t value = 0;
    uint8_t held = 0;

    nw_spi_run(spi, FEATURE_GET, feature, &value, 1);
    value = (uint8_t)((value | on) & (uint8_t)~off);
    nw_spi_run(spi, FEATURE_SET, feature, &value, 1);
    nw_spi_run(spi, FEATURE_GET, feature, &held, 1);
    return ((held ^ on) & (on | off)) == 0;
}

/* The register of configuration, with the OTP area (CONFIG_OTP) or without it (0). */
static int choose_area(struct nw_spi_nand *nand, uint8_t otp)
{
    uint8_t flags = nand->part->flags;
    uint8_t on = otp != 0 ? CONFIG_OTP : CONFIG_ECC;
    uint8_t off = otp ^ CONFIG_OTP;

    if (nand->spi->ops->read4 == NULL) {
        flags &= (uint8_t)~NW_SPI_NAND_BIT_0_QUAD;
    }
    on = (uint8_t)(on | (flags & (NW_SPI_NAND_BIT_3_STOPS | NW_SPI_NAND_BIT_0_QUAD)));
    off = (uint8_t)(off | flags / NW_SPI_NAND_BIT_0_GOES_ON); /* the highest flag */
    return configure(nand->spi, FEATURE_CONFIG, on, off);
}

/* The parameter page, which must tell the shape of the row. A part may have none, in neither
 * place. */
static int check_parameters(struct nw_spi_nand *nand)
{
    struct nw_geometry *geometry = &nand->chip.geometry;
    const struct nw_spi_nand_part *part = nand->part;
    uint8_t page[ONFI_BYTES];

    (void)choose_area(nand, CONFIG_OTP);
    for (uint8_t i = 0; i < 2U * COPIES; i++) {
        if (i % COPIES == 0) {
            (void)nw_spi_nand_row(nand->spi, SPI_NAND_ROW_READ, i == 0 ? 1U : 4U);
        }
        page[0] = 0; /* after an error: no signature */
        nw_spi_run(nand->spi, CACHE_READ, i % COPIES * ONFI_BYTES, page, ONFI_BYTES);
        if (nw_onfi_get(page, geometry)) {
            return page[ONFI_DIES] != 1U ? (int)NW_ERR_UNSUPPORTED /* dice are not selected */
                   : geometry->blocks != part->blocks || geometry->block_pages != BLOCK_PAGES ||
                           geometry->page_bytes != part->page_bytes
                       ? (int)NW_ERR_CONFIG
                       : (int)NW_OK;
        }
    }
    return NW_OK;
}

/* The shape, by the row, and by the part itself where it tells, which must agree. */
static int describe(struct nw_spi_nand *nand)
{
    struct nw_geometry *geometry = &nand->chip.geometry;
    const struct nw_spi_nand_part *part = nand->part;
    int result = check_parameters(nand);
    uint32_t transfer_us;

    geometry->blocks = part->blocks;
    geometry->block_pages = BLOCK_PAGES;
    geometry->page_bytes = part->page_bytes;
    geometry->program_bytes = part->page_bytes;
    geometry->page_programs = 1;
    if ((part->flags & NW_SPI_NAND_FOUR_PROGRAMS) != 0) {
        geometry->program_bytes = UNIT_BYTES;
        geometry->page_programs = 4;
    }
    geometry->spare_bytes = geometry->page_bytes / (UNIT_BYTES / OWN_BYTES);
    geometry->erased = 0xFFU;
    geometry->flags = NW_CHIP_IN_ORDER;
    transfer_us = nw_spi_us(nand->spi, geometry->page_bytes);
    geometry->read_us = 60U + transfer_us;
    geometry->program_us = 250U + transfer_us;
    geometry->erase_us = 2000;
    return result < 0 ? result : nw_geometry_check(geometry);
}

/* The row of an id, which some parts tell at once and most behind one byte without meaning. */
static int identify(struct nw_spi_nand *nand, const struct nw_spi_nand_part *part)
{
    const uint8_t *id = nand->id;
    const struct nw_spi_nand_part *row = part;
    uint8_t rows = 1;

    nw_spi_run(nand->spi, SPI_ID, 0, nand->id, sizeof nand->id);
    if (row == NULL) {
        row = parts;
        rows = sizeof parts / sizeof parts[0];
    }
    for (; rows > 0; rows--, row++) {
        for (uint8_t at = 0; at < 2U; at++) {
            if (id[at] == row->maker && id[at + 1U] == row->device &&
                (row->third == 0 || id[at + 2U] == row->third)) {
                nand->part = row;
                return NW_OK;
            }
        }
    }
    if (id[1] == id[2] && (uint8_t)(id[1] + 1U) <= 1U) { /* all 0x00 or all 0xFF */
        return NW_ERR_NOT_FOUND;
    }
    return part == NULL ? (int)NW_ERR_UNSUPPORTED : (int)NW_ERR_CONFIG;
}

int nw_spi_nand_open(struct nw_spi_nand *nand, struct nw_spi *spi,
                     const struct nw_spi_nand_part *part)
{
    int result;

    memset(nand, 0, sizeof *nand);
    nand->spi = spi;
    nand->chip.ops = &ops;
    nand->chip.context = nand;
    spi->error = NW_OK;
    if (nw_spi_silent(spi, &when_ready)) {
        return NW_ERR_NOT_FOUND;
    }
    (void)nw_spi_ready(spi, &when_ready); /* the processor may have begun anew in an erase */
    (void)nw_spi_nand_row(spi, RESET, 0);
    result = identify(nand, part);
    if (result == NW_OK) {
        result = describe(nand);
        if (!choose_area(nand, 0) ||
            !configure(spi, FEATURE_PROTECTION, 0, PROTECTION_BITS)) {
            result = NW_ERR_CONFIG;
        }
    }
    return spi->error < 0 ? spi->error : result;
}

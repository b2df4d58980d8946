/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spi_nand_model.h - NAND on a serial bus, at command level, written from the datasheets:
 * registers, the cache, the OTP area with its parameter page, planes, the bad-block marks.
 * Strict: a load needs the write-enable latch, spare bytes that the part does not protect must not
 * be programmed. A failure bit stays until the next operation of its own kind, or a reset: P_FAIL
 * behind an erase, E_FAIL behind a program. By its maker (first byte of the id) a part has more of
 * its own: Micron's protects other spare bytes, and wakes with reads that go on behind the page
 * (bit 0 of B0); Winbond's wakes so too, until bit 3 is set.
 */
#ifndef NANDWICH_TESTS_SPI_NAND_MODEL_H
#define NANDWICH_TESTS_SPI_NAND_MODEL_H

#include "bus.h"
#include "onfi_page.h"

#define SPI_NAND_CACHE_BYTES (4096U + 256U)

struct spi_nand_kind {
    uint8_t id[3];       /* as sent */
    uint8_t id_dummy;    /* bytes without meaning before them */
    uint8_t planes;
    uint8_t codes;       /* 1: one over data and spare of 512 bytes; 2: one for each of them */
    uint8_t onfi_row;    /* of the parameter page; 0: there is none */
    uint32_t blocks;
    uint16_t page_bytes; /* 0: 2,048 */
};

struct spi_nand_model {
    struct spi_model spi;
    struct spi_nand_kind kind;
    struct onfi_shape told; /* what the parameter page says; blocks 0: the truth */
    uint8_t protection; /* registers A0, B0, C0 */
    uint8_t config;
    uint8_t status;
    bool pins_protect;  /* the WP pin is low: A0 cannot be changed */
    uint8_t config_fixed; /* bits of B0 that cannot be changed */
    uint8_t fail_next;  /* 1: the next program or erase fails, 2: the one behind it, .. */
    uint8_t fail_then;  /* and so many behind that one fails the next; 0: none */
    bool failing;       /* the one under way does */
    uint8_t spoilt;     /* copies of the parameter page whose checksum is wrong, from the first */
    bool mark_second;   /* bad-block marks stand in page 1 only */
    uint8_t plane;      /* of what was loaded last */
    uint8_t ecc;        /* status code of reads of main rows */
    uint16_t read_us, program_us, erase_us; /* W25N01GV's; a test may set others */
    uint32_t row;       /* of the operation under way */
    uint16_t *touched;  /* codes programmed, a bit each, of each row */
    uint8_t cache[SPI_NAND_CACHE_BYTES];
    uint8_t loaded[SPI_NAND_CACHE_BYTES];
};

/* `factory_bad` blocks are marked when new. Aborts the test when the twin cannot be opened. */
void spi_nand_model_open(struct spi_nand_model *model, const struct spi_nand_kind *kind,
                         uint32_t seed);
void spi_nand_model_close(struct spi_nand_model *model);
void spi_nand_model_power_up(struct spi_nand_model *model);

#endif

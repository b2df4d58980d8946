/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spi_nor_model.h - serial NOR at command level, written from JESD216 and the datasheets: SFDP, the
 * write-enable latch, protection bits, addresses of three and four bytes, a maker's failure bits,
 * which stay, where there is a command that clears them, until it comes.
 */
#ifndef NANDWICH_TESTS_SPI_NOR_MODEL_H
#define NANDWICH_TESTS_SPI_NOR_MODEL_H

#include "bus.h"

struct spi_nor_kind {
    uint8_t id[3];
    uint8_t size;        /* logarithm of the bytes */
    uint8_t dwords;      /* of the basic table; 0: no SFDP */
    uint8_t ways;        /* to addresses of four bytes: bits 31 to 24 of dword 16 */
    uint8_t failed_code; /* register of failures; 0: none */
    uint8_t program_failed;
    uint8_t erase_failed;
    uint8_t clear_code;
};

struct spi_nor_model {
    struct spi_model spi;
    struct spi_nor_kind kind;
    uint8_t status;
    uint8_t failures;
    uint8_t told_size; /* by SFDP; 0: the truth */
    bool hybrid;       /* 4 KiB are erased in some sectors only, says SFDP, and has a sector map */
    bool no_register;  /* that of failures reads FF */
    bool wide;         /* addresses have four bytes */
    bool armed;        /* reset enable went before */
    bool fail_next;
    bool asleep;       /* deep power-down: it hears ABh alone, and the line floats */
    uint16_t program_us, erase_us; /* W25Q128JV's; a test may set others */
    uint32_t address;
    uint32_t length;   /* of the program under way */
    uint8_t sfdp[256];
    uint8_t page[256];
};

void spi_nor_model_open(struct spi_nor_model *model, const struct spi_nor_kind *kind,
                        uint32_t seed);
void spi_nor_model_close(struct spi_nor_model *model);
void spi_nor_model_power_up(struct spi_nor_model *model);

#endif

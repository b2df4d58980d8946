/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spi.h - one command on a serial bus, and waiting for a part: what the serial drivers share.
 *
 * The first error of a verb stays in spi->error, and nothing is sent behind it: so a verb is a
 * plain row of commands, and looks at the error where it ends.
 */
#ifndef NANDWICH_DRIVERS_SPI_H
#define NANDWICH_DRIVERS_SPI_H

#include "nandwich/driver_spi.h"

/* A command: its code and its shape, which is bytes of address behind the code, bytes without
 * meaning behind those, and whether data comes in. Without SPI_IN data goes out. SPI_FOUR: 6Bh does
 * the same with data on four lines, and takes its place where the bus has them. */
#define SPI_ADDRESS(bytes) ((uint16_t)((bytes) << 8))
#define SPI_DUMMY(bytes) ((uint16_t)((bytes) << 11))
#define SPI_IN 0x8000U
#define SPI_FOUR 0x4000U

#define SPI_ID (0x9FU | SPI_IN) /* of every part */
#define SPI_WAKE 0xABU          /* from deep power-down, of NOR and DataFlash */

/* The command from select to deselect, which comes after an error too. The address is sent from
 * its highest byte on; data is only read through unless SPI_IN. length 0: no data. */
void nw_spi_run(struct nw_spi *spi, uint16_t command, uint32_t address, uint8_t *data,
                uint16_t length);

/* A command of its code alone, which takes the part so many us, in which it tells no status. */
void nw_spi_code(struct nw_spi *spi, uint8_t code, uint16_t us);

/* How a part tells that it works: the command, and the status byte behind it. */
struct spi_status {
    uint16_t command;
    uint16_t steps;  /* questions until NW_ERR_BUSY */
    uint8_t address;
    uint8_t mask;    /* bits that tell */
    uint8_t ready;   /* their value when the part is ready */
    uint8_t step_us; /* wait between two questions */
};

/* Asks until the part is ready: its status byte. spi->busy says if it may still work. */
uint8_t nw_spi_ready(struct nw_spi *spi, const struct spi_status *status);

/* Opening asks first whether anybody is there: no, where the status reads as busy, and both it and
 * the id as a line that nobody drives, or that is shorted: all bits alike. A part never works with
 * all bits of its status alike. Leaves an operation under way alone. */
uint8_t nw_spi_silent(struct nw_spi *spi, const struct spi_status *status);

/* A verb begins: no error yet, and an operation that outlasted its limit has to end first. */
void nw_spi_begin(struct nw_spi *spi, const struct spi_status *status);

/* Time of a transfer, us. */
uint32_t nw_spi_us(const struct nw_spi *spi, uint32_t bytes);

#endif

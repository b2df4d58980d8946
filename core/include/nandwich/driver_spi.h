/* SPDX-License-Identifier: Apache-2.0 */
/*
 * driver_spi.h - what a driver of a serial part needs of a board: four small functions.
 *
 * One struct nw_spi stands for one part on one chip-select line. Several parts may share the wires:
 * give each a struct of its own with a select of its own. The drivers above it are
 * driver_spi_nand.h, driver_spi_nor.h, driver_dataflash.h and driver_sd.h.
 *
 * THE FUNCTIONS answer NW_OK or a negative error, which the verb under way passes to its caller
 * as it is: NW_ERR_IO for a DMA that did not end, NW_ERR_POWER where the board knows that its
 * supply fails. They may sleep or let other tasks run; no driver is entered twice for one part.
 *
 * WIRES. Mode 0 (or 3), most significant bit first, eight bits. Commands are sent one bit wide.
 *
 * WHOLE COMMANDS. For NAND, NOR and DataFlash a command is select(1), one or two transfers, one way
 * each, and select(0). Their memory stays as it is, and what comes in is not looked at, until
 * select(0) has returned. So a board whose bus takes whole commands only (spidev of Linux,
 * embedded-hal's SpiDevice) may note the transfers and do them all at select(0). Cards are
 * otherwise.
 *
 * BUSY. A part that is busy is asked for nothing but its status. A driver asks every step_us of
 * its table, waiting in between by `wait`, and gives up at a limit: NW_ERR_BUSY. The next call
 * first waits for the same part again, under the same limit, so that a part that recovers is used
 * again and one that is stuck is never given a command.
 *
 * NOBODY. A line that nobody drives reads all FF, a shorted one all 00, which some parts mean by
 * busy. So opening answers NW_ERR_NOT_FOUND, and not NW_ERR_BUSY, where status and id both read as
 * such a line. A part that falls silent later is busy, since it may come back.
 *
 * RAM: sizeof(struct nw_spi), 12 to 24 bytes. Nothing static.
 */
#ifndef NANDWICH_DRIVER_SPI_H
#define NANDWICH_DRIVER_SPI_H

#include <stdint.h>

#include "nandwich/error.h"

#ifdef __cplusplus
extern "C" {
#endif

struct nw_spi;

struct nw_spi_ops {
    /* Chip select: on 1 selects the part (line low), 0 ends the command (line high). */
    int (*select)(struct nw_spi *spi, uint8_t on);
    /* Moves length >= 1 bytes both ways at once. out NULL: send 0xFF. in NULL: forget what
     * comes. */
    int (*transfer)(struct nw_spi *spi, const uint8_t *out, uint8_t *in, uint16_t length);
    /* Returns after us microseconds or later, never before. 1 .. 60,000. */
    int (*wait)(struct nw_spi *spi, uint16_t us);
    /* Sets the clock to khz or slower. NULL: the clock stays as it is. Only nw_sd_open() calls it:
     * a card wants at most 400 kHz until it has been woken. */
    int (*clock)(struct nw_spi *spi, uint16_t khz);
};

struct nw_spi {
    const struct nw_spi_ops *ops;
    void *context;  /* the board's own */
    uint16_t khz;   /* clock while working, for the times that a geometry tells; 0: not counted */
    uint8_t busy;   /* the driver's own: the part may still work */
    uint8_t status; /* the part's last status byte, for a look after an error */
    int error;      /* the driver's own: first error of the verb under way */
};

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * driver_spi.h - what a driver of a serial part needs of a board: a few small functions.
 *
 * One struct nw_spi stands for one part on one chip-select line. Several parts may share the wires:
 * give each a struct of its own with a select of its own. The drivers above it are
 * driver_spi_nand.h, driver_spi_nor.h, driver_dataflash.h and driver_sd.h.
 *
 * THE FUNCTIONS answer NW_OK or a negative error, which the verb under way passes to its caller as
 * it is: NW_ERR_IO for a DMA that did not end, NW_ERR_POWER where the board knows that its supply
 * fails. They may sleep or let other tasks run; no driver is entered twice for one part.
 *
 * WIRES. Mode 0 (or 3), most significant bit first, eight bits. Commands are sent one bit wide.
 * Where the board has read4(), the data that NAND is read for comes in four bits wide.
 *
 * SHARED WIRES. A verb takes the bus with select(1) and gives it back with select(0), once or
 * several times; nothing is moved outside. So a lock is taken where `on` is not 0, unless it is
 * held already, and given back at 0. The last call of a verb is select(0), also behind errors, and
 * also where select(1) itself has failed: a lock that was not got must not be given back there. A
 * card needs clocks while it is not selected: select(2) takes or keeps the bus with the line high.
 * Only the driver of cards calls it, which keeps the bus for a whole verb, its waits included.
 *
 * WHOLE COMMANDS. For NAND, NOR and DataFlash a command is select(1), one or two transfers, one way
 * each, and select(0). Their memory stays as it is, and what comes in is not looked at, until
 * select(0) has returned. So a board whose bus takes whole commands only (spidev of Linux,
 * embedded-hal's SpiDevice) may note the transfers and do them all at select(0). Not so for cards.
 *
 * BUSY. A part that is busy is asked for nothing but its status, every step_us of the driver's
 * table with a `wait` between, up to a limit: NW_ERR_BUSY. LIMITS count waits, not time: so many of
 * so many microseconds each. A `wait` that sleeps until the next tick makes them longer (20 ms as
 * 1,000 waits of 20 us: 1 to 2 s with ticks of 1 ms). The next call first waits for the same part
 * again, under the same limit, so that a part that recovers is used again and one that is stuck is
 * never given a command.
 *
 * NOBODY. A line that nobody drives reads all FF, a shorted one all 00, which some parts mean by
 * busy. So opening answers NW_ERR_NOT_FOUND, and not NW_ERR_BUSY, where status and id both read as
 * such a line. A part that falls silent later is busy, since it may come back.
 *
 * RAM: sizeof(struct nw_spi), 12 to 32 bytes, 20 on a Cortex-M. Nothing static. The stack that the
 * drivers tell is without that of these functions.
 */
#ifndef NANDWICH_DRIVER_SPI_H
#define NANDWICH_DRIVER_SPI_H

#include <stdint.h>

#include "nandwich/error.h"

#ifdef __cplusplus
extern "C" {
#endif

struct nw_spi;

/* What select() is asked for. */
#define NW_SPI_END 0U    /* line high; the bus is given back */
#define NW_SPI_SELECT 1U /* the bus is taken, line low */
#define NW_SPI_RAISE 2U  /* the bus is taken, or kept, line high: of the driver of cards alone */

struct nw_spi_ops {
    /* Chip select, and the bus where it is shared: NW_SPI_... */
    int (*select)(struct nw_spi *spi, uint8_t on);
    /* Moves length >= 1 bytes both ways at once. out NULL: send 0xFF. in NULL: forget what
     * comes. */
    int (*transfer)(struct nw_spi *spi, const uint8_t *out, uint8_t *in, uint16_t length);
    /* Returns after us microseconds or later, never before. 1 .. 60,000. */
    int (*wait)(struct nw_spi *spi, uint16_t us);
    /* Sets the clock to khz >= 1 or slower. NULL: the clock stays as it is. Only nw_sd_open() calls
     * it: a card wants at most 400 kHz until it has been woken. */
    int (*clock)(struct nw_spi *spi, uint32_t khz);
    /* Moves length >= 1 bytes in, four bits at once, behind a command sent as ever. NULL: the board
     * has one line each way. */
    int (*read4)(struct nw_spi *spi, uint8_t *in, uint16_t length);
};

struct nw_spi {
    const struct nw_spi_ops *ops;
    void *context;  /* the board's own */
    uint32_t khz;   /* clock while working, for the times that a geometry tells; 0: not counted */
    uint8_t busy;   /* the driver's own: the part may still work */
    uint8_t status; /* the part's last status byte, for a look after an error */
    int error;      /* the driver's own: first error of the verb under way */
};

#ifdef __cplusplus
}
#endif

#endif

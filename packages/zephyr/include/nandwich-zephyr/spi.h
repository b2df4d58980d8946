/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spi.h - a device on a SPI bus of Zephyr, for the drivers of serial NAND, NOR and DataFlash.
 *
 *     static const struct spi_dt_spec wire =
 *         SPI_DT_SPEC_GET(DT_NODELABEL(nand), SPI_OP_MODE_MASTER | SPI_WORD_SET(8), 0);
 *     static struct nw_zephyr_spi bus;
 *     nw_zephyr_spi_open(&bus, &wire);
 *     nw_spi_nand_open(&nand, &bus.spi, NULL);
 *
 * Each command is one spi_transceive_dt(), which selects the part, keeps other users of the bus
 * away, and may work by DMA. While data comes in zeros are sent, not FF: cards do not take that,
 * Zephyr has drivers of its own for them. Waiting sleeps, so other threads run: call from a thread.
 */
#ifndef NANDWICH_ZEPHYR_SPI_H
#define NANDWICH_ZEPHYR_SPI_H

#include <zephyr/drivers/spi.h>
#include <zephyr/kernel.h>

#include <nandwich/driver_spi.h>

#ifdef __cplusplus
extern "C" {
#endif

struct nw_zephyr_spi {
    struct nw_spi spi; /* for the driver; its context is this struct */
    const struct spi_dt_spec *wire;
    struct spi_buf out[2]; /* the command under way */
    struct spi_buf in[2];
    uint8_t used;
    int error; /* Zephyr's last error; 0: none yet. The driver answers NW_ERR_IO for it */
};

/* Nothing is sent. `wire` stays the caller's. NW_ERR_NOT_FOUND: the bus or its select pin is not
 * ready. */
int nw_zephyr_spi_open(struct nw_zephyr_spi *bus, const struct spi_dt_spec *wire);

#ifdef __cplusplus
}
#endif

#endif

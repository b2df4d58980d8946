/* SPDX-License-Identifier: Apache-2.0 */
/* spi_nand.h - what the two files of the driver share: its verbs, and reading ahead. */
#ifndef NANDWICH_DRIVERS_SPI_NAND_H
#define NANDWICH_DRIVERS_SPI_NAND_H

#include "nandwich/driver_spi_nand.h"
#include "spi.h"

#define SPI_NAND_ROW_READ (0x13U | SPI_ADDRESS(3)) /* row to cache */

/* A verb begins: what was asked before has ended, and the cache counts as empty. */
struct nw_spi *nw_spi_nand_begin(const struct nw_chip_req *req);

/* A command that names a row and keeps the part busy: the status it ends with. */
uint8_t nw_spi_nand_row(struct nw_spi *spi, uint16_t command, uint32_t row);

/* The bytes of a request out of the cache, and what the last status says of them. */
int nw_spi_nand_deliver(struct nw_chip_req *req);

#endif

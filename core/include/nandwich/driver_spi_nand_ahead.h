/* SPDX-License-Identifier: Apache-2.0 */
/*
 * driver_spi_nand_ahead.h - reads of a serial NAND that keep a page in the part's cache, or have
 * the part fetch one while the processor works.
 *
 * For pages that nothing writes, as those of a mapped file (chip_map.h). Every other verb of the
 * driver empties the cache. Layers read by chip.h alone: a mount wants the array as it is now.
 *
 * COST. No RAM beyond struct nw_spi_nand, nothing static. Stack as the driver's.
 */
#ifndef NANDWICH_DRIVER_SPI_NAND_AHEAD_H
#define NANDWICH_DRIVER_SPI_NAND_AHEAD_H

#include "nandwich/driver_spi_nand.h"

#ifdef __cplusplus
extern "C" {
#endif

/* As nw_chip_read(), but a page that the cache holds is not read from the array again, and one on
 * its way is waited for: the part's read time is saved, or what the processor worked of it. */
int nw_spi_nand_read_on(struct nw_chip_req *req);

/* Has the part read req->page into its cache, and does not wait for it (for a page asked for before
 * it does): NW_OK, NW_ERR_RANGE, NW_ERR_BUSY, or what the bus answers. A wrong guess costs the next
 * verb what is left of the part's read time. */
int nw_spi_nand_ahead(struct nw_chip_req *req);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Rows that stay in the part's cache, or are on their way there while the processor works. */
#include "nandwich/driver_spi_nand_ahead.h"

#include <stddef.h>

#include "spi_nand.h"

static int check(const struct nw_chip_req *req)
{
    const struct nw_geometry *geometry = &req->chip->geometry;

    return req->page / geometry->block_pages < geometry->blocks &&
                   (uint32_t)req->offset + req->length <= geometry->page_bytes &&
                   (uint32_t)req->spare_offset + req->spare_length <= geometry->spare_bytes
               ? NW_OK
               : NW_ERR_RANGE;
}

int nw_spi_nand_read_on(struct nw_chip_req *req)
{
    struct nw_spi_nand *nand = req->chip->context;
    uint32_t held = nand->held;
    int result = check(req);

    if (result < 0) {
        return result;
    }
    struct nw_spi *spi = nw_spi_nand_begin(req); /* waits for a row on its way: its status */
    if (held != req->page + 1U) {
        (void)nw_spi_nand_row(spi, SPI_NAND_ROW_READ, req->page);
    }
    result = nw_spi_nand_deliver(req);
    nand->held = result < 0 ? 0 : req->page + 1U;
    return result;
}

int nw_spi_nand_ahead(struct nw_chip_req *req)
{
    struct nw_spi_nand *nand = req->chip->context;
    int result = check(req);

    if (result < 0) {
        return result;
    }
    struct nw_spi *spi = nw_spi_nand_begin(req);
    nw_spi_run(spi, SPI_NAND_ROW_READ, req->page, NULL, 0);
    spi->busy = 1; /* the next verb waits */
    nand->held = spi->error < 0 ? 0 : req->page + 1U;
    return spi->error;
}

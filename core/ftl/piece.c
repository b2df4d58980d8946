/* SPDX-License-Identifier: Apache-2.0 */
/* Data of tagged pages in pieces: see piece.h. */
#include "piece.h"

#include "nandwich/crc.h"

int nw_piece_read(const struct nw_tagged *tagged, uint32_t page, uint32_t offset, uint16_t length,
                  uint8_t *bytes)
{
    struct nw_chip_req req = {.chip = tagged->req.chip,
                              .page = page,
                              .offset = (uint16_t)offset,
                              .length = length,
                              .data = bytes};
    int result = nw_chip_read(&req);

    if (result == NW_ERR_ECC) { /* it may fail but once */
        result = nw_chip_read(&req);
    }
    if (result < 0) {
        return result == NW_ERR_ECC ? 0 : result;
    }
    return 1;
}

int nw_piece_fits(const struct nw_tagged *tagged, uint32_t page, uint8_t *bytes)
{
    uint16_t page_bytes = tagged->req.chip->geometry.page_bytes;
    uint16_t piece = page_bytes < NW_PIECE_BYTES ? page_bytes : (uint16_t)NW_PIECE_BYTES;
    uint32_t crc = NW_CRC32_START;
    int result = 1;

    for (uint32_t at = 0; result > 0 && at < page_bytes; at += piece) {
        uint16_t length = page_bytes - at < piece ? (uint16_t)(page_bytes - at) : piece;

        result = nw_piece_read(tagged, page, at, length, bytes);
        crc = nw_crc32(crc, bytes, length);
    }
    if (result > 0) {
        result = crc == tagged->tag.crc ? nw_piece_read(tagged, page, 0, piece, bytes) : 0;
    }
    return result;
}

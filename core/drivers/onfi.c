/* SPDX-License-Identifier: Apache-2.0 */
/* The parameter page of a NAND part, which has to be proven by its checksum before it is
 * believed. */
#include "onfi.h"

#include "nandwich/bytes.h"

#define SIGNATURE 0x49464E4FUL /* "ONFI" */
#define CRC_AT 254U
#define FEATURES 6U
#define SIXTEEN_WIRES 0x01U

/* CRC-16 of ONFI 1.0, section 5.4.1.24: 0x8005, highest bit first, from 0x4F4E. */
static uint16_t checksum(const uint8_t *page)
{
    uint16_t crc = 0x4F4EU;

    for (uint16_t i = 0; i < CRC_AT * 8U; i++) {
        uint8_t bit = (page[i >> 3] & (0x80U >> (i & 7U))) != 0;
        uint8_t top = (uint8_t)(crc >> 15);

        crc = (uint16_t)(crc << 1);
        if (top != bit) {
            crc ^= 0x8005U;
        }
    }
    return crc;
}

int nw_onfi_get(const uint8_t *page, struct nw_geometry *geometry)
{
    uint32_t page_bytes = nw_get32(page + 80);
    uint32_t block_pages = nw_get32(page + 92);
    uint32_t endurance = page[105];

    if (nw_get32(page) != SIGNATURE || checksum(page) != nw_get16(page + CRC_AT) ||
        (page[FEATURES] & SIXTEEN_WIRES) != 0 || (page_bytes | block_pages) > 0x8000U ||
        page[99] != 0) { /* blocks are below 2^24 */
        return 0;
    }
    for (uint8_t i = page[106]; i > 0 && endurance < 100000000UL; i--) {
        endurance *= 10U;
    }
    geometry->page_bytes = (uint16_t)page_bytes;
    geometry->block_pages = (uint16_t)block_pages;
    geometry->blocks = nw_get32(page + 96) * page[ONFI_DIES];
    geometry->page_programs = page[110];
    geometry->endurance = endurance;
    return 1;
}

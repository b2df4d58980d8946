/* SPDX-License-Identifier: Apache-2.0 */
/* onfi_page.h - the parameter page of a model, written from ONFI 1.0, table 5.4.1. */
#ifndef NANDWICH_TESTS_ONFI_PAGE_H
#define NANDWICH_TESTS_ONFI_PAGE_H

#include <stdint.h>

struct onfi_shape {
    uint32_t blocks;
    uint32_t block_pages;
    uint32_t page_bytes;
    uint16_t spare_bytes;
    uint8_t cycles; /* of an address: columns in the high nibble, rows in the low */
    uint8_t page_programs;
    uint8_t dice;    /* 0: 1 */
    uint8_t wires16; /* 1: data has 16 wires */
};

/* 256 bytes, with a right checksum. */
void onfi_page_make(uint8_t *page, const struct onfi_shape *shape);

#endif

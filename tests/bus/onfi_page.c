/* SPDX-License-Identifier: Apache-2.0 */
/* A parameter page as a part carries it. */
#include "onfi_page.h"

#include <string.h>

static void put(uint8_t *page, uint32_t at, uint32_t value, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i++) {
        page[at + i] = (uint8_t)(value >> (8U * i));
    }
}

void onfi_page_make(uint8_t *page, const struct onfi_shape *shape)
{
    uint32_t crc = 0x4F4EU;

    memset(page, 0, 256);
    memcpy(page, "ONFI", 4);
    page[6] = shape->wires16;
    put(page, 80, shape->page_bytes, 4);
    put(page, 84, shape->spare_bytes, 2);
    put(page, 92, shape->block_pages, 4);
    put(page, 96, shape->blocks, 4);
    page[100] = shape->dice != 0 ? shape->dice : 1;
    page[101] = shape->cycles;
    put(page, 105, 1 | 5U << 8, 2); /* 1 x 10^5 erases */
    page[110] = shape->page_programs;
    for (uint32_t i = 0; i < 254U; i++) {
        crc ^= (uint32_t)page[i] << 8;
        for (uint32_t bit = 0; bit < 8U; bit++) {
            crc = (crc & 0x8000U) != 0 ? crc << 1 ^ 0x8005U : crc << 1;
        }
        crc &= 0xFFFFU;
    }
    put(page, 254, crc, 2);
}

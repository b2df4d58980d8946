/* SPDX-License-Identifier: Apache-2.0 */
#include "nandwich/crc.h"

#include "nandwich/options.h"

#ifdef NW_CRC_WIDE
#include "crc_wide.h"
#endif

uint32_t nw_crc32(uint32_t crc, const void *data, size_t length)
{
    static const uint32_t table[16] = {
        0x00000000UL, 0x1DB71064UL, 0x3B6E20C8UL, 0x26D930ACUL, 0x76DC4190UL, 0x6B6B51F4UL,
        0x4DB26158UL, 0x5005713CUL, 0xEDB88320UL, 0xF00F9344UL, 0xD6D6A3E8UL, 0xCB61B38CUL,
        0x9B64C2B0UL, 0x86D3D2D4UL, 0xA00AE278UL, 0xBDBDF21CUL,
    };
    const uint8_t *byte = data;

#ifdef NW_CRC_WIDE
    for (; length >= 8U; length -= 8U, byte += 8) {
        crc = crc32_of_8(crc, byte);
    }
#endif
    for (; length > 0; length--, byte++) {
        crc ^= *byte;
        crc = (crc >> 4) ^ table[crc & 15U];
        crc = (crc >> 4) ^ table[crc & 15U];
    }
    return crc;
}

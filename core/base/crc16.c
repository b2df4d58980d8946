/* SPDX-License-Identifier: Apache-2.0 */
#include "nandwich/crc.h"

#include "nandwich/options.h"

#ifdef NW_CRC_WIDE
#include "crc_wide.h"
#endif

uint16_t nw_crc16(uint16_t crc, const void *data, size_t length)
{
    static const uint16_t table[16] = {
        0x0000U, 0x1081U, 0x2102U, 0x3183U, 0x4204U, 0x5285U, 0x6306U, 0x7387U,
        0x8408U, 0x9489U, 0xA50AU, 0xB58BU, 0xC60CU, 0xD68DU, 0xE70EU, 0xF78FU,
    };
    const uint8_t *byte = data;

#ifdef NW_CRC_WIDE
    for (; length >= 8U; length -= 8U, byte += 8) {
        crc = crc16_of_8(crc, byte);
    }
#endif
    for (; length > 0; length--, byte++) {
        crc = (uint16_t)((crc >> 4) ^ table[(crc ^ *byte) & 15U]);
        crc = (uint16_t)((crc >> 4) ^ table[(crc ^ (*byte >> 4)) & 15U]);
    }
    return crc;
}

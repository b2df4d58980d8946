/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crc_wide.h - eight bytes of a checksum in one step, for hosts: 12 KB of tables that no
 * small device would carry. crc.c takes it where NW_CRC_WIDE is defined; the results are the same.
 *
 * Row k of a table tells what a byte comes to with k bytes behind it ("slicing by 8": Kounavis and
 * Berry, ISCC 2005). A checksum is linear, so an entry is the sum of those of the byte's bits, and
 * only these are written down.
 */
#ifndef NW_CRC_WIDE_H
#define NW_CRC_WIDE_H

#include "nandwich/bytes.h"

#define WIDE_BIT(byte, bit, entry) (((byte) >> (bit) & 1U) != 0 ? (entry) : 0U)
#define WIDE_1(b, c0, c1, c2, c3, c4, c5, c6, c7)                                                  \
    WIDE_BIT(b, 0, c0) ^ WIDE_BIT(b, 1, c1) ^ WIDE_BIT(b, 2, c2) ^ WIDE_BIT(b, 3, c3) ^            \
        WIDE_BIT(b, 4, c4) ^ WIDE_BIT(b, 5, c5) ^ WIDE_BIT(b, 6, c6) ^ WIDE_BIT(b, 7, c7)
#define WIDE_4(b, ...)                                                                             \
    WIDE_1(b, __VA_ARGS__), WIDE_1((b) + 1U, __VA_ARGS__), WIDE_1((b) + 2U, __VA_ARGS__),          \
        WIDE_1((b) + 3U, __VA_ARGS__)
#define WIDE_16(b, ...)                                                                            \
    WIDE_4(b, __VA_ARGS__), WIDE_4((b) + 4U, __VA_ARGS__), WIDE_4((b) + 8U, __VA_ARGS__),          \
        WIDE_4((b) + 12U, __VA_ARGS__)
#define WIDE_64(b, ...)                                                                            \
    WIDE_16(b, __VA_ARGS__), WIDE_16((b) + 16U, __VA_ARGS__), WIDE_16((b) + 32U, __VA_ARGS__),     \
        WIDE_16((b) + 48U, __VA_ARGS__)
#define WIDE_256(...)                                                                              \
    WIDE_64(0U, __VA_ARGS__), WIDE_64(64U, __VA_ARGS__), WIDE_64(128U, __VA_ARGS__),               \
        WIDE_64(192U, __VA_ARGS__)

static const uint32_t wide_32[8][256] = {
    {WIDE_256(0x77073096U, 0xEE0E612CU, 0x076DC419U, 0x0EDB8832U,
              0x1DB71064U, 0x3B6E20C8U, 0x76DC4190U, 0xEDB88320U)},
    {WIDE_256(0x191B3141U, 0x32366282U, 0x646CC504U, 0xC8D98A08U,
              0x4AC21251U, 0x958424A2U, 0xF0794F05U, 0x3B83984BU)},
    {WIDE_256(0x01C26A37U, 0x0384D46EU, 0x0709A8DCU, 0x0E1351B8U,
              0x1C26A370U, 0x384D46E0U, 0x709A8DC0U, 0xE1351B80U)},
    {WIDE_256(0xB8BC6765U, 0xAA09C88BU, 0x8F629757U, 0xC5B428EFU,
              0x5019579FU, 0xA032AF3EU, 0x9B14583DU, 0xED59B63BU)},
    {WIDE_256(0x3D6029B0U, 0x7AC05360U, 0xF580A6C0U, 0x30704BC1U,
              0x60E09782U, 0xC1C12F04U, 0x58F35849U, 0xB1E6B092U)},
    {WIDE_256(0xCB5CD3A5U, 0x4DC8A10BU, 0x9B914216U, 0xEC53826DU,
              0x03D6029BU, 0x07AC0536U, 0x0F580A6CU, 0x1EB014D8U)},
    {WIDE_256(0xA6770BB4U, 0x979F1129U, 0xF44F2413U, 0x33EF4E67U,
              0x67DE9CCEU, 0xCFBD399CU, 0x440B7579U, 0x8816EAF2U)},
    {WIDE_256(0xCCAA009EU, 0x4225077DU, 0x844A0EFAU, 0xD3E51BB5U,
              0x7CBB312BU, 0xF9766256U, 0x299DC2EDU, 0x533B85DAU)},
};

static const uint16_t wide_16[8][256] = {
    {WIDE_256(0x1189U, 0x2312U, 0x4624U, 0x8C48U, 0x1081U, 0x2102U, 0x4204U, 0x8408U)},
    {WIDE_256(0x19D8U, 0x33B0U, 0x6760U, 0xCEC0U, 0x9591U, 0x2333U, 0x4666U, 0x8CCCU)},
    {WIDE_256(0x5ADCU, 0xB5B8U, 0x6361U, 0xC6C2U, 0x8595U, 0x033BU, 0x0676U, 0x0CECU)},
    {WIDE_256(0x1CBBU, 0x3976U, 0x72ECU, 0xE5D8U, 0xC3A1U, 0x8F53U, 0x16B7U, 0x2D6EU)},
    {WIDE_256(0x0B44U, 0x1688U, 0x2D10U, 0x5A20U, 0xB440U, 0x6091U, 0xC122U, 0x8A55U)},
    {WIDE_256(0x042BU, 0x0856U, 0x10ACU, 0x2158U, 0x42B0U, 0x8560U, 0x02D1U, 0x05A2U)},
    {WIDE_256(0x9FD5U, 0x37BBU, 0x6F76U, 0xDEECU, 0xB5C9U, 0x6383U, 0xC706U, 0x861DU)},
    {WIDE_256(0x81BFU, 0x0B6FU, 0x16DEU, 0x2DBCU, 0x5B78U, 0xB6F0U, 0x65F1U, 0xCBE2U)},
};

static inline uint32_t crc32_of_8(uint32_t crc, const uint8_t *byte)
{
    uint32_t low = crc ^ nw_get32(byte), high = nw_get32(byte + 4);

    return wide_32[7][low & 255U] ^ wide_32[6][low >> 8 & 255U] ^ wide_32[5][low >> 16 & 255U] ^
           wide_32[4][low >> 24] ^ wide_32[3][high & 255U] ^ wide_32[2][high >> 8 & 255U] ^
           wide_32[1][high >> 16 & 255U] ^ wide_32[0][high >> 24];
}

static inline uint16_t crc16_of_8(uint16_t crc, const uint8_t *byte)
{
    uint32_t low = crc ^ nw_get32(byte), high = nw_get32(byte + 4);

    return (uint16_t)(wide_16[7][low & 255U] ^ wide_16[6][low >> 8 & 255U] ^
                      wide_16[5][low >> 16 & 255U] ^ wide_16[4][low >> 24] ^
                      wide_16[3][high & 255U] ^ wide_16[2][high >> 8 & 255U] ^
                      wide_16[1][high >> 16 & 255U] ^ wide_16[0][high >> 24]);
}

#endif

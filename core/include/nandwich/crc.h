/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crc.h - checksums of what lies on flash. Both work a nibble at a time from a 16-entry table:
 * 64 and 32 bytes of table, no RAM, about 10 instructions a byte. With NW_CRC_WIDE (our builds for
 * hosts) eight bytes at a time from 12 KB of tables.
 *
 * Start with NW_CRC32_START (or NW_CRC16_START), feed pieces in order, finish by comparing: the
 * values are stored as they stand.
 */
#ifndef NANDWICH_CRC_H
#define NANDWICH_CRC_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NW_CRC32_START 0xFFFFFFFFUL
#define NW_CRC16_START 0xFFFFU

/* CRC-32 of IEEE 802.3 (reflected 0x04C11DB7) without the final inversion. */
uint32_t nw_crc32(uint32_t crc, const void *data, size_t length);

/* CRC-16/MCRF4XX (reflected CCITT 0x1021). */
uint16_t nw_crc16(uint16_t crc, const void *data, size_t length);

#ifdef __cplusplus
}
#endif

#endif

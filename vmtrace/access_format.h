/* SPDX-License-Identifier: Apache-2.0 */
/* access_format.h - the bytes of a trace that writer and reader agree on; docs/access-traces.md. */
#ifndef NW_VMTRACE_ACCESS_FORMAT_H
#define NW_VMTRACE_ACCESS_FORMAT_H

#include <stdint.h>
#include <string.h>

#include "nandwich/crc.h"

#define HEADER_BYTES 32U /* magic, version, base, range, checksum */
#define CHUNK_HEAD_BYTES 16U /* kind, count, bytes, checksum */
#define MOST_VARINT_BYTES 10U
/* An access is at most a tag and a length, an object three numbers and its name. */
#define MOST_RECORD_BYTES (3U * MOST_VARINT_BYTES + 1U + NW_ACCESS_NAME_BYTES)
#define MOST_OBJECTS 1000000U

enum { CHUNK_ACCESSES = 1, CHUNK_OBJECTS = 2, CHUNK_END = 3 };

/* The size in an access's tag: 1 << class bytes, or a length that follows. */
enum { LENGTH_FOLLOWS = 7 };

static const char access_magic[8] = {'N', 'W', 'A', 'C', 'C', 'E', 'S', 'S'};

static inline void put_le(uint8_t *to, uint64_t value, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i++) {
        to[i] = (uint8_t)(value >> (8U * i));
    }
}

static inline uint64_t get_le(const uint8_t *from, uint32_t bytes)
{
    uint64_t value = 0;

    for (uint32_t i = 0; i < bytes; i++) {
        value |= (uint64_t)from[i] << (8U * i);
    }
    return value;
}

/* Of the first three words of a chunk's head and its content. */
static inline uint32_t chunk_crc(const uint8_t *head, const uint8_t *content, uint32_t bytes)
{
    uint32_t crc = nw_crc32(NW_CRC32_START, head, CHUNK_HEAD_BYTES - 4U);

    return nw_crc32(crc, content, bytes);
}

#endif

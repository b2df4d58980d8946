/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bytes.h - the only way on-flash bytes are made and read: little-endian, one byte at a time, so
 * that every processor writes the same image and no struct layout leaks to flash.
 */
#ifndef NANDWICH_BYTES_H
#define NANDWICH_BYTES_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An ARM that reaches words at any address: one instruction where bytes would take seven. */
#if defined(__ARM_FEATURE_UNALIGNED) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__

static inline void nw_put16(uint8_t *to, uint16_t value)
{
    __builtin_memcpy(to, &value, 2U);
}

static inline void nw_put32(uint8_t *to, uint32_t value)
{
    __builtin_memcpy(to, &value, 4U);
}

static inline uint16_t nw_get16(const uint8_t *from)
{
    uint16_t value;

    __builtin_memcpy(&value, from, 2U);
    return value;
}

static inline uint32_t nw_get32(const uint8_t *from)
{
    uint32_t value;

    __builtin_memcpy(&value, from, 4U);
    return value;
}

#else

static inline void nw_put16(uint8_t *to, uint16_t value)
{
    to[0] = (uint8_t)(value & 0xFFU);
    to[1] = (uint8_t)(value >> 8);
}

static inline void nw_put32(uint8_t *to, uint32_t value)
{
    nw_put16(to, (uint16_t)(value & 0xFFFFUL));
    nw_put16(to + 2, (uint16_t)(value >> 16));
}

static inline uint16_t nw_get16(const uint8_t *from)
{
    return (uint16_t)(from[0] | ((uint16_t)from[1] << 8));
}

static inline uint32_t nw_get32(const uint8_t *from)
{
    return nw_get16(from) | ((uint32_t)nw_get16(from + 2) << 16);
}

#endif

#ifdef __cplusplus
}
#endif

#endif

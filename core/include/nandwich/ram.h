/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ram.h - how a layer lives in memory its caller gives, without malloc.
 *
 * A layer has one static function that takes its arrays from a struct nw_ram in a fixed order.
 * Run on an arena without memory it measures (that is nw_..._ram_bytes()); run on the caller's
 * memory it places. So the size told and the size used cannot disagree.
 */
#ifndef NANDWICH_RAM_H
#define NANDWICH_RAM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct nw_ram {
    uint8_t *start; /* the caller's memory, aligned for any type; NULL: only measure */
    size_t bytes;   /* how much there is; ignored when measuring */
    size_t used;    /* bytes taken so far, padding included; grows past bytes when too small */
};

/* The next `count` items of `item_bytes`, aligned to `align` (a power of two); NULL when measuring
 * or when the arena is too small. A size that does not fit size_t sets used to SIZE_MAX, which then
 * stays. After the last take, used > bytes means NW_ERR_RAM. */
void *nw_ram_take(struct nw_ram *ram, size_t count, size_t item_bytes, size_t align);

/* Take an array of `count` `type`s. */
#define NW_RAM_TAKE(ram, type, count) \
    ((type *)nw_ram_take((ram), (count), sizeof(type), NW_ALIGN_OF(type)))

/* C and C++ have a word each. */
#ifdef __cplusplus
#define NW_ALIGN_OF(type) alignof(type)
#else
#define NW_ALIGN_OF(type) _Alignof(type)
#endif

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "nandwich/ram.h"

void *nw_ram_take(struct nw_ram *ram, size_t count, size_t item_bytes, size_t align)
{
    size_t padding = (0U - ram->used) & (align - 1U);
    size_t at = ram->used + padding;

    if (at < ram->used || (item_bytes != 0 && count > (SIZE_MAX - at) / item_bytes)) {
        ram->used = SIZE_MAX;
        return NULL;
    }
    ram->used = at + count * item_bytes;
    if (ram->start == NULL || ram->used > ram->bytes) {
        return NULL;
    }
    return ram->start + at;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* parts_internal.h - how the table of parts is put together from its files. */
#ifndef NANDWICH_TWIN_PARTS_INTERNAL_H
#define NANDWICH_TWIN_PARTS_INTERNAL_H

#include "nandwich-twin/parts.h"

#define PART_ENTRY(rows) { rows, (uint32_t)(sizeof(rows) / sizeof((rows)[0])) }
#define PART_GROUP(entries) { entries, (uint32_t)(sizeof(entries) / sizeof((entries)[0])) }

struct nw_part_group {
    const struct nw_part_entry *entries;
    uint32_t count;
};

/* One group a file. */
extern const struct nw_part_group nw_parts_slc;
extern const struct nw_part_group nw_parts_mlc;
extern const struct nw_part_group nw_parts_serial;
extern const struct nw_part_group nw_parts_other;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* parts_internal.h - how the table of parts is put together from its files. */
#ifndef NANDWICH_TWIN_PARTS_INTERNAL_H
#define NANDWICH_TWIN_PARTS_INTERNAL_H

#include <stdbool.h>

#include "nandwich-twin/parts.h"

/* What a source says of a figure: CLASS, "assumed: ..." or DOCUMENT, REVISION OR YEAR, PLACE. */
#define CLASS "class"
#define MARKER CLASS ": spare area less the bad-block marker"

#define PART_ENTRY(rows) { rows, (uint32_t)(sizeof(rows) / sizeof((rows)[0])) }
#define PART_GROUP(entries) { entries, (uint32_t)(sizeof(entries) / sizeof((entries)[0])) }

struct nw_part_group {
    const struct nw_part_entry *entries;
    uint32_t count;
};

bool nw_same_name(const char *a, const char *b); /* in any letter case */

/* One group a file. */
extern const struct nw_part_group nw_parts_slc;
extern const struct nw_part_group nw_parts_mlc;
extern const struct nw_part_group nw_parts_serial;
extern const struct nw_part_group nw_parts_other;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parts.h - the table of parts the twin knows, each figure with its source.
 *
 * A source names document, revision or year, and table. Else it says "class", what parts of that
 * kind and age are specified for, or "assumed". Energies that no document gives are worked out as
 * supply voltage x current x time, and the source says from which figures.
 */
#ifndef NANDWICH_TWIN_PARTS_H
#define NANDWICH_TWIN_PARTS_H

#include "nandwich-twin/part.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One figure of a part, as text, and where it comes from. */
struct nw_part_row {
    const char *key;
    const char *value;
    const char *source;
};

/* A part as the table keeps it; the row `name` comes first. */
struct nw_part_entry {
    const struct nw_part_row *rows;
    uint32_t count;
};

uint32_t nw_parts_count(void);

/* The part at a place of the table, in the order to show them. */
const struct nw_part_entry *nw_parts_at(uint32_t index);

/* The place of a part by its name, in any letter case; NW_ERR_NOT_FOUND. */
int nw_parts_find(const char *name);

/* Builds the part of that name. NW_ERR_NOT_FOUND; NW_ERR_CONFIG never happens to a tested table. */
int nw_parts_get(const char *name, struct nw_part *part);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Finding and building parts of the table; the figures themselves are in parts_*.c. */
#include "nandwich-twin/parts.h"

#include <ctype.h>

#include "parts_internal.h"

static const struct nw_part_group *const groups[] = { &nw_parts_slc, &nw_parts_mlc,
                                                      &nw_parts_serial, &nw_parts_other };
#define GROUPS (sizeof groups / sizeof groups[0])

bool nw_same_name(const char *a, const char *b)
{
    while (*a != '\0' && tolower((unsigned char)*a) == tolower((unsigned char)*b)) {
        a++;
        b++;
    }
    return *a == '\0' && *b == '\0';
}

uint32_t nw_parts_count(void)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < GROUPS; i++) {
        count += groups[i]->count;
    }
    return count;
}

const struct nw_part_entry *nw_parts_at(uint32_t index)
{
    for (uint32_t i = 0; i < GROUPS; i++) {
        if (index < groups[i]->count) {
            return &groups[i]->entries[index];
        }
        index -= groups[i]->count;
    }
    return NULL;
}

int nw_parts_find(const char *name)
{
    uint32_t count = nw_parts_count();

    for (uint32_t i = 0; i < count; i++) {
        if (nw_same_name(nw_parts_at(i)->rows[0].value, name)) {
            return (int)i;
        }
    }
    return NW_ERR_NOT_FOUND;
}

int nw_parts_get(const char *name, struct nw_part *part)
{
    int index = nw_parts_find(name);
    const struct nw_part_entry *entry;

    if (index < 0) {
        return index;
    }
    entry = nw_parts_at((uint32_t)index);
    nw_part_init(part);
    for (uint32_t i = 0; i < entry->count; i++) {
        int error = nw_part_set(part, entry->rows[i].key, entry->rows[i].value);

        if (error < 0) {
            return NW_ERR_CONFIG;
        }
    }
    return nw_part_check(part, NULL);
}

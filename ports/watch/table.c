/* SPDX-License-Identifier: Apache-2.0 */
#include "table.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static struct nw_kept **entries, **places; /* places: open addressing, a power of two of them */
static size_t entries_count, entries_room, places_count;

static uint64_t hash(const char *path)
{
    uint64_t value = 14695981039346656037U; /* FNV-1a */

    while (*path != '\0') {
        value = (value ^ (unsigned char)*path++) * 1099511628211U;
    }
    return value;
}

/* Where a path lies, or would lie. */
static struct nw_kept **look(const char *path)
{
    size_t at = (size_t)hash(path) & (places_count - 1);

    while (places[at] != NULL && strcmp(places[at]->path, path) != 0) {
        at = (at + 1) & (places_count - 1);
    }
    return &places[at];
}

static int grow_places(void)
{
    struct nw_kept **more;
    size_t room = places_count == 0 ? 1024 : 2 * places_count;

    if (2 * (entries_count + 1) <= places_count) {
        return 0;
    }
    more = calloc(room, sizeof *more);
    if (more == NULL) {
        return -1;
    }
    free(places);
    places = more;
    places_count = room;
    for (size_t i = 0; i < entries_count; i++) {
        *look(entries[i]->path) = entries[i];
    }
    return 0;
}

static int grow_entries(void)
{
    size_t room = entries_room == 0 ? 256 : 2 * entries_room;
    struct nw_kept **more;

    if (entries_count < entries_room) {
        return 0;
    }
    more = realloc(entries, room * sizeof *more);
    if (more == NULL) {
        return -1;
    }
    entries = more;
    entries_room = room;
    return 0;
}

struct nw_kept *nw_table_add(const char *path)
{
    struct nw_kept *kept = calloc(1, sizeof *kept);

    if (kept == NULL || grow_entries() != 0 || grow_places() != 0 ||
        (kept->path = strdup(path)) == NULL) {
        free(kept);
        return NULL;
    }
    entries[entries_count++] = kept;
    *look(path) = kept;
    return kept;
}

struct nw_kept *nw_table_find(const char *path)
{
    return places_count == 0 ? NULL : *look(path);
}

struct nw_kept *const *nw_table_all(size_t *count)
{
    *count = entries_count;
    return entries;
}

static int compare(const void *one, const void *other)
{
    return strcmp((*(struct nw_kept *const *)one)->path, (*(struct nw_kept *const *)other)->path);
}

void nw_table_sort(void)
{
    if (entries_count > 0) {
        qsort(entries, entries_count, sizeof(struct nw_kept *), compare);
    }
}

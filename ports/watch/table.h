/* SPDX-License-Identifier: Apache-2.0 */
/* table.h - what is kept, by path: entries stay where they are, in the order they came. */
#ifndef NW_WATCH_TABLE_H
#define NW_WATCH_TABLE_H

#include "keep.h"

/* A new entry, all zero but its path; NULL with errno: no memory. */
struct nw_kept *nw_table_add(const char *path);

/* NULL: there is none. */
struct nw_kept *nw_table_find(const char *path);

struct nw_kept *const *nw_table_all(size_t *count);

/* From now on in the order of their paths: folders come before what lies in them. Ends adding. */
void nw_table_sort(void);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* search.c - <search.h>: lists, trees and the hash table, with keys and roots anywhere. */
#include "internal.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

typedef int (*comparer)(const void *, const void *);

NW_LIBC(void *, lfind,
        (const void *key, const void *base, size_t *count, size_t bytes, comparer compare))
{
    const uint8_t *at = base;
    size_t n;

    nw_guest_get(&n, count, sizeof n);
    for (; n > 0; n--, at += bytes) {
        if (compare(key, at) == 0) {
            return (void *)(uintptr_t)at;
        }
    }
    return NULL;
}

NW_LIBC(void *, lsearch,
        (const void *key, void *base, size_t *count, size_t bytes, comparer compare))
{
    void *found = nw_libc_lfind(key, base, count, bytes, compare);
    size_t n;

    if (found == NULL) {
        nw_guest_get(&n, count, sizeof n);
        found = (uint8_t *)base + n * bytes;
        nw_guest_copy(found, key, bytes);
        n++;
        nw_guest_put(count, &n, sizeof n);
    }
    return found;
}

/* The library's nodes are its own and plain; it keeps keys and never looks into them. */
#define NW_TREE(name)                                                                              \
    NW_LIBC(void *, name, (const void *key, void **root, comparer compare))                        \
    {                                                                                              \
        void *own;                                                                                 \
                                                                                                   \
        if (root == NULL) {                                                                        \
            return NULL;                                                                           \
        }                                                                                          \
        nw_guest_get(&own, root, sizeof own);                                                      \
        void *found = name(key, &own, compare);                                                    \
        nw_guest_put(root, &own, sizeof own);                                                      \
        return found;                                                                              \
    }

NW_TREE(tsearch)
NW_TREE(tdelete)

NW_LIBC(void *, tfind, (const void *key, void *const *root, comparer compare))
{
    void *own;

    if (root == NULL) {
        return NULL;
    }
    nw_guest_get(&own, root, sizeof own);
    return tfind(key, &own, compare);
}

/* The table compares its keys itself, so it keeps plain copies: an entry that is found has the text
 * of the key that was entered, at an address of its own. */
NW_LIBC(ENTRY *, hsearch, (ENTRY item, ACTION action))
{
    ENTRY *found;

    if (!nw_guest_is_virtual(item.key)) {
        return hsearch(item, action);
    }
    size_t bytes = nw_guest_strlen(item.key, SIZE_MAX) + 1;
    char *key = malloc(bytes);
    if (key == NULL) {
        nw_guest_refuse("out of host memory in hsearch");
    }
    nw_guest_get(key, item.key, bytes);
    item.key = key;
    found = hsearch(item, action);
    if (found == NULL || found->key != key) {
        free(key);
    }
    return found;
}

/* An element of insque(): two pointers, then whatever. */
struct link {
    struct link *next;
    struct link *previous;
};

NW_LIBC(void, insque, (void *element, void *behind))
{
    struct link own = {NULL, behind};

    if (behind != NULL) {
        nw_guest_get(&own.next, behind, sizeof own.next);
        nw_guest_put(behind, &element, sizeof element);
    }
    nw_guest_put(element, &own, sizeof own);
    if (own.next != NULL) {
        nw_guest_put(&own.next->previous, &element, sizeof element);
    }
}

NW_LIBC(void, remque, (void *element))
{
    struct link own;

    nw_guest_get(&own, element, sizeof own);
    if (own.next != NULL) {
        nw_guest_put(&own.next->previous, &own.previous, sizeof own.previous);
    }
    if (own.previous != NULL) {
        nw_guest_put(&own.previous->next, &own.next, sizeof own.next);
    }
}

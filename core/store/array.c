/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays: a fixed number of keys, values of one size, each a chunk of its own. */
#include "store.h"

static int find(struct nw_store *store, int handle, uint32_t key, struct object **object)
{
    int slot = store_object_of(store, handle, 1U << NW_STORE_ARRAY, object);

    return slot >= 0 && key >= (*object)->tail ? (int)NW_ERR_RANGE : slot;
}

int nw_store_set(struct nw_store *store, int handle, uint32_t key, const void *value)
{
    struct object *object;
    int slot = find(store, handle, key, &object);

    if (slot < 0) {
        return slot;
    }
    struct chunk chunk = {
        .id = (uint8_t)slot, .key = key, .mask = DATA_SET, .length = object->unit};
    uint32_t whole = store_whole(store, object->unit);
    uint32_t old;
    int result = store_make_room(store, object, whole);
    if (result == NW_OK) {
        result = store_put_data(store, &chunk, value, &old);
    }
    if (result == NW_OK) {
        object->bytes += whole;
        if (old != STORE_NONE) {
            store_killed(store, object, whole);
        }
    }
    return result;
}

int nw_store_get(struct nw_store *store, int handle, uint32_t key, void *value)
{
    struct object *object;
    struct chunk chunk = {0};
    int slot = find(store, handle, key, &object);
    int result = slot < 0 ? slot : store_find_data(store, (uint8_t)slot, key, &chunk);

    if (result == NW_OK && chunk.length != object->unit) {
        store->stats.place = chunk.at;
        result = NW_ERR_CORRUPT;
    }
    return result < 0 ? result : store_payload(store, &chunk, value, 1);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays: a fixed number of keys, values of one size, each a chunk of its own. */
#include "store.h"

/* The array, if it has that key. */
static struct object *find(struct nw_store *store, int handle, uint32_t key)
{
    struct object *object = store_object_of(store, handle, 1U << NW_STORE_ARRAY);

    if (object != NULL && key >= object->tail) {
        store->refused = NW_ERR_RANGE;
        object = NULL;
    }
    return object;
}

int nw_store_set(struct nw_store *store, int handle, uint32_t key, const void *value)
{
    struct object *object = find(store, handle, key);

    if (object == NULL) {
        return store->refused;
    }
    struct chunk chunk;
    struct need need = {.object = object, .bytes = store_booked(store, object->unit)};
    uint32_t at;

    store_describe(&chunk, CHUNK_DATA, DATA_SET, key, object->unit);
    if (!store_fits(store, &need, 0)) { /* it may be there */
        int result = store_get(store, object, key, &at);
        need.is_there = result == NW_OK;
        if (result < 0 && result != NW_ERR_NOT_FOUND) {
            return result;
        }
    }
    int result = store_make_room(store, &need);

    return result < 0 ? result : store_put_data(store, object, &chunk, value);
}

int nw_store_get(struct nw_store *store, int handle, uint32_t key, void *value)
{
    struct object *object = find(store, handle, key);
    struct chunk chunk;
    int result =
        object == NULL ? store->refused : store_find_data(store, object, key, &chunk);

    if (result == NW_OK && chunk.length != object->unit) {
        result = store_damaged(store, chunk.at);
    }
    return result < 0 ? result : store_payload(store, &chunk, value, 1);
}

int nw_store_next_key(struct nw_store *store, int handle, uint32_t *key)
{
    struct object *object = store_object_of(store, handle, 1U << NW_STORE_ARRAY);

    if (object == NULL) {
        return store->refused;
    }
    int result = 1;

    while (*key < object->tail && result > 0) {
        result = store_skip(store, object, key);
    }
    return result > 0 ? (int)NW_ERR_NOT_FOUND : result;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* A stream-index: places of a stream under tags, which are the keys of an array. */
#include "store.h"

/* NW_OK when the array can hold this tag. */
static int check(struct nw_store *store, int array, uint32_t tag)
{
    const struct object *object = store_object_of(store, array, 1U << NW_STORE_ARRAY);

    if (object == NULL) {
        return store->refused;
    }
    if (object->unit != NW_STORE_TAG_BYTES) {
        return NW_ERR_TYPE;
    }
    return tag < object->tail ? NW_OK : NW_ERR_TAG;
}

int nw_store_tag(struct nw_store *store, int array, uint32_t tag,
                 const struct nw_store_cursor *cursor)
{
    uint8_t value[NW_STORE_TAG_BYTES];
    int result = check(store, array, tag);

    if (result < 0) {
        return result;
    }
    nw_put32(value, cursor->chunk);
    nw_put16(value + 4, cursor->offset);
    return nw_store_set(store, array, tag, value);
}

int nw_store_tagged(struct nw_store *store, int array, uint32_t tag, int stream,
                    struct nw_store_cursor *cursor)
{
    uint8_t value[NW_STORE_TAG_BYTES];
    int result = check(store, array, tag);

    if (result == NW_OK) {
        result = nw_store_get(store, array, tag, value);
    }
    return result != NW_OK
               ? result
               : nw_store_seek(store, stream, nw_get32(value), nw_get16(value + 4), cursor);
}

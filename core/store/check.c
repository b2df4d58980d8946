/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the index leads to every chunk that an object is said to have. */
#include "nandwich/store_check.h"

#include "store.h"

/* From the tail to the frontier no block is erased. */
static int is_kept(const struct nw_store *store, uint32_t at)
{
    uint16_t block = store_block_of(store, at);
    uint16_t frontier = store_block_with(store, store->page);

    return block != STORE_NO_BLOCK &&
           store_blocks_to(store, block) <= store_blocks_to(store, frontier);
}

/* The chunk of one key: adds what it takes. */
static int check_chunk(struct nw_store *store, struct object *object, uint32_t key,
                       uint32_t *bytes)
{
    struct chunk chunk;
    int result = store_find_chunk(store, object, key, &chunk);

    if (result < 0) {
        return result;
    }
    *bytes += store_booked(store, chunk.length);
    return is_kept(store, chunk.at) ? (int)NW_OK : (int)NW_ERR_CORRUPT;
}

/* Every key of an object. Of an array most may never have been set. */
static int check_object(struct nw_store *store, struct object *object,
                        struct nw_store_fault *fault)
{
    uint32_t bytes = 0;
    uint32_t key = object->head;

    while (key < object->tail) {
        fault->key = key;
        if (object->type == NW_STORE_ARRAY) {
            int skipped = store_skip(store, object, &key);
            if (skipped < 0) {
                return skipped;
            }
            if (skipped > 0) {
                continue;
            }
        }
        int result = check_chunk(store, object, key, &bytes);
        if (result < 0) {
            return result;
        }
        key++;
    }
    fault->key = UINT32_MAX;
    return bytes <= object->bytes ? (int)NW_OK : (int)NW_ERR_CORRUPT;
}

int nw_store_check(struct nw_store *store, struct nw_store_fault *fault)
{
    for (uint8_t table = 0; table < store->tables; table++) {
        struct object *object = store_table(store, table);

        fault->checkpoint = table;
        for (uint8_t slot = 0; slot < store->slots; slot++, object++) {
            fault->slot = (uint8_t)(slot + 1U);
            int result = object->type != 0 ? check_object(store, object, fault) : (int)NW_OK;
            if (result < 0) {
                return result;
            }
        }
    }
    *fault = (struct nw_store_fault){.key = UINT32_MAX};
    return NW_OK;
}

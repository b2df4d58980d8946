/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What tells that a chunk is whole: its sum is begun with the header, goes over the payload as it
 * comes, and is set in the header or compared with what stands there. A CRC; in a sealed store it
 * is a keyed hash, and the payload is encrypted: store_load() is the only way to it.
 */
#include <string.h>

#include "nandwich/crc.h"
#include "store.h"

/* The bytes of a header that say what the chunk is. */
void store_put_what(const struct chunk *chunk, uint8_t *bytes)
{
    bytes[0] = (uint8_t)(chunk->kind | (chunk->mask << 4));
    bytes[1] = chunk->id;
    bytes[2] = chunk->generation;
    nw_put16(bytes + 3, chunk->length);
    nw_put32(bytes + 5, chunk->key);
}

/* All of an open store's header. */
void store_put_header(const struct chunk *chunk, uint8_t *bytes)
{
    store_put_what(chunk, bytes);
    bytes[9] = (uint8_t)(nw_crc16(NW_CRC16_START, bytes, CHUNK_WHAT) & 0xFFU);
    nw_put32(bytes + 10, chunk->crc);
}

/* The start of a sum: what a chunk is, but for the byte that a move changes. */
uint32_t store_sum_begin(const struct nw_store *store, const struct chunk *chunk)
{
    uint8_t bytes[CHUNK_WHAT];

    if (store_seal(store) != NULL) {
        return store_seal(store)->sum_begin(store, chunk);
    }
    store_put_what(chunk, bytes);
    return nw_crc32(NW_CRC32_START, bytes + 1, CHUNK_WHAT - 1U);
}

/* The sum with more of the payload. */
uint32_t store_sum_add(const struct nw_store *store, uint32_t sum, const void *data,
                       uint16_t bytes)
{
    return store_seal(store) != NULL ? store_seal(store)->sum_add(store, sum, data, bytes)
                               : nw_crc32(sum, data, bytes);
}

/* All of the payload is in the sum: it becomes the chunk's. */
void store_sum_end(const struct nw_store *store, uint32_t sum, struct chunk *chunk)
{
    chunk->crc = sum;
    if (store_seal(store) != NULL) {
        store_seal(store)->sum_end(store, sum, chunk);
    }
}

/* What lies at a position is not what was written there: the answer. It counts as tampered with,
 * but not in the scan of a mount, which meets torn ends: no anchor is loaded yet. Next time it is
 * read from the chip again. */
int store_damaged(struct nw_store *store, uint32_t at)
{
    store->stats.place = at;
    store->cache_page = STORE_NONE;
    if (store_seal(store) == NULL) {
        return NW_ERR_CORRUPT;
    }
    store->sealing->at = STORE_NONE;
    store_count(&store->stats.tampered, store->anchor != STORE_NONE ? 1U : 0U);
    return NW_ERR_TAMPERED;
}

/* All of the payload is in the sum: is it the chunk's? NW_OK, or NW_ERR_CORRUPT; sealed:
 * NW_ERR_TAMPERED. */
int store_sum_check(struct nw_store *store, uint32_t sum, const struct chunk *chunk)
{
    if (store_seal(store) != NULL) {
        return store_seal(store)->sum_check(store, sum, chunk);
    }
    return sum == chunk->crc ? (int)NW_OK : store_damaged(store, chunk->at);
}

/* Reads payload of a chunk, from a byte of it on. */
int store_load(struct nw_store *store, const struct chunk *chunk, uint16_t from, uint16_t bytes,
               void *data, int ahead)
{
    return store_seal(store) != NULL
               ? store_seal(store)->load(store, chunk, from, bytes, data, ahead)
               : store_read(store, store_data_at(store, chunk, from), bytes, data, ahead);
}

/* Reads `bytes` of a chunk's payload, from `at` on, and the rest of it only to sum it up: what is
 * checked is what now lies in RAM. */
int store_read_proven(struct nw_store *store, const struct chunk *chunk, uint16_t at,
                      uint16_t bytes, void *data)
{
    uint16_t here;
    uint8_t part[32];
    uint32_t sum = store_sum_begin(store, chunk);
    int result = NW_OK;

    for (uint16_t i = 0; i < chunk->length && result == NW_OK; i = (uint16_t)(i + here)) {
        uint8_t *to = part;

        here = (uint16_t)((i < at ? at : chunk->length) - i);
        here = here < sizeof part ? here : (uint16_t)sizeof part;
        if (i == at && bytes > 0) {
            to = data;
            here = bytes;
        }
        result = store_load(store, chunk, i, here, to, 1);
        sum = store_sum_add(store, sum, to, here);
    }
    if (result == NW_OK) {
        result = store_sum_check(store, sum, chunk);
    }
    if (result < 0) {
        memset(data, 0, bytes); /* nothing unproven is handed out, */
        if (store_seal(store) != NULL) {
            memset(store->sealing->digest, 0, NW_SEAL_TAG_BYTES); /* and no copy of it is proven */
        }
    }
    return result;
}

/* A part of a chunk's payload. It is not checked, unless the store is sealed: then all of the chunk
 * is read for it. */
int store_read_part(struct nw_store *store, const struct chunk *chunk, uint16_t from,
                    uint16_t bytes, void *data)
{
    return store_seal(store) != NULL ? store_read_proven(store, chunk, from, bytes, data)
                               : store_load(store, chunk, from, bytes, data, 1);
}

/* Stored bytes are damaged, and nothing else is wrong. */
int store_is_damage(int result)
{
    return result == NW_ERR_CORRUPT || result == NW_ERR_ECC || result == NW_ERR_TAMPERED;
}

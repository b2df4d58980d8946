/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files: blocks of one size, each a chunk, the last one as long as it is filled. As long as the
 * last block lies in the page buffer it grows there; otherwise a block that changes is written
 * anew, with what stays of it.
 */
#include <string.h>

#include "store.h"

static struct object *file_of(struct nw_store *store, int handle)
{
    return store_object_of(store, handle, 1U << NW_STORE_FILE);
}

static uint32_t length_of(const struct object *object)
{
    return object->tail == 0 ? 0 : (object->tail - 1U) * object->unit + object->fill;
}

/* A piece of one block. */
struct piece {
    struct object *object;
    uint32_t key;
    uint16_t from; /* in the block */
    uint16_t bytes;
    const uint8_t *data;
};

/* The first piece of so many bytes at an offset of the file. */
static void cut(struct piece *piece, uint32_t offset, uint16_t bytes)
{
    uint16_t unit = piece->object->unit;

    piece->key = offset / unit;
    piece->from = (uint16_t)(offset % unit);
    unit = (uint16_t)(unit - piece->from);
    piece->bytes = bytes < unit ? bytes : unit;
}

/* Where the payload of the next chunk will lie in the page buffer. */
static uint8_t *free_part(const struct nw_store *store)
{
    return store->buffer + store->offset + store->chunk_header;
}

/* A block as it was, with the piece in it, in the free part of the page buffer. *length: how many
 * bytes it had, and then has. */
static int put_together(struct nw_store *store, const struct piece *piece, uint16_t *length)
{
    uint16_t end = (uint16_t)(piece->from + piece->bytes);
    struct chunk old;
    int result = store_find_data(store, piece->object, piece->key, &old);

    if (result == NW_OK && (old.length < *length || old.length > piece->object->unit)) {
        result = store_damaged(store, old.at);
    }
    if (result == NW_OK) {
        result = store_find_room(store, piece->object->unit, 1);
    }
    if (result < 0) {
        return result;
    }
    uint8_t *block = free_part(store);
    *length = end > *length ? end : *length;
    result = store_payload(store, &old, block, 1);
    uint16_t keep = result == NW_OK ? *length : 0;
    if (keep < old.length) {
        memset(block + keep, store->erased, (uint16_t)(old.length - keep));
    }
    if (result == NW_OK) {
        memcpy(block + piece->from, piece->data, piece->bytes);
    }
    return result;
}

/* A block with the piece in it, and so many bytes that it had. None: the piece is all of it; it is
 * new, or what it had may be damaged. */
static int put_block(struct nw_store *store, const struct piece *piece, uint16_t had)
{
    struct object *object = piece->object;
    const uint8_t *data = piece->data;
    uint16_t length = piece->bytes;
    struct chunk chunk;

    if (had > 0) {
        int result = put_together(store, piece, &had);
        if (result < 0) {
            return result;
        }
        data = free_part(store);
        length = had;
    }
    store_describe(&chunk, CHUNK_DATA, piece->key == object->tail ? DATA_APPEND : DATA_SET,
                   piece->key, length);
    return store_put_growing(store, object, &chunk, data);
}

static int write_piece(struct nw_store *store, const struct piece *piece)
{
    struct object *object = piece->object;
    uint8_t *grows = store_growing(store, object, piece->key);
    uint16_t end = (uint16_t)(piece->from + piece->bytes);

    if (grows == NULL) {
        uint16_t length = piece->key + 1U == object->tail ? object->fill : object->unit;
        int is_all = piece->key == object->tail || (piece->from == 0 && piece->bytes >= length);
        return put_block(store, piece, is_all ? 0 : length);
    }
    uint16_t inside = end < object->fill ? piece->bytes : (uint16_t)(object->fill - piece->from);
    memcpy(grows + piece->from, piece->data, inside);
    if (end <= object->fill) {
        return NW_OK;
    }
    object->fill = end;
    return store_put(store, piece->data + inside, (uint16_t)(piece->bytes - inside));
}

int nw_store_write(struct nw_store *store, int handle, uint32_t offset, const void *data,
                   uint16_t bytes)
{
    struct object *object = file_of(store, handle);
    struct piece piece = {.object = object, .data = data};

    if (object == NULL) {
        return store->refused;
    }
    if (offset > length_of(object) || bytes > UINT32_MAX - offset || bytes > 32767U) {
        return NW_ERR_RANGE;
    }
    for (uint16_t left = bytes; left > 0;) {
        struct need need = {.object = object, .bytes = store_booked(store, object->unit)};

        cut(&piece, offset, left);
        need.is_there = piece.key < object->tail;
        need.chunks = need.is_there == 0;
        int result = store_make_room(store, &need);
        if (result == NW_OK) {
            result = write_piece(store, &piece);
        }
        if (result < 0) { /* what went before is written: say how much, and the next call why */
            return left < bytes ? (int)(bytes - left) : result;
        }
        offset += piece.bytes;
        piece.data += piece.bytes;
        left = (uint16_t)(left - piece.bytes);
    }
    return (int)bytes;
}

static int read_piece(struct nw_store *store, const struct piece *piece, uint8_t *data)
{
    const uint8_t *grows = store_growing(store, piece->object, piece->key);
    struct chunk chunk;

    if (grows != NULL) {
        memcpy(data, grows + piece->from, piece->bytes);
        return NW_OK;
    }
    int result = store_find_data(store, piece->object, piece->key, &chunk);
    if (result < 0 || (piece->from == 0 && piece->bytes == chunk.length)) {
        return result < 0 ? result : store_payload(store, &chunk, data, 1);
    }
    if (piece->from + (uint32_t)piece->bytes > chunk.length) {
        return store_damaged(store, chunk.at);
    }
    if (store->cache != NULL && piece->from == 0 && store_seal(store) == NULL) {
        /* it comes to RAM anyway */
        result = store_verify(store, &chunk);
        if (result < 0) {
            store->stats.place = chunk.at;
            return result;
        }
    }
    return store_read_part(store, &chunk, piece->from, piece->bytes, data);
}

int nw_store_read(struct nw_store *store, int handle, uint32_t offset, void *data, uint16_t bytes)
{
    struct object *object = file_of(store, handle);
    struct piece piece = {.object = object};
    uint8_t *to = data;

    if (object == NULL) {
        return store->refused;
    }
    uint32_t length = length_of(object);
    if (offset > length || bytes > 32767U) {
        return NW_ERR_RANGE;
    }
    bytes = length - offset < bytes ? (uint16_t)(length - offset) : bytes;
    for (uint16_t left = bytes; left > 0;) {
        cut(&piece, offset, left);
        int result = read_piece(store, &piece, to);
        if (result < 0) {
            return result;
        }
        to += piece.bytes;
        offset += piece.bytes;
        left = (uint16_t)(left - piece.bytes);
    }
    return (int)bytes;
}

int nw_store_length(struct nw_store *store, int handle, uint32_t *bytes)
{
    const struct object *object = file_of(store, handle);

    if (object == NULL) {
        return store->refused;
    }
    *bytes = length_of(object);
    return NW_OK;
}

int nw_store_truncate(struct nw_store *store, int handle, uint32_t bytes)
{
    struct object *object = file_of(store, handle);

    if (object == NULL) {
        return store->refused;
    }
    int result = store_make_room(store, NULL);
    if (result < 0) {
        return result;
    }
    if (bytes >= length_of(object)) {
        return bytes > length_of(object) ? (int)NW_ERR_RANGE : (int)NW_OK;
    }
    uint32_t blocks = bytes / object->unit + (bytes % object->unit != 0 ? 1U : 0U);
    uint32_t gone = (object->tail - blocks) * store_booked(store, object->unit);
    store_close(store);
    object->tail = blocks;
    object->fill = (uint16_t)(blocks == 0 ? 0 : bytes - (blocks - 1U) * object->unit);
    store_killed(store, object, gone);
    return store_fail(store, store_write_state(store, object));
}

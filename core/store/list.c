/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks, queues and streams: chunks numbered in the order they came, taken from either end. */
#include <string.h>

#include "store.h"

#define IS(type) (1U << (type))

/* Gives up the oldest chunk. */
int store_drop_head(struct nw_store *store, struct object *object)
{
    struct chunk chunk;
    int result = store_find_data(store, object, object->head, &chunk);

    if (result == NW_OK) {
        store_killed(store, object, store_booked(store, chunk.length));
    } else if (!store_is_damage(result)) {
        return result;
    }
    object->head++;
    object->fill = 0;
    return NW_OK;
}

static int push(struct nw_store *store, struct object *object, const void *data, uint16_t bytes)
{
    struct chunk chunk;

    if (bytes == 0 || bytes > store->longest || bytes > ELEMENT_LONGEST ||
        object->tail == STORE_NONE - 1U) {
        return NW_ERR_RANGE;
    }
    store_describe(&chunk, CHUNK_DATA, DATA_APPEND, object->tail, bytes);
    int result = store_make_room(
        store, &(struct need){.object = object, .bytes = store_booked(store, bytes), .chunks = 1});
    return result < 0 ? result : store_put_data(store, object, &chunk, data);
}

int nw_store_push(struct nw_store *store, int handle, const void *data, uint16_t bytes)
{
    struct object *object = store_object_of(store, handle, IS(NW_STORE_STACK) | IS(NW_STORE_QUEUE));

    return object == NULL ? store->refused : push(store, object, data, bytes);
}

/* Is a chunk that was read the one of a number? Else it is damage. */
int store_check_data(struct nw_store *store, const struct object *object, uint32_t number,
                     const struct chunk *chunk)
{
    return store_is_data(chunk) && chunk->key == number && store_is_of(store, chunk, object)
               ? (int)NW_OK
               : store_damaged(store, chunk->at);
}

/* The chunk of a number: its header. */
int store_find_chunk(struct nw_store *store, struct object *object, uint32_t number,
                     struct chunk *chunk)
{
    uint32_t at;

    if (!store_has_key(object, number)) {
        return NW_ERR_NOT_FOUND;
    }
    int result = store_find(store, object, number, &at);
    if (result == NW_OK) {
        result = store_read_told(store, at, chunk, 1);
    }
    if (result == NW_OK) {
        result = store_check_data(store, object, number, chunk);
    }
    /* Every number of the others has its chunk: none told is damage. */
    return result == NW_ERR_NOT_FOUND && object->type != NW_STORE_ARRAY ? (int)NW_ERR_CORRUPT
                                                                        : result;
}

/* The same for a reader, to whom one without a payload tells of damage. */
int store_find_data(struct nw_store *store, struct object *object, uint32_t number,
                    struct chunk *chunk)
{
    int result = store_find_chunk(store, object, number, chunk);

    return result == NW_OK && chunk->length == 0 ? store_damaged(store, chunk->at) : result;
}

static int length_answer(int result, const struct chunk *chunk)
{
    return result != NW_OK ? result : (int)chunk->length;
}

int nw_store_peek(struct nw_store *store, int handle, uint32_t number, void *data, uint16_t bytes)
{
    struct chunk chunk;
    struct object *object = store_object_of(
        store, handle, IS(NW_STORE_STACK) | IS(NW_STORE_QUEUE) | IS(NW_STORE_STREAM));

    if (object == NULL) {
        return store->refused;
    }
    int result = store_find_data(store, object, number, &chunk);
    if (result == NW_OK) {
        result = chunk.length > bytes ? (int)NW_ERR_RANGE : store_payload(store, &chunk, data, 1);
    }
    return length_answer(result, &chunk);
}

/* Takes an end off: a queue's oldest chunk, a stack's newest; damaged ones, too, without `data`. */
static int take(struct nw_store *store, int handle, uint8_t type, void *data, uint16_t bytes)
{
    struct object *object = store_object_of(store, handle, (uint8_t)IS(type));
    struct chunk chunk;

    if (object == NULL) {
        return store->refused;
    }
    int result = store_make_room(store, NULL);
    if (result < 0) {
        return result;
    }
    uint32_t number = type == NW_STORE_QUEUE ? object->head : object->tail - 1U;
    if (data != NULL) {
        result = nw_store_peek(store, handle, number, data, bytes);
    } else {
        result = store_find_data(store, object, number, &chunk);
        result = store_is_damage(result) ? 0 : length_answer(result, &chunk);
    }
    if (result < 0) {
        return result;
    }
    if (type == NW_STORE_QUEUE) {
        object->head++;
    } else {
        object->tail--;
    }
    store_killed(store, object, store_booked(store, (uint16_t)result));
    int told = store_fail(store, store_write_state(store, object));
    return told < 0 ? told : result;
}

int nw_store_pop(struct nw_store *store, int handle, void *data, uint16_t bytes)
{
    return take(store, handle, NW_STORE_STACK, data, bytes);
}

int nw_store_dequeue(struct nw_store *store, int handle, void *data, uint16_t bytes)
{
    return take(store, handle, NW_STORE_QUEUE, data, bytes);
}

/* STREAMS */

/* Bytes of the stream's last chunk while that may grow; else 0. */
static uint16_t grown(const struct nw_store *store, const struct object *object)
{
    const uint8_t *grows = store_growing(store, object, object->tail - 1U);

    return grows != NULL ? (uint16_t)(store->buffer + store->offset - grows) : 0;
}

/* A chunk begins with one element and grows by what else fits its page. */
static int append_packed(struct nw_store *store, struct object *object, const uint8_t *data,
                         uint16_t bytes)
{
    int result = NW_OK;

    while (bytes > 0 && result == NW_OK) {
        uint16_t before = grown(store, object);
        uint16_t part = (uint16_t)(store->page_bytes - store->offset);

        part = (uint16_t)(part - part % object->unit);
        part = bytes < part ? bytes : part;
        if (before > 0 && part > 0) {
            result = store_put(store, data, part);
            object->bytes += store_booked(store, (uint16_t)(before + part)) -
                             store_booked(store, before);
        } else {
            struct chunk chunk;
            part = object->unit;
            store_describe(&chunk, CHUNK_DATA, DATA_APPEND, object->tail, part);
            result = store_put_growing(store, object, &chunk, data);
        }
        data += part;
        bytes = (uint16_t)(bytes - part);
    }
    return result == NW_ERR_FULL ? store_fail(store, result) : result; /* part of it is written */
}

int nw_store_append(struct nw_store *store, int handle, const void *data, uint16_t bytes)
{
    struct object *object = store_object_of(store, handle, IS(NW_STORE_STREAM));

    if (object == NULL) {
        return store->refused;
    }
    if (object->unit == 0 || object->unit > store_page_room(store)) {
        return push(store, object, data, bytes);
    }
    if (bytes == 0 || bytes % object->unit != 0 || bytes > store->longest ||
        object->tail >= STORE_NONE - bytes) {
        return NW_ERR_RANGE;
    }
    uint16_t room = store_page_room(store);
    room = (uint16_t)(room - room % object->unit); /* whole elements of a page */
    struct need need = {.object = object, .chunks = (uint16_t)(bytes / room + 2U)};
    need.bytes = bytes + need.chunks * (store_booked(store, room) - room);
    int result = store_make_room(store, &need);
    return result < 0 ? result : append_packed(store, object, data, bytes);
}

int nw_store_trim(struct nw_store *store, int handle, uint32_t chunk_number)
{
    struct object *object = store_object_of(store, handle, IS(NW_STORE_STREAM));
    uint32_t bytes = 0;

    if (object == NULL) {
        return store->refused;
    }
    int result = store_make_room(store, NULL);
    if (result < 0 || chunk_number <= object->head) {
        return result;
    }
    if (chunk_number > object->tail) {
        return NW_ERR_RANGE;
    }
    for (uint32_t number = object->head; number < chunk_number; number++) {
        struct chunk chunk;

        result = store_find_data(store, object, number, &chunk);
        if (result == NW_OK) {
            bytes += store_booked(store, chunk.length);
        } else if (!store_is_damage(result)) {
            return result; /* nothing is given up before all are known */
        }
    }
    object->head = chunk_number;
    object->fill = 0;
    store_killed(store, object, bytes);
    return store_fail(store, store_write_state(store, object));
}

/* CURSORS */

/* To the begin of a chunk, wherever it lies. */
static void leave(struct nw_store_cursor *cursor, uint32_t chunk)
{
    cursor->chunk = chunk;
    cursor->offset = 0;
    cursor->at = STORE_NONE;
}

int nw_store_seek(struct nw_store *store, int handle, uint32_t chunk, uint16_t offset,
                  struct nw_store_cursor *cursor)
{
    struct object *object = store_object_of(store, handle, IS(NW_STORE_STREAM));

    if (object == NULL) {
        return store->refused;
    }
    if (chunk < object->head || chunk > object->tail) {
        return chunk < object->head ? NW_ERR_NOT_FOUND : NW_ERR_RANGE;
    }
    cursor->handle = handle;
    cursor->length = 0;
    cursor->epoch = 0;
    leave(cursor, chunk);
    cursor->offset = offset;
    return NW_OK;
}

int nw_store_first(struct nw_store *store, int handle, struct nw_store_cursor *cursor)
{
    struct object *object = store_object_of(store, handle, IS(NW_STORE_STREAM));

    return object == NULL ? store->refused
                          : nw_store_seek(store, handle, object->head, 0, cursor);
}

int nw_store_last(struct nw_store *store, int handle, struct nw_store_cursor *cursor)
{
    struct object *object = store_object_of(store, handle, IS(NW_STORE_STREAM));

    if (object == NULL) {
        return store->refused;
    }
    uint16_t offset = grown(store, object); /* what is appended next may go into this chunk */
    return nw_store_seek(store, handle, object->tail - (offset > 0 ? 1U : 0U), offset, cursor);
}

/* The chunk the cursor stands in: its place and length, looked up again after a move. */
static int locate(struct nw_store *store, struct object *object, struct nw_store_cursor *cursor,
                  struct chunk *chunk)
{
    if (store_seal(store) == NULL && cursor->at != STORE_NONE && cursor->epoch == store->epoch &&
        cursor->offset < cursor->length) {
        chunk->at = cursor->at;
        chunk->length = cursor->length;
        chunk->kind = 0;
        return NW_OK;
    }
    int result = store_find_data(store, object, cursor->chunk, chunk);
    if (result == NW_OK && store_seal(store) != NULL && cursor->offset >= chunk->length) {
        result = store_verify(store, chunk); /* before the cursor goes on without reading it */
    }
    if (result == NW_OK) {
        cursor->at = chunk->at;
        cursor->length = chunk->length;
        cursor->epoch = store->epoch;
    }
    return result;
}

/* `part` bytes at the cursor, of the chunk that locate() told. One that the cursor did not remember
 * is checked: as long as it does, the chunk was whole. */
static int read_element(struct nw_store *store, struct object *object,
                        const struct nw_store_cursor *cursor,
                        struct chunk *chunk, uint16_t part, void *data)
{
    int result = NW_OK;

    if (part < cursor->length) {
        if (chunk->kind != 0 && store_seal(store) == NULL) {
            result = store_payload_by(store, chunk, data, part, 0);
        }
        return result < 0 ? result : store_read_part(store, chunk, cursor->offset, part, data);
    }
    if (chunk->kind == 0) { /* the cursor remembers no checksum */
        result = store_find_data(store, object, cursor->chunk, chunk);
        if (result == NW_OK && chunk->length != part) { /* nor is there more room */
            result = store_damaged(store, chunk->at);
        }
    }
    return result < 0 ? result : store_payload(store, chunk, data, 1);
}

/* Reads the element behind the cursor or, going back, before it, and moves the cursor over it. */
static int step(struct nw_store *store, struct nw_store_cursor *cursor, int back, void *data,
                uint16_t bytes)
{
    struct object *object = store_object_of(store, cursor->handle, IS(NW_STORE_STREAM));
    struct nw_store_cursor at = *cursor;
    struct chunk chunk;

    if (object == NULL || at.chunk < object->head) {
        return object == NULL ? store->refused : (int)NW_ERR_NOT_FOUND;
    }
    if (back ? at.offset == 0 && at.chunk == object->head : at.chunk >= object->tail) {
        return 0;
    }
    if (back && at.offset == 0) {
        leave(&at, at.chunk - 1U);
    }
    for (;;) { /* each further turn is a chunk nearer to the end */
        int result = locate(store, object, &at, &chunk);
        if (result != NW_OK) {
            return result;
        }
        if (back || at.offset < at.length) {
            break;
        }
        if (at.chunk + 1U == object->tail) {
            return 0;
        }
        leave(&at, at.chunk + 1U);
    }
    if (back && (cursor->offset == 0 || at.offset > at.length)) {
        at.offset = at.length;
    }
    uint16_t left = back ? at.offset : (uint16_t)(at.length - at.offset);
    uint16_t part = left;
    if (object->unit != 0 && (back || bytes < left)) {
        part = (uint16_t)(back ? object->unit : bytes - bytes % object->unit);
    }
    if (part == 0 || part > bytes || part > left) {
        return NW_ERR_RANGE;
    }
    if (back) {
        at.offset = (uint16_t)(at.offset - part);
    }
    int result = read_element(store, object, &at, &chunk, part, data);
    if (result < 0) {
        return result;
    }
    if (!back) {
        at.offset = (uint16_t)(at.offset + part);
    }
    if (!back && at.offset == at.length && at.chunk + 1U < object->tail) {
        leave(&at, at.chunk + 1U);
    }
    *cursor = at;
    return (int)part;
}

int nw_store_next(struct nw_store *store, struct nw_store_cursor *cursor, void *data,
                  uint16_t bytes)
{
    return step(store, cursor, 0, data, bytes);
}

int nw_store_previous(struct nw_store *store, struct nw_store_cursor *cursor, void *data,
                      uint16_t bytes)
{
    return step(store, cursor, 1, data, bytes);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks, queues and streams: chunks numbered in the order they came, taken from either end. */
#include <string.h>

#include "store.h"

#define IS(type) (1U << (type))

/* Gives up the oldest chunk. */
int store_drop_head(struct nw_store *store, uint8_t slot)
{
    struct object *object = &store->objects[slot];
    struct chunk chunk = {0};
    int result = store_find_data(store, slot, object->head, &chunk);

    if (result == NW_OK) {
        store_killed(store, object, store_whole(store, chunk.length));
    } else if (!store_is_damage(result)) {
        return result;
    }
    object->head++;
    object->fill = 0;
    return NW_OK;
}

/* Counts an appended chunk; a ring gives up what is too many. */
int store_grown(struct nw_store *store, uint8_t slot, uint32_t bytes)
{
    struct object *object = &store->objects[slot];

    object->tail++;
    object->bytes += bytes;
    return object->limit != 0 && object->tail - object->head > object->limit
               ? store_drop_head(store, slot)
               : (int)NW_OK;
}

static int push(struct nw_store *store, int slot, const void *data, uint16_t bytes)
{
    struct object *object = &store->objects[slot];
    uint32_t whole = store_whole(store, bytes);
    struct chunk chunk = {
        .id = (uint8_t)slot, .key = object->tail, .mask = DATA_APPEND, .length = bytes};
    uint32_t old;

    if (bytes == 0 || whole > store_block_bytes(store) / 3U || bytes > 65000U) {
        return NW_ERR_RANGE;
    }
    if (object->tail == STORE_NONE - 1U) {
        return NW_ERR_RANGE;
    }
    int result = store_make_room(store, object, whole);
    if (result == NW_OK) {
        result = store_put_data(store, &chunk, data, &old);
    }
    return result < 0 ? result : store_grown(store, (uint8_t)slot, whole);
}

int nw_store_push(struct nw_store *store, int handle, const void *data, uint16_t bytes)
{
    struct object *object;
    int slot = store_object_of(store, handle, IS(NW_STORE_STACK) | IS(NW_STORE_QUEUE), &object);

    return slot < 0 ? slot : push(store, slot, data, bytes);
}

/* The chunk of a number: its header. */
int store_find_data(struct nw_store *store, uint8_t slot, uint32_t number, struct chunk *chunk)
{
    const struct object *object = &store->objects[slot];
    uint32_t at;

    if (number < object->head || number >= object->tail) {
        return NW_ERR_NOT_FOUND;
    }
    int result = store_get(store, slot, number, &at);
    if (result == NW_OK) {
        result = store_read_chunk(store, at, chunk, 1);
    }
    if (result == NW_OK && (!store_is_data(chunk) || chunk->id != slot ||
                            chunk->key != number || chunk->generation != object->generation)) {
        store->stats.place = at;
        result = NW_ERR_CORRUPT;
    }
    if (result == NW_ERR_NOT_FOUND && object->type == NW_STORE_ARRAY) {
        return result;
    }
    /* Every number of the others has its chunk: none told, or a blank one, is damage. */
    return result == NW_ERR_NOT_FOUND || result == NW_ERR_UNWRITTEN ? (int)NW_ERR_CORRUPT
                                                                    : result;
}

static int read_whole(struct nw_store *store, uint8_t slot, uint32_t number, void *data,
                      uint16_t bytes, struct chunk *chunk)
{
    int result = store_find_data(store, slot, number, chunk);

    if (result == NW_OK && chunk->length > bytes) {
        result = NW_ERR_RANGE;
    }
    if (result == NW_OK) {
        result = store_payload(store, chunk, data, 1);
    }
    return result;
}

static int length_answer(int result, uint16_t length)
{
    return result < 0 ? result : (int)(length < 32767U ? length : 32767U);
}

int nw_store_peek(struct nw_store *store, int handle, uint32_t number, void *data, uint16_t bytes)
{
    struct object *object;
    struct chunk chunk = {0};
    int slot = store_object_of(
        store, handle, IS(NW_STORE_STACK) | IS(NW_STORE_QUEUE) | IS(NW_STORE_STREAM), &object);

    if (slot < 0) {
        return slot;
    }
    int result = read_whole(store, (uint8_t)slot, number, data, bytes, &chunk);
    return length_answer(result, chunk.length);
}

/* Takes an end off: the newest or the oldest chunk. */
static int take(struct nw_store *store, int slot, int oldest, void *data, uint16_t bytes)
{
    struct object *object = &store->objects[slot];
    struct chunk chunk = {0};
    int result = store_make_room(store, NULL, 0);

    if (result == NW_OK) {
        result = read_whole(store, (uint8_t)slot, oldest ? object->head : object->tail - 1U, data,
                            bytes, &chunk);
    }
    if (result < 0) {
        return result;
    }
    if (oldest) {
        object->head++;
    } else {
        object->tail--;
    }
    store_killed(store, object, store_whole(store, chunk.length));
    return length_answer(store_write_state(store, (uint8_t)slot), chunk.length);
}

int nw_store_pop(struct nw_store *store, int handle, void *data, uint16_t bytes)
{
    struct object *object;
    int slot = store_object_of(store, handle, IS(NW_STORE_STACK), &object);

    return slot < 0 ? slot : take(store, slot, 0, data, bytes);
}

int nw_store_dequeue(struct nw_store *store, int handle, void *data, uint16_t bytes)
{
    struct object *object;
    int slot = store_object_of(store, handle, IS(NW_STORE_QUEUE), &object);

    return slot < 0 ? slot : take(store, slot, 1, data, bytes);
}

/* STREAMS */

/* As many bytes of whole elements as the stream's last chunk still takes, while it lies in the
 * buffer and nothing came behind it. */
static uint16_t room_to_grow(const struct nw_store *store, uint8_t slot, uint16_t bytes)
{
    const struct object *object = &store->objects[slot];
    const uint8_t *head = store->buffer + store->grow - 1;

    if (store->grow == 0 || head[1] != slot || head[2] != object->generation) {
        return 0;
    }
    uint16_t room = (uint16_t)(store->page_bytes - store->offset);
    room = (uint16_t)(room - room % object->unit);
    return bytes < room ? bytes : room;
}

/* A chunk of packed elements that may grow: as many bytes as fit the page are taken. */
static int begin_packed(struct nw_store *store, uint8_t slot, const uint8_t *data, uint16_t bytes)
{
    struct object *object = &store->objects[slot];
    struct chunk chunk = {.id = slot, .key = object->tail, .mask = DATA_APPEND};
    uint32_t old;

    store_close(store);
    int result = store_find_room(store, store_whole(store, object->unit), 1);
    if (result < 0) {
        return result;
    }
    uint16_t room = (uint16_t)(store->page_bytes - store->offset - store->chunk_header);
    room = (uint16_t)(room - room % object->unit);
    chunk.length = bytes < room ? bytes : room;
    result = store_put_data(store, &chunk, data, &old);
    if (result == NW_OK) {
        result = store_grown(store, slot, store_whole(store, chunk.length));
    }
    store_let_grow(store, &chunk);
    return result < 0 ? result : (int)chunk.length;
}

static int append_packed(struct nw_store *store, uint8_t slot, const uint8_t *data, uint16_t bytes)
{
    while (bytes > 0) {
        uint16_t part = room_to_grow(store, slot, bytes);
        int result;

        if (part > 0) {
            result = store_grow(store, data, part);
            store->objects[slot].bytes += part;
        } else {
            result = begin_packed(store, slot, data, bytes);
            part = result < 0 ? 0 : (uint16_t)result;
        }
        if (result < 0) {
            store->broken = result;
            return result;
        }
        data += part;
        bytes = (uint16_t)(bytes - part);
    }
    return NW_OK;
}

int nw_store_append(struct nw_store *store, int handle, const void *data, uint16_t bytes)
{
    struct object *object;
    int slot = store_object_of(store, handle, IS(NW_STORE_STREAM), &object);

    if (slot < 0 || object->unit == 0 ||
        object->unit > store_page_room(store)) {
        return slot < 0 ? slot : push(store, slot, data, bytes);
    }
    if (bytes == 0 || bytes % object->unit != 0 || bytes > store_block_bytes(store) / 3U) {
        return NW_ERR_RANGE;
    }
    if (object->tail >= STORE_NONE - bytes) {
        return NW_ERR_RANGE;
    }
    uint32_t chunks = bytes / (store_page_room(store)) + 2U;
    int result = store_make_room(store, object, bytes + chunks * store->chunk_header);
    return result < 0 ? result : append_packed(store, (uint8_t)slot, data, bytes);
}

int nw_store_trim(struct nw_store *store, int handle, uint32_t chunk_number)
{
    struct object *object;
    int slot = store_object_of(store, handle, IS(NW_STORE_STREAM), &object);
    int result = slot < 0 ? slot : store_make_room(store, NULL, 0);

    if (result == NW_OK && chunk_number > object->tail) {
        result = NW_ERR_RANGE;
    }
    if (result < 0 || chunk_number <= object->head) {
        return result;
    }
    while (object->head < chunk_number && result == NW_OK) {
        result = store_drop_head(store, (uint8_t)slot);
    }
    if (result < 0) {
        return result;
    }
    return store_write_state(store, (uint8_t)slot);
}

/* CURSORS */

int nw_store_seek(struct nw_store *store, int handle, uint32_t chunk, uint16_t offset,
                  struct nw_store_cursor *cursor)
{
    struct object *object;
    int slot = store_object_of(store, handle, IS(NW_STORE_STREAM), &object);

    if (slot < 0 || chunk < object->head || chunk > object->tail) {
        return slot < 0 ? slot : (chunk < object->head ? (int)NW_ERR_NOT_FOUND : (int)NW_ERR_RANGE);
    }
    *cursor = (struct nw_store_cursor){
        .handle = handle, .chunk = chunk, .offset = offset, .at = STORE_NONE};
    return NW_OK;
}

int nw_store_first(struct nw_store *store, int handle, struct nw_store_cursor *cursor)
{
    struct object *object;
    int slot = store_object_of(store, handle, IS(NW_STORE_STREAM), &object);

    return slot < 0 ? slot : nw_store_seek(store, handle, object->head, 0, cursor);
}

int nw_store_last(struct nw_store *store, int handle, struct nw_store_cursor *cursor)
{
    struct object *object;
    int slot = store_object_of(store, handle, IS(NW_STORE_STREAM), &object);
    uint32_t chunk = slot < 0 ? 0 : object->tail;
    uint16_t offset = 0;

    if (slot >= 0 && room_to_grow(store, (uint8_t)slot, UINT16_MAX) > 0) {
        chunk--; /* what is appended next may go into this chunk */
        offset = (uint16_t)(store->offset - store->grow + 1U - store->chunk_header);
    }
    return slot < 0 ? slot : nw_store_seek(store, handle, chunk, offset, cursor);
}

/* The chunk the cursor stands in: its place and length, looked up again after a move. */
static int locate(struct nw_store *store, uint8_t slot, struct nw_store_cursor *cursor,
                  struct chunk *chunk)
{
    if (cursor->at != STORE_NONE && cursor->epoch == store->epoch &&
        cursor->offset < cursor->length) {
        *chunk = (struct chunk){.at = cursor->at, .length = cursor->length};
        return NW_OK;
    }
    int result = store_find_data(store, slot, cursor->chunk, chunk);
    cursor->at = result < 0 ? STORE_NONE : chunk->at;
    cursor->length = chunk->length;
    cursor->epoch = store->epoch;
    return result;
}

/* `part` bytes at the cursor, of the chunk that locate() told. */
static int read_element(struct nw_store *store, uint8_t slot, const struct nw_store_cursor *cursor,
                        struct chunk *chunk, uint16_t part, void *data)
{
    uint32_t at = store_after(store, cursor->at, (uint32_t)store->chunk_header + cursor->offset);
    int result = NW_OK;

    if (part < cursor->length) {
        return store_read(store, at, part, data, 1);
    }
    if (chunk->kind == 0) { /* the cursor remembers no checksum */
        result = store_find_data(store, slot, cursor->chunk, chunk);
    }
    return result < 0 ? result : store_payload(store, chunk, data, 1);
}

static void leave(struct nw_store_cursor *cursor, uint32_t chunk)
{
    cursor->chunk = chunk;
    cursor->offset = 0;
    cursor->at = STORE_NONE;
}

int nw_store_next(struct nw_store *store, struct nw_store_cursor *cursor, void *data,
                  uint16_t bytes)
{
    struct object *object;
    struct chunk chunk = {0};
    int slot = store_object_of(store, cursor->handle, IS(NW_STORE_STREAM), &object);

    if (slot < 0 || cursor->chunk < object->head) {
        return slot < 0 ? slot : (int)NW_ERR_NOT_FOUND;
    }
    for (uint8_t turn = 0; turn < 2U && cursor->chunk < object->tail; turn++) {
        int result = locate(store, (uint8_t)slot, cursor, &chunk);
        if (result < 0) {
            return result;
        }
        if (cursor->offset < cursor->length) {
            break;
        }
        if (cursor->chunk + 1U == object->tail) {
            return 0;
        }
        leave(cursor, cursor->chunk + 1U);
    }
    if (cursor->chunk >= object->tail) {
        return 0;
    }
    uint16_t left = (uint16_t)(cursor->length - cursor->offset);
    uint16_t part = left;
    if (object->unit != 0 && bytes < left) {
        part = (uint16_t)(bytes - bytes % object->unit);
    }
    if (part == 0 || part > bytes) {
        return NW_ERR_RANGE;
    }
    int result = read_element(store, (uint8_t)slot, cursor, &chunk, part, data);
    if (result < 0) {
        return result;
    }
    cursor->offset = (uint16_t)(cursor->offset + part);
    if (cursor->offset == cursor->length && cursor->chunk + 1U < object->tail) {
        leave(cursor, cursor->chunk + 1U);
    }
    return length_answer(NW_OK, part);
}

int nw_store_previous(struct nw_store *store, struct nw_store_cursor *cursor, void *data,
                      uint16_t bytes)
{
    struct object *object;
    struct chunk chunk = {0};
    struct nw_store_cursor before = *cursor;
    int slot = store_object_of(store, cursor->handle, IS(NW_STORE_STREAM), &object);

    if (slot < 0 || cursor->chunk < object->head) {
        return slot < 0 ? slot : (int)NW_ERR_NOT_FOUND;
    }
    if (before.offset == 0) {
        if (before.chunk == object->head) {
            return 0;
        }
        leave(&before, before.chunk - 1U);
    }
    int result = locate(store, (uint8_t)slot, &before, &chunk);
    if (result < 0) {
        return result;
    }
    if (cursor->offset == 0 || before.offset > before.length) {
        before.offset = before.length;
    }
    uint16_t part = object->unit != 0 ? object->unit : before.offset;
    if (part > before.offset || part > bytes) {
        return NW_ERR_RANGE;
    }
    before.offset = (uint16_t)(before.offset - part);
    result = read_element(store, (uint8_t)slot, &before, &chunk, part, data);
    if (result < 0) {
        return result;
    }
    *cursor = before;
    return length_answer(NW_OK, part);
}

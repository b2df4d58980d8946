/* SPDX-License-Identifier: Apache-2.0 */
/* Objects by name and by handle, and checkpoints: copies of all that an anchor tells of them. */
#include <string.h>

#include "store.h"

#define HANDLE_SHIFT 7U /* handles are generation << 7 | slot + 1 */

/* An object's slot, or an error. `types`: bit set of those that will do. */
int store_object_of(struct nw_store *store, int handle, uint8_t types, struct object **object)
{
    int slot = (handle & ((1 << HANDLE_SHIFT) - 1)) - 1;

    if (handle <= 0 || slot < 0 || slot >= (int)store->config.objects ||
        store->objects[slot].type == 0 ||
        store->objects[slot].generation != (handle >> HANDLE_SHIFT)) {
        return NW_ERR_NOT_FOUND;
    }
    *object = &store->objects[slot];
    return (types & (1U << (*object)->type)) != 0 ? slot : (int)NW_ERR_TYPE;
}

static int handle_of(const struct nw_store *store, uint8_t slot)
{
    return (store->objects[slot].generation << HANDLE_SHIFT) | (slot + 1);
}

static uint8_t length_of(const struct nw_store *store, const char *name)
{
    uint8_t length = 0;

    while (length <= store->config.name_bytes && name[length] != '\0') {
        length++;
    }
    return length;
}

int nw_store_find(struct nw_store *store, const char *name)
{
    uint8_t length = length_of(store, name);

    if (length == 0 || length > store->config.name_bytes) {
        return NW_ERR_NAME;
    }
    for (uint8_t slot = 0; slot < store->config.objects; slot++) {
        const char *own = store_name(store, slot);
        if (store->objects[slot].type != 0 && memcmp(own, name, length) == 0 &&
            (length == store->config.name_bytes || own[length] == '\0')) {
            return handle_of(store, slot);
        }
    }
    return NW_ERR_NOT_FOUND;
}

static int check_spec(const struct nw_store *store, const struct nw_store_spec *spec)
{
    uint32_t most = store_block_bytes(store) / 3U;

    if (spec->type < NW_STORE_STACK || spec->type > NW_STORE_FILE ||
        (spec->flags & ~NW_STORE_EXPENDABLE) != 0 || spec->unit_bytes > most) {
        return NW_ERR_CONFIG;
    }
    if (spec->type != NW_STORE_STREAM && spec->flags != 0) {
        return NW_ERR_CONFIG;
    }
    if (spec->type == NW_STORE_FILE &&
        spec->unit_bytes > store_page_room(store)) {
        return NW_ERR_CONFIG;
    }
    if (spec->type == NW_STORE_ARRAY) {
        return spec->unit_bytes == 0 || spec->count == 0 ||
                       spec->count > store_span(store, (uint8_t)(store->config.frames - 1U))
                   ? (int)NW_ERR_CONFIG
                   : (int)NW_OK;
    }
    return spec->count != 0 && spec->type != NW_STORE_STREAM ? (int)NW_ERR_CONFIG : (int)NW_OK;
}

/* Whether an object can be what the chip tells of it; else NW_ERR_CORRUPT. */
int store_check_object(const struct nw_store *store, const struct object *object)
{
    struct nw_store_spec spec = {.type = object->type,
                                 .flags = object->flags,
                                 .unit_bytes = object->unit,
                                 .count = object->limit};
    uint32_t most = store->blocks * (store_block_bytes(store) / CHUNK_HEADER);
    int damaged = object->head > object->tail || object->generation == 0 ||
                  object->generation > STORE_GENERATIONS;

    if (object->type == NW_STORE_ARRAY) {
        spec.count = 1; /* how far its keys reach is seen when they are set */
    } else {
        damaged |= object->tail - object->head > most; /* more chunks than the chip holds */
    }
    if (object->type == NW_STORE_FILE) {
        damaged |= object->unit == 0 || object->fill > object->unit;
    }
    return damaged || check_spec(store, &spec) < 0 ? (int)NW_ERR_CORRUPT : (int)NW_OK;
}

static void set_name(struct nw_store *store, uint8_t slot, const char *name)
{
    memset(store_name(store, slot), 0, store->config.name_bytes);
    memcpy(store_name(store, slot), name, length_of(store, name));
}

int nw_store_create(struct nw_store *store, const char *name, const struct nw_store_spec *spec)
{
    uint8_t slot = 0;
    int result = nw_store_find(store, name);

    if (result >= 0 || result != NW_ERR_NOT_FOUND) {
        return result >= 0 ? (int)NW_ERR_EXISTS : result;
    }
    result = check_spec(store, spec);
    if (result < 0) {
        return result;
    }
    while (slot < store->config.objects && store->objects[slot].type != 0) {
        slot++;
    }
    if (slot == store->config.objects) {
        return NW_ERR_FULL;
    }
    struct object *object = &store->objects[slot];
    uint8_t generation = object->generation;
    uint16_t unit = spec->unit_bytes;
    if (spec->type == NW_STORE_FILE && unit == 0) {
        for (unit = 256; unit > store->page_bytes / 2U; unit /= 2U) {
        }
    }
    result = store_make_room(store, object, store_block_bytes(store) / 16U);
    if (result < 0) {
        return result;
    }
    *object = (struct object){
        .root = STORE_NONE,
        .limit = spec->type == NW_STORE_STREAM ? spec->count : 0,
        .tail = spec->type == NW_STORE_ARRAY ? spec->count : 0,
        .unit = unit,
        .type = spec->type,
        .generation = (uint8_t)(generation >= STORE_GENERATIONS ? 1U : generation + 1U),
        .flags = spec->flags};
    set_name(store, slot, name);
    result = store_write_anchor(store);
    return result < 0 ? result : handle_of(store, slot);
}

/* Gives up what an object holds: in RAM, until an anchor tells so. */
static void forget(struct nw_store *store, uint8_t slot)
{
    struct object *object = &store->objects[slot];
    uint8_t generation = object->generation;

    store_killed(store, object, object->bytes);
    store_drop_frames(store, slot);
    memset(object, 0, sizeof *object);
    object->generation = generation;
    store->epoch++;
}

int nw_store_delete(struct nw_store *store, int handle)
{
    struct object *object;
    int slot = store_object_of(store, handle, 0xFF, &object);
    int result = slot < 0 ? slot : store_make_room(store, NULL, 0);

    if (result < 0) {
        return result;
    }
    forget(store, (uint8_t)slot);
    return store_write_anchor(store);
}

int nw_store_rename(struct nw_store *store, int handle, const char *name)
{
    struct object *object;
    int slot = store_object_of(store, handle, 0xFF, &object);
    int result = slot < 0 ? slot : nw_store_find(store, name);

    if (slot < 0 || result == handle || result == NW_ERR_NAME) {
        return result < 0 ? result : (int)NW_OK;
    }
    int other = result < 0 ? -1 : store_object_of(store, result, 0xFF, &object);
    result = store_make_room(store, NULL, 0);
    if (result < 0) {
        return result;
    }
    if (other >= 0) {
        forget(store, (uint8_t)other);
    }
    set_name(store, (uint8_t)slot, name);
    return store_write_anchor(store);
}

int nw_store_at(struct nw_store *store, uint8_t slot, struct nw_store_about *about)
{
    if (slot >= store->config.objects) {
        return NW_ERR_RANGE;
    }
    const struct object *object = &store->objects[slot];
    if (object->type == 0) {
        return NW_ERR_NOT_FOUND;
    }
    memset(about, 0, sizeof *about);
    about->handle = handle_of(store, slot);
    about->spec = (struct nw_store_spec){
        .type = object->type,
        .flags = object->flags,
        .unit_bytes = object->unit,
        .count = object->type == NW_STORE_ARRAY ? object->tail : object->limit};
    about->head = object->head;
    about->tail = object->tail;
    about->bytes = object->bytes;
    memcpy(about->name, store_name(store, slot), store->config.name_bytes);
    return NW_OK;
}

/* Head and tail from here on, for what no element tells. */
int store_write_state(struct nw_store *store, uint8_t slot)
{
    const struct object *object = &store->objects[slot];
    struct chunk chunk = {.kind = CHUNK_STATE,
                          .mask = 1,
                          .id = slot,
                          .generation = object->generation,
                          .length = STATE_BYTES};
    uint8_t bytes[STATE_BYTES];

    nw_put32(bytes, object->head);
    nw_put32(bytes + 4, object->tail);
    nw_put32(bytes + 8, object->bytes);
    nw_put16(bytes + 12, object->fill);
    return store_append(store, &chunk, bytes);
}

void store_get_state(struct object *object, const uint8_t *payload)
{
    object->head = nw_get32(payload);
    object->tail = nw_get32(payload + 4);
    object->bytes = nw_get32(payload + 8);
    object->fill = nw_get16(payload + 12);
}

/* The chunk of slot, key, length and mask in *chunk, written and told to the index. */
int store_put_data(struct nw_store *store, struct chunk *chunk, const uint8_t *data, uint32_t *old)
{
    chunk->kind = CHUNK_DATA;
    chunk->generation = store->objects[chunk->id].generation;
    int result = store_append(store, chunk, data);

    if (result == NW_OK) {
        result = store_set(store, chunk->id, chunk, chunk->mask == DATA_APPEND, old);
    }
    if (result < 0) {
        store->broken = result;
    }
    return result;
}

int nw_store_sync(struct nw_store *store)
{
    return store->broken != NW_OK ? store->broken : store_flush(store);
}

const struct nw_store_stats *nw_store_stats(const struct nw_store *store)
{
    return &store->stats;
}

void nw_store_space(const struct nw_store *store, struct nw_store_space *space)
{
    space->used_bytes = store_live(store);
    space->limit_bytes = store->limit;
    space->free_blocks = store->free > store->low ? (uint32_t)store->free - store->low : 0;
    space->good_blocks = store->good;
}

/* Checkpoints */

static uint32_t bytes_of(const struct nw_store *store, uint8_t table)
{
    uint32_t bytes = 0;

    for (uint8_t slot = 0; slot < store->config.objects; slot++) {
        bytes += store->objects[table * store->config.objects + slot].bytes;
    }
    return bytes;
}

/* What only checkpoints hold is no more than all they hold. */
static void bound_held(struct nw_store *store)
{
    uint32_t bytes = 0;

    for (uint8_t t = 1; t < store->tables; t++) {
        bytes += store->kept[t] != 0 ? bytes_of(store, t) : 0;
    }
    store->held = store->held < bytes ? store->held : bytes;
}

static void copy_table(struct nw_store *store, uint8_t to, uint8_t from)
{
    uint8_t objects = store->config.objects;

    for (uint8_t slot = 0; slot < objects; slot++) {
        store_drop_frames(store, (uint8_t)(to * objects + slot));
    }
    memcpy(store->objects + to * objects, store->objects + from * objects,
           objects * sizeof *store->objects);
    memcpy(store_name(store, (uint8_t)(to * objects)),
           store_name(store, (uint8_t)(from * objects)),
           objects * (uint16_t)store->config.name_bytes);
    store->epoch++;
}

static void clear_table(struct nw_store *store, uint8_t table)
{
    uint8_t objects = store->config.objects;

    for (uint8_t slot = 0; slot < objects; slot++) {
        store_drop_frames(store, (uint8_t)(table * objects + slot));
    }
    memset(store->objects + table * objects, 0, objects * sizeof *store->objects);
    store->kept[table] = 0;
    bound_held(store);
}

/* What callers see of a serial: 1 .. 32,767 round and round. */
static int number_of(uint32_t serial)
{
    return serial == 0 ? 0 : (int)((serial - 1U) % 32767U) + 1;
}

/* The table of a checkpoint, 0: none. Number 0 is the newest. */
static uint8_t table_of(const struct nw_store *store, int number)
{
    uint8_t table = 0;

    for (uint8_t t = 1; t < store->tables; t++) {
        if (store->kept[t] != 0 && (number == 0 ? store->kept[t] > store->kept[table]
                                                : number_of(store->kept[t]) == number)) {
            table = t;
        }
    }
    return table;
}

int nw_store_checkpoint(struct nw_store *store)
{
    uint8_t table = 1;

    if (store->tables < 2U) {
        return NW_ERR_UNSUPPORTED;
    }
    int result = store_make_room(store, NULL, 0);
    if (result == NW_OK) {
        result = store_flush_all(store);
    }
    if (result < 0) {
        return result;
    }
    for (uint8_t t = 2; t < store->tables; t++) {
        if (store->kept[t] < store->kept[table]) {
            table = t;
        }
    }
    clear_table(store, table);
    copy_table(store, table, 0);
    store->kept[table] = ++store->serial;
    result = store_write_anchor(store);
    return result < 0 ? result : number_of(store->serial);
}

int nw_store_rollback(struct nw_store *store, int checkpoint)
{
    uint8_t table = checkpoint >= 0 ? table_of(store, checkpoint) : 0;

    if (table == 0) {
        return NW_ERR_NOT_FOUND;
    }
    int result = store_make_room(store, NULL, 0);
    if (result == NW_OK) {
        result = store_flush_all(store);
    }
    if (result < 0) {
        return result;
    }
    store->held += bytes_of(store, 0);
    copy_table(store, 0, table);
    bound_held(store);
    return store_write_anchor(store);
}

int nw_store_drop(struct nw_store *store, int checkpoint)
{
    uint8_t table = checkpoint > 0 ? table_of(store, checkpoint) : 0;

    if (table == 0) {
        return NW_ERR_NOT_FOUND;
    }
    int result = store_make_room(store, NULL, 0);
    if (result < 0) {
        return result;
    }
    clear_table(store, table);
    return store_write_anchor(store);
}

int nw_store_kept(const struct nw_store *store, uint8_t place)
{
    return place + 1U < store->tables ? number_of(store->kept[place + 1U]) : 0;
}

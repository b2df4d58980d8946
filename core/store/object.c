/* SPDX-License-Identifier: Apache-2.0 */
/* Objects by name and by handle, and checkpoints: copies of all that an anchor tells of them. */
#include <string.h>

#include "store.h"

#define HANDLE_SHIFT 7U /* handles are generation << 7 | slot + 1 */

/* The object of a handle. `types`: bit set of those that will do. NULL: store->refused tells. */
struct object *store_object_of(struct nw_store *store, int handle, uint8_t types)
{
    uint8_t slot = (uint8_t)((handle & ((1 << HANDLE_SHIFT) - 1)) - 1);
    struct object *object = store->objects + slot;

    store->refused = NW_ERR_NOT_FOUND;
    if (handle <= 0 || slot >= store->slots || object->type == 0 ||
        object->generation != (handle >> HANDLE_SHIFT)) {
        return NULL;
    }
    store->refused = NW_ERR_TYPE;
    return (types & (1U << object->type)) != 0 ? object : NULL;
}

/* Does a chunk tell of this object? */
int store_is_of(const struct nw_store *store, const struct chunk *chunk,
                const struct object *object)
{
    return chunk->generation == object->generation && chunk->id == store_slot_of(store, object);
}

/* The payload of the object's chunk with that key, if it is the one that may grow in the buffer;
 * else NULL. */
uint8_t *store_growing(const struct nw_store *store, const struct object *object, uint32_t key)
{
    return store->grow != 0 && store->growing.key == key &&
                   store_is_of(store, &store->growing, object)
               ? store->buffer + store->grow - 1 + store->chunk_header
               : NULL;
}

static int handle_of(const struct nw_store *store, const struct object *object)
{
    return (object->generation << HANDLE_SHIFT) | (store_slot_of(store, object) + 1);
}

static uint8_t length_of(const struct nw_store *store, const char *name)
{
    uint8_t length = 0;

    while (length <= store->name_bytes && name[length] != '\0') {
        length++;
    }
    return length;
}

int nw_store_find(struct nw_store *store, const char *name)
{
    const struct object *object = store->objects;
    const char *own = store->names;
    uint8_t length = length_of(store, name);

    if (length == 0 || length > store->name_bytes) {
        return NW_ERR_NAME;
    }
    for (uint8_t left = store->slots; left > 0; left--) {
        if (object->type != 0 && memcmp(own, name, length) == 0 &&
            (length == store->name_bytes || own[length] == '\0')) {
            return handle_of(store, object);
        }
        object++;
        own += store->name_bytes;
    }
    return NW_ERR_NOT_FOUND;
}

/* Whether an object can be what the chip tells of it; else NW_ERR_CORRUPT. */
int store_check_object(const struct nw_store *store, const struct object *object)
{
    uint8_t type = object->type;

    if (type < NW_STORE_STACK || type > NW_STORE_FILE || object->generation == 0 ||
        object->generation > STORE_GENERATIONS || object->head > object->tail ||
        object->unit > store->longest || (object->flags & ~NW_STORE_EXPENDABLE) != 0) {
        return NW_ERR_CORRUPT;
    }
    if (type != NW_STORE_STREAM && (object->flags != 0 || object->limit != 0)) {
        return NW_ERR_CORRUPT;
    }
    if ((type == NW_STORE_ARRAY || type == NW_STORE_FILE) && object->unit == 0) {
        return NW_ERR_CORRUPT;
    }
    if (type == NW_STORE_FILE &&
        (object->unit > store_page_room(store) || object->fill > object->unit)) {
        return NW_ERR_CORRUPT;
    }
    /* How far an array's keys reach is seen when they are set; of the others there are no more
     * chunks than the chip has bytes. */
    return type != NW_STORE_ARRAY &&
                   store_block_of(store, object->tail - object->head) == STORE_NO_BLOCK
               ? (int)NW_ERR_CORRUPT
               : (int)NW_OK;
}

static void set_name(struct nw_store *store, const struct object *object, const char *name)
{
    char *own = store_name(store, store_slot_of(store, object));

    memset(own, 0, store->name_bytes);
    memcpy(own, name, length_of(store, name));
}

/* An object as specified, in a slot that is free: so it stays until it has its type. */
static int specify(const struct nw_store *store, const struct nw_store_spec *spec,
                   struct object *object)
{
    uint8_t generation = object->generation;

    memset(object, 0, sizeof *object);
    object->root = STORE_NONE;
    object->unit = spec->unit_bytes;
    object->flags = spec->flags;
    object->generation = 1;
    if (spec->type == NW_STORE_ARRAY) {
        object->tail = spec->count;
    } else {
        object->limit = spec->count;
    }
    if (spec->type == NW_STORE_FILE && object->unit == 0) {
        uint16_t room = store_page_room(store); /* less than half of the smallest pages */
        uint16_t most = store->page_bytes / 2U < room ? store->page_bytes / 2U : room;

        for (object->unit = 256; object->unit > most; object->unit /= 2U) {
        }
    }
    object->type = spec->type;
    int result = store_check_object(store, object);
    object->type = 0;
    object->generation = generation;
    if (result < 0 || (spec->type == NW_STORE_ARRAY ? spec->count == 0
                                                    : spec->type == NW_STORE_STREAM &&
                                                          object->unit > ELEMENT_LONGEST)) {
        return NW_ERR_CONFIG;
    }
    return spec->type == NW_STORE_ARRAY &&
                   store_shorten(store, spec->count - 1U, (uint8_t)(store->frame_count - 1U)) != 0
               ? (int)NW_ERR_RANGE
               : (int)NW_OK;
}

/* What RAM tells of all objects becomes durable. */
static int commit(struct nw_store *store)
{
    return store_fail(store, store_write_anchor(store));
}

int nw_store_create(struct nw_store *store, const char *name, const struct nw_store_spec *spec)
{
    struct object *object = store->objects;
    uint8_t left = store->slots;
    int result = nw_store_find(store, name);

    if (result != NW_ERR_NOT_FOUND) {
        return result >= 0 ? (int)NW_ERR_EXISTS : result;
    }
    for (; left > 0 && object->type != 0; left--) {
        object++;
    }
    if (left == 0) {
        return NW_ERR_FULL;
    }
    result = specify(store, spec, object);
    if (result == NW_OK) {
        struct need need = {.object = object, .type = spec->type};
        result = store_make_room(store, &need);
    }
    if (result < 0) {
        return result;
    }
    object->type = spec->type;
    object->generation = (uint8_t)(object->generation % STORE_GENERATIONS + 1U);
    set_name(store, object, name);
    result = commit(store);
    return result < 0 ? result : handle_of(store, object);
}

/* Gives up what an object holds: in RAM, until an anchor tells so. */
static void forget(struct nw_store *store, struct object *object)
{
    uint8_t generation = object->generation;

    store_killed(store, object, object->bytes);
    store_drop_frames(store, object, 1);
    memset(object, 0, sizeof *object);
    object->generation = generation;
    store->epoch++;
}

int nw_store_delete(struct nw_store *store, int handle)
{
    struct object *object = store_object_of(store, handle, STORE_ANY);
    int result = object == NULL ? store->refused : store_make_room(store, NULL);

    if (result == NW_OK) {
        forget(store, object);
        result = commit(store);
    }
    return result;
}

int nw_store_rename(struct nw_store *store, int handle, const char *name)
{
    struct object *object = store_object_of(store, handle, STORE_ANY);
    int result = object == NULL ? store->refused : nw_store_find(store, name);

    if (object == NULL || result == handle || result == NW_ERR_NAME) {
        return result < 0 ? result : nw_store_sync(store);
    }
    struct object *other = store_object_of(store, result, STORE_ANY);
    result = store_make_room(store, NULL);
    if (result < 0) {
        return result;
    }
    if (other != NULL) {
        forget(store, other);
    }
    set_name(store, object, name);
    return commit(store);
}

int nw_store_at(struct nw_store *store, uint8_t slot, struct nw_store_about *about)
{
    if (slot >= store->slots) {
        return NW_ERR_RANGE;
    }
    const struct object *object = &store->objects[slot];
    if (object->type == 0) {
        return NW_ERR_NOT_FOUND;
    }
    memset(about, 0, sizeof *about);
    about->handle = handle_of(store, object);
    about->spec.type = object->type;
    about->spec.flags = object->flags;
    about->spec.unit_bytes = object->unit;
    about->spec.count = object->type == NW_STORE_ARRAY ? object->tail : object->limit;
    about->head = object->head;
    about->tail = object->tail;
    about->bytes = object->bytes;
    memcpy(about->name, store_name(store, slot), store->name_bytes);
    return NW_OK;
}

/* Head and tail from here on, for what no element tells. */
int store_write_state(struct nw_store *store, const struct object *object)
{
    struct chunk chunk;
    uint8_t bytes[STATE_BYTES];

    store_describe(&chunk, CHUNK_STATE, 1, 0, STATE_BYTES);
    nw_put32(bytes, object->head);
    nw_put32(bytes + 4, object->tail);
    nw_put32(bytes + 8, object->bytes);
    nw_put16(bytes + 12, object->fill);
    return store_append(store, object, &chunk, bytes);
}

void store_get_state(struct object *object, const uint8_t *payload)
{
    object->head = nw_get32(payload);
    object->tail = nw_get32(payload + 4);
    object->bytes = nw_get32(payload + 8);
    object->fill = nw_get16(payload + 12);
}

/* A chunk of data is the newest of its key from now on, or of the key behind the last one. */
int store_enter(struct nw_store *store, struct object *object, const struct chunk *chunk)
{
    int file = object->type == NW_STORE_FILE;
    uint32_t bytes = store_booked(store, file ? object->unit : chunk->length);
    uint32_t old;
    int result = store_set(store, object, chunk, &old);

    if (result < 0) {
        return result;
    }
    object->bytes += bytes;
    if (store_is_append(chunk) && chunk->key == object->tail) {
        object->tail++;
    } else if (old != STORE_NONE || file) { /* a file's books count a block that is lost, too */
        store_killed(store, object, bytes);
    }
    if (file && chunk->key + 1U == object->tail) {
        object->fill = chunk->length;
    }
    if (object->limit != 0 && object->tail - object->head > object->limit) {
        result = store_drop_head(store, object); /* a ring gives up what is too many */
    }
    return result;
}

/* Has the index take data as *chunk describes it, before any of it is written: what it can fail at
 * it fails at now. NW_ERR_RANGE: it would get too high for the frames; damage: of a node on the
 * way. Both are this call's error alone. */
int store_ready(struct nw_store *store, struct object *object, const struct chunk *chunk)
{
    if (!store_is_under(store, chunk->key, object->head, (uint8_t)(store->frame_count - 1U))) {
        return NW_ERR_RANGE;
    }
    int result = store_set(store, object, chunk, NULL);

    return store_is_damage(result) ? result : store_fail(store, result);
}

/* Data as *chunk describes it, written and entered. After an error of
 * store_ready() nothing was written. */
int store_put_data(struct nw_store *store, struct object *object, struct chunk *chunk,
                   const uint8_t *data)
{
    int result = store_ready(store, object, chunk);

    if (result < 0) {
        return result;
    }
    result = store_append(store, object, chunk, data);
    if (result == NW_OK) {
        result = store_enter(store, object, chunk);
    }
    return store_fail(store, result);
}

/* The same in one page, in which it may grow to a whole unit and beyond if it is the last. Nor was
 * anything written after NW_ERR_FULL. */
int store_put_growing(struct nw_store *store, struct object *object, struct chunk *chunk,
                      const uint8_t *data)
{
    int result = store_ready(store, object, chunk); /* first: it may write */

    if (result == NW_OK) {
        result = store_find_room(store, object->unit, 1);
    }
    if (result == NW_OK) {
        result = store_put_data(store, object, chunk, data);
    }
    if (result == NW_OK && chunk->key + 1U == object->tail) {
        store_let_grow(store, chunk);
    }
    return result;
}

int nw_store_sync(struct nw_store *store)
{
    return store_flush(store);
}

const struct nw_store_stats *nw_store_stats(const struct nw_store *store)
{
    return &store->stats;
}

/* Checkpoints */

void store_bound_held(struct nw_store *store)
{
    store->held = store_held_by_others(store, store->held, 0);
}

static void copy_table(struct nw_store *store, uint8_t to, uint8_t from)
{
    uint8_t objects = store->slots;
    uint16_t name_bytes = (uint16_t)(objects * (uint16_t)store->name_bytes);

    store_drop_frames(store, store_table(store, to), objects);
    memcpy(store_table(store, to), store_table(store, from), objects * sizeof *store->objects);
    memcpy(store->names + to * name_bytes, store->names + from * name_bytes, name_bytes);
    store->epoch++;
}

static void clear_table(struct nw_store *store, uint8_t table)
{
    uint8_t objects = store->slots;

    store_drop_frames(store, store_table(store, table), objects);
    memset(store_table(store, table), 0, objects * sizeof *store->objects);
    store->kept[table] = 0;
    store_bound_held(store);
}

/* The table of a checkpoint, 0: none. Number 0 is the newest. */
static uint8_t table_of(const struct nw_store *store, int number)
{
    uint8_t table = 0;

    for (uint8_t t = 1; t < store->tables; t++) {
        if (number == 0 ? store->kept[t] > store->kept[table]
                        : store_number_of(store->kept[t]) == number) {
            table = t;
        }
    }
    return table;
}

/* What only checkpoints hold once table `to` is a copy of table `from`, one of which is that of the
 * objects. There is no more then than now, and the checkpoint of the two has what they have. */
static uint32_t held_after(const struct nw_store *store, uint8_t to, uint8_t from)
{
    uint32_t held = store->held;

    if (to == 0) {
        uint32_t all = held + store_bytes_of(store, 0);
        uint32_t own = store_bytes_of(store, from);
        held = all > own ? all - own : 0;
    }
    return store_held_by_others(store, held, to != 0 ? to : from);
}

/* Has table `to` be a copy of table `from`: in RAM, until an anchor tells so. NW_ERR_FULL: it would
 * be too much, and nothing was changed. */
static int begin_copy(struct nw_store *store, uint8_t to, uint8_t from)
{
    int result = store->broken;

    if (result == NW_OK && !store_fits_copy(store, to, from, held_after(store, to, from))) {
        result = NW_ERR_FULL;
    }
    if (result == NW_OK) {
        result = store_make_room(store, NULL);
    }
    if (result == NW_OK) {
        result = store_flush_all(store);
    }
    if (result == NW_OK) {
        store->held = held_after(store, to, from);
        copy_table(store, to, from);
    }
    return result;
}

int nw_store_checkpoint(struct nw_store *store)
{
    uint8_t table = 1;

    if (store->tables < 2U) {
        return NW_ERR_UNSUPPORTED;
    }
    for (uint8_t t = 2; t < store->tables; t++) {
        if (store->kept[t] < store->kept[table]) {
            table = t;
        }
    }
    int result = begin_copy(store, table, 0);
    if (result < 0) {
        return result;
    }
    do { /* numbers begin anew one day: none is given twice at a time */
        store->serial++;
    } while (table_of(store, store_number_of(store->serial)) != 0);
    store->kept[table] = store->serial;
    result = commit(store);
    return result < 0 ? result : store_number_of(store->serial);
}

int nw_store_rollback(struct nw_store *store, int checkpoint)
{
    uint8_t table = table_of(store, checkpoint);

    if (table == 0) {
        return NW_ERR_NOT_FOUND;
    }
    int result = begin_copy(store, 0, table);
    if (result < 0) {
        return result;
    }
    store_sweep_anew(store); /* what is there now was perhaps not passed as the checkpoint's */
    return commit(store);
}

int nw_store_drop(struct nw_store *store, int checkpoint)
{
    uint8_t table = checkpoint > 0 ? table_of(store, checkpoint) : 0;

    if (table == 0) {
        return NW_ERR_NOT_FOUND;
    }
    int result = store_make_room(store, NULL);
    if (result == NW_OK) {
        clear_table(store, table);
        result = commit(store);
    }
    return result;
}

int nw_store_kept(const struct nw_store *store, uint8_t place)
{
    return place + 1U < store->tables ? store_number_of(store->kept[place + 1U]) : 0;
}

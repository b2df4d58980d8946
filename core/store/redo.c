/* SPDX-License-Identifier: Apache-2.0 */
/* What came since the trees on flash were told, from the anchor's `redo` to the end of the log: a
 * mount replays all of it; where it may not write, a look-up goes through it for one key. */
#include "store.h"

/* Through what came since the trees on flash were told. */
struct redo {
    struct walk walk;
    struct chunk moved; /* not sealed: the chunk met last, if that is moved data; else kind 0 */
    uint32_t room;  /* chunks that may have stood in what was walked, less those found missing */
    uint32_t place; /* of the last damage met, or STORE_NONE */
    uint8_t passed; /* the anchor */
    /* Instead of that, where one key's chunk lies. NULL: all is replayed. */
    int (*meet)(struct nw_store *store, struct redo *redo, struct chunk *chunk);
    const struct object *sought; /* whose key */
    uint32_t key;
    uint32_t at;   /* of its newest chunk; STORE_NONE: it was given up */
    uint32_t next; /* lowest key behind it that was met */
    int told;      /* 1: `at` is */
};

/*
 * An object's keys up to `to` are missing: in a log that was only cut all before a chunk is there,
 * so one that tells of keys behind the tail proves that those between were damaged. They count as
 * lost and have no chunk, whatever the tree told of them before. NW_ERR_CORRUPT: there cannot have
 * been so many.
 */
static int leave_out(struct nw_store *store, struct redo *redo, struct object *object,
                     uint32_t to)
{
    struct chunk none = {.at = STORE_NONE, .kind = CHUNK_DATA, .mask = DATA_APPEND};
    int result = NW_OK;

    if (to - object->tail > redo->room) {
        return NW_ERR_CORRUPT;
    }
    redo->room -= to - object->tail;
    while (object->tail < to && result == NW_OK) {
        uint32_t old;

        none.key = object->tail;
        result = store_set(store, object, &none, &old);
        if (store_is_damage(result)) { /* nor can the node be read, which a reader is told */
            result = NW_OK;
        }
        store_count(&store->stats.lost, 1);
        object->tail++;
        if (object->type == NW_STORE_FILE) { /* its books count blocks */
            object->bytes += store_booked(store, object->unit);
            object->fill = object->unit;
        }
        if (result == NW_OK && object->limit != 0 &&
            object->tail - object->head > object->limit) {
            result = store_drop_head(store, object);
        }
    }
    return result;
}

/* Could the tree hold the key without growing down to keys that are gone? */
static int reaches(const struct nw_store *store, const struct object *object, uint32_t key)
{
    uint8_t digits = object->height > 0 ? object->height : 1U;

    return key >= object->head || store_is_under(store, key, object->head, digits);
}

/* Data that the log tells of: into the index, and once the anchor is passed, into the books. */
static int redo_data(struct nw_store *store, struct redo *redo, struct object *object,
                     struct chunk *chunk)
{
    uint32_t to = chunk->key + (store_is_append(chunk) ? 0 : 1U); /* were there before it */
    uint32_t old;

    if (chunk->key >= object->tail && (redo->passed == 0 || object->type == NW_STORE_ARRAY)) {
        return NW_OK;
    }
    if (to > object->tail) {
        int result = store_verify(store, chunk); /* bytes by chance prove nothing */
        if (result == NW_OK) {
            result = leave_out(store, redo, object, to);
        }
        if (result < 0) {
            return result;
        }
    }
    if (!reaches(store, object, chunk->key)) {
        return NW_OK;
    }
    return redo->passed != 0 ? store_enter(store, object, chunk)
                             : store_set(store, object, chunk, &old);
}

static int redo_state(struct nw_store *store, struct redo *redo, struct object *object,
                      struct chunk *chunk)
{
    struct object told = *object;
    uint8_t bytes[STATE_BYTES];

    if (chunk->length != STATE_BYTES) {
        return NW_OK;
    }
    int result = store_payload(store, chunk, bytes, 1);
    if (result == NW_OK) {
        store_get_state(&told, bytes);
        result = store_check_object(store, &told);
    }
    if (result == NW_OK && told.tail > object->tail && object->type != NW_STORE_ARRAY) {
        result = leave_out(store, redo, object, told.tail);
    }
    if (result == NW_OK) {
        if (told.bytes < object->bytes) {
            store_killed(store, object, object->bytes - told.bytes);
        }
        store_get_state(object, bytes);
    }
    return result;
}

/*
 * `last`: moved data that nothing follows. If it is not whole it is as if it had not been: what it
 * was copied from is still there, for no anchor has told that this is free. Where one wrong read
 * has spoilt a copy the right one comes next, but for a cut.
 */
static int redo_chunk(struct nw_store *store, struct redo *redo, struct chunk *chunk, int last)
{
    struct object *object = &store->objects[chunk->id];
    int result = NW_OK;

    if (store_seal(store) != NULL || last) { /* not even that it is nothing to be redone */
        result = store_verify(store, chunk);
    }
    if (last && store_is_damage(result)) {
        return NW_OK;
    }
    if (result < 0 || chunk->id >= store->slots) {
        /* nothing to be redone, or to be counted below */
    } else if (redo->meet != NULL) {
        result = redo->meet(store, redo, chunk);
    } else if (chunk->kind == CHUNK_MOVED) {
        result = store_set_moved(store, chunk);
    } else if (store_is_known(object, chunk)) {
        if (chunk->kind == CHUNK_DATA) {
            result = redo_data(store, redo, object, chunk);
        } else if (chunk->kind == CHUNK_STATE && redo->passed != 0) {
            result = redo_state(store, redo, object, chunk);
        }
    }
    if (store_is_damage(result) || result == NW_ERR_NOT_FOUND) {
        store_count(&store->stats.lost, 1);
        redo->place = chunk->at;
        result = NW_OK;
    }
    /* A tree higher than the frames allow. */
    return result == NW_ERR_RANGE ? (int)NW_ERR_VERSION : result;
}

/* Replays the log from the anchor's redo to its end. */
static int redo_log(struct nw_store *store, struct redo *redo)
{
    uint16_t last = store_block_of(store, store->next_redo);
    uint32_t most = store_block_bytes(store) / store->chunk_header; /* chunks in a block */
    struct walk *walk = &redo->walk;
    struct chunk chunk;
    int result = store_begin_walk(store, walk, store->redo, last);

    walk->end = store->next_redo;
    redo->room = most;
    redo->place = STORE_NONE;
    redo->passed = 0;
    redo->moved.kind = 0;
    while (result >= 0) {
        result = store_step(store, walk, &chunk);
        if (result == STORE_WALK_BLOCK) {
            redo->room += most;
            continue;
        }
        int end = result == 0;
        if (redo->moved.kind != 0) {
            int moved = redo_chunk(store, redo, &redo->moved, end);
            redo->moved.kind = 0;
            if (moved < 0) {
                return moved;
            }
        }
        if (end) {
            return walk->block == last ? (int)NW_OK : (int)NW_ERR_CORRUPT;
        }
        if (result > 0) {
            redo->passed = (uint8_t)(redo->passed | (walk->at == store->anchor ? 1U : 0U));
            walk->at = store_behind(store, &chunk);
            if (chunk.kind == CHUNK_MOVED && store_seal(store) == NULL) {
                redo->moved = chunk;
            } else {
                result = redo_chunk(store, redo, &chunk, 0);
            }
        } else if (result == NW_ERR_CORRUPT) {
            store_count(&store->stats.lost, 1);
            (void)store_damaged(store, walk->at); /* sealed: it counts there, too */
            redo->place = walk->at;
            walk->at = store_at(store, store_page_of(store, walk->at), store->page_bytes);
            result = NW_OK;
        }
    }
    return result == NW_ERR_NOT_FOUND ? (int)NW_ERR_CORRUPT : result;
}

int store_redo(struct nw_store *store, uint32_t *place)
{
    struct redo redo = {.meet = NULL};
    int result = redo_log(store, &redo);

    *place = redo.place;
    return result;
}

/* Does a chunk tell of the key sought? In which table data belongs to, its mask says; where the end
 * of a list was given up, so was the key. */
static int seek_in(struct nw_store *store, struct redo *redo, struct chunk *chunk)
{
    uint16_t table = (uint16_t)((uint16_t)(redo->sought - store->objects) / store->slots);
    uint16_t tables = chunk->kind == CHUNK_MOVED ? chunk->mask : 1U;
    uint8_t bytes[STATE_BYTES];

    if (!store_is_of(store, chunk, redo->sought) || (tables & (1U << table)) == 0) {
        return NW_OK;
    }
    if (chunk->kind == CHUNK_STATE && chunk->length == STATE_BYTES) {
        int result = store_payload(store, chunk, bytes, 1);
        if (result == NW_OK && nw_get32(bytes + 4) <= redo->key) {
            redo->at = STORE_NONE;
            redo->told = 1;
        }
        return result;
    }
    if (store_is_data(chunk) && chunk->key == redo->key) {
        redo->at = chunk->at;
        redo->told = 1;
    } else if (store_is_data(chunk) && chunk->key > redo->key && chunk->key < redo->next) {
        redo->next = chunk->key;
    }
    return NW_OK;
}

int store_seek_log(struct nw_store *store, const struct object *object, uint32_t key, uint32_t *at,
                   uint32_t *next)
{
    struct redo redo = {.meet = seek_in, .sought = object, .key = key, .next = *next};
    struct nw_store_stats stats = store->stats; /* damage was counted by the mount */
    int result = redo_log(store, &redo);

    store->stats.lost = stats.lost;
    store->stats.tampered = stats.tampered;
    store->stats.place = stats.place;
    *at = redo.at;
    *next = redo.next;
    return result < 0 ? result : redo.told;
}

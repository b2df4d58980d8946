/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cleaning: what is still needed of the oldest block goes to the frontier. It is paced by the bytes
 * written, so that the free blocks last until the whole log was looked at even if all of it is
 * needed; idle time does it before it is due.
 */
#include "store.h"

#define PACE_MOST 16U /* chunks looked at along with one write */

/* Nodes of an object's index, at most: of an array whose values lie far apart, as many at a level
 * as there are values. */
static uint32_t nodes_of(const struct nw_store *store, const struct object *object)
{
    uint32_t values = UINT32_MAX;
    uint32_t nodes = 0;

    if (object->type == NW_STORE_ARRAY) {
        values = object->bytes / store_whole(store, object->unit) + 1U;
    }
    for (uint8_t level = 1; level <= object->height; level++) {
        uint32_t span = store_shorten(store, object->tail, level) -
                        store_shorten(store, object->head, level) + 1U;
        nodes += span < values ? span : values;
    }
    return nodes;
}

/* Bytes of chunks that cleaning has to keep, at most. */
uint32_t store_live(const struct nw_store *store)
{
    const struct object *object = store->objects;
    uint8_t count = (uint8_t)(store->tables * store->config.objects);
    uint32_t bytes = store->held;
    uint32_t nodes = 0;

    for (uint8_t at = 0; at < count; at++, object++) {
        nodes += nodes_of(store, object);
        bytes += at < store->config.objects ? object->bytes : 0;
    }
    return bytes + nodes * store_whole(store, store->node_bytes);
}

/* Bytes of an object that are no longer its own, but may be a checkpoint's. */
void store_killed(struct nw_store *store, struct object *object, uint32_t bytes)
{
    object->bytes -= bytes < object->bytes ? bytes : object->bytes;
    store->held += bytes;
    store_bound_held(store);
}

static int move(struct nw_store *store, const struct chunk *from, uint8_t mask)
{
    struct object *object = store->objects + from->id;
    struct chunk chunk = *from;
    uint32_t old;

    chunk.kind = CHUNK_MOVED;
    chunk.mask = mask;
    int result = store_seal(store) != NULL ? store_seal(store)->copy(store, from, &chunk)
                                           : store_copy(store, from, &chunk);
    for (; mask != 0 && result == NW_OK; mask >>= 1) {
        if ((mask & 1U) != 0) {
            result = store_set(store, object, &chunk, &old);
        }
        object += store->config.objects;
    }
    store_count(&store->stats.moved, 1);
    store_count(&store->stats.bytes_moved, store_whole(store, chunk.length));
    store->epoch++;
    return result;
}

/* Of an object that is not worth moving: the stream loses what lies before, and this too. */
static void let_go(struct nw_store *store, struct object *object, const struct chunk *chunk)
{
    object->head = chunk->key + 1U;
    object->fill = 0;
    store_killed(store, object, store_whole(store, chunk->length));
    store_count(&store->stats.dropped, 1);
}

/* Whether a chunk of data is the object's: 1, 0 or an error. */
static int owns_data(struct nw_store *store, struct object *object, const struct chunk *chunk)
{
    uint32_t place;

    if (chunk->key < object->head || chunk->key >= object->tail) {
        return 0;
    }
    int result = store_get(store, object, chunk->key, &place);
    if (result == NW_ERR_NOT_FOUND) {
        return 0;
    }
    return result < 0 ? result : place == chunk->at;
}

/* Moves a chunk if an object or a checkpoint needs it. */
int store_clean_chunk(struct nw_store *store, const struct chunk *chunk)
{
    struct object *object = store->objects + chunk->id;
    uint8_t mask = 0;

    if (chunk->id >= store->config.objects) {
        return NW_OK;
    }
    for (uint8_t t = 0; t < store->tables; t++, object += store->config.objects) {
        int result = NW_OK;

        if (object->type == 0 || object->generation != chunk->generation) {
            continue;
        }
        if (chunk->kind == CHUNK_NODE) {
            result = store_own_node(store, object, chunk);
        } else if (store_is_data(chunk)) {
            result = owns_data(store, object, chunk);
        }
        if (result > 0 && t == 0 && (object->flags & NW_STORE_EXPENDABLE) != 0) {
            let_go(store, object, chunk);
            result = store_write_state(store, object);
        } else if (result > 0) {
            mask = (uint8_t)(mask | (1U << t));
        }
        if (store_is_damage(result)) {
            store_count(&store->stats.lost, 1); /* a node: nobody can tell what belongs to it */
        } else if (result < 0) {
            return result;
        }
    }
    return mask != 0 ? move(store, chunk, mask) : (int)NW_OK;
}

static int next_tail(struct nw_store *store)
{
    uint16_t frontier = store_block_with(store, store->page);
    int bad = 1;

    while (bad > 0 && store->tail != frontier) {
        store->tail = store_next_block(store, store->tail);
        bad = store->tail == frontier ? 0 : store_is_bad(store, store->tail);
    }
    store->clean_at = store_block_start(store, store->tail);
    return bad < 0 ? bad : (int)NW_OK;
}

/* Looks at one chunk of the oldest block: 1, or 0 when there is nothing to clean. */
int store_clean_step(struct nw_store *store)
{
    struct chunk chunk = {0};
    uint32_t looked = store->page_bytes;

    if (store->tail == store_block_with(store, store->page)) {
        return 0;
    }
    int result = store_next_chunk(store, &store->clean_at, &chunk);
    if (result > 0) {
        result = store_clean_chunk(store, &chunk);
        store->clean_at = store_behind(store, &chunk);
        looked = store_whole(store, chunk.length);
    } else if (result == NW_ERR_CORRUPT) { /* torn, or lost: the next page may be better */
        uint32_t page = store_page_of(store, store->clean_at);
        store->clean_at = store_at(store, page, store->page_bytes);
        result = NW_OK;
    } else if (result == 0) {
        result = next_tail(store);
    }
    store->debt -= looked < store->debt ? looked : store->debt;
    return result < 0 ? result : 1;
}

/* Cleans to the end of the oldest block: as store_clean_step(). */
int store_clean_block(struct nw_store *store)
{
    uint16_t tail = store->tail;
    int result;

    do {
        result = store_clean_step(store);
    } while (result > 0 && store->tail == tail);
    return result;
}

/* The work of anchors: one node, or the anchor itself, when it is due. 1: something was done. */
static int tend_anchor(struct nw_store *store, uint32_t due)
{
    if (store->flushing != 0) {
        int result = store_flush_old(store);
        if (result == 0) {
            result = store_write_anchor(store);
            result = result < 0 ? result : 1;
        }
        return result;
    }
    if (store->since >= due) {
        store_age_frames(store);
        return 1;
    }
    return 0;
}

/* Sets free what is cleaned, at once. */
static int anchor_now(struct nw_store *store)
{
    int result = store_flush_all(store);

    return result < 0 ? result : store_write_anchor(store);
}

/* Until the reserve for mounts is whole again. */
int store_clean_at_once(struct nw_store *store)
{
    uint32_t turns = (uint32_t)store->blocks * 4U; /* what is dead goes in the first round */
    int result = NW_OK;

    /* Where nothing was to be gained, nothing is before a block's worth is gone. */
    if (store->gainless != 0 && store_live(store) + store_block_bytes(store) > store->gainless) {
        return NW_ERR_FULL;
    }
    store->gainless = 0;
    for (; store->free <= store->low && result >= 0; turns--) {
        uint16_t free = store->free;

        if (turns == 0) {
            store->gainless = store_live(store);
        }
        if (turns == 0 || (free <= store->reserve / 2U && store->safe == store->tail)) {
            return NW_ERR_FULL;
        }
        if (store->tail != store->safe && free <= (store->reserve + store->low) / 2U) {
            result = anchor_now(store);
            if (result < 0 || store->free != free) {
                continue;
            }
        }
        result = store_clean_block(store);
        if (result == 0) { /* all of the log was looked at */
            result = store->safe == store->tail ? (int)NW_ERR_FULL : anchor_now(store);
        }
    }
    return result < 0 ? result : (int)NW_OK;
}

/* What is due after what was written since the last time. */
static int pace(struct nw_store *store)
{
    uint16_t ahead = store->free > store->low ? (uint16_t)(store->free - store->low) : 1U;
    uint32_t bytes = store->written - store->paced;

    store->paced = store->written;
    if (store->free >= store->low + store->good / 8U) {
        store->debt = 0;
        return NW_OK;
    }
    uint32_t ratio = ((uint32_t)store->good - store->free) * 16U / ahead;
    bytes = bytes < 65535U ? bytes : 65535U;
    store->debt += bytes * (ratio < 1024U ? ratio : 1024U) / 16U;
    for (uint8_t turn = 0; turn < PACE_MOST && store->debt > 0; turn++) {
        int result = store_clean_step(store);
        if (result <= 0) {
            return result;
        }
    }
    if (store->safe != store->tail && store->flushing == 0 &&
        store->since > store->interval / 2U) {
        store_age_frames(store);
    }
    return NW_OK;
}

static int fits(const struct nw_store *store, uint32_t bytes)
{
    return store_live(store) + bytes <= store->limit;
}

/* Expendable streams make room: the oldest chunks go until `bytes` more fit. */
static int give_way(struct nw_store *store, uint32_t bytes)
{
    struct object *object = store->objects;
    int result = NW_OK;

    for (uint8_t left = store->config.objects; left > 0 && result == NW_OK; left--, object++) {
        uint32_t head = object->head;

        while ((object->flags & NW_STORE_EXPENDABLE) != 0 && object->head < object->tail &&
               result == NW_OK && !fits(store, bytes)) {
            result = store_drop_head(store, object);
            store_count(&store->stats.dropped, 1);
        }
        if (object->head != head && result == NW_OK) {
            result = store_write_state(store, object);
        }
    }
    if (result == NW_OK && !fits(store, bytes)) {
        result = NW_ERR_FULL;
    }
    return result;
}

/*
 * Before a write of `bytes` (0: one that frees). NW_ERR_FULL: nothing was written and it must not
 * be. `object` is NULL when none grows.
 */
int store_make_room(struct nw_store *store, const struct object *object, uint32_t bytes)
{
    int result = store->broken;

    if (result == NW_OK && object != NULL) {
        bytes += (object->height + 2U) * store_whole(store, store->node_bytes);
        result = give_way(store, bytes);
    }
    if (result == NW_OK) {
        result = pace(store);
    }
    if (result == NW_OK && store->since >= store->interval) { /* idle time does it earlier */
        result = tend_anchor(store, store->interval);
    }
    if (result >= 0 && store->free <= store->low) {
        result = store_clean_at_once(store);
        if (result == NW_ERR_FULL && object == NULL && store->free > store->reserve) {
            result = NW_OK; /* what frees may use up what cleaning needs */
        }
    }
    return result < 0 ? store_fail_early(store, result) : (int)NW_OK;
}

/* One piece of work ahead of its time: 1, or 0 when there is none. */
static int work(struct nw_store *store)
{
    int result = tend_anchor(store, store->interval - store->interval / 4U);

    if (result != 0) {
        return result;
    }
    if (store->free < store->low + store->good / 6U) {
        if (store->safe != store->tail && store->since > store->interval / 4U) {
            store_age_frames(store);
            return 1;
        }
        result = store_clean_step(store);
        if (result != 0) {
            return result;
        }
    }
    return store->prepared < 2U ? store_prepare(store) : 0;
}

int nw_store_idle(struct nw_store *store, uint16_t budget)
{
    uint16_t done = 0;
    int result = store->broken != NW_OK ? store->broken : 1;

    budget = budget < 32767U ? budget : 32767U;
    while (done < budget && result > 0) {
        result = work(store);
        done = (uint16_t)(done + (result > 0 ? 1U : 0U));
    }
    return result < 0 ? store_fail_early(store, result) : (int)done;
}

int nw_store_compact(struct nw_store *store, int handle, uint32_t *key, uint16_t count)
{
    struct object *object = store_object_of(store, handle, STORE_ANY);
    int moved = 0;

    if (object == NULL) {
        return store->refused;
    }
    *key = *key > object->head ? *key : object->head;
    for (; count > 0 && *key < object->tail && moved < INT16_MAX; count--) {
        struct chunk chunk = {0};
        int result = store_make_room(store, NULL, 0);

        if (result == NW_OK) {
            result = store_find_data(store, object, *key, &chunk);
        }
        if (result == NW_OK) {
            result = store_clean_chunk(store, &chunk);
            moved++;
            (*key)++;
        } else if (result == NW_ERR_NOT_FOUND) { /* never set, and perhaps many behind it */
            (void)store_skip(store, object, key);
            result = NW_OK;
        }
        if (result < 0) {
            return result;
        }
    }
    return moved;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cleaning: what is still needed of the oldest blocks goes to the frontier, an object after the
 * other in the order of keys, all tables together, so that a node that has to be written anew is so
 * once for all below it. Then these blocks are free as soon as an anchor tells so. It is paced by
 * what writes use up of the log, at a rate that holds whatever is needed and wherever it lies; idle
 * time does it before it is due.
 */
#include "store.h"

/* Bytes of an object that are no longer its own, but may be a checkpoint's. */
void store_killed(struct nw_store *store, struct object *object, uint32_t bytes)
{
    object->bytes -= bytes < object->bytes ? bytes : object->bytes;
    store->held += bytes;
    store_bound_held(store);
}

/* Of the tables that a moved chunk's mask tells, those in which its key is one have it there. */
int store_set_moved(struct nw_store *store, const struct chunk *chunk)
{
    struct object *object = store->objects + chunk->id;
    int result = NW_OK;

    for (uint8_t t = 0; t < store->tables && result == NW_OK; t++) {
        uint32_t old;

        if ((chunk->mask & (1U << t)) != 0 && store_is_known(object, chunk) &&
            store_has_key(object, chunk->key)) {
            result = store_set(store, object, chunk, &old);
        }
        object += store->slots;
    }
    return result;
}

/* A chunk that cannot be read is not moved: one without a payload takes its place, which tells so.
 * Of a list only its own header knew how long it was, so the books forget that now. */
static int move_lost(struct nw_store *store, struct chunk *chunk)
{
    struct object *object = store->objects + chunk->id;
    uint32_t bytes = store_booked(store, chunk->length) - store_booked(store, 0);
    uint8_t mask = chunk->mask;

    store_count(&store->stats.lost, 1);
    chunk->length = 0;
    for (; (mask & 1U) == 0; mask = (uint8_t)(mask >> 1)) {
        object += store->slots;
    }
    int result = store_append(store, object, chunk, NULL);
    if (result == NW_OK && (chunk->mask & 1U) != 0 && object->type <= NW_STORE_STREAM) {
        store_killed(store, object, bytes);
        result = store_write_state(store, object);
    }
    return result;
}

static int move(struct nw_store *store, struct chunk *from, uint8_t mask)
{
    struct chunk chunk = *from;
    uint32_t tampered = store->stats.tampered;

    chunk.kind = CHUNK_MOVED;
    chunk.mask = mask;
    int result = store_copy(store, from, &chunk);
    if (store_is_damage(result)) { /* perhaps not the chunk, but one read of it */
        result = store_verify(store, from);
        chunk.crc = from->crc;
        if (!store_is_damage(result)) {
            store->stats.tampered = tampered;
            result = result == NW_OK ? store_copy(store, from, &chunk)
                                     : store_fail(store, result); /* nothing may follow the copy */
        }
        if (store_is_damage(result)) {
            result = move_lost(store, &chunk);
        }
    }
    if (result == NW_OK) {
        result = store_set_moved(store, &chunk);
    }
    store_count(&store->stats.moved, 1);
    store_count(&store->stats.bytes_moved, store_whole(store, chunk.length));
    store->epoch++;
    return result;
}

/* Whether a chunk of data is the object's: 1, 0 or an error. */
static int owns_data(struct nw_store *store, struct object *object, const struct chunk *chunk)
{
    uint32_t place;

    if (!store_has_key(object, chunk->key)) {
        return 0;
    }
    int result = store_get(store, object, chunk->key, &place);
    if (result == NW_ERR_NOT_FOUND) {
        return 0;
    }
    return result < 0 ? result : place == chunk->at;
}

/* Moves a chunk if an object or a checkpoint needs it. */
int store_clean_chunk(struct nw_store *store, struct chunk *chunk)
{
    struct object *object = store->objects + chunk->id;
    uint8_t mask = 0;

    if (chunk->id >= store->slots) {
        return NW_OK;
    }
    for (uint8_t t = 0; t < store->tables; t++, object += store->slots) {
        int result = NW_OK;

        if (!store_is_known(object, chunk)) {
            continue;
        }
        if (chunk->kind == CHUNK_NODE) {
            result = store_own_node(store, object, chunk);
        } else if (store_is_data(chunk)) {
            result = owns_data(store, object, chunk);
        }
        if (result > 0) {
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

/* Sweeps */

/* Does a position lie in what is being cleaned? */
int store_is_old(const struct nw_store *store, uint32_t at)
{
    uint16_t block = store_block_of(store, at);

    return block != STORE_NO_BLOCK &&
           store_blocks_to(store, block) < store_blocks_to(store, store->sweep.end);
}

/* To the nodes of an object from the sweep's key on, those of its first table first. */
void store_sweep_anew(struct nw_store *store)
{
    store->turn = 0;
    store->place = store->sweep.key;
    store->beyond = STORE_NONE;
}

/* Of a store that is opened: cleaning begins where blocks are not free yet. Of what it took along
 * behind that before a mount, nodes were only in RAM. */
void store_sweep_from_safe(struct nw_store *store)
{
    store->tail = store->safe;
    store->next_safe = store->safe;
    store->sweep = store->told_sweep;
    store_sweep_anew(store);
}

/* How many good blocks there are from the tail on, no more than `most`, before *end, which is set
 * to where these end. Bad ones are nothing to be gained: however many lie in a row, they do not
 * count as cleaned. */
static int count_good(struct nw_store *store, uint16_t most, uint16_t *end)
{
    uint16_t block = store->tail;
    uint16_t good = 0;

    while (good < most && block != *end) {
        int bad = store->good < store->blocks ? store_is_bad(store, block) : 0;
        if (bad < 0) {
            return bad;
        }
        good = (uint16_t)(good + (bad == 0 ? 1U : 0U));
        block = store_next_block(store, block);
    }
    *end = block;
    return (int)good; /* of a sweep: an eighth of the chip at most */
}

/* Takes the oldest blocks to be cleaned, at most so many: 1, or 0 when there are none. */
static int begin_sweep(struct nw_store *store, uint16_t most)
{
    uint16_t end = store_block_with(store, store->page);
    int blocks = count_good(store, store_plan_sweep(store, most), &end);

    if (blocks > 0) {
        store->sweep.end = end;
        store->sweep.slot = 0;
        store->sweep.key = 0;
        store_sweep_anew(store);
        store->swept = 0;
    }
    return blocks > 0 ? 1 : blocks;
}

/* Nothing that is needed lies there any more: 1, or an error. */
static int end_sweep(struct nw_store *store)
{
    int blocks = count_good(store, UINT16_MAX, &store->sweep.end);

    if (blocks < 0) {
        return blocks;
    }
    /* what it might have cost: all of its blocks may be needed, and an eighth for each of passing
     * the index and writing it anew */
    uint32_t cost = (uint32_t)blocks * (store_block_bytes(store) / 4U) * 5U;

    store->owed -= (int32_t)(cost > store->swept ? cost - store->swept : 0);
    store->tail = store->sweep.end;
    store->swept = 0;
    store->cleaned = (uint16_t)(store->cleaned + (uint16_t)blocks);
    return 1;
}

/* The object whose turn it is, if some of its nodes are to be passed now; else NULL, and they come
 * later. */
static struct object *object_in_turn(struct nw_store *store)
{
    struct object *object = store_table(store, store->turn) + store->sweep.slot;
    uint32_t last = store->sweep.key | store->fan_mask;

    store->place = store->place > object->head ? store->place : object->head;
    if (object->type == 0 || store->place >= object->tail) {
        return NULL;
    }
    if (store->place > last) {
        store->beyond = store->place < store->beyond ? store->place : store->beyond;
        return NULL;
    }
    return object;
}

/* The same keys of the next table, or those behind them, or the next object. */
static void pass_on(struct nw_store *store)
{
    store->turn++;
    store->place = store->sweep.key;
    if (store->turn == store->tables) {
        if (store->beyond == STORE_NONE) {
            store->sweep.slot++;
            store->beyond = 0;
        }
        store->sweep.key = store->beyond;
        store_sweep_anew(store);
    }
}

/* The next chunk of an object that lies in what is being cleaned, or its next node, is passed. */
static int sweep_object(struct nw_store *store, struct object *object)
{
    struct chunk chunk;
    uint32_t node = store->place;
    int result = store_next_old(store, object, &store->place, &chunk.at);

    if (result > 0) {
        result = store_read_told(store, chunk.at, &chunk, 0);
        if (result == NW_OK) {
            result = store_check_data(store, object, store->place, &chunk);
        }
        if (result == NW_OK) {
            result = store_clean_chunk(store, &chunk);
        }
        if (result == NW_OK || store_is_damage(result)) {
            store->place++;
        }
    }
    if (store_is_damage(result)) { /* lost, or all below a node */
        store_count(&store->stats.lost, 1);
        if (store->place <= node) {
            store->place = node | store->fan_mask;
            store->place += store->place < UINT32_MAX ? 1U : 0U;
        }
        result = NW_OK;
    }
    return result;
}

/* Looks at one chunk or node: 1, or 0 when there is nothing to clean. */
static int clean_step(struct nw_store *store)
{
    uint32_t before = store->written;

    if (store->sweep.end == store->tail) {
        return begin_sweep(store, UINT16_MAX);
    }
    if (store->sweep.slot >= store->slots) {
        return end_sweep(store);
    }
    struct object *object = object_in_turn(store);
    if (object == NULL) {
        pass_on(store);
        return 1;
    }
    int result = sweep_object(store, object);
    uint32_t done = store->written - before;
    done = done > 0 ? done : store->look;
    store->swept += done;
    store->owed -= (int32_t)done;
    return result < 0 ? result : 1;
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
    if (store->since >= due || store->tail != store->next_safe) {
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

/* So many of the oldest blocks, or all there are: 1, or 0 where there were fewer. */
static int clean_blocks(struct nw_store *store, uint16_t most)
{
    uint16_t before = store->cleaned;
    uint16_t done = 0;
    int result = 1;

    while (result > 0 && done < most) {
        uint16_t tail = store->tail;

        result = begin_sweep(store, (uint16_t)(most - done));
        while (result > 0 && store->tail == tail) {
            result = clean_step(store);
        }
        done = (uint16_t)(store->cleaned - before);
    }
    return result;
}

/*
 * Until the reserve for mounts is whole again, which is needed only where blocks have failed, or
 * mounts were cut: of what is left half is cleaned at a time, lest what moves before any of it is
 * free takes all, and no less, lest an anchor takes what is gained. Where that is hardly anything
 * the last few blocks do, too: else a store that is nearly empty would be full for good.
 */
int store_clean_at_once(struct nw_store *store)
{
    uint32_t turns = (uint32_t)store->blocks * 2U;
    int result = NW_OK;

    /* Where nothing was to be gained, nothing is before a block's worth is gone. */
    if (store->gainless != 0 && store_live(store) + store_block_bytes(store) > store->gainless) {
        return NW_ERR_FULL;
    }
    store->gainless = 0;
    for (; store->free <= store->low && result >= 0; turns--) {
        uint16_t room = store->reserve / 2U;

        if (store->free > room) {
            result = clean_blocks(store, (uint16_t)((store->free - room) / 2U + 1U));
        } else {
            result = store_is_light(store) ? clean_blocks(store, UINT16_MAX) : 0;
        }
        if (turns == 0 || (result == 0 && store->safe == store->tail)) {
            store->gainless = store_live(store);
            return NW_ERR_FULL;
        }
        if (result >= 0) {
            result = anchor_now(store);
        }
    }
    store->owed = 0;
    return result < 0 ? result : (int)NW_OK;
}

/* What cleaning has to do for so many bytes used up. */
static int32_t price_of(const struct nw_store *store, uint32_t bytes)
{
    return (int32_t)((bytes < 0xFFFFFFUL ? bytes : 0xFFFFFFUL) * store->rate / 16U);
}

/* That for what was used up since the last time is owed from now on. */
static void owe(struct nw_store *store)
{
    if (!store_is_roomy(store, 1)) {
        store->owed += price_of(store, store->written - store->paced);
    } else if (store->owed > 0) {
        store->owed = 0;
    }
    store->paced = store->written;
}

/* Cleans until no more is owed than so much. */
static int pay(struct nw_store *store, int32_t most, uint16_t turns)
{
    int result = 1;

    for (; turns > 0 && store->owed > most && result > 0; turns--) {
        if (store->free <= store->reserve / 2U) {
            return 0; /* block after block, from now on */
        }
        result = clean_step(store);
        store->paced = store->written;
    }
    if (result == 0) { /* all is clean */
        store->owed = most;
    }
    return result;
}

/* The cleaning that is due, but of what came at once, as from an anchor, only a part. */
static int pace(struct nw_store *store)
{
    uint32_t bytes = store->written - store->paced;

    bytes = bytes < 32767U ? bytes : 32767U;
    store->usual = (uint16_t)(store->usual - store->usual / 8U + bytes / 8U);
    uint32_t some = store->usual * 5U / 4U;
    bytes /= 2U;
    owe(store);
    int32_t left = store->owed - price_of(store, bytes > some ? bytes : some);
    int result = pay(store, left > 0 ? left : 0, UINT16_MAX);
    return result < 0 ? result : (int)NW_OK;
}

/* Lest mounts use up what there is: where it is not much, each gains two blocks. */
int store_clean_for_mount(struct nw_store *store)
{
    uint16_t goal = (uint16_t)(store->free + 2U);
    int result = store_is_roomy(store, 2) ? 0 : 1;

    owe(store);
    while (result > 0 && store->owed > 0 && store->free + store->cleaned < goal) {
        result = pay(store, 0, 1);
    }
    return result < 0 ? result : (int)NW_OK;
}

/* Expendable streams make room: the oldest chunks go until what is needed fits; none where it would
 * not without all of them. */
static int give_way(struct nw_store *store, const struct need *need)
{
    struct object *object = store->objects;
    int result = NW_OK;

    if (store_fits(store, need, 0)) {
        return NW_OK;
    }
    if (store->limit == 0 || !store_fits(store, need, 1)) {
        return NW_ERR_FULL;
    }
    for (uint8_t left = store->slots; left > 0 && result == NW_OK; left--, object++) {
        uint32_t head = object->head;

        while ((object->flags & NW_STORE_EXPENDABLE) != 0 && object->head < object->tail &&
               result == NW_OK && !store_fits(store, need, 0)) {
            result = store_drop_head(store, object);
            store_count(&store->stats.dropped, 1);
        }
        if (object->head != head && result == NW_OK) {
            result = store_write_state(store, object);
        }
    }
    if (result == NW_OK && !store_fits(store, need, 0)) {
        result = NW_ERR_FULL;
    }
    return result;
}

static int make_room_once(struct nw_store *store, const struct need *need)
{
    int result = store->broken;

    if (result == NW_OK && need != NULL) {
        result = give_way(store, need);
    }
    if (result == NW_OK) {
        result = pace(store);
    }
    if (result == NW_OK) { /* idle time does it earlier */
        result = tend_anchor(store, store->interval);
    }
    owe(store);
    if (result >= 0 && store->free <= store->low) {
        result = store_clean_at_once(store);
        if (result == NW_ERR_FULL && need == NULL && store->free > store->reserve) {
            result = NW_OK; /* what frees may use up what cleaning needs */
        }
    }
    return result;
}

/* For what a call writes; NULL: no object grows by it. NW_ERR_FULL: nothing was written and it must
 * not be. When a block fails meanwhile the limit falls, and more has to give way. */
int store_make_room(struct nw_store *store, const struct need *need)
{
    uint32_t limit;
    int result;

    do {
        limit = store->limit;
        result = make_room_once(store, need);
    } while (result == NW_ERR_FULL && store->limit < limit);
    return result < 0 ? store_fail_early(store, result) : (int)NW_OK;
}

/* One piece of work ahead of its time: 1, or 0 when there is none. */
static int work(struct nw_store *store)
{
    /* for the next few pages */
    int32_t ahead = -(int32_t)(store->page_bytes * (uint32_t)store->rate / 4U);
    int result = tend_anchor(store, store->interval - store->interval / 4U);

    if (result != 0) {
        return result;
    }
    if (store->prepared == 0) {
        result = store_prepare(store);
        if (result != 0) {
            return result;
        }
    }
    owe(store);
    if (store->owed > ahead) {
        result = pay(store, ahead, 1);
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
        struct chunk chunk;
        int result = store_make_room(store, NULL);

        if (result == NW_OK) {
            result = store_find_chunk(store, object, *key, &chunk);
        }
        if (result == NW_OK) {
            result = store_clean_chunk(store, &chunk);
            moved++;
            (*key)++;
        } else if (result == NW_ERR_NOT_FOUND) { /* never set, and perhaps many behind it */
            result = store_skip(store, object, key);
        }
        if (result < 0) {
            return result;
        }
    }
    return moved;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Anchors: the state of every object and of the log in one chunk, so that a mount need not look
 * behind it further than to `redo`. What an anchor tells is listed once, by the functions tell_...,
 * and passed four ways: measured, summed up and written, for its length and checksum come first;
 * or read. What was read is believed only once its checksum is right.
 */
#include <string.h>

#include "store.h"

enum { PASS_MEASURE, PASS_SUM, PASS_WRITE, PASS_READ };

struct pass {
    struct nw_store *store;
    int result;
    uint8_t way;
    uint16_t at;     /* bytes of the payload passed */
    uint32_t sum;
    struct chunk chunk;
    uint16_t safe; /* store->safe once the anchor counts */
    uint16_t free; /* store->free then */
    uint16_t lent; /* of these, what a mount has freed */
    /* What a block that fails meanwhile must not change: */
    uint16_t good;
    uint8_t swaps;
    uint32_t sequence; /* of the block when the anchor is written */
    struct swap swap[STORE_SWAPS];
};

/* Bytes of the payload; after an error, which pass->result keeps, zeros are read. */
static void tell(struct pass *pass, void *bytes, uint8_t length)
{
    if (pass->way == PASS_READ) {
        if (pass->result == NW_OK) {
            pass->result = length > pass->chunk.length - pass->at
                               ? (int)NW_ERR_CORRUPT
                               : store_load(pass->store, &pass->chunk, pass->at, length, bytes, 1);
        }
        if (pass->result < 0) {
            memset(bytes, 0, length);
            return;
        }
    }
    pass->at = (uint16_t)(pass->at + length);
    if (pass->way == PASS_WRITE) {
        if (pass->result == NW_OK) {
            pass->result = store_put(pass->store, bytes, length);
        }
    } else if (pass->way != PASS_MEASURE) {
        pass->sum = store_sum_add(pass->store, pass->sum, bytes, length);
    }
}

static void tell_byte(struct pass *pass, uint8_t *value)
{
    tell(pass, value, 1);
}

static void tell_half(struct pass *pass, uint16_t *value)
{
    uint8_t bytes[2];

    nw_put16(bytes, *value);
    tell(pass, bytes, sizeof bytes);
    *value = nw_get16(bytes);
}

static void tell_word(struct pass *pass, uint32_t *value)
{
    uint8_t bytes[4];

    nw_put32(bytes, *value);
    tell(pass, bytes, sizeof bytes);
    *value = nw_get32(bytes);
}

#define OWN_BYTES 19U /* of an anchor: what has to be as in the configuration; eight are 0 */

/* The log's books. NW_ERR_VERSION: they are of another format, geometry or configuration, and
 * nothing is known of the rest. */
static void tell_log(struct pass *pass)
{
    struct nw_store *store = pass->store;
    uint8_t own[OWN_BYTES] = {STORE_FORMAT, store->slots, store->name_bytes,
                              (uint8_t)(store->tables - 1U), store->fan_shift};
    uint8_t told[OWN_BYTES];

    nw_put16(own + ANCHOR_SHAPE, store->page_bytes);
    nw_put16(own + ANCHOR_SHAPE + 2, store->block_pages);
    nw_put16(own + ANCHOR_SHAPE + 4, store->blocks);
    memcpy(told, own, sizeof told);
    tell(pass, told, sizeof told);
    if (pass->result == NW_OK && memcmp(told, own, sizeof own) != 0) {
        pass->result = NW_ERR_VERSION;
    }
    tell_half(pass, &pass->lent);
    tell_byte(pass, &pass->swaps);
    tell_word(pass, &store->redo);
    tell_half(pass, &store->told_sweep.end);
    tell_half(pass, &pass->safe);
    tell_half(pass, &pass->free);
    tell_half(pass, &pass->good);
    tell_word(pass, &store->held);
    tell_word(pass, &store->serial);
    tell_word(pass, &pass->sequence);
    for (uint8_t t = 1; t <= NW_STORE_CHECKPOINTS; t++) {
        uint32_t none = 0;
        tell_word(pass, t < store->tables ? &store->kept[t] : &none);
    }
    tell_word(pass, &store->told_sweep.key);
    tell_byte(pass, &store->told_sweep.slot);
}

/* Of all tables. */
static uint8_t slots_of(const struct nw_store *store)
{
    return (uint8_t)(store->tables * store->slots);
}

/* The object in a slot of a table; of a free one only the generation it had last. */
static void tell_object(struct pass *pass, uint8_t slot)
{
    const struct nw_store *store = pass->store;
    struct object *object = &store->objects[slot];
    char *name = store_name(store, slot);
    uint16_t length = 0;

    tell_byte(pass, &object->type);
    tell_byte(pass, &object->generation);
    if (object->type == 0) {
        return;
    }
    tell_byte(pass, &object->rooted);
    tell_byte(pass, &object->flags);
    tell_half(pass, &object->unit);
    tell_half(pass, &object->fill);
    tell_word(pass, &object->root);
    tell_word(pass, &object->head);
    tell_word(pass, &object->tail);
    tell_word(pass, &object->bytes);
    tell_word(pass, &object->limit);
    while (length < store->name_bytes && name[length] != '\0') {
        length++;
    }
    tell_half(pass, &length);
    if (length > store->name_bytes) {
        pass->result = NW_ERR_CORRUPT;
        return;
    }
    tell(pass, name, (uint8_t)length);
}

/* Is an object told in this slot or behind it? When reading, that is told next. */
static int has_more(const struct pass *pass, uint8_t *slot)
{
    const struct nw_store *store = pass->store;

    if (pass->way == PASS_READ) {
        return pass->result == NW_OK && pass->at < pass->chunk.length;
    }
    while (*slot < slots_of(store) && store->objects[*slot].type == 0 &&
           store->objects[*slot].generation == 0) {
        ++*slot;
    }
    return *slot < slots_of(store);
}

static void tell_all(struct pass *pass, uint8_t way)
{
    const struct nw_store *store = pass->store;

    pass->way = way;
    pass->at = 0;
    tell_log(pass);
    for (uint8_t i = 0; i < pass->swaps && i < STORE_SWAPS; i++) {
        tell_half(pass, &pass->swap[i].of);
        tell_half(pass, &pass->swap[i].from);
        tell_half(pass, &pass->swap[i].block);
    }
    for (uint8_t slot = 0; has_more(pass, &slot); slot++) {
        tell_byte(pass, &slot);
        if (slot >= slots_of(store)) {
            pass->result = NW_ERR_CORRUPT;
            return;
        }
        tell_object(pass, slot);
    }
}

/* The longest payload an anchor may have. */
uint16_t store_anchor_most(const struct nw_store *store)
{
    return (uint16_t)(ANCHOR_HEAD + SWAP_BYTES * STORE_SWAPS +
                      slots_of(store) * (OBJECT_BYTES + store->name_bytes));
}

/* Behind which block the frontier has to stop once this anchor is written, and how many blocks
 * more it may take then. */
static int release(struct pass *pass)
{
    const struct nw_store *store = pass->store;
    uint16_t redo = store_block_of(store, store->redo);
    uint16_t told = store_block_of(store, store->told);

    while (pass->safe != store->next_safe && pass->safe != redo && pass->safe != told) {
        int bad = store_is_bad(pass->store, pass->safe);
        if (bad < 0) {
            return bad;
        }
        pass->free = (uint16_t)(pass->free + (bad == 0 ? 1U : 0U));
        pass->safe = store_next_block(store, pass->safe);
    }
    return NW_OK;
}

/* One of the two copies, which a page does not share: one that rots takes one of them. */
static int put_copy(struct pass *pass, uint8_t mask)
{
    struct nw_store *store = pass->store;

    tell_all(pass, PASS_MEASURE);
    pass->chunk.length = pass->at;
    pass->chunk.mask = mask;
    pass->sum = store_sum_begin(store, &pass->chunk);
    tell_all(pass, PASS_SUM);
    store_sum_end(store, pass->sum, &pass->chunk);
    pass->result = store_begin(store, &pass->chunk);
    tell_all(pass, PASS_WRITE);
    if (pass->result == NW_OK) {
        pass->result = mask == 0 ? store_leave_page(store) : store_flush(store);
    }
    return pass->result;
}

/* Writes an anchor, twice, and makes all before it durable. When no old frame is left over, redo
 * begins where these were told, and blocks cleaned until then are free. */
int store_write_anchor(struct nw_store *store)
{
    struct pass pass = {.store = store, .chunk.kind = CHUNK_ANCHOR};
    int result;

    store_close(store);
    pass.safe = store->safe;
    if (store->flushing != 0 && !store_has_old(store)) {
        store->redo = store->next_redo;
        store->told_sweep = store->next_sweep;
        store->flushing = 0;
        result = release(&pass);
        if (result < 0) {
            return result;
        }
    }
    pass.lent = store->mounting != 0 ? pass.free : (uint16_t)0;
    uint16_t freed = (uint16_t)(pass.free + store->lent);
    result = store_find_room(store, store_anchor_most(store), 0);
    if (result < 0) {
        return result;
    }
    pass.free = (uint16_t)(store->free + freed);
    pass.sequence = store->sequence;
    pass.good = store->good;
    pass.swaps = store->swap_count;
    memcpy(pass.swap, store->swap, sizeof pass.swap);
    result = put_copy(&pass, 0);
    uint32_t at = pass.chunk.at;
    if (result == NW_OK) {
        result = store_find_room(store, store_anchor_most(store), 0);
    }
    if (result == NW_OK) {
        result = put_copy(&pass, 1);
    }
    if (result < 0) {
        return result;
    }
    store->anchor = at;
    store->free = (uint16_t)(store->free + freed); /* a swap may have taken one */
    store->lent = 0;
    store->safe = pass.safe;
    store->since = 0;
    store->mounting = 0;
    store_count(&store->stats.anchors, 1);
    return NW_OK;
}

/* Reading one back */

static void read_all(struct pass *pass)
{
    struct nw_store *store = pass->store;

    memset(store->objects, 0, slots_of(store) * sizeof *store->objects);
    memset(store->names, 0, (size_t)slots_of(store) * store->name_bytes);
    pass->result = NW_OK;
    pass->sum = store_sum_begin(store, &pass->chunk);
    tell_all(pass, PASS_READ);
    if (pass->result == NW_OK) {
        pass->result = store_sum_check(store, pass->sum, &pass->chunk);
    }
}

/* Beside those that the scan has found, which are all of their blocks: the anchor itself may lie
 * in one of these. A block that is marked bad was given up since, and others may have failed. */
static int take_swaps(const struct pass *pass)
{
    struct nw_store *store = pass->store;
    int result = NW_OK;

    for (uint8_t i = 0; i < pass->swaps && i < STORE_SWAPS && result >= 0; i++) {
        const struct swap *swap = &pass->swap[i];

        if (swap->of >= store->blocks || swap->block >= store->blocks) {
            return NW_ERR_CORRUPT;
        }
        if (store_swap_of(store, swap->of) == store->swap_count) {
            result = store_is_bad(store, swap->of);
            if (result == 0 && store_add_swap(store, swap->of, swap->from, swap->block) < 0) {
                return NW_ERR_CORRUPT;
            }
        }
    }
    return result;
}

/* Can it be what an anchor tells? NW_ERR_VERSION: with more frames than there are. */
static int take_objects(const struct nw_store *store)
{
    struct object *object = store->objects;
    int result = NW_OK;

    for (uint8_t left = slots_of(store); left > 0 && result == NW_OK; left--, object++) {
        object->height = object->rooted;
        if (object->height >= store->frame_count) {
            result = NW_ERR_VERSION;
        } else if (object->type != 0) {
            result = store_check_object(store, object);
        }
    }
    return result;
}

/* What was read is right as it came: it becomes the store's, if it makes sense. */
static int take_all(const struct pass *pass)
{
    struct nw_store *store = pass->store;
    int result = take_swaps(pass);

    store->safe = pass->safe;
    store->free = pass->free;
    store->lent = pass->lent;
    store->good = pass->good;
    store->anchor_sequence = pass->sequence;
    store->anchor = pass->chunk.at;
    if (result < 0) {
        return result;
    }
    if (store->told_sweep.end >= store->blocks || store->safe >= store->blocks ||
        store->free > store->blocks || store_block_of(store, store->redo) >= store->blocks) {
        return NW_ERR_CORRUPT;
    }
    return take_objects(store);
}

/* All objects and the log's books as the anchor at a position tells them. Nothing it tells is
 * believed if its checksum is wrong, another version neither. Read ahead: a mount has a page of RAM
 * for that. */
int store_load_anchor(struct nw_store *store, uint32_t at)
{
    struct pass pass = {.store = store};
    int result = store_read_chunk(store, at, &pass.chunk, 0);

    if (result < 0 || pass.chunk.kind != CHUNK_ANCHOR) {
        return result < 0 && result != NW_ERR_UNWRITTEN ? result : (int)NW_ERR_CORRUPT;
    }
    result = store_seal(store) != NULL ? store_verify(store, &pass.chunk) : (int)NW_OK;
    if (result < 0) {
        return result;
    }
    read_all(&pass);
    if (store_is_damage(pass.result) || pass.result == NW_ERR_VERSION) {
        store->cache_page = STORE_NONE; /* it may be one read that was wrong */
        pass.result = store_verify(store, &pass.chunk);
        if (pass.result == NW_OK) {
            read_all(&pass);
        }
    }
    if (pass.result == NW_OK) {
        pass.result = take_all(&pass);
    }
    if (pass.result == NW_ERR_CORRUPT) {
        store->stats.place = at;
    }
    return pass.result;
}

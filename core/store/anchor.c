/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Anchors: the state of every object and of the log in one chunk, so that a mount need not look
 * behind it further than to `redo`. Its checksum comes first, so it is made three times: to
 * measure, to sum up, to write.
 */
#include <string.h>

#include "store.h"

struct maker {
    struct nw_store *store;
    uint32_t sum;
    uint16_t length;
    uint8_t writing;
    int result;
};

static void emit(struct maker *maker, const uint8_t *data, uint16_t length)
{
    maker->length = (uint16_t)(maker->length + length);
    if (maker->writing == 0) {
        maker->sum = store_sum_add(maker->store, maker->sum, data, length);
    } else if (maker->result == NW_OK) {
        maker->result = store_put(maker->store, data, length);
    }
}

static void emit_head(struct maker *maker, uint16_t safe, uint16_t free)
{
    const struct nw_store *store = maker->store;
    uint8_t bytes[ANCHOR_HEAD];

    bytes[0] = STORE_FORMAT;
    bytes[1] = store->config.objects;
    bytes[2] = store->config.name_bytes;
    bytes[3] = store->config.checkpoints;
    bytes[4] = store->fan_shift;
    bytes[5] = store->swap_count;
    nw_put16(bytes + 6, store->page_bytes);
    nw_put16(bytes + 8, store->block_pages);
    nw_put32(bytes + 10, store->blocks);
    nw_put32(bytes + 14, store->redo);
    store_put_block(bytes + 18, store->tail);
    store_put_block(bytes + 22, safe);
    store_put_block(bytes + 26, free);
    store_put_block(bytes + 30, store->good);
    nw_put32(bytes + 34, store->held);
    nw_put32(bytes + 38, store->serial);
    nw_put32(bytes + 42, store->sequence);
    for (uint8_t i = 0; i < NW_STORE_CHECKPOINTS; i++) {
        nw_put32(bytes + 46 + 4U * i, i + 1U < store->tables ? store->kept[i + 1U] : 0);
    }
    emit(maker, bytes, ANCHOR_HEAD);
    for (uint8_t i = 0; i < store->swap_count; i++) {
        nw_put32(bytes, store->swap[i].page);
        store_put_block(bytes + 4, store->swap[i].block);
        emit(maker, bytes, 8);
    }
}

static void emit_objects(struct maker *maker)
{
    const struct nw_store *store = maker->store;
    uint8_t count = (uint8_t)(store->tables * store->config.objects);
    uint8_t bytes[OBJECT_BYTES];

    for (uint8_t at = 0; at < count; at++) {
        const struct object *object = &store->objects[at];
        const char *name = store_name(store, at);
        uint8_t length = 0;

        while (length < store->config.name_bytes && name[length] != '\0') {
            length++;
        }
        bytes[0] = at;
        bytes[1] = object->type;
        bytes[2] = object->generation;
        bytes[3] = object->rooted;
        bytes[4] = object->flags;
        nw_put16(bytes + 5, object->unit);
        nw_put16(bytes + 7, object->fill);
        nw_put32(bytes + 9, object->root);
        nw_put32(bytes + 13, object->head);
        nw_put32(bytes + 17, object->tail);
        nw_put32(bytes + 21, object->bytes);
        nw_put32(bytes + 25, object->limit);
        bytes[29] = 0;
        bytes[30] = length;
        if (object->type != 0) {
            emit(maker, bytes, OBJECT_BYTES);
            emit(maker, (const uint8_t *)name, length);
        } else if (object->generation != 0) { /* a free slot still tells its last generation */
            emit(maker, bytes, 3);
        }
    }
}

/* Most bytes an anchor may have. */
uint16_t store_anchor_most(const struct nw_store_config *config)
{
    uint16_t objects = (uint16_t)(config->objects * (config->checkpoints + 1U));

    return (uint16_t)(CHUNK_HEADER + ANCHOR_HEAD + 8U * STORE_SWAPS +
                      objects * (OBJECT_BYTES + config->name_bytes));
}

/* Behind which block the frontier has to stop once this anchor is written, and how many blocks
 * more it may take. */
static int release(struct nw_store *store, uint16_t *safe, uint16_t *freed)
{
    uint16_t redo = store_block_of(store, store->redo);
    uint16_t told = store_block_of(store, store->told);

    *safe = store->safe;
    *freed = 0;
    while (*safe != store->next_safe && *safe != redo && *safe != told) {
        int bad = store_is_bad(store, *safe);
        if (bad < 0) {
            return bad;
        }
        if (bad == 0) {
            (*freed)++;
        }
        *safe = store_next_block(store, *safe);
    }
    return NW_OK;
}

static int has_old(const struct nw_store *store)
{
    for (uint8_t i = 0; i < store->config.frames; i++) {
        if (store->frames[i].taken != 0 && store->frames[i].dirty == FRAME_OLD) {
            return 1;
        }
    }
    return 0;
}

/* Writes an anchor and makes all before it durable. When no old frame is left over, redo begins
 * where these were told, and blocks cleaned until then are free. */
int store_write_anchor(struct nw_store *store)
{
    struct maker maker = {.store = store};
    struct chunk chunk = {.kind = CHUNK_ANCHOR};
    uint16_t safe = store->safe;
    uint16_t freed = 0;
    int result;

    store_close(store);
    if (store->flushing != 0 && !has_old(store)) {
        store->redo = store->next_redo;
        store->flushing = 0;
        result = release(store, &safe, &freed);
        if (result < 0) {
            return result;
        }
    }
    result = store_find_room(store, store_anchor_most(&store->config), 0);
    if (result < 0) {
        return result;
    }
    for (uint8_t turn = 0; turn < 3U; turn++) {
        maker.length = 0;
        maker.writing = turn == 2U;
        if (turn == 1U) {
            maker.sum = store_sum_begin(store, &chunk);
        } else if (turn == 2U) {
            store_sum_end(store, maker.sum, &chunk);
            maker.result = store_begin(store, &chunk);
        }
        emit_head(&maker, safe, (uint16_t)(store->free + freed));
        emit_objects(&maker);
        chunk.length = maker.length;
    }
    if (maker.result == NW_OK) {
        maker.result = store_flush(store);
    }
    if (maker.result < 0) {
        return maker.result;
    }
    store->anchor = chunk.at;
    store->free = (uint16_t)(store->free + freed);
    store->safe = safe;
    store->since = 0;
    store->mounting = 0;
    store->first = STORE_NO_BLOCK;
    store->stats.anchors++;
    return NW_OK;
}

/* Reading one back */

struct reader {
    struct nw_store *store;
    struct chunk chunk;
    uint32_t sum;
    uint16_t at; /* bytes of the payload read so far */
    uint8_t have;  /* bytes of part */
    uint8_t taken; /* of these given out */
    uint8_t part[64];
};

static int take(struct reader *reader, uint8_t *to, uint8_t length)
{
    while (length > 0) {
        if (reader->taken == reader->have) {
            uint16_t most = (uint16_t)sizeof reader->part;
            uint16_t left = (uint16_t)(reader->chunk.length - reader->at);
            reader->have = (uint8_t)(left < most ? left : most);
            reader->taken = 0;
            if (reader->have == 0) {
                return NW_ERR_CORRUPT;
            }
            int result = store_load(reader->store, &reader->chunk, reader->at, reader->have,
                                    reader->part, 1);
            if (result < 0) {
                return result;
            }
            reader->sum = store_sum_add(reader->store, reader->sum, reader->part, reader->have);
            reader->at = (uint16_t)(reader->at + reader->have);
        }
        *to++ = reader->part[reader->taken++];
        length--;
    }
    return NW_OK;
}

static int take_head(struct reader *reader, uint8_t *swaps)
{
    struct nw_store *store = reader->store;
    uint8_t bytes[ANCHOR_HEAD];
    int result = take(reader, bytes, ANCHOR_HEAD);

    if (result < 0) {
        return result;
    }
    if (bytes[0] != STORE_FORMAT || bytes[1] != store->config.objects ||
        bytes[2] != store->config.name_bytes || bytes[3] != store->config.checkpoints ||
        bytes[4] != store->fan_shift || nw_get16(bytes + 6) != store->page_bytes ||
        nw_get16(bytes + 8) != store->block_pages ||
        nw_get32(bytes + 10) != store->blocks) {
        return NW_ERR_VERSION;
    }
    *swaps = bytes[5];
    store->redo = nw_get32(bytes + 14);
    store->tail = store_get_block(bytes + 18);
    store->safe = store_get_block(bytes + 22);
    store->free = store_get_block(bytes + 26);
    store->good = store_get_block(bytes + 30);
    store->held = nw_get32(bytes + 34);
    store->serial = nw_get32(bytes + 38);
    store->anchor_sequence = nw_get32(bytes + 42);
    if (store->tail >= store->blocks || store->safe >= store->blocks ||
        store_block_of(store, store->redo) >= store->blocks ||
        store->free > store->blocks) {
        return NW_ERR_CORRUPT;
    }
    for (uint8_t i = 0; i < NW_STORE_CHECKPOINTS; i++) {
        if (i + 1U < store->tables) {
            store->kept[i + 1U] = nw_get32(bytes + 46 + 4U * i);
        }
    }
    return NW_OK;
}

/* Beside those that the scan has found, which are all of their blocks: the anchor itself may lie
 * in one of these. */
static int take_swaps(struct reader *reader, uint8_t count)
{
    struct nw_store *store = reader->store;
    uint8_t found = store->swap_count;
    uint8_t bytes[8];

    for (uint8_t i = 0; i < count; i++) {
        memset(bytes, 0, sizeof bytes);
        int result = take(reader, bytes, 8);
        struct swap swap = {.page = nw_get32(bytes), .block = store_get_block(bytes + 4)};
        int known = 0;

        if (result == NW_OK &&
            (store_block_with(store, swap.page) == STORE_NO_BLOCK ||
             (swap.block >= store->blocks && swap.block != STORE_NO_BLOCK))) {
            result = NW_ERR_CORRUPT;
        }
        for (uint8_t k = 0; k < store->swap_count; k++) {
            known |= k < found && store_block_with(store, store->swap[k].page) ==
                                     store_block_with(store, swap.page);
        }
        if (result == NW_OK && !known) {
            result = store_add_swap(store, swap.page, swap.block);
        }
        if (result < 0) {
            return NW_ERR_CORRUPT;
        }
    }
    return NW_OK;
}

static int take_object(struct reader *reader)
{
    struct nw_store *store = reader->store;
    uint8_t bytes[OBJECT_BYTES];
    int result = take(reader, bytes, 3);

    if (result < 0 || bytes[0] >= store->tables * store->config.objects) {
        return result < 0 ? result : (int)NW_ERR_CORRUPT;
    }
    struct object *object = &store->objects[bytes[0]];
    object->type = bytes[1];
    object->generation = bytes[2];
    if (object->type == 0) {
        return NW_OK;
    }
    result = take(reader, bytes + 3, OBJECT_BYTES - 3U);
    if (result < 0 || bytes[30] > store->config.name_bytes) {
        return result < 0 ? result : (int)NW_ERR_CORRUPT;
    }
    if (bytes[3] >= store->config.frames) {
        return NW_ERR_VERSION; /* written with more frames */
    }
    object->rooted = bytes[3];
    object->height = bytes[3];
    object->flags = bytes[4];
    object->unit = nw_get16(bytes + 5);
    object->fill = nw_get16(bytes + 7);
    object->root = nw_get32(bytes + 9);
    object->head = nw_get32(bytes + 13);
    object->tail = nw_get32(bytes + 17);
    object->bytes = nw_get32(bytes + 21);
    object->limit = nw_get32(bytes + 25);
    result = take(reader, (uint8_t *)store_name(store, bytes[0]), bytes[30]);
    return result < 0 ? result : store_check_object(store, object);
}

/* Is there more in the anchor? */
static int has_more(const struct reader *reader)
{
    return reader->at < reader->chunk.length || reader->taken < reader->have;
}

/* All objects and the log's books as the anchor at a position tells them. */
int store_load_anchor(struct nw_store *store, uint32_t at)
{
    uint8_t count = (uint8_t)(store->tables * store->config.objects);
    struct reader reader = {.store = store};
    uint8_t swaps = 0;
    int result = store_read_chunk(store, at, &reader.chunk, 0);

    if (result < 0 || reader.chunk.kind != CHUNK_ANCHOR) {
        return result < 0 && result != NW_ERR_UNWRITTEN ? result : (int)NW_ERR_CORRUPT;
    }
    reader.sum = store_sum_begin(store, &reader.chunk);
    memset(store->objects, 0, count * sizeof *store->objects);
    memset(store->names, 0, (uint16_t)count * (uint16_t)store->config.name_bytes);
    result = take_head(&reader, &swaps);
    if (result == NW_OK) {
        result = take_swaps(&reader, swaps);
    }
    while (result == NW_OK && has_more(&reader)) {
        result = take_object(&reader);
    }
    while (result == NW_ERR_VERSION && has_more(&reader) && take(&reader, &swaps, 1) == NW_OK) {
    }
    if (result == NW_OK || result == NW_ERR_VERSION) {
        int whole = store_sum_check(store, reader.sum, &reader.chunk);
        result = whole < 0 ? whole : result; /* nothing it tells is believed, no version neither */
    }
    if (result == NW_ERR_CORRUPT) {
        store->stats.place = at;
    }
    store->anchor = at;
    return result;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "store_rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nandwich/store_check.h"

#define RING 20U
#define ELEMENT_MOST 120U

const struct store_shape store_shapes[STORE_SHAPES] = {
    {.part = "TC58DVG02A1FT00", .blocks = 40, .block_pages = 16, .nand_flags = NW_NAND_UNERASED,
     .config = {.checkpoints = 2, .anchor_bytes = 2048, .frames = 40}},
    {.part = "W25N01GV", .blocks = 36, .block_pages = 8, .page_bytes = 1024,
     .config = {.checkpoints = 1, .anchor_bytes = 4096, .frames = 24}},
    {.part = "W25Q128JV", .blocks = 48, .block_pages = 16,
     .config = {.checkpoints = 1, .anchor_bytes = 2048, .frames = 24, .read_ahead = 1}},
    {.part = "AT45DB041B", .blocks = 96,
     .config = {.objects = 7, .checkpoints = 1, .anchor_bytes = 2112, .frames = 24}},
    {.part = "TC58DVG02A1FT00", .blocks = 48, .block_pages = 8, .ecc = 2,
     .config = {.checkpoints = 1, .anchor_bytes = 2048, .frames = 24}},
    {.part = "K9LBG08U0M", .blocks = 44, .block_pages = 10, .page_bytes = 512, .erased = 0x00,
     .config = {.anchor_bytes = 3072, .frames = 12, .fan = 8, .read_ahead = 1}},
    {.part = "TC58DVG02A1FT00", .blocks = 44, .block_pages = 16, .nand_flags = NW_NAND_UNERASED,
     .sealed = 1, .config = {.checkpoints = 1, .anchor_bytes = 2048, .frames = 40}},
    {.part = "W25Q128JV", .blocks = 52, .block_pages = 16, .sealed = 1,
     .config = {.checkpoints = 1, .anchor_bytes = 2048, .frames = 24, .read_ahead = 1}},
};

static void die(const char *what, int error)
{
    (void)fprintf(stderr, "store rig: %s: %s\n", what, nw_error_text(error));
    abort();
}

static void *need(size_t bytes)
{
    void *memory = calloc(1, bytes);

    if (memory == NULL) {
        die("memory", NW_ERR_RAM);
    }
    return memory;
}

/* The chip, with its filter. */
static void open_chip(struct store_rig *rig)
{
    struct nw_ecc_config config = {.parts = rig->shape->ecc};

    rig->chip = nw_nand_chip(rig->nand);
    if (rig->shape->ecc != 0) {
        size_t bytes = nw_ecc_ram_bytes(&config, &rig->chip->geometry);
        rig->ecc_ram = rig->ecc_ram != NULL ? rig->ecc_ram : need(bytes);
        int result = nw_ecc_open(&rig->ecc, rig->chip, &config, rig->ecc_ram, bytes);
        if (result < 0) {
            die("ecc", result);
        }
        rig->chip = &rig->ecc.chip;
    }
}

static void open_nand(struct store_rig *rig, uint32_t seed)
{
    const struct store_shape *shape = rig->shape;
    struct nw_part part;
    int result = nw_parts_get(shape->part, &part);

    if (result < 0) {
        die(shape->part, result);
    }
    part.blocks = shape->blocks;
    part.block_pages = shape->block_pages != 0 ? shape->block_pages : part.block_pages;
    part.page_bytes = shape->page_bytes != 0 ? shape->page_bytes : part.page_bytes;
    part.spare_bytes = shape->spare_bytes != 0 ? shape->spare_bytes : part.spare_bytes;
    part.program_bytes = shape->program_bytes != 0 ? shape->program_bytes : part.program_bytes;
    part.program_bytes = part.program_bytes > part.page_bytes ? part.page_bytes
                                                              : part.program_bytes;
    part.factory_bad = part.factory_bad > 1U ? 1U : part.factory_bad;
    if (strcmp(shape->part, "K9LBG08U0M") == 0) {
        part.program_bytes = part.page_bytes;
        part.erased = shape->erased;
    }
    struct nw_nand_config config = {.part = &part, .seed = seed, .flags = shape->nand_flags};
    result = nw_nand_open(&rig->nand, &config);
    if (result < 0) {
        die("open", result);
    }
    open_chip(rig);
}

static int make(struct store_rig *rig, const char *name, uint8_t type, uint16_t unit,
                uint32_t count)
{
    struct nw_store_spec spec = {.type = type, .unit_bytes = unit, .count = count};

    return nw_store_create(rig->store, name, &spec);
}

/* Shape and configuration; the chip is not asked. */
static void begin(struct store_rig *rig, const struct store_shape *shape)
{
    memset(rig, 0, sizeof *rig);
    rig->shape = shape;
    rig->config = shape->config;
    if (shape->sealed != 0) {
        static const uint8_t key[NW_SEAL_KEY_BYTES] = "the key of the store's rig";
        nw_seal_sodium_open(&rig->seal, key);
        rig->config.seal = &rig->seal.seal;
    }
}

int store_rig_format(struct store_rig *rig)
{
    memset(&rig->now, 0, sizeof rig->now);
    rig->has_saved = 0;
    int result =
        nw_store_format(&rig->store, rig->chip, &rig->config, rig->ram, rig->ram_bytes);
    if (result < 0) {
        return result;
    }
    if (make(rig, "stack", NW_STORE_STACK, 0, 0) < 0 ||
        make(rig, "queue", NW_STORE_QUEUE, 0, 0) < 0 ||
        make(rig, "packed", NW_STORE_STREAM, 4, 0) < 0 ||
        make(rig, "records", NW_STORE_STREAM, 0, 0) < 0 ||
        make(rig, "ring", NW_STORE_STREAM, 0, RING) < 0 ||
        make(rig, "array", NW_STORE_ARRAY, 24, STORE_KEYS) < 0 ||
        make(rig, "file", NW_STORE_FILE, STORE_FILE_BLOCK, 0) < 0) {
        return NW_ERR_CONFIG;
    }
    rig->now.has_queue = 1;
    rig->states[0] = rig->now;
    rig->state_count = 1;
    return NW_OK;
}

int store_rig_open_on(struct store_rig *rig, const struct store_shape *shape, struct nw_chip *chip)
{
    begin(rig, shape);
    rig->chip = chip;
    rig->ram_bytes = nw_store_ram_bytes(&rig->config, &chip->geometry);
    rig->ram = calloc(1, rig->ram_bytes + 1U);
    if (rig->ram == NULL) {
        return NW_ERR_RAM;
    }
    return rig->ram_bytes != 0 ? NW_OK : (int)NW_ERR_CONFIG;
}

void store_rig_open(struct store_rig *rig, const struct store_shape *shape, uint32_t seed)
{
    begin(rig, shape);
    open_nand(rig, seed);
    rig->ram_bytes = nw_store_ram_bytes(&rig->config, &rig->chip->geometry);
    rig->ram = need(rig->ram_bytes + 1U);
    int result = store_rig_format(rig);
    if (result < 0) {
        die("format", result);
    }
}

void store_rig_close(struct store_rig *rig)
{
    nw_nand_close(rig->nand);
    free(rig->ram);
    free(rig->ecc_ram);
}

int store_rig_mount(struct store_rig *rig)
{
    memset(rig->ram, 0xC3, rig->ram_bytes);
    rig->alarms = 0;
    return nw_store_mount(&rig->store, rig->chip, &rig->config, rig->ram, rig->ram_bytes);
}

/* The element of a token. */
static uint16_t element(uint32_t token, uint8_t *data)
{
    uint16_t length = (uint16_t)(4U + (token * 2654435761U >> 20) % (ELEMENT_MOST - 4U));

    memcpy(data, &token, 4);
    for (uint16_t i = 4; i < length; i++) {
        data[i] = (uint8_t)(token * 31U + i * 7U);
    }
    return length;
}

/* Its token, or 0 when the bytes are no element's. */
static uint32_t token_of(const uint8_t *data, int length)
{
    uint8_t wanted[ELEMENT_MOST];
    uint32_t token;

    if (length < 4) {
        return 0;
    }
    memcpy(&token, data, 4);
    return element(token, wanted) == length && memcmp(wanted, data, (size_t)length) == 0 ? token
                                                                                         : 0;
}

static void value_of(uint32_t token, uint8_t *value)
{
    for (uint32_t i = 0; i < 6U; i++) {
        uint32_t word = token ^ (i * 2654435761U);
        memcpy(value + i * 4U, &word, 4);
    }
}

/* The model */

static void add_state(struct store_rig *rig)
{
    if (rig->state_count == STORE_STATES) {
        die("more states than the model keeps", NW_ERR_FULL);
    }
    rig->states[rig->state_count++] = rig->now;
}

static void settle_states(struct store_rig *rig)
{
    rig->states[0] = rig->now;
    rig->state_count = 1;
}

static void list_add(uint32_t *list, uint32_t *count, uint32_t most, uint32_t token)
{
    if (*count == most) {
        memmove(list, list + 1, (most - 1U) * sizeof *list);
        (*count)--;
    }
    list[(*count)++] = token;
}

static void list_drop_first(uint32_t *list, uint32_t *count)
{
    (*count)--;
    memmove(list, list + 1, *count * sizeof *list);
    list[*count] = 0;
}

static int handle(struct store_rig *rig, const char *name)
{
    return nw_store_find(rig->store, name);
}

/* Streams lose what the model does not remember either. */
static int trim(struct store_rig *rig, const char *name, uint32_t keep)
{
    struct nw_store_about about;
    uint8_t slot = 0;
    int which = handle(rig, name);

    while (nw_store_at(rig->store, slot, &about) != NW_OK || about.handle != which) {
        slot++;
    }
    return about.tail - about.head < keep + 40U
               ? NW_OK
               : nw_store_trim(rig->store, which, about.tail - keep);
}

static int run_append(struct store_rig *rig, uint32_t count)
{
    struct store_view *now = &rig->now;
    uint32_t values[16];

    for (uint32_t i = 0; i < count; i++) {
        values[i] = ++rig->token;
        list_add(now->packed, &now->packed_count, STORE_PACKED, values[i]);
        add_state(rig);
    }
    int result = trim(rig, "packed", STORE_PACKED);
    if (result < 0) {
        return result;
    }
    return nw_store_append(rig->store, handle(rig, "packed"), values, (uint16_t)(count * 4U));
}

static int run_list(struct store_rig *rig, uint8_t kind)
{
    struct store_view *now = &rig->now;
    uint8_t data[ELEMENT_MOST];
    uint32_t token = ++rig->token;
    uint16_t length = element(token, data);
    int trimmed;

    switch (kind) {
    case STORE_PUSH:
        list_add(now->stack, &now->stack_count, STORE_LIST, token);
        add_state(rig);
        return nw_store_push(rig->store, handle(rig, "stack"), data, length);
    case STORE_ENQUEUE:
        list_add(now->queue, &now->queue_count, STORE_LIST, token);
        add_state(rig);
        return nw_store_push(rig->store, handle(rig, "queue"), data, length);
    case STORE_RECORD:
        trimmed = trim(rig, "records", STORE_LIST);
        if (trimmed < 0) {
            return trimmed;
        }
        list_add(now->records, &now->record_count, STORE_LIST, token);
        add_state(rig);
        return nw_store_append(rig->store, handle(rig, "records"), data, length);
    default:
        list_add(now->ring, &now->ring_count, RING, token);
        add_state(rig);
        return nw_store_append(rig->store, handle(rig, "ring"), data, length);
    }
}

static int run_take(struct store_rig *rig, uint8_t kind)
{
    struct store_view *now = &rig->now;
    uint8_t data[ELEMENT_MOST];
    int result;
    uint32_t wanted;

    if (kind == STORE_POP) {
        wanted = now->stack[--now->stack_count];
        now->stack[now->stack_count] = 0;
        add_state(rig);
        result = nw_store_pop(rig->store, handle(rig, "stack"), data, sizeof data);
    } else {
        wanted = now->queue[0];
        list_drop_first(now->queue, &now->queue_count);
        add_state(rig);
        result = nw_store_dequeue(rig->store, handle(rig, "queue"), data, sizeof data);
    }
    if (result >= 0 && token_of(data, result) != wanted) {
        (void)snprintf(rig->why, sizeof rig->why, "took %u, wanted %u",
                       (unsigned)token_of(data, result), (unsigned)wanted);
        return NW_ERR_CORRUPT;
    }
    return result;
}

static int run_set(struct store_rig *rig, uint32_t key)
{
    uint8_t value[24];

    rig->now.array[key] = ++rig->token;
    value_of(rig->token, value);
    add_state(rig);
    return nw_store_set(rig->store, handle(rig, "array"), key, value);
}

/* Over what is there, or on at the end; now and then the file loses half of itself. */
static int run_file(struct store_rig *rig, uint32_t count)
{
    struct store_view *now = &rig->now;
    uint32_t token = ++rig->token;
    uint32_t offset = token % 3U == 0 ? now->length : token * 37U % (now->length + 1U);
    uint32_t bytes = STORE_FILE_BLOCK - offset % STORE_FILE_BLOCK;
    uint8_t data[STORE_FILE_BLOCK];

    bytes = bytes < 8U * count ? bytes : 8U * count;
    if (offset + bytes > STORE_FILE_BYTES) {
        now->length /= 2U;
        memset(now->file + now->length, 0, STORE_FILE_BYTES - now->length);
        add_state(rig);
        return nw_store_truncate(rig->store, handle(rig, "file"), now->length);
    }
    for (uint32_t i = 0; i < bytes; i++) {
        data[i] = (uint8_t)(token + i * 13U);
    }
    memcpy(now->file + offset, data, bytes);
    now->length = offset + bytes > now->length ? offset + bytes : now->length;
    add_state(rig);
    int result = nw_store_write(rig->store, handle(rig, "file"), offset, data, (uint16_t)bytes);
    return result >= 0 && result != (int)bytes ? (int)NW_ERR_FULL : result;
}

/* The checkpoints make room for others. */
static int drop_all(struct store_rig *rig)
{
    int result = NW_OK;

    rig->has_saved = 0;
    for (uint8_t place = 0; place < NW_STORE_CHECKPOINTS && result >= 0; place++) {
        int number = nw_store_kept(rig->store, place);
        result = number != 0 ? nw_store_drop(rig->store, number) : result;
    }
    return result;
}

/* Those that are durable when they return. */
static int run_whole(struct store_rig *rig, const struct store_op *op)
{
    struct store_view *now = &rig->now;
    struct store_view old = *now;
    int result;

    switch (op->kind) {
    case STORE_SYNC: result = nw_store_sync(rig->store); break;
    case STORE_CHECKPOINT:
        result = nw_store_checkpoint(rig->store);
        if (result == NW_ERR_FULL) {
            return drop_all(rig);
        }
        rig->saved = *now;
        rig->has_saved = result >= 0; /* cut: nobody knows which is the newest */
        break;
    case STORE_ROLLBACK:
        *now = rig->saved;
        add_state(rig);
        result = nw_store_rollback(rig->store, 0);
        break;
    case STORE_RENEW_DELETE:
        memset(now->queue, 0, sizeof now->queue);
        now->queue_count = 0;
        now->has_queue = 0;
        add_state(rig);
        result = nw_store_delete(rig->store, handle(rig, "queue"));
        break;
    default:
        now->has_queue = 1;
        add_state(rig);
        result = make(rig, "queue", NW_STORE_QUEUE, 0, 0);
        break;
    }
    if (result >= 0) {
        settle_states(rig);
    } else {
        *now = old;
    }
    if (result == NW_ERR_FULL && (op->kind == STORE_ROLLBACK || op->kind == STORE_RENEW_CREATE)) {
        rig->state_count--; /* nothing was changed */
        result = NW_OK;
    }
    return result;
}

/* Where a put may be refused something is taken instead. */
static int take_something(struct store_rig *rig)
{
    if (rig->now.stack_count > 0) {
        return run_take(rig, STORE_POP);
    }
    return rig->now.queue_count > 0 ? run_take(rig, STORE_DEQUEUE) : drop_all(rig);
}

static int has_room(const struct store_rig *rig)
{
    struct nw_store_space space;

    nw_store_space(rig->store, &space);
    return space.put_bytes >= ELEMENT_MOST;
}

int store_rig_run(struct store_rig *rig, const struct store_op *op)
{
    static const uint32_t puts = 1UL << STORE_PUSH | 1UL << STORE_ENQUEUE | 1UL << STORE_RECORD |
                                 1UL << STORE_RING | 1UL << STORE_APPEND | 1UL << STORE_SET |
                                 1UL << STORE_WRITE;

    if ((puts >> op->kind & 1U) != 0 && !has_room(rig)) {
        return take_something(rig);
    }
    switch (op->kind) {
    case STORE_PUSH:
        if (rig->now.stack_count == STORE_LIST) {
            return run_take(rig, STORE_POP);
        }
        return run_list(rig, op->kind);
    case STORE_ENQUEUE:
        if (rig->now.queue_count == STORE_LIST) {
            return run_take(rig, STORE_DEQUEUE);
        }
        return rig->now.has_queue != 0 ? run_list(rig, op->kind) : NW_OK;
    case STORE_RECORD:
    case STORE_RING: return run_list(rig, op->kind);
    case STORE_POP: return rig->now.stack_count > 0 ? run_take(rig, op->kind) : NW_OK;
    case STORE_DEQUEUE: return rig->now.queue_count > 0 ? run_take(rig, op->kind) : NW_OK;
    case STORE_APPEND: return run_append(rig, op->count);
    case STORE_SET: return run_set(rig, op->count);
    case STORE_WRITE: return run_file(rig, op->count);
    case STORE_IDLE: return nw_store_idle(rig->store, (uint16_t)op->count);
    case STORE_CHECKPOINT:
        return rig->shape->config.checkpoints > 0 ? run_whole(rig, op) : NW_OK;
    case STORE_ROLLBACK: return rig->has_saved != 0 ? run_whole(rig, op) : NW_OK;
    case STORE_RENEW_DELETE: return rig->now.has_queue != 0 ? run_whole(rig, op) : NW_OK;
    case STORE_RENEW_CREATE: return rig->now.has_queue == 0 ? run_whole(rig, op) : NW_OK;
    case STORE_SYNC: return run_whole(rig, op);
    default:
        nw_nand_doom(rig->nand, op->count, op->kind == STORE_DOOM_PROGRAM);
        return NW_OK;
    }
}

struct store_op store_rig_draw(struct store_rig *rig, struct nw_random *random)
{
    static const uint8_t weights[] = {14, 8, 14, 9, 18, 8, 7, 14, 14, 6, 6, 2, 1, 1, 3};
    struct store_op op = {.count = 1U + nw_random_below(random, 8)};
    uint32_t dice = nw_random_below(random, 125);

    if (rig->state_count + 16U > STORE_STATES) {
        op.kind = STORE_SYNC;
        return op;
    }
    while (dice >= weights[op.kind]) {
        dice -= weights[op.kind++];
    }
    if (op.kind == STORE_SET) {
        op.count = nw_random_below(random, STORE_KEYS);
    }
    return op;
}

/* Reading everything */

static int view_list(struct store_rig *rig, const char *name, uint32_t *list, uint32_t *count,
                     uint32_t most)
{
    struct nw_store_about about;
    uint8_t data[ELEMENT_MOST];
    int which = handle(rig, name);

    for (uint8_t slot = 0; which >= 0 && nw_store_at(rig->store, slot, &about) != NW_ERR_RANGE;
         slot++) {
        if (nw_store_at(rig->store, slot, &about) == NW_OK && about.handle == which) {
            break;
        }
    }
    if (which < 0) {
        return which;
    }
    uint32_t from = about.tail - about.head > most ? about.tail - most : about.head;
    *count = about.tail - from;
    for (uint32_t i = 0; i < *count; i++) {
        int result = nw_store_peek(rig->store, which, from + i, data, sizeof data);
        list[i] = result < 0 ? 0 : token_of(data, result);
        if (list[i] == 0) {
            result = result < 0 ? result : (int)NW_ERR_CORRUPT;
            (void)snprintf(rig->why, sizeof rig->why, "%s[%u]: %s", name, (unsigned)(from + i),
                           nw_error_text(result));
            return result;
        }
    }
    return NW_OK;
}

/* The packed stream backward from its end, then forward from the start of what was read. */
static int view_packed(struct store_rig *rig, struct store_view *view)
{
    struct nw_store_cursor cursor;
    uint32_t values[STORE_PACKED];
    uint32_t count = 0;
    int result = nw_store_last(rig->store, handle(rig, "packed"), &cursor);

    while (result >= 0 && count < STORE_PACKED) {
        result = nw_store_previous(rig->store, &cursor, &values[count], 4);
        if (result == 0) {
            break;
        }
        count++;
    }
    for (uint32_t i = 0; i < count && result >= 0; i++) {
        result = nw_store_next(rig->store, &cursor, &view->packed[i], 4);
        if (result >= 0 && view->packed[i] != values[count - 1U - i]) {
            result = NW_ERR_CORRUPT;
        }
    }
    view->packed_count = count;
    if (result < 0) {
        (void)snprintf(rig->why, sizeof rig->why, "packed at %u of %u: %s",
                       (unsigned)cursor.chunk, (unsigned)count, nw_error_text(result));
        return result;
    }
    return NW_OK;
}

static int view_array(struct store_rig *rig, struct store_view *view)
{
    uint8_t value[24];
    uint8_t wanted[24];

    for (uint32_t key = 0; key < STORE_KEYS; key++) {
        int result = nw_store_get(rig->store, handle(rig, "array"), key, value);
        if (result == NW_OK) {
            memcpy(&view->array[key], value, 4);
            value_of(view->array[key], wanted);
            result = memcmp(value, wanted, sizeof value) == 0 ? NW_OK : NW_ERR_CORRUPT;
        }
        if (result < 0 && result != NW_ERR_NOT_FOUND) {
            (void)snprintf(rig->why, sizeof rig->why, "array[%u]: %s", (unsigned)key,
                           nw_error_text(result));
            return result;
        }
    }
    return NW_OK;
}

static int view_file(struct store_rig *rig, struct store_view *view)
{
    int which = handle(rig, "file");
    int result = nw_store_length(rig->store, which, &view->length);

    if (result == NW_OK && view->length <= STORE_FILE_BYTES) {
        result = nw_store_read(rig->store, which, 0, view->file, STORE_FILE_BYTES);
    }
    if (result < 0 || (uint32_t)result != view->length) {
        (void)snprintf(rig->why, sizeof rig->why, "file of %u: %d", (unsigned)view->length, result);
        return result < 0 ? result : (int)NW_ERR_CORRUPT;
    }
    return NW_OK;
}

static int view_all(struct store_rig *rig, struct store_view *view)
{
    memset(view, 0, sizeof *view);
    view->has_queue = handle(rig, "queue") >= 0;
    int result = view_list(rig, "stack", view->stack, &view->stack_count, STORE_LIST);
    if (result == NW_OK && view->has_queue != 0) {
        result = view_list(rig, "queue", view->queue, &view->queue_count, STORE_LIST);
    }
    if (result == NW_OK) {
        result = view_list(rig, "records", view->records, &view->record_count, STORE_LIST);
    }
    if (result == NW_OK) {
        result = view_list(rig, "ring", view->ring, &view->ring_count, RING);
    }
    if (result == NW_OK) {
        result = view_packed(rig, view);
    }
    if (result == NW_OK) {
        result = view_file(rig, view);
    }
    return result == NW_OK ? view_array(rig, view) : result;
}

static void tell_difference(struct store_rig *rig, const struct store_view *view)
{
    const struct store_view *now = &rig->states[rig->state_count - 1U];

    (void)snprintf(rig->why, sizeof rig->why,
                   "as in none of %u states: stack %u (%u) queue %u (%u) packed %u (%u) "
                   "records %u (%u) ring %u (%u) array %d",
                   (unsigned)rig->state_count, (unsigned)view->stack_count,
                   (unsigned)now->stack_count, (unsigned)view->queue_count,
                   (unsigned)now->queue_count, (unsigned)view->packed_count,
                   (unsigned)now->packed_count, (unsigned)view->record_count,
                   (unsigned)now->record_count, (unsigned)view->ring_count,
                   (unsigned)now->ring_count,
                   memcmp(view->array, now->array, sizeof view->array) == 0);
}

/* All that it shows is found where nothing erases it, in checkpoints too. */
static int check_inside(struct store_rig *rig)
{
    struct nw_store_fault fault;
    int result = nw_store_check(rig->store, &fault);

    if (result < 0) {
        (void)snprintf(rig->why, sizeof rig->why,
                       "nw_store_check(): %s, object %u of checkpoint %u, key %lu",
                       nw_error_text(result), fault.slot, fault.checkpoint,
                       (unsigned long)fault.key);
    }
    rig->error = result;
    return result < 0 ? -1 : 0;
}

/* Reads all there is into the view. */
static int look(struct store_rig *rig)
{
    rig->error = view_all(rig, &rig->view);
    if (rig->error < 0) {
        return -1;
    }
    if (nw_store_stats(rig->store)->tampered > rig->alarms) {
        (void)snprintf(rig->why, sizeof rig->why, "a false alarm of the seal");
        return -1;
    }
    return check_inside(rig);
}

int store_rig_shows(struct store_rig *rig, uint32_t from)
{
    if (look(rig) < 0) {
        return -1;
    }
    for (uint32_t i = rig->state_count; i-- > from;) {
        if (memcmp(&rig->states[i], &rig->view, sizeof rig->view) == 0) {
            return 0;
        }
    }
    tell_difference(rig, &rig->view);
    return -1;
}

/* Changes of cells so far. */
static uint64_t changes(const struct store_rig *rig)
{
    const struct nw_nand_counts *counts = nw_nand_stats(rig->nand);

    return (uint64_t)counts->programs + counts->erases + counts->copies + counts->buffer_programs;
}

int store_rig_look(struct store_rig *rig, uint8_t frames, uint32_t from)
{
    struct nw_store_config config = rig->config;
    uint64_t before = changes(rig);

    config.frames = frames < config.frames ? frames : config.frames;
    memset(rig->ram, 0xC3, rig->ram_bytes);
    rig->alarms = 0;
    rig->error =
        nw_store_mount_read_only(&rig->store, rig->chip, &config, rig->ram, rig->ram_bytes);
    if (rig->error < 0) {
        (void)snprintf(rig->why, sizeof rig->why, "read-only: no mount");
        return -1;
    }
    if (store_rig_shows(rig, from) < 0) {
        return -1;
    }
    if (nw_store_sync(rig->store) != NW_ERR_UNSUPPORTED || changes(rig) != before) {
        (void)snprintf(rig->why, sizeof rig->why, "read-only: something was written");
        return -1;
    }
    return 0;
}

int store_rig_check(struct store_rig *rig, int settle)
{
    if (settle == 0) {
        rig->states[rig->state_count - 1U] = rig->now;
    }
    int result = store_rig_shows(rig, settle != 0 ? 0 : rig->state_count - 1U);
    if (result == 0 && settle != 0) {
        rig->now = rig->view;
        settle_states(rig);
    }
    return result;
}

int store_rig_clean(struct store_rig *rig)
{
    const struct nw_misuse *misuse = nw_nand_misuse(rig->nand);

    if (misuse->error == 0) {
        return 0;
    }
    (void)nw_misuse_text(misuse, rig->why, sizeof rig->why);
    return -1;
}

void store_snapshot_open(struct store_snapshot *snapshot, const struct store_rig *rig)
{
    snapshot->ram = need(rig->ram_bytes + 1U);
    if (nw_nand_fork(&snapshot->nand, rig->nand) < 0) {
        die("fork", NW_ERR_RAM);
    }
}

void store_snapshot_take(struct store_snapshot *snapshot, const struct store_rig *rig)
{
    if (nw_nand_assign(snapshot->nand, rig->nand) < 0) {
        die("assign", NW_ERR_CONFIG);
    }
    snapshot->rig = *rig;
    memcpy(snapshot->ram, rig->ram, rig->ram_bytes);
}

void store_snapshot_restore(const struct store_snapshot *snapshot, struct store_rig *rig)
{
    if (nw_nand_assign(rig->nand, snapshot->nand) < 0) {
        die("assign", NW_ERR_CONFIG);
    }
    *rig = snapshot->rig;
    memcpy(rig->ram, snapshot->ram, rig->ram_bytes);
}

void store_snapshot_close(struct store_snapshot *snapshot)
{
    nw_nand_close(snapshot->nand);
    free(snapshot->ram);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The object store at work on an 8-bit processor: random calls on a stack, a stream and an array on
 * a small flash in RAM, each compared with what plain memory says, and a mount every 61 calls. For
 * an ATmega1284P, which has RAM for both. Port B: 1 for each mount; 2 all was right, 3 it was not;
 * then 255.
 */
#include <avr/io.h>
#include <string.h>

#include "nandwich/store.h"

#define BLOCKS 28U
#define BLOCK_PAGES 8U
#define PAGE_BYTES 64U
#define CALLS 1500U
#define MOST 4U /* on the stack; more is not below the limit of so small a chip, */
#define KEYS 3U /* and a larger one leaves the processor no room for its calls */

static uint8_t flash[BLOCKS * BLOCK_PAGES * PAGE_BYTES];
static uint8_t ram[900];
static uint16_t stack[MOST];
static uint16_t array[KEYS];
static uint8_t wrong; /* a byte was programmed twice */

static uint8_t *place(const struct nw_chip_req *req)
{
    return flash + (uint16_t)req->page * PAGE_BYTES + req->offset;
}

static int flash_read(struct nw_chip_req *req)
{
    memcpy(req->data, place(req), req->length);
    return NW_OK;
}

static int flash_program(struct nw_chip_req *req)
{
    uint8_t *to = place(req);

    for (uint16_t i = 0; i < req->length; i++) {
        wrong |= to[i] != 0xFFU;
        to[i] = req->data[i];
    }
    return NW_OK;
}

static int flash_erase(struct nw_chip_req *req)
{
    memset(flash + (uint16_t)req->block * BLOCK_PAGES * PAGE_BYTES, 0xFF, BLOCK_PAGES * PAGE_BYTES);
    return NW_OK;
}

static int flash_is_bad(struct nw_chip_req *req)
{
    (void)req;
    return 0;
}

static const struct nw_chip_ops ops = {
    .read = flash_read,
    .program = flash_program,
    .erase = flash_erase,
    .is_bad = flash_is_bad,
    .mark_bad = flash_is_bad,
};

static struct nw_chip chip = {.ops = &ops,
                              .geometry = {.blocks = BLOCKS,
                                           .block_pages = BLOCK_PAGES,
                                           .page_bytes = PAGE_BYTES,
                                           .program_bytes = 1,
                                           .page_programs = NW_PROGRAMS_UNLIMITED,
                                           .erased = 0xFF,
                                           .flags = NW_CHIP_READ_ERASED | NW_CHIP_IN_ORDER}};

static const struct nw_store_config config = {
    .objects = 3, .name_bytes = 2, .frames = 4, .fan = 8, .anchor_bytes = 256};

static struct nw_store *store;
static int handles[3];

static int make(void)
{
    static const struct nw_store_spec specs[3] = {
        {.type = NW_STORE_STACK},
        {.type = NW_STORE_STREAM, .unit_bytes = 2, .count = 3},
        {.type = NW_STORE_ARRAY, .unit_bytes = 2, .count = KEYS}};
    static const char *const names[3] = {"a", "b", "c"};
    int result = nw_store_format(&store, &chip, &config, ram, sizeof ram);

    for (uint8_t i = 0; i < 3U && result >= 0; i++) {
        result = nw_store_create(store, names[i], &specs[i]);
        handles[i] = result;
    }
    return result;
}

/* The newest of the stream is the `number` appended last, and each is one less than the next. */
static int check_stream(uint16_t number)
{
    struct nw_store_cursor cursor = {.handle = 0};
    int result = nw_store_last(store, handles[1], &cursor);

    while (result >= 0) {
        uint16_t value;

        result = nw_store_previous(store, &cursor, &value, sizeof value);
        if (result <= 0) {
            return result;
        }
        if (value != --number) {
            return NW_ERR_CORRUPT;
        }
    }
    return result;
}

static int call(uint16_t random, uint16_t *depth, uint16_t *appended)
{
    uint16_t key = random % KEYS;
    uint16_t value = random;
    int result = NW_OK;

    switch ((random >> 8) % 5U) {
    case 0:
        if (*depth < MOST) {
            result = nw_store_push(store, handles[0], &value, sizeof value);
            stack[(*depth)++] = value;
        }
        break;
    case 1:
        if (*depth > 0) {
            result = nw_store_pop(store, handles[0], &value, sizeof value);
            wrong |= value != stack[--*depth];
        }
        break;
    case 2:
        result = nw_store_append(store, handles[1], appended, sizeof *appended);
        (*appended)++;
        break;
    case 3:
        result = nw_store_set(store, handles[2], key, &value);
        array[key] = value;
        break;
    default:
        result = nw_store_get(store, handles[2], key, &value);
        wrong |= value != (result < 0 ? random : array[key]);
        result = result == NW_ERR_NOT_FOUND && array[key] == 0 ? (int)NW_OK : result;
        break;
    }
    return result;
}

int main(void)
{
    uint16_t random = 1;
    uint16_t depth = 0;
    uint16_t appended = 0;
    int result;

    memset(flash, 0x55, sizeof flash);
    result = make();
    for (uint16_t i = 1; i <= CALLS && result >= 0; i++) {
        random = (uint16_t)(random * 25173U + 13849U);
        result = call(random, &depth, &appended);
        if (result >= 0 && i % 61U == 0) {
            result = nw_store_sync(store);
            result = result < 0 ? result
                                : nw_store_mount(&store, &chip, &config, ram, sizeof ram);
            result = result < 0 ? result : check_stream(appended);
            PORTB = 1;
            PORTB = 0;
        }
    }
    PORTB = result >= 0 && wrong == 0 ? 2 : 3;
    PORTB = 0;
    PORTB = 255;
    return 0;
}

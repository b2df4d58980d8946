/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: a flipped bit of a store is an error of the calls that need the bytes it hit, and of no
 * others: nothing stops the rest of the store, and no wrong byte of a stream is handed out.
 * ctest: quick
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "nandwich-twin/nand.h"
#include "nandwich-twin/parts.h"
#include "nandwich/bytes.h"
#include "nandwich/crc.h"
#include "nandwich/store.h"

#define PAGES 512U /* of the chip */
#define PAGE 256U
#define FAN 16U
#define HEADER 14U /* of a chunk */
#define NODE 2U    /* a chunk of this kind with level 0 */
#define UNIT 16U
#define COUNT 24U /* elements: the second node is half full */

static struct {
    struct nw_nand *nand;
    struct nw_store_config config;
    struct nw_store *store;
    uint64_t ram[1024];
} bed;

static int mount(void)
{
    memset(bed.ram, 0xA5, sizeof bed.ram);
    return nw_store_mount(&bed.store, nw_nand_chip(bed.nand), &bed.config, bed.ram,
                          sizeof bed.ram);
}

static void open_bed(uint8_t read_ahead)
{
    struct nw_part part;

    memset(&bed, 0, sizeof bed);
    assert_true(nw_parts_get("W25Q128JV", &part) >= 0);
    struct nw_nand_config nand = {.part = &part, .blocks = PAGES / part.block_pages, .seed = 9};
    assert_int_equal(nw_nand_open(&bed.nand, &nand), NW_OK);
    bed.config.objects = 4;
    bed.config.read_ahead = read_ahead;
    assert_int_equal(nw_store_format(&bed.store, nw_nand_chip(bed.nand), &bed.config, bed.ram,
                                     sizeof bed.ram),
                     NW_OK);
}

static void close_bed(void)
{
    assert_int_equal(nw_nand_misuse(bed.nand)->error, 0);
    nw_nand_close(bed.nand);
}

static int create(const char *name, uint8_t type, uint16_t unit, uint32_t count)
{
    struct nw_store_spec spec = {.type = type, .unit_bytes = unit, .count = count};
    int handle = nw_store_create(bed.store, name, &spec);

    assert_true(handle > 0);
    return handle;
}

/* The next element, block or value, UNIT times its number. */
static int put(int handle, uint8_t type, uint32_t number)
{
    uint8_t data[UNIT];

    memset(data, (int)number, sizeof data);
    switch (type) {
    case NW_STORE_ARRAY: return nw_store_set(bed.store, handle, number, data);
    case NW_STORE_STREAM: return nw_store_append(bed.store, handle, data, UNIT);
    case NW_STORE_FILE: {
        int result = nw_store_write(bed.store, handle, number * UNIT, data, UNIT);
        return result < 0 ? result : (int)NW_OK;
    }
    default: return nw_store_push(bed.store, handle, data, UNIT);
    }
}

/* A bit of the newest node of level 0 that tells of the keys from `index` x FAN on is turned. */
static void hurt_node(uint8_t slot, uint32_t index)
{
    uint8_t page[PAGE];
    uint32_t found = 0;
    uint32_t bit = 0;

    for (uint32_t i = 0; i < PAGES; i++) {
        nw_nand_peek(bed.nand, i, page, NULL);
        for (uint32_t at = 0; at + HEADER + 4U <= PAGE; at++) {
            const uint8_t *header = page + at;
            if (header[0] == NODE && header[1] == slot && nw_get32(header + 5) == index &&
                header[9] == (nw_crc16(NW_CRC16_START, header, 9) & 0xFFU)) {
                found = i;
                bit = (at + HEADER) * 8U;
            }
        }
    }
    assert_int_not_equal(bit, 0);
    nw_nand_flip(bed.nand, found, bit);
}

/* Whatever another object can do is done. */
static void use_queue(int queue)
{
    uint8_t data[UNIT] = {0};

    for (uint32_t i = 0; i < 200U; i++) {
        assert_int_equal(nw_store_push(bed.store, queue, data, UNIT), NW_OK);
        assert_int_equal(nw_store_dequeue(bed.store, queue, data, UNIT), UNIT);
        assert_int_equal(nw_store_sync(bed.store), NW_OK);
        assert_true(nw_store_idle(bed.store, 4) >= 0);
    }
    int other = create("other", NW_STORE_STACK, 0, 0);
    assert_int_equal(nw_store_delete(bed.store, other), NW_OK);
}

/* All of an object is given up, without reading any of it. */
static void empty(int handle, uint8_t type)
{
    int result = UNIT;

    if (type == NW_STORE_STREAM) {
        assert_int_equal(nw_store_trim(bed.store, handle, COUNT), NW_OK);
    } else if (type == NW_STORE_FILE) {
        assert_int_equal(nw_store_truncate(bed.store, handle, 0), NW_OK);
    } else {
        while (result >= 0) {
            result = type == NW_STORE_STACK ? nw_store_pop(bed.store, handle, NULL, 0)
                                            : nw_store_dequeue(bed.store, handle, NULL, 0);
        }
        assert_int_equal(result, NW_ERR_NOT_FOUND);
    }
}

/*
 * Once a write that needed a damaged node wrote its chunk before it came to the node, and as the
 * index could not tell of that chunk every write of every object answered NW_ERR_CORRUPT until the
 * next mount, and the next such write after it again. Now it answers so before it writes.
 */
static void try_node(uint8_t type, uint16_t unit)
{
    open_bed(0);
    int queue = create("queue", NW_STORE_QUEUE, 0, 0);
    int handle = create("it", type, unit, type == NW_STORE_ARRAY ? COUNT + 1U : 0);
    for (uint32_t i = 0; i < COUNT; i++) {
        assert_int_equal(put(handle, type, i), NW_OK);
        assert_int_equal(nw_store_sync(bed.store), NW_OK); /* one packed element in each chunk */
    }
    assert_int_equal(mount(), NW_OK); /* which writes the nodes */
    use_queue(queue);                 /* lest the next ones move them */
    assert_int_equal(mount(), NW_OK);
    hurt_node(1, COUNT / FAN);
    assert_int_equal(mount(), NW_OK);
    for (int time = 0; time < 2; time++) {
        for (int again = 0; again < 2; again++) {
            assert_int_equal(put(handle, type, COUNT), NW_ERR_CORRUPT);
            assert_int_equal(nw_store_sync(bed.store), NW_OK);
        }
        use_queue(queue);
        assert_int_equal(mount(), NW_OK);
    }
    if (type == NW_STORE_ARRAY) {
        assert_int_equal(put(handle, type, 0), NW_OK); /* under another node */
    } else {
        empty(handle, type);
        assert_int_equal(put(handle, type, 0), NW_OK);
    }
    use_queue(queue);
    assert_int_equal(nw_store_delete(bed.store, handle), NW_OK);
    assert_int_equal(mount(), NW_OK);
    close_bed();
}

static void test_node(void **state)
{
    (void)state;
    try_node(NW_STORE_STACK, 0);
    try_node(NW_STORE_QUEUE, 0);
    try_node(NW_STORE_STREAM, 0);
    try_node(NW_STORE_STREAM, UNIT);
    try_node(NW_STORE_ARRAY, UNIT);
    try_node(NW_STORE_FILE, UNIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_node)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

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
#define PAGE 512U
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
    part.page_bytes = PAGE;
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

/* Two bits of the newest node of level 0 that tells of the keys from `index` x FAN on is turned. */
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
    nw_nand_flip(bed.nand, found, bit + 1U);
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

/* A bit of the first place on the chip where so many bytes are `value` is turned. */
static void hurt_bytes(uint8_t value, uint16_t bytes)
{
    uint8_t page[PAGE];

    for (uint32_t i = 0; i < PAGES; i++) {
        uint32_t run = 0;

        nw_nand_peek(bed.nand, i, page, NULL);
        for (uint32_t at = 0; at < PAGE; at++) {
            run = page[at] == value ? run + 1U : 0;
            if (run == bytes) {
                nw_nand_flip(bed.nand, i, at * 8U);
                return;
            }
        }
    }
    fail();
}

/* Three chunks of packed elements, the second with a bit turned. */
static int open_packed(uint8_t read_ahead, uint16_t unit, uint32_t in_chunk)
{
    uint8_t data[UNIT];

    open_bed(read_ahead);
    int stream = create("it", NW_STORE_STREAM, unit, 0);
    for (uint32_t i = 0; i < 3U * in_chunk; i++) {
        memset(data, (int)i + 1, sizeof data);
        assert_int_equal(nw_store_append(bed.store, stream, data, unit), NW_OK);
        if (i % in_chunk + 1U == in_chunk) {
            assert_int_equal(nw_store_sync(bed.store), NW_OK);
        }
    }
    for (uint32_t i = 0; i < 20U; i++) { /* what was synced leaves the page buffer */
        assert_int_equal(nw_store_sync(bed.store), NW_OK);
        assert_true(create("other", NW_STORE_STACK, 0, 0) > 0);
        assert_int_equal(nw_store_delete(bed.store, nw_store_find(bed.store, "other")), NW_OK);
    }
    return stream;
}

/* Once elements of a packed stream were handed out one by one without a look at the checksum of
 * their chunk: other bytes than were appended, as if all were well. Now a chunk is checked when a
 * cursor comes into it, from either side or by seek. */
static void test_packed(void **state)
{
    const uint32_t in_chunk = 5;

    (void)state;
    for (uint8_t way = 0; way < 4U; way++) {
        uint16_t unit = way < 2U ? 4U : UNIT;
        struct nw_store_cursor cursor;
        uint8_t data[UNIT];
        int stream = open_packed(way & 1U, unit, in_chunk);

        hurt_bytes((uint8_t)(in_chunk + 2U), unit); /* the second of the second chunk */
        assert_int_equal(mount(), NW_OK);
        assert_int_equal(nw_store_first(bed.store, stream, &cursor), NW_OK);
        for (uint32_t i = 0; i < in_chunk; i++) {
            assert_int_equal(nw_store_next(bed.store, &cursor, data, unit), unit);
            assert_int_equal(data[0], i + 1U);
        }
        assert_int_equal(nw_store_next(bed.store, &cursor, data, unit), NW_ERR_CORRUPT);
        assert_int_equal(nw_store_next(bed.store, &cursor, data, unit), NW_ERR_CORRUPT);
        assert_int_equal(nw_store_seek(bed.store, stream, 1, unit, &cursor), NW_OK);
        assert_int_equal(nw_store_next(bed.store, &cursor, data, unit), NW_ERR_CORRUPT);
        assert_int_equal(nw_store_seek(bed.store, stream, 2, 0, &cursor), NW_OK); /* over it */
        assert_int_equal(nw_store_next(bed.store, &cursor, data, unit), unit);
        assert_int_equal(data[0], 2U * in_chunk + 1U);
        assert_int_equal(nw_store_previous(bed.store, &cursor, data, unit), unit);
        assert_int_equal(nw_store_previous(bed.store, &cursor, data, unit), NW_ERR_CORRUPT);
        close_bed();
    }
}

/* What that costs: with read_ahead nothing; else an element's two reads are one of it and at most
 * one of its chunk, which is read in pieces of 32 bytes or, where that is more, of the caller's. */
static void test_packed_cost(void **state)
{
    static const uint32_t cost[] = {3U * (1U + 1U + 5U), 1, 3U * (1U + 3U + 5U), 1};
    const uint32_t in_chunk = 5;

    (void)state;
    for (uint8_t way = 0; way < 4U; way++) {
        uint16_t unit = way < 2U ? 4U : UNIT;
        struct nw_store_cursor cursor;
        uint8_t data[UNIT];
        int stream = open_packed(way & 1U, unit, in_chunk);

        assert_int_equal(nw_store_first(bed.store, stream, &cursor), NW_OK);
        uint32_t before = nw_store_stats(bed.store)->reads;
        for (uint32_t i = 0; i < 3U * in_chunk; i++) {
            assert_int_equal(nw_store_next(bed.store, &cursor, data, unit), unit);
            assert_int_equal(data[0], i + 1U);
        }
        uint32_t reads = nw_store_stats(bed.store)->reads - before;
        print_message("%u bytes, read_ahead %u: %u reads\n", unit, way & 1U, (unsigned)reads);
        assert_int_equal(reads, cost[way]); /* header, check, elements */
        close_bed();
    }
}

/* A damaged block of a file is as good as any once a write covers it. Once the old one was read for
 * that too, so it could be mended only by cutting the file off. */
static void test_file_block(void **state)
{
    uint8_t data[UNIT];
    uint32_t length;

    (void)state;
    open_bed(0);
    int file = create("it", NW_STORE_FILE, UNIT, 0);
    for (uint32_t i = 0; i < 4U; i++) {
        assert_int_equal(put(file, NW_STORE_FILE, i), NW_OK);
    }
    assert_int_equal(nw_store_write(bed.store, file, 4U * UNIT, "twelve bytes", 12), 12);
    assert_int_equal(nw_store_sync(bed.store), NW_OK);
    use_queue(create("queue", NW_STORE_QUEUE, 0, 0)); /* they leave the page buffer */
    for (uint32_t number = 2; number < 4U; number++) {
        hurt_bytes((uint8_t)number, UNIT);
        assert_int_equal(mount(), NW_OK);
        assert_int_equal(nw_store_read(bed.store, file, number * UNIT, data, UNIT),
                         NW_ERR_CORRUPT);
        assert_int_equal(nw_store_write(bed.store, file, number * UNIT, data, UNIT - 1U),
                         NW_ERR_CORRUPT);
        assert_int_equal(nw_store_write(bed.store, file, number * UNIT + 1U, data, UNIT - 1U),
                         NW_ERR_CORRUPT);
        assert_int_equal(put(file, NW_STORE_FILE, number), NW_OK);
        assert_int_equal(nw_store_sync(bed.store), NW_OK);
        assert_int_equal(mount(), NW_OK);
        assert_int_equal(nw_store_read(bed.store, file, number * UNIT, data, UNIT), UNIT);
        assert_int_equal(data[UNIT - 1U], number);
    }
    /* the last one, as far as it is filled and beyond */
    assert_int_equal(nw_store_write(bed.store, file, 4U * UNIT + 3U, "from the middle", 13), 13);
    assert_int_equal(nw_store_length(bed.store, file, &length), NW_OK);
    assert_int_equal(length, 5U * UNIT);
    assert_int_equal(nw_store_read(bed.store, file, 4U * UNIT, data, UNIT), UNIT);
    assert_memory_equal(data, "twefrom the midd", UNIT);
    close_bed();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_node), cmocka_unit_test(test_packed),
                                       cmocka_unit_test(test_packed_cost),
                                       cmocka_unit_test(test_file_block)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

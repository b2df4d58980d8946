/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: what is as large as may be works, what is larger is refused. The most blocks a store may
 * have, 65,535, go round like few: numbers of blocks have 16 bits and end just below the one that
 * means none. The longest element comes back whole: once those of more than 32,767 bytes were
 * taken, and came back with that length, for an int answers it, which may have 16 bits.
 * ctest: slow
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "nandwich-twin/nand.h"
#include "nandwich-twin/parts.h"
#include "nandwich/bytes.h"
#include "nandwich/store.h"

#define BLOCKS 65535UL
#define BLOCK_PAGES 8U
#define PAGE_BYTES 64U
#define BLOCK_BYTES (BLOCK_PAGES * PAGE_BYTES)
#define ELEMENT_BYTES 120U
#define KEPT 40U

static uint8_t *data;
static uint32_t reads;

static int large_read(struct nw_chip_req *req)
{
    reads++;
    memcpy(req->data, data + (size_t)req->page * PAGE_BYTES + req->offset, req->length);
    return NW_OK;
}

static int large_program(struct nw_chip_req *req)
{
    uint8_t *to = data + (size_t)req->page * PAGE_BYTES + req->offset;

    for (uint16_t i = 0; i < req->length; i++) {
        assert_int_equal(to[i], 0xFF);
        to[i] = req->data[i];
    }
    return NW_OK;
}

static int large_erase(struct nw_chip_req *req)
{
    assert_true(req->block < BLOCKS);
    memset(data + (size_t)req->block * BLOCK_BYTES, 0xFF, BLOCK_BYTES);
    return NW_OK;
}

/* The first block, the last one, and one between are bad. */
static int large_is_bad(struct nw_chip_req *req)
{
    return req->block == 0 || req->block == BLOCKS / 2U || req->block == BLOCKS - 1U;
}

static int large_mark_bad(struct nw_chip_req *req)
{
    (void)req;
    fail();
    return NW_OK;
}

static const struct nw_chip_ops ops = {.read = large_read,
                                       .program = large_program,
                                       .erase = large_erase,
                                       .is_bad = large_is_bad,
                                       .mark_bad = large_mark_bad};

static struct nw_chip chip = {.ops = &ops,
                              .geometry = {.blocks = BLOCKS,
                                           .block_pages = BLOCK_PAGES,
                                           .page_bytes = PAGE_BYTES,
                                           .program_bytes = 1,
                                           .page_programs = NW_PROGRAMS_UNLIMITED,
                                           .erased = 0xFF,
                                           .flags = NW_CHIP_READ_ERASED}};
static const struct nw_store_config config = {
    .objects = 1, .name_bytes = 4, .frames = 8, .fan = 16, .anchor_bytes = 4096};
static uint64_t ram[400];
static struct nw_store *store;

static void expect_all(uint32_t first, uint32_t count)
{
    uint8_t element[ELEMENT_BYTES];
    int queue = nw_store_find(store, "q");

    for (uint32_t i = first; i < count; i++) {
        assert_int_equal(nw_store_peek(store, queue, i, element, sizeof element), ELEMENT_BYTES);
        assert_int_equal(nw_get32(element), i);
    }
}

/* One time and a half round, mounted now and then: most where the numbers wrap. */
static void test_round(void **state)
{
    struct nw_store_spec spec = {.type = NW_STORE_QUEUE};
    struct nw_store_space space;
    uint8_t element[ELEMENT_BYTES] = {0};
    uint32_t mounts = 0;
    uint32_t most = 0;

    (void)state;
    data = malloc(BLOCKS * (size_t)BLOCK_BYTES);
    assert_non_null(data);
    assert_int_equal(nw_store_format(&store, &chip, &config, ram, sizeof ram), NW_OK);
    int queue = nw_store_create(store, "q", &spec);
    assert_true(queue > 0);
    nw_store_space(store, &space);
    for (uint32_t i = 0; space.sequence < BLOCKS + BLOCKS / 2U; i++) {
        nw_put32(element, i);
        assert_int_equal(nw_store_push(store, queue, element, sizeof element), NW_OK);
        if (i >= KEPT) {
            uint8_t old[ELEMENT_BYTES];
            assert_int_equal(nw_store_dequeue(store, queue, old, sizeof old), ELEMENT_BYTES);
            assert_int_equal(nw_get32(old), i - KEPT);
        }
        nw_store_space(store, &space);
        int wraps = space.sequence % BLOCKS < 6U || space.sequence % BLOCKS > BLOCKS - 12U;
        if (i % 9001U == 9000U || (wraps && i % 7U == 0)) {
            assert_int_equal(nw_store_sync(store), NW_OK);
            reads = 0;
            assert_int_equal(nw_store_mount(&store, &chip, &config, ram, sizeof ram), NW_OK);
            most = reads > most ? reads : most;
            mounts++;
            expect_all(i >= KEPT ? i - KEPT + 1U : 0, i + 1U);
        }
    }
    print_message("%u mounts, at most %u reads each\n", (unsigned)mounts, (unsigned)most);
    assert_true(mounts > 23U && most < 2000U); /* never at all headers */
    free(data);
}

#define LONGEST 32767U

static void fill(uint8_t *bytes, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        bytes[i] = (uint8_t)(i * 31U + i / 251U);
    }
}

static void test_longest_element(void **state)
{
    static const struct nw_geometry shape = {.blocks = 40,
                                             .block_pages = 64,
                                             .page_bytes = 2048,
                                             .program_bytes = 1,
                                             .page_programs = NW_PROGRAMS_UNLIMITED,
                                             .erased = 0xFF,
                                             .flags = NW_CHIP_READ_ERASED};
    static uint8_t element[65535];
    static uint8_t back[65535];
    struct nw_part part;
    struct nw_nand *nand;
    struct nw_store_config three = {.objects = 4, .name_bytes = 4};

    (void)state;
    assert_int_equal(nw_parts_get("W25Q128JV", &part), NW_OK);
    part.blocks = shape.blocks;
    part.block_pages = shape.block_pages;
    part.page_bytes = shape.page_bytes;
    assert_int_equal(nw_nand_open(&nand, &(struct nw_nand_config){.part = &part}), NW_OK);
    size_t bytes = nw_store_ram_bytes(&three, &nw_nand_chip(nand)->geometry);
    void *memory = malloc(bytes);
    assert_int_equal(nw_store_format(&store, nw_nand_chip(nand), &three, memory, bytes), NW_OK);
    fill(element, sizeof element);
    for (uint8_t type = NW_STORE_STACK; type <= NW_STORE_STREAM; type++) {
        struct nw_store_spec spec = {.type = type};
        int (*put)(struct nw_store *, int, const void *, uint16_t) =
            type == NW_STORE_STREAM ? nw_store_append : nw_store_push;
        int list = nw_store_create(store, type == NW_STORE_STACK   ? "s"
                                          : type == NW_STORE_QUEUE ? "q"
                                                                   : "r", &spec);

        assert_true(list > 0);
        assert_int_equal(put(store, list, element, LONGEST), NW_OK);
        assert_int_equal(put(store, list, element, LONGEST + 1U), NW_ERR_RANGE);
        assert_int_equal(put(store, list, element, 40000), NW_ERR_RANGE);
        memset(back, 0, sizeof back);
        assert_int_equal(nw_store_peek(store, list, 0, back, 65535), LONGEST);
        assert_memory_equal(back, element, LONGEST);
        assert_int_equal(nw_store_peek(store, list, 1, back, 65535), NW_ERR_NOT_FOUND);
    }
    /* elements of one size are no longer either; an array's values may be: no int answers these */
    struct nw_store_spec spec = {.type = NW_STORE_STREAM, .unit_bytes = LONGEST + 1U};
    assert_int_equal(nw_store_create(store, "u", &spec), NW_ERR_CONFIG);
    spec = (struct nw_store_spec){.type = NW_STORE_ARRAY, .unit_bytes = 40000, .count = 3};
    int array = nw_store_create(store, "a", &spec);
    assert_int_equal(nw_store_set(store, array, 2, element), NW_OK);
    assert_int_equal(nw_store_get(store, array, 2, back), NW_OK);
    assert_memory_equal(back, element, 40000);
    free(memory);
    nw_nand_close(nand);
}

/* 2 GiB less a block, not the 4 GiB that the header once told of. */
static void test_largest_chip(void **state)
{
    struct nw_geometry shape = {.block_pages = 64,
                                .page_bytes = 2048,
                                .spare_bytes = 64,
                                .program_bytes = 512,
                                .page_programs = 4,
                                .erased = 0xFF,
                                .flags = NW_CHIP_IN_ORDER};

    (void)state;
    shape.blocks = 16383;
    assert_true(nw_store_ram_bytes(&config, &shape) > 0);
    shape.blocks = 16384;
    assert_int_equal(nw_store_ram_bytes(&config, &shape), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_round),
                                       cmocka_unit_test(test_longest_element),
                                       cmocka_unit_test(test_largest_chip)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

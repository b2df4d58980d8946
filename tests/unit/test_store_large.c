/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: the most blocks a store may have, 65,535, go round like few: numbers of blocks have 16 bits
 * and end just below the one that means none.
 * ctest: slow
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

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
    assert_true(mounts > 25U && most < 2000U); /* never at all headers */
    free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_round)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

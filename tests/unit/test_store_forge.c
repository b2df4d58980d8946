/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: an image that no store wrote, its checksums right, is refused or can be used; it never
 * takes the store out of its RAM, off the chip or round for ever. What tests/fuzz finds over any
 * bytes has its case here, with bytes by chance beside it.
 * ctest: quick
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "nandwich/bytes.h"
#include "nandwich/random.h"
#include "store_forge.h"

#define ANCHOR_SWAPS 5U
#define ANCHOR_FREE 26U
#define ANCHOR_OBJECTS 58U
#define OBJECT_BYTES 32U /* with a name of one letter */
#define FILE_AT (ANCHOR_OBJECTS + 5U * OBJECT_BYTES)

static struct forge forge;

/* A fresh store, its newest anchor. */
static uint8_t *fresh(void)
{
    forge_open(&forge, 0);
    assert_int_equal(forge_format(&forge), NW_OK);
    uint8_t *anchor = forge_anchor(&forge);
    assert_non_null(anchor);
    assert_int_equal(anchor[FILE_AT + 1U], NW_STORE_FILE);
    return anchor;
}

static int signed_mount(void)
{
    forge_sign(&forge);
    return forge_mount(&forge);
}

static void test_objects(void **state)
{
    static const struct {
        uint16_t at;
        uint8_t value;
    } cases[] = {
        {FILE_AT + 1U, 200},                    /* type: shifted by in store_object_of() */
        {FILE_AT + 2U, 0},                      /* generation */
        {FILE_AT + 2U, 128},                    /* the same: a handle beyond 15 bits */
        {FILE_AT + 4U, NW_STORE_EXPENDABLE},    /* flags: only streams have these */
        {FILE_AT + 5U, 0},                      /* unit: divided by */
        {FILE_AT + 8U, 1},                      /* fill: 256 bytes in a block of 40 */
        {FILE_AT + 13U, 1},                     /* head behind tail */
        {ANCHOR_OBJECTS + 20U, 1},              /* 16 million chunks on a stack */
        {ANCHOR_FREE + 3U, 1},                  /* more free blocks than there are */
    };

    (void)state;
    fresh();
    assert_int_equal(signed_mount(), NW_OK); /* the signing itself does no harm */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fresh()[cases[i].at] = cases[i].value;
        assert_int_equal(signed_mount(), NW_ERR_CORRUPT);
    }
}

/* A swap that leads off the chip. */
static void test_swaps(void **state)
{
    (void)state;
    for (uint8_t word = 0; word < 2U; word++) {
        uint8_t *anchor = fresh();
        memmove(anchor + ANCHOR_OBJECTS + 8U, anchor + ANCHOR_OBJECTS, 6U * OBJECT_BYTES);
        nw_put16(anchor - 11, (uint16_t)(nw_get16(anchor - 11) + 8U));
        anchor[ANCHOR_SWAPS] = 1;
        nw_put32(anchor + ANCHOR_OBJECTS, word == 0 ? FORGE_PAGES : 5U * FORGE_BLOCK_PAGES);
        nw_put32(anchor + ANCHOR_OBJECTS + 4U, word == 1U ? FORGE_BLOCKS : 7U);
        assert_int_equal(signed_mount(), NW_ERR_CORRUPT);
    }
}

/* Blocks that all claim to stand in for one that cannot be read: looked at once, not for ever. */
static void test_swap_circle(void **state)
{
    const uint32_t block_bytes = FORGE_BLOCK_PAGES * FORGE_PAGE_BYTES;

    (void)state;
    for (uint32_t claims = 5; claims < 9U; claims++) { /* a store writes six at most */
        forge_open(&forge, 1);
        memset(forge.bad + claims, 1, FORGE_BLOCKS - claims - 1U);
        for (uint32_t block = 0; block < claims; block++) {
            uint8_t *head = forge.data + block * block_bytes;
            memset(head, 0, 24);
            head[0] = 'N';
            head[1] = 1;
            head[2] = 2;
            head[3] = 3;
            nw_put32(head + 4, 10U + block);
            nw_put32(head + 8, 0xFFFFFFFFUL);
            nw_put32(head + 16, (FORGE_BLOCKS - 1U) * FORGE_BLOCK_PAGES + 1U);
        }
        int result = signed_mount();
        assert_true(result == NW_ERR_CORRUPT || result == NW_ERR_NOT_FOUND);
    }
    forge_open(&forge, 1);
    memset(forge.data, 0, 24);
    memcpy(forge.data, "N\1\2\3", 4);
    nw_put32(forge.data + 16, FORGE_PAGES); /* a block that is not there */
    assert_int_equal(signed_mount(), NW_ERR_CORRUPT);
}

/* A state chunk that was damaged is lost, not believed. */
static void test_state(void **state)
{
    struct nw_store_about about;
    uint8_t data[7] = {1, 2, 3, 4, 5, 6, 7};
    uint32_t at = 0;

    (void)state;
    fresh();
    int queue = nw_store_find(forge.store, "q");
    for (uint8_t i = 0; i < 3U; i++) {
        assert_int_equal(nw_store_push(forge.store, queue, data, sizeof data), NW_OK);
    }
    assert_int_equal(nw_store_dequeue(forge.store, queue, data, sizeof data), 7);
    assert_int_equal(nw_store_sync(forge.store), NW_OK);
    while (forge.data[at] != 0x13 || forge.data[at + 1U] != 1U ||
           nw_get16(forge.data + at + 3U) != 14U) {
        at++;
    }
    assert_int_equal(nw_get32(forge.data + at + 14U), 1);
    forge.data[at + 14U] = 3; /* head: the queue would be empty */
    /* The page programmed last is doubted as a whole: let more follow. */
    for (uint8_t i = 0; i < 8U; i++) {
        assert_int_equal(nw_store_push(forge.store, queue, data, sizeof data), NW_OK);
    }
    assert_int_equal(nw_store_sync(forge.store), NW_OK);
    assert_int_equal(forge_mount(&forge), NW_OK);
    assert_int_equal(nw_store_at(forge.store, 1, &about), NW_OK);
    assert_int_equal(about.head, 0);
    assert_int_equal(about.tail, 11);
    assert_int_equal(nw_store_stats(forge.store)->lost, 1);
}

static void test_by_chance(void **state)
{
    struct nw_random random;
    uint8_t data[300];

    (void)state;
    for (uint32_t trial = 0; trial < 60U; trial++) {
        nw_random_seed(&random, trial);
        for (size_t i = 0; i < sizeof data; i++) {
            data[i] = (uint8_t)nw_random_below(&random, 255);
        }
        data[20U + trial * 4U] = 0xFF;
        data[1] = (uint8_t)(1U + trial % 2U);
        forge_try(&forge, data, 20U + trial * 4U + 1U + trial % 8U * 4U);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_objects),     cmocka_unit_test(test_swaps),
        cmocka_unit_test(test_swap_circle), cmocka_unit_test(test_state),
        cmocka_unit_test(test_by_chance),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

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
#include "nandwich/identify.h"
#include "nandwich/random.h"
#include "store_forge.h"

#define ANCHOR_SWAPS 21U
#define ANCHOR_FREE 30U
#define ANCHOR_OBJECTS 63U
#define OBJECT_BYTES 32U /* with a name of one letter */
#define FILE_AT (ANCHOR_OBJECTS + 5U * OBJECT_BYTES)

static struct forge forge;

/* A fresh store, its newest anchor. */
static uint8_t *fresh(void)
{
    forge_open(&forge, 0);
    assert_int_equal(forge_format(&forge), NW_OK);
    uint8_t *anchor = forge_anchor(&forge, 1);
    assert_non_null(anchor);
    assert_int_equal(anchor[FILE_AT + 1U], NW_STORE_FILE);
    return anchor;
}

/* Its first copy tells the same as the second. */
static int signed_mount(void)
{
    const uint8_t *second = forge_anchor(&forge, 1);
    uint8_t *first = forge_anchor(&forge, 0);

    if (second != NULL) {
        memcpy(first - 11, second - 11, 11U + nw_get16(second - 11));
    }
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
        {ANCHOR_FREE + 1U, 1},                  /* more free blocks than there are */
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
    for (uint8_t way = 0; way < 3U; way++) {
        uint8_t *anchor = fresh();
        memmove(anchor + ANCHOR_OBJECTS + 6U, anchor + ANCHOR_OBJECTS, 6U * OBJECT_BYTES);
        nw_put16(anchor - 11, (uint16_t)(nw_get16(anchor - 11) + 6U));
        anchor[ANCHOR_SWAPS] = 1;
        nw_put16(anchor + ANCHOR_OBJECTS, way == 0 ? FORGE_BLOCKS : 5U);
        nw_put16(anchor + ANCHOR_OBJECTS + 2U, 1);
        nw_put16(anchor + ANCHOR_OBJECTS + 4U, way == 1U ? FORGE_BLOCKS : 7U);
        assert_int_equal(signed_mount(), way < 2U ? NW_ERR_CORRUPT : NW_OK);
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
            head[1] = 5;
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
    memcpy(forge.data, "N\5\2\3", 4);
    forge.data[4] = 1;
    nw_put32(forge.data + 8, 0xFFFFFFFFUL);
    nw_put32(forge.data + 16, FORGE_PAGES); /* a block that is not there */
    assert_int_equal(signed_mount(), NW_ERR_NOT_FOUND);
}

/* A state chunk that was damaged by more than a bit is lost, not believed. */
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
    forge.data[at + 14U] = 2; /* head: an element more would be gone */
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

/* An anchor that tells of another version is believed only if its checksum is right: else the first
 * copy is. */
static void test_version(void **state)
{
    static const uint16_t places[] = {0, 1, 7, ANCHOR_OBJECTS + 3U};
    uint8_t data[7] = {0};

    (void)state;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        for (int right = 0; right < 2; right++) {
            uint8_t *anchor = fresh();
            int queue = nw_store_find(forge.store, "q");
            for (uint8_t k = 0; k < 20U; k++) { /* so that it is not taken for torn */
                assert_int_equal(nw_store_push(forge.store, queue, data, sizeof data), NW_OK);
            }
            assert_int_equal(nw_store_sync(forge.store), NW_OK);
            anchor[places[i]] = 99;
            assert_int_equal(right ? signed_mount() : forge_mount(&forge),
                             right ? NW_ERR_VERSION : NW_OK);
        }
    }
}

/* A store of format 1, whose anchors do not tell how far an index is cleaned: none of it is
 * believed, whatever its checksums say. */
static void test_old_format(void **state)
{
    struct nw_identity found;

    (void)state;
    (void)fresh();
    for (uint32_t block = 0; block < FORGE_BLOCKS; block++) {
        uint8_t *head = forge.data + block * FORGE_BLOCK_PAGES * FORGE_PAGE_BYTES;
        if (head[0] == 'N') {
            assert_int_equal(head[1], 5);
            head[1] = 1;
            head[FORGE_PAGE_BYTES + 1U] = 1;
        }
    }
    assert_int_equal(signed_mount(), NW_ERR_VERSION);
    assert_int_equal(nw_identify(&forge.chip, &found), NW_OK);
    assert_int_equal(found.kind, NW_KIND_STORE);
    assert_int_equal(found.version, 1);
}

/* A queue comes to a number that needs more levels of the index than there are frames: the push is
 * refused before it is written. Once it was on flash, and no mount could enter it. */
static void test_too_high(void **state)
{
    uint8_t data[43] = {0};
    uint8_t back[43];

    (void)state;
    for (uint16_t bytes = 12; bytes < sizeof data; bytes++) { /* one ends with its page */
        forge_open(&forge, 1);
        forge.config.frames = 4;
        assert_int_equal(forge_format(&forge), NW_OK);
        int queue = nw_store_find(forge.store, "q");
        for (uint32_t i = 0; i < 512U; i++) {
            forge.calls = 0;
            assert_int_equal(nw_store_push(forge.store, queue, data, bytes), NW_OK);
            if (i >= 5U) {
                assert_int_equal(nw_store_dequeue(forge.store, queue, back, bytes), bytes);
            }
        }
        assert_int_equal(nw_store_push(forge.store, queue, data, bytes), NW_ERR_RANGE);
        assert_int_equal(nw_store_sync(forge.store), NW_OK);
        assert_int_equal(forge_mount(&forge), NW_OK);
        queue = nw_store_find(forge.store, "q");
        assert_int_equal(nw_store_push(forge.store, queue, data, bytes), NW_ERR_RANGE);
        for (uint32_t i = 0; i < 5U; i++) {
            assert_int_equal(nw_store_dequeue(forge.store, queue, back, bytes), bytes);
        }
        assert_int_equal(nw_store_push(forge.store, queue, data, bytes), NW_OK);
        assert_int_equal(nw_store_sync(forge.store), NW_OK);
        assert_int_equal(forge_mount(&forge), NW_OK);
    }
}

/* Half the free blocks have turned bad: cleaning gives up after a few rounds of the chip. */
static void test_no_gain(void **state)
{
    static const uint8_t found[] = {
        0x02, 0x01, 0x85, 0x8A, 0xB3, 0xDC, 0x1D, 0x2D, 0x61, 0x39, 0x4A, 0x07,
        0x39, 0x1D, 0x91, 0x02, 0x19, 0x28, 0xC6, 0x93, 0xB0, 0xFD, 0x4D, 0xB1,
        0xA2, 0x60, 0x97, 0x67, 0xC4, 0xB0, 0xAB, 0x53, 0x5B, 0x12, 0x56, 0xD7,
        0x48, 0x9E, 0x28, 0x1C, 0x82, 0xF1, 0x45, 0xF5, 0x1B, 0x96, 0x50, 0x11,
        0x18, 0xA0, 0xD2, 0xF8, 0x4A, 0x08, 0x58, 0x62, 0x18, 0x7A, 0x79, 0xEA,
        0x30, 0x30, 0x21, 0x42, 0xBF, 0x3F, 0xC6, 0x0C, 0xA0, 0x0B, 0xF5, 0xD1,
        0xAE, 0xAC, 0x6F, 0xB5, 0x09, 0xBD, 0xB6, 0xB1, 0xBC, 0xD8, 0xA7, 0xCF,
        0x54, 0x5E, 0xD4, 0x78, 0xA1, 0x74, 0x97, 0xCD, 0x8A, 0x26, 0x3B, 0x7B,
        0x74, 0x0A, 0xFE, 0xFF, 0xFF, 0xFF, 0x0A, 0xCB, 0xBC, 0xAF, 0xFE, 0x58,
        0x9D, 0xD1, 0xF9, 0xD6, 0xBC, 0x0B, 0x47, 0x28, 0x02, 0x39, 0xE2, 0x03,
        0x94, 0xC0, 0x9A, 0xA5, 0x8E, 0x8B, 0x48, 0xFE, 0xF1, 0x5B, 0x90, 0x32,
        0x67, 0x1C, 0x5C, 0x01, 0x07, 0x57, 0x1C, 0xD6, 0x39, 0x9B, 0xB7, 0x0F,
        0x6E, 0xC2, 0x0C, 0xAD, 0x9F, 0x79, 0x1F, 0x24, 0x2D, 0xEE, 0xA4, 0xBC,
        0xD5, 0x01, 0x9E, 0xA6, 0x4B, 0xEB, 0xA5, 0x10, 0x45, 0x13, 0x01, 0x6F,
        0x46, 0x2D, 0xB0, 0x86, 0xA0, 0xAD, 0x31, 0xDB, 0xD7, 0xFA, 0xD4, 0x0F,
        0x47, 0x7B, 0xF5, 0xFA, 0x43, 0xF9, 0x10, 0x83, 0xC0, 0xDD, 0xC9, 0x99,
        0x54, 0x75, 0x33, 0x83, 0xEF, 0xB7, 0x82, 0xB3, 0x99, 0x67, 0x4D, 0x8C,
        0xE1, 0xF1, 0x73, 0x12, 0x51, 0x40, 0x21, 0xF1, 0x21, 0x31, 0xA8, 0x21,
        0x13, 0xEC, 0x71, 0x65, 0xA6, 0x58, 0xE9, 0x71, 0x15, 0x3C, 0xE6, 0x93,
        0xC5, 0x22, 0x47, 0xBE, 0x88, 0x80, 0xD3, 0x5C, 0x3E, 0x08, 0xB3, 0x3B,
        0x8F, 0x7C, 0x12, 0x81, 0x45, 0xDD, 0x69, 0xB1, 0x23, 0xFD, 0xF1, 0x73,
        0x40, 0x21, 0x3B, 0xEC, 0x98, 0x5D, 0x87, 0x1C, 0x51, 0xF7, 0x53, 0xE9,
        0x7F, 0x25, 0xE8, 0x01, 0x14, 0xEA, 0xE9, 0x67, 0xF0, 0xA2, 0xAE, 0xB0,
        0xCD, 0x67, 0x61, 0x93, 0xF6, 0xA1, 0xBE, 0xF3, 0xAF, 0x81, 0x72, 0x38,
        0x38, 0x28, 0xB1, 0x25, 0xBC, 0x01, 0x55, 0x4F, 0x03, 0x89, 0xB2, 0x36,
        0x9B, 0x21, 0x2A, 0x30, 0x8B, 0x04, 0x13, 0x1E, 0x18, 0x64, 0x88, 0xFF,
    };

    (void)state;
    forge_try(&forge, found, sizeof found);
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

/* A header that a cursor has passed tells of more bytes when it is read again. Once the element was
 * read as long as that, over the end of the caller's buffer. */
static void test_length_changes(void **state)
{
    uint8_t data[100] = "an element\n";
    struct nw_store_cursor cursor;

    (void)state;
    (void)fresh();
    int handle = nw_store_find(forge.store, "e");
    for (uint32_t i = 0; i < 12U; i++) { /* the first pages are read from the chip then */
        assert_int_equal(nw_store_append(forge.store, handle, data, 12), NW_OK);
        assert_int_equal(nw_store_sync(forge.store), NW_OK);
    }
    assert_int_equal(nw_store_first(forge.store, handle, &cursor), NW_OK);
    assert_int_equal(nw_store_next(forge.store, &cursor, data, 12), 12);
    assert_int_equal(nw_store_previous(forge.store, &cursor, data, 12), 12);
    for (uint8_t *bytes = forge.data; bytes < forge.data + FORGE_BYTES - 14U; bytes++) {
        if (bytes[0] == 0x11U && bytes[1] == (handle & 127) - 1 && nw_get16(bytes + 3) == 12U &&
            nw_get32(bytes + 5) == 0) {
            nw_put16(bytes + 3, 60);
        }
    }
    forge_sign(&forge);
    memset(data, 7, sizeof data);
    assert_int_equal(nw_store_next(forge.store, &cursor, data, 12), NW_ERR_CORRUPT);
    for (uint32_t i = 12; i < sizeof data; i++) {
        assert_int_equal(data[i], 7);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_objects),     cmocka_unit_test(test_swaps),
        cmocka_unit_test(test_swap_circle), cmocka_unit_test(test_state),
        cmocka_unit_test(test_version),
        cmocka_unit_test(test_old_format),     cmocka_unit_test(test_no_gain),
        cmocka_unit_test(test_too_high),
        cmocka_unit_test(test_by_chance),
        cmocka_unit_test(test_length_changes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

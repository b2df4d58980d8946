/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: damage in what a mount replays takes the elements it hits and no others: what was written
 * behind them is there, each that is missing says so, and stats.lost is never 0 then.
 * ctest: quick
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "nandwich-seal/seal_sodium.h"
#include "nandwich-twin/nand.h"
#include "nandwich-twin/parts.h"
#include "nandwich/ecc.h"
#include "nandwich/store.h"

#define COUNT 40U /* elements of BYTES: about 10 pages */
#define BYTES 100U
#define PAGES 2048U /* of the chip */

static const uint8_t key[NW_SEAL_KEY_BYTES] = "a key of thirty-two bytes, no mo";

static struct {
    struct nw_nand *nand;
    struct nw_ecc ecc;
    uint8_t ecc_ram[1024];
    struct nw_seal_sodium seal;
    struct nw_chip *chip;
    struct nw_store_config config;
    struct nw_store *store;
    uint64_t ram[1024];
} bed;

static int mount(void)
{
    memset(bed.ram, 0xA5, sizeof bed.ram);
    return nw_store_mount(&bed.store, bed.chip, &bed.config, bed.ram, sizeof bed.ram);
}

/* `checked`: with a code below the store. */
static void open_chip(int sealed, int checked)
{
    struct nw_part part;
    struct nw_ecc_config ecc = {.parts = 2};

    memset(&bed, 0, sizeof bed);
    assert_true(nw_parts_get("TC58DVG02A1FT00", &part) >= 0);
    part.blocks = 64;
    part.factory_bad = 0;
    struct nw_nand_config nand = {.part = &part, .seed = 9};
    assert_int_equal(nw_nand_open(&bed.nand, &nand), NW_OK);
    assert_int_equal(nw_ecc_open(&bed.ecc, nw_nand_chip(bed.nand), &ecc, bed.ecc_ram,
                                 sizeof bed.ecc_ram),
                     NW_OK);
    bed.chip = checked ? &bed.ecc.chip : nw_nand_chip(bed.nand);
    bed.config.objects = 4;
    bed.config.anchor_bytes = 32768; /* more than a test writes */
    if (sealed) {
        nw_seal_sodium_open(&bed.seal, key);
        bed.config.seal = &bed.seal.seal;
    }
    assert_int_equal(nw_store_format(&bed.store, bed.chip, &bed.config, bed.ram,
                                     sizeof bed.ram),
                     NW_OK);
}

static void open_bed(int sealed)
{
    open_chip(sealed, 1);
}

static int create(const char *name, uint8_t type, uint16_t unit, uint32_t count)
{
    struct nw_store_spec spec = {.type = type, .unit_bytes = unit, .count = count};
    int handle = nw_store_create(bed.store, name, &spec);

    assert_true(handle > 0);
    return handle;
}

/* Two bits of one code word are turned: that half of the page cannot be read. */
static void hurt(uint32_t page)
{
    nw_nand_flip(bed.nand, page, 800);
    nw_nand_flip(bed.nand, page, 808);
}

/* Twice: as the log tells it, and as the anchor of the first mount does. */
static void mount_and_see(int handle, uint32_t head, uint32_t tail, uint32_t most)
{
    for (int time = 0; time < 2; time++) {
        struct nw_store_about about;
        uint32_t missing = 0;
        uint8_t data[BYTES];

        assert_int_equal(mount(), NW_OK);
        if (time == 0) {
            assert_true(nw_store_stats(bed.store)->lost > 0);
        }
        for (uint8_t slot = 0; nw_store_at(bed.store, slot, &about) != NW_OK ||
                               about.handle != handle; slot++) {
            assert_true(slot < 4U);
        }
        assert_int_equal(about.head, head);
        assert_int_equal(about.tail, tail);
        for (uint32_t i = head; i < tail; i++) {
            int result = about.spec.type == NW_STORE_FILE
                             ? nw_store_read(bed.store, handle, i * BYTES, data, BYTES)
                             : nw_store_peek(bed.store, handle, i, data, BYTES);
            if (result == (int)BYTES) {
                assert_int_equal(data[0], i);
                assert_int_equal(data[BYTES - 1U], i);
            } else {
                assert_true(result == NW_ERR_CORRUPT || result == NW_ERR_ECC ||
                            result == NW_ERR_TAMPERED);
                missing++;
            }
        }
        assert_in_range(missing, 1, most);
    }
}

static void close_bed(void)
{
    assert_int_equal(nw_nand_misuse(bed.nand)->error, 0);
    nw_nand_close(bed.nand);
}

static void write_one(int handle, uint8_t type, uint32_t i)
{
    uint8_t data[BYTES];

    memset(data, (int)i, sizeof data);
    if (type == NW_STORE_FILE) {
        assert_int_equal(nw_store_write(bed.store, handle, i * BYTES, data, BYTES), BYTES);
    } else if (type == NW_STORE_STREAM) {
        assert_int_equal(nw_store_append(bed.store, handle, data, BYTES), NW_OK);
    } else {
        assert_int_equal(nw_store_push(bed.store, handle, data, BYTES), NW_OK);
    }
    assert_int_equal(nw_store_sync(bed.store), NW_OK);
}

/* The page behind all that were programmed in the block of `page`. */
static uint32_t unwritten(uint32_t page)
{
    while (nw_nand_page_programs(bed.nand, page) > 0) {
        page++;
    }
    return page;
}

/* The same of the chip. */
static uint32_t frontier(void)
{
    uint32_t page = PAGES;

    while (nw_nand_page_programs(bed.nand, page - 1U) == 0) {
        page--;
    }
    return page;
}

/* Each page that holds them but the first ones, in which the anchors lie, and the last, in which
 * damage looks like a power cut: each kind of object, sealed or not. */
static void try_pages(uint8_t type, int sealed, uint32_t limit)
{
    uint32_t page = 3;
    uint32_t written = 5;

    for (; page + 1U < written; page++) {
        open_bed(sealed);
        int handle = create("it", type, type == NW_STORE_FILE ? BYTES : 0, limit);
        for (uint32_t i = 0; i < COUNT; i++) {
            write_one(handle, type, i);
        }
        written = unwritten(1);
        hurt(page);
        mount_and_see(handle, limit != 0 ? COUNT - limit : 0, COUNT, 4);
        close_bed();
    }
    assert_true(page >= 9U);
}

static void test_lists_and_files(void **state)
{
    (void)state;
    for (int sealed = 0; sealed < 2; sealed++) {
        try_pages(NW_STORE_QUEUE, sealed, 0);
        try_pages(NW_STORE_STACK, sealed, 0);
        try_pages(NW_STORE_STREAM, sealed, 0);
        try_pages(NW_STORE_FILE, sealed, 0);
    }
}

/* A ring gives up as many as it would have. */
static void test_ring(void **state)
{
    (void)state;
    try_pages(NW_STORE_STREAM, 0, 39);
}

/* The index still tells of elements with the same numbers that were popped before: these are not
 * shown in place of the ones that are missing. */
static void test_popped_before(void **state)
{
    uint32_t from = 0;
    uint32_t end = 3;
    uint8_t data[BYTES];

    (void)state;
    for (uint32_t next = 1; next + 1U < end - from; next++) {
        open_bed(0);
        int stack = create("it", NW_STORE_STACK, 0, 0);
        write_one(stack, NW_STORE_STACK, 0);
        for (uint32_t i = 1; i < COUNT; i++) {
            write_one(stack, NW_STORE_STACK, 0xEE);
        }
        for (uint32_t i = 1; i < COUNT; i++) {
            assert_int_equal(nw_store_pop(bed.store, stack, data, BYTES), BYTES);
        }
        assert_int_equal(nw_store_sync(bed.store), NW_OK);
        assert_int_equal(mount(), NW_OK);
        from = frontier();
        for (uint32_t i = 1; i < COUNT; i++) {
            write_one(stack, NW_STORE_STACK, i);
        }
        end = frontier();
        hurt(from + next);
        mount_and_see(stack, 0, COUNT, 4);
        close_bed();
    }
    assert_true(end - from >= 9U);
}

/* The newest elements are damaged, and what is taken from the other end tells that they were. */
static void test_told_by_a_state(void **state)
{
    uint8_t data[BYTES];

    (void)state;
    for (int sealed = 0; sealed < 2; sealed++) {
        open_bed(sealed);
        int queue = create("it", NW_STORE_QUEUE, 0, 0);
        for (uint32_t i = 0; i < COUNT; i++) {
            write_one(queue, NW_STORE_QUEUE, i);
        }
        uint32_t page = frontier() - 1U;
        for (uint32_t i = 0; i < 20U; i++) {
            assert_int_equal(nw_store_dequeue(bed.store, queue, data, BYTES), BYTES);
            assert_int_equal(nw_store_sync(bed.store), NW_OK);
        }
        hurt(page);
        hurt(page - 1U);
        mount_and_see(queue, 20, COUNT, 8);
        close_bed();
    }
}

/* Elements that run from page to page, synced once: whatever is damaged but for the last page, an
 * element says so or stats.lost does, at the log's end too. */
static void test_always_told(void **state)
{
    uint8_t data[480] = {0};
    uint32_t end = 5;

    (void)state;
    for (uint32_t page = 3; page + 1U < end; page++) {
        for (uint32_t way = 0; way < 4U; way++) { /* headers in either half, damage in either */
            uint32_t half = way % 2U;
            uint32_t there = 0;

            open_bed(0);
            int queue = create("it", NW_STORE_QUEUE, 0, 0);
            for (uint32_t i = 0; i < 8U; i++) {
                uint16_t bytes = i == 0 && way >= 2U ? 330U : sizeof data;
                assert_int_equal(nw_store_push(bed.store, queue, data, bytes), NW_OK);
            }
            assert_int_equal(nw_store_sync(bed.store), NW_OK);
            end = frontier();
            nw_nand_flip(bed.nand, page, 2048U * half + 800U);
            nw_nand_flip(bed.nand, page, 2048U * half + 808U);
            assert_int_equal(mount(), NW_OK);
            uint32_t lost = nw_store_stats(bed.store)->lost;
            while (nw_store_peek(bed.store, queue, there, data, sizeof data) > 0) {
                there++;
            }
            int result = nw_store_peek(bed.store, queue, there, data, sizeof data);
            assert_true(there < 8U);
            assert_true(lost > 0 || result == NW_ERR_ECC);
            close_bed();
        }
    }
    assert_true(end >= 9U);
}

/* What the queue of test_anchor_of_mount holds, and the newest page. */
static uint32_t fill_behind_mount(int sealed, uint16_t bytes, uint32_t *tail)
{
    struct nw_store_about about;
    uint8_t data[480] = {0};

    open_chip(sealed, 0);
    int queue = create("it", NW_STORE_QUEUE, 0, 0);
    for (uint32_t time = 0; time <= bytes / 10U % 2U; time++) { /* the second finds the first's */
        queue = nw_store_find(bed.store, "it");
        for (uint32_t i = 0; i < COUNT; i++) {
            assert_int_equal(nw_store_push(bed.store, queue, data, 40), NW_OK);
        }
        assert_int_equal(nw_store_sync(bed.store), NW_OK);
        assert_int_equal(mount(), NW_OK);
    }
    for (uint32_t i = 0; i < 4U; i++) {
        assert_int_equal(nw_store_push(bed.store, queue, data, bytes), NW_OK);
        assert_int_equal(nw_store_sync(bed.store), NW_OK);
    }
    assert_int_equal(nw_store_at(bed.store, 0, &about), NW_OK);
    *tail = about.tail;
    return frontier() - 1U;
}

/* All of the page in the newest block is damaged. What is lost then; -1: it is no page before the
 * last one. */
static int hide_page(int sealed, uint16_t bytes, uint32_t page)
{
    struct nw_store_about about;
    uint32_t tail;
    uint32_t last = fill_behind_mount(sealed, bytes, &tail);
    int lost = -1;

    page += last - last % 32U; /* pages of a block */
    if (page < last) {
        for (uint32_t bit = 0; bit < 512U * 8U; bit += 37U) {
            nw_nand_flip(bed.nand, page, bit);
        }
        int result = mount();
        lost = 0;
        if (result == NW_OK) {
            lost = (int)nw_store_stats(bed.store)->lost;
            assert_int_equal(nw_store_at(bed.store, 0, &about), NW_OK);
            assert_true(about.tail == tail || lost > 0);
        } else { /* an anchor that begins in the page before */
            assert_true(result == NW_ERR_CORRUPT || result == NW_ERR_TAMPERED);
        }
    }
    close_bed();
    return lost;
}

/*
 * A page of the block that a mount began, with its anchor in it, cannot be read any more. Where all
 * that came later touched the last page nothing proved that this mount had ever ended, so its block
 * was taken for one that a cut left: what was synced to it was gone, and nothing told. But a page
 * with others behind it was not cut: the log goes on in such a block.
 */
static void test_anchor_of_mount(void **state)
{
    int hidden = 0;

    (void)state;
    for (uint16_t bytes = 10; bytes <= 480U; bytes = (uint16_t)(bytes + 10U)) {
        for (int sealed = 0; sealed < 2; sealed++) {
            int lost = 0;

            for (uint32_t page = 1; lost >= 0; page++) {
                lost = hide_page(sealed, bytes, page);
                hidden += lost > 0;
            }
        }
    }
    assert_true(hidden > 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lists_and_files),
                                       cmocka_unit_test(test_anchor_of_mount),
                                       cmocka_unit_test(test_ring),
                                       cmocka_unit_test(test_popped_before),
                                       cmocka_unit_test(test_told_by_a_state),
                                       cmocka_unit_test(test_always_told)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

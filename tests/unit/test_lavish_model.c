/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lavish layer against a plain model: random work over many shapes, with worn-out and bad
 * blocks, until the end of the chip's life. A failure prints the shape and the seed that repeat it.
 *
 * ctest: quick
 * ctest: soak
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lavish_rig.h"
#include "nandwich-twin/parts.h"
#include "nandwich/ecc.h"
#include "nandwich/ftl_lavish_check.h"
#include "nandwich/shrink.h"
#include "nandwich/slice.h"

static struct lavish_rig rig;

static const struct lavish_shape shapes[] = {
    /* degree 1: the map takes a sector of each logical block */
    {.blocks = 24, .block_pages = 4, .page_bytes = 64, .lavish = {.sectors = 12, .degree = 1}},
    {.blocks = 10, .block_pages = 2, .page_bytes = 64, .lavish = {.sectors = 3, .degree = 1,
                                                                  .maps = 1}},
    /* as few lavish blocks as can be, one map */
    {.blocks = 16, .block_pages = 4, .page_bytes = 64, .in_order = 1,
     .lavish = {.sectors = 16, .degree = 2, .maps = 1, .lavish_blocks = 6}},
    {.blocks = 40, .block_pages = 1, .page_bytes = 64, .in_order = 1,
     .lavish = {.sectors = 7, .degree = 3, .maps = 1, .lavish_blocks = 9}},
    /* in between; a page programmed in pieces; copy inside the chip */
    {.blocks = 64, .block_pages = 8, .page_bytes = 64, .program_bytes = 16, .in_order = 1,
     .copy = 1, .lavish = {.sectors = 60, .degree = 2, .maps = 2}},
    {.blocks = 128, .block_pages = 16, .page_bytes = 128, .copy = 1, .in_order = 1,
     .lavish = {.sectors = 100, .degree = 4, .maps = 3, .erase_late = 1}},
    /* more maps than logical blocks */
    {.blocks = 100, .block_pages = 16, .page_bytes = 64, .in_order = 1,
     .lavish = {.sectors = 90, .degree = 8, .maps = 20}},
};

#define SHAPES (sizeof shapes / sizeof shapes[0])

/* What is going on; empty once a test has passed. */
static char doing[80];

static void say(const char *what, unsigned shape, uint32_t seed)
{
    snprintf(doing, sizeof doing, "%s, shape %u, seed %u", what, shape, (unsigned)seed);
}

static int report(void **state)
{
    (void)state;
    if (doing[0] != '\0') {
        fprintf(stderr, "test_lavish_model: failed in: %s\n", doing);
        doing[0] = '\0';
    }
    return 0;
}

/* What must hold between requests, whatever happened. */
static void check_inside(void)
{
    uint32_t where;

    assert_int_equal(nw_ftl_lavish_check(&rig.lavish, &where), NW_OK);
}

/* One random request. Most writes hit a few sectors, as a page cache makes them. */
static int act(struct nw_random *dice)
{
    uint32_t sectors = rig.lavish.block.sectors;
    uint32_t sector = nw_random_below(dice, sectors);
    uint32_t count = 1;
    struct nw_block_req req = {.block = &rig.lavish.block};

    if (nw_random_below(dice, 3) == 0) {
        sector = sector % (sectors / 8U + 1U);
    }
    if (nw_random_below(dice, 4) == 0) {
        count = 1U + nw_random_below(dice, sectors - sector < 20U ? sectors - sector : 20U);
    }
    switch (nw_random_below(dice, 16)) {
    case 0: case 1: case 2: case 3:
        return lavish_rig_read(&rig, sector, count);
    case 4:
        return lavish_rig_trim(&rig, sector, count);
    case 5:
        req.budget_us = nw_random_below(dice, 50);
        return nw_block_idle(&req);
    default:
        return lavish_rig_write(&rig, sector, count);
    }
}

/* Random work without failures; then everything is read. */
static void work(unsigned shape, uint32_t seed, uint32_t steps)
{
    struct nw_random dice;
    uint32_t i;

    say("work", shape, seed);
    nw_random_seed(&dice, seed);
    assert_int_equal(lavish_rig_open(&rig, &shapes[shape], 0, seed), NW_OK);
    for (i = 0; i < steps; i++) {
        assert_true(act(&dice) >= 0);
        check_inside();
    }
    lavish_rig_read_all(&rig);
    assert_int_equal(rig.lavish.stats.lost, 0);
    lavish_rig_close(&rig);
}

static uint32_t soak(uint32_t times)
{
    return getenv("NW_SOAK") != NULL ? 200U * times : times;
}

/* Goal: whatever is asked, reads give what was written last, on every shape. */
static void work_is_kept(void **state)
{
    unsigned shape;
    uint32_t seed;

    (void)state;
    for (shape = 0; shape < SHAPES; shape++) {
        for (seed = 1; seed <= soak(3); seed++) {
            work(shape, seed, 4000);
        }
    }
    doing[0] = '\0';
}

/* Random work while blocks fail, until a write finds the chip full; what is there stays readable.
 * Answers how many blocks had failed. */
static uint32_t wear_down(unsigned shape, uint32_t seed)
{
    struct lavish_shape worn = shapes[shape];
    struct nw_random dice;
    uint32_t i;
    int result = NW_OK;

    worn.endurance = 40;
    worn.factory_bad = worn.blocks / 16U;
    nw_random_seed(&dice, seed);
    say("wear down", shape, seed);
    result = lavish_rig_open(&rig, &worn, NW_NAND_WEAR_OUT | NW_NAND_FACTORY_BAD, seed);
    for (i = 0; result >= 0; i++) {
        assert_true(i < 2000000);
        result = act(&dice);
        check_inside();
    }
    assert_int_equal(result, NW_ERR_FULL);
    for (i = 0; rig.lavish.logical != NULL && i < rig.lavish.block.sectors; i++) {
        result = lavish_rig_read(&rig, i, 1); /* contents are checked in there */
        assert_true(result == NW_OK || result == NW_ERR_FULL);
    }
    i = (uint32_t)rig.lavish.stats.retired;
    assert_int_equal(rig.lavish.stats.lost, 0);
    lavish_rig_close(&rig);
    return i;
}

/* Goal: failing and bad blocks lose nothing up to the end of life, and are replaced before: many
 * blocks have failed by then. */
static void life_ends_without_loss(void **state)
{
    unsigned shape;
    uint32_t seed;
    uint32_t retired = 0;

    (void)state;
    for (shape = 0; shape < SHAPES; shape++) {
        for (seed = 1; seed <= soak(4); seed++) {
            retired += wear_down(shape, seed);
        }
    }
    assert_true(retired > SHAPES * soak(4) * 3U);
    doing[0] = '\0';
}

/* Goal: with a write that fails at the worst moments, chosen at random over healthy chips, nothing
 * is lost either: blocks are doomed in the middle of work. */
static void doomed_blocks(void **state)
{
    unsigned shape;
    uint32_t seed;

    (void)state;
    for (shape = 0; shape < SHAPES; shape++) {
        for (seed = 1; seed <= soak(10); seed++) {
            struct nw_random dice;
            uint32_t i;
            int result;

            nw_random_seed(&dice, seed);
            say("doomed", shape, seed);
            result = lavish_rig_open(&rig, &shapes[shape], 0, seed);
            for (i = 0; result >= 0 && i < 3000; i++) {
                if (nw_random_below(&dice, 300) == 0) {
                    uint32_t block = nw_random_below(&dice, shapes[shape].blocks);

                    nw_nand_doom(rig.nand, block, (int)nw_random_below(&dice, 2));
                }
                result = act(&dice);
                check_inside();
            }
            assert_true(result >= 0 || result == NW_ERR_FULL);
            for (i = 0; i < rig.lavish.block.sectors; i++) {
                result = lavish_rig_read(&rig, i, 1);
                assert_true(result == NW_OK || result == NW_ERR_FULL);
            }
            lavish_rig_close(&rig);
        }
    }
    doing[0] = '\0';
}

/* Goal: without payload the very same operations run: costs may be studied on large chips. */
static void metadata_only_costs_the_same(void **state)
{
    unsigned shape;

    (void)state;
    for (shape = 0; shape < SHAPES; shape++) {
        struct nw_stats stats[2];
        uint32_t flags;

        for (flags = 0; flags < 2; flags++) {
            struct nw_random dice;
            uint32_t i;

            say("metadata only", shape, 5);
            nw_random_seed(&dice, 5);
            assert_int_equal(lavish_rig_open(&rig, &shapes[shape],
                                             flags != 0 ? NW_NAND_NO_PAYLOAD : 0, 5),
                             NW_OK);
            for (i = 0; i < 3000; i++) {
                assert_true(act(&dice) >= 0);
            }
            stats[flags] = rig.lavish.stats;
            lavish_rig_close(&rig);
        }
        assert_memory_equal(&stats[0], &stats[1], sizeof stats[0]);
    }
    doing[0] = '\0';
}

/* Goal: the stack of a real node works as one: 512-byte sectors over shrink, over ecc, over a slice
 * of a worn SLC part that flips bits; every flip is repaired on the way up. */
static void filters_below(void **state)
{
    struct nw_part part;
    struct nw_nand_config config = {.part = &part, .blocks = 160, .flags = NW_NAND_BIT_ERRORS};
    struct nw_ecc_config codes = {.unit_bytes = 256};
    struct nw_ftl_lavish_config lavish = {.sectors = 2000, .degree = 4, .maps = 2};
    static uint8_t ram[1024];
    struct nw_slice slice;
    struct nw_ecc ecc;
    struct nw_shrink shrink;
    struct nw_random dice;
    uint32_t i;

    (void)state;
    say("filters below", 0, 11);
    nw_random_seed(&dice, 11);
    memset(&rig, 0, sizeof rig);
    assert_int_equal(nw_parts_get("K9F1G08U0A", &part), NW_OK);
    assert_int_equal(nw_part_set(&part, "errors", "0:300000"), NW_OK); /* 3e-7 a bit */
    assert_int_equal(nw_nand_open(&rig.nand, &config), NW_OK);
    for (i = 0; i < config.blocks; i++) {
        nw_nand_set_erases(rig.nand, i, 90000);
    }
    assert_int_equal(nw_slice_open(&slice, nw_nand_chip(rig.nand), 20, 130), NW_OK);
    assert_int_equal(nw_ecc_open(&ecc, &slice.chip, &codes, ram, sizeof ram), NW_OK);
    assert_int_equal(nw_shrink_open(&shrink, &ecc.chip, 4), NW_OK);
    assert_int_equal(shrink.chip.geometry.page_bytes, 512);
    assert_int_equal(lavish_rig_open_on(&rig, &shrink.chip, &lavish), NW_OK);
    for (i = 0; i < 6000; i++) {
        assert_true(act(&dice) >= 0);
        check_inside();
    }
    lavish_rig_read_all(&rig);
    assert_true(rig.lavish.stats.corrected > 10);
    assert_int_equal(rig.lavish.stats.corrected, nw_nand_stats(rig.nand)->bits_flipped);
    assert_int_equal(rig.lavish.stats.lost, 0);
    for (i = 0; i < 20; i++) { /* nothing outside the slice was touched */
        assert_int_equal(nw_nand_block_erases(rig.nand, i), 90000);
        assert_int_equal(nw_nand_block_erases(rig.nand, 159 - i / 2), 90000);
    }
    lavish_rig_close(&rig);
    doing[0] = '\0';
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(work_is_kept, report),
        cmocka_unit_test_teardown(life_ends_without_loss, report),
        cmocka_unit_test_teardown(doomed_blocks, report),
        cmocka_unit_test_teardown(filters_below, report),
        cmocka_unit_test_teardown(metadata_only_costs_the_same, report),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

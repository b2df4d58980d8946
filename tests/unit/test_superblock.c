/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: the superblock layer merges as its page says, kind by kind, and what it costs in chip
 * operations is known to the unit for a fixed script. A change that makes it dearer fails here.
 * ctest: quick
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "layer_counts.h"
#include "nandwich/ftl_superblock.h"

/* 20 blocks of 8 pages, 10 spare: 80 sectors in five superblocks of 16, of three blocks at most. */
static const struct layer_shape pairs = {.part = "K9F1G08U0A",
                                         .blocks = 20,
                                         .block_pages = 8,
                                         .spare_blocks = 10,
                                         .degree = 2,
                                         .log_blocks = 1};
static const struct layer_shape few_lists = {.part = "K9F1G08U0A",
                                             .blocks = 20,
                                             .block_pages = 8,
                                             .spare_blocks = 10,
                                             .degree = 2,
                                             .log_blocks = 1,
                                             .maps = 2};

static struct layer_rig rig;

static void open_rig(const struct layer_shape *shape)
{
    layer_rig_open(&rig, &nw_layer_superblock, shape, 1);
}

/* All of a block was written again: it is given back, nothing moves. */
static void test_switch_merge(void **state)
{
    (void)state;
    open_rig(&pairs);
    (void)layer_counts_write(&rig, 0, 16, 1);
    layer_counts_expect("again", layer_counts_write(&rig, 0, 8, 1),
                        (struct layer_counts){.programs = 8});
    layer_counts_expect("third", layer_counts_write(&rig, 3, 1, 1),
                        (struct layer_counts){.programs = 1, .swaps = 1});
    layer_counts_close(&rig);
}

/* In idle time, blocks being few: what is left of a block fits behind the newest. */
static void test_partial_merge(void **state)
{
    (void)state;
    open_rig(&pairs);
    (void)layer_counts_write(&rig, 0, 80, 1);
    (void)layer_counts_write(&rig, 0, 7, 1);
    layer_counts_expect("idle", layer_counts_run(&rig, OP_IDLE, 0, 1000000),
                        (struct layer_counts){.reads = 1, .copies = 1, .moved = 1, .partial = 1});
    layer_counts_close(&rig);
}

/* The newest block is full, and the emptiest: its two valid sectors move to a fresh one. */
static void test_full_merge(void **state)
{
    (void)state;
    open_rig(&pairs);
    (void)layer_counts_write(&rig, 0, 16, 1);
    for (uint32_t i = 0; i < 4U; i++) {
        (void)layer_counts_write(&rig, 0, 2, 8);
    }
    layer_counts_expect("full", layer_counts_write(&rig, 8, 1, 1),
                        (struct layer_counts){
                            .reads = 2, .programs = 1, .copies = 2, .moved = 2, .full = 1});
    layer_counts_close(&rig);
}

/* A list that is not in RAM is read from the tags of its block. */
static void test_lists_are_read_again(void **state)
{
    (void)state;
    open_rig(&few_lists);
    (void)layer_counts_write(&rig, 0, 80, 1);
    layer_counts_expect("read", layer_counts_read(&rig, 0, 80),
                        (struct layer_counts){.reads = 80 + 10 * 8});
    layer_counts_expect("last", layer_counts_read(&rig, 79, 1), (struct layer_counts){.reads = 1});
    layer_counts_close(&rig);
}

static void test_failed_merge(void **state)
{
    (void)state;
    layer_counts_failed_merge(&nw_layer_superblock, &pairs);
}

static void test_counts(void **state)
{
    static const struct layer_counts churn = {
        .reads = 2709, .programs = 1000, .erases = 511, .copies = 2709, .moved = 2709,
        .full = 334, .partial = 29};
    static const struct layer_counts mount = {
        .reads = 282, .programs = 4, .erases = 5, .copies = 26, .moved = 25, .full = 3};

    (void)state;
    layer_counts_script(&nw_layer_superblock, &pairs, churn, mount);
}

static void test_refusals(void **state)
{
    struct nw_geometry geometry;
    struct nw_ftl_superblock_config config = {.spare_blocks = 10, .degree = 64};

    (void)state;
    open_rig(&pairs);
    geometry = nw_nand_chip(rig.nand)->geometry;
    assert_true(nw_ftl_superblock_ram_bytes(&config, &geometry) > 0);
    config.degree = 65;
    assert_int_equal(nw_ftl_superblock_ram_bytes(&config, &geometry), 0);
    geometry.block_pages = 1024; /* 64 of them pass 65,535 */
    config.degree = 64;
    assert_int_equal(nw_ftl_superblock_sectors(&config, &geometry), 0);
    config = (struct nw_ftl_superblock_config){.lists = 1};
    assert_int_equal(nw_ftl_superblock_sectors(&config, &geometry), 0);
    layer_rig_close(&rig);
}

/* A sector's place follows from the degree. Once a mount with another one answered NW_OK, showed
 * wrong sectors, and gave back blocks that were needed: the mount alone lost data. */
static void test_another_degree(void **state)
{
    static const uint8_t others[] = {1, 3, 4, 8};
    struct layer_shape shape = pairs;
    struct nw_random random;

    (void)state;
    nw_random_seed(&random, 1);
    shape.log_blocks = 3;
    open_rig(&shape);
    for (uint32_t i = 0; i < 300U; i++) {
        struct layer_op op = {.kind = OP_WRITE, .sector = nw_random_below(&random, 80), .count = 1};
        assert_int_equal(layer_rig_run(&rig, &op), NW_OK);
    }
    for (unsigned i = 0; i < sizeof others; i++) {
        struct nw_ftl_superblock_config config = {.spare_blocks = 10, .degree = others[i]};
        struct nw_chip *chip = nw_nand_chip(rig.nand);
        struct nw_ftl_superblock other;
        static uint64_t ram[4096];
        struct nw_nand_counts before = *nw_nand_stats(rig.nand);

        assert_int_equal(nw_ftl_superblock_mount(&other, chip, &config, ram, sizeof ram),
                         NW_ERR_VERSION);
        assert_int_equal(nw_nand_stats(rig.nand)->programs, before.programs);
        assert_int_equal(nw_nand_stats(rig.nand)->erases, before.erases);
    }
    rig.config.log_blocks = 1; /* these may change */
    rig.config.maps = 2;
    assert_int_equal(layer_rig_mount(&rig), NW_OK);
    assert_int_equal(layer_rig_check(&rig, 0), 0);
    layer_rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_switch_merge),
        cmocka_unit_test(test_partial_merge),
        cmocka_unit_test(test_full_merge),
        cmocka_unit_test(test_lists_are_read_again),
        cmocka_unit_test(test_failed_merge),
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_another_degree),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

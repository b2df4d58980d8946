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
#include "nandwich-models/models.h"

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
        .reads = 2709, .programs = 1000, .erases = 510, .copies = 2709, .moved = 2709,
        .full = 334, .partial = 29};

    (void)state;
    layer_counts_script(&nw_layer_superblock, &pairs, churn);
}

static void test_refusals(void **state)
{
    struct nw_geometry geometry;
    struct nw_model_config config = {.kind = NW_MODEL_SUPERBLOCK, .spare_blocks = 10, .degree = 64};

    (void)state;
    open_rig(&pairs);
    geometry = nw_nand_chip(rig.nand)->geometry;
    assert_true(nw_model_ram_bytes(&config, &geometry) > 0);
    config.degree = 65;
    assert_int_equal(nw_model_ram_bytes(&config, &geometry), 0);
    geometry.block_pages = 1024; /* 64 of them pass 65,535 */
    config.degree = 64;
    assert_int_equal(nw_model_sectors(&config, &geometry), 0);
    config = (struct nw_model_config){.kind = NW_MODEL_SUPERBLOCK, .lists = 1};
    assert_int_equal(nw_model_sectors(&config, &geometry), 0);
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
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

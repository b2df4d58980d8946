/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: the FAST layer merges as its page says, kind by kind, and what it costs in chip
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

/* 20 blocks of 8 pages, 10 spare: 80 sectors, two shared log blocks. */
static const struct layer_shape twins = {
    .part = "K9F1G08U0A", .blocks = 20, .block_pages = 8, .spare_blocks = 10};

static struct layer_rig rig;

static void open_rig(const struct layer_shape *shape)
{
    layer_rig_open(&rig, &nw_layer_fast, shape, 1);
}

/* The sequential block holds all when another one begins: it becomes the data block. */
static void test_switch_merge(void **state)
{
    (void)state;
    open_rig(&twins);
    (void)layer_counts_write(&rig, 0, 16, 1);
    layer_counts_expect("again", layer_counts_write(&rig, 0, 8, 1),
                        (struct layer_counts){.programs = 8});
    layer_counts_expect("other", layer_counts_write(&rig, 8, 1, 1),
                        (struct layer_counts){.programs = 1, .swaps = 1});
    layer_counts_close(&rig);
}

/* It holds three of eight: the others move behind. */
static void test_partial_merge(void **state)
{
    (void)state;
    open_rig(&twins);
    (void)layer_counts_write(&rig, 0, 16, 1);
    (void)layer_counts_write(&rig, 0, 3, 1);
    layer_counts_expect("other", layer_counts_write(&rig, 8, 1, 1),
                        (struct layer_counts){
                            .reads = 5, .programs = 1, .copies = 5, .moved = 5, .partial = 1});
    layer_counts_close(&rig);
}

/* A sector of the sequential block was written to the shared log since: that copy moves on. */
static void test_partial_merge_takes_the_newest(void **state)
{
    (void)state;
    open_rig(&twins);
    (void)layer_counts_write(&rig, 0, 16, 1);
    (void)layer_counts_write(&rig, 0, 3, 1);
    (void)layer_counts_write(&rig, 6, 1, 1);
    (void)layer_counts_write(&rig, 1, 1, 1);
    layer_counts_expect("other", layer_counts_write(&rig, 8, 1, 1),
                        (struct layer_counts){
                            .reads = 5, .programs = 1, .copies = 5, .moved = 5, .partial = 1});
    layer_counts_close(&rig);
}

/* Sectors of two logical blocks are in the oldest shared block when it has to go. */
static void test_full_merge(void **state)
{
    (void)state;
    open_rig(&twins);
    (void)layer_counts_write(&rig, 0, 80, 1);
    for (uint32_t i = 0; i < 4U; i++) {
        (void)layer_counts_write(&rig, 1, 2, 8);
    }
    for (uint32_t i = 0; i < 8U; i++) {
        layer_counts_expect("shared", layer_counts_write(&rig, 17, 1, 1),
                            (struct layer_counts){.programs = 1});
    }
    layer_counts_expect("full", layer_counts_write(&rig, 17, 1, 1),
                        (struct layer_counts){
                            .reads = 16, .programs = 1, .copies = 16, .moved = 16, .full = 2});
    layer_counts_close(&rig);
}

/* All that the oldest shared block held was written again: it goes without a merge. */
static void test_empty_log_goes(void **state)
{
    (void)state;
    open_rig(&twins);
    (void)layer_counts_write(&rig, 0, 80, 1);
    (void)layer_counts_write(&rig, 1, 8, 8);
    layer_counts_expect("again", layer_counts_write(&rig, 1, 8, 8),
                        (struct layer_counts){.programs = 8});
    layer_counts_expect("third", layer_counts_write(&rig, 1, 1, 8),
                        (struct layer_counts){.programs = 1});
    layer_counts_close(&rig);
}

static void test_failed_merge(void **state)
{
    (void)state;
    layer_counts_failed_merge(&nw_layer_fast, &twins);
}

static void test_counts(void **state)
{
    static const struct layer_counts churn = {
        .reads = 3321, .programs = 1000, .erases = 556, .copies = 3321, .moved = 3321,
        .full = 330, .partial = 98};

    (void)state;
    layer_counts_script(&nw_layer_fast, &twins, churn);
}

static void test_refusals(void **state)
{
    struct nw_geometry geometry;
    struct nw_model_config config = {.kind = NW_MODEL_FAST, .spare_blocks = 10, .log_blocks = 2};

    (void)state;
    open_rig(&twins);
    geometry = nw_nand_chip(rig.nand)->geometry;
    assert_true(nw_model_ram_bytes(&config, &geometry) > 0);
    config.log_blocks = 3;
    assert_int_equal(nw_model_ram_bytes(&config, &geometry), 0);
    config.log_blocks = 2;
    geometry.block_pages = 22000; /* four log blocks of them are too many to number */
    assert_int_equal(nw_model_sectors(&config, &geometry), 0);
    config = (struct nw_model_config){.kind = NW_MODEL_FAST, .spare_blocks = 9};
    assert_int_equal(nw_model_sectors(&config, &geometry), 0);
    config.spare_blocks = 0; /* as many log blocks as can be numbered: one, then none */
    geometry.block_pages = 21844;
    assert_true(nw_model_ram_bytes(&config, &geometry) > 0);
    geometry.block_pages = 21845;
    assert_int_equal(nw_model_ram_bytes(&config, &geometry), 0);
    layer_rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_switch_merge),
        cmocka_unit_test(test_partial_merge),
        cmocka_unit_test(test_partial_merge_takes_the_newest),
        cmocka_unit_test(test_full_merge),
        cmocka_unit_test(test_empty_log_goes),
        cmocka_unit_test(test_failed_merge),
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_refusals),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

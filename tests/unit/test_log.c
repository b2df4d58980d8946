/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: the log-block layer merges as its page says, kind by kind, and what it costs in chip
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

/* 20 blocks of 8 pages, 10 spare: 80 sectors, three log blocks. */
static const struct layer_shape three = {
    .part = "K9F1G08U0A", .blocks = 20, .block_pages = 8, .spare_blocks = 10};
static const struct layer_shape single = {
    .part = "K9F1G08U0A", .blocks = 20, .block_pages = 8, .spare_blocks = 10, .log_blocks = 1};

static struct layer_rig rig;

static void open_rig(const struct layer_shape *shape)
{
    layer_rig_open(&rig, &nw_layer_log, shape, 1);
}

/* The log was written from the first page to the last: it becomes the data block. */
static void test_switch_merge(void **state)
{
    (void)state;
    open_rig(&three);
    (void)layer_counts_write(&rig, 0, 16, 1);
    layer_counts_expect("again", layer_counts_write(&rig, 8, 8, 1),
                        (struct layer_counts){.programs = 8});
    layer_counts_expect("third", layer_counts_write(&rig, 8, 1, 1),
                        (struct layer_counts){.programs = 1, .swaps = 1});
    layer_counts_close(&rig);
}

/* The log, in order so far, is needed elsewhere: it takes the five it lacks. */
static void test_partial_merge(void **state)
{
    (void)state;
    open_rig(&single);
    (void)layer_counts_write(&rig, 0, 16, 1);
    (void)layer_counts_write(&rig, 0, 3, 1);
    layer_counts_expect("other", layer_counts_write(&rig, 12, 1, 1),
                        (struct layer_counts){
                            .reads = 5, .programs = 1, .copies = 5, .moved = 5, .partial = 1});
    layer_counts_close(&rig);
}

/* The log is full, in any order: all eight move to a third block. */
static void test_full_merge(void **state)
{
    (void)state;
    open_rig(&three);
    (void)layer_counts_write(&rig, 0, 8, 1);
    for (uint32_t i = 0; i < 8U; i++) {
        layer_counts_expect("log", layer_counts_write(&rig, 7U - i, 1, 1),
                            (struct layer_counts){.programs = 1});
    }
    layer_counts_expect("full", layer_counts_write(&rig, 3, 1, 1),
                        (struct layer_counts){
                            .reads = 8, .programs = 1, .copies = 8, .moved = 8, .full = 1});
    layer_counts_expect("read", layer_counts_read(&rig, 0, 8), (struct layer_counts){.reads = 8});
    layer_counts_close(&rig);
}

/* The oldest log goes first; the others stay. */
static void test_oldest_log_is_merged(void **state)
{
    (void)state;
    open_rig(&three);
    (void)layer_counts_write(&rig, 0, 80, 1);
    (void)layer_counts_write(&rig, 8, 3, 1);
    (void)layer_counts_write(&rig, 16, 2, 1);
    (void)layer_counts_write(&rig, 24, 1, 1);
    struct layer_counts got = layer_counts_write(&rig, 32, 1, 1);
    assert_int_equal(got.moved, 5); /* of sector 8's log: eight less three */
    assert_int_equal(got.partial, 1);
    got = layer_counts_write(&rig, 18, 6, 1); /* goes on in its log */
    assert_int_equal(got.moved, 0);
    layer_counts_close(&rig);
}

static void test_failed_merge(void **state)
{
    (void)state;
    layer_counts_failed_merge(&nw_layer_log, &three);
}

static void test_counts(void **state)
{
    static const struct layer_counts churn = {
        .reads = 5518, .programs = 1000, .erases = 1331, .copies = 5518, .moved = 5518,
        .full = 641, .partial = 56};

    (void)state;
    layer_counts_script(&nw_layer_log, &three, churn);
}

static void test_refusals(void **state)
{
    struct nw_geometry geometry;
    struct nw_model_config config = {.kind = NW_MODEL_LOG, .spare_blocks = 10, .log_blocks = 3};

    (void)state;
    open_rig(&three);
    geometry = nw_nand_chip(rig.nand)->geometry;
    assert_true(nw_model_ram_bytes(&config, &geometry) > 0);
    config.log_blocks = 4;
    assert_int_equal(nw_model_ram_bytes(&config, &geometry), 0);
    config = (struct nw_model_config){.kind = NW_MODEL_LOG, .spare_blocks = 9};
    assert_int_equal(nw_model_sectors(&config, &geometry), 0);
    layer_rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_switch_merge),
        cmocka_unit_test(test_partial_merge),
        cmocka_unit_test(test_full_merge),
        cmocka_unit_test(test_oldest_log_is_merged),
        cmocka_unit_test(test_failed_merge),
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_refusals),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

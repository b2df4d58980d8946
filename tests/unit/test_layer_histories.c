/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: the tree layer goes through the histories in which writes were once lost or taken back:
 * sectors written again between power cuts, mounts by the hundred and cut over and over, programs
 * that answer an error although they happened, reads that fail, pages that rot, and all of that
 * with blocks that fail.
 * ctest: quick
 * ctest: soak
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "layer_trials.h"

static void test_rewrites(void **state)
{
    (void)state;
    layer_trial_rewrites(&nw_layer_tree);
}

static void test_errors(void **state)
{
    (void)state;
    layer_trial_errors(&nw_layer_tree);
}

static void test_reads(void **state)
{
    (void)state;
    layer_trial_reads(&nw_layer_tree);
}

/* More mounts than a list of the floor has room for. */
static void test_mounts(void **state)
{
    (void)state;
    for (unsigned shape = 0; shape < 4U; shape++) {
        layer_trial_mounts(&nw_layer_tree, &layer_shapes[shape], 150);
    }
    layer_trial_mounts(&nw_layer_tree, &layer_shape_small, 200);
    layer_trial_mounts(&nw_layer_tree, &layer_shape_large, 500);
}

static void test_everything(void **state)
{
    (void)state;
    layer_trial_everything(&nw_layer_tree);
}

/* A page that rots is told of and harms no other. */
static void test_rot(void **state)
{
    (void)state;
    layer_trial_spoilt(&nw_layer_tree);
}

/* Each layer counts what it is asked for, sector by sector. */
static void test_counts(void **state)
{
    static uint8_t data[8U * 4096U];

    (void)state;
    struct layer_rig rig;

    layer_rig_open(&rig, &nw_layer_tree, &layer_shapes[0], 1);
    struct nw_block_req req = {.block = rig.block, .sector = 3, .count = 4, .data = data};
    const struct nw_stats *stats = rig.block->stats;

    assert_int_equal(nw_block_write(&req), NW_OK);
    assert_int_equal(nw_block_read(&req), NW_OK);
    req.count = 2;
    assert_int_equal(nw_block_trim(&req), NW_OK);
    assert_int_equal(nw_block_sync(&req), NW_OK);
    assert_int_equal(stats->host_writes, 4);
    assert_int_equal(stats->host_reads, 4);
    assert_int_equal(stats->host_trims, 2);
    assert_int_equal(stats->syncs, 1);
    layer_rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rewrites),
                                       cmocka_unit_test(test_errors),
                                       cmocka_unit_test(test_reads),
                                       cmocka_unit_test(test_mounts),
                                       cmocka_unit_test(test_everything),
                                       cmocka_unit_test(test_rot),
                                       cmocka_unit_test(test_counts)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

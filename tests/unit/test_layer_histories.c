/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: the layers go through the histories in which writes were once lost or taken back: sectors
 * written again between power cuts, mounts by the hundred and cut over and over, programs that
 * answer an error although they happened, reads that fail, pages that rot, and all of that with
 * blocks that fail.
 * ctest: quick
 * ctest: soak
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "layer_trials.h"

static const struct nw_layer_kind *const kinds[] = {&nw_layer_page, &nw_layer_tree, &nw_layer_fast,
                                                    &nw_layer_log, &nw_layer_nftl,
                                                    &nw_layer_superblock};

#define KINDS (sizeof kinds / sizeof kinds[0])

static void test_rewrites(void **state)
{
    (void)state;
    for (unsigned i = 0; i < KINDS; i++) {
        layer_trial_rewrites(kinds[i]);
    }
}

static void test_errors(void **state)
{
    (void)state;
    for (unsigned i = 0; i < KINDS; i++) {
        layer_trial_errors(kinds[i]);
    }
}

static void test_reads(void **state)
{
    (void)state;
    for (unsigned i = 0; i < KINDS; i++) {
        layer_trial_reads(kinds[i]);
    }
}

/* More mounts than a record has room for, by the page: 23 fences, 48, 202. */
static void test_mounts(void **state)
{
    (void)state;
    for (unsigned i = 0; i < KINDS; i++) {
        for (unsigned shape = 0; shape < 4U; shape++) {
            layer_trial_mounts(kinds[i], &layer_shapes[shape], 150);
        }
        layer_trial_mounts(kinds[i], &layer_shape_small, 200);
        layer_trial_mounts(kinds[i], &layer_shape_large, 500);
    }
}

static void test_everything(void **state)
{
    (void)state;
    for (unsigned i = 0; i < KINDS; i++) {
        layer_trial_everything(kinds[i]);
    }
}

/* A page that rots is told of and harms no other. */
static void test_rot(void **state)
{
    (void)state;
    for (unsigned i = 0; i < KINDS; i++) {
        layer_trial_spoilt(kinds[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rewrites),
                                       cmocka_unit_test(test_errors),
                                       cmocka_unit_test(test_reads),
                                       cmocka_unit_test(test_mounts),
                                       cmocka_unit_test(test_everything),
                                       cmocka_unit_test(test_rot)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

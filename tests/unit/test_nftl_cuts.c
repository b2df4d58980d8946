/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: power may go before, inside or after any chip operation, of the work and of the mount after
 * it, and the NFTL layer comes back with what was acknowledged, again and again.
 * ctest: slow
 * ctest: soak
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "layer_trials.h"

static void test_copyback(void **state)
{
    (void)state;
    layer_trial_cuts(&nw_layer_nftl, 0);
}

static void test_ecc_inside(void **state)
{
    (void)state;
    layer_trial_cuts(&nw_layer_nftl, 1);
}

static void test_small_page(void **state)
{
    (void)state;
    layer_trial_cuts(&nw_layer_nftl, 2);
}

static void test_erased_zero(void **state)
{
    (void)state;
    layer_trial_cuts(&nw_layer_nftl, 3);
}

static void test_many_cuts(void **state)
{
    (void)state;
    layer_trial_many_cuts(&nw_layer_nftl, &layer_shape_large);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_copyback), cmocka_unit_test(test_ecc_inside),
        cmocka_unit_test(test_small_page), cmocka_unit_test(test_erased_zero),
        cmocka_unit_test(test_many_cuts)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: under long random work with failing programs and erases the tree layer always reads what
 * a plain model says, before and after remounting, and never misuses the chip;
 * a page that rots is told of and harms no other.
 * ctest: quick
 * ctest: soak
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "layer_trials.h"

static void test_random_work(void **state)
{
    (void)state;
    layer_trial_random(&nw_layer_tree);
}

static void test_spoilt_pages(void **state)
{
    (void)state;
    layer_trial_spoilt(&nw_layer_tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_work),
                                       cmocka_unit_test(test_spoilt_pages)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

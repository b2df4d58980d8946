/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: under long random work with failing programs and erases the FAST layer always reads what
 * a plain model says, before and after remounting, and never misuses the chip.
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
    layer_trial_random(&nw_layer_fast);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_work)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

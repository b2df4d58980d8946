/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "store_rig.h"

struct turn {
    void (*run)(unsigned shape);
    unsigned shape;
};

static void run_turn(void **state)
{
    const struct turn *turn = *state;

    turn->run(turn->shape);
}

int store_each_shape(void (*run)(unsigned shape))
{
    struct CMUnitTest tests[STORE_SHAPES] = {0};
    struct turn turns[STORE_SHAPES];

    for (unsigned shape = 0; shape < STORE_SHAPES; shape++) {
        turns[shape] = (struct turn){.run = run, .shape = shape};
        tests[shape] = (struct CMUnitTest){.name = store_shapes[shape].part,
                                           .test_func = run_turn,
                                           .initial_state = &turns[shape]};
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}

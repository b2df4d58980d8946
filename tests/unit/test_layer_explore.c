/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: no history of four power cycles loses a write on any persistent layer: all that can happen
 * in two cycles of an empty device is tried, and of four cycles on devices of every age as much as
 * time allows, drawn by the seed.
 * ctest: slow
 * ctest: soak
 *
 * It was written for a defect that nobody had thought of: write X, plug, write X again, a write
 * that is torn, and the second mount from then on shows the older X. It finds that one in seconds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "explore.h"

static const char *const layers[] = {"page", "nftl", "log", "superblock", "fast"};

#define LAYERS (sizeof layers / sizeof *layers)

static struct explore_result run(const struct explore_plan *plan)
{
    struct explore_result result;

    explore(plan, &result);
    if (result.why[0] != '\0') {
        fail_msg("%s", result.why);
    }
    return result;
}

static void test_all_of_two_cycles(void **state)
{
    (void)state;
    for (size_t i = 0; i < LAYERS; i++) {
        struct explore_plan plan = {.kind = nw_layer_find(layers[i]),
                                    .shape = &layer_shapes[i % 4U],
                                    .seed = 1,
                                    .calls = 1,
                                    .cycles = 2,
                                    .most = 100000};
        struct explore_result result = run(&plan);

        assert_true(result.states < plan.most && result.states > 100U); /* it came to the end */
        print_message("%s: %u states, %u power cycles\n", layers[i], (unsigned)result.states,
                      (unsigned)result.cycles);
    }
}

static void test_many_of_four_cycles(void **state)
{
    int soak = getenv("NW_SOAK") != NULL;
    uint64_t states = 0;

    (void)state;
    for (uint32_t seed = 1; seed <= (soak ? 400U : 2U); seed++) {
        for (size_t i = 0; i < LAYERS; i++) {
            struct explore_plan plan = {.kind = nw_layer_find(layers[i]),
                                        .shape = &layer_shapes[(seed - 1U) / 2U % 4U],
                                        .seed = seed,
                                        .aged = (seed - 1U) / 8U % 5U * 50U + 40U,
                                        .sector = 3,
                                        .calls = (uint8_t)(2U + (seed - 1U) / 40U % 2U),
                                        .cycles = 4,
                                        .fan = 4,
                                        .most = 24000};
            states += run(&plan).states;
        }
    }
    print_message("%u states\n", (unsigned)states);
    assert_true(states > 100000U);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_of_two_cycles),
                                       cmocka_unit_test(test_many_of_four_cycles)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: nothing that can happen in a few power cycles breaks a promise of anything that is mounted:
 * breadth first, each state of the chip once, versions compared by their order alone.
 * ctest: slow
 * ctest: soak
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "effort.h"
#include "explore.h"
#include "shrink.h"

#define SHRINKS 4000U /* plays to shrink with */

#define SOAK_STATES 1000000U

#define STATES EFFORT(12000U, 3000U)

static void tell(struct explore_result *result)
{
    struct sim_outcome outcome;

    (void)sim_shrink(&result->history, NULL, SHRINKS, &outcome);
    char *text = sim_history_print(&result->history);
    print_message("# %s at step %u: %s\n%s", sim_judge_name(outcome.failure.judge),
                  (unsigned)outcome.failure.step + 1U, outcome.failure.text,
                  text != NULL ? text : "");
    free(text);
    fail();
}

static uint32_t run(const struct sim_kind *kind, uint8_t calls, uint32_t variant, uint32_t most)
{
    struct explore_plan plan = explore_usual(kind, calls, variant);
    struct explore_result result;

    plan.most = most;
    assert_int_equal(explore(&plan, &result), NW_OK);
    if (result.failure.judge != SIM_FINE) {
        tell(&result);
    }
    print_message("%s, %u calls, variant %u: %u states, %lu power cycles, depth %u, %u whole\n",
                  kind->name, (unsigned)calls, (unsigned)variant, (unsigned)result.states,
                  (unsigned long)result.played, (unsigned)result.depth, (unsigned)result.whole);
    assert_true(result.whole >= 1U || calls > 1U);
    assert_true(result.states == most || result.depth == plan.cycles);
    sim_history_free(&result.history);
    return result.states;
}

static void test_kind(void **state)
{
    const struct sim_kind *kind = *state;
    uint32_t states = 0;

    /* What forgets with power, or keeps content elsewhere too, has no state in the chip alone. */
    if (kind->mount == NULL || kind->model == NULL) {
        return;
    }
    if (getenv("NW_SOAK") == NULL) {
        states = run(kind, 1, 0, STATES / 4U * 3U);
        assert_true(states + run(kind, 2, 1, STATES / 4U) == STATES);
        return;
    }
    for (uint32_t variant = 0; states < SOAK_STATES; variant++) {
        states += run(kind, (uint8_t)(1U + variant % EXPLORE_CALLS), variant, 250000);
    }
}

int main(void)
{
    struct CMUnitTest tests[16];
    size_t count = 0;

    for (; count < sim_kind_count && count < 16U; count++) {
        tests[count] = (struct CMUnitTest){.name = sim_kinds[count]->name,
                                           .test_func = test_kind,
                                           .initial_state = (void *)(uintptr_t)sim_kinds[count]};
    }
    return _cmocka_run_group_tests("explore", tests, count, NULL, NULL);
}

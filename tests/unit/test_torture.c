/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: no history at random breaks a promise of anything that keeps data: some thousand seeds of
 * every subject, of which each dwells on something else. What fails prints the smallest history
 * that does; put it under tests/histories when it is mended.
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
#include "shrink.h"
#include "swarm.h"

#define SHRINKS 4000U /* plays to shrink with */

static void tell(struct sim_history *history, uint32_t seed)
{
    struct sim_outcome outcome;

    (void)sim_shrink(history, NULL, SHRINKS, &outcome);
    char *text = sim_history_print(history);
    print_message("# seed %u, %s at step %u: %s\n%s", (unsigned)seed,
                  sim_judge_name(outcome.failure.judge), (unsigned)outcome.failure.step + 1U,
                  outcome.failure.text, text != NULL ? text : "");
    free(text);
    fail();
}

static void test_kind(void **state)
{
    struct sim_wish wish = {.kind = *state};
    uint32_t seeds = getenv("NW_SOAK") != NULL ? 120000U : EFFORT(500U, 150U);
    uint64_t steps = 0;
    uint64_t cuts = 0;

    for (uint32_t seed = 1; seed <= seeds; seed++) {
        struct sim_history history;
        struct sim_outcome outcome;

        sim_history_init(&history);
        assert_int_equal(sim_swarm(&wish, seed, &history, &outcome), NW_OK);
        if (outcome.failure.judge != SIM_FINE) {
            tell(&history, seed);
        }
        steps += outcome.steps;
        cuts += outcome.cuts;
        sim_history_free(&history);
    }
    print_message("%s: %llu steps, %llu cuts\n", wish.kind->name, (unsigned long long)steps,
                  (unsigned long long)cuts);
    assert_true(steps > 10U * seeds && cuts > seeds);
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
    return _cmocka_run_group_tests("torture", tests, count, NULL, NULL);
}

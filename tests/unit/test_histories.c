/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: what once broke a promise never does so again: every history under tests/histories, each
 * the smallest that showed a defect, goes well.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "machine.h"

static char *text_of(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *text = calloc(1, 1U << 20);

    assert_non_null(file);
    assert_non_null(text);
    assert_true(fread(text, 1, (1U << 20) - 1U, file) > 0);
    assert_int_equal(fclose(file), 0);
    return text;
}

static void replay(const char *name)
{
    struct sim_history history;
    struct sim_outcome outcome;
    char path[600];
    char why[200];

    (void)snprintf(path, sizeof path, "%s/%s", NW_HISTORIES, name);
    char *text = text_of(path);
    if (sim_history_parse(&history, text, why, sizeof why) < 0) {
        fail_msg("%s: %s", path, why);
    }
    assert_int_equal(sim_play(&history, NULL, &outcome), NW_OK);
    if (outcome.failure.judge != SIM_FINE) {
        fail_msg("%s: %s at step %u: %s", name, sim_judge_name(outcome.failure.judge),
                 (unsigned)outcome.failure.step + 1U, outcome.failure.text);
    }
    assert_int_equal(outcome.steps, history.count);
    sim_history_free(&history);
    free(text);
}

static void test_all(void **state)
{
    DIR *folder = opendir(NW_HISTORIES);
    const struct dirent *entry;
    unsigned count = 0;

    (void)state;
    assert_non_null(folder);
    while ((entry = readdir(folder)) != NULL) {
        size_t length = strlen(entry->d_name);

        if (length > 4U && strcmp(entry->d_name + length - 4U, ".txt") == 0) {
            replay(entry->d_name);
            count++;
        }
    }
    assert_int_equal(closedir(folder), 0);
    assert_true(count > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: what once broke a promise never does so again: every history under tests/histories, each
 * the smallest that showed a defect, goes well. Those under tests/histories/open, if there are
 * any, show defects that are not mended: each still fails, so that whoever mends one moves it up.
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

static void replay(const char *folder, const char *name, int open)
{
    struct sim_history history;
    struct sim_outcome outcome;
    char path[600];
    char why[200];

    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    char *text = text_of(path);
    if (sim_history_parse(&history, text, why, sizeof why) < 0) {
        fail_msg("%s: %s", path, why);
    }
    assert_int_equal(sim_play(&history, NULL, &outcome), NW_OK);
    if (open) {
        assert_int_not_equal(outcome.failure.judge, SIM_FINE);
    } else if (outcome.failure.judge != SIM_FINE) {
        fail_msg("%s: %s at step %u: %s", name, sim_judge_name(outcome.failure.judge),
                 (unsigned)outcome.failure.step + 1U, outcome.failure.text);
    }
    assert_true(open || outcome.steps == history.count);
    sim_history_free(&history);
    free(text);
}

static unsigned replay_all(const char *path, int open)
{
    DIR *folder = opendir(path);
    const struct dirent *entry;
    unsigned count = 0;

    if (folder == NULL) { /* git keeps no empty ones */
        return 0;
    }
    while ((entry = readdir(folder)) != NULL) {
        size_t length = strlen(entry->d_name);

        if (length > 4U && strcmp(entry->d_name + length - 4U, ".txt") == 0) {
            replay(path, entry->d_name, open);
            count++;
        }
    }
    assert_int_equal(closedir(folder), 0);
    return count;
}

static void test_mended(void **state)
{
    (void)state;
    assert_true(replay_all(NW_HISTORIES, 0) > 0);
}

static void test_open(void **state)
{
    (void)state;
    (void)replay_all(NW_HISTORIES "/open", 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_mended), cmocka_unit_test(test_open)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

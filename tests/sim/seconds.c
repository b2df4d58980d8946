/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long the swarm takes to find a defect: seed after seed until one fails or the time is over.
 *   nw_torture SUBJECT SECONDS [FIRST_SEED [WORD]]   exit status 1: found; its history on stdout
 *   nw_torture FILE                             replays
 *   nw_torture explore SUBJECT STATES [CALLS [VARIANT]]   all that can happen, see explore.h
 * WORD: stable: what a cut leaves reads the same until the next power-up; else drawn at each read.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "explore.h"
#include "shrink.h"
#include "swarm.h"

static double now_s(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void tell(const struct sim_history *history, const struct sim_outcome *outcome)
{
    char *text = sim_history_print(history);

    (void)printf("# %s at step %lu: %s\n%s", sim_judge_name(outcome->failure.judge),
                 (unsigned long)outcome->failure.step + 1UL, outcome->failure.text,
                 text != NULL ? text : "");
    free(text);
}

static int search(const struct sim_kind *kind, double seconds, uint32_t first, int stable)
{
    struct sim_wish wish = {.kind = kind, .stable = stable};
    uint64_t steps = 0;
    uint64_t cuts = 0;
    uint32_t seed = first;

    for (; now_s() < seconds; seed++) {
        struct sim_history history;
        struct sim_outcome outcome;

        sim_history_init(&history);
        if (sim_swarm(&wish, seed, &history, &outcome) < 0) {
            (void)fprintf(stderr, "seed %lu: no configuration\n", (unsigned long)seed);
            return 2;
        }
        steps += outcome.steps;
        cuts += outcome.cuts;
        if (outcome.failure.judge != SIM_FINE) {
            (void)fprintf(stderr, "%s: seed %lu, %.1f s, %llu steps: %s\n", kind->name,
                          (unsigned long)seed, now_s(), (unsigned long long)steps,
                          outcome.failure.text);
            (void)sim_shrink(&history, NULL, 4000, &outcome);
            tell(&history, &outcome);
            sim_history_free(&history);
            return 1;
        }
        sim_history_free(&history);
    }
    (void)fprintf(stderr, "%s: nothing in %lu seeds, %llu steps, %llu cuts\n", kind->name,
                  (unsigned long)(seed - first), (unsigned long long)steps,
                  (unsigned long long)cuts);
    return 0;
}

static int replay(const char *path)
{
    static char text[1 << 20];
    char why[200];
    struct sim_history history;
    struct sim_outcome outcome;
    FILE *file = fopen(path, "r");

    if (file == NULL) {
        perror(path);
        return 2;
    }
    text[fread(text, 1, sizeof text - 1U, file)] = '\0';
    (void)fclose(file);
    if (sim_history_parse(&history, text, why, sizeof why) < 0 ||
        sim_play(&history, NULL, &outcome) < 0) {
        (void)fprintf(stderr, "%s: %s\n", path, why);
        return 2;
    }
    (void)printf("%s at step %lu: %s\n", sim_judge_name(outcome.failure.judge),
                 (unsigned long)outcome.failure.step + 1UL, outcome.failure.text);
    sim_history_free(&history);
    return outcome.failure.judge != SIM_FINE;
}

static int explore_all(const struct sim_kind *kind, char **words, int count)
{
    uint8_t calls = count > 1 ? (uint8_t)strtoul(words[1], NULL, 0) : 1U;
    uint32_t variant = count > 2 ? (uint32_t)strtoul(words[2], NULL, 0) : 0;
    struct explore_plan plan = explore_usual(kind, calls, variant);
    struct explore_result result;

    plan.most = (uint32_t)strtoul(words[0], NULL, 0);
    int answer = explore(&plan, &result);
    (void)fprintf(stderr, "%s: %lu states, %llu power cycles, depth %u (%u whole), %.1f s: %s\n",
                  kind->name, (unsigned long)result.states, (unsigned long long)result.played,
                  (unsigned)result.depth, (unsigned)result.whole, now_s(),
                  answer < 0 ? nw_error_text(answer) : result.failure.text);
    if (result.failure.judge != SIM_FINE) {
        struct sim_outcome outcome;

        (void)sim_shrink(&result.history, NULL, 4000, &outcome);
        tell(&result.history, &outcome);
    }
    sim_history_free(&result.history);
    return answer < 0 ? 2 : result.failure.judge != SIM_FINE;
}

int main(int argc, char **argv)
{
    const struct sim_kind *kind = argc > 2 ? sim_kind_find(argv[1]) : NULL;

    if (argc == 2) {
        return replay(argv[1]);
    }
    if (argc > 3 && strcmp(argv[1], "explore") == 0) {
        kind = sim_kind_find(argv[2]);
        if (kind != NULL) {
            return explore_all(kind, argv + 3, argc - 3);
        }
    }
    if (kind == NULL) {
        (void)fprintf(stderr, "nw_torture SUBJECT SECONDS [SEED [WORD]] | nw_torture FILE |\n"
                              "nw_torture explore SUBJECT STATES [CALLS [VARIANT]]\n");
        return 2;
    }
    int stable = argc > 4 && strcmp(argv[4], "stable") == 0;
    return search(kind, strtod(argv[2], NULL),
                  argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 0) : 1U, stable);
}

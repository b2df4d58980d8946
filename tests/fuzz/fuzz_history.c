/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libFuzzer: histories of tests/sim that go where none has been before, by the branches they take.
 * No history breaks a promise.
 *
 * Byte 0 chooses the subject, unless NW_SUBJECT names it, byte 1 chip and configuration as the
 * swarm draws them. Then steps: a byte for the verb, and for each argument one byte, or two where
 * more than 255 may be told.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "swarm.h"

#define MOST_STEPS 120U
#define MOST_COUNT 100U   /* sectors or writes of a step */
#define MOST_PENDING 3U /* blocks that fail at a time */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
    const uint8_t *at;
    size_t left;
};

static uint32_t take(struct input *input, uint32_t bytes)
{
    uint32_t value = 0;

    for (uint32_t i = 0; i < bytes && input->left > 0; i++) {
        value |= (uint32_t)*input->at++ << (8U * i);
        input->left--;
    }
    return value;
}

static uint32_t take_arg(struct input *input, const struct sim_arg *arg)
{
    uint32_t words = 0;

    while (arg->words != NULL && arg->words[words] != NULL) {
        words++;
    }
    if (words > 0) {
        return take(input, 1) % words;
    }
    if (strcmp(arg->name, "count") == 0) { /* of sectors or writes: a step is to take no time */
        return take(input, 2) % (arg->most < MOST_COUNT ? arg->most + 1U : MOST_COUNT);
    }
    return arg->most < 255U ? take(input, 1) % (arg->most + 1U) : take(input, 2);
}

/* What the swarm would not do either is left out: 0. */
static int suits(const struct sim_machine *machine, struct sim_step *step)
{
    const struct sim_kind *kind = machine->subject.kind;

    switch (step->verb) {
    case SIM_FLIP: return 0;
    case SIM_MOUNTS: step->args[0] %= 8U; return 1;
    case SIM_DOOM: return sim_machine_pending(machine) < MOST_PENDING;
    case SIM_FAIL:
        step->args[3] = 1;
        step->args[0] = step->args[2] == SIM_ECC ? (uint32_t)NW_VERB_READ : step->args[0];
        return kind->no_faults == 0 && step->args[0] != NW_VERB_IS_BAD;
    default: return step->verb < SIM_COMMON || sim_verb_of(kind, step->verb)->twin == 0;
    }
}

static struct sim_step take_step(struct input *input, const struct sim_kind *kind)
{
    struct sim_step step = {.verb = (uint8_t)(take(input, 1) % (SIM_COMMON + kind->verb_count))};
    const struct sim_verb *verb = sim_verb_of(kind, step.verb);

    for (uint32_t i = 0; i < sim_verb_args(verb); i++) {
        step.args[i] = take_arg(input, &verb->args[i]);
    }
    return step;
}

static void play(struct sim_machine *machine, struct sim_history *history,
                 const struct sim_step *step)
{
    if (sim_history_add(history, step) < 0) {
        abort();
    }
    if (sim_machine_step(machine, step) < 0) {
        char *text = sim_history_print(history);

        (void)fprintf(stderr, "# %s at step %lu: %s\n%s", sim_judge_name(machine->failure.judge),
                      (unsigned long)machine->failure.step + 1UL, machine->failure.text,
                      text != NULL ? text : "");
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t last[] = {SIM_MEND, SIM_PLUG, SIM_CHECK, SIM_PLUG, SIM_CHECK};
    struct input input = {data, size};
    const char *name = getenv("NW_SUBJECT");
    const struct sim_kind *kind = sim_kinds[take(&input, 1) % sim_kind_count];
    struct sim_machine machine;
    struct sim_history history;
    struct nw_random random;

    kind = name != NULL && sim_kind_find(name) != NULL ? sim_kind_find(name) : kind;
    struct sim_wish wish = {.kind = kind};
    nw_random_seed(&random, take(&input, 1) + 1U);
    if (sim_swarm_open(&wish, &random, &machine) < 0) {
        return 0;
    }
    sim_history_init(&history);
    history.head = machine.head;
    while (input.left > 0 && history.count < MOST_STEPS) {
        struct sim_step step = take_step(&input, kind);

        if (suits(&machine, &step)) {
            play(&machine, &history, &step);
        }
    }
    for (uint32_t i = 0; i < sizeof last; i++) {
        struct sim_step step = {.verb = last[i]};

        play(&machine, &history, &step);
    }
    sim_history_free(&history);
    sim_machine_close(&machine);
    return 0;
}

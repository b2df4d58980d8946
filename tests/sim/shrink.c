/* SPDX-License-Identifier: Apache-2.0 */
#include "shrink.h"

#include <string.h>

struct shrinker {
    struct sim_history *history; /* the smallest one that fails */
    struct sim_history trial;
    const struct sim_board *board;
    struct sim_outcome *outcome; /* of the smallest */
    uint32_t plays;              /* left */
    uint8_t judge;
};

/* Plays the trial; takes it over if it fails too, up to the step that does. */
static int try(struct shrinker *shrinker)
{
    struct sim_outcome outcome;
    struct sim_history *small = shrinker->history;

    if (shrinker->plays == 0) {
        return 0;
    }
    shrinker->plays--;
    if (sim_play(&shrinker->trial, shrinker->board, &outcome) < 0 ||
        outcome.failure.judge != shrinker->judge) {
        return 0;
    }
    small->head = shrinker->trial.head;
    small->count = outcome.failure.step + 1U;
    memcpy(small->steps, shrinker->trial.steps, small->count * sizeof *small->steps);
    *shrinker->outcome = outcome;
    return 1;
}

/* The trial: the smallest without `count` steps from `first` on. */
static void leave_out(struct shrinker *shrinker, uint32_t first, uint32_t count)
{
    const struct sim_history *small = shrinker->history;
    struct sim_history *trial = &shrinker->trial;
    uint32_t behind = small->count - first - count;

    trial->head = small->head;
    trial->count = small->count - count;
    memcpy(trial->steps, small->steps, first * sizeof *trial->steps);
    memcpy(trial->steps + first, small->steps + first + count, behind * sizeof *trial->steps);
}

/* Runs of steps, long ones first. */
static int fewer_steps(struct shrinker *shrinker)
{
    int helped = 0;

    for (uint32_t run = shrinker->history->count / 2U; run > 0; run /= 2U) {
        for (uint32_t at = 0; at < shrinker->history->count && shrinker->plays > 0;) {
            uint32_t left = shrinker->history->count - at;
            uint32_t count = run < left ? run : left;

            leave_out(shrinker, at, count);
            if (count < shrinker->history->count && try(shrinker)) {
                helped = 1;
            } else {
                at += count;
            }
        }
    }
    return helped;
}

/* Candidates for a number, the smallest first. */
static uint32_t smaller(uint32_t value, uint32_t attempt)
{
    switch (attempt) {
    case 0: return 0;
    case 1: return 1;
    case 2: return value / 2U;
    default: return value - 1U;
    }
}

static int smaller_args(struct shrinker *shrinker)
{
    int helped = 0;

    for (uint32_t at = 0; at < shrinker->history->count; at++) {
        const struct sim_step *step = &shrinker->history->steps[at];
        uint32_t args = sim_verb_args(sim_verb_of(shrinker->history->head.kind, step->verb));

        for (uint32_t i = 0; i < args; i++) {
            for (uint32_t attempt = 0; attempt < 4U && at < shrinker->history->count; attempt++) {
                uint32_t value = shrinker->history->steps[at].args[i];
                uint32_t next = smaller(value, attempt);

                leave_out(shrinker, 0, 0);
                shrinker->trial.steps[at].args[i] = next;
                helped |= value > 0 && next < value && try(shrinker);
            }
        }
    }
    return helped;
}

/* A plug where a reset is not needed. */
static int plain_mounts(struct shrinker *shrinker)
{
    int helped = 0;

    for (uint32_t at = 0; at < shrinker->history->count; at++) {
        leave_out(shrinker, 0, 0);
        if (shrinker->trial.steps[at].verb == SIM_RESET) {
            shrinker->trial.steps[at].verb = SIM_PLUG;
            helped |= try(shrinker);
        }
    }
    return helped;
}

/* Settings back to their defaults, then smaller. */
static int smaller_settings(struct shrinker *shrinker)
{
    const struct sim_setting *setting;
    int helped = 0;

    for (uint32_t i = 0; (setting = sim_setting_at(i)) != NULL; i++) {
        for (uint32_t attempt = 0; attempt < 4U; attempt++) {
            leave_out(shrinker, 0, 0);
            uint32_t *value = sim_setting_in(setting, &shrinker->trial.head);
            uint32_t next = smaller(*value, attempt);
            if (*value > 0 && next < *value) {
                *value = next;
                helped |= try(shrinker);
            }
        }
    }
    return helped;
}

static int smaller_chip(struct shrinker *shrinker)
{
    int helped = 0;

    for (uint32_t attempt = 0; attempt < 10U; attempt++) {
        leave_out(shrinker, 0, 0);
        struct nw_part *part = &shrinker->trial.head.part;
        if (attempt % 2U == 0 && part->blocks > 1U) {
            part->blocks = attempt < 4U ? part->blocks / 2U : part->blocks - 1U;
        } else if (part->block_pages > 1U) {
            part->block_pages = (uint16_t)(attempt < 4U ? part->block_pages / 2U
                                                        : part->block_pages - 1U);
        }
        helped |= shrinker->board == NULL && try(shrinker);
    }
    return helped;
}

int sim_shrink(struct sim_history *history, const struct sim_board *board, uint32_t plays,
               struct sim_outcome *outcome)
{
    struct shrinker shrinker = {
        .history = history, .board = board, .outcome = outcome, .plays = plays};

    int result = sim_play(history, board, outcome);
    if (result < 0 || outcome->failure.judge == SIM_FINE) {
        return result;
    }
    shrinker.judge = outcome->failure.judge;
    result = sim_history_copy(&shrinker.trial, history);
    if (result < 0) {
        return result;
    }
    history->count = outcome->failure.step + 1U;
    for (int helps = 1; helps != 0 && shrinker.plays > 0;) {
        helps = fewer_steps(&shrinker);
        helps |= plain_mounts(&shrinker);
        helps |= smaller_args(&shrinker);
        helps |= smaller_settings(&shrinker);
        helps |= smaller_chip(&shrinker);
    }
    sim_history_free(&shrinker.trial);
    return NW_OK;
}

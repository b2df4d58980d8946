/* SPDX-License-Identifier: Apache-2.0 */
#include "nandwich-sim/torture.h"

#include <stdio.h>
#include <string.h>

#include "shrink.h"
#include "swarm.h"

#define SHRINKS 2000U /* plays to shrink with */

static void tell(struct nw_torture_result *result, struct sim_history *history,
                 const struct sim_board *board, uint32_t seed)
{
    struct sim_outcome outcome;

    (void)sim_shrink(history, board, SHRINKS, &outcome);
    result->seed = seed;
    (void)snprintf(result->what, sizeof result->what, "%s at step %lu: %s",
                   sim_judge_name(outcome.failure.judge),
                   (unsigned long)outcome.failure.step + 1UL, outcome.failure.text);
    result->history = sim_history_print(history);
}

static struct sim_wish wish_of(const struct nw_torture *torture, const struct sim_board *board)
{
    struct sim_wish wish = {.kind = sim_kind_find(torture->layer),
                            .base = "",
                            .steps = torture->steps,
                            .board = board};

    wish.head.sectors = torture->config.sectors;
    wish.head.spare_blocks = torture->config.spare_blocks;
    wish.head.degree = torture->config.degree;
    wish.head.maps = torture->config.maps;
    return wish;
}

int nw_torture(const struct nw_torture *torture, struct nw_torture_result *result)
{
    struct sim_board board = {
        .chip = torture->chip, .cycle = torture->cycle, .context = torture->context};
    struct sim_wish wish = wish_of(torture, &board);
    uint32_t runs = torture->runs != 0 ? torture->runs : 1U;
    int answer = wish.kind != NULL ? NW_OK : NW_ERR_NOT_FOUND;

    memset(result, 0, sizeof *result);
    for (uint32_t i = 0; i < runs && answer == NW_OK && result->what[0] == '\0'; i++) {
        struct sim_history history;
        struct sim_outcome outcome;

        sim_history_init(&history);
        answer = sim_swarm(&wish, torture->first + i, &history, &outcome);
        result->steps += outcome.steps;
        result->cuts += outcome.cuts;
        result->changes += outcome.changes;
        if (answer == NW_OK && outcome.failure.judge != SIM_FINE) {
            tell(result, &history, &board, torture->first + i);
        } else if (answer == NW_OK) {
            result->runs++;
        }
        sim_history_free(&history);
    }
    return answer;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The relaxed bound; sched_bound.h says what is relaxed, sched_exact.c is the exact one. */
#include <stdlib.h>
#include <string.h>

#include "nandwich-replay/sched_bound.h"
#include "nandwich/error.h"
#include "nandwich/sched.h"
#include "sched_lists.h"

struct search {
    const struct nw_lists *lists;
    uint32_t flow_count; /* of lists */
    uint32_t steps;  /* of time; nothing can be met after the last */
    uint32_t depth;  /* layers kept: the present, the next and the longest operation */
    uint32_t states; /* room of a layer */
    uint32_t cost[NW_ARRIVAL_FLOWS]; /* in whole steps; 0: several go into one step */
    uint8_t chosen[NW_ARRIVAL_FLOWS];
    uint32_t *low[NW_ARRIVAL_FLOWS];  /* by step: first request an operation begun then meets */
    uint32_t *high[NW_ARRIVAL_FLOWS]; /* by step: behind the last request issued by then */
    uint32_t *layers; /* by step modulo depth, by state: most requests met from there on */
    uint64_t nodes;
};

/* The windows of every flow at every step; both ends only move upwards. */
static void find_windows(struct search *search, uint64_t grid_ns)
{
    for (uint32_t f = 0; f < search->flow_count; f++) {
        const struct nw_list *list = &search->lists->flows[f];
        uint32_t low = 0;
        uint32_t high = 0;

        for (uint32_t step = 0; step <= search->steps; step++) {
            uint64_t end = ((uint64_t)step + search->cost[f]) * grid_ns;

            while (low < list->count && list->issue_ns[low] + list->deadline_ns < end) {
                low++;
            }
            while (high < list->count && list->issue_ns[high] < ((uint64_t)step + 1U) * grid_ns) {
                high++;
            }
            search->low[f][step] = low;
            search->high[f][step] = high > low ? high : low;
        }
    }
}

/* States of the fullest step for the flows chosen, 0 for too many; those of all steps in `work`. */
static uint32_t count_states(const struct search *search, uint64_t *work)
{
    uint64_t most = 1;

    *work = 0;
    for (uint32_t step = 0; step <= search->steps; step++) {
        uint64_t states = 1;

        for (uint32_t f = 0; f < search->flow_count; f++) {
            if (search->chosen[f]) {
                states *= search->high[f][step] - search->low[f][step] + 1U;
            }
            if (states > NW_BOUND_STATES) {
                return 0;
            }
        }
        *work += states;
        most = states > most ? states : most;
    }
    return (uint32_t)most;
}

/* The best from `step` on when each flow is served up to (not including) `next`. */
static uint32_t value_at(const struct search *search, uint32_t step, const uint32_t *next)
{
    const uint32_t *layer;
    uint32_t index = 0;

    if (step > search->steps) {
        return 0;
    }
    layer = search->layers + (size_t)(step % search->depth) * search->states;
    for (uint32_t f = 0; f < search->flow_count; f++) {
        uint32_t low = search->low[f][step];

        if (search->chosen[f]) {
            index *= search->high[f][step] - low + 1U;
            index += next[f] > low ? next[f] - low : 0;
        }
    }
    return layer[index];
}

static uint32_t best_choice(struct search *search, uint32_t step, uint32_t *next)
{
    uint32_t best = value_at(search, step + 1U, next);

    search->nodes++;
    for (uint32_t f = 0; f < search->flow_count; f++) {
        uint32_t from = next[f];
        uint32_t waiting = search->high[f][step] - from;
        uint32_t served = waiting < search->lists->flows[f].group ? waiting
                                                                  : search->lists->flows[f].group;
        uint32_t value;

        if (!search->chosen[f] || served == 0) {
            continue;
        }
        next[f] = from + served;
        value = served + value_at(search, step + search->cost[f], next);
        next[f] = from;
        best = value > best ? value : best;
    }
    return best;
}

/* Fills the layer of one step, all later ones being known. The states in which most is served come
 * first: an operation shorter than a step leads to one of those, in the same layer. */
static void fill_layer(struct search *search, uint32_t step)
{
    uint32_t *layer = search->layers + (size_t)(step % search->depth) * search->states;
    uint32_t next[NW_ARRIVAL_FLOWS];
    uint32_t count = search->flow_count;
    uint32_t index = 1;
    uint32_t f;

    for (f = 0; f < count; f++) {
        next[f] = search->high[f][step];
        index *= search->chosen[f] ? next[f] - search->low[f][step] + 1U : 1U;
    }
    while (index > 0) {
        layer[--index] = best_choice(search, step, next);
        /* The state before: the last flow counts fastest, as in value_at(). */
        for (f = count; f > 0; f--) {
            if (search->chosen[f - 1U] && next[f - 1U] > search->low[f - 1U][step]) {
                next[f - 1U]--;
                break;
            }
            next[f - 1U] = search->high[f - 1U][step];
        }
    }
}

/* The maximum for the flows chosen. */
static int solve(struct search *search, uint64_t *met)
{
    uint32_t first[NW_ARRIVAL_FLOWS] = {0};

    search->layers = calloc((size_t)search->depth * search->states, sizeof *search->layers);
    if (search->layers == NULL) {
        return NW_ERR_RAM;
    }
    for (uint32_t step = search->steps + 1U; step > 0; step--) {
        fill_layer(search, step - 1U);
    }
    *met += value_at(search, 0, first);
    free(search->layers);
    return NW_OK;
}

/* Each flow as if it had the device for itself; one with too much to look at as if it met all. */
static int solve_apart(struct search *search, uint64_t *met)
{
    int status = NW_OK;

    for (uint32_t f = 0; f < search->flow_count && status == NW_OK; f++) {
        uint64_t work;

        memset(search->chosen, 0, sizeof search->chosen);
        search->chosen[f] = 1;
        search->states = count_states(search, &work);
        if (search->states == 0 || work > NW_BOUND_WORK) {
            *met += search->lists->flows[f].count;
        } else {
            status = solve(search, met);
        }
    }
    return status;
}

static void windows_free(struct search *search)
{
    for (uint32_t f = 0; f < NW_ARRIVAL_FLOWS; f++) {
        free(search->low[f]);
        free(search->high[f]);
        search->low[f] = NULL;
        search->high[f] = NULL;
    }
}

static int windows_make(struct search *search, uint64_t grid_ns)
{
    size_t count;

    if (search->lists->end_ns / grid_ns > 0x7FFFFFFFU) {
        return NW_ERR_RANGE;
    }
    search->steps = (uint32_t)(search->lists->end_ns / grid_ns);
    search->depth = 2;
    count = (size_t)search->steps + 1U;
    for (uint32_t f = 0; f < search->flow_count; f++) {
        search->cost[f] = (uint32_t)(search->lists->flows[f].cost_ns / grid_ns);
        search->depth = search->cost[f] >= search->depth ? search->cost[f] + 1U : search->depth;
        search->low[f] = calloc(count, sizeof(uint32_t));
        search->high[f] = calloc(count, sizeof(uint32_t));
        if (search->low[f] == NULL || search->high[f] == NULL) {
            return NW_ERR_RAM;
        }
    }
    find_windows(search, grid_ns);
    return NW_OK;
}

/* With too much to look at time goes in longer steps. */
static int search_all(struct search *search, uint64_t grid_ns, struct nw_bound_result *result)
{
    uint64_t work = 0;

    for (;;) {
        int status = windows_make(search, grid_ns);

        if (status < 0) {
            return status;
        }
        result->grid_ns = grid_ns;
        memset(search->chosen, 1, search->flow_count);
        search->states = count_states(search, &work);
        if (search->states == 0) {
            result->apart = 1;
            return solve_apart(search, &result->met);
        }
        if (work <= NW_BOUND_WORK) {
            return solve(search, &result->met);
        }
        windows_free(search);
        grid_ns *= 2U;
    }
}

int nw_bound_relaxed(const struct nw_bound_config *config, struct nw_bound_result *result)
{
    struct nw_lists lists;
    struct search search = {.lists = &lists};
    int status = nw_lists_make(&lists, config);

    memset(result, 0, sizeof *result);
    if (status == NW_OK) {
        search.flow_count = lists.flow_count;
        status = search_all(&search, config->grid_ns != 0 ? config->grid_ns : 1000000U, result);
    }
    windows_free(&search);
    nw_lists_free(&lists);
    result->nodes = search.nodes;
    return status;
}

size_t nw_bound_collect(struct nw_arrivals *arrivals, uint32_t seed, struct nw_arrival *requests,
                        size_t room)
{
    size_t count = 0;

    nw_arrivals_start(arrivals, seed);
    for (;;) {
        uint64_t time_ns = nw_arrivals_peek(arrivals);

        if (time_ns == UINT64_MAX) {
            return count;
        }
        if (count < room) {
            requests[count].time_ns = time_ns;
            requests[count].flow = arrivals->flow;
        }
        count++;
        nw_arrivals_take(arrivals);
    }
}

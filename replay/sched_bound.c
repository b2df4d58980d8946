/* SPDX-License-Identifier: Apache-2.0 */
/* The relaxed bound; sched_bound.h says what is relaxed, sched_exact.c is the exact one. */
#include <stdlib.h>
#include <string.h>

#include "nandwich-replay/sched_bound.h"
#include "nandwich/error.h"
#include "nandwich/sched.h"
#include "sched_lists.h"

/* A layer as seen from a step before it. */
struct view {
    const uint32_t *layer; /* NULL: behind the last step, where nothing is met */
    uint32_t low[NW_ARRIVAL_FLOWS];
    uint32_t stride[NW_ARRIVAL_FLOWS];
};

#define KINDS 2U /* of operations: writes and reads */

struct search {
    const struct nw_bound_config *config;
    const struct nw_lists *lists;
    uint32_t flow_count; /* of lists */
    uint32_t steps;  /* of time; nothing can be met after the last */
    uint32_t depth;  /* layers kept: the present, the next and the longest operation */
    uint32_t states; /* room of a layer */
    uint32_t cost[NW_ARRIVAL_FLOWS]; /* in whole steps; 0: several go into one step */
    uint32_t chosen[NW_ARRIVAL_FLOWS]; /* numbers of the flows looked at together */
    uint32_t chosen_count;
    uint32_t *low[NW_ARRIVAL_FLOWS];  /* by step: first request an operation begun then meets */
    uint32_t *high[NW_ARRIVAL_FLOWS]; /* by step: behind the last request issued by then */
    uint32_t *layers; /* by step modulo depth, by state: most requests met from there on */
    /* Operations of one cost, and where they lead to from the present step; [0] is the next. */
    uint32_t kind[NW_ARRIVAL_FLOWS];
    uint32_t kinds;
    uint32_t kind_cost[KINDS + 1U];
    struct view views[KINDS + 1U];
    uint32_t waiting[NW_ARRIVAL_FLOWS]; /* of those chosen, at the present step */
    uint32_t waiting_count;
    uint64_t nodes;
    int stopped; /* by the caller */
};

/* States between two questions to the caller. */
#define ASK_AFTER 0x10000U

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

/* States of the fullest step for the flows chosen, 0 for too many. In `work` what looking at all of
 * them takes: in each state the best after serving nothing, and after serving each flow that
 * waits. */
static uint32_t count_states(const struct search *search, uint64_t *work)
{
    uint64_t most = 1;

    *work = 0;
    for (uint32_t step = 0; step <= search->steps; step++) {
        uint64_t states = 1;
        uint32_t waiting_flows = 0;

        for (uint32_t i = 0; i < search->chosen_count; i++) {
            uint32_t f = search->chosen[i];
            uint32_t waiting = search->high[f][step] - search->low[f][step];

            states *= waiting + 1U;
            waiting_flows += waiting > 0;
            if (states > NW_BOUND_STATES) {
                return 0;
            }
        }
        *work += states * (waiting_flows + 1U);
        most = states > most ? states : most;
    }
    return (uint32_t)most;
}

/* Where the states of `step` lie: by flow, how far apart two neighbours are. */
static void view_make(const struct search *search, uint32_t step, struct view *view)
{
    uint32_t stride = 1;

    view->layer = NULL;
    if (step > search->steps) {
        return;
    }
    view->layer = search->layers + (size_t)(step % search->depth) * search->states;
    for (uint32_t i = search->chosen_count; i > 0; i--) {
        uint32_t f = search->chosen[i - 1U];

        view->low[f] = search->low[f][step];
        view->stride[f] = stride;
        stride *= search->high[f][step] - view->low[f] + 1U;
    }
}

/* What a flow served up to (not including) `next` adds to the index of a state. */
static uint32_t place_of(const struct view *view, uint32_t f, uint32_t next)
{
    return next > view->low[f] ? view->stride[f] * (next - view->low[f]) : 0;
}

/* The best from the present step on when each flow is served up to (not including) `next`. Flows
 * that do not wait at this step have been served as far as any that wait later. */
static uint32_t best_choice(struct search *search, uint32_t step, const uint32_t *next)
{
    uint32_t index[KINDS + 1U] = {0};
    uint32_t best = 0;

    search->nodes++;
    for (uint32_t i = 0; i < search->waiting_count; i++) {
        uint32_t f = search->waiting[i];

        for (uint32_t k = 0; k <= search->kinds; k++) {
            index[k] += place_of(&search->views[k], f, next[f]);
        }
    }
    if (search->views[0].layer != NULL) {
        best = search->views[0].layer[index[0]];
    }
    for (uint32_t i = 0; i < search->waiting_count; i++) {
        uint32_t f = search->waiting[i];
        uint32_t k = search->kind[f];
        const struct view *view = &search->views[k];
        uint32_t waiting = search->high[f][step] - next[f];
        uint32_t served = waiting < search->lists->flows[f].group ? waiting
                                                                  : search->lists->flows[f].group;
        uint32_t value = served;

        if (view->layer != NULL && served > 0) {
            value += view->layer[index[k] - place_of(view, f, next[f]) +
                                 place_of(view, f, next[f] + served)];
        }
        best = value > best ? value : best;
    }
    return best;
}

/* What is the same for all states of a step: who waits, and the layers looked up. */
static void step_begin(struct search *search, uint32_t step)
{
    search->waiting_count = 0;
    for (uint32_t i = 0; i < search->chosen_count; i++) {
        uint32_t f = search->chosen[i];

        if (search->high[f][step] > search->low[f][step]) {
            search->waiting[search->waiting_count++] = f;
        }
    }
    view_make(search, step + 1U, &search->views[0]);
    for (uint32_t k = 1; k <= search->kinds; k++) {
        view_make(search, step + search->kind_cost[k], &search->views[k]);
    }
}

/* Fills the layer of one step, all later ones being known. The states in which most is served come
 * first: an operation shorter than a step leads to one of those, in the same layer. */
static void fill_layer(struct search *search, uint32_t step)
{
    uint32_t *layer = search->layers + (size_t)(step % search->depth) * search->states;
    uint32_t next[NW_ARRIVAL_FLOWS];
    uint32_t index = 1;

    step_begin(search, step);
    for (uint32_t i = 0; i < search->waiting_count; i++) {
        uint32_t f = search->waiting[i];

        next[f] = search->high[f][step];
        index *= next[f] - search->low[f][step] + 1U;
    }
    while (index > 0 && !search->stopped) {
        layer[--index] = best_choice(search, step, next);
        search->stopped = search->nodes % ASK_AFTER == 0 && search->config->ask != NULL &&
                          search->config->ask(search->config->context) != 0;
        /* The state before: the last flow counts fastest, as in view_make(). */
        for (uint32_t i = search->waiting_count; i > 0; i--) {
            uint32_t f = search->waiting[i - 1U];

            if (next[f] > search->low[f][step]) {
                next[f]--;
                break;
            }
            next[f] = search->high[f][step];
        }
    }
}

/* The maximum for the flows chosen. */
static int solve(struct search *search, uint64_t *met)
{
    search->layers = calloc((size_t)search->depth * search->states, sizeof *search->layers);
    if (search->layers == NULL) {
        return NW_ERR_RAM;
    }
    for (uint32_t step = search->steps + 1U; step > 0 && !search->stopped; step--) {
        fill_layer(search, step - 1U);
    }
    *met += search->layers[0];
    free(search->layers);
    return NW_OK;
}

/* Each flow as if it had the device for itself; one with too much to look at as if it met all. */
static int solve_apart(struct search *search, uint64_t *met)
{
    int status = NW_OK;

    search->chosen_count = 1;
    for (uint32_t f = 0; f < search->flow_count && status == NW_OK; f++) {
        uint64_t work;

        search->chosen[0] = f;
        search->states = count_states(search, &work);
        if (search->states == 0 || work > NW_BOUND_WORK / search->flow_count) {
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

/* Numbers the flow's cost among those of all flows. */
static void kind_find(struct search *search, uint32_t f)
{
    uint32_t k = 1;

    while (k <= search->kinds && search->kind_cost[k] != search->cost[f]) {
        k++;
    }
    search->kind[f] = k;
    search->kind_cost[k] = search->cost[f];
    search->kinds = k > search->kinds ? k : search->kinds;
}

static int windows_make(struct search *search, uint64_t grid_ns)
{
    size_t count;

    if (search->lists->end_ns / grid_ns > 0x7FFFFFFFU) {
        return NW_ERR_RANGE;
    }
    search->steps = (uint32_t)(search->lists->end_ns / grid_ns);
    search->depth = 2;
    search->kinds = 0;
    count = (size_t)search->steps + 1U;
    for (uint32_t f = 0; f < search->flow_count; f++) {
        search->cost[f] = (uint32_t)(search->lists->flows[f].cost_ns / grid_ns);
        search->depth = search->cost[f] >= search->depth ? search->cost[f] + 1U : search->depth;
        kind_find(search, f);
        search->low[f] = calloc(count, sizeof(uint32_t));
        search->high[f] = calloc(count, sizeof(uint32_t));
        if (search->low[f] == NULL || search->high[f] == NULL) {
            return NW_ERR_RAM;
        }
    }
    find_windows(search, grid_ns);
    return NW_OK;
}

static void choose_all(struct search *search)
{
    search->chosen_count = search->flow_count;
    for (uint32_t f = 0; f < search->flow_count; f++) {
        search->chosen[f] = f;
    }
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
        choose_all(search);
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
    struct search search = {.config = config, .lists = &lists};
    int status = nw_lists_make(&lists, config);

    memset(result, 0, sizeof *result);
    if (status == NW_OK) {
        search.flow_count = lists.flow_count;
        status = search_all(&search, config->grid_ns != 0 ? config->grid_ns : 1000000U, result);
    }
    windows_free(&search);
    nw_lists_free(&lists);
    result->nodes = search.nodes;
    result->stopped = search.stopped != 0;
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

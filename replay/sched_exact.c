/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The exact bound: every order of operations that can matter, cut off where even meeting everything
 * still alive would not beat the best found. An operation need only start when the one before ends
 * or when a request arrives: a later start is never better.
 */
#include <string.h>

#include "nandwich/error.h"
#include "nandwich/sched.h"
#include "sched_lists.h"

/* Where one branch stands. */
struct place {
    uint64_t now_ns;
    uint32_t next[NW_ARRIVAL_FLOWS]; /* first request not served and not given up */
    uint32_t left;   /* sectors left in the open unit */
    uint32_t opened; /* units so far */
    uint32_t met;
    uint32_t branch; /* the next one to try: see expand() */
};

struct search {
    const struct nw_bound_config *config;
    struct nw_lists lists;
    /* Each operation meets a request, opens a unit or is a wait for an arrival. An opening without
     * a request is one of the first with a cost of its own, or a write came since the last one. */
    struct place stack[4U * NW_BOUND_EXACT_MAX + 4U];
    uint32_t depth;
    uint32_t best;
    uint64_t nodes;
};

static uint64_t open_cost(const struct nw_bound_config *config, uint32_t opened)
{
    uint32_t last = config->open_count > 0 ? config->open_count - 1U : 0;

    return config->open_count > 0 ? config->open_ns[opened < last ? opened : last]
                                  : config->write_ns;
}

static uint32_t alive(const struct nw_list *list, uint32_t next, uint64_t end_ns)
{
    while (next < list->count && list->issue_ns[next] + list->deadline_ns < end_ns) {
        next++;
    }
    return next;
}

/* Most that could still be met; gives up what cannot. */
static uint32_t hope(const struct search *search, struct place *place)
{
    uint32_t left = 0;

    for (uint32_t f = 0; f < search->lists.flow_count; f++) {
        const struct nw_list *list = &search->lists.flows[f];

        place->next[f] = alive(list, place->next[f], place->now_ns + list->cost_ns);
        left += list->count - place->next[f];
    }
    return left;
}

/* Time moves to the next arrival; 0 when there is none. */
static int wait_arrival(const struct search *search, struct place *place)
{
    uint64_t least = UINT64_MAX;

    for (uint32_t f = 0; f < search->lists.flow_count; f++) {
        const struct nw_list *list = &search->lists.flows[f];

        for (uint32_t i = place->next[f]; i < list->count; i++) {
            if (list->issue_ns[i] > place->now_ns) {
                least = list->issue_ns[i] < least ? list->issue_ns[i] : least;
                break;
            }
        }
    }
    if (least == UINT64_MAX) {
        return 0;
    }
    place->now_ns = least;
    return 1;
}

/* Whether another new unit gives nothing: no more sectors than are left, and no opening that costs
 * other than the next one. */
static int fresh_enough(const struct nw_bound_config *config, const struct place *place)
{
    return place->left + 1U == config->unit && place->opened + 1U >= config->open_count;
}

/* One operation for flow `f` (flow_count: an opening without a request), into a new unit if `skip`.
 * 0 when it meets nothing or is no different from another branch. */
static int operate(const struct search *search, struct place *place, uint32_t f, int skip)
{
    const struct nw_list *list = &search->lists.flows[f];
    uint8_t pad = f == search->lists.flow_count;
    uint8_t reads = !pad && search->config->flows[f].direction == NW_SCHED_READ;
    uint32_t unit = search->config->unit;
    uint64_t cost_ns = pad ? 0 : list->cost_ns;
    uint32_t served = 0;

    if ((skip || pad) && (unit == 0 || reads || fresh_enough(search->config, place))) {
        return 0;
    }
    if (skip && place->left == 0 && !pad) {
        return 0;
    }
    if (unit != 0 && !reads && (place->left == 0 || skip || pad)) {
        cost_ns = open_cost(search->config, place->opened++);
        place->left = unit;
    }
    place->now_ns += cost_ns;
    if (unit != 0 && !reads) {
        place->left--;
    }
    if (pad) {
        return 1;
    }
    place->next[f] = alive(list, place->next[f], place->now_ns);
    while (served < list->group && place->next[f] < list->count &&
           list->issue_ns[place->next[f]] + cost_ns <= place->now_ns) {
        place->next[f]++;
        served++;
    }
    place->met += served;
    return served > 0;
}

/* Tries the place's next branch: waiting, an opening, then each flow, here and into a new unit. */
static int expand(struct search *search, const struct place *from, uint32_t branch)
{
    struct place *to = &search->stack[search->depth];
    uint32_t flows = search->lists.flow_count;
    int made;

    *to = *from;
    to->branch = 0;
    if (branch < 2U * flows) {
        made = operate(search, to, branch % flows, branch >= flows);
    } else if (branch == 2U * flows) {
        made = operate(search, to, flows, 0);
    } else {
        made = wait_arrival(search, to);
    }
    return made;
}

static void run(struct search *search)
{
    uint32_t branches = 2U * search->lists.flow_count + 2U;

    search->depth = 1;
    while (search->depth > 0) {
        struct place *top = &search->stack[search->depth - 1U];

        if (top->branch == 0) {
            search->nodes++;
            search->best = top->met > search->best ? top->met : search->best;
        }
        if (top->branch == branches || top->met + hope(search, top) <= search->best) {
            search->depth--;
            continue;
        }
        if (expand(search, top, top->branch++)) {
            search->depth++;
        }
    }
}

int nw_bound_exact(const struct nw_bound_config *config, struct nw_bound_result *result)
{
    struct search search = {.config = config};
    int status = NW_ERR_RANGE;

    memset(result, 0, sizeof *result);
    if (config->request_count > NW_BOUND_EXACT_MAX) {
        return status;
    }
    status = nw_lists_make(&search.lists, config);
    if (status == NW_OK) {
        run(&search);
        result->met = search.best;
        result->exact = 1;
        result->nodes = search.nodes;
    }
    nw_lists_free(&search.lists);
    return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A start for the search, from a graph instead of a simulation: an edge counts how often two
 * elements were accessed, or written, shortly after one another, and what pages cut is made small.
 * A move costs a look at two elements' edges, whatever the length of the trace, so that hundreds of
 * thousands can be tried. With one page in RAM the cut edges of accesses are the faults; those of
 * writes stand for the dirty pages that two buffers cannot hold.
 */
#include "search.h"

#include "nandwich/error.h"

#include <stdlib.h>
#include <string.h>

#define MOST_WINDOW 4U          /* accesses before one that are thought of as near */
#define MOST_WRITTEN 6U         /* the same of writes; the ring below holds more */
#define MOST_PAIRED 65536U      /* accesses from which edges are made */
#define STEP_WORK 20U           /* of a move, besides its edges */
#define JUDGED 2000U            /* moves that tell how much worse one usually is */
#define HOT 3U                  /* the first threshold, in such moves */
#define MOST_IDLE 100000U       /* proposals in a row without a move: there is none */

struct edge {
    uint32_t to, weight;
};

struct graph {
    uint32_t *first; /* edge of each element; one more at the end */
    struct edge *edge;
};

/* Pairs, both ways; NULL: no memory. */
struct pairs {
    uint64_t *pair;
    uint64_t count;
};

static void put_pair(struct pairs *pairs, uint32_t a, uint32_t b)
{
    if (a != b) {
        pairs->pair[pairs->count++] = (uint64_t)a << 32 | b;
        pairs->pair[pairs->count++] = (uint64_t)b << 32 | a;
    }
}

static uint32_t less(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static void gather(const struct searching *all, struct pairs *pairs)
{
    uint32_t window = less(all->search->frames, MOST_WINDOW);
    uint32_t wide = less(all->search->frames + 2U, MOST_WRITTEN);
    uint64_t count = all->count < MOST_PAIRED ? all->count : MOST_PAIRED;
    uint32_t ring[MOST_WRITTEN + 2U], written = 0;

    for (uint64_t i = 0; i < count; i++) {
        /* Evenly spread runs of accesses, of a sample that is longer. */
        uint64_t at = all->count == count ? i : (i & ~1023ULL) * all->count / count + (i & 1023U);
        uint32_t element = all->accesses[at] >> 1;

        for (uint32_t d = 1; d <= window && d <= at; d++) {
            put_pair(pairs, element, all->accesses[at - d] >> 1);
        }
        if ((all->accesses[at] & 1U) == 0) {
            continue;
        }
        for (uint32_t d = 2; d <= wide && d <= written; d++) {
            put_pair(pairs, element, ring[(written - d) & (MOST_WRITTEN + 1U)]);
        }
        ring[written++ & (MOST_WRITTEN + 1U)] = element;
    }
}

static int in_order(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static void make_edges(struct graph *graph, uint32_t elements, const struct pairs *pairs)
{
    uint32_t made = 0, from = 0;

    graph->first[0] = 0;
    for (uint64_t i = 0; i < pairs->count;) {
        uint64_t same = i;

        while (same < pairs->count && pairs->pair[same] == pairs->pair[i]) {
            same++;
        }
        while (from < (uint32_t)(pairs->pair[i] >> 32)) {
            graph->first[++from] = made;
        }
        graph->edge[made++] = (struct edge){(uint32_t)pairs->pair[i], (uint32_t)(same - i)};
        i = same;
    }
    while (from < elements) {
        graph->first[++from] = made;
    }
}

static int graph_open(struct graph *graph, const struct searching *all)
{
    uint64_t room = 2U * (MOST_WINDOW + MOST_WRITTEN) *
                    (all->count < MOST_PAIRED ? all->count : MOST_PAIRED);
    struct pairs pairs = {malloc((room + 1U) * sizeof *pairs.pair), 0};
    int result = NW_ERR_RAM;

    graph->first = calloc((size_t)all->elements + 1U, sizeof *graph->first);
    graph->edge = NULL;
    if (pairs.pair != NULL && graph->first != NULL) {
        gather(all, &pairs);
        qsort(pairs.pair, pairs.count, sizeof *pairs.pair, in_order);
        graph->edge = calloc(pairs.count + 1U, sizeof *graph->edge);
    }
    if (graph->edge != NULL) {
        make_edges(graph, all->elements, &pairs);
        result = NW_OK;
    }
    free(pairs.pair);
    return result;
}

/* What one element's new page adds to the cut, while `together` goes the other way. */
static int64_t added(const struct searching *all, const struct graph *graph, uint32_t element,
                     uint32_t to, uint32_t together)
{
    uint32_t from = all->page[element];
    int64_t sum = 0;

    for (uint32_t i = graph->first[element]; i < graph->first[element + 1U]; i++) {
        const struct edge *edge = &graph->edge[i];
        uint32_t page = all->page[edge->to];

        if (edge->to == together) {
            continue; /* it stays cut */
        }
        if (page == from) {
            sum += edge->weight;
        } else if (page == to) {
            sum -= edge->weight;
        }
    }
    return sum;
}

static int64_t added_by(const struct searching *all, const struct graph *graph,
                        const struct move *move)
{
    int64_t sum = added(all, graph, move->element, move->to, move->other);

    if (move->other != NO_ELEMENT) {
        sum += added(all, graph, move->other, move->from, move->element);
    }
    return sum;
}

static uint64_t edges_of(const struct graph *graph, uint32_t element)
{
    return element == NO_ELEMENT ? 0 : graph->first[element + 1U] - graph->first[element];
}

/* How much worse a move is in the mean, of those that are worse. */
static uint64_t usual_loss(struct searching *all, const struct graph *graph)
{
    uint64_t sum = 0, worse = 0;

    for (uint32_t i = 0; i < JUDGED; i++) {
        struct move move;
        int64_t now = nw_search_propose(all, &move) ? added_by(all, graph, &move) : 0;

        if (now > 0) {
            sum += (uint64_t)now;
            worse++;
        }
    }
    return worse > 0 ? sum / worse : 0;
}

static void walk(struct searching *all, const struct graph *graph, uint64_t work, uint32_t *best)
{
    uint64_t first = HOT * usual_loss(all, graph);
    int64_t cut = 0, least = 0; /* beside that of the start */
    uint32_t idle = 0;
    size_t bytes = all->elements * sizeof *best;

    memcpy(best, all->page, bytes);
    for (uint64_t done = 0; done < work && idle < MOST_IDLE; done += STEP_WORK) {
        struct move move;

        idle++;
        if (!nw_search_propose(all, &move)) {
            continue;
        }
        uint64_t threshold = first * (work - done) / work;
        int64_t more = added_by(all, graph, &move);

        idle = 0;
        done += edges_of(graph, move.element) + edges_of(graph, move.other);
        if (more > (int64_t)nw_search_below(all, (uint32_t)threshold + 1U)) {
            continue;
        }
        nw_search_apply(all, &move, 0);
        cut += more;
        if (cut < least) {
            least = cut;
            memcpy(best, all->page, bytes);
        }
    }
    memcpy(all->page, best, bytes);
    nw_search_count_room(all);
}

int nw_search_cut(struct searching *all, uint64_t work)
{
    uint32_t *best = malloc(((size_t)all->elements + 1U) * sizeof *best);
    struct graph graph;
    int result = graph_open(&graph, all);

    if (result == NW_OK && best == NULL) {
        result = NW_ERR_RAM;
    }
    if (result == NW_OK) {
        walk(all, &graph, work, best);
    }
    free(graph.first);
    free(graph.edge);
    free(best);
    return result;
}

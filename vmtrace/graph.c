/* SPDX-License-Identifier: Apache-2.0 */
/* The access graph of Lachenmann et al. 2007, section 4.2: nodes count accesses, edges how often
 * two elements were accessed with less than a page of others between. */
#include "nandwich-vmtrace/layout.h"

#include "nandwich/error.h"

#include <stdlib.h>
#include <string.h>

/* The sample for the search: pieces of this many accesses, so many in all. */
#define PIECE 4096U
#define MOST_SAMPLED (64U * PIECE)

int nw_graph_open(struct nw_graph *graph, const uint32_t *bytes, uint32_t count,
                  uint32_t list_bytes)
{
    memset(graph, 0, sizeof *graph);
    if (count == 0 || count > NW_LAYOUT_ELEMENTS_MAX) {
        return NW_ERR_CONFIG;
    }
    graph->count = count;
    graph->bytes = bytes;
    graph->list_bytes = list_bytes;
    graph->stride = 1;
    graph->accesses = calloc(count, sizeof *graph->accesses);
    graph->writes = calloc(count, sizeof *graph->writes);
    graph->near = calloc((size_t)count * count, sizeof *graph->near);
    graph->list = malloc(count * sizeof *graph->list);
    graph->listed_at = malloc(count * sizeof *graph->listed_at);
    graph->newer = malloc((count + 1U) * sizeof *graph->newer);
    graph->older = malloc((count + 1U) * sizeof *graph->older);
    graph->sample = malloc(MOST_SAMPLED * sizeof *graph->sample);
    if (graph->accesses == NULL || graph->writes == NULL || graph->near == NULL ||
        graph->list == NULL || graph->listed_at == NULL || graph->newer == NULL ||
        graph->older == NULL || graph->sample == NULL) {
        nw_graph_close(graph);
        return NW_ERR_RAM;
    }
    nw_graph_begin(graph);
    return NW_OK;
}

void nw_graph_close(struct nw_graph *graph)
{
    free(graph->accesses);
    free(graph->writes);
    free(graph->near);
    free(graph->list);
    free(graph->listed_at);
    free(graph->newer);
    free(graph->older);
    free(graph->sample);
    memset(graph, 0, sizeof *graph);
}

void nw_graph_begin(struct nw_graph *graph)
{
    graph->listed = 0;
    graph->listed_bytes = 0;
    graph->newer[graph->count] = graph->count;
    graph->older[graph->count] = graph->count;
    memset(graph->listed_at, 0xFF, graph->count * sizeof *graph->listed_at);
}

static void link_first(struct nw_graph *graph, uint32_t element)
{
    uint32_t end = graph->count, first = graph->older[end];

    graph->newer[element] = end;
    graph->older[element] = first;
    graph->newer[first] = element;
    graph->older[end] = element;
}

static void take_out(struct nw_graph *graph, uint32_t element)
{
    graph->newer[graph->older[element]] = graph->newer[element];
    graph->older[graph->newer[element]] = graph->older[element];
}

/* The last one listed takes its place. */
static void forget(struct nw_graph *graph, uint32_t element)
{
    uint32_t last = graph->list[--graph->listed], at = graph->listed_at[element];

    take_out(graph, element);
    graph->list[at] = last;
    graph->listed_at[last] = at;
    graph->listed_at[element] = NW_NO_ELEMENT;
    graph->listed_bytes -= graph->bytes[element];
}

/* To the front of the list; the oldest go while it is too large. */
static void list_first(struct nw_graph *graph, uint32_t element)
{
    if (graph->older[graph->count] == element) {
        return;
    }
    if (graph->listed_at[element] != NW_NO_ELEMENT) {
        take_out(graph, element);
    } else {
        graph->listed_at[element] = graph->listed;
        graph->list[graph->listed++] = element;
        graph->listed_bytes += graph->bytes[element];
    }
    link_first(graph, element);
    while (graph->listed_bytes > graph->list_bytes && graph->listed > 1) {
        forget(graph, graph->newer[graph->count]);
    }
}

/* Every second piece goes, and from now on twice as many are passed over. */
static void thin_out(struct nw_graph *graph)
{
    for (uint32_t piece = 1; piece < MOST_SAMPLED / PIECE / 2U; piece++) {
        memcpy(graph->sample + piece * PIECE, graph->sample + 2U * piece * PIECE,
               PIECE * sizeof *graph->sample);
    }
    graph->sampled = MOST_SAMPLED / 2U;
    graph->stride *= 2U;
}

static void take_sample(struct nw_graph *graph, uint32_t access)
{
    if (graph->seen++ / PIECE % graph->stride != 0) {
        return;
    }
    if (graph->sampled == MOST_SAMPLED) {
        thin_out(graph);
        if ((graph->seen - 1U) / PIECE % graph->stride != 0) {
            return;
        }
    }
    graph->sample[graph->sampled++] = access;
}

void nw_graph_refer(struct nw_graph *graph, uint32_t element, int write, uint32_t weight)
{
    uint32_t *near = graph->near + (size_t)element * graph->count;

    list_first(graph, element);
    graph->accesses[element] += weight;
    graph->writes[element] += write != 0 ? weight : 0;
    for (uint32_t at = 0; at < graph->listed; at++) {
        near[graph->list[at]] += weight;
    }
    near[element] -= weight;
}

void nw_graph_access(struct nw_graph *graph, uint32_t element, int write)
{
    nw_graph_refer(graph, element, write, 1);
    take_sample(graph, element << 1 | (write != 0));
}

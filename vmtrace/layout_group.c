/* SPDX-License-Identifier: Apache-2.0 */
/* Grouping, section 4.2: the two nodes of the highest normalised proximity g / (f1 + f2) become
 * one, whose f is the mean of its elements' and whose edges to another are the larger of two. */
#include "nandwich-vmtrace/layout.h"

#include "nandwich/error.h"

#include <stdlib.h>

#define NONE UINT32_MAX

/* A group carries the number of its lowest element. */
struct node {
    uint64_t accesses; /* of all its elements */
    uint32_t elements, bytes;
    uint32_t best;     /* the neighbour of the highest proximity, or NONE */
    double proximity;
};

struct grouping {
    const struct nw_layout_config *config;
    struct node *node;
    uint32_t *alive; /* nodes, in order */
    uint32_t count;
    uint32_t *near;  /* symmetric; rows of `elements` */
    uint32_t elements;
};

static double frequency(const struct node *node)
{
    return (double)node->accesses / node->elements;
}

static int may_join(const struct grouping *all, const struct node *a, const struct node *b)
{
    uint32_t most = all->config->group_bytes;

    /* A group never grows beyond a page: its elements share one. */
    if (a->bytes + b->bytes > all->config->page_bytes) {
        return 0;
    }
    return all->config->freeze ? a->bytes <= most && b->bytes <= most
                               : a->bytes + b->bytes <= most;
}

static double proximity(const struct grouping *all, uint32_t a, uint32_t b)
{
    uint32_t near = all->near[(size_t)a * all->elements + b];
    const struct node *x = &all->node[a], *y = &all->node[b];

    return near == 0 || !may_join(all, x, y) ? 0.0 : near / (frequency(x) + frequency(y));
}

/* Of equal ones the lowest number stays: look at neighbours in order. */
static void consider(struct grouping *all, uint32_t at, uint32_t neighbour)
{
    struct node *node = &all->node[at];
    double found = proximity(all, at, neighbour);

    if (found > node->proximity ||
        (found > 0 && found == node->proximity && neighbour < node->best)) {
        node->proximity = found;
        node->best = neighbour;
    }
}

static void look_anew(struct grouping *all, uint32_t at)
{
    all->node[at].best = NONE;
    all->node[at].proximity = 0.0;
    for (uint32_t i = 0; i < all->count; i++) {
        if (all->alive[i] != at) {
            consider(all, at, all->alive[i]);
        }
    }
}

static void join(struct grouping *all, uint32_t into, uint32_t from)
{
    struct node *node = &all->node[into], *gone = &all->node[from];
    uint32_t kept = 0;

    node->accesses += gone->accesses;
    node->elements += gone->elements;
    node->bytes += gone->bytes;
    for (uint32_t i = 0; i < all->count; i++) {
        uint32_t other = all->alive[i];
        uint32_t *mine = &all->near[(size_t)into * all->elements + other];
        uint32_t theirs = all->near[(size_t)from * all->elements + other];

        if (theirs > *mine) {
            *mine = theirs;
            all->near[(size_t)other * all->elements + into] = theirs;
        }
        if (other != from) {
            all->alive[kept++] = other;
        }
    }
    all->count = kept;
    look_anew(all, into);
    for (uint32_t i = 0; i < all->count; i++) {
        uint32_t other = all->alive[i];
        uint32_t best = all->node[other].best;

        if (best == into || best == from) {
            look_anew(all, other);
        } else if (other != into) {
            consider(all, other, into);
        }
    }
}

static int grouping_open(struct grouping *all, const struct nw_graph *graph)
{
    uint32_t n = graph->count;

    all->elements = n;
    all->count = 0;
    all->node = calloc(n, sizeof *all->node);
    all->alive = malloc(n * sizeof *all->alive);
    all->near = malloc((size_t)n * n * sizeof *all->near);
    if (all->node == NULL || all->alive == NULL || all->near == NULL) {
        return NW_ERR_RAM;
    }
    for (uint32_t a = 0; a < n; a++) {
        all->node[a] = (struct node){graph->accesses[a], 1, graph->bytes[a], NONE, 0.0};
        if (graph->accesses[a] > 0) {
            all->alive[all->count++] = a;
        }
        for (uint32_t b = 0; b < n; b++) {
            all->near[(size_t)a * n + b] =
                a == b ? 0 : graph->near[(size_t)a * n + b] + graph->near[(size_t)b * n + a];
        }
    }
    return NW_OK;
}

static void grouping_close(struct grouping *all)
{
    free(all->node);
    free(all->alive);
    free(all->near);
}

/* The pair of the highest proximity, its lower node; NONE when nothing can join. */
static uint32_t closest(const struct grouping *all)
{
    uint32_t found = NONE;

    for (uint32_t i = 0; i < all->count; i++) {
        uint32_t at = all->alive[i];

        if (all->node[at].best != NONE &&
            (found == NONE || all->node[at].proximity > all->node[found].proximity)) {
            found = at;
        }
    }
    return found;
}

int nw_layout_group(const struct nw_graph *graph, const struct nw_layout_config *config,
                    uint32_t *group)
{
    struct grouping all = {.config = config};
    int error = grouping_open(&all, graph);
    uint64_t accessed = all.count, grouped = 0;

    for (uint32_t element = 0; element < graph->count; element++) {
        group[element] = element;
    }
    for (uint32_t i = 0; error == NW_OK && i < all.count; i++) {
        look_anew(&all, all.alive[i]);
    }
    while (error == NW_OK && grouped * 1000U < accessed * config->share_permille) {
        uint32_t a = closest(&all);

        if (a == NONE) {
            break;
        }
        uint32_t b = all.node[a].best;
        uint32_t into = a < b ? a : b, from = a < b ? b : a;
        grouped += all.node[a].elements == 1 ? 1U : 0U;
        grouped += all.node[b].elements == 1 ? 1U : 0U;
        join(&all, into, from);
        for (uint32_t element = 0; element < graph->count; element++) {
            group[element] = group[element] == from ? into : group[element];
        }
    }
    grouping_close(&all);
    return error;
}

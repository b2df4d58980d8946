/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ours: a search on the faults and writes that the node itself would have. What makes them more is
 * taken too, up to a random threshold that falls to nothing (Dueck and Scheuer 1990). It uses
 * integers, so that a layout is the same on every machine. It begins with a layout that the graph
 * of near accesses gives (layout_cut.c), if that is the better one: a long trace leaves time for
 * few plays.
 */
#include "nandwich-vmtrace/layout.h"

#include "node.h"
#include "search.h"

#include "nandwich/error.h"

#include <stdlib.h>
#include <string.h>

#define PIECE 1024U      /* accesses between two looks at the limit */
#define FAULT_WORK 4U    /* a fault takes as long as so many accesses */
#define LEAST_COUNT 13U  /* accesses from which on there is something to learn */
#define JUDGED 32U       /* moves that tell how much worse one usually is */
#define COOL 16U         /* the first threshold, in parts of such a move */
#define MOST_IDLE 100000U

struct playing {
    struct searching all;
    struct node node;
    uint64_t left; /* work that may still be done */
};

static uint64_t cost_now(const struct playing *play)
{
    return play->node.result.faults * play->all.search->fault_cost +
           play->node.result.flash_writes * play->all.search->write_cost;
}

/* What the layout costs; beyond the limit it is not told to the end. */
static uint64_t cost_of(struct playing *play, uint64_t limit)
{
    const struct searching *all = &play->all;
    uint64_t played = 0;

    nw_node_start(&play->node);
    for (uint32_t turn = 0; turn < all->search->repeat; turn++) {
        for (uint64_t at = 0; at < all->count && cost_now(play) <= limit; at += PIECE) {
            uint64_t now = all->count - at < PIECE ? all->count - at : PIECE;

            nw_node_play(&play->node, all->accesses + at, now, all->page);
            played += now;
        }
    }
    played += FAULT_WORK * play->node.result.faults;
    play->left -= played < play->left ? played : play->left;
    return cost_now(play);
}

/* How much worse a move is in the mean, of those that are worse. */
static uint64_t usual_loss(struct playing *play, uint64_t cost)
{
    uint64_t sum = 0, worse = 0;

    for (uint32_t i = 0; i < JUDGED; i++) {
        struct move move;

        if (nw_search_propose(&play->all, &move)) {
            nw_search_apply(&play->all, &move, 0);
            uint64_t now = cost_of(play, UINT64_MAX);
            nw_search_apply(&play->all, &move, 1);
            sum += now > cost ? now - cost : 0;
            worse += now > cost;
        }
    }
    return worse > 0 ? sum / worse : 0;
}

static void improve(struct playing *play, uint64_t cost, uint32_t *best)
{
    struct searching *all = &play->all;
    uint64_t least = cost, first = usual_loss(play, cost) / COOL, begun = play->left;
    size_t bytes = all->elements * sizeof *best;
    uint32_t idle = 0;

    memcpy(best, all->page, bytes);
    while (play->left > 0 && idle < MOST_IDLE) {
        uint64_t threshold = first * play->left / begun;
        struct move move;

        idle++;
        if (!nw_search_propose(all, &move)) {
            continue;
        }
        idle = 0;
        nw_search_apply(all, &move, 0);
        uint64_t limit = cost + nw_search_below(all, (uint32_t)threshold + 1U);
        uint64_t now = cost_of(play, limit);
        if (now > limit) {
            nw_search_apply(all, &move, 1);
            continue;
        }
        cost = now;
        if (cost < least) {
            least = cost;
            memcpy(best, all->page, bytes);
        }
    }
    memcpy(all->page, best, bytes);
}

static int run(struct playing *play, uint32_t *best)
{
    struct searching *all = &play->all;
    size_t bytes = all->elements * sizeof *best;
    uint64_t begun = cost_of(play, UINT64_MAX);

    memcpy(best, all->page, bytes);
    nw_search_count_room(all);
    int error = nw_search_cut(all, all->search->work / 2U);
    uint64_t cut = error == NW_OK ? cost_of(play, UINT64_MAX) : UINT64_MAX;
    if (cut >= begun) {
        memcpy(all->page, best, bytes);
        nw_search_count_room(all);
    }
    play->left = all->search->work / 2U;
    if (error == NW_OK) {
        improve(play, cut < begun ? cut : begun, best);
    }
    return error;
}

/* Accesses in a row to one element as one: the node cannot tell them apart. */
static uint64_t tighten(uint32_t *to, const uint32_t *from, uint64_t count)
{
    uint64_t kept = 0;

    for (uint64_t i = 0; i < count; i++) {
        if (kept > 0 && to[kept - 1U] >> 1 == from[i] >> 1) {
            to[kept - 1U] |= from[i] & 1U;
        } else {
            to[kept++] = from[i];
        }
    }
    return kept;
}

int nw_layout_search(const struct nw_search *search, const uint32_t *accesses, uint64_t count,
                     const uint32_t *bytes, uint32_t elements, uint32_t *page, uint32_t pages)
{
    struct playing play = {.all = {.search = search, .bytes = bytes, .elements = elements,
                                   .pages = pages, .page = page}};
    uint32_t *best = malloc(((size_t)elements + 1U) * sizeof *best);
    uint32_t *tight = malloc(((size_t)count + 1U) * sizeof *tight);
    int error = nw_node_open(&play.node, pages, search->frames);

    play.all.room = malloc(((size_t)pages + 1U) * sizeof *play.all.room);
    if (error == NW_OK && (best == NULL || tight == NULL || play.all.room == NULL)) {
        error = NW_ERR_RAM;
    }
    if (error == NW_OK && count <= UINT32_MAX && pages > 1) {
        play.all.accesses = tight;
        play.all.count = tighten(tight, accesses, count);
        nw_random_seed(&play.all.random, search->seed);
        if (play.all.count >= LEAST_COUNT) {
            error = run(&play, best);
        }
    }
    nw_node_close(&play.node);
    free(play.all.room);
    free(tight);
    free(best);
    return error;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ours: a search on the faults and writes that the node itself would have. What makes them more is
 * taken too, up to a random threshold that falls to nothing (Dueck and Scheuer 1990). It uses
 * integers, so that a layout is the same on every machine. What is proposed follows the accesses:
 * of two elements accessed shortly after one another, one goes to the page of the other, and
 * another of that page takes its place.
 */
#include "nandwich-vmtrace/layout.h"

#include "node.h"

#include "nandwich/error.h"
#include "nandwich/random.h"

#include <stdlib.h>
#include <string.h>

#define NEAR 12U  /* how far apart two accesses are that suggest a move */

struct searching {
    const struct nw_search *search;
    const uint32_t *accesses;
    uint64_t count;
    const uint32_t *bytes;
    uint32_t elements, pages;
    uint32_t *page;  /* of an element */
    uint32_t *room;  /* of a page */
    struct nw_random random;
    struct node node;
};

struct move {
    uint32_t element, from, to;
    uint32_t other; /* changes places with it, or NO_PAGE */
};

static uint64_t cost_of(struct searching *all)
{
    struct node *node = &all->node;

    nw_node_start(node);
    for (uint32_t turn = 0; turn < all->search->repeat; turn++) {
        nw_node_play(node, all->accesses, all->count, all->page);
    }
    return node->result.faults * all->search->fault_cost +
           node->result.flash_writes * all->search->write_cost;
}

static uint32_t below(struct searching *all, uint32_t limit)
{
    return (uint32_t)((uint64_t)nw_random_next(&all->random) * limit >> 32);
}

/* An element of that page and size, the first from a random one on; NO_PAGE. */
static uint32_t partner(struct searching *all, uint32_t page, uint32_t bytes, uint32_t not_this)
{
    uint32_t at = below(all, all->elements);

    for (uint32_t i = 0; i < all->elements; i++) {
        if (all->page[at] == page && at != not_this && all->bytes[at] == bytes) {
            return at;
        }
        at = at + 1U < all->elements ? at + 1U : 0;
    }
    return NO_PAGE;
}

/* 0: nothing to try here. */
static int propose(struct searching *all, struct move *move)
{
    uint32_t at = below(all, (uint32_t)all->count);
    uint32_t behind = at + 1U + below(all, NEAR);
    uint32_t target = all->accesses[behind < all->count ? behind : behind - all->count] >> 1;

    move->element = all->accesses[at] >> 1;
    if (below(all, 2) != 0) { /* either may follow the other */
        uint32_t swap = target;

        target = move->element;
        move->element = swap;
    }
    move->from = all->page[move->element];
    move->to = all->page[target];
    if (move->from == move->to) {
        return 0;
    }
    move->other = NO_PAGE;
    uint32_t bytes = all->bytes[move->element];
    if (all->room[move->to] < bytes || below(all, 4) != 0) {
        move->other = partner(all, move->to, bytes, target);
    }
    return move->other != NO_PAGE || all->room[move->to] >= bytes;
}

static void apply(struct searching *all, const struct move *move, int back)
{
    uint32_t from = back ? move->to : move->from, to = back ? move->from : move->to;

    all->page[move->element] = to;
    if (move->other != NO_PAGE) {
        all->page[move->other] = from;
    } else {
        all->room[from] += all->bytes[move->element];
        all->room[to] -= all->bytes[move->element];
    }
}

static void improve(struct searching *all, uint32_t *best)
{
    uint64_t cost = cost_of(all), least = cost;
    uint64_t first = cost / 256U + all->search->fault_cost;
    size_t bytes = all->elements * sizeof *best;

    memcpy(best, all->page, bytes);
    for (uint32_t step = 0; step < all->search->steps; step++) {
        uint64_t left = all->search->steps - step;
        uint64_t threshold = first * left / all->search->steps;
        struct move move;

        if (!propose(all, &move)) {
            continue;
        }
        apply(all, &move, 0);
        uint64_t now = cost_of(all);
        if (now > cost + below(all, (uint32_t)threshold + 1U)) {
            apply(all, &move, 1);
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

static void prepare(struct searching *all)
{
    for (uint32_t page = 0; page < all->pages; page++) {
        all->room[page] = all->search->page_bytes;
    }
    for (uint32_t element = 0; element < all->elements; element++) {
        all->room[all->page[element]] -= all->bytes[element];
    }
    nw_random_seed(&all->random, all->search->seed);
}

int nw_layout_search(const struct nw_search *search, const uint32_t *accesses, uint64_t count,
                     const uint32_t *bytes, uint32_t elements, uint32_t *page, uint32_t pages)
{
    struct searching all = {.search = search, .accesses = accesses, .count = count,
                            .bytes = bytes, .elements = elements, .pages = pages, .page = page};
    uint32_t *best = malloc(((size_t)elements + 1U) * sizeof *best);
    int error = nw_node_open(&all.node, pages, search->frames);

    all.room = malloc(((size_t)pages + 1U) * sizeof *all.room);
    if (error == NW_OK && (best == NULL || all.room == NULL)) {
        error = NW_ERR_RAM;
    }
    if (error == NW_OK && count > NEAR && count <= UINT32_MAX && pages > 1) {
        prepare(&all);
        improve(&all, best);
    }
    nw_node_close(&all.node);
    free(all.room);
    free(best);
    return error;
}

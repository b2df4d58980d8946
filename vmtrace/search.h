/* SPDX-License-Identifier: Apache-2.0 */
/* search.h - a layout that is being changed, move by move: what both searches share. */
#ifndef NW_VMTRACE_SEARCH_H
#define NW_VMTRACE_SEARCH_H

#include <stdint.h>

#include "nandwich-vmtrace/layout.h"
#include "nandwich/random.h"

#define NO_ELEMENT UINT32_MAX

struct searching {
    const struct nw_search *search;
    const uint32_t *accesses; /* no two in a row to one element */
    uint64_t count;
    const uint32_t *bytes;
    uint32_t elements, pages;
    uint32_t *page;  /* of an element */
    uint32_t *room;  /* of a page */
    struct nw_random random;
};

struct move {
    uint32_t element, from, to;
    uint32_t other; /* changes places with it, or NO_ELEMENT */
};

/* Room as page[] leaves it. */
void nw_search_count_room(struct searching *all);

/* limit >= 1: 0 .. limit - 1. */
uint32_t nw_search_below(struct searching *all, uint32_t limit);

/* Of two elements accessed shortly after one another, one goes to the page of the other, and
 * another of that page takes its place. 0: nothing to try here. */
int nw_search_propose(struct searching *all, struct move *move);
void nw_search_apply(struct searching *all, const struct move *move, int back);

/* Keeps together what is accessed together, and what is written together, without playing anything:
 * page[] becomes the best found. NW_OK, NW_ERR_RAM. Cost: some `work` steps. */
int nw_search_cut(struct searching *all, uint64_t work);

#endif

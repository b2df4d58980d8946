/* SPDX-License-Identifier: Apache-2.0 */
/* Moves of elements between pages. What is proposed follows the accesses. */
#include "search.h"

#define NEAR 12U  /* how far apart two accesses are that suggest a move */

void nw_search_count_room(struct searching *all)
{
    for (uint32_t page = 0; page < all->pages; page++) {
        all->room[page] = all->search->page_bytes;
    }
    for (uint32_t element = 0; element < all->elements; element++) {
        all->room[all->page[element]] -= all->bytes[element];
    }
}

uint32_t nw_search_below(struct searching *all, uint32_t limit)
{
    return (uint32_t)((uint64_t)nw_random_next(&all->random) * limit >> 32);
}

/* An element of that page and size, the first from a random one on; NO_ELEMENT. */
static uint32_t partner(struct searching *all, uint32_t page, uint32_t bytes, uint32_t not_this)
{
    uint32_t at = nw_search_below(all, all->elements);

    for (uint32_t i = 0; i < all->elements; i++) {
        if (all->page[at] == page && at != not_this && all->bytes[at] == bytes) {
            return at;
        }
        at = at + 1U < all->elements ? at + 1U : 0;
    }
    return NO_ELEMENT;
}

int nw_search_propose(struct searching *all, struct move *move)
{
    uint32_t at = nw_search_below(all, (uint32_t)all->count);
    uint64_t behind = (uint64_t)at + 1U + nw_search_below(all, NEAR);
    uint32_t target = all->accesses[behind < all->count ? behind : behind - all->count] >> 1;

    move->element = all->accesses[at] >> 1;
    if (nw_search_below(all, 2) != 0) { /* either may follow the other */
        uint32_t swap = target;

        target = move->element;
        move->element = swap;
    }
    move->from = all->page[move->element];
    move->to = all->page[target];
    if (move->from == move->to) {
        return 0;
    }
    move->other = NO_ELEMENT;
    uint32_t bytes = all->bytes[move->element];
    if (all->room[move->to] < bytes || nw_search_below(all, 4) != 0) {
        move->other = partner(all, move->to, bytes, target);
    }
    return move->other != NO_ELEMENT || all->room[move->to] >= bytes;
}

void nw_search_apply(struct searching *all, const struct move *move, int back)
{
    uint32_t from = back ? move->to : move->from, to = back ? move->from : move->to;

    all->page[move->element] = to;
    if (move->other != NO_ELEMENT) {
        all->page[move->other] = from;
    } else {
        all->room[from] += all->bytes[move->element];
        all->room[to] -= all->bytes[move->element];
    }
}

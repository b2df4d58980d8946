/* SPDX-License-Identifier: Apache-2.0 */
/* ARC (Megiddo and Modha, FAST 2003, figure 4) and CAR (Bansal and Modha, FAST 2004, figure 2). T1
 * and T2 hold pages seen once and more often, B1 and B2 the names of those that left them. The
 * target for T1 is an integer here, and what it moves by rounded down. */
#include "paging.h"

enum { T1 = 0, T2 = 1, B1 = 2, B2 = 3 };

static void demote(struct lists *lists, uint32_t page, uint32_t ghost)
{
    list_move(lists, ghost, page);
    let_go(lists, page);
}

static void forget_oldest(struct lists *lists, uint32_t list)
{
    list_remove(lists, list_oldest(lists, list));
}

static void arc_replace(struct lists *lists, uint32_t target, int from_b2)
{
    uint32_t once = lists->count[T1];

    if (once >= 1 && ((from_b2 && once == target) || once > target)) {
        demote(lists, list_oldest(lists, T1), B1);
    } else {
        demote(lists, list_oldest(lists, T2), B2);
    }
}

/* Case IV: a page of which nothing is known. */
static void arc_new(struct lists *lists, uint32_t frames, uint32_t target)
{
    const uint32_t *count = lists->count;

    if (count[T1] + count[B1] == frames) {
        if (count[T1] < frames) {
            forget_oldest(lists, B1);
            arc_replace(lists, target, 0);
        } else {
            uint32_t victim = list_oldest(lists, T1);

            list_remove(lists, victim);
            let_go(lists, victim);
        }
    } else if (count[T1] + count[T2] + count[B1] + count[B2] >= frames) {
        if (count[T1] + count[T2] + count[B1] + count[B2] == 2U * frames) {
            forget_oldest(lists, B2);
        }
        arc_replace(lists, target, 0);
    }
}

/* A page that had left comes back: which of T1 and T2 should have been larger. */
static uint32_t adapted(const struct lists *lists, uint8_t in, uint32_t target, uint32_t frames)
{
    uint32_t b1 = lists->count[B1], b2 = lists->count[B2];

    if (in == B1) {
        return least_of(target + most_of(1, b2 / b1), frames);
    }
    uint32_t step = most_of(1, b1 / b2);
    return target > step ? target - step : 0;
}

int nw_policy_arc(const struct nw_refs *refs, uint32_t frames, uint32_t ways,
                  const struct nw_paging_cost *cost, struct nw_paging_result *result)
{
    struct lists lists;
    uint32_t target = 0;
    int error = nw_lists_open(&lists, refs, result);

    (void)ways;
    (void)cost;
    for (uint64_t i = 0; error == NW_OK && i < refs->count; i++) {
        uint32_t page = refs->ref[i] >> 1;
        uint8_t in = lists.in[page];

        if (in == T1 || in == T2) {
            list_move(&lists, T2, page);
        } else {
            if (in == NO_LIST) {
                arc_new(&lists, frames, target);
                list_add(&lists, T1, page);
            } else {
                target = adapted(&lists, in, target, frames);
                arc_replace(&lists, target, in == B2);
                list_move(&lists, T2, page);
            }
            page_in(result, page);
        }
        lists.dirty[page] |= refs->ref[i] & 1U;
    }
    nw_lists_close(&lists);
    return error;
}

/* `mark` is the reference bit. Each turn either ends or takes a mark away. */
static void car_replace(struct lists *lists, uint32_t target)
{
    for (;;) {
        uint32_t clock = lists->count[T1] >= most_of(1, target) ? T1 : T2;
        uint32_t page = list_oldest(lists, clock);

        if (!lists->mark[page]) {
            demote(lists, page, clock == T1 ? B1 : B2);
            return;
        }
        lists->mark[page] = 0;
        list_move(lists, T2, page);
    }
}

static void car_make_room(struct lists *lists, uint32_t frames, uint32_t target, int known)
{
    const uint32_t *count = lists->count;

    if (count[T1] + count[T2] < frames) {
        return;
    }
    car_replace(lists, target);
    if (!known && count[T1] + count[B1] == frames) {
        forget_oldest(lists, B1);
    } else if (!known && count[T1] + count[T2] + count[B1] + count[B2] == 2U * frames) {
        forget_oldest(lists, B2);
    }
}

int nw_policy_car(const struct nw_refs *refs, uint32_t frames, uint32_t ways,
                  const struct nw_paging_cost *cost, struct nw_paging_result *result)
{
    struct lists lists;
    uint32_t target = 0;
    int error = nw_lists_open(&lists, refs, result);

    (void)ways;
    (void)cost;
    for (uint64_t i = 0; error == NW_OK && i < refs->count; i++) {
        uint32_t page = refs->ref[i] >> 1;
        uint8_t in = lists.in[page];

        if (in == T1 || in == T2) {
            lists.mark[page] = 1;
        } else {
            car_make_room(&lists, frames, target, in != NO_LIST);
            page_in(result, page);
            lists.mark[page] = 0;
            if (in == NO_LIST) {
                list_add(&lists, T1, page);
            } else {
                target = adapted(&lists, in, target, frames);
                list_move(&lists, T2, page);
            }
        }
        lists.dirty[page] |= refs->ref[i] & 1U;
    }
    nw_lists_close(&lists);
    return error;
}

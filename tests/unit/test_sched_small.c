/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: for every sequence of up to eight steps (a request of one of three flows, or an operation)
 * and several sets of deadlines, each published policy serves exactly what its definition over the
 * plain list of requests says; and the order of flows is right after every insertion and removal.
 *
 * The definitions here know no heap, no groups kept ready and no rings: they search a list.
 */
#include "nandwich/sched.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define FLOWS 3U
#define LENGTH 8U
#define COST 10U
#define FITS 3U /* requests that fill a sector */

struct request {
    uint32_t deadline;
    uint8_t flow;
    uint8_t number;
};

struct list {
    struct request items[LENGTH];
    size_t count;
    uint8_t numbers[FLOWS];
};

struct choice {
    uint8_t flow;
    uint8_t count;
    uint8_t first; /* number of the first request */
};

enum definition { FIFO, EDF, GEDF, RGEDF, DEFINITIONS };

static const struct nw_sched_policy *const policies[DEFINITIONS] = {
    &nw_sched_fifo, &nw_sched_edf, &nw_sched_gedf, &nw_sched_rgedf};

static void list_remove(struct list *list, size_t place)
{
    list->count--;
    memmove(&list->items[place], &list->items[place + 1U],
            (list->count - place) * sizeof list->items[0]);
}

/* The earliest deadline, ties to the lower flow, among flows in `mask`; -1: none. */
static int earliest(const struct list *list, unsigned mask)
{
    int best = -1;

    for (size_t i = 0; i < list->count; i++) {
        const struct request *item = &list->items[i];

        if ((mask >> item->flow & 1U) != 0 &&
            (best < 0 || item->deadline < list->items[best].deadline ||
             (item->deadline == list->items[best].deadline &&
              item->flow < list->items[best].flow))) {
            best = (int)i;
        }
    }
    return best;
}

static uint8_t group_of(const struct list *list, uint8_t flow)
{
    uint8_t count = 0;

    for (size_t i = 0; i < list->count; i++) {
        count = (uint8_t)(count + (list->items[i].flow == flow));
    }
    return count > FITS ? FITS : count;
}

/* What the definition serves at `now`; flow 0xFF: nothing. Dropped requests leave the list. */
static struct choice define(struct list *list, enum definition policy, uint32_t now, int drops)
{
    struct choice none = {NW_SCHED_NONE, 0, 0};
    struct choice choice = {0, 1, 0};
    int top = policy == FIFO ? (list->count > 0 ? 0 : -1) : earliest(list, 7U);
    uint8_t other;

    while (drops && top >= 0 && list->items[top].deadline < now + COST) {
        list_remove(list, (size_t)top);
        top = policy == FIFO ? (list->count > 0 ? 0 : -1) : earliest(list, 7U);
    }
    if (top < 0) {
        return none;
    }
    choice.flow = list->items[top].flow;
    if (policy == RGEDF && now + COST < list->items[top].deadline) {
        unsigned mask = 0;

        for (other = 0; other < FLOWS; other++) {
            if (group_of(list, other) > group_of(list, choice.flow)) {
                mask |= 1U << other;
            }
        }
        if (earliest(list, mask) >= 0) {
            choice.flow = list->items[earliest(list, mask)].flow;
        }
    }
    choice.count = policy >= GEDF ? group_of(list, choice.flow) : 1U;
    choice.first = list->items[earliest(list, 1U << choice.flow)].number;
    return choice;
}

static void take(struct list *list, const struct choice *choice)
{
    for (uint8_t i = 0; i < choice->count; i++) {
        list_remove(list, (size_t)earliest(list, 1U << choice->flow));
    }
}

struct rig {
    struct nw_sched sched;
    struct nw_sched_flow flows[FLOWS];
    uint64_t ram[NW_SCHED_RAM_BYTES(LENGTH, FLOWS) / 8U + 1U];
};

static void rig_open(struct rig *rig, enum definition policy, const uint32_t *deadlines, int drops)
{
    memset(rig, 0, sizeof *rig);
    rig->sched.policy = policies[policy];
    rig->sched.flows = rig->flows;
    rig->sched.flow_count = FLOWS;
    rig->sched.slot_count = LENGTH;
    rig->sched.flags = drops ? NW_SCHED_DROP_LATE : 0;
    rig->sched.sector_bytes = FITS;
    rig->sched.write_ticks = COST;
    for (size_t i = 0; i < FLOWS; i++) {
        rig->flows[i].deadline = deadlines[i];
    }
    assert_int_equal(nw_sched_open(&rig->sched, (uint8_t *)rig->ram, sizeof rig->ram), NW_OK);
}

/* One sequence: base-4 digits of `code`, 0 to 2 a request of that flow, 3 an operation. */
static void play(enum definition policy, const uint32_t *deadlines, int drops, uint32_t code)
{
    struct rig rig;
    struct list list = {.count = 0};
    uint32_t now = 0;

    rig_open(&rig, policy, deadlines, drops);
    for (uint32_t i = 0; i < LENGTH + 4U; i++, code >>= 2) {
        uint8_t digit = i < LENGTH ? (uint8_t)(code & 3U) : 3U;
        struct choice wanted;

        now += 3;
        if (digit < FLOWS) {
            struct nw_sched_offer offer = {
                .owner = &rig.sched, .now = now, .size = 1, .flow = digit};

            assert_int_equal(nw_sched_submit(&offer), NW_OK);
            list.items[list.count++] =
                (struct request){now + deadlines[digit], digit, ++list.numbers[digit]};
            continue;
        }
        wanted = define(&list, policy, now, drops);
        assert_int_equal(nw_sched_next(&rig.sched, now), wanted.flow != NW_SCHED_NONE);
        if (wanted.flow == NW_SCHED_NONE) {
            continue;
        }
        assert_int_equal(rig.sched.serving, wanted.flow);
        assert_int_equal(nw_sched_members(&rig.sched), wanted.count);
        assert_int_equal(nw_sched_first(&rig.sched)->sequence, wanted.first);
        take(&list, &wanted);
        now += COST;
        assert_int_equal(nw_sched_done(&rig.sched, now, NW_OK), NW_OK);
    }
}

static void policies_do_as_defined(void **state)
{
    static const uint32_t sets[][FLOWS] = {
        {20, 20, 20}, {40, 25, 15}, {12, 30, 30}, {60, 20, 33}, {9, 50, 18}};

    (void)state;
    for (size_t set = 0; set < sizeof sets / sizeof sets[0]; set++) {
        for (enum definition policy = FIFO; policy < DEFINITIONS; policy++) {
            for (uint32_t code = 0; code < 1UL << (2U * LENGTH); code++) {
                play(policy, sets[set], (int)(code / 7U % 2U), code);
            }
        }
    }
}

#define HEAP_FLOWS 6U

static void check_order(const struct nw_sched *sched, unsigned sorted)
{
    for (uint8_t i = 0; i < sched->order_count; i++) {
        uint8_t parent = (uint8_t)(sorted ? i - 1 : (i - 1) / 2);

        assert_int_equal(sched->flows[sched->order[i]].place, i);
        if (i > 0) {
            assert_true(sched->flows[sched->order[parent]].key <=
                        sched->flows[sched->order[i]].key);
        }
    }
}

/* Flows get their first request in one order and lose it in another; all pairs of orders. */
static void order_holds_in_all_permutations(void **state)
{
    static const uint32_t deadlines[HEAP_FLOWS] = {50, 40, 30, 30, 20, 10};

    (void)state;
    for (uint32_t code = 0; code < 720U * 36U; code++) {
        struct nw_sched_flow flows[HEAP_FLOWS] = {{.deadline = 0}};
        uint64_t ram[NW_SCHED_RAM_BYTES(2U * HEAP_FLOWS, HEAP_FLOWS) / 8U + 1U];
        struct nw_sched sched = {.policy = code % 2U ? &nw_sched_slack : &nw_sched_edf,
                                 .flows = flows,
                                 .flow_count = HEAP_FLOWS,
                                 .slot_count = 2U * HEAP_FLOWS,
                                 .sector_bytes = 512};
        uint8_t left[HEAP_FLOWS] = {0, 1, 2, 3, 4, 5};
        uint32_t digits = code / 36U;

        for (size_t i = 0; i < HEAP_FLOWS; i++) {
            flows[i].deadline = deadlines[i];
        }
        assert_int_equal(nw_sched_open(&sched, (uint8_t *)ram, sizeof ram), NW_OK);
        for (uint32_t n = HEAP_FLOWS; n > 0; n--) {
            struct nw_sched_offer offer = {.owner = &sched, .now = code % 36U, .size = 64};

            offer.flow = left[digits % n];
            memmove(&left[digits % n], &left[digits % n + 1U], n - digits % n - 1U);
            digits /= n;
            assert_int_equal(nw_sched_submit(&offer), NW_OK);
            /* Serving at once takes from the front; a second request goes in the middle. */
            assert_int_equal(nw_sched_next(&sched, code % 36U), 1);
            check_order(&sched, code % 2U);
            if ((code % 36U) >> (n - 1U) & 1U) {
                assert_int_equal(nw_sched_done(&sched, code % 36U, NW_OK), NW_OK);
            }
            sched.busy = 0;
            check_order(&sched, code % 2U);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(policies_do_as_defined),
        cmocka_unit_test(order_holds_in_all_permutations),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: nothing the scheduler is given makes it overflow or go on for ever: figures beyond their
 * range are refused, those at its end work on both sides of the wrap-around of the clock, a slow
 * operation is outlived, and one call ends whatever a callback hands in.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "sched_rig.h"

#define LONGEST ((uint32_t)0x3FFFFFFFUL) /* deadline, period and guard */

static const struct nw_sched_policy *const policies[] = {
    &nw_sched_fifo, &nw_sched_edf, &nw_sched_gedf, &nw_sched_rgedf, &nw_sched_slack};

#define POLICIES (sizeof policies / sizeof policies[0])

static int opened(struct sched_rig *rig)
{
    return nw_sched_open(&rig->sched, (uint8_t *)rig->ram, sizeof rig->ram);
}

/* A guard of 0x80000001, a period of 2^31 or operations that add up to more than 2^30 were taken,
 * and decided as if they were negative. */
static void figures_beyond_their_range_are_refused(void **state)
{
    struct sched_rig rig;

    (void)state;
    for (size_t i = 0; i < 5; i++) {
        uint32_t most = i == 4 ? LONGEST : NW_SCHED_TICKS_MAX;

        for (uint32_t beyond = 0; beyond < 3; beyond++) {
            uint32_t value = beyond == 0 ? most : beyond == 1 ? most + 1U : 0x80000001UL;
            uint32_t *fields[5];

            sched_rig_set(&rig, &nw_sched_slack, 0);
            fields[0] = &rig.sched.write_ticks;
            fields[1] = &rig.sched.open_ticks;
            fields[2] = &rig.sched.read_ticks;
            fields[3] = &rig.sched.turn_ticks;
            fields[4] = &rig.sched.guard_ticks;
            *fields[i] = value;
            assert_int_equal(opened(&rig), beyond == 0 ? NW_OK : NW_ERR_CONFIG);
        }
    }
    for (uint32_t period = LONGEST; period < LONGEST + 3U; period += 2U) {
        sched_rig_set(&rig, &nw_sched_slack, 0);
        rig.flows[1].period = period;
        assert_int_equal(opened(&rig), period == LONGEST ? NW_OK : NW_ERR_CONFIG);
    }
}

/* The longest operations, deadlines and guard there may be, begun on both sides of the wrap. */
static void the_longest_times_work_at_the_wrap(void **state)
{
    (void)state;
    for (size_t p = 0; p < POLICIES; p++) {
        char expected[512] = "";

        for (uint32_t begin = 0; begin < 200; begin++) {
            struct sched_rig rig;

            sched_rig_set(&rig, policies[p],
                          begin % 2U ? NW_SCHED_DROP_LATE : NW_SCHED_DROP_LATE | NW_SCHED_LEARN);
            rig.now = begin * 0x02000000UL;
            rig.sched.write_ticks = NW_SCHED_TICKS_MAX;
            rig.sched.open_ticks = NW_SCHED_TICKS_MAX;
            rig.sched.read_ticks = NW_SCHED_TICKS_MAX;
            rig.sched.turn_ticks = NW_SCHED_TICKS_MAX;
            rig.sched.guard_ticks = LONGEST;
            rig.sched.unit = 2;
            for (size_t i = 0; i < SCHED_RIG_FLOWS; i++) {
                rig.flows[i].deadline = i == 3 ? 2U * NW_SCHED_TICKS_MAX : LONGEST;
                rig.flows[i].period = LONGEST;
            }
            sched_rig_open(&rig);
            sched_rig_offer_all(&rig, "ABDDC");
            rig.now += NW_SCHED_TICKS_MAX;
            while (sched_rig_step(&rig, NW_SCHED_TICKS_MAX) > 0) {
            }
            assert_int_equal(rig.counts[0].of[NW_SCHED_MET], 1);
            if (begin == 0) {
                strcpy(expected, rig.story);
            }
            assert_string_equal(rig.story, expected);
        }
    }
}

/* An operation longer than the longest, or a clock that went back, is learned as the longest. */
static void what_is_learned_stays_in_its_range(void **state)
{
    struct sched_rig rig;

    (void)state;
    sched_rig_set(&rig, &nw_sched_gedf, NW_SCHED_LEARN);
    sched_rig_open(&rig);
    sched_rig_offer_all(&rig, "AB");
    (void)sched_rig_step(&rig, 0x20000000UL);
    assert_int_equal(rig.sched.write_ticks, NW_SCHED_TICKS_MAX);
    rig.now += 0x20000000UL;
    (void)sched_rig_step(&rig, 13);
    assert_int_equal(rig.sched.turn_ticks, NW_SCHED_TICKS_MAX);
}

/* One slow operation, and every later request with less than half of its time left was dropped:
 * nothing ran any more from which the right time could be learned. */
static void one_slow_operation_is_outlived_by_late_comers(void **state)
{
    (void)state;
    for (uint8_t direction = 0; direction < 2; direction++) {
        struct sched_rig rig;
        uint32_t dropped = 0;

        sched_rig_set(&rig, &nw_sched_gedf, NW_SCHED_DROP_LATE | NW_SCHED_LEARN);
        rig.flows[3].direction = direction;
        sched_rig_open(&rig);
        assert_int_equal(sched_rig_offer(&rig, 'D', 64, rig.now), NW_OK);
        (void)sched_rig_step(&rig, 4000);
        for (; rig.counts[3].of[NW_SCHED_MET] == 0; dropped++) {
            assert_true(dropped < 200);
            /* Writes of another flow, where reads starve, teach nothing about reads. */
            if (direction == NW_SCHED_READ) {
                sched_rig_offer_all(&rig, "A");
                (void)sched_rig_step(&rig, 13);
            }
            rig.story[0] = 0;
            assert_int_equal(sched_rig_offer(&rig, 'D', 64, rig.now - 21U), NW_OK);
            (void)sched_rig_step(&rig, 13);
        }
        /* 24 slots, and then a sixteenth less each time: from 4,000 to 19. */
        assert_true(dropped >= SCHED_RIG_SLOTS && dropped < SCHED_RIG_SLOTS + 90U);
    }
}

static uint32_t told;
static uint8_t group; /* of flow 0 while its requests are dropped */

static void hand_in_again(struct nw_sched_event *event)
{
    struct nw_sched_offer offer = {.owner = event->owner, .now = event->owner->now - 1000U,
                                   .size = 64, .flow = event->flow};

    if (++told < 1000U) {
        (void)nw_sched_submit(&offer);
    }
}

/* Under FIFO what a callback handed in again was looked at by the same call: it never ended. */
static void a_callback_that_submits_ends_the_call(void **state)
{
    (void)state;
    for (size_t p = 0; p < POLICIES; p++) {
        struct sched_rig rig;

        sched_rig_set(&rig, policies[p], NW_SCHED_DROP_LATE);
        rig.sched.event = hand_in_again;
        rig.now = 5000;
        told = 0;
        sched_rig_open(&rig);
        for (int i = 0; i < 5; i++) {
            assert_int_equal(sched_rig_offer(&rig, 'A', 64, 0), NW_OK);
        }
        assert_int_equal(nw_sched_next(&rig.sched, rig.now), 0);
        assert_int_equal(told, 5);
    }
}

static void watch_the_group(struct nw_sched_event *event)
{
    uint8_t now = event->owner->flows[0].group;

    told += now != group;
    group = now;
}

/* Each dropped request had its flow's group put together anew: 120 of them took 7,000 steps. */
static void dropping_puts_a_flow_right_once(void **state)
{
    struct sched_rig rig;

    (void)state;
    sched_rig_set(&rig, &nw_sched_gedf, NW_SCHED_DROP_LATE);
    rig.sched.slot_count = NW_SCHED_SLOTS_MAX;
    rig.sched.event = watch_the_group;
    sched_rig_open(&rig);
    for (uint32_t i = 0; i < NW_SCHED_SLOTS_MAX; i++) {
        assert_int_equal(sched_rig_offer(&rig, 'A', 1, 0), NW_OK);
    }
    told = 0;
    group = NW_SCHED_SLOTS_MAX;
    assert_int_equal(nw_sched_next(&rig.sched, 500), 0);
    assert_int_equal(rig.counts[0].of[NW_SCHED_DROPPED], NW_SCHED_SLOTS_MAX);
    assert_int_equal(told, 0);
}

/* It was told that the queue was full, for ever. */
static void larger_than_the_limit_is_refused(void **state)
{
    struct sched_rig rig;

    (void)state;
    sched_rig_set(&rig, &nw_sched_gedf, NW_SCHED_SPLIT);
    rig.flows[0].limit = 2;
    rig.flows[1].limit = 255;
    sched_rig_open(&rig);
    assert_int_equal(sched_rig_offer(&rig, 'A', 1025, 0), NW_ERR_RANGE);
    assert_int_equal(rig.counts[0].of[NW_SCHED_REFUSED], 1);
    assert_int_equal(sched_rig_offer(&rig, 'A', 1024, 0), NW_OK);
    assert_int_equal(sched_rig_offer(&rig, 'A', 1024, 0), NW_ERR_FULL);
    assert_int_equal(rig.flows[1].limit, SCHED_RIG_SLOTS);
}

/* It wrote a sector of the last group's data once more. */
static void nothing_is_transferred_that_was_not_chosen(void **state)
{
    struct sched_rig rig;

    (void)state;
    sched_rig_set(&rig, &nw_sched_gedf, 0);
    sched_rig_open(&rig);
    assert_int_equal(nw_sched_transfer(&rig.sched), NW_ERR_CONFIG);
    sched_rig_offer_all(&rig, "A");
    sched_rig_run(&rig);
    assert_int_equal(nw_sched_transfer(&rig.sched), NW_ERR_CONFIG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_beyond_their_range_are_refused),
        cmocka_unit_test(the_longest_times_work_at_the_wrap),
        cmocka_unit_test(what_is_learned_stays_in_its_range),
        cmocka_unit_test(one_slow_operation_is_outlived_by_late_comers),
        cmocka_unit_test(a_callback_that_submits_ends_the_call),
        cmocka_unit_test(dropping_puts_a_flow_right_once),
        cmocka_unit_test(larger_than_the_limit_is_refused),
        cmocka_unit_test(nothing_is_transferred_that_was_not_chosen),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Goal: SLACK decides as written down by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "sched_rig.h"

static void slack_looks_at_every_group_it_passes(void **state)
{
    struct sched_rig rig;

    (void)state;
    sched_rig_set(&rig, &nw_sched_slack, 0);
    sched_rig_open(&rig);
    sched_rig_offer_all(&rig, "BAA");
    rig.now = 46;
    sched_rig_run(&rig);
    /* RG-EDF's case above: A would make B late, so B goes first and both are met. */
    assert_string_equal(rig.story, "B0+ | A0+ A1+ | ");
    sched_rig_set(&rig, &nw_sched_slack, 0);
    sched_rig_open(&rig);
    sched_rig_offer_all(&rig, "BAA");
    sched_rig_run(&rig);
    assert_string_equal(rig.story, "A0+ A1+ | B0+ | ");
}

static void slack_plans_with_the_turn_between_operations(void **state)
{
    struct sched_rig rig;

    (void)state;
    sched_rig_set(&rig, &nw_sched_slack, 0);
    rig.sched.turn_ticks = 10;
    sched_rig_open(&rig);
    sched_rig_offer_all(&rig, "BAA");
    rig.now = 30;
    sched_rig_run(&rig);
    /* A until 43, a turn until 53, B until 66: after its 60. */
    assert_string_equal(rig.story, "B0+ | A0+ A1+ | ");
}

static void slack_holds_nothing_back_when_many_flows_wait(void **state)
{
    struct sched_rig rig;

    (void)state;
    sched_rig_set(&rig, &nw_sched_slack, NW_SCHED_SAVE);
    rig.sched.flow_count = SCHED_RIG_FLOWS;
    sched_rig_open(&rig);
    sched_rig_offer_all(&rig, "ABCD");
    assert_int_equal(sched_rig_step(&rig, 13), 0);
    /* It looks at four flows; what a fifth needs it does not know. */
    sched_rig_offer_all(&rig, "E");
    assert_int_equal(sched_rig_step(&rig, 13), 1);
}

static void slack_holds_no_group_back_that_cannot_grow(void **state)
{
    struct sched_rig rig;

    (void)state;
    sched_rig_set(&rig, &nw_sched_slack, NW_SCHED_SAVE);
    sched_rig_open(&rig);
    assert_int_equal(sched_rig_offer(&rig, 'A', 100, 0), NW_OK);
    assert_int_equal(sched_rig_step(&rig, 13), 0);
    /* 100 more would fit, but what comes next does not. */
    assert_int_equal(sched_rig_offer(&rig, 'A', 500, 0), NW_OK);
    assert_int_equal(sched_rig_step(&rig, 13), 1);
    assert_string_equal(rig.story, "A0+ | ");
}

static void slack_waits_while_deadlines_allow(void **state)
{
    struct sched_rig rig;

    (void)state;
    sched_rig_set(&rig, &nw_sched_slack, NW_SCHED_SAVE);
    rig.sched.guard_ticks = 2;
    sched_rig_open(&rig);
    sched_rig_offer_all(&rig, "B");
    assert_int_equal(sched_rig_step(&rig, 13), 0);
    assert_true(rig.sched.waiting);
    /* 60 - 13 - 2 */
    assert_int_equal(rig.sched.wake, 45);
    rig.now = 40;
    sched_rig_offer_all(&rig, "B");
    assert_int_equal(sched_rig_step(&rig, 13), 0);
    rig.now = 45;
    sched_rig_run(&rig);
    assert_string_equal(rig.story, "B0+ B1+ | ");
}

static void slack_does_not_wait_for_what_cannot_come_in_time(void **state)
{
    struct sched_rig rig;

    (void)state;
    sched_rig_set(&rig, &nw_sched_slack, NW_SCHED_SAVE);
    rig.flows[1].period = 50;
    sched_rig_open(&rig);
    sched_rig_offer_all(&rig, "B");
    /* The next B comes at 50, this one must start at 47. */
    assert_int_equal(sched_rig_step(&rig, 13), 1);
    assert_string_equal(rig.story, "B0+ | ");
}

static void slack_goes_by_deadline_when_not_all_can_be_met(void **state)
{
    struct sched_rig rig;

    (void)state;
    sched_rig_set(&rig, &nw_sched_slack, 0);
    sched_rig_open(&rig);
    sched_rig_offer_all(&rig, "D");
    rig.now = 30;
    sched_rig_offer_all(&rig, "BAA");
    sched_rig_run(&rig);
    /* D is late whatever is done: no larger group passes it. */
    assert_string_equal(rig.story, "D0- | A0+ A1+ | B0+ | ");
}

static void slack_opens_units_when_nothing_waits(void **state)
{
    struct sched_rig rig;

    (void)state;
    sched_rig_set(&rig, &nw_sched_slack, NW_SCHED_PREOPEN);
    rig.sched.unit = 16;
    rig.sched.open_ticks = 90;
    rig.sched.position = 16;
    sched_rig_open(&rig);
    assert_int_equal(nw_sched_next(&rig.sched, 0), 1);
    assert_int_equal(nw_sched_members(&rig.sched), 0);
    assert_null(nw_sched_first(&rig.sched));
    assert_int_equal(nw_sched_transfer(&rig.sched), NW_OK);
    assert_int_equal(nw_sched_done(&rig.sched, 90, NW_OK), NW_OK);
    assert_int_equal(rig.sched.position, 17);
    assert_int_equal(nw_sched_next(&rig.sched, 90), 0);
    rig.now = 90;
    sched_rig_offer_all(&rig, "D");
    sched_rig_run(&rig);
    assert_string_equal(rig.story, "D0+ | ");
    /* A log that is full has no unit to open. */
    sched_rig_set(&rig, &nw_sched_slack, NW_SCHED_PREOPEN);
    rig.sched.unit = 16;
    rig.sched.sectors = 16;
    rig.sched.position = 16;
    sched_rig_open(&rig);
    assert_int_equal(nw_sched_next(&rig.sched, 0), 0);
}

/* A session that went on in the middle of a unit took it to be open. A device that lost power has
 * none open: its first write opens, and the one at the next unit's start again. */
static void a_session_begins_with_nothing_open(void **state)
{
    struct sched_rig rig;

    (void)state;
    sched_rig_set(&rig, &nw_sched_slack, NW_SCHED_PREOPEN);
    rig.sched.unit = 16;
    rig.sched.position = 30;
    sched_rig_open(&rig);
    assert_int_equal(sched_rig_step(&rig, 90), 1);
    assert_true(rig.sched.position == 31 && rig.sched.unit_left == 1);
    assert_int_equal(sched_rig_step(&rig, 13), 0); /* open: nothing to do */
    sched_rig_offer_all(&rig, "D");
    assert_int_equal(sched_rig_step(&rig, 13), 1);
    assert_int_equal(sched_rig_step(&rig, 90), 1);
    assert_true(rig.sched.position == 33 && rig.sched.unit_left == 15);
    /* The opening of a unit's last sector would use it up. */
    sched_rig_set(&rig, &nw_sched_slack, NW_SCHED_PREOPEN);
    rig.sched.unit = 16;
    rig.sched.position = 31;
    sched_rig_open(&rig);
    assert_int_equal(sched_rig_step(&rig, 90), 0);
    sched_rig_offer_all(&rig, "D");
    assert_int_equal(sched_rig_step(&rig, 90), 1);
    assert_int_equal(rig.sched.unit_left, 0);
}

/* At its end a wrapping log that is no multiple of `unit` goes on with a whole unit. */
static void a_session_begun_at_the_end_of_the_log_opens_a_whole_unit(void **state)
{
    struct sched_rig rig;

    (void)state;
    sched_rig_set(&rig, &nw_sched_gedf, NW_SCHED_WRAP);
    rig.sched.unit = 4;
    rig.sched.sectors = 10;
    rig.sched.position = 10;
    sched_rig_open(&rig);
    sched_rig_offer_all(&rig, "D");
    assert_int_equal(sched_rig_step(&rig, 90), 1);
    assert_true(rig.sched.position == 1 && rig.sched.unit_left == 3);
}

/* With one sector a unit, or one in the whole log, the opening used up what it opened, and the next
 * idle poll opened again: zeros all over the log, with WRAP again and again. It erased ten
 * records. */
static void slack_opens_nothing_that_its_opening_uses_up(void **state)
{
    static const struct {
        uint16_t unit;
        uint32_t sectors;
        uint32_t position;
        uint32_t zeros; /* written while idle */
    } cases[] = {{1, 10, 10, 0}, {1, 0, 0, 0}, {16, 1, 1, 0}, {16, 17, 16, 0}, {2, 10, 10, 1}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct sched_rig rig;
        uint32_t zeros = 0;

        sched_rig_set(&rig, &nw_sched_slack, NW_SCHED_PREOPEN | NW_SCHED_WRAP);
        rig.sched.block = cases[i].sectors != 0 ? &rig.block : NULL;
        rig.sched.unit = cases[i].unit;
        rig.sched.sectors = cases[i].sectors;
        rig.sched.position = cases[i].position;
        sched_rig_open(&rig);
        for (int poll = 0; poll < 20 && nw_sched_next(&rig.sched, rig.now) > 0; poll++) {
            zeros++;
            assert_int_equal(nw_sched_done(&rig.sched, rig.now, NW_OK), NW_OK);
        }
        assert_int_equal(zeros, cases[i].zeros);
    }
}

/* It judged a read that passes by what a write takes. */
static void slack_knows_what_a_passing_read_takes(void **state)
{
    struct sched_rig rig;
    struct nw_sched_offer offer = {.size = 512, .sector = 3};

    (void)state;
    sched_rig_set(&rig, &nw_sched_slack, 0);
    rig.flows[0].direction = NW_SCHED_READ;
    rig.sched.read_ticks = 40;
    sched_rig_open(&rig);
    rig.now = 20;
    offer.owner = &rig.sched;
    assert_int_equal(nw_sched_submit(&offer), NW_OK);
    assert_int_equal(sched_rig_offer(&rig, 'B', 64, 0), NW_OK);
    assert_int_equal(sched_rig_step(&rig, 13), 1);
    assert_int_equal(sched_rig_step(&rig, 40), 1);
    /* The read, 512 bytes to 64, until 60 and B until 73: B, due at 60, would have been late. */
    assert_string_equal(rig.story, "B0+ | A0+ | ");
}

/* Of a flow that was passed it knew the first group alone. */
static void slack_passes_no_flow_with_a_further_group(void **state)
{
    struct sched_rig rig;

    (void)state;
    sched_rig_set(&rig, &nw_sched_slack, 0);
    sched_rig_open(&rig);
    rig.now = 30;
    assert_int_equal(sched_rig_offer(&rig, 'B', 64, 0), NW_OK);
    assert_int_equal(sched_rig_offer(&rig, 'B', 500, 0), NW_OK);
    assert_int_equal(sched_rig_offer(&rig, 'A', 64, 0), NW_OK);
    assert_int_equal(sched_rig_offer(&rig, 'A', 64, 0), NW_OK);
    sched_rig_run(&rig);
    /* A until 43 and B0 until 56 would have been in time, B1 until 69 would not: due at 60. */
    assert_string_equal(rig.story, "B0+ | B1+ | A0+ A1+ | ");
}

/* It knew of an opening only when the very next write was one. */
static void slack_plans_with_the_openings_ahead(void **state)
{
    struct sched_rig rig;

    (void)state;
    sched_rig_set(&rig, &nw_sched_slack, 0);
    rig.sched.unit = 16;
    rig.sched.open_ticks = 40;
    rig.sched.position = 15;
    sched_rig_open(&rig);
    rig.now = 10;
    assert_int_equal(sched_rig_offer(&rig, 'B', 64, 0), NW_OK);
    assert_int_equal(sched_rig_offer(&rig, 'A', 64, 0), NW_OK);
    assert_int_equal(sched_rig_offer(&rig, 'A', 64, 0), NW_OK);
    assert_int_equal(sched_rig_step(&rig, 13), 1);
    assert_int_equal(sched_rig_step(&rig, 40), 1);
    /* A until 23, then B would have opened the unit: until 63, due at 60. */
    assert_string_equal(rig.story, "B0+ | A0+ A1+ | ");
    sched_rig_set(&rig, &nw_sched_slack, 0);
    rig.sched.unit = 16;
    rig.sched.open_ticks = 20;
    sched_rig_open(&rig);
    sched_rig_offer_all(&rig, "DAA");
    rig.now = 5;
    (void)sched_rig_step(&rig, 20);
    sched_rig_run(&rig);
    /* All can be met if D, due at 40, goes first and opens. */
    assert_string_equal(rig.story, "D0+ | A0+ A1+ | ");
}

static void slack_reads_before_it_opens_a_unit(void **state)
{
    struct sched_rig rig;
    struct nw_sched_offer offer = {.size = 512, .sector = 3, .flow = 3};

    (void)state;
    sched_rig_set(&rig, &nw_sched_slack, 0);
    rig.flows[3].direction = NW_SCHED_READ;
    rig.sched.unit = 16;
    rig.sched.open_ticks = 90;
    sched_rig_open(&rig);
    offer.owner = &rig.sched;
    assert_int_equal(nw_sched_submit(&offer), NW_OK);
    sched_rig_offer_all(&rig, "AA");
    sched_rig_run(&rig);
    /* Position 0 is the first of a unit: the write waits, the read is not held up by it. */
    assert_string_equal(rig.story, "D0+ | A0+ A1+ | ");
    assert_int_equal(rig.sched.position, 1);
}

static void slack_frees_slots_when_they_run_out(void **state)
{
    struct sched_rig rig;

    (void)state;
    sched_rig_set(&rig, &nw_sched_slack, 0);
    sched_rig_open(&rig);
    sched_rig_offer_all(&rig, "DDDDDBAAAAAA");
    rig.now = 30;
    assert_int_equal(nw_sched_next(&rig.sched, rig.now), 1);
    /* D, due at 40, is late whatever is done; half of the slots are taken: by deadline. */
    assert_int_equal(rig.sched.serving, 3);
    rig.sched.busy = 0;
    sched_rig_offer_all(&rig, "A");
    assert_int_equal(nw_sched_next(&rig.sched, rig.now), 1);
    /* One more, and seven slots freed at once count more. */
    assert_int_equal(rig.sched.serving, 0);
}

/* It went for the longest group also where all could be met. */
static void slack_goes_by_deadline_while_all_can_be_met(void **state)
{
    struct sched_rig rig;

    (void)state;
    sched_rig_set(&rig, &nw_sched_slack, 0);
    sched_rig_open(&rig);
    sched_rig_offer_all(&rig, "DDDDDBAAAAAAA");
    rig.now = 20;
    sched_rig_run(&rig);
    assert_string_equal(rig.story, "D0+ D1+ D2+ D3+ D4+ | A0+ A1+ A2+ A3+ A4+ A5+ A6+ | B0+ | ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slack_looks_at_every_group_it_passes),
        cmocka_unit_test(slack_plans_with_the_turn_between_operations),
        cmocka_unit_test(slack_holds_nothing_back_when_many_flows_wait),
        cmocka_unit_test(slack_holds_no_group_back_that_cannot_grow),
        cmocka_unit_test(slack_waits_while_deadlines_allow),
        cmocka_unit_test(slack_does_not_wait_for_what_cannot_come_in_time),
        cmocka_unit_test(slack_goes_by_deadline_when_not_all_can_be_met),
        cmocka_unit_test(slack_opens_units_when_nothing_waits),
        cmocka_unit_test(a_session_begins_with_nothing_open),
        cmocka_unit_test(a_session_begun_at_the_end_of_the_log_opens_a_whole_unit),
        cmocka_unit_test(slack_opens_nothing_that_its_opening_uses_up),
        cmocka_unit_test(slack_knows_what_a_passing_read_takes),
        cmocka_unit_test(slack_passes_no_flow_with_a_further_group),
        cmocka_unit_test(slack_plans_with_the_openings_ahead),
        cmocka_unit_test(slack_reads_before_it_opens_a_unit),
        cmocka_unit_test(slack_frees_slots_when_they_run_out),
        cmocka_unit_test(slack_goes_by_deadline_while_all_can_be_met),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

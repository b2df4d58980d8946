/* SPDX-License-Identifier: Apache-2.0 */
/* Goal: FIFO, EDF, G-EDF and RG-EDF decide as written down by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "sched_rig.h"

static void fifo_serves_in_order_of_arrival(void **state)
{
    struct sched_rig rig;

    (void)state;
    sched_rig_set(&rig, &nw_sched_fifo, 0);
    sched_rig_open(&rig);
    sched_rig_offer_all(&rig, "ABDAC");
    sched_rig_run(&rig);
    /* D waits 39 of its 40 ticks; C ends at 65 of 80. */
    assert_string_equal(rig.story, "A0+ | B0+ | D0+ | A1+ | C0+ | ");
}

static void fifo_drops_late_heads_only_when_asked(void **state)
{
    struct sched_rig rig;

    (void)state;
    sched_rig_set(&rig, &nw_sched_fifo, NW_SCHED_DROP_LATE);
    sched_rig_open(&rig);
    sched_rig_offer_all(&rig, "AAADB");
    sched_rig_run(&rig);
    /* At 39 D would end at 52, after its 40: dropped without an operation. */
    assert_string_equal(rig.story, "A0+ | A1+ | A2+ | D0x B0+ | ");
    sched_rig_set(&rig, &nw_sched_fifo, 0);
    sched_rig_open(&rig);
    sched_rig_offer_all(&rig, "AAADB");
    sched_rig_run(&rig);
    assert_string_equal(rig.story, "A0+ | A1+ | A2+ | D0- | B0- | ");
}

static void edf_serves_by_deadline(void **state)
{
    struct sched_rig rig;

    (void)state;
    sched_rig_set(&rig, &nw_sched_edf, 0);
    sched_rig_open(&rig);
    sched_rig_offer_all(&rig, "ABCDA");
    sched_rig_run(&rig);
    assert_string_equal(rig.story, "D0+ | B0+ | C0+ | A0+ | A1+ | ");
}

static void equal_deadlines_go_by_flow(void **state)
{
    struct sched_rig rig;

    (void)state;
    sched_rig_set(&rig, &nw_sched_edf, 0);
    rig.flows[0].deadline = 60;
    sched_rig_open(&rig);
    sched_rig_offer_all(&rig, "BABA");
    sched_rig_run(&rig);
    assert_string_equal(rig.story, "A0+ | A1+ | B0+ | B1+ | ");
}

static void gedf_takes_followers_while_they_fit(void **state)
{
    struct sched_rig rig;

    (void)state;
    sched_rig_set(&rig, &nw_sched_gedf, 0);
    sched_rig_open(&rig);
    sched_rig_offer_all(&rig, "BABBABBBBBB");
    sched_rig_run(&rig);
    /* Nine B: eight fill a sector, the ninth comes next by its deadline. */
    assert_string_equal(rig.story, "B0+ B1+ B2+ B3+ B4+ B5+ B6+ B7+ | B8+ | A0+ A1+ | ");
}

static void gedf_stops_at_the_first_that_does_not_fit(void **state)
{
    struct sched_rig rig;

    (void)state;
    sched_rig_set(&rig, &nw_sched_gedf, 0);
    sched_rig_open(&rig);
    assert_int_equal(sched_rig_offer(&rig, 'A', 300, 0), NW_OK);
    assert_int_equal(sched_rig_offer(&rig, 'A', 300, 0), NW_OK);
    assert_int_equal(sched_rig_offer(&rig, 'A', 100, 0), NW_OK);
    sched_rig_run(&rig);
    /* 100 would fit beside the first, but requests of a flow keep their order. */
    assert_string_equal(rig.story, "A0+ | A1+ A2+ | ");
}

static void groups_keep_to_sectors_above_32_kib(void **state)
{
    struct sched_rig rig;

    (void)state;
    sched_rig_set(&rig, &nw_sched_gedf, 0);
    rig.sched.block = NULL;
    rig.sched.sector_bytes = 60000;
    sched_rig_open(&rig);
    assert_int_equal(sched_rig_offer(&rig, 'A', 40000, 0), NW_OK);
    assert_int_equal(sched_rig_offer(&rig, 'A', 40000, 0), NW_OK);
    assert_int_equal(nw_sched_next(&rig.sched, 0), 1);
    /* The sum, 80000, is 14464 in 16 bits. */
    assert_int_equal(nw_sched_members(&rig.sched), 1);
}

static void rgedf_lets_a_larger_group_go_first(void **state)
{
    struct sched_rig rig;

    (void)state;
    sched_rig_set(&rig, &nw_sched_rgedf, 0);
    sched_rig_open(&rig);
    sched_rig_offer_all(&rig, "BAAC");
    sched_rig_run(&rig);
    /* B (60) has one, A (100) two: A first. Then B before C, both of one. */
    assert_string_equal(rig.story, "A0+ A1+ | B0+ | C0+ | ");
}

static void rgedf_keeps_order_when_time_is_short(void **state)
{
    struct sched_rig rig;

    (void)state;
    sched_rig_set(&rig, &nw_sched_rgedf, 0);
    sched_rig_open(&rig);
    sched_rig_offer_all(&rig, "BAA");
    rig.now = 46;
    sched_rig_run(&rig);
    /* 46 + 13 < 60: A goes first, as the paper's rule has it, although B then ends late. */
    assert_string_equal(rig.story, "A0+ A1+ | B0- | ");
    sched_rig_set(&rig, &nw_sched_rgedf, 0);
    sched_rig_open(&rig);
    sched_rig_offer_all(&rig, "BAA");
    rig.now = 47;
    sched_rig_run(&rig);
    assert_string_equal(rig.story, "B0+ | A0+ A1+ | ");
    /* With a buffer time of one write B must not end late. */
    sched_rig_set(&rig, &nw_sched_rgedf, 0);
    rig.sched.guard_ticks = 13;
    sched_rig_open(&rig);
    sched_rig_offer_all(&rig, "BAA");
    rig.now = 34;
    sched_rig_run(&rig);
    assert_string_equal(rig.story, "B0+ | A0+ A1+ | ");
}

static void rgedf_takes_the_earliest_of_larger_groups(void **state)
{
    struct sched_rig rig;

    (void)state;
    sched_rig_set(&rig, &nw_sched_rgedf, 0);
    sched_rig_open(&rig);
    sched_rig_offer_all(&rig, "DAAACC");
    sched_rig_run(&rig);
    assert_string_equal(rig.story, "C0+ C1+ | A0+ A1+ A2+ | D0+ | ");
}

static void published_drop_on_miss_looks_at_the_top_alone(void **state)
{
    struct sched_rig rig;

    (void)state;
    sched_rig_set(&rig, &nw_sched_edf, NW_SCHED_DROP_LATE);
    sched_rig_open(&rig);
    sched_rig_offer_all(&rig, "DDB");
    rig.now = 27;
    sched_rig_run(&rig);
    assert_string_equal(rig.story, "D0+ | D1x B0+ | ");
    sched_rig_set(&rig, &nw_sched_edf, NW_SCHED_DROP_LATE);
    sched_rig_open(&rig);
    sched_rig_offer_all(&rig, "DDB");
    rig.now = 28;
    sched_rig_run(&rig);
    assert_string_equal(rig.story, "D0x D1x B0+ | ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fifo_serves_in_order_of_arrival),
        cmocka_unit_test(fifo_drops_late_heads_only_when_asked),
        cmocka_unit_test(edf_serves_by_deadline),
        cmocka_unit_test(equal_deadlines_go_by_flow),
        cmocka_unit_test(gedf_takes_followers_while_they_fit),
        cmocka_unit_test(gedf_stops_at_the_first_that_does_not_fit),
        cmocka_unit_test(groups_keep_to_sectors_above_32_kib),
        cmocka_unit_test(rgedf_lets_a_larger_group_go_first),
        cmocka_unit_test(rgedf_keeps_order_when_time_is_short),
        cmocka_unit_test(rgedf_takes_the_earliest_of_larger_groups),
        cmocka_unit_test(published_drop_on_miss_looks_at_the_top_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

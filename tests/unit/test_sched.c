/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: under any policy nothing is lost at the door, at the wrap-around of the clock, at a device
 * error or at the end of the log.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "sched_rig.h"

static void split_reads_go_on_in_the_next_sector(void **state)
{
    struct sched_rig rig;
    struct nw_sched_offer offer;
    uint8_t data[1024];

    (void)state;
    sched_rig_set(&rig, &nw_sched_edf, NW_SCHED_SPLIT);
    rig.flows[0].direction = NW_SCHED_READ;
    sched_rig_open(&rig);
    memset(rig.image[5], 0x55, 512);
    memset(rig.image[6], 0x66, 512);
    offer = (struct nw_sched_offer){
        .owner = &rig.sched, .data = data, .size = sizeof data, .sector = 5};
    assert_int_equal(nw_sched_submit(&offer), NW_OK);
    sched_rig_run(&rig);
    assert_string_equal(rig.story, "A0+& | A0+ | ");
    assert_memory_equal(data, rig.image[5], 1024);
}

static void clock_wraps_around(void **state)
{
    static const struct nw_sched_policy *const policies[] = {
        &nw_sched_fifo, &nw_sched_edf, &nw_sched_gedf, &nw_sched_rgedf, &nw_sched_slack};

    (void)state;
    for (size_t p = 0; p < sizeof policies / sizeof policies[0]; p++) {
        char expected[512] = "";

        /* The same work, begun at each of the last 80 ticks before the wrap-around. */
        for (uint32_t early = 0; early <= 80; early++) {
            struct sched_rig rig;

            sched_rig_set(&rig, policies[p], NW_SCHED_DROP_LATE | NW_SCHED_LEARN);
            rig.now = early == 0 ? 1000U : 0U - early;
            sched_rig_open(&rig);
            sched_rig_offer_all(&rig, "ABDABCAD");
            (void)sched_rig_step(&rig, 13);
            sched_rig_offer_all(&rig, "BBDA");
            sched_rig_run(&rig);
            if (early == 0) {
                strcpy(expected, rig.story);
            }
            assert_string_equal(rig.story, expected);
        }
    }
}

static void device_error_hits_only_its_group(void **state)
{
    struct sched_rig rig;

    (void)state;
    sched_rig_set(&rig, &nw_sched_gedf, 0);
    sched_rig_open(&rig);
    sched_rig_offer_all(&rig, "BBAA");
    rig.fail = NW_ERR_PROGRAM;
    sched_rig_run(&rig);
    assert_string_equal(rig.story, "B0! B1! | A0+ A1+ | ");
    assert_int_equal(rig.counts[1].of[NW_SCHED_FAILED], 2);
    assert_int_equal(rig.counts[0].of[NW_SCHED_MET], 2);
    /* What the failed sector holds is unknown: the next group went to the one after it. */
    assert_int_equal(rig.sched.position, 2);
}

static void deadline_already_over_is_counted(void **state)
{
    struct sched_rig rig;

    (void)state;
    sched_rig_set(&rig, &nw_sched_edf, NW_SCHED_DROP_LATE);
    rig.now = 500;
    sched_rig_open(&rig);
    assert_int_equal(sched_rig_offer(&rig, 'A', 64, 300), NW_OK);
    sched_rig_run(&rig);
    assert_string_equal(rig.story, "A0x ");
    assert_int_equal(rig.counts[0].of[NW_SCHED_PAST], 1);
    assert_int_equal(rig.counts[0].of[NW_SCHED_DROPPED], 1);
    sched_rig_set(&rig, &nw_sched_edf, 0);
    rig.now = 500;
    sched_rig_open(&rig);
    assert_int_equal(sched_rig_offer(&rig, 'A', 64, 300), NW_OK);
    sched_rig_run(&rig);
    assert_string_equal(rig.story, "A0- | ");
    assert_int_equal(rig.counts[0].of[NW_SCHED_PAST], 1);
}

static void too_large_is_refused_or_split(void **state)
{
    struct sched_rig rig;
    struct nw_sched_offer offer;
    uint8_t data[1200];

    (void)state;
    for (size_t i = 0; i < sizeof data; i++) {
        data[i] = (uint8_t)(i * 7U + i / 512U);
    }
    sched_rig_set(&rig, &nw_sched_gedf, 0);
    sched_rig_open(&rig);
    assert_int_equal(sched_rig_offer(&rig, 'A', 513, 0), NW_ERR_RANGE);
    assert_int_equal(sched_rig_offer(&rig, 'A', 0, 0), NW_ERR_RANGE);
    assert_int_equal(sched_rig_offer(&rig, 'A', 512, 0), NW_OK);
    assert_int_equal(rig.counts[0].of[NW_SCHED_REFUSED], 2);
    sched_rig_set(&rig, &nw_sched_gedf, NW_SCHED_SPLIT);
    sched_rig_open(&rig);
    offer = (struct nw_sched_offer){
        .owner = &rig.sched, .data = data, .size = sizeof data, .sector = 77};
    assert_int_equal(nw_sched_submit(&offer), NW_OK);
    for (unsigned i = 0; i < 3; i++) {
        /* Of a write this is the producer's own word, the same for every piece. */
        assert_int_equal(rig.sched.slots[i].sector, 77);
    }
    sched_rig_run(&rig);
    assert_string_equal(rig.story, "A0+& | A0+& | A0+ | ");
    assert_int_equal(rig.counts[0].of[NW_SCHED_MET], 1);
    assert_int_equal(rig.counts[0].of[NW_SCHED_OFFERED], 1);
    assert_memory_equal(rig.image[0], data, 512);
    assert_memory_equal(rig.image[1], data + 512, 512);
    assert_memory_equal(rig.image[2], data + 1024, 176);
}

static int last_error; /* of the last event that ended a request without meeting it */

static void keep_error(struct nw_sched_event *event)
{
    sched_rig_listen(event);
    if (!event->more && event->verdict >= NW_SCHED_DROPPED) {
        last_error = event->error;
    }
}

/* The pieces behind one that failed were written all the same, a tail without its head, and where
 * they were, the last event told the error of its own operation: none. */
static void failed_piece_ends_the_whole(void **state)
{
    static const struct nw_sched_policy *const policies[] = {
        &nw_sched_fifo, &nw_sched_edf, &nw_sched_gedf, &nw_sched_rgedf, &nw_sched_slack};

    (void)state;
    for (size_t p = 0; p < sizeof policies / sizeof policies[0]; p++) {
        struct sched_rig rig;

        sched_rig_set(&rig, policies[p], NW_SCHED_SPLIT);
        rig.sched.event = keep_error;
        sched_rig_open(&rig);
        assert_int_equal(sched_rig_offer(&rig, 'A', 1600, 0), NW_OK);
        assert_int_equal(sched_rig_offer(&rig, 'A', 64, 0), NW_OK);
        assert_int_equal(sched_rig_step(&rig, 13), 1);
        rig.fail = NW_ERR_IO;
        sched_rig_run(&rig);
        /* FIFO takes the rest in when its turn comes. */
        assert_string_equal(rig.story, p == 0 ? "A0+& | A0!& | A0!& A0! A1+ | "
                                              : "A0+& | A0!& A0!& A0! | A1+ | ");
        assert_int_equal(last_error, NW_ERR_IO);
        assert_int_equal(rig.sched.position, 3);
        assert_int_equal(rig.counts[0].of[NW_SCHED_FAILED], 1);
        assert_int_equal(rig.counts[0].of[NW_SCHED_MET], 1);
        for (uint32_t i = 0; i < SCHED_RIG_SLOTS; i++) {
            assert_int_equal(sched_rig_offer(&rig, 'A', 64, rig.now), NW_OK);
        }
    }
}

/* So does one that is dropped. */
static void dropped_piece_ends_the_whole(void **state)
{
    static const struct nw_sched_policy *const policies[] = {&nw_sched_fifo, &nw_sched_gedf,
                                                             &nw_sched_slack};

    (void)state;
    for (size_t p = 0; p < sizeof policies / sizeof policies[0]; p++) {
        struct sched_rig rig;

        sched_rig_set(&rig, policies[p], NW_SCHED_SPLIT | NW_SCHED_DROP_LATE);
        rig.sched.event = keep_error;
        last_error = NW_ERR_IO;
        sched_rig_open(&rig);
        assert_int_equal(sched_rig_offer(&rig, 'D', 1600, 0), NW_OK);
        assert_int_equal(sched_rig_offer(&rig, 'A', 64, 0), NW_OK);
        assert_int_equal(sched_rig_step(&rig, 30), 1);
        sched_rig_run(&rig);
        assert_string_equal(rig.story, "D0+& | D0x& D0x& D0x A0+ | ");
        assert_int_equal(last_error, NW_OK);
        assert_int_equal(rig.counts[3].of[NW_SCHED_DROPPED], 1);
    }
}

static void full_queue_refuses_and_counts(void **state)
{
    struct sched_rig rig;

    (void)state;
    sched_rig_set(&rig, &nw_sched_gedf, NW_SCHED_SPLIT);
    rig.flows[1].limit = 2;
    sched_rig_open(&rig);
    assert_int_equal(sched_rig_offer(&rig, 'B', 64, 0), NW_OK);
    assert_int_equal(sched_rig_offer(&rig, 'B', 1024, 0), NW_ERR_FULL);
    assert_int_equal(sched_rig_offer(&rig, 'B', 64, 0), NW_OK);
    assert_int_equal(sched_rig_offer(&rig, 'B', 64, 0), NW_ERR_FULL);
    for (uint32_t i = 0; i < SCHED_RIG_SLOTS - 2U; i++) {
        assert_int_equal(sched_rig_offer(&rig, 'A', 64, 0), NW_OK);
    }
    assert_int_equal(sched_rig_offer(&rig, 'A', 64, 0), NW_ERR_FULL);
    assert_int_equal(rig.counts[0].of[NW_SCHED_FULL], 1);
    assert_int_equal(rig.counts[1].of[NW_SCHED_FULL], 2);
    sched_rig_run(&rig);
    /* All slots came back: the rings have gone round. */
    for (uint32_t i = 0; i < SCHED_RIG_SLOTS; i++) {
        assert_int_equal(sched_rig_offer(&rig, 'A', 64, rig.now), NW_OK);
    }
}

static int hurried; /* what the door answered to a request in the middle of the main loop's work */

static void submit_again(struct nw_sched_event *event)
{
    const struct sched_rig *rig = (const struct sched_rig *)event->owner;
    struct nw_sched_offer offer = {
        .owner = event->owner, .now = rig->now, .size = 64, .flow = event->flow};

    sched_rig_listen(event);
    hurried = nw_sched_submit(&offer);
}

static void a_slot_is_free_after_its_event(void **state)
{
    struct sched_rig rig;

    (void)state;
    sched_rig_set(&rig, &nw_sched_gedf, 0);
    rig.sched.slot_count = 2;
    rig.sched.event = submit_again;
    sched_rig_open(&rig);
    sched_rig_offer_all(&rig, "AA");
    (void)sched_rig_step(&rig, 13);
    /* While A0 is told its slot is still its own; while A1 is told that of A0 is free. */
    assert_string_equal(rig.story, "A0+ A1+ | ");
    assert_int_equal(hurried, NW_OK);
    assert_int_equal(rig.counts[0].of[NW_SCHED_FULL], 1);
    rig.sched.event = sched_rig_listen;
    sched_rig_run(&rig);
    assert_string_equal(rig.story, "A0+ A1+ | A3+ | ");
}

static void reads_have_deadlines_too(void **state)
{
    struct sched_rig rig;
    struct nw_sched_offer offer;
    uint8_t data[512];

    (void)state;
    sched_rig_set(&rig, &nw_sched_rgedf, 0);
    rig.flows[3].direction = NW_SCHED_READ;
    sched_rig_open(&rig);
    memset(rig.image[9], 0x5C, 512);
    offer = (struct nw_sched_offer){
        .owner = &rig.sched, .data = data, .size = 512, .sector = 9, .flow = 3};
    sched_rig_offer_all(&rig, "A");
    assert_int_equal(nw_sched_submit(&offer), NW_OK);
    assert_int_equal(nw_sched_submit(&offer), NW_OK);
    sched_rig_run(&rig);
    /* Reads are never grouped. */
    assert_string_equal(rig.story, "D0+ | D1+ | A0+ | ");
    assert_memory_equal(data, rig.image[9], 512);
    assert_int_equal(rig.sched.position, 1);
}

static void sectors_hold_the_group_and_zeros(void **state)
{
    struct sched_rig rig;
    uint8_t data[2][300];

    (void)state;
    memset(data[0], 0x11, 300);
    memset(data[1], 0x22, 300);
    sched_rig_set(&rig, &nw_sched_gedf, 0);
    sched_rig_open(&rig);
    for (uint16_t i = 0; i < 4; i++) {
        struct nw_sched_offer offer = {
            .owner = &rig.sched, .data = data[i & 1U], .size = (uint16_t)(i < 2 ? 200 : 50)};

        assert_int_equal(nw_sched_submit(&offer), NW_OK);
        if (i == 1) {
            sched_rig_run(&rig);
        }
    }
    sched_rig_run(&rig);
    assert_memory_equal(rig.image[0], data[0], 200);
    assert_memory_equal(rig.image[0] + 200, data[1], 200);
    assert_memory_equal(rig.image[1], data[0], 50);
    assert_memory_equal(rig.image[1] + 50, data[1], 50);
    /* What the first group left in the buffer is gone. */
    for (size_t i = 100; i < 512; i++) {
        assert_int_equal(rig.image[1][i], 0);
    }
}

static void end_of_the_log_is_an_error_or_its_start(void **state)
{
    struct sched_rig rig;

    (void)state;
    sched_rig_set(&rig, &nw_sched_fifo, 0);
    rig.sched.sectors = 2;
    sched_rig_open(&rig);
    sched_rig_offer_all(&rig, "AAA");
    sched_rig_run(&rig);
    assert_string_equal(rig.story, "A0+ | A1+ | A2! | ");
    sched_rig_set(&rig, &nw_sched_fifo, NW_SCHED_WRAP);
    rig.sched.sectors = 2;
    sched_rig_open(&rig);
    sched_rig_offer_all(&rig, "AAA");
    sched_rig_run(&rig);
    assert_string_equal(rig.story, "A0+ | A1+ | A2+ | ");
    assert_int_equal(rig.sched.position, 1);
}

static void times_are_learned(void **state)
{
    struct sched_rig rig;

    (void)state;
    sched_rig_set(&rig, &nw_sched_gedf, NW_SCHED_LEARN);
    rig.sched.write_ticks = 0;
    sched_rig_open(&rig);
    sched_rig_offer_all(&rig, "A");
    (void)sched_rig_step(&rig, 20);
    assert_int_equal(rig.sched.write_ticks, 20);
    sched_rig_offer_all(&rig, "A");
    (void)sched_rig_step(&rig, 4);
    /* Downwards by a sixteenth of the difference. */
    assert_int_equal(rig.sched.write_ticks, 19);
    /* What an opening takes says nothing about other writes. */
    sched_rig_set(&rig, &nw_sched_gedf, NW_SCHED_LEARN);
    rig.sched.unit = 16;
    sched_rig_open(&rig);
    sched_rig_offer_all(&rig, "A");
    (void)sched_rig_step(&rig, 90);
    assert_int_equal(rig.sched.open_ticks, 90);
    assert_int_equal(rig.sched.write_ticks, 13);
    /* At the end of the log a unit is left in its middle; its start is opened anew. */
    sched_rig_set(&rig, &nw_sched_gedf, NW_SCHED_LEARN | NW_SCHED_WRAP);
    rig.sched.unit = 16;
    rig.sched.sectors = 24;
    rig.sched.position = 24;
    sched_rig_open(&rig);
    sched_rig_offer_all(&rig, "A");
    (void)sched_rig_step(&rig, 80);
    assert_int_equal(rig.sched.open_ticks, 80);
    /* From one operation to the next is a turn, idle time is not. */
    sched_rig_offer_all(&rig, "A");
    (void)sched_rig_step(&rig, 13);
    assert_int_equal(rig.sched.turn_ticks, 0);
    sched_rig_offer_all(&rig, "AB");
    (void)sched_rig_step(&rig, 13);
    rig.now += 2;
    (void)sched_rig_step(&rig, 13);
    assert_int_equal(rig.sched.turn_ticks, 2);
    rig.now += 50;
    sched_rig_offer_all(&rig, "A");
    (void)sched_rig_step(&rig, 13);
    assert_int_equal(rig.sched.turn_ticks, 2);
}

/* A write that takes longer than a deadline must not end all writing. */
static void one_slow_write_is_outlived(void **state)
{
    struct sched_rig rig;

    (void)state;
    sched_rig_set(&rig, &nw_sched_gedf, NW_SCHED_DROP_LATE | NW_SCHED_LEARN);
    sched_rig_open(&rig);
    sched_rig_offer_all(&rig, "D");
    (void)sched_rig_step(&rig, 90);
    assert_int_equal(rig.sched.write_ticks, 90);
    /* Of 40 ticks 20 are left: tried, and with it a shorter time is learned. */
    sched_rig_offer_all(&rig, "D");
    rig.now += 20;
    (void)sched_rig_step(&rig, 13);
    assert_int_equal(rig.sched.write_ticks, 85);
    /* Less than half is left: given up. */
    sched_rig_offer_all(&rig, "D");
    rig.now += 21;
    (void)sched_rig_step(&rig, 13);
    assert_string_equal(rig.story, "D0- | D1+ | D2x ");
    /* A time that is given is believed. */
    sched_rig_set(&rig, &nw_sched_gedf, NW_SCHED_DROP_LATE);
    rig.sched.write_ticks = 41;
    sched_rig_open(&rig);
    sched_rig_offer_all(&rig, "D");
    (void)sched_rig_step(&rig, 13);
    assert_string_equal(rig.story, "D0x ");
}

static void spare_time_leaves_room_for_all(void **state)
{
    struct sched_rig rig;

    (void)state;
    sched_rig_set(&rig, &nw_sched_gedf, 0);
    sched_rig_open(&rig);
    /* The shortest deadline, 40, less an operation of each of four flows: nothing can be lent. */
    assert_int_equal(nw_sched_spare_ticks(&rig.sched, 0), 0);
    rig.flows[1].deadline = rig.flows[2].deadline = rig.flows[3].deadline = 100;
    assert_int_equal(nw_sched_spare_ticks(&rig.sched, 0), 100 - 4 * 13);
    sched_rig_offer_all(&rig, "A");
    assert_int_equal(nw_sched_spare_ticks(&rig.sched, 0), 0); /* not yet taken in */
    /* Of 17 requests 9 are left, which are two writes; of 100 ticks 87. */
    sched_rig_offer_all(&rig, "AAAAAAAAAAAAAAAA");
    (void)sched_rig_step(&rig, 13);
    assert_int_equal(nw_sched_spare_ticks(&rig.sched, rig.now), 87 - 5 * 13);
}

static void bad_configurations_are_refused(void **state)
{
    struct sched_rig rig;

    (void)state;
    sched_rig_set(&rig, &nw_sched_gedf, 0);
    assert_int_equal(nw_sched_open(&rig.sched, (uint8_t *)rig.ram, 10), NW_ERR_RAM);
    rig.flows[2].deadline = 0;
    assert_int_equal(nw_sched_open(&rig.sched, (uint8_t *)rig.ram, sizeof rig.ram), NW_ERR_CONFIG);
    sched_rig_set(&rig, &nw_sched_gedf, 0);
    rig.sched.slot_count = NW_SCHED_SLOTS_MAX + 1U;
    assert_int_equal(nw_sched_open(&rig.sched, (uint8_t *)rig.ram, sizeof rig.ram), NW_ERR_CONFIG);
    sched_rig_set(&rig, &nw_sched_gedf, 0);
    rig.sched.first = 1;
    assert_int_equal(nw_sched_open(&rig.sched, (uint8_t *)rig.ram, sizeof rig.ram), NW_ERR_RANGE);
    rig.sched.sectors = 0; /* a log without an end would run over the rest of the device */
    assert_int_equal(nw_sched_open(&rig.sched, (uint8_t *)rig.ram, sizeof rig.ram), NW_ERR_CONFIG);
    sched_rig_set(&rig, &nw_sched_gedf, 0);
    sched_rig_open(&rig);
    sched_rig_offer_all(&rig, "A");
    assert_int_equal(nw_sched_next(&rig.sched, 0), 1);
    assert_int_equal(nw_sched_next(&rig.sched, 0), NW_ERR_CONFIG);
    assert_int_equal(nw_sched_done(&rig.sched, 13, NW_OK), NW_OK);
    assert_int_equal(nw_sched_done(&rig.sched, 13, NW_OK), NW_ERR_CONFIG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(split_reads_go_on_in_the_next_sector),
        cmocka_unit_test(clock_wraps_around),
        cmocka_unit_test(device_error_hits_only_its_group),
        cmocka_unit_test(deadline_already_over_is_counted),
        cmocka_unit_test(too_large_is_refused_or_split),
        cmocka_unit_test(failed_piece_ends_the_whole),
        cmocka_unit_test(dropped_piece_ends_the_whole),
        cmocka_unit_test(full_queue_refuses_and_counts),
        cmocka_unit_test(a_slot_is_free_after_its_event),
        cmocka_unit_test(reads_have_deadlines_too),
        cmocka_unit_test(sectors_hold_the_group_and_zeros),
        cmocka_unit_test(end_of_the_log_is_an_error_or_its_start),
        cmocka_unit_test(times_are_learned),
        cmocka_unit_test(one_slow_write_is_outlived),
        cmocka_unit_test(spare_time_leaves_room_for_all),
        cmocka_unit_test(bad_configurations_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: each policy decides as written down by hand; nothing is lost at the door, at the
 * wrap-around of the clock, at a device error or at the end of the log.
 */
#include "nandwich/sched.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>


#define FLOWS 5U /* four of them in use, but for one test */
#define SLOTS 24U
#define SECTORS 64U

struct rig {
    struct nw_sched sched;
    struct nw_sched_flow flows[FLOWS];
    struct nw_sched_counts counts[FLOWS];
    uint64_t ram[NW_SCHED_RAM_BYTES(NW_SCHED_SLOTS_MAX, FLOWS) / 8U + 1U];
    struct nw_block block;
    uint8_t image[SECTORS][512];
    uint8_t buffer[512];
    uint32_t now;
    int fail;        /* what the next block operation answers */
    char story[512]; /* events, as "A0+ " met, "-" late, "x" dropped, "!" failed */
};

static struct rig *current;

static int image_write(struct nw_block_req *req)
{
    int result = current->fail;

    current->fail = NW_OK;
    if (result == NW_OK) {
        memcpy(current->image[req->sector], req->data, 512);
    }
    return result;
}

static int image_read(struct nw_block_req *req)
{
    memcpy(req->data, current->image[req->sector], 512);
    return NW_OK;
}

static const struct nw_block_ops image_ops = {.read = image_read, .write = image_write};

static void listen(struct nw_sched_event *event)
{
    size_t at = strlen(current->story);
    const char *marks = "+-x!";

    (void)snprintf(current->story + at, sizeof current->story - at, "%c%u%c%s ",
                   (char)('A' + event->flow), (unsigned)event->slot->sequence - 1U,
                   marks[event->verdict], event->more ? "&" : "");
}

/* Flows A, B, C, D with deadlines 100, 60, 80, 40; E has 90. Writes take 13, sectors hold 512. */
static void rig_set(struct rig *rig, const struct nw_sched_policy *policy, uint8_t flags)
{
    static const uint32_t deadlines[FLOWS] = {100, 60, 80, 40, 90};

    memset(rig, 0, sizeof *rig);
    current = rig;
    rig->block.ops = &image_ops;
    rig->block.sectors = SECTORS;
    rig->block.sector_bytes = 512;
    rig->sched.policy = policy;
    rig->sched.block = &rig->block;
    rig->sched.buffer = rig->buffer;
    rig->sched.event = listen;
    rig->sched.flows = rig->flows;
    rig->sched.flow_count = FLOWS - 1U;
    rig->sched.slot_count = SLOTS;
    rig->sched.flags = flags;
    rig->sched.sector_bytes = 512;
    rig->sched.sectors = SECTORS;
    rig->sched.write_ticks = 13;
    rig->sched.read_ticks = 15;
    for (size_t i = 0; i < FLOWS; i++) {
        rig->flows[i].deadline = deadlines[i];
        rig->flows[i].counts = &rig->counts[i];
    }
}

static void rig_open(struct rig *rig)
{
    assert_int_equal(nw_sched_open(&rig->sched, (uint8_t *)rig->ram, sizeof rig->ram), NW_OK);
}

static int offer_at(struct rig *rig, char flow, uint16_t size, uint32_t time)
{
    struct nw_sched_offer offer = {
        .owner = &rig->sched, .now = time, .size = size, .flow = (uint8_t)(flow - 'A')};

    return nw_sched_submit(&offer);
}

/* One request of 64 bytes for each letter, now. */
static void offer_all(struct rig *rig, const char *letters)
{
    for (; *letters != 0; letters++) {
        assert_int_equal(offer_at(rig, *letters, 64, rig->now), NW_OK);
    }
}

/* One operation of `took` ticks; 0 when there was nothing to do. */
static int step(struct rig *rig, uint32_t took)
{
    int todo = nw_sched_next(&rig->sched, rig->now);

    if (todo > 0) {
        int result = nw_sched_transfer(&rig->sched);

        rig->now += took;
        assert_int_equal(nw_sched_done(&rig->sched, rig->now, result), NW_OK);
        strcat(rig->story, "| ");
    }
    return todo;
}

static void run(struct rig *rig)
{
    while (step(rig, 13) > 0) {
    }
}

static void fifo_serves_in_order_of_arrival(void **state)
{
    struct rig rig;

    (void)state;
    rig_set(&rig, &nw_sched_fifo, 0);
    rig_open(&rig);
    offer_all(&rig, "ABDAC");
    run(&rig);
    /* D waits 39 of its 40 ticks; C ends at 65 of 80. */
    assert_string_equal(rig.story, "A0+ | B0+ | D0+ | A1+ | C0+ | ");
}

static void fifo_drops_late_heads_only_when_asked(void **state)
{
    struct rig rig;

    (void)state;
    rig_set(&rig, &nw_sched_fifo, NW_SCHED_DROP_LATE);
    rig_open(&rig);
    offer_all(&rig, "AAADB");
    run(&rig);
    /* At 39 D would end at 52, after its 40: dropped without an operation. */
    assert_string_equal(rig.story, "A0+ | A1+ | A2+ | D0x B0+ | ");
    rig_set(&rig, &nw_sched_fifo, 0);
    rig_open(&rig);
    offer_all(&rig, "AAADB");
    run(&rig);
    assert_string_equal(rig.story, "A0+ | A1+ | A2+ | D0- | B0- | ");
}

static void edf_serves_by_deadline(void **state)
{
    struct rig rig;

    (void)state;
    rig_set(&rig, &nw_sched_edf, 0);
    rig_open(&rig);
    offer_all(&rig, "ABCDA");
    run(&rig);
    assert_string_equal(rig.story, "D0+ | B0+ | C0+ | A0+ | A1+ | ");
}

static void equal_deadlines_go_by_flow(void **state)
{
    struct rig rig;

    (void)state;
    rig_set(&rig, &nw_sched_edf, 0);
    rig.flows[0].deadline = 60;
    rig_open(&rig);
    offer_all(&rig, "BABA");
    run(&rig);
    assert_string_equal(rig.story, "A0+ | A1+ | B0+ | B1+ | ");
}

static void gedf_takes_followers_while_they_fit(void **state)
{
    struct rig rig;

    (void)state;
    rig_set(&rig, &nw_sched_gedf, 0);
    rig_open(&rig);
    offer_all(&rig, "BABBABBBBBB");
    run(&rig);
    /* Nine B: eight fill a sector, the ninth comes next by its deadline. */
    assert_string_equal(rig.story, "B0+ B1+ B2+ B3+ B4+ B5+ B6+ B7+ | B8+ | A0+ A1+ | ");
}

static void gedf_stops_at_the_first_that_does_not_fit(void **state)
{
    struct rig rig;

    (void)state;
    rig_set(&rig, &nw_sched_gedf, 0);
    rig_open(&rig);
    assert_int_equal(offer_at(&rig, 'A', 300, 0), NW_OK);
    assert_int_equal(offer_at(&rig, 'A', 300, 0), NW_OK);
    assert_int_equal(offer_at(&rig, 'A', 100, 0), NW_OK);
    run(&rig);
    /* 100 would fit beside the first, but requests of a flow keep their order. */
    assert_string_equal(rig.story, "A0+ | A1+ A2+ | ");
}

static void groups_keep_to_sectors_above_32_kib(void **state)
{
    struct rig rig;

    (void)state;
    rig_set(&rig, &nw_sched_gedf, 0);
    rig.sched.block = NULL;
    rig.sched.sector_bytes = 60000;
    rig_open(&rig);
    assert_int_equal(offer_at(&rig, 'A', 40000, 0), NW_OK);
    assert_int_equal(offer_at(&rig, 'A', 40000, 0), NW_OK);
    assert_int_equal(nw_sched_next(&rig.sched, 0), 1);
    /* The sum, 80000, is 14464 in 16 bits. */
    assert_int_equal(nw_sched_members(&rig.sched), 1);
}

static void rgedf_lets_a_larger_group_go_first(void **state)
{
    struct rig rig;

    (void)state;
    rig_set(&rig, &nw_sched_rgedf, 0);
    rig_open(&rig);
    offer_all(&rig, "BAAC");
    run(&rig);
    /* B (60) has one, A (100) two: A first. Then B before C, both of one. */
    assert_string_equal(rig.story, "A0+ A1+ | B0+ | C0+ | ");
}

static void rgedf_keeps_order_when_time_is_short(void **state)
{
    struct rig rig;

    (void)state;
    rig_set(&rig, &nw_sched_rgedf, 0);
    rig_open(&rig);
    offer_all(&rig, "BAA");
    rig.now = 46;
    run(&rig);
    /* 46 + 13 < 60: A goes first, as the paper's rule has it, although B then ends late. */
    assert_string_equal(rig.story, "A0+ A1+ | B0- | ");
    rig_set(&rig, &nw_sched_rgedf, 0);
    rig_open(&rig);
    offer_all(&rig, "BAA");
    rig.now = 47;
    run(&rig);
    assert_string_equal(rig.story, "B0+ | A0+ A1+ | ");
    /* With a buffer time of one write B must not end late. */
    rig_set(&rig, &nw_sched_rgedf, 0);
    rig.sched.guard_ticks = 13;
    rig_open(&rig);
    offer_all(&rig, "BAA");
    rig.now = 34;
    run(&rig);
    assert_string_equal(rig.story, "B0+ | A0+ A1+ | ");
}

static void rgedf_takes_the_earliest_of_larger_groups(void **state)
{
    struct rig rig;

    (void)state;
    rig_set(&rig, &nw_sched_rgedf, 0);
    rig_open(&rig);
    offer_all(&rig, "DAAACC");
    run(&rig);
    assert_string_equal(rig.story, "C0+ C1+ | A0+ A1+ A2+ | D0+ | ");
}

static void slack_looks_at_every_group_it_passes(void **state)
{
    struct rig rig;

    (void)state;
    rig_set(&rig, &nw_sched_slack, 0);
    rig_open(&rig);
    offer_all(&rig, "BAA");
    rig.now = 46;
    run(&rig);
    /* RG-EDF's case above: A would make B late, so B goes first and both are met. */
    assert_string_equal(rig.story, "B0+ | A0+ A1+ | ");
    rig_set(&rig, &nw_sched_slack, 0);
    rig_open(&rig);
    offer_all(&rig, "BAA");
    run(&rig);
    assert_string_equal(rig.story, "A0+ A1+ | B0+ | ");
}

static void slack_plans_with_the_turn_between_operations(void **state)
{
    struct rig rig;

    (void)state;
    rig_set(&rig, &nw_sched_slack, 0);
    rig.sched.turn_ticks = 10;
    rig_open(&rig);
    offer_all(&rig, "BAA");
    rig.now = 30;
    run(&rig);
    /* A until 43, a turn until 53, B until 66: after its 60. */
    assert_string_equal(rig.story, "B0+ | A0+ A1+ | ");
}

static void slack_holds_nothing_back_when_many_flows_wait(void **state)
{
    struct rig rig;

    (void)state;
    rig_set(&rig, &nw_sched_slack, NW_SCHED_SAVE);
    rig.sched.flow_count = FLOWS;
    rig_open(&rig);
    offer_all(&rig, "ABCD");
    assert_int_equal(step(&rig, 13), 0);
    /* It looks at four flows; what a fifth needs it does not know. */
    offer_all(&rig, "E");
    assert_int_equal(step(&rig, 13), 1);
}

static void slack_holds_no_group_back_that_cannot_grow(void **state)
{
    struct rig rig;

    (void)state;
    rig_set(&rig, &nw_sched_slack, NW_SCHED_SAVE);
    rig_open(&rig);
    assert_int_equal(offer_at(&rig, 'A', 100, 0), NW_OK);
    assert_int_equal(step(&rig, 13), 0);
    /* 100 more would fit, but what comes next does not. */
    assert_int_equal(offer_at(&rig, 'A', 500, 0), NW_OK);
    assert_int_equal(step(&rig, 13), 1);
    assert_string_equal(rig.story, "A0+ | ");
}

static void slack_waits_while_deadlines_allow(void **state)
{
    struct rig rig;

    (void)state;
    rig_set(&rig, &nw_sched_slack, NW_SCHED_SAVE);
    rig.sched.guard_ticks = 2;
    rig_open(&rig);
    offer_all(&rig, "B");
    assert_int_equal(step(&rig, 13), 0);
    assert_true(rig.sched.waiting);
    /* 60 - 13 - 2 */
    assert_int_equal(rig.sched.wake, 45);
    rig.now = 40;
    offer_all(&rig, "B");
    assert_int_equal(step(&rig, 13), 0);
    rig.now = 45;
    run(&rig);
    assert_string_equal(rig.story, "B0+ B1+ | ");
}

static void slack_does_not_wait_for_what_cannot_come_in_time(void **state)
{
    struct rig rig;

    (void)state;
    rig_set(&rig, &nw_sched_slack, NW_SCHED_SAVE);
    rig.flows[1].period = 50;
    rig_open(&rig);
    offer_all(&rig, "B");
    /* The next B comes at 50, this one must start at 47. */
    assert_int_equal(step(&rig, 13), 1);
    assert_string_equal(rig.story, "B0+ | ");
}

static void slack_goes_by_deadline_when_not_all_can_be_met(void **state)
{
    struct rig rig;

    (void)state;
    rig_set(&rig, &nw_sched_slack, 0);
    rig_open(&rig);
    offer_all(&rig, "D");
    rig.now = 30;
    offer_all(&rig, "BAA");
    run(&rig);
    /* D is late whatever is done: no larger group passes it. */
    assert_string_equal(rig.story, "D0- | A0+ A1+ | B0+ | ");
}

static void slack_opens_units_when_nothing_waits(void **state)
{
    struct rig rig;

    (void)state;
    rig_set(&rig, &nw_sched_slack, NW_SCHED_PREOPEN);
    rig.sched.unit = 16;
    rig.sched.open_ticks = 90;
    rig.sched.position = 16;
    rig_open(&rig);
    assert_int_equal(nw_sched_next(&rig.sched, 0), 1);
    assert_int_equal(nw_sched_members(&rig.sched), 0);
    assert_null(nw_sched_first(&rig.sched));
    assert_int_equal(nw_sched_transfer(&rig.sched), NW_OK);
    assert_int_equal(nw_sched_done(&rig.sched, 90, NW_OK), NW_OK);
    assert_int_equal(rig.sched.position, 17);
    assert_int_equal(nw_sched_next(&rig.sched, 90), 0);
    rig.now = 90;
    offer_all(&rig, "D");
    run(&rig);
    assert_string_equal(rig.story, "D0+ | ");
    /* A log that is full has no unit to open. */
    rig_set(&rig, &nw_sched_slack, NW_SCHED_PREOPEN);
    rig.sched.unit = 16;
    rig.sched.sectors = 16;
    rig.sched.position = 16;
    rig_open(&rig);
    assert_int_equal(nw_sched_next(&rig.sched, 0), 0);
}

static void slack_opens_a_unit_with_the_longest_group(void **state)
{
    struct rig rig;

    (void)state;
    rig_set(&rig, &nw_sched_slack, 0);
    rig.sched.unit = 16;
    rig.sched.open_ticks = 90;
    rig_open(&rig);
    offer_all(&rig, "BCAA");
    (void)step(&rig, 90);
    run(&rig);
    /* B and C are lost to the opening whoever carries it; A, due at 100, is not. */
    assert_string_equal(rig.story, "A0+ A1+ | B0- | C0- | ");
    rig_set(&rig, &nw_sched_slack, 0);
    rig.sched.unit = 16;
    rig.sched.open_ticks = 20;
    rig_open(&rig);
    offer_all(&rig, "DAA");
    rig.now = 5;
    (void)step(&rig, 20);
    run(&rig);
    /* All can be met if D, due at 40, goes first: the opening is part of the plan. */
    assert_string_equal(rig.story, "D0+ | A0+ A1+ | ");
}

static void slack_reads_before_it_opens_a_unit(void **state)
{
    struct rig rig;
    struct nw_sched_offer offer = {.size = 512, .sector = 3, .flow = 3};

    (void)state;
    rig_set(&rig, &nw_sched_slack, 0);
    rig.flows[3].direction = NW_SCHED_READ;
    rig.sched.unit = 16;
    rig.sched.open_ticks = 90;
    rig_open(&rig);
    offer.owner = &rig.sched;
    assert_int_equal(nw_sched_submit(&offer), NW_OK);
    offer_all(&rig, "AA");
    run(&rig);
    /* Position 0 is the first of a unit: the write waits, the read is not held up by it. */
    assert_string_equal(rig.story, "D0+ | A0+ A1+ | ");
    assert_int_equal(rig.sched.position, 1);
}

static void slack_frees_slots_when_they_run_out(void **state)
{
    struct rig rig;

    (void)state;
    rig_set(&rig, &nw_sched_slack, 0);
    rig_open(&rig);
    offer_all(&rig, "DDDDDBAAAAAA");
    rig.now = 20;
    assert_int_equal(nw_sched_next(&rig.sched, rig.now), 1);
    /* Half of the slots are taken: D, due at 40, cannot let A pass. */
    assert_int_equal(rig.sched.serving, 3);
    rig.sched.busy = 0;
    offer_all(&rig, "A");
    assert_int_equal(nw_sched_next(&rig.sched, rig.now), 1);
    /* One more, and seven slots freed at once count more. */
    assert_int_equal(rig.sched.serving, 0);
}

static void split_reads_go_on_in_the_next_sector(void **state)
{
    struct rig rig;
    struct nw_sched_offer offer;
    uint8_t data[1024];

    (void)state;
    rig_set(&rig, &nw_sched_edf, NW_SCHED_SPLIT);
    rig.flows[0].direction = NW_SCHED_READ;
    rig_open(&rig);
    memset(rig.image[5], 0x55, 512);
    memset(rig.image[6], 0x66, 512);
    offer = (struct nw_sched_offer){
        .owner = &rig.sched, .data = data, .size = sizeof data, .sector = 5};
    assert_int_equal(nw_sched_submit(&offer), NW_OK);
    run(&rig);
    assert_string_equal(rig.story, "A0+& | A0+ | ");
    assert_memory_equal(data, rig.image[5], 1024);
}

static void published_drop_on_miss_looks_at_the_top_alone(void **state)
{
    struct rig rig;

    (void)state;
    rig_set(&rig, &nw_sched_edf, NW_SCHED_DROP_LATE);
    rig_open(&rig);
    offer_all(&rig, "DDB");
    rig.now = 27;
    run(&rig);
    assert_string_equal(rig.story, "D0+ | D1x B0+ | ");
    rig_set(&rig, &nw_sched_edf, NW_SCHED_DROP_LATE);
    rig_open(&rig);
    offer_all(&rig, "DDB");
    rig.now = 28;
    run(&rig);
    assert_string_equal(rig.story, "D0x D1x B0+ | ");
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
            struct rig rig;

            rig_set(&rig, policies[p], NW_SCHED_DROP_LATE | NW_SCHED_LEARN);
            rig.now = early == 0 ? 1000U : 0U - early;
            rig_open(&rig);
            offer_all(&rig, "ABDABCAD");
            (void)step(&rig, 13);
            offer_all(&rig, "BBDA");
            run(&rig);
            if (early == 0) {
                strcpy(expected, rig.story);
            }
            assert_string_equal(rig.story, expected);
        }
    }
}

static void device_error_hits_only_its_group(void **state)
{
    struct rig rig;

    (void)state;
    rig_set(&rig, &nw_sched_gedf, 0);
    rig_open(&rig);
    offer_all(&rig, "BBAA");
    rig.fail = NW_ERR_PROGRAM;
    run(&rig);
    assert_string_equal(rig.story, "B0! B1! | A0+ A1+ | ");
    assert_int_equal(rig.counts[1].of[NW_SCHED_FAILED], 2);
    assert_int_equal(rig.counts[0].of[NW_SCHED_MET], 2);
    /* What the failed sector holds is unknown: the next group went to the one after it. */
    assert_int_equal(rig.sched.position, 2);
}

static void deadline_already_over_is_counted(void **state)
{
    struct rig rig;

    (void)state;
    rig_set(&rig, &nw_sched_edf, NW_SCHED_DROP_LATE);
    rig.now = 500;
    rig_open(&rig);
    assert_int_equal(offer_at(&rig, 'A', 64, 300), NW_OK);
    run(&rig);
    assert_string_equal(rig.story, "A0x ");
    assert_int_equal(rig.counts[0].of[NW_SCHED_PAST], 1);
    assert_int_equal(rig.counts[0].of[NW_SCHED_DROPPED], 1);
    rig_set(&rig, &nw_sched_edf, 0);
    rig.now = 500;
    rig_open(&rig);
    assert_int_equal(offer_at(&rig, 'A', 64, 300), NW_OK);
    run(&rig);
    assert_string_equal(rig.story, "A0- | ");
    assert_int_equal(rig.counts[0].of[NW_SCHED_PAST], 1);
}

static void too_large_is_refused_or_split(void **state)
{
    struct rig rig;
    struct nw_sched_offer offer;
    uint8_t data[1200];

    (void)state;
    for (size_t i = 0; i < sizeof data; i++) {
        data[i] = (uint8_t)(i * 7U + i / 512U);
    }
    rig_set(&rig, &nw_sched_gedf, 0);
    rig_open(&rig);
    assert_int_equal(offer_at(&rig, 'A', 513, 0), NW_ERR_RANGE);
    assert_int_equal(offer_at(&rig, 'A', 0, 0), NW_ERR_RANGE);
    assert_int_equal(offer_at(&rig, 'A', 512, 0), NW_OK);
    assert_int_equal(rig.counts[0].of[NW_SCHED_REFUSED], 2);
    rig_set(&rig, &nw_sched_gedf, NW_SCHED_SPLIT);
    rig_open(&rig);
    offer = (struct nw_sched_offer){
        .owner = &rig.sched, .data = data, .size = sizeof data, .sector = 77};
    assert_int_equal(nw_sched_submit(&offer), NW_OK);
    for (unsigned i = 0; i < 3; i++) {
        /* Of a write this is the producer's own word, the same for every piece. */
        assert_int_equal(rig.sched.slots[i].sector, 77);
    }
    run(&rig);
    assert_string_equal(rig.story, "A0+& | A0+& | A0+ | ");
    assert_int_equal(rig.counts[0].of[NW_SCHED_MET], 1);
    assert_int_equal(rig.counts[0].of[NW_SCHED_OFFERED], 1);
    assert_memory_equal(rig.image[0], data, 512);
    assert_memory_equal(rig.image[1], data + 512, 512);
    assert_memory_equal(rig.image[2], data + 1024, 176);
}

static void failed_piece_fails_the_whole(void **state)
{
    struct rig rig;

    (void)state;
    rig_set(&rig, &nw_sched_gedf, NW_SCHED_SPLIT);
    rig_open(&rig);
    assert_int_equal(offer_at(&rig, 'A', 1000, 0), NW_OK);
    assert_int_equal(offer_at(&rig, 'A', 64, 0), NW_OK);
    rig.fail = NW_ERR_IO;
    run(&rig);
    assert_string_equal(rig.story, "A0!& | A0! | A1+ | ");
    assert_int_equal(rig.counts[0].of[NW_SCHED_FAILED], 1);
    assert_int_equal(rig.counts[0].of[NW_SCHED_MET], 1);
}

static void full_queue_refuses_and_counts(void **state)
{
    struct rig rig;

    (void)state;
    rig_set(&rig, &nw_sched_gedf, NW_SCHED_SPLIT);
    rig.flows[1].limit = 2;
    rig_open(&rig);
    assert_int_equal(offer_at(&rig, 'B', 64, 0), NW_OK);
    assert_int_equal(offer_at(&rig, 'B', 1024, 0), NW_ERR_FULL);
    assert_int_equal(offer_at(&rig, 'B', 64, 0), NW_OK);
    assert_int_equal(offer_at(&rig, 'B', 64, 0), NW_ERR_FULL);
    for (uint32_t i = 0; i < SLOTS - 2U; i++) {
        assert_int_equal(offer_at(&rig, 'A', 64, 0), NW_OK);
    }
    assert_int_equal(offer_at(&rig, 'A', 64, 0), NW_ERR_FULL);
    assert_int_equal(rig.counts[0].of[NW_SCHED_FULL], 1);
    assert_int_equal(rig.counts[1].of[NW_SCHED_FULL], 2);
    run(&rig);
    /* All slots came back: the rings have gone round. */
    for (uint32_t i = 0; i < SLOTS; i++) {
        assert_int_equal(offer_at(&rig, 'A', 64, rig.now), NW_OK);
    }
}

static int hurried; /* what the door answered to a request in the middle of the main loop's work */

static void submit_again(struct nw_sched_event *event)
{
    struct nw_sched_offer offer = {
        .owner = event->owner, .now = current->now, .size = 64, .flow = event->flow};

    listen(event);
    hurried = nw_sched_submit(&offer);
}

static void a_slot_is_free_after_its_event(void **state)
{
    struct rig rig;

    (void)state;
    rig_set(&rig, &nw_sched_gedf, 0);
    rig.sched.slot_count = 2;
    rig.sched.event = submit_again;
    rig_open(&rig);
    offer_all(&rig, "AA");
    (void)step(&rig, 13);
    /* While A0 is told its slot is still its own; while A1 is told that of A0 is free. */
    assert_string_equal(rig.story, "A0+ A1+ | ");
    assert_int_equal(hurried, NW_OK);
    assert_int_equal(rig.counts[0].of[NW_SCHED_FULL], 1);
    rig.sched.event = listen;
    run(&rig);
    assert_string_equal(rig.story, "A0+ A1+ | A3+ | ");
}

static void reads_have_deadlines_too(void **state)
{
    struct rig rig;
    struct nw_sched_offer offer;
    uint8_t data[512];

    (void)state;
    rig_set(&rig, &nw_sched_rgedf, 0);
    rig.flows[3].direction = NW_SCHED_READ;
    rig_open(&rig);
    memset(rig.image[9], 0x5C, 512);
    offer = (struct nw_sched_offer){
        .owner = &rig.sched, .data = data, .size = 512, .sector = 9, .flow = 3};
    offer_all(&rig, "A");
    assert_int_equal(nw_sched_submit(&offer), NW_OK);
    assert_int_equal(nw_sched_submit(&offer), NW_OK);
    run(&rig);
    /* Reads are never grouped. */
    assert_string_equal(rig.story, "D0+ | D1+ | A0+ | ");
    assert_memory_equal(data, rig.image[9], 512);
    assert_int_equal(rig.sched.position, 1);
}

static void sectors_hold_the_group_and_zeros(void **state)
{
    struct rig rig;
    uint8_t data[2][300];

    (void)state;
    memset(data[0], 0x11, 300);
    memset(data[1], 0x22, 300);
    rig_set(&rig, &nw_sched_gedf, 0);
    rig_open(&rig);
    for (uint16_t i = 0; i < 4; i++) {
        struct nw_sched_offer offer = {
            .owner = &rig.sched, .data = data[i & 1U], .size = (uint16_t)(i < 2 ? 200 : 50)};

        assert_int_equal(nw_sched_submit(&offer), NW_OK);
        if (i == 1) {
            run(&rig);
        }
    }
    run(&rig);
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
    struct rig rig;

    (void)state;
    rig_set(&rig, &nw_sched_fifo, 0);
    rig.sched.sectors = 2;
    rig_open(&rig);
    offer_all(&rig, "AAA");
    run(&rig);
    assert_string_equal(rig.story, "A0+ | A1+ | A2! | ");
    rig_set(&rig, &nw_sched_fifo, NW_SCHED_WRAP);
    rig.sched.sectors = 2;
    rig_open(&rig);
    offer_all(&rig, "AAA");
    run(&rig);
    assert_string_equal(rig.story, "A0+ | A1+ | A2+ | ");
    assert_int_equal(rig.sched.position, 1);
}

static void times_are_learned(void **state)
{
    struct rig rig;

    (void)state;
    rig_set(&rig, &nw_sched_gedf, NW_SCHED_LEARN);
    rig.sched.write_ticks = 0;
    rig_open(&rig);
    offer_all(&rig, "A");
    (void)step(&rig, 20);
    assert_int_equal(rig.sched.write_ticks, 20);
    offer_all(&rig, "A");
    (void)step(&rig, 4);
    /* Downwards by a sixteenth of the difference. */
    assert_int_equal(rig.sched.write_ticks, 19);
    /* What an opening takes says nothing about other writes. */
    rig_set(&rig, &nw_sched_gedf, NW_SCHED_LEARN);
    rig.sched.unit = 16;
    rig_open(&rig);
    offer_all(&rig, "A");
    (void)step(&rig, 90);
    assert_int_equal(rig.sched.open_ticks, 90);
    assert_int_equal(rig.sched.write_ticks, 13);
    /* At the end of the log a unit is left in its middle; its start is opened anew. */
    rig_set(&rig, &nw_sched_gedf, NW_SCHED_LEARN | NW_SCHED_WRAP);
    rig.sched.unit = 16;
    rig.sched.sectors = 24;
    rig.sched.position = 24;
    rig_open(&rig);
    offer_all(&rig, "A");
    (void)step(&rig, 80);
    assert_int_equal(rig.sched.open_ticks, 80);
    /* From one operation to the next is a turn, idle time is not. */
    offer_all(&rig, "A");
    (void)step(&rig, 13);
    assert_int_equal(rig.sched.turn_ticks, 0);
    offer_all(&rig, "AB");
    (void)step(&rig, 13);
    rig.now += 2;
    (void)step(&rig, 13);
    assert_int_equal(rig.sched.turn_ticks, 2);
    rig.now += 50;
    offer_all(&rig, "A");
    (void)step(&rig, 13);
    assert_int_equal(rig.sched.turn_ticks, 2);
}

/* A write that takes longer than a deadline must not end all writing. */
static void one_slow_write_is_outlived(void **state)
{
    struct rig rig;

    (void)state;
    rig_set(&rig, &nw_sched_gedf, NW_SCHED_DROP_LATE | NW_SCHED_LEARN);
    rig_open(&rig);
    offer_all(&rig, "D");
    (void)step(&rig, 90);
    assert_int_equal(rig.sched.write_ticks, 90);
    /* Of 40 ticks 20 are left: tried, and with it a shorter time is learned. */
    offer_all(&rig, "D");
    rig.now += 20;
    (void)step(&rig, 13);
    assert_int_equal(rig.sched.write_ticks, 85);
    /* Less than half is left: given up. */
    offer_all(&rig, "D");
    rig.now += 21;
    (void)step(&rig, 13);
    assert_string_equal(rig.story, "D0- | D1+ | D2x ");
    /* A time that is given is believed. */
    rig_set(&rig, &nw_sched_gedf, NW_SCHED_DROP_LATE);
    rig.sched.write_ticks = 41;
    rig_open(&rig);
    offer_all(&rig, "D");
    (void)step(&rig, 13);
    assert_string_equal(rig.story, "D0x ");
}

static void spare_time_leaves_room_for_all(void **state)
{
    struct rig rig;

    (void)state;
    rig_set(&rig, &nw_sched_gedf, 0);
    rig_open(&rig);
    /* The shortest deadline, 40, less an operation of each of four flows: nothing can be lent. */
    assert_int_equal(nw_sched_spare_ticks(&rig.sched, 0), 0);
    rig.flows[1].deadline = rig.flows[2].deadline = rig.flows[3].deadline = 100;
    assert_int_equal(nw_sched_spare_ticks(&rig.sched, 0), 100 - 4 * 13);
    offer_all(&rig, "A");
    assert_int_equal(nw_sched_spare_ticks(&rig.sched, 0), 0); /* not yet taken in */
    /* Of 17 requests 9 are left, which are two writes; of 100 ticks 87. */
    offer_all(&rig, "AAAAAAAAAAAAAAAA");
    (void)step(&rig, 13);
    assert_int_equal(nw_sched_spare_ticks(&rig.sched, rig.now), 87 - 5 * 13);
}

static void bad_configurations_are_refused(void **state)
{
    struct rig rig;

    (void)state;
    rig_set(&rig, &nw_sched_gedf, 0);
    assert_int_equal(nw_sched_open(&rig.sched, (uint8_t *)rig.ram, 10), NW_ERR_RAM);
    rig.flows[2].deadline = 0;
    assert_int_equal(nw_sched_open(&rig.sched, (uint8_t *)rig.ram, sizeof rig.ram), NW_ERR_CONFIG);
    rig_set(&rig, &nw_sched_gedf, 0);
    rig.sched.slot_count = NW_SCHED_SLOTS_MAX + 1U;
    assert_int_equal(nw_sched_open(&rig.sched, (uint8_t *)rig.ram, sizeof rig.ram), NW_ERR_CONFIG);
    rig_set(&rig, &nw_sched_gedf, 0);
    rig.sched.first = 1;
    assert_int_equal(nw_sched_open(&rig.sched, (uint8_t *)rig.ram, sizeof rig.ram), NW_ERR_RANGE);
    rig.sched.sectors = 0; /* a log without an end would run over the rest of the device */
    assert_int_equal(nw_sched_open(&rig.sched, (uint8_t *)rig.ram, sizeof rig.ram), NW_ERR_CONFIG);
    rig_set(&rig, &nw_sched_gedf, 0);
    rig_open(&rig);
    offer_all(&rig, "A");
    assert_int_equal(nw_sched_next(&rig.sched, 0), 1);
    assert_int_equal(nw_sched_next(&rig.sched, 0), NW_ERR_CONFIG);
    assert_int_equal(nw_sched_done(&rig.sched, 13, NW_OK), NW_OK);
    assert_int_equal(nw_sched_done(&rig.sched, 13, NW_OK), NW_ERR_CONFIG);
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
        cmocka_unit_test(slack_looks_at_every_group_it_passes),
        cmocka_unit_test(slack_plans_with_the_turn_between_operations),
        cmocka_unit_test(slack_holds_nothing_back_when_many_flows_wait),
        cmocka_unit_test(slack_holds_no_group_back_that_cannot_grow),
        cmocka_unit_test(slack_waits_while_deadlines_allow),
        cmocka_unit_test(slack_does_not_wait_for_what_cannot_come_in_time),
        cmocka_unit_test(slack_goes_by_deadline_when_not_all_can_be_met),
        cmocka_unit_test(slack_opens_units_when_nothing_waits),
        cmocka_unit_test(slack_opens_a_unit_with_the_longest_group),
        cmocka_unit_test(slack_reads_before_it_opens_a_unit),
        cmocka_unit_test(slack_frees_slots_when_they_run_out),
        cmocka_unit_test(split_reads_go_on_in_the_next_sector),
        cmocka_unit_test(published_drop_on_miss_looks_at_the_top_alone),
        cmocka_unit_test(clock_wraps_around),
        cmocka_unit_test(device_error_hits_only_its_group),
        cmocka_unit_test(deadline_already_over_is_counted),
        cmocka_unit_test(too_large_is_refused_or_split),
        cmocka_unit_test(failed_piece_fails_the_whole),
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

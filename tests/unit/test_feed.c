/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: the deadline scheduler feeds streams of the object store: what was told met or late lies in
 * its flow's stream, in order and once, also after a power cut at any chip operation; a group that
 * shares a page costs one program.
 */
#include "nandwich/feed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "nandwich-twin/nand.h"
#include "nandwich-twin/parts.h"

#define FLOWS 3U
#define SLOTS 16U
#define RECORD 32U
#define MOST 400U

struct rig {
    struct nw_sched sched;
    struct nw_sched_flow flows[FLOWS];
    struct nw_sched_counts counts[FLOWS];
    uint64_t ram[NW_SCHED_RAM_BYTES(SLOTS, FLOWS) / 8U + 1U];
    struct nw_nand *nand;
    struct nw_store *store;
    void *store_ram;
    size_t store_bytes;
    int streams[FLOWS];
    uint8_t records[FLOWS][MOST][RECORD]; /* by number of the offer */
    uint32_t offered[FLOWS];
    uint32_t told[FLOWS][MOST]; /* numbers of those told met or late, in the order told */
    uint32_t told_count[FLOWS];
    uint32_t failed;
};

static struct rig *current;

static const struct nw_store_config store_config = {.objects = 4, .anchor_bytes = 4096,
                                                    .frames = 24};
static const char *const names[FLOWS] = {"light", "sound", "heat"};

static void listen(struct nw_sched_event *event)
{
    struct rig *rig = current;

    if (event->verdict <= NW_SCHED_LATE) {
        rig->told[event->flow][rig->told_count[event->flow]++] = event->slot->sequence - 1U;
    }
    rig->failed += event->verdict == NW_SCHED_FAILED;
}

static uint32_t now_us(const struct rig *rig)
{
    return (uint32_t)(nw_nand_meter(rig->nand)->time_ns / 1000U);
}

static void rig_open(struct rig *rig)
{
    struct nw_part part;

    memset(rig, 0, sizeof *rig);
    current = rig;
    assert_int_equal(nw_parts_get("TC58DVG02A1FT00", &part), NW_OK);
    part.blocks = 40;
    part.block_pages = 16;
    part.factory_bad = 0;
    struct nw_nand_config config = {.part = &part, .seed = 7};
    assert_int_equal(nw_nand_open(&rig->nand, &config), NW_OK);
    struct nw_chip *chip = nw_nand_chip(rig->nand);
    rig->store_bytes = nw_store_ram_bytes(&store_config, &chip->geometry);
    rig->store_ram = malloc(rig->store_bytes);
    assert_non_null(rig->store_ram);
    assert_int_equal(nw_store_format(&rig->store, chip, &store_config, rig->store_ram,
                                     rig->store_bytes), NW_OK);
    rig->sched.policy = &nw_sched_gedf;
    rig->sched.event = listen;
    rig->sched.flows = rig->flows;
    rig->sched.flow_count = FLOWS;
    rig->sched.slot_count = SLOTS;
    rig->sched.flags = NW_SCHED_LEARN | NW_SCHED_DROP_LATE;
    rig->sched.sector_bytes = NW_FEED_SECTOR_BYTES(512);
    for (uint32_t i = 0; i < FLOWS; i++) {
        struct nw_store_spec spec = {.type = NW_STORE_STREAM, .unit_bytes = RECORD};

        rig->streams[i] = nw_store_create(rig->store, names[i], &spec);
        assert_true(rig->streams[i] > 0);
        rig->flows[i].deadline = 3000U + 1000U * i;
        rig->flows[i].counts = &rig->counts[i];
    }
    assert_int_equal(nw_sched_open(&rig->sched, (uint8_t *)rig->ram, sizeof rig->ram), NW_OK);
}

static void rig_close(struct rig *rig)
{
    nw_nand_close(rig->nand);
    free(rig->store_ram);
}

static void offer(struct rig *rig, uint8_t flow)
{
    uint32_t number = rig->offered[flow]++;
    uint8_t *record = rig->records[flow][number];
    struct nw_sched_offer offer = {.owner = &rig->sched, .now = now_us(rig), .data = record,
                                   .size = RECORD, .flow = flow};

    memset(record, (int)(number * 7U + flow), RECORD);
    record[0] = (uint8_t)number;
    record[1] = (uint8_t)(number >> 8);
    (void)nw_sched_submit(&offer); /* a full queue is counted */
}

/* 150 rounds of work, or up to the first error. */
static void work(struct rig *rig)
{
    for (uint32_t round = 0; round < 150 && rig->failed == 0; round++) {
        for (uint8_t flow = 0; flow < FLOWS; flow++) {
            for (uint32_t i = 0; i < 1U + (round + flow) % 3U; i++) {
                if (rig->offered[flow] < MOST) {
                    offer(rig, flow);
                }
            }
        }
        while (nw_sched_next(&rig->sched, now_us(rig)) > 0) {
            int result = nw_feed_transfer(&rig->sched, rig->store, rig->streams);

            assert_int_equal(nw_sched_done(&rig->sched, now_us(rig), result), NW_OK);
        }
    }
}

/* Every stream holds what was told, in order; behind it, after a cut, at most the group that was
 * under way. */
static void check_streams(struct rig *rig, uint32_t more)
{
    for (uint32_t flow = 0; flow < FLOWS; flow++) {
        struct nw_store_cursor cursor;
        uint8_t record[RECORD];
        uint32_t count = 0;
        int stream = nw_store_find(rig->store, names[flow]);
        int last = -1;

        assert_int_equal(nw_store_first(rig->store, stream, &cursor), NW_OK);
        for (;; count++) {
            int length = nw_store_next(rig->store, &cursor, record, RECORD);
            int number = record[0] | record[1] << 8;

            if (length == 0) {
                break;
            }
            assert_int_equal(length, RECORD);
            assert_true(number > last);
            assert_memory_equal(record, rig->records[flow][number], RECORD);
            if (count < rig->told_count[flow]) {
                assert_int_equal(number, rig->told[flow][count]);
            }
            last = number;
        }
        assert_true(count >= rig->told_count[flow]);
        assert_true(count <= rig->told_count[flow] + more);
    }
}

static void streams_hold_what_was_told(void **state)
{
    static struct rig rig;

    (void)state;
    rig_open(&rig);
    work(&rig);
    assert_int_equal(rig.failed, 0);
    check_streams(&rig, 0);
    for (uint32_t flow = 0; flow < FLOWS; flow++) {
        const uint32_t *of = rig.counts[flow].of;

        assert_true(of[NW_SCHED_OFFERED] == 300 && of[NW_SCHED_MET] > 200);
        assert_int_equal(of[NW_SCHED_MET] + of[NW_SCHED_LATE] + of[NW_SCHED_DROPPED] +
                         of[NW_SCHED_FULL], of[NW_SCHED_OFFERED]);
    }
    rig_close(&rig);
}

static void a_group_costs_one_program(void **state)
{
    static struct rig rig;
    uint32_t before;

    (void)state;
    rig_open(&rig);
    /* The page begun by the creation of the streams is left first. */
    offer(&rig, 0);
    assert_int_equal(nw_sched_next(&rig.sched, 0), 1);
    assert_int_equal(nw_feed_transfer(&rig.sched, rig.store, rig.streams), NW_OK);
    assert_int_equal(nw_sched_done(&rig.sched, 0, NW_OK), NW_OK);
    for (int i = 0; i < 8; i++) {
        offer(&rig, 1);
    }
    assert_int_equal(nw_sched_next(&rig.sched, 0), 1);
    assert_int_equal(nw_sched_members(&rig.sched), 8);
    before = nw_store_stats(rig.store)->programs;
    assert_int_equal(nw_feed_transfer(&rig.sched, rig.store, rig.streams), NW_OK);
    assert_int_equal(nw_store_stats(rig.store)->programs - before, 1);
    rig_close(&rig);
}

static void reads_take_a_chunk(void **state)
{
    static struct rig rig;
    uint8_t found[2U * RECORD] = {0};
    struct nw_sched_offer wish = {.owner = &rig.sched, .data = found, .size = sizeof found,
                                  .flow = 2};

    (void)state;
    rig_open(&rig);
    rig.flows[2].direction = NW_SCHED_READ;
    rig.streams[2] = rig.streams[0];
    offer(&rig, 0);
    offer(&rig, 0);
    assert_int_equal(nw_sched_next(&rig.sched, 0), 1);
    assert_int_equal(nw_feed_transfer(&rig.sched, rig.store, rig.streams), NW_OK);
    assert_int_equal(nw_sched_done(&rig.sched, 0, NW_OK), NW_OK);
    assert_int_equal(nw_sched_submit(&wish), NW_OK);
    assert_int_equal(nw_sched_next(&rig.sched, 0), 1);
    assert_int_equal(nw_feed_transfer(&rig.sched, rig.store, rig.streams), NW_OK);
    assert_memory_equal(found, rig.records[0], sizeof found);
    assert_int_equal(nw_sched_done(&rig.sched, 0, NW_OK), NW_OK);
    /* No such chunk, and a request without data. */
    wish.sector = 99;
    assert_int_equal(nw_sched_submit(&wish), NW_OK);
    assert_int_equal(nw_sched_next(&rig.sched, 0), 1);
    assert_int_equal(nw_feed_transfer(&rig.sched, rig.store, rig.streams), NW_ERR_RANGE);
    assert_int_equal(nw_sched_done(&rig.sched, 0, NW_ERR_RANGE), NW_OK);
    assert_int_equal(rig.failed, 1);
    wish.data = NULL;
    assert_int_equal(nw_sched_submit(&wish), NW_OK);
    assert_int_equal(nw_sched_next(&rig.sched, 0), 1);
    assert_int_equal(nw_feed_transfer(&rig.sched, rig.store, rig.streams), NW_ERR_RANGE);
    rig_close(&rig);
}

/* On a store about to be full there was no room for a large piece and then some for the small one
 * behind it: tails without heads lay in the stream. */
static void a_full_store_keeps_no_tail_without_its_head(void **state)
{
    static struct rig rig;
    uint8_t record[RECORD];
    uint8_t data[2U * NW_FEED_SECTOR_BYTES(512) + RECORD];
    struct nw_sched_offer large = {.owner = &rig.sched, .data = data, .size = sizeof data};
    struct nw_store_cursor cursor;
    uint8_t next = 0;

    (void)state;
    rig_open(&rig);
    rig.sched.flags = NW_SCHED_SPLIT;
    rig.sched.event = NULL;
    assert_int_equal(nw_sched_open(&rig.sched, (uint8_t *)rig.ram, sizeof rig.ram), NW_OK);
    for (uint32_t i = 0; i < 400; i++) {
        for (size_t at = 0; at < sizeof data; at++) {
            data[at] = (uint8_t)(at / RECORD);
        }
        assert_int_equal(nw_sched_submit(&large), NW_OK);
        while (nw_sched_next(&rig.sched, 0) > 0) {
            int result = nw_feed_transfer(&rig.sched, rig.store, rig.streams);

            assert_int_equal(nw_sched_done(&rig.sched, 0, result), NW_OK);
        }
    }
    assert_true(rig.counts[0].of[NW_SCHED_MET] > 50 && rig.counts[0].of[NW_SCHED_FAILED] > 0);
    assert_int_equal(nw_store_first(rig.store, rig.streams[0], &cursor), NW_OK);
    while (nw_store_next(rig.store, &cursor, record, RECORD) == RECORD) {
        assert_true(record[0] == 0 || record[0] == next);
        next = (uint8_t)(record[0] + 1U);
    }
    rig_close(&rig);
}

static struct nw_sched_event heard;
static uint16_t heard_bytes;

static void hear(struct nw_sched_event *event)
{
    heard = *event;
    heard_bytes = event->slot->size;
}

/* What one read of `bytes` at a chunk is told as. */
static uint8_t read_told(struct rig *rig, uint8_t *data, uint32_t chunk, uint16_t bytes)
{
    struct nw_sched_offer wish = {.owner = &rig->sched, .data = data, .sector = chunk,
                                  .size = bytes, .flow = 2};

    assert_int_equal(nw_sched_submit(&wish), NW_OK);
    assert_int_equal(nw_sched_next(&rig->sched, 0), 1);
    int result = nw_feed_transfer(&rig->sched, rig->store, rig->streams);
    assert_int_equal(nw_sched_done(&rig->sched, 0, result), NW_OK);
    return heard.verdict;
}

/* The chunk behind the last one was met with nothing delivered, and nobody told how much a read had
 * delivered; of a chunk without units the first bytes were promised and refused. */
static void reads_tell_how_much_they_took(void **state)
{
    static struct rig rig;
    struct nw_store_spec loose = {.type = NW_STORE_STREAM};
    uint8_t found[4U * RECORD];

    (void)state;
    rig_open(&rig);
    rig.sched.event = hear;
    rig.flows[2].direction = NW_SCHED_READ;
    rig.streams[2] = rig.streams[0];
    offer(&rig, 0);
    offer(&rig, 0);
    assert_int_equal(nw_sched_next(&rig.sched, 0), 1);
    assert_int_equal(nw_feed_transfer(&rig.sched, rig.store, rig.streams), NW_OK);
    assert_int_equal(nw_sched_done(&rig.sched, 0, NW_OK), NW_OK);
    assert_int_equal(read_told(&rig, found, 0, sizeof found), NW_SCHED_MET);
    assert_int_equal(heard_bytes, 2U * RECORD);
    assert_memory_equal(found, rig.records[0], 2U * RECORD);
    assert_int_equal(read_told(&rig, found, 0, 2U * RECORD - 1U), NW_SCHED_MET);
    assert_int_equal(heard_bytes, RECORD);
    assert_int_equal(read_told(&rig, found, 0, RECORD - 1U), NW_SCHED_FAILED);
    assert_int_equal(heard.error, NW_ERR_RANGE);
    assert_int_equal(heard_bytes, RECORD - 1U);
    /* Behind the last chunk: nothing there yet. */
    assert_int_equal(read_told(&rig, found, 1, sizeof found), NW_SCHED_FAILED);
    assert_int_equal(heard.error, NW_ERR_RANGE);
    /* Without a unit a chunk is one element, and comes whole. */
    rig.streams[2] = nw_store_create(rig.store, "loose", &loose);
    assert_int_equal(nw_store_append(rig.store, rig.streams[2], rig.records[0], 50), NW_OK);
    assert_int_equal(read_told(&rig, found, 0, sizeof found), NW_SCHED_MET);
    assert_int_equal(heard_bytes, 50);
    assert_int_equal(read_told(&rig, found, 0, 49), NW_SCHED_FAILED);
    assert_int_equal(heard.error, NW_ERR_RANGE);
    /* Dropped since, no such stream, nothing chosen. */
    assert_int_equal(nw_store_append(rig.store, rig.streams[2], rig.records[0], 50), NW_OK);
    assert_int_equal(nw_store_trim(rig.store, rig.streams[2], 1), NW_OK);
    assert_int_equal(read_told(&rig, found, 0, sizeof found), NW_SCHED_FAILED);
    assert_int_equal(heard.error, NW_ERR_NOT_FOUND);
    rig.streams[2] = 99;
    assert_int_equal(read_told(&rig, found, 0, sizeof found), NW_SCHED_FAILED);
    assert_int_equal(heard.error, NW_ERR_NOT_FOUND);
    assert_int_equal(nw_feed_transfer(&rig.sched, rig.store, rig.streams), NW_ERR_CONFIG);
    rig_close(&rig);
}

static void what_was_told_survives_every_cut(void **state)
{
    static struct rig rig;
    uint64_t operations;

    (void)state;
    rig_open(&rig);
    operations = nw_nand_operations(rig.nand);
    work(&rig);
    operations = nw_nand_operations(rig.nand) - operations;
    rig_close(&rig);
    assert_true(operations > 100);
    for (uint32_t i = 0; i < 3U * operations; i++) {
        struct nw_cut cut = {.after = i / 3U, .phase = (uint8_t)(i % 3U)};

        rig_open(&rig);
        nw_nand_cut(rig.nand, &cut);
        work(&rig);
        assert_true(rig.failed > 0);
        nw_nand_power_up(rig.nand);
        memset(rig.store_ram, 0xA5, rig.store_bytes);
        assert_int_equal(nw_store_mount(&rig.store, nw_nand_chip(rig.nand), &store_config,
                                        rig.store_ram, rig.store_bytes), NW_OK);
        check_streams(&rig, rig.failed);
        rig_close(&rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(streams_hold_what_was_told),
        cmocka_unit_test(a_group_costs_one_program),
        cmocka_unit_test(reads_take_a_chunk),
        cmocka_unit_test(reads_tell_how_much_they_took),
        cmocka_unit_test(a_full_store_keeps_no_tail_without_its_head),
        cmocka_unit_test(what_was_told_survives_every_cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

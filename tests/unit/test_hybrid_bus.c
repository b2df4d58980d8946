/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: errors of the bus use up no block. While programs answer NW_ERR_IO each call may fail, but
 * the call behind the last such error works, in the same session and after a mount, and no sector
 * shows what was never written to it. Once each error closed the block that it struck, and the next
 * call took another one to write the sector anew: four to six errors in a row took all free blocks,
 * and every write answered NW_ERR_FULL for good, through idle time and mounts, on a chip without a
 * bad block.
 * ctest: quick
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "layer_rig.h"

#define STARTS 40U
#define AFTER 30U
#define MIXES 600U

static const struct nw_layer_kind *const kinds[] = {&nw_layer_fast, &nw_layer_log, &nw_layer_nftl,
                                                    &nw_layer_superblock};

#define KINDS (sizeof kinds / sizeof kinds[0])

static const struct layer_shape shape = {
    .part = "K9F1G08U0A",
    .blocks = 40,
    .block_pages = 8,
    .page_bytes = 512,
    .no_copy = 1,
    .spare_blocks = 10};

static const struct layer_shape small = {.part = "K9F1G08U0A",
                                         .blocks = 20,
                                         .block_pages = 8,
                                         .page_bytes = 512,
                                         .no_copy = 1,
                                         .spare_blocks = 10};

static struct layer_rig rig;
static struct nw_random numbers;

static int write_at(uint32_t sector)
{
    struct layer_op op = {.kind = OP_WRITE, .sector = sector, .count = 1};

    return layer_rig_run(&rig, &op);
}

static int write_any(void)
{
    return write_at(nw_random_below(&numbers, rig.sectors));
}

/* A full device, so many writes old. */
static void begin_on(const struct nw_layer_kind *kind, const struct layer_shape *part,
                     uint32_t writes)
{
    nw_random_seed(&numbers, 1);
    layer_rig_open(&rig, kind, part, 1);
    assert_int_equal(layer_rig_filter(&rig), NW_OK);
    for (uint32_t sector = 0; sector < rig.sectors; sector++) {
        assert_int_equal(write_at(sector), NW_OK);
    }
    for (uint32_t i = 0; i < writes; i++) {
        assert_int_equal(write_any(), NW_OK);
    }
}

static void begin(const struct nw_layer_kind *kind, uint32_t writes)
{
    begin_on(kind, &shape, writes);
}

/* What follows works: `what` tells which case it is. */
static void go_on(uint32_t start, uint32_t errors)
{
    int result = NW_OK;

    layer_rig_quiet(&rig);
    for (uint32_t session = 0; result == NW_OK && session < 2U; session++) {
        for (uint32_t i = 0; result == NW_OK && i < AFTER; i++) {
            result = write_any();
        }
        result = result == NW_OK ? layer_rig_check(&rig, 0) : result;
        result = result == NW_OK ? layer_rig_mount(&rig) : result;
    }
    if (result < 0 || layer_rig_check(&rig, 0) < 0 || layer_rig_clean(&rig) < 0) {
        fail_msg("%s, %u writes, %u errors, acts %u: answer %d; %s", rig.kind->name,
                 (unsigned)start, (unsigned)errors, (unsigned)rig.fault.acts, result, rig.why);
    }
    layer_rig_close(&rig);
}

/* So many programs in a row fail. */
static void test_burst(void **state)
{
    static const uint32_t errors[] = {4, 5, 6, 13};

    (void)state;
    for (uint32_t i = 0; i < KINDS * STARTS * 8U; i++) {
        uint32_t start = i / 8U % STARTS;
        uint32_t count = errors[i / 2U % 4U];

        begin(kinds[i / (8U * STARTS)], start);
        rig.fault = (struct nw_fault){.verb = NW_VERB_PROGRAM,
                                      .acts = (uint8_t)(i % 2U),
                                      .times = count,
                                      .error = NW_ERR_IO};
        for (uint32_t turn = 0; rig.fault.hits < count && turn < 100U; turn++) {
            (void)write_any();
        }
        assert_int_equal(rig.fault.hits, count);
        go_on(start, count);
    }
}

/* One program in `gap` fails, again and again: merges never come to their end for a while, and
 * others fail at their last page. */
static void test_again_and_again(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < KINDS * 2U * 9U; i++) {
        uint32_t gap = i / 2U % 9U + 1U;

        begin(kinds[i / 18U], 20);
        rig.fault = (struct nw_fault){.verb = NW_VERB_PROGRAM,
                                      .acts = (uint8_t)(i % 2U),
                                      .every = gap + 1U,
                                      .error = NW_ERR_IO};
        for (uint32_t turn = 0; turn < 200U; turn++) {
            int result = write_any();
            assert_true(result == NW_OK || result == NW_ERR_IO);
        }
        assert_true(rig.fault.hits > 10U);
        go_on(gap, rig.fault.hits);
    }
}

/* Reads fail too, so that merges stop and go on. Once superblock went on with what was least: one
 * sector moved from block to block, no merge won any, and a mount found four blocks that it had to
 * hold for that sector and none for its session: NW_ERR_FULL for good. */
static void test_reads_too(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < KINDS * STARTS; i++) {
        uint32_t hits = 0;

        begin_on(kinds[i / STARTS], &small, i % STARTS);
        for (uint32_t turn = 0; turn < 200U; turn++) {
            rig.fault = (struct nw_fault){.acts = (uint8_t)(turn % 2U),
                                          .skip = nw_random_below(&numbers, 8),
                                          .every = 3U + nw_random_below(&numbers, 8),
                                          .error = NW_ERR_IO};
            int result = write_any();
            assert_true(result == NW_OK || result == NW_ERR_IO);
            hits += rig.fault.hits;
        }
        layer_rig_quiet(&rig);
        assert_int_equal(layer_rig_mount(&rig), NW_OK);
        assert_int_equal(layer_rig_check(&rig, 1), 0); /* a failed write may show now */
        go_on(i, hits);
    }
}

/* A call: its program `skip` answers NW_ERR_IO, or NW_ERR_PROGRAM and the one behind it NW_ERR_IO.
 * 1 if both came. */
static uint32_t fail_in(uint32_t skip, int both, uint8_t acts)
{
    struct nw_fault mixed[2] = {{.verb = NW_VERB_PROGRAM, .skip = skip, .times = 1},
                                {.verb = NW_VERB_PROGRAM, .times = 1, .error = NW_ERR_IO}};
    struct layer_op op = {.kind = nw_random_below(&numbers, 2) != 0 ? OP_TRIM : OP_WRITE,
                          .sector = nw_random_below(&numbers, rig.sectors),
                          .count = 1};

    mixed[0].error = both ? NW_ERR_PROGRAM : NW_ERR_IO;
    mixed[0].acts = both ? 0 : acts;
    mixed[1].skip = both ? skip + 1U : UINT32_MAX;
    mixed[1].acts = acts;
    rig.faults.faults = mixed;
    rig.faults.count = 2;
    int result = layer_rig_run(&rig, &op);
    rig.faults.faults = &rig.fault;
    rig.faults.count = 1;
    assert_true(result == NW_OK || result == NW_ERR_IO);
    return mixed[1].hits;
}

/* One block fails, or two, and each time the program that is tried again meets an error of the bus.
 * Once the block that failed in a merge stayed with the page in doubt, which the next call wrote
 * anew to a block of its own: with two such blocks and a few errors beside them a mount found none
 * that it might erase, and every write answered NW_ERR_FULL for good, with nine of ten spare blocks
 * good. */
static void test_a_block_fails_too(void **state)
{
    uint32_t struck = 0;

    (void)state;
    for (uint32_t i = 0; i < KINDS * MIXES; i++) {
        struct layer_shape tight = small;
        uint32_t pairs = 0;

        tight.blocks = 11U + i % 8U;
        begin_on(kinds[i / MIXES], &tight, 10U + i % STARTS);
        nw_random_seed(&numbers, i);
        uint32_t calls = 3U + nw_random_below(&numbers, 14);
        for (uint32_t call = 0; call < calls; call++) {
            uint32_t skip = nw_random_below(&numbers, 3);
            uint8_t acts = (uint8_t)nw_random_below(&numbers, 2);

            pairs += fail_in(skip, pairs < 2U && nw_random_below(&numbers, 3) == 0, acts);
        }
        struck += pairs;
        assert_int_equal(layer_rig_mount(&rig), NW_OK);
        assert_int_equal(layer_rig_check(&rig, 1), 0); /* a failed write may show now */
        go_on(i, pairs);
    }
    assert_true(struck > KINDS * MIXES / 2U);
}

/* A call: one of its programs fails if it may, and one of its reads behind that, or before, answers
 * NW_ERR_IO. 1 if the program failed. */
static uint32_t stop_in(int fails)
{
    struct nw_fault mixed[2] = {{.verb = NW_VERB_PROGRAM, .times = 1, .error = NW_ERR_PROGRAM},
                                {.verb = NW_VERB_READ, .times = 1, .error = NW_ERR_IO}};
    struct layer_op op = {.kind = OP_WRITE,
                          .sector = nw_random_below(&numbers, rig.sectors),
                          .count = 1};

    mixed[0].skip = fails ? nw_random_below(&numbers, 12) : UINT32_MAX;
    mixed[1].skip = nw_random_below(&numbers, 12);
    rig.faults.faults = mixed;
    rig.faults.count = 2;
    int result = layer_rig_run(&rig, &op);
    rig.faults.faults = &rig.fault;
    rig.faults.count = 1;
    if (result < 0 && result != NW_ERR_IO) {
        fail_msg("%s: answer %d", rig.kind->name, result);
    }
    return mixed[0].hits;
}

/* Three blocks fail at most, in merges that reads stop again and again. Once a merge that went on
 * on a chip that programs in order began another block for what lay in the one that had failed. So
 * each block that failed took two more, no merge came to its end, and writes answered NW_ERR_FULL
 * until the next mount. */
static void test_merges_stop(void **state)
{
    uint32_t struck = 0;

    (void)state;
    for (uint32_t i = 0; i < KINDS * MIXES; i++) {
        struct layer_shape tight = small;
        uint32_t failed = 0;

        tight.blocks = 12U + i % 8U;
        begin_on(kinds[i / MIXES], &tight, 10U + i % STARTS);
        nw_random_seed(&numbers, i);
        for (uint32_t call = 0; call < 30U; call++) {
            failed += stop_in(failed < 3U && nw_random_below(&numbers, 2) == 0);
        }
        struck += failed;
        assert_int_equal(layer_rig_check(&rig, 0), 0);
        go_on(i, failed);
    }
    assert_true(struck > KINDS * MIXES * 2U);
}

/* A merge of a chain is stopped when it has passed by a sector that lies in a shared log block and
 * not in the chain. What goes on with it must not take that sector for moved. */
static void test_passed_by(void **state)
{
    struct nw_fault mixed[2] = {{.verb = NW_VERB_PROGRAM, .times = 1, .error = NW_ERR_PROGRAM},
                                {.verb = NW_VERB_READ, .skip = 1, .times = 1, .error = NW_ERR_IO}};

    (void)state;
    layer_rig_open(&rig, &nw_layer_fast, &small, 1);
    assert_int_equal(layer_rig_filter(&rig), NW_OK);
    assert_int_equal(write_at(5), NW_OK);
    assert_int_equal(write_at(3), NW_OK); /* in order: not to the block of sector 5 */
    rig.faults.faults = mixed;
    rig.faults.count = 2;
    assert_int_equal(write_at(6), NW_OK); /* fails, and so does the merge behind it */
    rig.faults.faults = &rig.fault;
    rig.faults.count = 1;
    assert_int_equal(mixed[0].hits + mixed[1].hits, 2);
    assert_int_equal(write_at(6), NW_OK);
    if (layer_rig_check(&rig, 0) < 0) {
        fail_msg("%s", rig.why);
    }
    layer_rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_burst),
                                       cmocka_unit_test(test_again_and_again),
                                       cmocka_unit_test(test_reads_too),
                                       cmocka_unit_test(test_a_block_fails_too),
                                       cmocka_unit_test(test_merges_stop),
                                       cmocka_unit_test(test_passed_by)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

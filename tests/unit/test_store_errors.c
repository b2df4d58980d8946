/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: whichever operation of the chip fails in whichever call, the call that answers an error has
 * either changed nothing and work goes on, or every write answers that error until the next mount,
 * which shows the call as done or as not. What was durable stays, and the store is never misled.
 * ctest: quick
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "nandwich-twin/faults.h"
#include "store_rig.h"

static struct store_rig rig;
static struct store_snapshot start;
static struct nw_fault fault;
static struct nw_faults filter;

static void expect(int holds, const struct store_op *op, const char *what)
{
    if (!holds) {
        fail_msg("op %u %u, fault of verb %u after %u, done %u: %s: %s", op->kind,
                 (unsigned)op->count, fault.verb, (unsigned)fault.skip, fault.acts, what, rig.why);
    }
}

/* The store over a filter of faults, none of which strikes. */
static void open_rig(unsigned shape)
{
    store_rig_open(&rig, &store_shapes[shape], 5);
    fault = (struct nw_fault){.verb = NW_VERB_ERASE, .skip = UINT32_MAX};
    nw_faults_open(&filter, rig.chip, &fault, 1, 1);
    rig.chip = &filter.chip;
    assert_int_equal(store_rig_mount(&rig), NW_OK);
}

/* A call that failed, the fault gone. */
static void after_failure(const struct store_op *op, int error, struct nw_random *random)
{
    int going_on = nw_store_sync(rig.store) == NW_OK;

    if (going_on) { /* what is shown now is what the next mount shows */
        expect(store_rig_check(&rig, 1) == 0, op, "goes on");
    } else {
        int handle = nw_store_find(rig.store, "array");
        uint8_t value[24] = {0};
        expect(nw_store_set(rig.store, handle, 0, value) == error, op, "another error");
        expect(nw_store_idle(rig.store, 1) == error, op, "another error, idle");
    }
    expect(store_rig_mount(&rig) == NW_OK, op, "mount");
    expect(store_rig_check(&rig, !going_on) == 0, op, "after the mount");
    rig.has_saved = 0; /* which checkpoint is the newest is not known */
    for (unsigned i = 0; i < 8U; i++) {
        struct store_op more = store_rig_draw(&rig, random);
        expect(store_rig_run(&rig, &more) >= 0, &more, "later work");
    }
    expect(store_rig_check(&rig, 0) == 0, op, "later work");
}

/* Each operation of a kind that the call makes fails once: how many. */
static uint32_t fail_each(const struct store_op *op, uint8_t verb, uint8_t acts)
{
    struct nw_random random;
    uint32_t skip = 0;
    int struck = 1;

    for (; struck; skip++) {
        nw_random_seed(&random, skip);
        store_snapshot_restore(&start, &rig);
        fault = (struct nw_fault){
            .verb = verb, .acts = acts, .skip = skip, .times = 1, .error = NW_ERR_IO};
        int result = store_rig_run(&rig, op);
        struck = fault.hits > 0;
        if (result < 0) {
            expect(struck && result == NW_ERR_IO, op, nw_error_text(result));
            expect(verb != NW_VERB_PROGRAM || fault.seen == skip + 1U, op, "programs again");
            after_failure(op, result, &random);
        }
        expect(store_rig_clean(&rig) == 0, op, "misuse");
    }
    return skip - 1U;
}

static void run_shape(unsigned shape, uint32_t warm, uint32_t steps)
{
    static const uint8_t verbs[] = {NW_VERB_READ, NW_VERB_PROGRAM, NW_VERB_ERASE, NW_VERB_IS_BAD};
    uint32_t failed[sizeof verbs] = {0};
    struct nw_random random;

    nw_random_seed(&random, 11U + shape);
    open_rig(shape);
    store_snapshot_open(&start, &rig);
    for (uint32_t step = 0; step < warm + steps; step++) {
        struct store_op op = store_rig_draw(&rig, &random);
        if (step >= warm) {
            op.kind = step % 3U == 0 ? (uint8_t)(STORE_SYNC + step / 3U % 6U) : op.kind;
            store_snapshot_take(&start, &rig);
            for (unsigned i = 0; i < sizeof verbs; i++) {
                failed[i] += fail_each(&op, verbs[i], 0);
                failed[i] += fail_each(&op, verbs[i], 1);
            }
            store_snapshot_restore(&start, &rig);
            fault.skip = UINT32_MAX;
        }
        expect(store_rig_run(&rig, &op) >= 0, &op, "work");
    }
    print_message("%s: %u reads, %u programs, %u erases, %u looks at a mark failed\n",
                  rig.shape->part, (unsigned)failed[0], (unsigned)failed[1], (unsigned)failed[2],
                  (unsigned)failed[3]);
    assert_true(failed[0] > steps && failed[1] > steps && failed[2] > 0 && failed[3] > 0);
    store_snapshot_close(&start);
    store_rig_close(&rig);
}

static void test_small_page(void **state)
{
    (void)state;
    run_shape(0, 1500, 240);
}

static void test_nor(void **state)
{
    (void)state;
    run_shape(2, 1500, 150);
}

/* Each read that the call makes finds bytes once that cannot be read, or a page that was never
 * written, as where a damaged header leads: the call alone may answer so, and the store goes on.
 * What it had to move then is lost, and counted. */
static uint32_t hide_each(const struct store_op *op, int error)
{
    uint32_t skip = 0;
    int struck = 1;

    for (; struck; skip++) {
        store_snapshot_restore(&start, &rig);
        fault = (struct nw_fault){
            .verb = NW_VERB_READ, .skip = skip, .times = 2, .error = error};
        int result = store_rig_run(&rig, op);
        struck = fault.hits > 0;
        fault.skip = UINT32_MAX;
        expect(result >= 0 || (struck && (result == NW_ERR_ECC || result == NW_ERR_CORRUPT)), op,
               nw_error_text(result));
        expect(nw_store_sync(rig.store) == NW_OK, op, "every write fails");
        if (nw_store_stats(rig.store)->lost == 0) {
            expect(store_rig_check(&rig, 1) == 0, op, "goes on");
            expect(store_rig_mount(&rig) == NW_OK, op, "mount");
            expect(store_rig_check(&rig, 0) == 0, op, "after the mount");
        }
    }
    return skip - 1U;
}

/* Once damage of an index node that a write came to only when its chunk was written made every
 * write fail until the next mount. */
static void test_hidden(void **state)
{
    static const unsigned shapes[] = {0, 2};

    (void)state;
    for (unsigned i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct nw_random random;
        uint32_t hidden = 0;

        nw_random_seed(&random, 21U + i);
        open_rig(shapes[i]);
        store_snapshot_open(&start, &rig);
        for (uint32_t step = 0; step < 2000U; step++) {
            struct store_op op = store_rig_draw(&rig, &random);
            if (step >= 500U) {
                store_snapshot_take(&start, &rig);
                hidden += hide_each(&op, NW_ERR_ECC);
                hidden += hide_each(&op, NW_ERR_UNWRITTEN);
                store_snapshot_restore(&start, &rig);
                fault.skip = UINT32_MAX;
            }
            expect(store_rig_run(&rig, &op) >= 0, &op, "work");
        }
        print_message("%s: %u reads\n", rig.shape->part, (unsigned)hidden);
        assert_true(hidden > 300U);
        store_snapshot_close(&start);
        store_rig_close(&rig);
    }
}

/* No block can be erased any more: the store is full, says so and stays readable; or it had no
 * block left in the middle of a call, and nothing is written after that. The limit falls with the
 * blocks that fail; once it stayed as it was before. */
static void test_no_more_erases(void **state)
{
    struct nw_random random;
    struct nw_store_space space;
    uint32_t limit = 0;
    int readable = 0;

    (void)state;
    for (uint32_t seed = 0; seed < 20U; seed++) {
        uint32_t full = 0;
        int error = NW_ERR_FULL;
        nw_random_seed(&random, seed);
        open_rig(0);
        for (uint32_t step = 0; full < 50U; step++) {
            struct store_op op = store_rig_draw(&rig, &random);
            if (step == 1000U) {
                nw_store_space(rig.store, &space);
                limit = space.limit_bytes;
                fault = (struct nw_fault){.verb = NW_VERB_ERASE, .error = NW_ERR_ERASE};
            }
            int result = store_rig_run(&rig, &op);
            full += result < 0 ? 1U : 0U;
            error = result == NW_ERR_PROGRAM ? result : error;
            expect(result >= 0 || (step > 1000U && result == error), &op, nw_error_text(result));
            if (step > 1000U) {
                expect(store_rig_check(&rig, 1) == 0, &op, "full");
            }
        }
        nw_store_space(rig.store, &space);
        expect(space.limit_bytes < limit, &(struct store_op){0}, "fewer blocks, the same limit");
        int synced = nw_store_sync(rig.store) == NW_OK;
        expect(store_rig_mount(&rig) == NW_ERR_FULL, &(struct store_op){0}, "no block is free");
        int shown = store_rig_look(&rig, 64, 0) == 0; /* what was not synced may be gone */
        expect(shown || (!synced && rig.error == NW_OK), &(struct store_op){0}, "read-only");
        readable += shown;
        store_rig_close(&rig);
    }
    assert_in_range(readable, 5, 20);
}

#define LONG_BYTES 300U /* a chunk of them goes over the end of a page */
#define LONG_KEYS 12U

static int set_long(int handle, uint32_t number)
{
    uint8_t value[LONG_BYTES];

    memset(value, (int)number + 1, sizeof value);
    return nw_store_set(rig.store, handle, number, value);
}

static void check_long(int handle, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint8_t value[LONG_BYTES];

        assert_int_equal(nw_store_get(rig.store, handle, i, value), NW_OK);
        assert_int_equal(value[0], i + 1U);
        assert_int_equal(value[LONG_BYTES - 1U], i + 1U);
    }
}

/* The so many-th read fails while half of the array is moved; then the other half is set. 0: there
 * was no such read. */
static int fail_move(unsigned shape, uint32_t skip)
{
    static const struct nw_store_spec spec = {
        .type = NW_STORE_ARRAY, .unit_bytes = LONG_BYTES, .count = LONG_KEYS};
    uint32_t from = 0;
    int later = NW_OK;

    open_rig(shape);
    assert_int_equal(nw_store_delete(rig.store, nw_store_find(rig.store, "stack")), NW_OK);
    int handle = nw_store_create(rig.store, "long", &spec);
    assert_true(handle > 0);
    for (uint32_t i = 0; i < LONG_KEYS / 2U; i++) {
        assert_int_equal(set_long(handle, i), NW_OK);
    }
    assert_int_equal(nw_store_sync(rig.store), NW_OK);
    fault = (struct nw_fault){
        .verb = NW_VERB_READ, .skip = skip, .times = 1, .error = NW_ERR_IO};
    int moved = nw_store_compact(rig.store, handle, &from, LONG_KEYS / 2U);
    int struck = fault.hits > 0;
    fault.skip = UINT32_MAX;
    assert_int_equal(moved < 0 ? moved : NW_ERR_IO, NW_ERR_IO);
    for (uint32_t i = LONG_KEYS / 2U; i < LONG_KEYS && later == NW_OK; i++) {
        later = set_long(handle, i);
    }
    later = later < 0 ? later : nw_store_sync(rig.store);
    assert_true(later == NW_OK || (struck && later == NW_ERR_IO));
    check_long(handle, LONG_KEYS / 2U);
    assert_int_equal(store_rig_mount(&rig), NW_OK);
    assert_int_equal(nw_store_stats(rig.store)->lost, 0);
    handle = nw_store_find(rig.store, "long");
    check_long(handle, later == NW_OK ? LONG_KEYS : LONG_KEYS / 2U);
    store_rig_close(&rig);
    return struck;
}

/* Once a read that failed while a sealed chunk was being moved left a part of that chunk in the
 * log, and work went on behind it as if nothing was: what was synced then was not found after the
 * next mount, for the log could not be walked over that place. */
static void test_half_moved(void **state)
{
    static const unsigned shapes[] = {0, 6, 7};

    (void)state;
    for (unsigned i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        uint32_t skip = 0;

        while (fail_move(shapes[i], skip)) {
            skip++;
        }
        assert_true(skip > LONG_KEYS / 2U);
    }
}

#define BLOCK 100U /* of a file */
#define BLOCKS 4U

/* Bytes written are those answered, none when it is an error. */
static void check_written(int handle, int answer, uint32_t from)
{
    uint32_t changed = 0;

    for (uint32_t i = 0; i < BLOCKS * BLOCK; i++) {
        uint8_t byte = 0;

        assert_int_equal(nw_store_read(rig.store, handle, i, &byte, 1), 1);
        assert_int_equal(byte, i >= from && changed < (answer > 0 ? (uint32_t)answer : 0) ? 'b'
                                                                                         : 'a');
        changed += byte == 'b' ? 1U : 0U;
    }
}

/* Once a write over several blocks answered the error of a later one, with those before changed. */
static void test_later_block(void **state)
{
    static const struct nw_store_spec spec = {.type = NW_STORE_FILE, .unit_bytes = BLOCK};
    uint8_t bytes[BLOCKS * BLOCK];
    uint32_t parts = 0;

    (void)state;
    for (uint32_t skip = 0, struck = 1; struck != 0; skip++) {
        open_rig(0);
        assert_int_equal(nw_store_delete(rig.store, nw_store_find(rig.store, "stack")), NW_OK);
        int handle = nw_store_create(rig.store, "long", &spec);
        memset(bytes, 'a', sizeof bytes);
        assert_int_equal(nw_store_write(rig.store, handle, 0, bytes, sizeof bytes), sizeof bytes);
        assert_int_equal(nw_store_sync(rig.store), NW_OK);
        memset(bytes, 'b', sizeof bytes);
        fault = (struct nw_fault){
            .verb = NW_VERB_READ, .skip = skip, .times = 1, .error = NW_ERR_IO};
        int result = nw_store_write(rig.store, handle, BLOCK / 2U, bytes, 3U * BLOCK);
        struck = fault.hits;
        fault.skip = UINT32_MAX;
        check_written(handle, result, BLOCK / 2U);
        assert_true(result == NW_ERR_IO || result > 0);
        parts += result > 0 && result < (int)(3U * BLOCK) ? 1U : 0U;
        store_rig_close(&rig);
    }
    assert_true(parts > 0);
}

/* Once a write that came to a key the frames have no levels for answered NW_ERR_RANGE, as if
 * nothing of it was written. */
static void test_levels(void **state)
{
    static const struct nw_store_spec spec = {.type = NW_STORE_FILE, .unit_bytes = 1};
    static uint8_t bytes[700];
    uint32_t length = 0;

    (void)state;
    open_rig(0);
    rig.config.frames = 4;
    rig.config.fan = 8;
    assert_int_equal(nw_store_format(&rig.store, rig.chip, &rig.config, rig.ram, rig.ram_bytes),
                     NW_OK);
    int handle = nw_store_create(rig.store, "f", &spec);
    assert_int_equal(nw_store_write(rig.store, handle, 0, bytes, 100), 100);
    assert_int_equal(nw_store_write(rig.store, handle, 100, bytes, 600), 412); /* 8 x 8 x 8 */
    assert_int_equal(nw_store_length(rig.store, handle, &length), NW_OK);
    assert_int_equal(length, 512);
    assert_int_equal(nw_store_write(rig.store, handle, length, bytes, 1), NW_ERR_RANGE);
    store_rig_close(&rig);
}

/* A trim whose read failed half-way had given up the chunks before: until the next mount the stream
 * began where neither the trim nor anything else had put it. */
static void test_trim(void **state)
{
    static const struct nw_store_spec spec = {.type = NW_STORE_STREAM};
    struct nw_store_about about;
    uint32_t failed = 0;
    int result = NW_ERR_IO;

    (void)state;
    open_rig(0);
    assert_int_equal(nw_store_format(&rig.store, rig.chip, &rig.config, rig.ram, rig.ram_bytes),
                     NW_OK);
    int handle = nw_store_create(rig.store, "s", &spec);
    for (unsigned i = 0; i < 9U; i++) {
        assert_int_equal(nw_store_append(rig.store, handle, "abcdefgh", 8), NW_OK);
        assert_int_equal(nw_store_sync(rig.store), NW_OK);
    }
    for (uint32_t skip = 0; result < 0; skip++) {
        assert_int_equal(nw_store_mount(&rig.store, rig.chip, &rig.config, rig.ram,
                                        rig.ram_bytes),
                         NW_OK);
        fault = (struct nw_fault){
            .verb = NW_VERB_READ, .skip = skip, .times = 1, .error = NW_ERR_IO};
        result = nw_store_trim(rig.store, handle, 6);
        fault = (struct nw_fault){0};
        assert_int_equal(nw_store_at(rig.store, 0, &about), NW_OK);
        assert_int_equal(about.head, result < 0 ? 0 : 6);
        failed += result == NW_ERR_IO;
    }
    assert_int_equal(result, NW_OK);
    assert_true(failed > 5U);
    store_rig_close(&rig);
}

/* A mount whose read after `skip` others fails; 1: one did. */
static int mount_failing(uint32_t skip, int *answer)
{
    store_snapshot_restore(&start, &rig);
    fault = (struct nw_fault){
        .verb = NW_VERB_READ, .skip = skip, .times = 1, .error = NW_ERR_IO};
    *answer = store_rig_mount(&rig);
    return fault.hits > 0;
}

/* A mount looks behind the log's end for what one that was cut has left there. It took an error of
 * the bus at such a block's header for a header, of what RAM held before, and went on. Errors on
 * the way to the newest anchor may lead to another way; from there on each is the mount's answer,
 * but at the log's end, behind which nothing counts. */
static void test_left_behind(void **state)
{
    struct nw_random random;
    uint32_t left = 0;
    int answer = NW_ERR_IO;

    (void)state;
    nw_random_seed(&random, 3);
    open_rig(0);
    for (uint32_t step = 0; step < 300U; step++) {
        struct store_op op = store_rig_draw(&rig, &random);
        assert_true(store_rig_run(&rig, &op) >= 0);
    }
    store_snapshot_open(&start, &rig);
    for (uint32_t programs = 0; answer < 0; programs++) {
        fault = (struct nw_fault){
            .verb = NW_VERB_PROGRAM, .skip = programs, .times = 1, .error = NW_ERR_IO};
        answer = store_rig_mount(&rig);
        store_snapshot_take(&start, &rig);
        int result = NW_OK;
        uint32_t failed = 0;
        uint32_t passed = 0;
        for (uint32_t skip = 0; mount_failing(skip, &result); skip++) {
            assert_true(result == NW_OK || result == NW_ERR_IO);
            failed += result < 0;
            passed += result == NW_OK && failed > 0;
        }
        assert_true(failed > 0 && passed <= 1);
        left += answer < 0;
    }
    assert_true(left > 1);
    store_snapshot_close(&start);
    store_rig_close(&rig);
}

/* Appends to an expendable stream that fills the store, while one block after the other is bound to
 * fail. Answers the first error, and how many failed before. */
static int append_long(unsigned seed, uint32_t *failed)
{
    static const struct nw_store_spec spec = {.type = NW_STORE_STREAM,
                                              .flags = NW_STORE_EXPENDABLE};
    struct nw_random random;
    uint8_t bytes[100] = {0};
    int result = NW_OK;

    nw_random_seed(&random, seed);
    open_rig(0);
    for (unsigned i = 0; i < 2U; i++) { /* what else is there needs no room */
        const char *const names[] = {"ring", "file"};
        assert_int_equal(nw_store_delete(rig.store, nw_store_find(rig.store, names[i])), NW_OK);
    }
    int handle = nw_store_create(rig.store, "gives", &spec);
    assert_true(handle > 0);
    *failed = 0;
    for (uint32_t i = 0; i < 9000U && result == NW_OK; i++) {
        if (i >= 3000U && i % 500U == 0) {
            nw_nand_doom(rig.nand, nw_random_below(&random, 40), i % 1000U != 0);
        }
        result = nw_store_append(rig.store, handle, bytes,
                                 (uint16_t)(1U + nw_random_below(&random, sizeof bytes)));
        *failed = nw_store_stats(rig.store)->retired + nw_store_stats(rig.store)->swapped;
    }
    return result;
}

/*
 * A block that failed while an append made room took with it what there was: the expendable
 * stream had given way for the limit before, so the append was NW_ERR_FULL, though the stream could
 * have given more.
 */
static void test_gives_way_again(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < 10U; seed++) {
        uint32_t failed;
        int result = append_long(seed, &failed);
        assert_int_equal(result, NW_OK);
        assert_true(failed > 5U);
        store_rig_close(&rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small_page),
        cmocka_unit_test(test_nor),
        cmocka_unit_test(test_hidden),
        cmocka_unit_test(test_no_more_erases),
        cmocka_unit_test(test_half_moved),
        cmocka_unit_test(test_later_block),
        cmocka_unit_test(test_levels),
        cmocka_unit_test(test_trim),
        cmocka_unit_test(test_left_behind),
        cmocka_unit_test(test_gives_way_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: a rollback brings back what there was at its checkpoint, over power-ups, and a number names
 * one checkpoint alone, however many there have been.
 * ctest: quick
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "store_bed.h"

/* Several checkpoints, back to each, and work after that. */
static void test_checkpoints(void **state)
{
    struct nw_store_config config = {.objects = 3, .checkpoints = 2};
    uint8_t data[40] = {0};
    int kept[4];

    (void)state;
    store_bed_open(&config, 64, 0);
    int stack = store_bed_create("stack", NW_STORE_STACK, 0, 0);
    for (int round = 0; round < 4; round++) {
        data[0] = (uint8_t)round;
        assert_int_equal(nw_store_push(bed.store, stack, data, 40), NW_OK);
        kept[round] = nw_store_checkpoint(bed.store);
        assert_true(kept[round] > 0);
    }
    assert_int_equal(nw_store_rollback(bed.store, kept[0]), NW_ERR_NOT_FOUND); /* given up */
    assert_int_equal(nw_store_delete(bed.store, stack), NW_OK);
    for (int turn = 0; turn < 2; turn++) {
        store_bed_mount();
        assert_int_equal(nw_store_rollback(bed.store, kept[2]), NW_OK);
        stack = nw_store_find(bed.store, "stack");
        assert_int_equal(nw_store_pop(bed.store, stack, data, 40), 40);
        assert_int_equal(data[0], 2);
        for (int i = 0; i < 300; i++) {
            assert_int_equal(nw_store_push(bed.store, stack, data, 40), NW_OK);
        }
        assert_int_equal(nw_store_sync(bed.store), NW_OK);
    }
    assert_int_equal(nw_store_rollback(bed.store, 0), NW_OK); /* the newest */
    stack = nw_store_find(bed.store, "stack");
    assert_int_equal(nw_store_pop(bed.store, stack, data, 40), 40);
    assert_int_equal(data[0], 3);
    assert_int_equal(nw_store_drop(bed.store, kept[3]), NW_OK);
    assert_int_equal(nw_store_drop(bed.store, kept[3]), NW_ERR_NOT_FOUND);
    store_bed_close();
}

/* Numbers begin anew behind 32,767, and once came to that of a checkpoint that was still kept: two
 * had the same, and rollback and drop took either. */
static void test_checkpoint_numbers(void **state)
{
    struct nw_store_config config = {.objects = 1, .checkpoints = 3};
    int kept[2];
    int newest = 0;

    (void)state;
    store_bed_open(&config, 64, 0);
    int stack = store_bed_create("stack", NW_STORE_STACK, 0, 0);
    for (uint8_t i = 0; i < 2U; i++) {
        assert_int_equal(nw_store_push(bed.store, stack, &i, 1), NW_OK);
        kept[i] = nw_store_checkpoint(bed.store);
    }
    for (int32_t left = 32767; left > 0; left--) {
        assert_int_equal(newest > 0 ? nw_store_drop(bed.store, newest) : NW_OK, NW_OK);
        newest = nw_store_checkpoint(bed.store);
        assert_true(newest > 0 && newest <= 32767);
        assert_true(newest != kept[0] && newest != kept[1]);
    }
    assert_int_equal(newest, kept[1] + 2);
    for (uint8_t i = 0; i < 2U; i++) {
        uint8_t data = 9;
        assert_int_equal(nw_store_rollback(bed.store, kept[i]), NW_OK);
        assert_int_equal(nw_store_pop(bed.store, nw_store_find(bed.store, "stack"), &data, 1), 1);
        assert_int_equal(data, i);
    }
    store_bed_close();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_checkpoints),
        cmocka_unit_test(test_checkpoint_numbers)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: nw_store_check() finds a store sound that is, and where an element cannot be found any more
 * it says so, whether the object has it now or only a checkpoint does. That books and kept blocks
 * are right is asked of it by every rig of the store, after each mount (tests/support/store_rig.c).
 * ctest: quick
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "nandwich/store_check.h"
#include "store_forge.h"

#define ELEMENTS 20U
#define TAKEN 7U

static struct forge bed;
static struct forge kept;

/* ELEMENTS pushed to a queue, a checkpoint, and TAKEN of them gone since. */
static void fill(uint8_t chip)
{
    uint8_t data[60];

    forge_open(&bed, chip);
    bed.config.checkpoints = 1;
    assert_int_equal(forge_format(&bed), NW_OK);
    int queue = nw_store_find(bed.store, "q");
    assert_true(queue > 0);
    for (uint32_t i = 0; i < ELEMENTS; i++) {
        memset(data, (int)i, sizeof data);
        assert_int_equal(nw_store_push(bed.store, queue, data, sizeof data), NW_OK);
    }
    assert_true(nw_store_checkpoint(bed.store) > 0);
    for (uint32_t i = 0; i < TAKEN; i++) {
        assert_int_equal(nw_store_dequeue(bed.store, queue, data, sizeof data), sizeof data);
    }
    assert_int_equal(nw_store_sync(bed.store), NW_OK);
}

static void test_sound(void **state)
{
    struct nw_store_fault fault;

    (void)state;
    for (uint8_t chip = 0; chip < 5U; chip++) {
        fill(chip);
        assert_int_equal(nw_store_check(bed.store, &fault), NW_OK);
        assert_int_equal(forge_mount(&bed), NW_OK);
        assert_int_equal(nw_store_check(bed.store, &fault), NW_OK);
        assert_int_equal(fault.slot, 0);
        assert_int_equal(fault.key, UINT32_MAX);
    }
}

/* Each page in turn is wiped out behind the store's back. */
static void test_damaged(void **state)
{
    struct nw_store_fault fault;
    uint32_t found[2] = {0, 0};

    (void)state;
    fill(0);
    kept = bed;
    for (uint32_t page = 0; page < FORGE_PAGES; page++) {
        bed = kept;
        memset(bed.data + page * FORGE_PAGE_BYTES, 0x55, FORGE_PAGE_BYTES);
        if (nw_store_check(bed.store, &fault) != NW_OK) {
            assert_in_range(fault.slot, 1, FORGE_OBJECTS);
            assert_in_range(fault.key, 0, ELEMENTS - 1U);
            assert_true(fault.checkpoint == 0 ? fault.key >= TAKEN : fault.key < TAKEN);
            found[fault.checkpoint]++;
        }
    }
    assert_in_range(found[0], ELEMENTS - TAKEN - 8U, ELEMENTS); /* one or two of them a page */
    assert_in_range(found[1], TAKEN / 2U, TAKEN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sound),
                                       cmocka_unit_test(test_damaged)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

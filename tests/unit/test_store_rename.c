/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: renaming replaces an object at once: power may go before, inside or after any operation of
 * a file written beside another and renamed over it, and under the name the old one or the new one
 * is found, whole; on every shape, at exact cost.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "store_rig.h"

#define BYTES 700U

static struct store_rig rig;

static int create(const char *name, uint8_t type)
{
    struct nw_store_spec spec = {.type = type, .unit_bytes = STORE_FILE_BLOCK};

    return nw_store_create(rig.store, name, &spec);
}

static int fill(int file, uint8_t byte)
{
    uint8_t data[BYTES];

    memset(data, byte, sizeof data);
    return nw_store_write(rig.store, file, 0, data, sizeof data);
}

/* The byte that a file holds all over; 0: no such file; -1: half of something. */
static int holds(const char *name)
{
    uint8_t data[BYTES + 1U];
    int file = nw_store_find(rig.store, name);
    int bytes = file < 0 ? file : nw_store_read(rig.store, file, 0, data, sizeof data);

    if (file == NW_ERR_NOT_FOUND) {
        return 0;
    }
    for (uint32_t i = 1; i < BYTES; i++) {
        if (bytes != (int)BYTES || data[i] != data[0]) {
            return -1;
        }
    }
    return data[0];
}

/* One file replaced by another, which is written but not synced. */
static int replace(uint8_t byte)
{
    int fresh = nw_store_find(rig.store, "fresh");
    int result = fill(fresh, byte);

    return result < 0 ? result : nw_store_rename(rig.store, fresh, "file");
}

static void open_rig(unsigned shape)
{
    store_rig_open(&rig, &store_shapes[shape], 5);
    assert_int_equal(nw_store_delete(rig.store, nw_store_find(rig.store, "queue")), NW_OK);
    assert_int_equal(fill(nw_store_find(rig.store, "file"), 'a'), BYTES);
    assert_true(create("fresh", NW_STORE_FILE) > 0);
}

static void cut_everywhere(unsigned shape)
{
    struct store_snapshot start;
    unsigned replaced = 0;
    unsigned kept = 0;

    open_rig(shape);
    store_snapshot_open(&start, &rig);
    store_snapshot_take(&start, &rig);
    for (uint32_t at = 0;; at++) {
        int off = 0;

        for (uint8_t phase = NW_CUT_BEFORE; phase <= NW_CUT_AFTER; phase++) {
            struct nw_cut cut = {.after = at, .phase = phase};

            store_snapshot_restore(&start, &rig);
            nw_nand_cut(rig.nand, &cut);
            int result = replace('b');
            off = nw_nand_is_off(rig.nand);
            assert_true(off ? result == NW_ERR_POWER || result == NW_OK : result == NW_OK);
            nw_nand_cut(rig.nand, NULL);
            nw_nand_power_up(rig.nand);
            assert_int_equal(store_rig_mount(&rig), NW_OK);
            int found = holds("file");
            assert_true(found == 'b' || (found == 'a' && result != NW_OK));
            assert_true(found == 'a' || nw_store_find(rig.store, "fresh") == NW_ERR_NOT_FOUND);
            replaced += found == 'b';
            kept += found == 'a';
            assert_int_equal(store_rig_clean(&rig), 0);
        }
        if (!off) {
            break;
        }
    }
    assert_true(replaced > 0 && kept > 0);
    store_snapshot_close(&start);
    store_rig_close(&rig);
}

static void test_cuts(void **state)
{
    (void)state;
    for (unsigned shape = 0; shape < STORE_SHAPES; shape++) {
        cut_everywhere(shape);
    }
}

/* What is replaced is gone with its room, another type too; handles stay; a checkpoint keeps its
 * names. */
static void test_names(void **state)
{
    struct nw_store_space before;
    struct nw_store_space after;

    (void)state;
    open_rig(0);
    int fresh = nw_store_find(rig.store, "fresh");
    int stack = nw_store_find(rig.store, "stack");
    assert_true(nw_store_checkpoint(rig.store) > 0);
    assert_int_equal(nw_store_rename(rig.store, fresh, "fresh"), NW_OK);
    assert_int_equal(nw_store_rename(rig.store, fresh, ""), NW_ERR_NAME);
    assert_int_equal(nw_store_rename(rig.store, fresh, "thirteen char"), NW_ERR_NAME);
    assert_int_equal(nw_store_rename(rig.store, 0, "other"), NW_ERR_NOT_FOUND);
    assert_int_equal(nw_store_rename(rig.store, fresh, "twelve chars"), NW_OK);
    assert_int_equal(nw_store_find(rig.store, "twelve chars"), fresh);
    assert_int_equal(nw_store_rename(rig.store, fresh, "x"), NW_OK);
    assert_int_equal(nw_store_find(rig.store, "x"), fresh);
    assert_int_equal(nw_store_rename(rig.store, stack, "array"), NW_OK);
    assert_int_equal(nw_store_find(rig.store, "array"), stack);
    assert_int_equal(nw_store_push(rig.store, stack, "kept", 4), NW_OK);
    assert_int_equal(nw_store_rollback(rig.store, 0), NW_OK);
    assert_true(nw_store_find(rig.store, "stack") > 0);
    assert_true(nw_store_find(rig.store, "fresh") > 0);
    assert_int_equal(nw_store_drop(rig.store, nw_store_kept(rig.store, 0)), NW_OK);
    nw_store_space(rig.store, &before);
    assert_int_equal(replace('b'), NW_OK);
    nw_store_space(rig.store, &after);
    assert_true(after.used_bytes < before.used_bytes); /* an object less */
    assert_int_equal(holds("file"), 'b');
    store_rig_close(&rig);
}

/* A rename writes an anchor of 8 objects, whatever the object holds: not a byte of it is moved. */
static void test_cost(void **state)
{
    (void)state;
    open_rig(0);
    int file = nw_store_find(rig.store, "file");
    assert_int_equal(nw_store_sync(rig.store), NW_OK);
    struct nw_store_stats before = *nw_store_stats(rig.store);
    assert_int_equal(nw_store_rename(rig.store, file, "fresh"), NW_OK);
    const struct nw_store_stats *after = nw_store_stats(rig.store);
    assert_int_equal(after->anchors - before.anchors, 1);
    assert_int_equal(after->programs - before.programs, 3); /* the anchor twice */
    assert_int_equal(after->erases - before.erases, 0);
    assert_int_equal(after->bytes_moved - before.bytes_moved, 0);
    store_rig_close(&rig);
}

/* A rename is durable: onto its own name too, which once wrote nothing at all. */
static void test_own_name(void **state)
{
    (void)state;
    for (unsigned shape = 0; shape < STORE_SHAPES; shape++) {
        open_rig(shape);
        int file = nw_store_find(rig.store, "file");
        assert_int_equal(fill(file, 'c'), BYTES);
        assert_int_equal(nw_store_rename(rig.store, file, "file"), NW_OK);
        assert_int_equal(store_rig_mount(&rig), NW_OK);
        assert_int_equal(holds("file"), 'c');
        store_rig_close(&rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cuts), cmocka_unit_test(test_names),
                                       cmocka_unit_test(test_own_name),
                                       cmocka_unit_test(test_cost)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

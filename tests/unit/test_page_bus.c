/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: a mount of the page layer tells an error of the bus and does not guess. A read of the
 * newest list that answered NW_ERR_IO once was taken for a torn list: the mount answered NW_OK,
 * went on from an older list, and what was written since was lost for good behind its fence. With
 * one list only the chip was said to hold no device. What fails once with NW_ERR_ECC is not lost,
 * and no single page that fails so for good keeps a device from mounting.
 * ctest: quick
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "layer_rig.h"

#define SESSIONS 5U

static const struct layer_shape shape = {
    .part = "K9F1G08U0A", .blocks = 20, .block_pages = 8, .spare_blocks = 10};

static struct layer_rig rig;
static struct nw_random dice;

static void write_some(void)
{
    for (unsigned i = 0; i < 12U; i++) {
        struct layer_op op = {
            .kind = OP_WRITE, .sector = nw_random_below(&dice, rig.sectors), .count = 1};

        assert_true(layer_rig_run(&rig, &op) >= 0);
    }
}

/* A device of some sessions, behind a filter that lets requests fail. */
static int open_rig(void **state)
{
    (void)state;
    nw_random_seed(&dice, 4);
    layer_rig_open(&rig, &nw_layer_page, &shape, 11);
    assert_int_equal(layer_rig_filter(&rig), NW_OK);
    for (unsigned i = 0; i < SESSIONS; i++) {
        write_some();
        assert_int_equal(layer_rig_mount(&rig), NW_OK);
    }
    return 0;
}

static int close_rig(void **state)
{
    (void)state;
    assert_int_equal(layer_rig_clean(&rig), 0);
    layer_rig_close(&rig);
    return 0;
}

/* The read number `skip` of a mount fails, once: 1, or 0 when the mount reads less. */
static int mount_with_error(uint32_t skip, int error)
{
    uint64_t written = nw_nand_stats(rig.nand)->programs + nw_nand_stats(rig.nand)->erases;

    rig.fault = (struct nw_fault){
        .verb = NW_VERB_READ, .skip = skip, .times = 1, .error = error};
    int result = layer_rig_mount(&rig);
    int hit = rig.fault.hits != 0;

    layer_rig_quiet(&rig);
    assert_int_equal(result, hit && error == NW_ERR_IO ? NW_ERR_IO : NW_OK);
    if (error == NW_ERR_ECC) { /* it is read again: nothing is lost */
        assert_int_equal(layer_rig_check(&rig, 0), 0);
        return hit;
    }
    if (hit && skip < shape.blocks) { /* it is still looking for lists */
        assert_int_equal(nw_nand_stats(rig.nand)->programs + nw_nand_stats(rig.nand)->erases,
                         written);
    }
    return hit;
}

/* Each read of a mount fails in its turn; the mount after it finds all that was written. */
static void test_reads_of_a_mount_fail(void **state)
{
    uint32_t skip = 0;

    (void)state;
    for (; mount_with_error(skip, NW_ERR_IO); skip++) {
        assert_int_equal(layer_rig_mount(&rig), NW_OK);
        if (layer_rig_check(&rig, 0) < 0) {
            fail_msg("read %u of a mount: %s", (unsigned)skip, rig.why);
        }
        write_some();
    }
    assert_true(skip > shape.blocks);
}

/* What fails once with NW_ERR_ECC is not lost. Once a tag that did was taken for a torn one: lists
 * and sectors were older for a session, or for good. */
static void test_reads_fail_once(void **state)
{
    uint32_t skip = 0;

    (void)state;
    for (; mount_with_error(skip, NW_ERR_ECC); skip++) {
        write_some();
    }
    assert_true(skip > shape.blocks);
}

/* Reads of cleaning fail once now and then. */
static void test_cleaning_reads_fail_once(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 300U; i++) {
        rig.fault = (struct nw_fault){.verb = NW_VERB_READ,
                                      .skip = nw_random_below(&dice, 30),
                                      .times = 1,
                                      .error = NW_ERR_ECC};
        write_some();
    }
    layer_rig_quiet(&rig);
    assert_int_equal(layer_rig_check(&rig, 0), 0);
}

/* One page of the chip answers NW_ERR_ECC for good, programmed anew or not, from the read number
 * `skip` on: two mounts. */
static void mount_over(uint32_t page, uint32_t skip)
{
    rig.fault = (struct nw_fault){
        .verb = NW_VERB_READ, .first = page, .last = page, .skip = skip, .error = NW_ERR_ECC};
    for (unsigned i = 0; i < 2U; i++) {
        int result = layer_rig_mount(&rig);

        if (result != NW_OK) {
            fail_msg("page %u, read %u, mount %u: %d", (unsigned)page, (unsigned)skip, i, result);
        }
    }
    layer_rig_quiet(&rig);
}

/* A mount wrote its list to a page that could be programmed and not read, answered NW_ERR_CORRUPT,
 * and so did each one after it, in the same block. */
static void test_a_page_never_reads(void **state)
{
    struct layer_snapshot snapshot;

    (void)state;
    layer_snapshot_open(&snapshot, &rig);
    layer_snapshot_take(&snapshot, &rig);
    for (uint32_t page = 1; page < (uint32_t)shape.blocks * shape.block_pages; page++) {
        for (uint32_t skip = 0; skip < 6U; skip++) {
            layer_snapshot_restore(&snapshot, &rig);
            mount_over(page, skip);
        }
    }
    layer_snapshot_close(&snapshot);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_reads_of_a_mount_fail, open_rig, close_rig),
        cmocka_unit_test_setup_teardown(test_reads_fail_once, open_rig, close_rig),
        cmocka_unit_test_setup_teardown(test_cleaning_reads_fail_once, open_rig, close_rig),
        cmocka_unit_test_setup_teardown(test_a_page_never_reads, open_rig, close_rig)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

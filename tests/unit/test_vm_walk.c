// SPDX-License-Identifier: Apache-2.0
// Goal: page windows by hand (vm_walk.h): the pieces are the range, in order and without a gap; a
// walk has one pin at a time and leaves none behind, however it ends; and each end has its reason.
// ctest: quick
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "nandwich/vm_walk.h"
#include "vm_rig.h"

#define FRAME 64U
#define SIZE 8192U

static struct vm_rig rig;

static void begin(uint16_t frames, uint16_t slots, uint16_t pins)
{
    rig_prepare(&rig, FRAME, frames, FRAME, SIZE);
    rig.config.slots = slots;
    rig.config.pins = pins;
    rig_start(&rig);
}

/* Walks over everything; the bytes met. Each is counted up when the walk is for writing. */
static size_t count_up(struct nw_vm_walk *walk)
{
    uint16_t pins = rig.vm.pins_left;
    size_t met = 0, i;

    while (nw_vm_walk_next(walk)) {
        assert_in_range(walk->n, 1, FRAME);
        assert_int_equal(rig.vm.pins_left, pins - 1);
        for (i = 0; i < walk->n; i++) {
            walk->at[i] = (uint8_t)(walk->at[i] + (walk->write != 0));
        }
        met += walk->n;
    }
    assert_int_equal(rig.vm.pins_left, pins);
    assert_int_equal(walk->n, 0);
    assert_int_equal(nw_vm_walk_next(walk), 0); // it stays at its end
    return met;
}

static void test_pieces_are_the_range(void **state)
{
    uint8_t got[4 * FRAME], wanted[4 * FRAME];
    struct nw_vm_walk walk;
    unsigned from, n;

    (void)state;
    begin(5, 1, 1);
    memset(wanted, 0, sizeof wanted);
    for (from = 0; from < FRAME + 2U; from += 13) {
        for (n = 0; n < 3 * FRAME - 2U; n += 31) {
            unsigned i;

            nw_vm_walk_begin(&walk, &rig.vm, RIG_BASE + from, n, 1);
            assert_int_equal(count_up(&walk), n);
            assert_int_equal(walk.result, NW_OK);
            for (i = from; i < from + n; i++) {
                wanted[i]++;
            }
        }
    }
    for (n = 8; n < 100; n++) { // what was written to was dirty: it comes back from the device
        rig_load(&rig, 0, RIG_BASE + n * FRAME, 1, got);
    }
    nw_vm_walk_begin(&walk, &rig.vm, RIG_BASE, sizeof got, 0);
    for (n = 0; nw_vm_walk_next(&walk); n += (unsigned)walk.n) {
        memcpy(got + n, walk.at, walk.n);
    }
    assert_int_equal(n, sizeof got);
    assert_memory_equal(got, wanted, sizeof got);
    assert_int_equal(rig.panics, 0);
    rig_stop(&rig);
}

static void test_a_walk_may_end_early(void **state)
{
    struct nw_vm_walk walk;
    uint16_t pins;

    (void)state;
    begin(5, 1, 1);
    pins = rig.vm.pins_left;
    nw_vm_walk_begin(&walk, &rig.vm, RIG_BASE + 7, 300, 0);
    nw_vm_walk_end(&walk); // before it began
    assert_int_equal(nw_vm_walk_next(&walk), 0);
    nw_vm_walk_begin(&walk, &rig.vm, RIG_BASE + 7, 300, 0);
    assert_int_equal(nw_vm_walk_next(&walk), 1);
    nw_vm_walk_end(&walk);
    nw_vm_walk_end(&walk);
    assert_int_equal(rig.vm.pins_left, pins);
    assert_int_equal(nw_vm_walk_next(&walk), 0);
    assert_int_equal(walk.result, NW_OK);
    assert_int_equal(rig.panics, 0);
    rig_stop(&rig);
}

static void test_plain_memory_is_one_piece(void **state)
{
    uint8_t plain[3 * FRAME];
    struct nw_vm_walk walk;

    (void)state;
    begin(5, 1, 1);
    nw_vm_walk_begin(&walk, &rig.vm, (uintptr_t)plain, sizeof plain, 1);
    assert_int_equal(nw_vm_walk_next(&walk), 1);
    assert_ptr_equal(walk.at, plain);
    assert_int_equal(walk.n, sizeof plain);
    assert_int_equal(nw_vm_walk_next(&walk), 0);
    assert_int_equal(walk.result, NW_OK);
    rig_stop(&rig);
}

static void test_a_range_of_two_kinds_has_no_pieces(void **state)
{
    static const struct {
        uintptr_t address;
        size_t n;
        int result;
    } cases[] = {
        {RIG_BASE + SIZE - 3, 3, NW_OK},      {RIG_BASE + SIZE - 3, 4, NW_ERR_RANGE},
        {RIG_BASE - 3, 4, NW_ERR_RANGE},      {RIG_BASE, SIZE, NW_OK},
        {RIG_BASE, SIZE + 1, NW_ERR_RANGE},   {RIG_BASE + 1, SIZE_MAX, NW_ERR_RANGE},
        {UINTPTR_MAX - 2, 4, NW_ERR_RANGE},
    };
    struct nw_vm_walk walk;
    size_t i;

    (void)state;
    begin(5, 1, 1);
    for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        nw_vm_walk_begin(&walk, &rig.vm, cases[i].address, cases[i].n, 0);
        assert_int_equal(walk.result, cases[i].result);
        assert_int_equal(count_up(&walk), cases[i].result == NW_OK ? cases[i].n : 0);
        assert_int_equal(walk.result, cases[i].result);
    }
    assert_int_equal(rig.panics, 0);
    rig_stop(&rig);
}

static void test_a_walk_without_a_pin_or_a_page(void **state)
{
    struct nw_vm_walk walk;
    size_t span;
    uint8_t byte = 1;

    (void)state;
    begin(4, 1, 1); // one pin in all
    assert_int_equal(nw_vm_write(&rig.vm, RIG_BASE + FRAME, &byte, 1), NW_OK);
    assert_int_equal(nw_vm_flush(&rig.vm), NW_OK);
    assert_non_null(nw_vm_pin(&rig.vm, RIG_BASE + 9 * FRAME, 0, &span));
    nw_vm_walk_begin(&walk, &rig.vm, RIG_BASE, 2 * FRAME, 0);
    assert_int_equal(count_up(&walk), 0);
    assert_int_equal(walk.result, NW_ERR_PINNED);
    assert_int_equal(nw_vm_unpin(&rig.vm, RIG_BASE + 9 * FRAME), NW_OK);
    assert_int_equal(rig.panics, 0);
    assert_int_equal(nw_vm_read(&rig.vm, &byte, RIG_BASE + 20 * FRAME, 1), NW_OK);
    assert_int_equal(nw_vm_read(&rig.vm, &byte, RIG_BASE + 21 * FRAME, 1), NW_OK);
    assert_int_equal(nw_vm_read(&rig.vm, &byte, RIG_BASE + 22 * FRAME, 1), NW_OK);
    assert_int_equal(nw_vm_read(&rig.vm, &byte, RIG_BASE + 23 * FRAME, 1), NW_OK);
    rig.ram.fail_after_reads = 0; // the first page was never written, the second has to be read
    nw_vm_walk_begin(&walk, &rig.vm, RIG_BASE, 2 * FRAME, 0);
    assert_int_equal(count_up(&walk), FRAME);
    assert_int_equal(walk.result, NW_ERR_IO);
    assert_int_equal(rig.panics, 1);
    rig_stop(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces_are_the_range),
        cmocka_unit_test(test_a_walk_may_end_early),
        cmocka_unit_test(test_plain_memory_is_one_piece),
        cmocka_unit_test(test_a_range_of_two_kinds_has_no_pieces),
        cmocka_unit_test(test_a_walk_without_a_pin_or_a_page),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

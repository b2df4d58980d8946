// SPDX-License-Identifier: Apache-2.0
// Goal: moves, fills and comparisons of virtual and plain memory do what memmove(), memset() and
// memcmp() do, on the short ways and on the long: any offset, length and distance, both directions,
// pages in RAM or not. A device that fails on the way is told to panic once, and only the target
// suffers.
// ctest: quick
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "nandwich/random.h"
#include "vm_rig.h"

#define SIZE 2048U
#define PLAIN 256U
#define STEPS 1500U

static struct vm_rig rig;
static struct nw_random rnd;
static uint8_t model[SIZE];       // what virtual memory holds
static uint8_t plain_model[PLAIN]; // and what `plain` does
static uint8_t plain[PLAIN];

static uint32_t below(uint32_t limit)
{
    return nw_random_below(&rnd, limit);
}

static uint8_t *copy_of(uintptr_t address)
{
    return address - RIG_BASE < SIZE ? model + (address - RIG_BASE)
                                     : plain_model + (address - (uintptr_t)plain);
}

// A byte by its guard: no bulk operation checks itself.
static uint8_t byte_at(uintptr_t address)
{
    uint8_t byte;

    rig_load(&rig, 0, address, 1, &byte);
    return byte;
}

static void put_byte(uintptr_t address, uint8_t byte)
{
    rig_store(&rig, 1, address, 1, &byte);
    *copy_of(address) = byte;
}

static void begin(uint16_t frame, uint16_t frames, uint16_t sector, uint8_t policy)
{
    rig_prepare(&rig, frame, frames, sector, SIZE);
    rig.config.slots = 2;
    rig.config.policy = policy;
    rig_start(&rig);
    memset(model, 0, sizeof model); // never written: zeros
    for (uint32_t i = 0; i < PLAIN; i++) {
        plain[i] = (uint8_t)below(256);
    }
    memcpy(plain_model, plain, sizeof plain);
    for (uint32_t i = 0; i < SIZE; i++) {
        if (i % 700U < 500U) { // whole pages stay unwritten
            put_byte(RIG_BASE + i, (uint8_t)below(256));
        }
    }
}

static void check_all(void)
{
    for (uint32_t i = 0; i < SIZE; i++) {
        assert_int_equal(byte_at(RIG_BASE + i), model[i]);
    }
    assert_memory_equal(plain, plain_model, PLAIN);
}

static uint32_t some_length(void)
{
    return below(3) != 0 ? below(24) : below(200);
}

// Where n bytes fit, one in four in plain memory.
static uintptr_t place(uint32_t n)
{
    return below(4) == 0 ? (uintptr_t)plain + below(PLAIN - n + 1U)
                         : RIG_BASE + below(SIZE - n + 1U);
}

// So near to `from`, in the same memory, that both mostly overlap.
static uintptr_t near(uintptr_t from, uint32_t n)
{
    int is_plain = from - RIG_BASE >= SIZE;
    uintptr_t first = is_plain ? (uintptr_t)plain : RIG_BASE;
    uint32_t at = (uint32_t)(from - first), most = (is_plain ? PLAIN : SIZE) - n;
    uint32_t reach = below(2) == 0 ? 4 : 70;
    uint32_t to = at + below(2U * reach + 1U);

    to = to < reach ? 0 : to - reach;
    return first + (to < most ? to : most);
}

static void move(void)
{
    uint32_t n = some_length();
    uintptr_t from = place(n), to = below(3) != 0 ? near(from, n) : place(n);

    assert_int_equal(nw_vm_move(&rig.vm, to, from, n), NW_OK);
    memmove(copy_of(to), copy_of(from), n);
    for (uint32_t i = 0; i < n; i++) {
        assert_int_equal(byte_at(to + i), copy_of(to)[i]);
    }
}

static void fill(void)
{
    uint32_t n = some_length();
    uintptr_t to = place(n);
    uint8_t value = (uint8_t)(below(2) * below(256));

    assert_int_equal(nw_vm_fill(&rig.vm, to, value, n), NW_OK);
    memset(copy_of(to), value, n);
}

static int sign(int order)
{
    return (order > 0) - (order < 0);
}

// Two equal ranges, but for one byte at most.
static void compare(void)
{
    uint32_t n = some_length();
    uintptr_t a = place(n), b = place(n);
    int order = 99;

    for (uint32_t i = 0; i < n; i++) {
        put_byte(b + i, *copy_of(a + i));
    }
    if (n > 0 && below(2) == 0) {
        put_byte(b + below(n), (uint8_t)below(256));
    }
    assert_int_equal(nw_vm_compare(&rig.vm, a, b, n, &order), NW_OK);
    assert_int_equal(sign(order), sign(memcmp(copy_of(a), copy_of(b), n)));
}

static void run(uint16_t frame, uint16_t frames, uint8_t policy)
{
    begin(frame, frames, 512, policy);
    for (uint32_t step = 0; step < STEPS; step++) {
        uint32_t dice = below(8);

        if (dice < 4) {
            move();
        } else if (dice < 5) {
            fill();
        } else {
            compare();
        }
        if (step % 250U == 0) {
            check_all();
        }
    }
    check_all();
    assert_int_equal(rig.panics, 0);
    rig_stop(&rig);
}

static void test_as_plain_functions(void **state)
{
    (void)state;
    nw_random_seed(&rnd, 1);
    for (uint16_t frame = 16; frame <= 256; frame = (uint16_t)(frame * 2U)) {
        for (uint8_t policy = 0; policy < 2; policy++) {
            run(frame, 4, policy);                           // as few as two slots allow
            run(frame, (uint16_t)(SIZE / frame + 4), policy); // all in RAM
        }
    }
}

// A short way that forgets its marks loses the write, or the page it just used.
static void test_short_ways_leave_their_marks(void **state)
{
    (void)state;
    for (uint32_t way = 0; way < 4; way++) {
        uint32_t writes;

        nw_random_seed(&rnd, 2);
        begin(64, 40, 512, NW_VM_CLOCK);
        nw_vm_slots_release(&rig.vm);
        assert_int_equal(nw_vm_flush(&rig.vm), NW_OK);
        writes = rig.ram.writes;
        int order;
        int error = way == 0   ? nw_vm_fill(&rig.vm, RIG_BASE + 3, 7, 5)
                    : way == 1 ? nw_vm_move(&rig.vm, RIG_BASE + 5, RIG_BASE + 3, 20)
                    : way == 2 ? nw_vm_move(&rig.vm, RIG_BASE + 5, RIG_BASE + 5, 20)
                               : nw_vm_compare(&rig.vm, RIG_BASE + 5, RIG_BASE + 3, 20, &order);

        assert_int_equal(error, NW_OK);
        assert_int_equal(nw_vm_flush(&rig.vm), NW_OK);
        assert_int_equal(rig.ram.writes - writes, way < 2); // the others change nothing
        rig_stop(&rig);
    }
}

// Nothing of nothing: no mark, no device, no error.
static void test_no_bytes(void **state)
{
    int order = 99;
    uint32_t writes, reads;

    (void)state;
    nw_random_seed(&rnd, 3);
    begin(64, 40, 512, NW_VM_CLOCK);
    nw_vm_slots_release(&rig.vm);
    assert_int_equal(nw_vm_flush(&rig.vm), NW_OK);
    writes = rig.ram.writes;
    reads = rig.ram.reads;
    assert_int_equal(nw_vm_move(&rig.vm, RIG_BASE + 5, RIG_BASE + 5, 0), NW_OK);
    assert_int_equal(nw_vm_move(&rig.vm, RIG_BASE + 5, RIG_BASE + 70, 0), NW_OK);
    assert_int_equal(nw_vm_fill(&rig.vm, RIG_BASE + 5, 1, 0), NW_OK);
    assert_int_equal(nw_vm_compare(&rig.vm, RIG_BASE + 5, RIG_BASE + 70, 0, &order), NW_OK);
    assert_int_equal(order, 0);
    assert_int_equal(nw_vm_flush(&rig.vm), NW_OK);
    assert_int_equal(rig.ram.writes, writes);
    assert_int_equal(rig.ram.reads, reads);
    check_all();
    rig_stop(&rig);
}

// Five pages move by two bytes, up or down, and a read fails: panic hears of it once, with an
// address of the source or the target, and what is not the target is as before.
static void test_a_device_that_fails_in_the_middle(void **state)
{
    uint32_t failed = 0;

    (void)state;
    for (uint32_t round = 0; round < 40; round++) {
        uintptr_t from = RIG_BASE + 70, to = round % 2U == 0 ? from + 2 : from - 2;
        uint32_t n = 5 * 64;
        int error;

        nw_random_seed(&rnd, 4);
        begin(64, 4, 64, (uint8_t)(round / 2U % 2U));
        rig.ram.error = NW_ERR_IO;
        rig.ram.fail_after_reads = round / 4U;
        error = nw_vm_move(&rig.vm, to, from, n);
        rig.ram.fail_after_reads = UINT32_MAX;
        assert_int_equal(rig.panics, error != NW_OK);
        if (error != NW_OK) {
            failed++;
            assert_int_equal(error, NW_ERR_IO);
            assert_in_range(rig.error_at, RIG_BASE + 64, from + n + 1);
        }
        for (uint32_t i = 0; i < SIZE; i++) {
            uintptr_t address = RIG_BASE + i;

            if (address - to >= n) {
                assert_int_equal(byte_at(address), model[i]);
            }
        }
        rig_stop(&rig);
    }
    assert_in_range(failed, 8, 39); // some got through, many did not
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_plain_functions),
        cmocka_unit_test(test_short_ways_leave_their_marks),
        cmocka_unit_test(test_no_bytes),
        cmocka_unit_test(test_a_device_that_fails_in_the_middle),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: Apache-2.0
// Goal: whatever mix of guarded accesses, bulk operations, pins, flushes and discards runs in
// whatever configuration, virtual memory reads as a plain array would. Runs each seed against
// such an array; bytes given up by a discard are zeros or what they were until written again.
// `NW_SEED=n` replays one seed. One seed in three runs on a device that fails now and then: each
// failure is told, and nothing but what the failed operation was to write may change; a guarded
// access that fails changes nothing.
// ctest: quick
// ctest: soak
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "nandwich/random.h"
#include "vm_rig.h"

#define PLAIN_BYTES 4096U
#define PINS 3U

enum {
    DOUBTFUL, // an operation that was to write it failed
    KNOWN,
    OR_ZERO // given up by a discard: what it was, or zero
};

struct pinned {
    uint8_t *at;
    uintptr_t address;
    size_t span;
    int write;
};

struct model {
    struct vm_rig rig;
    struct nw_random random;
    uint8_t *bytes;         // what virtual memory must hold
    uint8_t *known;         // of each byte: KNOWN, OR_ZERO or DOUBTFUL
    uintptr_t aim;          // what the operation under way writes to
    size_t aim_bytes;
    uint32_t failures;
    _Alignas(32768) uint8_t plain[PLAIN_BYTES]; // plain memory the operations also go to
    uint8_t plain_copy[PLAIN_BYTES];
    struct pinned pinned[PINS];
    unsigned pins;
    uint32_t seed;
    uint32_t step;
};

static struct model model;
static uint32_t all_failures;

static uint32_t below(uint32_t limit)
{
    return limit <= 65536U ? nw_random_below(&model.random, limit)
                           : nw_random_next(&model.random) % limit;
}

static void fail_here(const char *what, uintptr_t offset)
{
    fail_msg("%s at offset %zu, step %u; replay with NW_SEED=%u", what, (size_t)offset,
             (unsigned)model.step, (unsigned)model.seed);
}

// A place n bytes fit at: virtual two times of three, mostly in a small working set.
static uintptr_t place(size_t n)
{
    uint32_t bytes = model.rig.config.bytes;

    if (below(3) == 0) {
        return (uintptr_t)model.plain + below((uint32_t)(PLAIN_BYTES - n + 1U));
    }
    if (below(4) != 0 && bytes > 2048U + n) {
        return RIG_BASE + (model.step / 4096U * 1024U + below(2048)) % (uint32_t)(bytes - n + 1U);
    }
    return RIG_BASE + below((uint32_t)(bytes - n + 1U));
}

static int is_virtual(uintptr_t address)
{
    return address - RIG_BASE < model.rig.config.bytes;
}

// The model's copy of what lies at an address.
static uint8_t *twin_of(uintptr_t address)
{
    return is_virtual(address) ? model.bytes + (address - RIG_BASE)
                               : model.plain_copy + (address - (uintptr_t)model.plain);
}

static void aim_at(uintptr_t address, size_t n)
{
    model.aim = address;
    model.aim_bytes = n;
}

static void learn(uintptr_t address, size_t n)
{
    if (is_virtual(address)) {
        memset(model.known + (address - RIG_BASE), KNOWN, n);
    }
}

static int all_known(uintptr_t address, size_t n)
{
    const uint8_t *known;

    if (!is_virtual(address)) {
        return 1;
    }
    known = model.known + (address - RIG_BASE);
    return memchr(known, DOUBTFUL, n) == NULL && memchr(known, OR_ZERO, n) == NULL;
}

static int may_be(uintptr_t address, uint8_t byte)
{
    if (byte == *twin_of(address) || all_known(address, 1)) {
        return byte == *twin_of(address);
    }
    return model.known[address - RIG_BASE] == DOUBTFUL || byte == 0;
}

static void expect(uintptr_t address, const uint8_t *got, size_t n, const char *what)
{
    size_t i;

    for (i = 0; i < n; i++) {
        if (!may_be(address + i, got[i])) {
            fail_here(what, address + i - RIG_BASE);
        }
    }
}

// The operation failed: only what it was to write is in doubt.
static void after_failure(void)
{
    if (model.rig.error != NW_ERR_IO) {
        fail_here("panic", model.rig.error_at - RIG_BASE);
    }
    if (is_virtual(model.aim)) {
        memset(model.known + (model.aim - RIG_BASE), DOUBTFUL, model.aim_bytes);
    }
    memcpy(model.plain_copy, model.plain, PLAIN_BYTES);
    model.rig.ram.fail_after_reads = UINT32_MAX;
    model.rig.ram.fail_after_writes = UINT32_MAX;
    model.rig.ram.fail_after_trims = UINT32_MAX;
    model.failures++;
    all_failures++;
}

// Whether an operation was done; else panic was told of the error it answers, and came back.
static int was_done(int error, unsigned panics)
{
    if (model.rig.panics == panics) {
        assert_int_equal(error, NW_OK);
        return 1;
    }
    assert_int_equal(error, model.rig.error);
    after_failure();
    return 0;
}

static size_t some_length(void)
{
    size_t most = model.rig.config.bytes < 3000U ? model.rig.config.bytes : 3000U;

    return below(8) == 0 || most < 64U ? below((uint32_t)most + 1U) : below(64);
}

/* A slot, or as often the look-aside entry where there are some. */
static unsigned some_slot(void)
{
    return model.rig.config.lookaside_entries != 0 && below(2) == 0
               ? RIG_ASIDE
               : below(model.rig.config.slots);
}

static void do_access(void)
{
    static const uint8_t sizes[] = {1, 2, 4, 8, 16, 3, 6};
    static const uint8_t zeros[16];
    unsigned panics = model.rig.panics;
    size_t n = sizes[below(sizeof sizes)];
    uintptr_t address = place(n);
    unsigned slot = some_slot();
    uint8_t value[16];
    size_t i;

    if (below(2) == 0) {
        rig_load(&model.rig, slot, address, n, value);
        if (model.rig.panics == panics) {
            expect(address, value, n, "load");
        } else { // panic came back
            after_failure();
            assert_memory_equal(value, zeros, n);
        }
        return;
    }
    for (i = 0; i < n; i++) {
        value[i] = (uint8_t)nw_random_next(&model.random);
    }
    rig_store(&model.rig, slot, address, n, value); // all of it, or nothing when it fails
    if (model.rig.panics != panics) {
        after_failure();
        return;
    }
    memcpy(twin_of(address), value, n);
    learn(address, n);
}

static void do_modify(void)
{
    uintptr_t address = place(4) & ~(uintptr_t)3;
    struct nw_vm_slot *slot = rig_slot(&model.rig, some_slot(), address);
    unsigned panics = model.rig.panics;
    uint8_t *at = nw_vm_modify_miss(&model.rig.vm, slot, address, 4);

    if (model.rig.panics != panics) {
        after_failure();
        return;
    }
    expect(address, at, 4, "modify");
    memset(at, (int)(model.step & 0xFFU), 4);
    memset(twin_of(address), (int)(model.step & 0xFFU), 4);
    learn(address, 4);
}

static void do_move(void)
{
    struct vm_rig *rig = &model.rig;
    unsigned panics = rig->panics;
    size_t n = some_length();
    uintptr_t from = place(n);
    uintptr_t to = below(3) == 0 ? from + below(64) - (uintptr_t)32 : place(n);

    if (is_virtual(from) ? (to < RIG_BASE || to + n > RIG_BASE + rig->config.bytes)
                         : (!is_virtual(to) && (to < (uintptr_t)model.plain ||
                                                to + n > (uintptr_t)model.plain + PLAIN_BYTES))) {
        to = from;
    }
    aim_at(to, n);
    if (!was_done(nw_vm_move(&rig->vm, to, from, n), panics)) {
        return;
    }
    if (is_virtual(to)) {
        if (is_virtual(from)) {
            memmove(model.known + (to - RIG_BASE), model.known + (from - RIG_BASE), n);
        } else {
            learn(to, n);
        }
    } else if (!all_known(from, n)) {
        memcpy(model.plain_copy, model.plain, PLAIN_BYTES);
        return;
    }
    memmove(twin_of(to), twin_of(from), n);
}

static void do_fill(void)
{
    unsigned panics = model.rig.panics;
    size_t n = some_length();
    uintptr_t to = place(n);
    uint8_t value = below(2) == 0 ? 0 : (uint8_t)below(256);

    aim_at(to, n);
    if (!was_done(nw_vm_fill(&model.rig.vm, to, value, n), panics)) {
        return;
    }
    memset(twin_of(to), value, n);
    learn(to, n);
}

static void do_compare(void)
{
    size_t n = some_length();
    uintptr_t a = place(n);
    uintptr_t b = below(2) == 0 ? a : place(n);
    unsigned panics = model.rig.panics;
    int order = 99;
    int right;

    if (!was_done(nw_vm_compare(&model.rig.vm, a, b, n, &order), panics)) {
        return;
    }
    right = memcmp(twin_of(a), twin_of(b), n);
    if (all_known(a, n) && all_known(b, n) && (order < 0 ? -1 : order > 0) !=
                                                  (right < 0 ? -1 : right > 0)) {
        fail_here("compare", a - RIG_BASE);
    }
}

static void do_find(void)
{
    size_t n = some_length();
    uintptr_t from = place(n);
    uint8_t value = (uint8_t)below(256);
    size_t index = SIZE_MAX;
    unsigned panics = model.rig.panics;
    int error = nw_vm_find(&model.rig.vm, from, value, n, &index);
    const uint8_t *right = memchr(twin_of(from), value, n);

    if (model.rig.panics != panics) {
        (void)was_done(error, panics);
    } else if (all_known(from, n)) {
        if (error != (right != NULL ? NW_OK : NW_ERR_NOT_FOUND) ||
            (right != NULL && index != (size_t)(right - twin_of(from)))) {
            fail_here("find", from - RIG_BASE);
        }
    }
}

static void do_pin(void)
{
    unsigned panics = model.rig.panics;
    struct pinned *pin;

    if (model.pins < PINS && below(2) == 0) {
        pin = &model.pinned[model.pins];
        pin->address = place(1);
        pin->write = (int)below(2);
        pin->at = nw_vm_pin(&model.rig.vm, pin->address, pin->write, &pin->span);
        if (pin->at != NULL) {
            model.pins++;
        } else if (model.rig.panics == panics) {
            fail_here("pin refused", pin->address - RIG_BASE);
        } else {
            after_failure();
        }
        return;
    }
    if (model.pins == 0) {
        return;
    }
    pin = &model.pinned[below(model.pins)];
    if (pin->span > 8 && is_virtual(pin->address)) {
        if (below(2) != 0) {
            expect(pin->address, pin->at, 8, "pinned bytes");
        } else if (pin->write) {
            memset(pin->at, (int)(model.step & 0xFFU), 8);
            memset(twin_of(pin->address), (int)(model.step & 0xFFU), 8);
            learn(pin->address, 8);
        } else {
            assert_int_equal(nw_vm_unpin(&model.rig.vm, pin->address), NW_OK);
            *pin = model.pinned[--model.pins];
        }
        return;
    }
    assert_int_equal(nw_vm_unpin(&model.rig.vm, pin->address), NW_OK);
    *pin = model.pinned[--model.pins];
}

static void do_discard(void)
{
    uint32_t bytes = model.rig.config.bytes;
    unsigned panics = model.rig.panics;
    uint32_t offset = below(bytes);
    uint32_t n = below((bytes - offset < 4096U ? bytes - offset : 4096U) + 1U);
    uint32_t frame = model.rig.config.frame_bytes;
    uint32_t first = (offset + frame - 1U) / frame * frame;
    uint32_t end = (offset + n) / frame * frame;

    aim_at(RIG_BASE + first, end > first ? end - first : 0);
    if (was_done(nw_vm_discard(&model.rig.vm, RIG_BASE + offset, n), panics) && end > first) {
        uint32_t at;

        for (at = first; at < end; at++) {
            model.known[at] = model.known[at] == DOUBTFUL ? DOUBTFUL : OR_ZERO;
        }
    }
}

static void check_all(void)
{
    uint8_t buffer[64];
    uint32_t offset;

    for (offset = 0; offset < model.rig.config.bytes; offset += 16) {
        assert_int_equal(nw_vm_read(&model.rig.vm, buffer, RIG_BASE + offset, 16), NW_OK);
        expect(RIG_BASE + offset, buffer, 16, "sweep");
    }
    assert_memory_equal(model.plain, model.plain_copy, PLAIN_BYTES);
}

static void break_device(void)
{
    uint32_t *left[] = {&model.rig.ram.fail_after_reads, &model.rig.ram.fail_after_writes,
                        &model.rig.ram.fail_after_trims};

    *left[below(3)] = below(3);
}

static void do_step(void)
{
    uint32_t dice = below(100);

    aim_at(0, 0);
    if (dice < 60) {
        do_access();
    } else if (dice < 65) {
        do_modify();
    } else if (dice < 77) {
        do_move();
    } else if (dice < 82) {
        do_fill();
    } else if (dice < 86) {
        do_compare();
    } else if (dice < 89) {
        do_find();
    } else if (dice < 97) {
        do_pin();
    } else if (dice < 98) {
        do_discard();
    } else if (below(20) == 0) {
        unsigned panics = model.rig.panics;

        (void)was_done(nw_vm_flush(&model.rig.vm), panics);
    }
}

// All steps, coming back after each failure of the device: panic jumps out of it, or returns.
static void run_steps(uint32_t steps, int faulty, int jumps)
{
    jmp_buf escape;

    model.rig.escape = jumps ? &escape : NULL;
    model.step = 0;
    if (setjmp(escape) != 0) {
        after_failure();
        model.step++;
    }
    for (; model.step < steps; model.step++) {
        if (faulty && below(50) == 0) {
            break_device();
        }
        do_step();
    }
    model.rig.ram.fail_after_reads = UINT32_MAX;
    model.rig.ram.fail_after_writes = UINT32_MAX;
    model.rig.ram.fail_after_trims = UINT32_MAX;
}

static void run_seed(uint32_t seed, uint32_t steps)
{
    struct vm_rig *rig = &model.rig;
    uint16_t frame;
    uint16_t sector;
    uint16_t slots;
    uint32_t unit;
    uint32_t bytes;

    memset(&model, 0, sizeof model);
    model.seed = seed;
    nw_random_seed(&model.random, seed);
    frame = (uint16_t)(16U << below(6));
    sector = (uint16_t)((frame << below(4)) >> below(3));
    unit = sector > frame ? sector : frame;
    bytes = unit * (1U + below(below(2) == 0 ? 4 : 200));
    slots = (uint16_t)(1U + below(below(2) == 0 ? 2 : 20));
    rig_prepare(rig, frame, (uint16_t)(slots + PINS + 2U + (below(2) == 0 ? 0 : below(40))), sector,
                bytes);
    rig->config.slots = slots;
    rig->config.lookaside_entries = (uint16_t)(below(2) == 0 ? 0 : 1U << below(7));
    rig->config.pins = PINS;
    rig->config.policy = (uint8_t)below(2);
    rig->config.scheme = sector > frame ? NW_VM_MULTI_CACHE : (uint8_t)below(2);
    rig_start(rig);
    model.bytes = calloc(1, bytes);
    model.known = malloc(bytes);
    assert_true(model.bytes != NULL && model.known != NULL);
    memset(model.known, KNOWN, bytes);
    run_steps(steps, seed % 3 == 0, seed % 2 == 0);
    assert_int_equal(rig->panics, model.failures);
    while (model.pins > 0) {
        assert_int_equal(nw_vm_unpin(&rig->vm, model.pinned[--model.pins].address), NW_OK);
    }
    check_all();
    assert_int_equal(rig->ram.reads, rig->vm.stats.sectors_read);
    assert_int_equal(rig->ram.writes, rig->vm.stats.sectors_written);
    free(model.bytes);
    free(model.known);
    rig_stop(rig);
}

static void test_reads_as_a_plain_array(void **state)
{
    const char *replay = getenv("NW_SEED");
    uint32_t seeds = getenv("NW_SOAK") != NULL ? 20000 : 300;
    uint32_t seed;

    (void)state;
    if (replay != NULL) {
        run_seed((uint32_t)strtoul(replay, NULL, 0), 20000);
        return;
    }
    for (seed = 1; seed <= seeds; seed++) {
        run_seed(seed, seed % 50 == 0 ? 20000 : 2000);
    }
    assert_true(all_failures > seeds); // the device did fail
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_reads_as_a_plain_array)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

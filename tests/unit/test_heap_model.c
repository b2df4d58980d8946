// SPDX-License-Identifier: Apache-2.0
// Goal: the heap keeps its promises against a model that knows every block: a request is refused
// only when no run of free bytes is long enough, and an address that is no block, or no longer one,
// is never obeyed, whatever was flushed, discarded, resized or opened anew in between. `NW_SEED=n`
// replays one seed.
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

#include "nandwich/heap.h"
#include "nandwich/random.h"
#include "vm_rig.h"

#define BLOCKS 160U
#define GONE 64U
#define HEADER 8U

struct block {
    uintptr_t address; // 0: none
    size_t bytes;      // asked for
    size_t size;       // header included
    size_t painted;    // so many of its bytes were written; the others hold what was there before
    uint8_t mark;      // byte i of them holds mark + i, or 0 once discarded
    uint8_t dropped;   // parts of it were discarded
};

static struct {
    struct vm_rig rig;
    struct nw_heap heap;
    struct nw_random random;
    uintptr_t start; // of the heap, and its size
    uint32_t bytes;
    struct block block[BLOCKS];
    uintptr_t gone[GONE]; // were blocks once
    uint32_t seed;
    uint32_t step;
    uint32_t refusals;
    uint32_t misuses;
} test;

static uint32_t below(uint32_t limit)
{
    return limit <= 65536U ? nw_random_below(&test.random, limit)
                           : nw_random_next(&test.random) % limit;
}

static void check(int good, const char *what)
{
    if (!good) {
        fail_msg("%s, step %u; replay with NW_SEED=%u", what, (unsigned)test.step,
                 (unsigned)test.seed);
    }
}

// The exact rule of heap.h: what a request takes.
static size_t taken(size_t bytes)
{
    size_t need = (bytes + HEADER + NW_HEAP_ALIGN - 1U) / NW_HEAP_ALIGN * NW_HEAP_ALIGN;

    return need < 16U ? 16U : need;
}

static uintptr_t first_byte(void)
{
    return (test.start + 15U) / 16U * 16U + HEADER;
}

static struct block *live(uintptr_t address)
{
    unsigned i;

    for (i = 0; address != 0 && i < BLOCKS; i++) {
        if (test.block[i].address == address) {
            return &test.block[i];
        }
    }
    return NULL;
}

// Where the free run that begins at `from` ends.
static uintptr_t run_end(uintptr_t from)
{
    uintptr_t end = test.start + test.bytes;
    unsigned i;

    for (i = 0; i < BLOCKS; i++) {
        uintptr_t header = test.block[i].address - HEADER;

        if (test.block[i].address != 0 && header >= from && header < end) {
            end = header;
        }
    }
    return end;
}

static size_t longest_run(void)
{
    size_t most = run_end(first_byte()) - first_byte();
    unsigned i;

    for (i = 0; i < BLOCKS; i++) {
        const struct block *block = &test.block[i];
        uintptr_t end = block->address - HEADER + block->size;

        if (block->address != 0 && run_end(end) - end > most) {
            most = run_end(end) - end;
        }
    }
    return most;
}

static void paint(struct block *block)
{
    static uint8_t bytes[65536];
    size_t i;

    block->mark = (uint8_t)below(256);
    block->dropped = 0;
    block->painted = below(2) == 0 ? block->bytes : below((uint32_t)block->bytes + 1U);
    for (i = 0; i < block->painted; i++) {
        bytes[i] = (uint8_t)(block->mark + i);
    }
    assert_int_equal(nw_vm_write(&test.rig.vm, block->address, bytes, block->painted), NW_OK);
}

static void verify(const struct block *block, size_t bytes)
{
    static uint8_t got[65536];
    size_t i;

    assert_int_equal(nw_vm_read(&test.rig.vm, got, block->address, bytes), NW_OK);
    for (i = 0; i < bytes; i++) {
        check(got[i] == (uint8_t)(block->mark + i) || (block->dropped && got[i] == 0),
              "content lost");
    }
}

static void take(struct block *block, uintptr_t address, size_t bytes)
{
    size_t room;
    unsigned i;

    assert_int_equal(nw_heap_size(&test.heap, address, &room), NW_OK);
    check(room >= bytes, "a block is too small");
    check(address % NW_HEAP_ALIGN == 0 && address - HEADER >= first_byte() &&
              address + room <= test.start + test.bytes,
          "a block lies outside");
    for (i = 0; i < BLOCKS; i++) {
        const struct block *other = &test.block[i];

        check(other == block || other->address == 0 || address + room <= other->address - HEADER ||
                  other->address - HEADER + other->size <= address - HEADER,
              "blocks overlap");
    }
    block->address = address;
    block->bytes = bytes;
    block->size = room + HEADER;
}

static void drop(struct block *block)
{
    test.gone[below(GONE)] = block->address;
    block->address = 0;
}

static size_t some_bytes(void)
{
    size_t run;

    switch (below(12)) {
    case 0: return NW_HEAP_QUICK_MAX - 3U * NW_HEAP_ALIGN + below(6U * NW_HEAP_ALIGN);
    case 1: return below(test.bytes);
    case 2: // what the longest run just takes, or just not
        run = longest_run();
        return run < 64U ? run : run - HEADER - below(3) * NW_HEAP_ALIGN + below(2) * 8U;
    case 3: return below(test.bytes / 8U + 1U);
    case 4: return 4U * NW_HEAP_QUICK_MAX + below(50);
    case 5:
    case 6: return below(test.bytes / 40U + 1U);
    default: return below(150);
    }
}

static void step_alloc(struct block *block)
{
    size_t bytes = some_bytes();
    size_t align = below(6) == 0 ? (size_t)1 << below(10) : 0;
    size_t need = taken(bytes) + (align > NW_HEAP_ALIGN ? align + 16U : 0);
    uintptr_t address = 1;
    int zeroed = align == 0 && below(5) == 0;
    int error = zeroed ? nw_heap_alloc_zeroed(&test.heap, bytes, 1, &address)
                       : nw_heap_alloc(&test.heap, bytes, align, &address);

    if (error == NW_ERR_FULL) {
        check(address == 0, "a refusal leaves no address");
        check(longest_run() < need, "refused with room side by side");
        test.refusals++;
        return;
    }
    assert_int_equal(error, NW_OK);
    check(align == 0 || address % align == 0, "not aligned");
    take(block, address, bytes);
    if (zeroed) {
        static uint8_t got[65536];
        size_t i;

        assert_int_equal(nw_vm_read(&test.rig.vm, got, address, bytes), NW_OK);
        for (i = 0; i < bytes; i++) {
            check(got[i] == 0, "not zeroed");
        }
    }
    paint(block);
}

static void step_resize(struct block *block)
{
    size_t bytes = below(2) == 0 ? some_bytes() : block->bytes + below(200);
    struct block old = *block;
    uintptr_t address = block->address;
    uintptr_t end = address - HEADER + block->size;
    int error = nw_heap_resize(&test.heap, &address, bytes);

    if (error == NW_ERR_FULL) {
        check(address == old.address, "a refusal moves nothing");
        check(longest_run() < taken(bytes), "resize refused with room side by side");
        check(block->size + run_end(end) - end < taken(bytes), "refused with room behind");
        verify(block, block->painted);
        test.refusals++;
        return;
    }
    assert_int_equal(error, NW_OK);
    if (address != old.address) {
        drop(block);
    } else if (block->size < taken(bytes)) {
        test.gone[below(GONE)] = end + HEADER; // where a block began, perhaps
    }
    take(block, address, bytes);
    old.address = address;
    verify(&old, bytes < old.painted ? bytes : old.painted);
    paint(block);
}

// What was a block once, or never was, is refused and nothing changes.
static void step_misuse(void)
{
    struct nw_heap_stats before = test.heap.stats;
    uintptr_t address = test.gone[below(GONE)];
    uintptr_t moved;
    size_t size;

    if (below(3) == 0) {
        address = test.start - 64U + below(test.bytes + 128U);
        address -= below(4) != 0 ? address % NW_HEAP_ALIGN : 0;
    }
    if (address == 0 || live(address) != NULL) {
        return;
    }
    moved = address;
    check(nw_heap_free(&test.heap, address) < 0, "freed what is no block");
    check(nw_heap_size(&test.heap, address, &size) < 0, "measured what is no block");
    check(nw_heap_resize(&test.heap, &moved, below(300)) < 0, "resized what is no block");
    before.failures = test.heap.stats.failures;
    assert_memory_equal(&before, &test.heap.stats, sizeof before);
    test.misuses++;
}

// The program's own right: its block's content is no longer needed.
static void step_discard(struct block *block)
{
    size_t from = below((uint32_t)block->bytes + 1U);

    assert_int_equal(nw_vm_discard(&test.rig.vm, block->address + from, block->bytes - from),
                     NW_OK);
    block->dropped = 1;
}

// Over what an older heap has left, somewhere in the range.
static void open_heap(void)
{
    uint32_t range = test.rig.config.bytes;
    unsigned i;

    for (i = 0; i < BLOCKS; i++) {
        if (test.block[i].address != 0) {
            drop(&test.block[i]);
        }
    }
    test.start = RIG_BASE + (below(2) == 0 ? 0 : below(range / 8U));
    test.bytes = (uint32_t)(RIG_BASE + range - test.start) - below(range / 8U);
    assert_int_equal(nw_heap_open(&test.heap, &test.rig.vm, test.start, test.bytes), NW_OK);
}

static void assert_sound(void)
{
    uintptr_t where;

    check(nw_heap_check(&test.heap, &where) == NW_OK, "the heap is unsound");
}

static void do_step(void)
{
    struct block *block = &test.block[below(1U + below(BLOCKS))];
    uint32_t dice = below(100);

    if (dice < 10) {
        step_misuse();
    } else if (dice == 10) {
        assert_int_equal(nw_vm_flush(&test.rig.vm), NW_OK);
    } else if (dice == 11 && below(20) == 0) {
        open_heap();
    } else if (block->address == 0) {
        step_alloc(block);
    } else if (dice < 15) {
        step_discard(block);
    } else if (dice < 45) {
        step_resize(block);
    } else {
        verify(block, block->painted);
        assert_int_equal(nw_heap_free(&test.heap, block->address), NW_OK);
        drop(block);
    }
}

static void run_seed(uint32_t seed, uint32_t steps)
{
    uint16_t frame;
    uint16_t sector;
    uint32_t refusals = test.refusals;
    uint32_t misuses = test.misuses;

    memset(&test, 0, sizeof test);
    test.refusals = refusals;
    test.misuses = misuses;
    test.seed = seed;
    nw_random_seed(&test.random, seed);
    frame = (uint16_t)(16U << below(7));
    sector = (uint16_t)((frame << below(6)) >> below(2));
    rig_prepare(&test.rig, frame, (uint16_t)(2U + below(below(2) == 0 ? 3 : 40)), sector,
                (1U + below(8)) * 8192U);
    test.rig.config.policy = (uint8_t)below(2);
    test.rig.config.scheme = sector > frame ? NW_VM_MULTI_CACHE : (uint8_t)below(2);
    rig_start(&test.rig);
    open_heap();
    for (test.step = 0; test.step < steps; test.step++) {
        do_step();
        if (test.step % 32U == 0) {
            assert_sound();
        }
    }
    assert_sound();
    assert_int_equal(test.rig.panics, 0);
    rig_stop(&test.rig);
}

static void test_the_model_is_obeyed(void **state)
{
    const char *replay = getenv("NW_SEED");
    uint32_t seeds = getenv("NW_SOAK") != NULL ? 6000 : 100;
    uint32_t seed;

    (void)state;
    if (replay != NULL) {
        run_seed((uint32_t)strtoul(replay, NULL, 0), 3000);
        return;
    }
    for (seed = 1; seed <= seeds; seed++) {
        run_seed(seed, 3000);
    }
    print_message("%u refusals, %u misuses\n", (unsigned)test.refusals, (unsigned)test.misuses);
    assert_true(test.refusals > 100U * seeds && test.misuses > 100U * seeds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_the_model_is_obeyed)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: Apache-2.0
// Goal: what virtual memory costs in faults and in sectors read and written is known to the unit
// for fixed scripts, in both schemes and with both policies. A change that makes any script
// dearer fails here, with no noise of time in it. The numbers of the simple scripts are explained
// where they stand; the others were checked by hand once and are pinned.
// ctest: quick
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "nandwich/random.h"
#include "vm_rig.h"

#define FRAME 512U
#define PAGES 256U
#define FRAMES 64U

struct counts {
    uint32_t slot_misses;
    uint32_t faults;
    uint32_t zero_pages;
    uint32_t buffer_hits;
    uint32_t evictions;
    uint32_t writebacks;
    uint32_t merges;
    uint32_t reads; // sectors
    uint32_t writes;
};

static struct vm_rig rig;

static void begin(uint8_t scheme, uint8_t policy)
{
    rig_prepare(&rig, FRAME, FRAMES, scheme == NW_VM_DIRECT ? FRAME : 4U * FRAME, PAGES * FRAME);
    rig.config.slots = 4;
    rig.config.scheme = scheme;
    rig.config.policy = policy;
    rig_start(&rig);
}

static uint32_t load(unsigned slot, uint32_t offset)
{
    uint32_t value;

    rig_load(&rig, slot, RIG_BASE + offset, sizeof value, &value);
    return value;
}

static void store(unsigned slot, uint32_t offset, uint32_t value)
{
    rig_store(&rig, slot, RIG_BASE + offset, sizeof value, &value);
}

// Every word of the range in order; four times the size of the frames.
static void script_fill_and_sum(void)
{
    uint32_t sum = 0;
    uint32_t at;

    for (at = 0; at < PAGES * FRAME; at += 4U) {
        store(0, at, at);
    }
    for (at = 0; at < PAGES * FRAME; at += 4U) {
        sum += load(0, at);
    }
    assert_int_equal(sum, (uint32_t)((uint64_t)PAGES * FRAME / 4U * (PAGES * FRAME - 4U) / 2U));
}

// 8000 counters of 4 bytes, 20000 increments at random: half of what is touched is not in RAM.
static void script_counters(void)
{
    struct nw_random random;
    uint32_t sum = 0;
    uint32_t i;

    nw_random_seed(&random, 1);
    for (i = 0; i < 20000; i++) {
        uint32_t at = 4U * nw_random_below(&random, 16000);

        store(0, at, load(0, at) + 1U);
    }
    for (i = 0; i < 16000; i++) {
        sum += load(1, 4U * i);
    }
    assert_int_equal(sum, 20000);
}

// Two streams read and one written, three slots.
static void script_add_streams(void)
{
    uint32_t third = PAGES / 3U * FRAME;
    uint32_t at;

    for (at = 0; at < third; at += 4U) {
        store(0, at, at);
        store(1, third + at, 1);
    }
    for (at = 0; at < third; at += 4U) {
        store(2, 2U * third + at, load(0, at) + load(1, third + at));
    }
    for (at = 0; at < third; at += 4U) {
        assert_int_equal(load(3, 2U * third + at), at + 1U);
    }
}

// A working set of half the frames: after the first touch nothing moves.
static void script_fits(void)
{
    struct nw_random random;
    uint32_t i;

    nw_random_seed(&random, 2);
    for (i = 0; i < 10000; i++) {
        uint32_t at = 4U * nw_random_below(&random, FRAMES / 2U * FRAME / 4U);

        store(i % 4U, at, load(i % 4U, at) + 1U);
    }
}

static void expect(const char *what, uint8_t scheme, uint8_t policy, const struct counts *right)
{
    const struct nw_vm_stats *s = &rig.vm.stats;
    struct counts got;

    got.slot_misses = (uint32_t)s->slot_misses;
    got.faults = (uint32_t)s->faults;
    got.zero_pages = (uint32_t)s->zero_pages;
    got.buffer_hits = (uint32_t)s->buffer_hits;
    got.evictions = (uint32_t)s->evictions;
    got.writebacks = (uint32_t)s->writebacks;
    got.merges = (uint32_t)s->merges;
    got.reads = rig.ram.reads;
    got.writes = rig.ram.writes;
    if (memcmp(&got, right, sizeof got) != 0) {
        print_message("%s, %s, %s: now {%u, %u, %u, %u, %u, %u, %u, %u, %u}\n", what,
                      scheme == NW_VM_DIRECT ? "direct" : "multi-cache",
                      policy == NW_VM_LRU ? "lru" : "clock", (unsigned)got.slot_misses,
                      (unsigned)got.faults, (unsigned)got.zero_pages, (unsigned)got.buffer_hits,
                      (unsigned)got.evictions, (unsigned)got.writebacks, (unsigned)got.merges,
                      (unsigned)got.reads, (unsigned)got.writes);
    }
    assert_memory_equal(&got, right, sizeof got);
}

// [scheme][policy]
static void run(const char *what, void (*script)(void), const struct counts right[2][2])
{
    uint8_t scheme;
    uint8_t policy;

    for (scheme = 0; scheme < 2; scheme++) {
        for (policy = 0; policy < 2; policy++) {
            begin(scheme, policy);
            script();
            expect(what, scheme, policy, &right[scheme][policy]);
            assert_int_equal(rig.vm.stats.sectors_read, rig.ram.reads);
            assert_int_equal(rig.vm.stats.sectors_written, rig.ram.writes);
            rig_stop(&rig);
        }
    }
}

static void test_fill_and_sum(void **state)
{
    // 256 pages written in order, each once: 256 zero pages, no read. The second pass reads every
    // sector once, four pages to a sector where the sector buffer serves three of them; under CLOCK
    // one write-back of the first pass falls into the second and takes the buffer.
    static const struct counts right[2][2] = {
        {{512, 512, 256, 191, 448, 256, 0, 65, 64}, {512, 512, 256, 192, 448, 256, 0, 64, 64}},
        {{512, 512, 256, 0, 448, 256, 0, 256, 256}, {512, 512, 256, 0, 448, 256, 0, 256, 256}},
    };

    (void)state;
    run("fill and sum", script_fill_and_sum, right);
}

static void test_counters(void **state)
{
    static const struct counts right[2][2] = {
        {{39781, 9882, 92, 307, 9818, 10578, 2254, 11737, 3477},
         {39781, 9879, 86, 296, 9815, 12223, 3530, 13027, 4503}},
        {{39781, 9851, 125, 0, 9787, 9744, 0, 9726, 9744},
         {39781, 9879, 125, 0, 9815, 9776, 0, 9754, 9776}},
    };

    (void)state;
    run("counters", script_counters, right);
}

static void test_add_streams(void **state)
{
    static const struct counts right[2][2] = {
        {{510, 503, 254, 53, 439, 248, 1, 197, 63}, {510, 509, 254, 58, 445, 255, 0, 197, 65}},
        {{510, 501, 255, 0, 437, 246, 0, 246, 246}, {510, 509, 255, 0, 445, 254, 0, 254, 254}},
    };

    (void)state;
    run("add streams", script_add_streams, right);
}

static void test_fits(void **state)
{
    // 32 pages, 32 faults; a load and a store of the same page are two misses at most.
    static const struct counts right[2][2] = {
        {{19358, 32, 32, 0, 0, 0, 0, 0, 0}, {19358, 32, 32, 0, 0, 0, 0, 0, 0}},
        {{19358, 32, 32, 0, 0, 0, 0, 0, 0}, {19358, 32, 32, 0, 0, 0, 0, 0, 0}},
    };

    (void)state;
    run("fits", script_fits, right);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fill_and_sum),
        cmocka_unit_test(test_counters),
        cmocka_unit_test(test_add_streams),
        cmocka_unit_test(test_fits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

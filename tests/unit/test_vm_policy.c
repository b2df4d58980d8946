// SPDX-License-Identifier: Apache-2.0
// Goal: the page that leaves is the one the policy names. LRU is compared, fault for fault, with a
// list kept in plain order of use; CLOCK with a second-chance ring written out longhand.
// ctest: quick
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "nandwich/random.h"
#include "vm_rig.h"

#define FRAME 64U
#define PAGES 40U
#define FRAMES_MAX 24U

struct held {
    int page; // -1: none
    int referenced;
    int dirty;
    int slots; // how many slots hold it
};

static struct vm_rig rig;
static struct nw_random randoms;
static struct held ring[FRAMES_MAX]; // LRU: oldest first
static unsigned frames;
static unsigned hand;
static int slot_page[4];

static void begin(uint8_t policy, unsigned count, uint16_t slots)
{
    unsigned i;

    frames = count;
    hand = 0;
    for (i = 0; i < FRAMES_MAX; i++) {
        ring[i].page = -1;
        ring[i].slots = 0;
    }
    for (i = 0; i < 4; i++) {
        slot_page[i] = -1;
    }
    rig_prepare(&rig, FRAME, (uint16_t)count, FRAME, PAGES * FRAME);
    rig.config.policy = policy;
    rig.config.slots = slots;
    rig_start(&rig);
}

static unsigned index_of(int page)
{
    unsigned i = 0;

    while (i < frames && ring[i].page != page) {
        i++;
    }
    return i;
}

// The slot takes a page; answers where the one it lets go lies, or `frames`.
static unsigned hold(unsigned slot, int page)
{
    unsigned i = slot_page[slot] >= 0 ? index_of(slot_page[slot]) : frames;

    ring[index_of(page)].slots++;
    if (i < frames) {
        ring[i].slots--;
    }
    slot_page[slot] = page;
    return i;
}

static void move_to_end(unsigned i)
{
    struct held held = ring[i];

    for (; i + 1U < frames; i++) {
        ring[i] = ring[i + 1U];
    }
    ring[frames - 1U] = held;
}

// One miss of a slot under LRU; answers whether it must fault.
static int lru_expects(unsigned slot, int page)
{
    unsigned i = index_of(page);
    int faults = i == frames;

    if (faults) {
        i = index_of(-1);
        if (i == frames) {
            i = 0;
            while (ring[i].slots > 0) {
                i++;
            }
        }
        ring[i].page = page;
        ring[i].slots = 0;
    }
    move_to_end(i);
    i = hold(slot, page);
    if (i < frames) {
        move_to_end(i); // it was in use until now
    }
    return faults;
}

static unsigned clock_victim(void)
{
    for (;;) {
        struct held *held = &ring[hand];
        unsigned step;

        if (held->slots == 0 && held->referenced) {
            held->referenced = 0;
        } else if (held->slots == 0) {
            unsigned candidate = hand;

            for (step = 0; held->dirty && step < frames; step++) {
                unsigned near = (candidate + step) % frames;

                if (ring[near].slots == 0 && !ring[near].referenced && !ring[near].dirty) {
                    return near; // the hand stays at the dirty one
                }
            }
            hand = (hand + 1U) % frames;
            return candidate;
        }
        hand = (hand + 1U) % frames;
    }
}

static int clock_expects(unsigned slot, int page, int store)
{
    unsigned i = index_of(page);
    int faults = i == frames;

    if (faults) {
        i = index_of(-1);
        if (i == frames) {
            i = clock_victim();
        }
        ring[i].page = page;
        ring[i].dirty = 0;
        ring[i].slots = 0;
    }
    ring[i].referenced = 1;
    ring[i].dirty |= store;
    (void)hold(slot, page); // it is referenced anyhow
    return faults;
}

// Random loads and stores, each the miss of a slot: the slot's page is never asked for again.
static void drive(uint8_t policy, unsigned count, uint16_t slots, uint32_t seed)
{
    unsigned step;

    begin(policy, count, slots);
    nw_random_seed(&randoms, seed);
    for (step = 0; step < 3000; step++) {
        unsigned slot = nw_random_below(&randoms, slots);
        int page = (int)nw_random_below(&randoms, nw_random_below(&randoms, 2) ? PAGES : count);
        int store = nw_random_below(&randoms, 3) == 0;
        nw_count faults = rig.vm.stats.faults;
        uint8_t byte = (uint8_t)page;
        int expected;

        if (slot_page[slot] == page) {
            continue;
        }
        expected = policy == NW_VM_LRU ? lru_expects(slot, page)
                                       : clock_expects(slot, page, store);
        if (store) {
            rig_store(&rig, slot, RIG_BASE + (uint32_t)page * FRAME, 1, &byte);
        } else {
            rig_load(&rig, slot, RIG_BASE + (uint32_t)page * FRAME, 1, &byte);
        }
        if ((int)(rig.vm.stats.faults - faults) != expected) {
            fail_msg("step %u: page %d %s fault (seed %u, %u frames, %u slots)", step, page,
                     expected ? "should" : "should not", (unsigned)seed, count, (unsigned)slots);
        }
    }
    assert_true(rig.vm.stats.evictions > 500);
    rig_stop(&rig);
}

static void test_lru_is_exact(void **state)
{
    uint32_t seed;

    (void)state;
    for (seed = 1; seed <= 20; seed++) {
        drive(NW_VM_LRU, 6 + seed % 15U, (uint16_t)(1U + seed % 4U), seed);
    }
}

static void test_clock_is_second_chance_that_spares_the_dirty(void **state)
{
    uint32_t seed;

    (void)state;
    for (seed = 1; seed <= 20; seed++) {
        drive(NW_VM_CLOCK, 6 + seed % 15U, (uint16_t)(1U + seed % 4U), seed);
    }
}

// The hand comes to a dirty page first, but a clean one close behind it leaves in its place.
static void test_clock_prefers_clean(void **state)
{
    uint8_t byte = 1;
    unsigned page;

    (void)state;
    begin(NW_VM_CLOCK, 4, 1);
    rig_store(&rig, 0, RIG_BASE, 1, &byte);
    for (page = 1; page < 6; page++) {
        rig_load(&rig, 0, RIG_BASE + page * FRAME, 1, &byte);
    }
    assert_int_equal(rig.vm.stats.evictions, 2);
    assert_int_equal(rig.ram.writes, 0);
    rig_load(&rig, 0, RIG_BASE, 1, &byte);
    assert_int_equal(byte, 1);
    assert_int_equal(rig.ram.reads, 0);
    rig_stop(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lru_is_exact),
        cmocka_unit_test(test_clock_is_second_chance_that_spares_the_dirty),
        cmocka_unit_test(test_clock_prefers_clean),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

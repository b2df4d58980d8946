/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: metadata goes to the NVM and stays, data does not displace it, and another policy has what
 * is left: by hand, and at random against the books.
 * ctest: quick
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "nandwich/random.h"
#include "nandwich/tier_class.h"
#include "nandwich/tier_habit.h"
#include "nandwich/tier_lrfu.h"

#define SLOTS 8U
#define SECTORS 40U
#define STEPS 20000U

static struct nw_tier_class by_class;
static struct nw_tier_lrfu lrfu;
static struct nw_tier_habit habit;
static uint8_t ram[SLOTS];
static uint64_t other_ram[1024];
static uint32_t sector_in[SLOTS]; /* UINT32_MAX: free */
static uint8_t hint_in[SLOTS];

static void open_policy(struct nw_tier_policy *other)
{
    memset(ram, 0xA5, sizeof ram);
    assert_int_equal(nw_tier_class_open(&by_class, 0, other, SLOTS, ram, sizeof ram), NW_OK);
    assert_int_equal(by_class.policy.ops->start(&by_class.policy, SLOTS), NW_OK);
    memset(sector_in, 0xFF, sizeof sector_in);
}

static struct nw_tier_policy *open_lru(void)
{
    assert_int_equal(nw_tier_lrfu_open(&lrfu, NW_TIER_LRU, 0, SLOTS, other_ram, sizeof other_ram),
                     NW_OK);
    return &lrfu.policy;
}

static struct nw_tier_policy *open_habit(void)
{
    static const struct nw_tier_habit_config config = {.slots = SLOTS, .apps = 2, .days = 1};

    assert_int_equal(nw_tier_habit_open(&habit, &config, other_ram, sizeof other_ram), NW_OK);
    return &habit.policy;
}

static uint16_t find(uint32_t sector)
{
    for (uint16_t slot = 0; slot < SLOTS; slot++) {
        if (sector_in[slot] == sector) {
            return slot;
        }
    }
    return NW_TIER_NONE;
}

/* A request as the tier puts it to a policy: the slot, or NONE: flash has it. */
static uint16_t ask_for(uint32_t sector, uint8_t hint, uint8_t write)
{
    struct nw_tier_ask ask = {.sector = sector, .hint = hint, .write = write};
    const struct nw_tier_policy_ops *ops = by_class.policy.ops;
    uint16_t slot = find(sector);

    if (slot != NW_TIER_NONE) {
        ops->touched(&by_class.policy, slot, &ask);
        hint_in[slot] = write ? hint : hint_in[slot];
        return slot;
    }
    if (ops->admit(&by_class.policy, &ask) == 0) {
        return NW_TIER_NONE;
    }
    slot = find(UINT32_MAX);
    if (slot == NW_TIER_NONE) {
        slot = ops->victim(&by_class.policy, &ask);
        if (slot == NW_TIER_NONE) {
            return slot;
        }
        assert_true(slot < SLOTS);
        assert_int_not_equal(hint_in[slot], NW_HINT_METADATA);
        ops->left(&by_class.policy, slot);
    }
    ops->entered(&by_class.policy, slot, &ask);
    sector_in[slot] = sector;
    hint_in[slot] = hint;
    return slot;
}

static void test_alone(void **state)
{
    struct nw_tier_ask full = {.sector = 99, .hint = NW_HINT_METADATA, .write = 1};

    (void)state;
    open_policy(NULL);
    assert_int_equal(ask_for(0, NW_HINT_DATA, 1), NW_TIER_NONE);
    assert_int_equal(ask_for(0, NW_HINT_JOURNAL, 1), NW_TIER_NONE);
    assert_int_equal(ask_for(0, NW_HINT_METADATA, 0), NW_TIER_NONE); /* a read */
    assert_int_equal(ask_for(0, 200, 1), NW_TIER_NONE);              /* no hint there is */
    for (uint32_t i = 0; i < SLOTS; i++) {
        assert_int_not_equal(ask_for(i, NW_HINT_METADATA, 1), NW_TIER_NONE);
    }
    assert_int_equal(by_class.policy.ops->victim(&by_class.policy, &full), NW_TIER_NONE);
    assert_int_equal(by_class.policy.ops->ahead(&by_class.policy, 0), NW_TIER_NONE);
    (void)ask_for(3, NW_HINT_NONE, 0); /* a read says nothing of what it is */
    assert_int_equal(by_class.policy.ops->victim(&by_class.policy, &full), NW_TIER_NONE);
    uint16_t was = ask_for(3, NW_HINT_DATA, 1); /* the block was freed and is a file's now */

    assert_int_equal(by_class.policy.ops->ahead(&by_class.policy, 0), was);
    assert_int_equal(ask_for(99, NW_HINT_METADATA, 1), was);
    assert_int_equal(find(3), NW_TIER_NONE);
}

static void test_with_recency(void **state)
{
    (void)state;
    open_policy(open_lru());
    for (uint32_t i = 0; i < SLOTS; i++) {
        assert_int_not_equal(ask_for(i, NW_HINT_DATA, 1), NW_TIER_NONE);
    }
    uint16_t oldest = find(0);

    assert_int_equal(ask_for(50, NW_HINT_METADATA, 1), oldest);
    (void)ask_for(2, NW_HINT_METADATA, 1); /* a file's block becomes metadata, in its place */
    for (uint32_t i = 100; i < 130U; i++) {
        assert_int_not_equal(ask_for(i, NW_HINT_DATA, 1), NW_TIER_NONE);
    }
    assert_int_not_equal(find(50), NW_TIER_NONE);
    assert_int_not_equal(find(2), NW_TIER_NONE);
    assert_int_equal(lrfu.count, SLOTS - 2U);
    (void)ask_for(50, NW_HINT_DATA, 1); /* and data again: recency has it */
    assert_int_equal(lrfu.count, SLOTS - 1U);
}

/* Habits give up nothing on the way of a write, for metadata neither; until idle time it goes to
 * flash, like data. */
static void test_with_habits(void **state)
{
    (void)state;
    open_policy(open_habit());
    for (uint32_t i = 0; i < SLOTS; i++) {
        assert_int_not_equal(ask_for(i, NW_HINT_DATA, 1), NW_TIER_NONE);
    }
    assert_int_equal(ask_for(20, NW_HINT_DATA, 1), NW_TIER_NONE);
    assert_int_equal(ask_for(21, NW_HINT_METADATA, 1), NW_TIER_NONE);
    assert_int_equal(ask_for(5, NW_HINT_METADATA, 1), find(5)); /* what is there changes hands */
    assert_int_equal(by_class.held, 1);
    assert_int_equal(habit.used, SLOTS - 1U);
}

static void test_random(void **state)
{
    struct nw_random random;

    (void)state;
    nw_random_seed(&random, 3);
    for (uint32_t with = 0; with < 2U; with++) {
        open_policy(with == 0 ? NULL : open_lru());
        for (uint32_t step = 0; step < STEPS; step++) {
            uint32_t held = 0;
            uint8_t hint = (uint8_t)nw_random_below(&random, 4);

            (void)ask_for(nw_random_below(&random, SECTORS), hint,
                          (uint8_t)(nw_random_below(&random, 4) > 0));
            for (uint16_t slot = 0; slot < SLOTS; slot++) {
                held += sector_in[slot] != UINT32_MAX && hint_in[slot] == NW_HINT_METADATA;
            }
            assert_int_equal(by_class.held, held);
            if (nw_random_below(&random, 10) == 0) {
                uint16_t slot = by_class.policy.ops->ahead(&by_class.policy, 0);

                if (slot != NW_TIER_NONE) {
                    assert_int_not_equal(hint_in[slot], NW_HINT_METADATA);
                    by_class.policy.ops->left(&by_class.policy, slot);
                    sector_in[slot] = UINT32_MAX;
                }
            }
        }
    }
}

static void test_refused(void **state)
{
    (void)state;
    assert_int_equal(nw_tier_class_ram_bytes(SLOTS), SLOTS);
    assert_int_equal(nw_tier_class_open(&by_class, 16, NULL, SLOTS, ram, SLOTS), NW_ERR_CONFIG);
    assert_int_equal(nw_tier_class_open(&by_class, 0, NULL, SLOTS, ram, SLOTS - 1U), NW_ERR_RAM);
    open_policy(NULL);
    assert_int_equal(by_class.policy.ops->start(&by_class.policy, SLOTS + 1U), NW_ERR_CONFIG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_alone),       cmocka_unit_test(test_with_recency),
        cmocka_unit_test(test_with_habits), cmocka_unit_test(test_random),
        cmocka_unit_test(test_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

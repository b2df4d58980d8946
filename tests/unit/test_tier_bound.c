/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: the clairvoyant bound is what the best choice reaches, found by trying every choice, and
 * no policy over the real tier does better.
 * ctest: quick
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "nandwich-replay/io.h"
#include "nandwich-replay/tier_bound.h"
#include "nandwich/error.h"
#include "nandwich/random.h"

#define SECTORS 5U
#define REQUESTS 14U

struct ask {
    uint8_t kind;
    uint32_t sector;
};

static struct nw_tier_bound_result bound_of(const struct ask *asks, uint32_t count, uint32_t slots)
{
    struct nw_tier_bound_result result;
    struct nw_tier_bound *bound;

    assert_int_equal(nw_tier_bound_open(&bound, SECTORS), NW_OK);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(nw_tier_bound_note(bound, asks[i].kind, asks[i].sector, 1), NW_OK);
    }
    assert_int_equal(nw_tier_bound_work_out(bound, slots, &result), NW_OK);
    nw_tier_bound_close(bound);
    return result;
}

static uint32_t bits_of(uint32_t set)
{
    uint32_t bits = 0;

    for (; set != 0; set &= set - 1U) {
        bits++;
    }
    return bits;
}

/* The fewest flash writes from each state on: which sectors the NVM holds with content that flash
 * has not. By trying all, backwards in time. */
static uint32_t fewest_writes(const struct ask *asks, uint32_t count, uint32_t slots)
{
    uint32_t cost[1U << SECTORS] = {0}, before[1U << SECTORS];

    for (uint32_t i = count; i-- > 0;) {
        uint32_t bit = 1U << asks[i].sector;

        for (uint32_t held = 0; held < 1U << SECTORS; held++) {
            before[held] = UINT32_MAX;
            /* First any of those held are written back, then the request is served. */
            for (uint32_t kept = held;; kept = (kept - 1U) & held) {
                uint32_t paid = bits_of(held & ~kept);
                uint32_t options[2] = {kept, kept};
                uint32_t extra[2] = {0, 0};

                if (asks[i].kind == NW_IO_WRITE) {
                    options[0] = kept | bit;  /* into the NVM */
                    options[1] = kept & ~bit; /* to flash */
                    extra[1] = 1;
                } else if (asks[i].kind == NW_IO_TRIM) {
                    options[0] = options[1] = kept & ~bit;
                }
                for (uint32_t o = 0; o < 2; o++) {
                    uint32_t sum = paid + extra[o] + cost[options[o]];

                    if (bits_of(options[o]) <= slots && sum < before[held]) {
                        before[held] = sum;
                    }
                }
                if (kept == 0) {
                    break;
                }
            }
        }
        memcpy(cost, before, sizeof cost);
    }
    return cost[0];
}

/* The most reads served, likewise; what is not held may come in with any request. */
static uint32_t most_reads(const struct ask *asks, uint32_t count, uint32_t slots)
{
    uint32_t gain[1U << SECTORS] = {0}, before[1U << SECTORS];

    for (uint32_t i = count; i-- > 0;) {
        uint32_t bit = 1U << asks[i].sector;

        for (uint32_t held = 0; held < 1U << SECTORS; held++) {
            uint32_t now = asks[i].kind == NW_IO_READ && (held & bit) != 0;
            uint32_t with = asks[i].kind == NW_IO_TRIM ? held & ~bit : held | bit;

            before[held] = 0;
            for (uint32_t kept = with;; kept = (kept - 1U) & with) {
                if (bits_of(kept) <= slots && now + gain[kept] > before[held]) {
                    before[held] = now + gain[kept];
                }
                if (kept == 0) {
                    break;
                }
            }
        }
        memcpy(gain, before, sizeof gain);
    }
    return gain[0];
}

static void test_every_choice(void **state)
{
    static const uint8_t kinds[] = {NW_IO_WRITE, NW_IO_WRITE, NW_IO_READ, NW_IO_READ, NW_IO_TRIM};
    struct ask asks[REQUESTS];
    struct nw_random random;

    (void)state;
    nw_random_seed(&random, 1);
    for (uint32_t round = 0; round < 500; round++) {
        for (uint32_t i = 0; i < REQUESTS; i++) {
            asks[i].kind = kinds[nw_random_below(&random, round % 2U == 0 ? 2U : 5U)];
            asks[i].sector = nw_random_below(&random, SECTORS);
        }
        for (uint32_t slots = 0; slots <= 3; slots++) {
            struct nw_tier_bound_result result = bound_of(asks, REQUESTS, slots);

            assert_int_equal(result.least_flash_writes, fewest_writes(asks, REQUESTS, slots));
            assert_int_equal(result.most_nvm_reads, most_reads(asks, REQUESTS, slots));
        }
    }
}

/* By hand: one slot, two sectors in turn: every second write goes past it. */
static void test_by_hand(void **state)
{
    static const struct ask turns[] = {{NW_IO_WRITE, 0}, {NW_IO_WRITE, 1}, {NW_IO_WRITE, 0},
                                       {NW_IO_WRITE, 1}, {NW_IO_WRITE, 0}, {NW_IO_WRITE, 1}};
    struct nw_tier_bound_result result = bound_of(turns, 6, 1);

    (void)state;
    assert_int_equal(result.writes, 6);
    assert_int_equal(result.reads, 0);
    assert_int_equal(result.least_flash_writes, 3);
    assert_int_equal(bound_of(turns, 6, 0).least_flash_writes, 6);
    assert_int_equal(bound_of(turns, 6, 2).least_flash_writes, 0);
}

static void test_too_many(void **state)
{
    struct nw_tier_bound_result result;
    struct nw_tier_bound *bound;

    (void)state;
    assert_int_equal(nw_tier_bound_open(&bound, 1UL << 30), NW_ERR_CONFIG);
    assert_null(bound);
    assert_int_equal(nw_tier_bound_open(&bound, 4), NW_OK);
    for (uint32_t i = 0; i < NW_TIER_BOUND_MOST / 4U; i++) {
        assert_int_equal(nw_tier_bound_note(bound, NW_IO_WRITE, 0, 4), NW_OK);
    }
    assert_int_equal(nw_tier_bound_work_out(bound, 4, &result), NW_OK);
    assert_int_equal(result.least_flash_writes, 0);
    assert_int_equal(nw_tier_bound_note(bound, NW_IO_SYNC, 0, 0), NW_OK);
    assert_int_equal(nw_tier_bound_note(bound, NW_IO_READ, 0, 1), NW_OK);
    assert_int_equal(nw_tier_bound_work_out(bound, 4, &result), NW_ERR_FULL);
    nw_tier_bound_close(bound);
    nw_tier_bound_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_choice),
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_too_many),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

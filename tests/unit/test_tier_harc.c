/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: H-ARC does what its rules say, against a plain model with lists of sectors, and what the
 * rules are for: a scan does not displace what is used again, and written sectors outlast read ones
 * when they come back more often.
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
#include "nandwich/tier_harc.h"

#define SLOTS 13U
#define STEPS 30000U
#define NEVER UINT32_MAX

/* The model: lists of sectors, oldest first. Bit 0 of a list's number: written; bit 1: often; bit
 * 2: remembered. */
struct model {
    uint32_t sector[8][2 * SLOTS];
    uint32_t count[8];
    uint32_t want_written;
    uint32_t want_once[2];
};

static struct nw_tier_harc harc;
static uint64_t ram[128];
static uint32_t sector_in[SLOTS];
static struct model model;

static void open_policy(uint8_t reads)
{
    assert_true(nw_tier_harc_ram_bytes(SLOTS) <= sizeof ram);
    memset(ram, 0xA5, sizeof ram);
    assert_int_equal(
        nw_tier_harc_open(&harc, reads, SLOTS, ram, nw_tier_harc_ram_bytes(SLOTS)), NW_OK);
    assert_int_equal(harc.policy.ops->start(&harc.policy, SLOTS), NW_OK);
    memset(sector_in, 0xFF, sizeof sector_in);
    memset(&model, 0, sizeof model);
    model.want_written = SLOTS / 2U;
    model.want_once[0] = SLOTS / 4U;
    model.want_once[1] = SLOTS / 4U;
}

static uint16_t slot_of(uint32_t sector)
{
    uint16_t slot = 0;

    while (slot < SLOTS && sector_in[slot] != sector) {
        slot++;
    }
    return slot < SLOTS ? slot : (uint16_t)NW_TIER_NONE;
}

static void model_take(uint32_t list, uint32_t at)
{
    uint32_t *sectors = model.sector[list];

    memmove(sectors + at, sectors + at + 1, (--model.count[list] - at) * sizeof *sectors);
}

static void model_put(uint32_t list, uint32_t sector)
{
    model.sector[list][model.count[list]++] = sector;
}

/* The list that has a sector, which is taken out of it; 8: none. */
static uint32_t model_pull(uint32_t sector)
{
    for (uint32_t list = 0; list < 8; list++) {
        for (uint32_t at = 0; at < model.count[list]; at++) {
            if (model.sector[list][at] == sector) {
                model_take(list, at);
                return list;
            }
        }
    }
    return 8;
}

static uint32_t bounded(uint32_t size, int64_t by, uint32_t most)
{
    int64_t sum = (int64_t)size + by;

    return sum < 0 ? 0 : sum > (int64_t)most ? most : (uint32_t)sum;
}

static int64_t quotient(uint32_t part, uint32_t whole)
{
    return whole > part ? (int64_t)(whole / part) : 1;
}

/* `list` had it remembered, and still counts it. */
static void model_adapt(uint32_t list)
{
    uint32_t kind = list & 1U;
    uint32_t read = model.count[4] + model.count[6], written = model.count[5] + model.count[7];
    uint32_t once = model.count[4 | kind], often = model.count[6 | kind];

    model.want_written = bounded(
        model.want_written, kind ? 2 * quotient(written, read) : -quotient(read, written), SLOTS);
    uint32_t all = kind ? model.want_written : SLOTS - model.want_written;
    uint32_t want = model.want_once[kind] < all ? model.want_once[kind] : all;
    model.want_once[kind] =
        bounded(want, list & 2U ? -quotient(often, once) : quotient(once, often), all);
}

static uint32_t model_victim(void)
{
    uint32_t read = model.count[0] + model.count[2], written = model.count[1] + model.count[3];
    uint32_t kind = read == 0 || (written > 0 && written > model.want_written) ? 1U : 0U;
    int often = model.count[kind] == 0 ||
                (model.count[kind] <= model.want_once[kind] && model.count[kind | 2U] > 0);

    return model.sector[kind | (often ? 2U : 0U)][0];
}

static void model_forget(void)
{
    uint32_t longest = 4;

    for (uint32_t list = 5; list < 8; list++) {
        longest = model.count[list] > model.count[longest] ? list : longest;
    }
    if (model.count[4] + model.count[5] + model.count[6] + model.count[7] == SLOTS) {
        model_take(longest, 0);
    }
}

static uint16_t make_room(const struct nw_tier_ask *ask)
{
    uint16_t slot = slot_of(NEVER);

    if (slot == NW_TIER_NONE) {
        slot = harc.policy.ops->victim(&harc.policy, ask);
        assert_true(slot < SLOTS);
        assert_int_equal(sector_in[slot], model_victim());
        harc.policy.ops->left(&harc.policy, slot);
        uint32_t list = model_pull(sector_in[slot]);
        model_forget();
        model_put(list | 4U, sector_in[slot]);
        sector_in[slot] = NEVER;
    }
    return slot;
}

/* As the tier asks. */
static void ask_for(uint32_t sector, uint8_t write)
{
    struct nw_tier_ask ask = {.sector = sector, .write = write};
    uint16_t slot = slot_of(sector);
    uint32_t list;

    if (slot != NW_TIER_NONE) {
        harc.policy.ops->touched(&harc.policy, slot, &ask);
        list = model_pull(sector);
        model_put((list & 1U) | write | 2U, sector);
        return;
    }
    if (harc.policy.ops->admit(&harc.policy, &ask) == 0) {
        return;
    }
    slot = make_room(&ask);
    harc.policy.ops->entered(&harc.policy, slot, &ask);
    sector_in[slot] = sector;
    struct model before = model;
    list = model_pull(sector);
    if (list < 8) {
        struct model without = model;
        model = before;
        model_adapt(list);
        without.want_written = model.want_written;
        memcpy(without.want_once, model.want_once, sizeof model.want_once);
        model = without;
    }
    model_put(write | (list < 8 ? 2U : 0U), sector);
}

static void trim(uint32_t sector)
{
    uint16_t slot = slot_of(sector);

    if (slot != NW_TIER_NONE) {
        harc.policy.ops->left(&harc.policy, slot);
        (void)model_pull(sector);
        sector_in[slot] = NEVER;
    }
}

static void test_against_a_model(void **state)
{
    struct nw_random random;

    (void)state;
    for (uint8_t reads = 0; reads < 2; reads++) {
        open_policy(reads);
        nw_random_seed(&random, reads + 1U);
        for (uint32_t i = 0; i < STEPS; i++) {
            uint32_t hot = nw_random_below(&random, 10), sector = nw_random_below(&random, 9);

            sector += hot < 6 ? 0 : 9 + nw_random_below(&random, hot < 9 ? 20 : 500);
            if (nw_random_below(&random, 50) == 0) {
                trim(sector);
            } else {
                ask_for(sector, (uint8_t)(nw_random_below(&random, 100) < i / 300U));
            }
            for (uint32_t list = 0; list < 8; list++) {
                assert_int_equal(harc.count[list], model.count[list]);
            }
            assert_int_equal(harc.want_written, model.want_written);
            assert_memory_equal(((uint32_t[]){harc.want_once[0], harc.want_once[1]}),
                                model.want_once, sizeof model.want_once);
        }
    }
}

/* What is written again and again stays through a scan of ten times the room. */
static void test_a_scan(void **state)
{
    (void)state;
    open_policy(0);
    for (uint32_t i = 0; i < 200; i++) {
        ask_for(i % 5U, 1);
    }
    for (uint32_t i = 0; i < 10 * SLOTS; i++) {
        ask_for(100 + i, 1);
    }
    for (uint32_t i = 0; i < 5; i++) {
        assert_true(slot_of(i) < SLOTS);
    }
}

/* Both are too many for the room; as written ones come back, the room becomes theirs. */
static void test_written_ones_win(void **state)
{
    (void)state;
    open_policy(1);
    for (uint32_t i = 0; i < 400; i++) {
        ask_for(i % 10U, 1);
        ask_for(50 + i % 10U, 0);
    }
    assert_true(harc.want_written > SLOTS * 3U / 4U);
}

static void test_shapes(void **state)
{
    (void)state;
    assert_int_equal(nw_tier_harc_ram_bytes(NW_TIER_HARC_SLOTS + 1U), 0);
    assert_int_equal(nw_tier_harc_open(&harc, 0, NW_TIER_HARC_SLOTS + 1U, ram, sizeof ram),
                     NW_ERR_CONFIG);
    assert_int_equal(
        nw_tier_harc_open(&harc, 0, SLOTS, ram, nw_tier_harc_ram_bytes(SLOTS) - 1U), NW_ERR_RAM);
    assert_int_equal(nw_tier_harc_open(&harc, 0, SLOTS, NULL, sizeof ram), NW_ERR_RAM);
    open_policy(0);
    assert_int_equal(harc.policy.ops->start(&harc.policy, SLOTS + 1U), NW_ERR_CONFIG);
    /* Idle keeps one in 16 free, and nothing leaves where nothing is. */
    assert_int_equal(harc.policy.ops->ahead(&harc.policy, 0), NW_TIER_NONE);
    ask_for(7, 1);
    assert_int_equal(harc.policy.ops->ahead(&harc.policy, 0), slot_of(7));
    assert_int_equal(harc.policy.ops->ahead(&harc.policy, 1), NW_TIER_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_a_model),
        cmocka_unit_test(test_a_scan),
        cmocka_unit_test(test_written_ones_win),
        cmocka_unit_test(test_shapes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

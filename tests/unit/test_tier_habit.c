/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: the policy by habits reserves what the last days say, serves who updates most first, and
 * lets go in the order of vFlash's algorithm 2: by hand, and at random against the definition.
 * ctest: quick
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "nandwich/tier_habit.h"
#include "tier_rig.h"

#define SLOTS 40U
#define APPS 5U
#define DAYS 3U
#define PERIODS 4U
#define PERIOD_S 100U

static struct nw_tier_habit habit;
static uint8_t ram[8192];
static uint16_t free_slots[SLOTS];
static uint16_t free_count;

static const struct nw_tier_habit_config small = {.slots = SLOTS,
                                                  .apps = APPS,
                                                  .days = DAYS,
                                                  .periods = PERIODS,
                                                  .period_s = PERIOD_S,
                                                  .sectors = 1000};

static void open_habit(const struct nw_tier_habit_config *config, uint32_t now_s)
{
    assert_true(nw_tier_habit_ram_bytes(config) <= sizeof ram);
    memset(ram, 0xA5, sizeof ram);
    assert_int_equal(nw_tier_habit_open(&habit, config, ram, sizeof ram), NW_OK);
    habit.now_s = now_s;
    assert_int_equal(habit.policy.ops->start(&habit.policy, SLOTS), NW_OK);
    for (uint16_t i = 0; i < SLOTS; i++) {
        free_slots[i] = i;
    }
    free_count = SLOTS;
}

/* A write to a sector that is not in the NVM, as the tier does it: its slot, or NONE. */
static uint16_t put(uint32_t sector, uint16_t app)
{
    struct nw_tier_ask ask = {.sector = sector, .app = app, .write = 1};

    if (habit.policy.ops->admit(&habit.policy, &ask) == 0 || free_count == 0) {
        return NW_TIER_NONE;
    }
    habit.policy.ops->entered(&habit.policy, free_slots[--free_count], &ask);
    return free_slots[free_count];
}

static void write_again(uint16_t slot, uint32_t sector, uint16_t app)
{
    struct nw_tier_ask ask = {.sector = sector, .app = app, .write = 1};

    habit.policy.ops->touched(&habit.policy, slot, &ask);
}

static void read_again(uint16_t slot, uint32_t sector)
{
    struct nw_tier_ask ask = {.sector = sector, .app = 1, .write = 0};

    habit.policy.ops->touched(&habit.policy, slot, &ask);
}

static uint16_t victim(void)
{
    struct nw_tier_ask ask = {.sector = 1, .app = 1, .write = 1};

    return habit.policy.ops->victim(&habit.policy, &ask);
}

static void leave(uint16_t slot)
{
    habit.policy.ops->left(&habit.policy, slot);
    free_slots[free_count++] = slot;
}

static uint16_t ahead(void)
{
    return habit.policy.ops->ahead(&habit.policy, free_count);
}

static void come_to(uint32_t day, uint32_t period)
{
    habit.now_s = (day * PERIODS + period) * PERIOD_S;
}

/* Writes so many sectors of an application's own, and each again so many times. */
static void run(uint16_t app, uint32_t count, uint32_t again)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t sector = app * 100U + i;
        uint16_t slot = put(sector, app);

        for (uint32_t k = 0; k < again; k++) {
            if (slot != NW_TIER_NONE) {
                write_again(slot, sector, app);
            } else {
                (void)put(sector, app);
            }
        }
        if (slot != NW_TIER_NONE) {
            leave(slot);
        }
    }
}

/* A tier full on the first day took nothing in until the second: nothing was predicted, so nothing
 * left. With least_free idle gives up the oldest of nobody's, then of those that do not run. */
static void test_room_without_a_prediction(void **state)
{
    struct nw_tier_habit_config config = small;
    uint16_t slot;

    (void)state;
    config.least_free = 3;
    open_habit(&config, 0);
    slot = put(900, 0);
    for (uint32_t i = 1; i < SLOTS; i++) {
        assert_int_not_equal(put(i, 1), NW_TIER_NONE);
    }
    assert_int_equal(put(901, 2), NW_TIER_NONE);
    assert_int_equal(ahead(), slot);
    for (uint32_t i = 0; i < 3; i++) {
        leave(ahead());
    }
    assert_int_equal(ahead(), NW_TIER_NONE);
    assert_int_not_equal(put(901, 2), NW_TIER_NONE);
    assert_int_not_equal(ahead(), NW_TIER_NONE);
}

static void test_first_day(void **state)
{
    (void)state;
    open_habit(&small, 0);
    for (uint32_t i = 0; i < SLOTS; i++) {
        assert_int_not_equal(put(i, (uint16_t)(i % 7U)), NW_TIER_NONE); /* nothing is reserved */
    }
    assert_int_equal(put(SLOTS, 1), NW_TIER_NONE);
    assert_int_equal(ahead(), NW_TIER_NONE); /* nothing is expected */
}

static void test_reserved(void **state)
{
    (void)state;
    open_habit(&small, 0);
    come_to(0, 2);
    run(1, 20, 0);
    come_to(1, 2);
    run(1, 30, 0);
    come_to(2, 2);
    (void)put(999, 0);
    assert_int_equal(habit.app[1].grant, 25);
    assert_int_equal(habit.app[1].updates, 10); /* of its 30 sectors it had 20 the day before */
    for (uint32_t i = 0; i < 14U; i++) {
        assert_int_not_equal(put(500 + i, 2), NW_TIER_NONE);
    }
    assert_int_equal(put(600, 2), NW_TIER_NONE);
    for (uint32_t i = 0; i < 25U; i++) {
        assert_int_not_equal(put(700 + i, 1), NW_TIER_NONE);
    }
    assert_int_equal(put(800, 1), NW_TIER_NONE);
}

/* Two want more than there is: the one with more updates gets all it wants, or with numbers only
 * the first one. */
static void test_served_first(void **state)
{
    struct nw_tier_habit_config config = small;

    (void)state;
    for (uint8_t inter_only = 0; inter_only < 2U; inter_only++) {
        config.inter_only = inter_only;
        open_habit(&config, 0);
        come_to(0, 1);
        run(2, 30, 1);
        run(4, 25, 3);
        come_to(1, 1);
        (void)put(999, 0);
        assert_int_equal(habit.app[2].grant, inter_only ? 30 : 15);
        assert_int_equal(habit.app[4].grant, inter_only ? 10 : 25);
    }
}

/* Days on which nothing was asked are days on which nobody ran. */
static void test_absent(void **state)
{
    (void)state;
    open_habit(&small, 0);
    for (uint32_t day = 0; day < DAYS; day++) {
        come_to(day, 2);
        run(1, 12, 0);
    }
    come_to(5, 2);
    (void)put(999, 0);
    assert_int_equal(habit.app[1].sectors, 4);
}

static void expect_next(uint16_t slot)
{
    assert_int_equal(ahead(), slot);
    leave(slot);
}

/* Furthest first; of those alike who has fewest updates to come; oldest first; updated last. */
static void test_order(void **state)
{
    uint16_t slot[5];

    (void)state;
    open_habit(&small, 0);
    come_to(0, 1);
    run(3, 10, 0);
    come_to(0, 2);
    run(2, 30, 2);
    run(4, 30, 0);
    come_to(1, 3);
    for (uint16_t app = 1; app <= 4U; app++) {
        slot[app] = put(app * 100U + 50U, app);
    }
    assert_int_equal(ahead(), NW_TIER_NONE); /* nothing is expected in the first period */
    come_to(2, 1);
    for (uint32_t i = 0; i < 20U; i++) {
        (void)put(320U + i, 3);
    }
    assert_int_equal(habit.app[1].distance, 2);
    assert_int_equal(habit.app[2].distance, 1);
    assert_int_equal(habit.app[3].distance, 0);
    write_again(slot[4], 450, 4);
    assert_int_equal(habit.owner[slot[4]], 4);
    expect_next(slot[1]);
    expect_next(slot[2]); /* 4 runs now, and its sector was updated */
    expect_next(slot[3]); /* the oldest of those of 3 */
    assert_int_equal(habit.owner[ahead()], 3);
}

/* Goal: with lru anybody uses what is reserved, until the one comes whom it is reserved for: then
 * the sectors of others leave, used least lately first, and its own stay. */
static void test_rest_is_lru(void **state)
{
    struct nw_tier_habit_config config = small;
    uint16_t slot[SLOTS];

    (void)state;
    config.lru = 1;
    open_habit(&config, 0);
    come_to(0, 2);
    run(1, 25, 0);
    come_to(1, 2);
    for (uint32_t i = 0; i < SLOTS; i++) {
        slot[i] = put(500U + i, 2);
        assert_int_not_equal(slot[i], NW_TIER_NONE);
    }
    assert_int_equal(habit.app[1].grant, 25);
    write_again(slot[0], 500, 2);
    read_again(slot[1], 501);
    for (uint32_t i = 0; i < 25U; i++) {
        assert_int_equal(victim(), slot[i + 2U]);
        leave(victim());
        assert_int_not_equal(put(700U + i, 1), NW_TIER_NONE);
    }
    assert_int_equal(victim(), slot[27]); /* the sector after those that left */
    for (uint32_t i = 27; i < SLOTS + 2U; i++) {
        assert_int_equal(victim(), slot[i % SLOTS]);
        leave(victim());
    }
    assert_int_equal(victim(), NW_TIER_NONE); /* what is left is reserved */
}

/* At random against the definition. */
struct plain {
    uint16_t app;
    uint8_t held;
    uint8_t updated;
    uint32_t order;
};

static struct plain plain[SLOTS];

static uint16_t plain_victim(void)
{
    uint16_t best = NW_TIER_NONE;

    for (uint16_t slot = 0; slot < SLOTS && habit.config.lru != 0; slot++) {
        const struct nw_tier_app *app = &habit.app[plain[slot].app];

        if (plain[slot].held && app->held > app->grant &&
            (best == NW_TIER_NONE || plain[slot].order < plain[best].order)) {
            best = slot;
        }
    }
    return best;
}

static uint16_t plain_ahead(void)
{
    uint16_t best = NW_TIER_NONE;
    uint32_t needed = 0;

    for (uint16_t i = 1; i <= APPS; i++) {
        needed += habit.app[i].next_sectors;
    }
    if (free_count >= needed && free_count < habit.config.least_free) {
        return plain_victim();
    }
    for (uint16_t slot = 0; slot < SLOTS && free_count < needed; slot++) {
        const struct plain *one = &plain[slot];
        const struct plain *other = best != NW_TIER_NONE ? &plain[best] : NULL;
        uint32_t far = habit.app[one->app].ran ? 0 : habit.app[one->app].distance;

        far = one->app == 0 ? PERIODS : far;
        if (!one->held) {
            continue;
        }
        int better = other == NULL;
        if (other != NULL && one->updated != other->updated) {
            better = one->updated < other->updated;
        } else if (other != NULL) {
            uint32_t other_far = habit.app[other->app].ran ? 0 : habit.app[other->app].distance;
            other_far = other->app == 0 ? PERIODS : other_far;
            uint32_t few = habit.app[one->app].next_updates;
            uint32_t other_few = habit.app[other->app].next_updates;
            if (far != other_far) {
                better = far > other_far;
            } else if (few != other_few) {
                better = few < other_few;
            } else if (one->app != other->app) {
                better = one->app < other->app;
            } else {
                better = one->order < other->order;
            }
        }
        best = better ? slot : best;
    }
    return best;
}

static void check_books(void)
{
    uint16_t held[APPS + 1U] = {0};
    uint32_t reserved = 0;
    uint32_t granted = 0;

    for (uint16_t slot = 0; slot < SLOTS; slot++) {
        held[plain[slot].app] = (uint16_t)(held[plain[slot].app] + plain[slot].held);
    }
    for (uint16_t i = 0; i <= APPS; i++) {
        assert_int_equal(habit.app[i].held, held[i]);
        granted += habit.app[i].grant;
        reserved += habit.app[i].grant > held[i] ? (uint32_t)(habit.app[i].grant - held[i]) : 0U;
    }
    assert_int_equal(habit.reserved, reserved);
    assert_int_equal(habit.used, SLOTS - free_count);
    assert_true(granted <= SLOTS);
}

static void step(struct nw_random *random, uint32_t order)
{
    uint16_t app = (uint16_t)nw_random_below(random, APPS + 2U);
    uint16_t slot = (uint16_t)nw_random_below(random, SLOTS);
    uint32_t dice = nw_random_below(random, 10);

    if (dice == 0) {
        habit.now_s += nw_random_below(random, nw_random_below(random, 20) == 0 ? 2000U : 60U);
    } else if (dice < 3U && plain[slot].held) {
        leave(slot);
        plain[slot].held = 0;
    } else if (dice < 6U && plain[slot].held) {
        write_again(slot, 500U + slot, app);
        plain[slot] = (struct plain){app > APPS ? 0 : app, 1, 1, order};
    } else if (dice < 7U && plain[slot].held) {
        read_again(slot, 500U + slot);
        plain[slot].order = habit.config.lru != 0 ? order : plain[slot].order;
    } else {
        slot = put(nw_random_below(random, 1200), app);
        if (slot != NW_TIER_NONE) {
            plain[slot] = (struct plain){app > APPS ? 0 : app, 1, 0, order};
        }
    }
}

static void test_random(void **state)
{
    struct nw_tier_habit_config config = small;
    uint32_t left_ahead = 0;

    (void)state;
    for (uint32_t seed = 0; seed < 20U; seed++) {
        struct nw_random random;

        config.lru = seed % 2U != 0;
        config.least_free = config.lru != 0 ? 5 : 0;
        nw_random_seed(&random, seed);
        memset(plain, 0, sizeof plain);
        open_habit(&config, nw_random_below(&random, 10000));
        for (uint32_t i = 0; i < 5000U; i++) {
            step(&random, i);
            uint16_t slot = ahead();
            assert_int_equal(slot, plain_ahead());
            assert_int_equal(victim(), plain_victim());
            if (slot != NW_TIER_NONE && nw_random_below(&random, 2) != 0) {
                leave(slot);
                plain[slot].held = 0;
                left_ahead++;
            }
            check_books();
        }
    }
    assert_true(left_ahead > 1000U);
}

/* Whose a sector is survives a mount. */
static void test_tags_in_nvm(void **state)
{
    struct tier_rig rig;
    struct nw_tier_habit_config config = small;

    (void)state;
    tier_rig_open(&rig, &layer_shapes[0], 4096, NW_TIER_LRU, 0);
    assert_int_equal(nw_tier_habit_open(&habit, &config, ram, sizeof ram), NW_OK);
    rig.config.policy = &habit.policy;
    assert_int_equal(tier_rig_mount(&rig), NW_OK);
    for (uint16_t i = 0; i < 4U; i++) {
        struct nw_block_req req = {.block = &rig.tier.block,
                                   .sector = i,
                                   .count = 1,
                                   .data = rig.data,
                                   .app = (uint16_t)(i + 1U),
                                   .hint = NW_HINT_DATA};
        assert_int_equal(nw_block_write(&req), NW_OK);
    }
    assert_int_equal(habit.app[3].held, 1);
    assert_int_equal(tier_rig_mount(&rig), NW_OK);
    for (uint16_t i = 0; i <= APPS; i++) {
        assert_int_equal(habit.app[i].held, i > 0 && i <= 4U);
    }
    tier_rig_close(&rig);
}

static void test_open(void **state)
{
    struct nw_tier_habit_config config = small;
    size_t bytes = nw_tier_habit_ram_bytes(&config);

    (void)state;
    assert_int_equal(nw_tier_habit_open(&habit, &config, ram, bytes - 1U), NW_ERR_RAM);
    assert_int_equal(nw_tier_habit_open(&habit, &config, ram, bytes), NW_OK);
    assert_int_equal(habit.policy.ops->start(&habit.policy, SLOTS + 1U), NW_ERR_CONFIG);
    config.apps = 0;
    assert_int_equal(nw_tier_habit_ram_bytes(&config), 0);
    config.apps = 4096;
    assert_int_equal(nw_tier_habit_open(&habit, &config, ram, sizeof ram), NW_ERR_CONFIG);
    config = (struct nw_tier_habit_config){.slots = 65535, .apps = 1};
    assert_int_equal(nw_tier_habit_ram_bytes(&config), 0);
    config = (struct nw_tier_habit_config){.slots = 3855, .apps = 100}; /* 16 MB of 4 KiB */
    assert_in_range(nw_tier_habit_ram_bytes(&config), 95000, 100000);
    size_t published = nw_tier_habit_ram_bytes(&config);
    config.lru = 1;
    assert_int_equal(nw_tier_habit_ram_bytes(&config), published + 4U * config.slots);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_room_without_a_prediction),
        cmocka_unit_test(test_first_day),   cmocka_unit_test(test_reserved),
        cmocka_unit_test(test_served_first), cmocka_unit_test(test_absent),
        cmocka_unit_test(test_order),       cmocka_unit_test(test_rest_is_lru),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_tags_in_nvm), cmocka_unit_test(test_open),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

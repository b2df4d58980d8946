/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: a good chip whose store is full mounts, whenever power goes while the store is idle, and
 * objects can be deleted then.
 * ctest: slow
 *
 * Once idle time went on cleaning a full store in vain, with anchors that used up the free blocks a
 * mount needs: after a cut every mount answered NW_ERR_FULL, for ever.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "nandwich-twin/nand.h"
#include "nandwich-twin/parts.h"
#include "nandwich/random.h"
#include "nandwich/store.h"

#define KEYS 2000U
#define REFUSALS 40U /* the store is full when so many writes were refused */
#define ROUNDS 12U   /* of idle time, each cut everywhere */
#define PIECES 4U

static struct nw_nand *nand;
static struct nw_nand *start;
static struct nw_nand *end;
static struct nw_chip *chip;
static struct nw_store_config config;
static struct nw_store *store;
static struct nw_random dice;
static uint8_t *ram;
static uint8_t *start_ram;
static uint8_t *end_ram;
static size_t ram_bytes;

static uint32_t below(uint32_t limit)
{
    return nw_random_below(&dice, limit);
}

static int handle_of(const char *name)
{
    return nw_store_find(store, name);
}

static int step(void)
{
    static const uint8_t data[200];
    uint32_t length = 0;

    switch (below(8)) {
    case 0:
    case 1:
    case 2: return nw_store_set(store, handle_of("a"), below(KEYS), data);
    case 3:
    case 4: return nw_store_push(store, handle_of("q"), data, (uint16_t)(1U + below(199)));
    case 5:
        (void)nw_store_length(store, handle_of("f"), &length);
        return nw_store_write(store, handle_of("f"), below(length + 1U), data, 64);
    case 6: return nw_store_sync(store);
    default:
        return config.checkpoints > 0 && below(60) == 0 ? nw_store_checkpoint(store)
                                                        : nw_store_idle(store, 5);
    }
}

static void fill(uint32_t seed)
{
    static const struct nw_store_spec array = {
        .type = NW_STORE_ARRAY, .unit_bytes = 16, .count = KEYS};
    static const struct nw_store_spec queue = {.type = NW_STORE_QUEUE};
    static const struct nw_store_spec file = {.type = NW_STORE_FILE, .unit_bytes = 64};
    uint32_t refused = 0;

    nw_random_seed(&dice, seed);
    assert_int_equal(nw_store_format(&store, chip, &config, ram, ram_bytes), NW_OK);
    assert_true(nw_store_create(store, "a", &array) > 0);
    assert_true(nw_store_create(store, "q", &queue) > 0);
    assert_true(nw_store_create(store, "f", &file) > 0);
    for (uint32_t i = 0; i < 20000U && refused < REFUSALS; i++) {
        int result = step();
        refused += result == NW_ERR_FULL;
        assert_true(result >= 0 || result == NW_ERR_FULL);
    }
    assert_int_equal(refused, REFUSALS);
    assert_int_equal(nw_store_sync(store), NW_OK);
}

/* Power goes at an operation of the idle time that begins at `start`; then the store mounts, is
 * readable, and what is deleted is gone. */
static void cut_at(uint32_t operation, uint8_t phase)
{
    struct nw_cut cut = {.after = operation, .phase = phase};
    uint32_t key = 0;
    uint8_t value[16];

    assert_int_equal(nw_nand_assign(nand, start), NW_OK);
    memcpy(ram, start_ram, ram_bytes);
    nw_nand_cut(nand, &cut);
    (void)nw_store_idle(store, PIECES);
    nw_nand_power_up(nand);
    int result = nw_store_mount(&store, chip, &config, ram, ram_bytes);
    if (result != NW_OK) {
        fail_msg("operation %u phase %u: %s", (unsigned)operation, phase, nw_error_text(result));
    }
    assert_int_equal(nw_store_next_key(store, handle_of("a"), &key), NW_OK);
    assert_int_equal(nw_store_get(store, handle_of("a"), key, value), NW_OK);
    assert_int_equal(nw_store_delete(store, handle_of("q")), NW_OK);
    assert_int_equal(handle_of("q"), NW_ERR_NOT_FOUND);
}

static void cut_idle(void)
{
    for (uint32_t round = 0; round < ROUNDS; round++) {
        struct nw_store *now = store;

        assert_int_equal(nw_nand_assign(start, nand), NW_OK);
        memcpy(start_ram, ram, ram_bytes);
        uint64_t before = nw_nand_operations(nand);
        assert_true(nw_store_idle(store, PIECES) >= 0);
        uint32_t operations = (uint32_t)(nw_nand_operations(nand) - before);
        assert_int_equal(nw_nand_assign(end, nand), NW_OK);
        memcpy(end_ram, ram, ram_bytes);
        for (uint32_t at = 0; at < operations; at++) {
            cut_at(at, NW_CUT_BEFORE);
            cut_at(at, NW_CUT_INSIDE);
            cut_at(at, NW_CUT_AFTER);
        }
        assert_int_equal(nw_nand_assign(nand, end), NW_OK);
        memcpy(ram, end_ram, ram_bytes);
        store = now;
    }
}

static void run(uint8_t frames, uint8_t checkpoints, uint32_t seed)
{
    struct nw_part part;

    assert_int_equal(nw_parts_get("W25Q128JV", &part), NW_OK);
    part.blocks = 30;
    part.block_pages = 15;
    struct nw_nand_config nand_config = {.part = &part, .seed = seed};
    assert_int_equal(nw_nand_open(&nand, &nand_config), NW_OK);
    assert_int_equal(nw_nand_fork(&start, nand), NW_OK);
    assert_int_equal(nw_nand_fork(&end, nand), NW_OK);
    chip = nw_nand_chip(nand);
    config = (struct nw_store_config){.frames = frames, .checkpoints = checkpoints};
    ram_bytes = nw_store_ram_bytes(&config, &chip->geometry);
    ram = malloc(ram_bytes);
    start_ram = malloc(ram_bytes);
    end_ram = malloc(ram_bytes);
    fill(seed);
    cut_idle();
    free(ram);
    free(start_ram);
    free(end_ram);
    nw_nand_close(nand);
    nw_nand_close(start);
    nw_nand_close(end);
}

static void test_full_and_idle(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= 6U; seed++) {
        run(8, 3, seed);
        run(24, 3, seed);
        run(8, 1, seed);
        run(8, 0, seed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_full_and_idle)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

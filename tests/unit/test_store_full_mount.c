/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: a good chip whose store is full mounts, whenever power goes, and objects can be deleted
 * then; a chip too small for a store is refused by the format.
 * ctest: slow
 * ctest: soak
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
#define WRITES 100U  /* before each */
#define PIECES 8U

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

static uint32_t cut_idle(void)
{
    uint32_t cuts = 0;

    for (uint32_t round = 0; round < ROUNDS; round++) {
        struct nw_store *now = store;

        for (uint32_t i = 0; i < WRITES; i++) {
            int result = step();
            assert_true(result >= 0 || result == NW_ERR_FULL);
        }
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
        cuts += operations;
    }
    return cuts;
}

static void open_bed(const char *name, uint32_t blocks, uint32_t pages, uint32_t seed)
{
    struct nw_part part;

    assert_int_equal(nw_parts_get(name, &part), NW_OK);
    part.blocks = blocks;
    part.block_pages = (uint16_t)pages;
    part.factory_bad = 0;
    struct nw_nand_config nand_config = {.part = &part, .seed = seed};
    assert_int_equal(nw_nand_open(&nand, &nand_config), NW_OK);
    chip = nw_nand_chip(nand);
    ram_bytes = nw_store_ram_bytes(&config, &chip->geometry);
    ram = malloc(ram_bytes);
}

static void close_bed(void)
{
    free(ram);
    nw_nand_close(nand);
}

static uint32_t run(uint8_t frames, uint8_t checkpoints, uint32_t seed)
{
    config = (struct nw_store_config){.frames = frames, .checkpoints = checkpoints};
    open_bed("W25Q128JV", 30, 15, seed);
    assert_int_equal(nw_nand_fork(&start, nand), NW_OK);
    assert_int_equal(nw_nand_fork(&end, nand), NW_OK);
    start_ram = malloc(ram_bytes);
    end_ram = malloc(ram_bytes);
    fill(seed);
    uint32_t cuts = cut_idle();
    free(start_ram);
    free(end_ram);
    nw_nand_close(start);
    nw_nand_close(end);
    close_bed();
    return cuts;
}

static void test_full_and_idle(void **state)
{
    uint32_t cuts = 0;

    (void)state;
    for (uint32_t seed = 1; seed <= 6U; seed++) {
        cuts += run(8, 3, seed) + run(24, 3, seed) + run(8, 1, seed) + run(8, 0, seed);
    }
    assert_true(cuts > 200U);
}

static struct nw_store_space space_now(void)
{
    struct nw_store_space space;

    nw_store_space(store, &space);
    return space;
}

/* A chip so small that nothing fits is not formatted. Once the limit went round below zero, and
 * the store took all it was given until no mount was possible. */
static void test_too_small(void **state)
{
    (void)state;
    config = (struct nw_store_config){.frames = 4, .fan = 32};
    open_bed("W25Q128JV", 23, 8, 1);
    assert_int_equal(nw_store_format(&store, chip, &config, ram, ram_bytes), NW_ERR_FULL);
    close_bed();
    for (uint32_t blocks = 23; blocks < 40U; blocks++) {
        open_bed("W25Q128JV", blocks, 8, 1);
        int result = nw_store_format(&store, chip, &config, ram, ram_bytes);
        if (result == NW_OK) {
            assert_in_range(space_now().limit_bytes, 1, blocks * 8U * 256U);
        } else {
            assert_int_equal(result, NW_ERR_FULL);
        }
        close_bed();
    }
}

/* What a fresh store says of its room is true: a value is overwritten for ever. 0: refused. */
static int try_small(const struct nw_part *part)
{
    static const struct nw_store_spec spec = {
        .type = NW_STORE_ARRAY, .unit_bytes = 4, .count = 8};
    uint32_t block_bytes = (uint32_t)part->page_bytes * part->block_pages;
    struct nw_nand_config nand_config = {.part = part};

    assert_int_equal(nw_nand_open(&nand, &nand_config), NW_OK);
    chip = nw_nand_chip(nand);
    ram_bytes = nw_store_ram_bytes(&config, &chip->geometry);
    ram = malloc(ram_bytes > 0 ? ram_bytes : 1U);
    int result = nw_store_format(&store, chip, &config, ram, ram_bytes);
    if (result == NW_OK) {
        assert_in_range(space_now().limit_bytes, block_bytes, part->blocks * block_bytes - 1U);
        assert_true(nw_store_create(store, "a", &spec) > 0);
        if (config.objects > 1) { /* once half of a page of 64 bytes was more than fits it */
            struct nw_store_spec file = {.type = NW_STORE_FILE};
            uint16_t most = (uint16_t)(part->page_bytes - 38U);
            assert_true(nw_store_create(store, "f", &file) > 0);
            file.unit_bytes = most;
            assert_true(nw_store_create(store, "g", &file) > 0);
            file.unit_bytes++;
            assert_int_equal(nw_store_create(store, "h", &file), NW_ERR_CONFIG);
        }
        for (uint32_t i = 0; i < 129U; i++) {
            assert_int_equal(nw_store_set(store, handle_of("a"), 3, &i), NW_OK);
            assert_int_equal(nw_store_sync(store), NW_OK);
        }
    } else {
        assert_int_equal(result, ram_bytes == 0 ? NW_ERR_CONFIG : NW_ERR_FULL);
    }
    close_bed();
    return result == NW_OK;
}

/* Of 13,000 small stores that a format made 88 had a limit beyond the chip, and were full. */
static void test_small(void **state)
{
    static const uint16_t pages[] = {64, 128, 256};
    static const uint8_t block_pages[] = {8, 9, 16, 32};
    static const uint8_t blocks[] = {16, 24, 32, 48, 64, 128};
    static const uint8_t fans[] = {8, 16, 32, 64};
    static const uint8_t frames[] = {4, 6, 8, 16, 64};
    uint32_t made = 0;
    struct nw_part part;

    (void)state;
    assert_int_equal(nw_parts_get("W25Q128JV", &part), NW_OK);
    for (uint32_t i = 0; i < 3U * 4U * 6U * 4U * 5U * 2U; i++) {
        part.page_bytes = pages[i % 3U];
        part.block_pages = block_pages[i / 3U % 4U];
        part.blocks = blocks[i / 12U % 6U];
        config = (struct nw_store_config){.fan = fans[i / 72U % 4U],
                                          .frames = frames[i / 288U % 5U],
                                          .objects = i / 1440U != 0 ? 8 : 1};
        made += (uint32_t)try_small(&part);
    }
    assert_in_range(made, 500, 2500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_full_and_idle),
                                       cmocka_unit_test(test_too_small),
                                       cmocka_unit_test(test_small)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: a store is mounted as often as its device likes, at any fill, with few writes between or
 * none, and with cuts in the mounts: no mount answers that it is full, no overwrite is refused, and
 * all that was synced is there.
 * ctest: slow
 * ctest: soak
 *
 * Once a mount moved along all that the mount before it had written, when nothing followed that
 * proved it had ended: what that had cleaned, too. So each carried on what the last one had
 * carried, and cleaned two blocks more. A store at its limit, with no fault, no cut and no write,
 * was full for good at the 23rd mount; one at 30 % with an overwrite for three mounts at the 46th.
 * Only the last block of such a mount can be half erased: the next one erases that first.
 *
 * Where blocks have more than 64 KiB a mount cleaned only for so many bytes, not for the block it
 * takes. Free blocks went down to those that are kept, and then one mount cleaned all at once: 29
 * blocks of the chip's 64.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "nandwich-seal/seal_sodium.h"
#include "nandwich-twin/nand.h"
#include "nandwich-twin/parts.h"
#include "nandwich/bytes.h"
#include "nandwich/random.h"
#include "nandwich/store.h"

#define KEYS 1000U
#define LONGEST 20000U
#define FILLS 4U
#define MOST_ERASES 16U /* of a mount with no cut before it */
#define ERASES 64U

struct kind {
    const char *part;
    uint32_t blocks;
    uint16_t pages;   /* of a block; 0: the part's */
    uint16_t unit;    /* bytes of a value */
    uint16_t rounds;  /* in `make test`; ten times as many in `make soak` */
    uint16_t anchors; /* bytes between two; 0: as it comes */
    uint8_t sealed;
};

static const struct kind kinds[] = {
    {"TC58DVG02A1FT00", 64, 0, 1000, 150, 0, 0}, {"TC58DVG02A1FT00", 64, 0, 3600, 150, 0, 0},
    {"TC58DVG02A1FT00", 64, 0, 256, 60, 512, 0}, {"W25Q128JV", 64, 16, 300, 100, 0, 0},
    {"AT45DB041B", 96, 0, 200, 150, 0, 0},       {"TC58DVG02A1FT00", 64, 0, 1000, 60, 0, 1},
    {"K9LBG08U0M", 48, 8, 4000, 60, 0, 0},       {"AT45DB041B", 128, 0, 500, 60, 0, 1},
    {"W25N01GV", 64, 0, 20000, 10, 0, 0},
};

static const uint8_t fills[FILLS] = {100, 90, 60, 30}; /* % of the limit */

static const struct kind *kind;
static struct nw_nand *nand;
static struct nw_chip *chip;
static struct nw_seal_sodium seal;
static struct nw_store_config config;
static struct nw_store *store;
static struct nw_random dice;
static uint8_t *ram;
static size_t ram_bytes;
static uint32_t values; /* of the array */
static uint32_t version[KEYS];

static struct nw_store_space space_now(void)
{
    struct nw_store_space space;

    nw_store_space(store, &space);
    return space;
}

static void draw_value(uint32_t key, uint32_t number, uint8_t *value)
{
    memset(value, (int)(key * 7U + number), kind->unit);
    nw_put32(value, number);
}

static int set(uint32_t key, uint32_t number)
{
    static uint8_t value[LONGEST];

    draw_value(key, number, value);
    int result = nw_store_set(store, nw_store_find(store, "a"), key, value);
    if (result == NW_OK) {
        version[key] = number;
    }
    return result;
}

static void open_bed(const struct kind *of)
{
    struct nw_part part;
    static const uint8_t key[NW_SEAL_KEY_BYTES] = "a store that is mounted";

    kind = of;
    assert_int_equal(nw_parts_get(kind->part, &part), NW_OK);
    part.blocks = kind->blocks;
    part.block_pages = kind->pages != 0 ? kind->pages : part.block_pages;
    part.factory_bad = 0;
    struct nw_nand_config nand_config = {.part = &part, .seed = 1};
    assert_int_equal(nw_nand_open(&nand, &nand_config), NW_OK);
    chip = nw_nand_chip(nand);
    config = (struct nw_store_config){.objects = 2, .anchor_bytes = kind->anchors};
    if (kind->sealed != 0) {
        nw_seal_sodium_open(&seal, key);
        config.seal = &seal.seal;
    }
    ram_bytes = nw_store_ram_bytes(&config, &chip->geometry);
    ram = malloc(ram_bytes);
}

static void close_bed(void)
{
    free(ram);
    nw_nand_close(nand);
}

/* A new store, with values up to so much of its limit. */
static void fill(uint32_t percent)
{
    static const struct nw_store_spec array = {.type = NW_STORE_ARRAY, .count = KEYS};
    struct nw_store_spec spec = array;
    int result = NW_OK;

    spec.unit_bytes = kind->unit;
    assert_int_equal(nw_store_format(&store, chip, &config, ram, ram_bytes), NW_OK);
    assert_true(nw_store_create(store, "a", &spec) > 0);
    values = 0;
    while (values < KEYS && result == NW_OK &&
           space_now().used_bytes < space_now().limit_bytes / 100U * percent) {
        result = set(values, 1);
        values += result == NW_OK ? 1U : 0U;
    }
    assert_true(result == NW_OK || result == NW_ERR_FULL);
    assert_true(values > 0);
    assert_int_equal(nw_store_sync(store), NW_OK);
}

static void check_values(void)
{
    static uint8_t value[LONGEST];
    static uint8_t expected[LONGEST];
    int array = nw_store_find(store, "a");

    for (uint32_t key = 0; key < values; key++) {
        draw_value(key, version[key], expected);
        assert_int_equal(nw_store_get(store, array, key, value), NW_OK);
        assert_memory_equal(value, expected, kind->unit);
    }
}

static int mount(void)
{
    memset(ram, 0xA5, ram_bytes);
    return nw_store_mount(&store, chip, &config, ram, ram_bytes);
}

/* Until one is not cut. `cuts`: in so many of a hundred power goes at one of their operations. */
static void mount_well(uint32_t cuts, const char *when)
{
    int result = NW_ERR_POWER;

    while (result == NW_ERR_POWER) {
        struct nw_cut cut = {.after = nw_random_below(&dice, 400),
                             .phase = (uint8_t)nw_random_below(&dice, 3)};

        nw_nand_power_up(nand);
        nw_nand_cut(nand, nw_random_below(&dice, 100) < cuts ? &cut : NULL);
        result = mount();
    }
    nw_nand_cut(nand, NULL);
    if (result == NW_OK && cuts == 0 && nw_store_stats(store)->erases > MOST_ERASES) {
        fail_msg("%s, %s: %u erases in a mount", kind->part, when,
                 (unsigned)nw_store_stats(store)->erases);
    }
    if (result != NW_OK || nw_store_stats(store)->lost != 0) {
        fail_msg("%s of %u, sealed %u, %u values, %s: %s, %u lost", kind->part,
                 (unsigned)kind->unit, kind->sealed, (unsigned)values, when, nw_error_text(result),
                 result == NW_OK ? (unsigned)nw_store_stats(store)->lost : 0);
    }
}

/* Rounds of some synced overwrites and some mounts. */
static void live(uint32_t writes, uint32_t mounts, uint32_t cuts)
{
    uint32_t rounds = kind->rounds * (getenv("NW_SOAK") != NULL ? 10U : 1U);
    char when[80];

    for (uint32_t round = 1; round <= rounds; round++) {
        (void)snprintf(when, sizeof when, "%u writes, %u mounts, %u %% cut, round %u",
                       (unsigned)writes, (unsigned)mounts, (unsigned)cuts, (unsigned)round);
        for (uint32_t i = 0; i < writes; i++) {
            int result = set(nw_random_below(&dice, values), round + 1U);

            result = result == NW_OK ? nw_store_sync(store) : result;
            if (result != NW_OK) {
                fail_msg("%s, %s: overwrite: %s", kind->part, when, nw_error_text(result));
            }
        }
        for (uint32_t i = 0; i < mounts; i++) {
            mount_well(cuts, when);
        }
    }
    check_values();
}

static void test_mounted_again(void **state)
{
    (void)state;
    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        open_bed(&kinds[i]);
        for (unsigned f = 0; f < FILLS; f++) {
            nw_random_seed(&dice, 100U * i + f);
            fill(fills[f]);
            live(0, 5, 0);
            live(1, 3, 0);
            live(1, 1, 0);
            live(0, 3, 40);
            live(1, 2, 40);
            live(1, 1, 90);
        }
        close_bed();
    }
}

/* When the chip was asked to erase last: what it counts as operations then. */
static struct nw_chip_ops ops;
static const struct nw_chip_ops *own_ops;
static uint64_t erase_at[ERASES];
static unsigned erases;
static uint32_t newest; /* block programmed last */

static int note_program(struct nw_chip_req *req)
{
    newest = req->page / chip->geometry.block_pages;
    return own_ops->program(req);
}

static int note_erase(struct nw_chip_req *req)
{
    if (erases < ERASES) {
        erase_at[erases++] = nw_nand_operations(nand);
    }
    return own_ops->erase(req);
}

/* A mount, cut at an operation from now on, or not at all. */
static int mount_cut(uint64_t operation, uint8_t torn)
{
    struct nw_cut cut = {
        .after = operation, .phase = NW_CUT_INSIDE, .data = torn, .spare = torn};

    nw_nand_power_up(nand);
    nw_nand_cut(nand, operation != UINT64_MAX ? &cut : NULL);
    erases = 0;
    int result = mount();
    nw_nand_cut(nand, NULL);
    return result;
}

/* A mount of several blocks is cut in its last program, and does not look ended to the next one,
 * which is cut in an erase of these blocks; all of it may look whole to the third one, and show
 * as half erased later. Answers how many erases were cut. */
static uint32_t half_erase(struct nw_nand *start, struct nw_nand *torn)
{
    uint64_t at[ERASES];
    uint32_t cuts = 0;

    assert_int_equal(nw_nand_assign(start, nand), NW_OK);
    uint64_t from = nw_nand_operations(nand);
    uint32_t sequence = space_now().sequence;
    assert_int_equal(mount_cut(UINT64_MAX, 0), NW_OK);
    if (space_now().sequence < sequence + 3U) {
        return 0;
    }
    uint64_t last = nw_nand_operations(nand) - from - 1U;
    assert_int_equal(nw_nand_assign(nand, start), NW_OK);
    assert_int_equal(mount_cut(last, NW_TORN_ANY), NW_ERR_POWER);
    assert_int_equal(nw_nand_assign(torn, nand), NW_OK);
    from = nw_nand_operations(nand);
    assert_int_equal(mount_cut(UINT64_MAX, 0), NW_OK);
    unsigned count = erases;
    memcpy(at, erase_at, sizeof at);
    for (unsigned i = 0; i < count; i++) {
        assert_int_equal(nw_nand_assign(nand, torn), NW_OK);
        if (mount_cut(at[i] - from, NW_TORN_ANY) == NW_ERR_POWER) {
            cuts++;
        }
        for (unsigned mounts = 0; mounts < 3U; mounts++) { /* rubbish may count as lost */
            assert_int_equal(mount_cut(UINT64_MAX, 0), NW_OK);
            check_values();
        }
    }
    return cuts;
}

static void test_half_erased(void **state)
{
    struct nw_nand *start;
    struct nw_nand *torn;
    uint32_t cuts = 0;

    (void)state;
    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        open_bed(&kinds[i]);
        own_ops = chip->ops;
        ops = *own_ops;
        ops.erase = note_erase;
        ops.program = note_program;
        chip->ops = &ops;
        fill(100);
        assert_int_equal(nw_nand_fork(&start, nand), NW_OK);
        assert_int_equal(nw_nand_fork(&torn, nand), NW_OK);
        for (uint32_t round = 0; round < 30U; round++) {
            mount_well(0, "between");
            assert_int_equal(set(nw_random_below(&dice, values), round + 2U), NW_OK);
            assert_int_equal(nw_store_sync(store), NW_OK);
            cuts += half_erase(start, torn);
            assert_int_equal(nw_nand_assign(nand, start), NW_OK);
        }
        nw_nand_close(start);
        nw_nand_close(torn);
        close_bed();
    }
    print_message("%u erases cut\n", (unsigned)cuts);
    assert_true(cuts > 100U);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_mounted_again),
                                       cmocka_unit_test(test_half_erased)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: formats, each of them cut, leave the store there was, nothing that mounts, or an empty
 * store. A format began with the erase of block 0, where it then wrote that the store is no more.
 * That block might hold data, or what an earlier format had written there: when the second one was
 * cut in that erase, an older state of what the first had left mounted, with wrong values. And who
 * had another key or another fan than the format did not know what it had written: half of a sealed
 * store mounted with the old key.
 * ctest: quick
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "nandwich/identify.h"
#include "store_rig.h"

#define SEEDS 6U
#define TRIES 250U
#define WORK 600U
#define FORMATS 6U

static struct store_rig rig;
static unsigned try;
static unsigned kept; /* mounts that found the store there was, */
static unsigned none; /* no store, */
static unsigned empty;

/* The chip of the rig. Power goes at the so many-th request that changes it from now on. */
static struct nw_chip chip;
static uint32_t changes_left;
static struct nw_cut blow;

static void count_change(void)
{
    if (changes_left-- == 0) {
        nw_nand_cut(rig.nand, &blow);
    }
}

static int count_program(struct nw_chip_req *req)
{
    count_change();
    return rig.chip->ops->program(req);
}

static int count_erase(struct nw_chip_req *req)
{
    count_change();
    return rig.chip->ops->erase(req);
}

/* `other`: for a store with another fan, or one that is not sealed. */
static int format(uint32_t change, uint8_t phase, unsigned other)
{
    struct nw_store_config config = rig.config;
    struct nw_chip_ops ops = *rig.chip->ops;

    chip = *rig.chip;
    chip.ops = &ops;
    ops.program = count_program;
    ops.erase = count_erase;
    changes_left = change;
    blow.phase = phase;
    config.fan = other == 1U ? 8U : config.fan;
    config.seal = other == 2U ? NULL : config.seal;
    nw_nand_power_up(rig.nand);
    return nw_store_format(&rig.store, &chip, &config, rig.ram, rig.ram_bytes);
}

static void work(struct nw_random *random)
{
    struct store_op sync = {.kind = STORE_SYNC};
    uint32_t steps = WORK + nw_random_below(random, WORK);

    for (uint32_t i = 0; i < steps; i++) {
        struct store_op op = store_rig_draw(&rig, random);

        if (op.kind < STORE_DOOM_PROGRAM) {
            assert_true(store_rig_run(&rig, &op) >= 0);
        }
    }
    assert_true(store_rig_run(&rig, &sync) >= 0);
}

/* Power goes while the log is written: its newest header, or what a mount began, may be torn. */
static void tear(struct nw_random *random)
{
    struct nw_cut cut = {.after = nw_random_below(random, 60), .phase = NW_CUT_INSIDE};

    nw_nand_cut(rig.nand, &cut);
    while (!nw_nand_is_off(rig.nand)) {
        struct store_op op = store_rig_draw(&rig, random);

        if (op.kind < STORE_DOOM_PROGRAM) {
            (void)store_rig_run(&rig, &op);
        }
    }
    if (nw_random_below(random, 2) != 0) {
        nw_nand_power_up(rig.nand);
        cut.after = nw_random_below(random, 60);
        nw_nand_cut(rig.nand, &cut);
        (void)store_rig_mount(&rig);
    }
}

static void check_mounts(void)
{
    for (unsigned up = 0; up < 3U; up++) {
        nw_nand_power_up(rig.nand);
        int result = store_rig_mount(&rig);

        if (result != NW_OK) {
            int is_other = result == NW_ERR_VERSION || result == NW_ERR_KEY; /* and an empty one */

            if (result != NW_ERR_NOT_FOUND && result != NW_ERR_BLANK && !is_other) {
                fail_msg("try %u, power-up %u: %s", try, up, nw_error_text(result));
            }
            none++;
        } else if (nw_store_find(rig.store, "stack") < 0) {
            empty++;
        } else {
            if (store_rig_check(&rig, 1) < 0) {
                fail_msg("try %u, power-up %u: %s", try, up, rig.why);
            }
            kept++;
        }
    }
}

static void cut_formats(struct nw_random *random)
{
    uint32_t all = rig.chip->geometry.blocks + 5U;

    for (uint32_t left = 1U + nw_random_below(random, FORMATS); left > 0; left--) {
        uint32_t span = nw_random_below(random, 4) != 0 ? 5U : all;

        (void)format(nw_random_below(random, span), (uint8_t)nw_random_below(random, 3),
                     nw_random_below(random, 6));
    }
}

/* The four formats told above, and once more from the second on. */
static void cut_marks(struct nw_random *random)
{
    (void)format(4U + nw_random_below(random, 8), NW_CUT_INSIDE, 0);
    for (unsigned twice = 0; twice < 2U; twice++) {
        (void)format(2, NW_CUT_INSIDE, 0);
        (void)format(0, NW_CUT_INSIDE, 0);
        (void)format(0, NW_CUT_INSIDE, 0);
        check_mounts();
    }
}

static void play(struct nw_random *random)
{
    struct store_snapshot start;

    store_snapshot_open(&start, &rig);
    store_snapshot_take(&start, &rig);
    for (try = 0; try < TRIES; try++) {
        store_snapshot_restore(&start, &rig);
        if (try % 4U == 0) {
            cut_marks(random);
        } else {
            cut_formats(random);
        }
        check_mounts();
        if (try % 8U == 1U) {
            assert_int_equal(format(UINT32_MAX, 0, try / 8U % 6U), NW_OK);
            assert_int_equal(nw_store_find(rig.store, "stack"), NW_ERR_NOT_FOUND);
        }
    }
    assert_int_equal(store_rig_clean(&rig), 0);
    store_snapshot_close(&start);
}

static void run(unsigned shape)
{
    struct nw_random random;

    kept = 0;
    none = 0;
    empty = 0;
    for (uint32_t seed = 1; seed <= SEEDS; seed++) {
        nw_random_seed(&random, seed);
        store_rig_open(&rig, &store_shapes[shape], seed);
        work(&random);
        if (seed % 2U == 0) {
            tear(&random);
        }
        play(&random);
        store_rig_close(&rig);
    }
    assert_true(kept > 0 && none > 0);
    print_message("kept %u, none %u, empty %u\n", kept, none, empty);
}

/* Goal: where the first block's header and anchor are longer than a page a format has one more
 * program, and cut before that one it leaves what its own configuration tells is no store, and
 * others take for one that they cannot mount. The header told neither. */
static void check_last_program(uint16_t page_bytes, int sealed, unsigned programs)
{
    static const uint8_t keys[2][32] = {{1}, {2}};
    static _Alignas(16) uint8_t ram[4096];
    struct nw_seal_sodium seals[2];
    struct nw_store_config config = {.objects = 2};
    struct nw_store_config other = {.objects = 2, .fan = 8};
    struct nw_nand_config bed = {.blocks = 256, .seed = 1};
    struct nw_cut cut = {.phase = NW_CUT_BEFORE};
    struct nw_part part;
    struct nw_store *store;
    struct nw_identity found;

    assert_int_equal(nw_parts_get("W25Q128JV", &part), NW_OK);
    part.blocks = 256;
    part.page_bytes = page_bytes;
    part.block_pages = 16;
    bed.part = &part;
    if (sealed) {
        other.fan = 0;
        nw_seal_sodium_open(&seals[0], keys[0]);
        nw_seal_sodium_open(&seals[1], keys[1]);
        config.seal = &seals[0].seal;
        other.seal = &seals[1].seal;
    }
    assert_int_equal(nw_nand_open(&rig.nand, &bed), NW_OK);
    struct nw_chip *below = nw_nand_chip(rig.nand);
    assert_int_equal(nw_store_format(&store, below, &config, ram, sizeof ram), NW_OK);
    assert_int_equal(nw_store_stats(store)->programs, programs);
    cut.after = nw_nand_operations(rig.nand);
    assert_int_equal(nw_store_format(&store, below, &config, ram, sizeof ram), NW_OK);
    cut.after = nw_nand_operations(rig.nand) - cut.after; /* behind the header: */
    cut.after -= programs > 2U ? programs - 1U : programs;
    nw_nand_cut(rig.nand, &cut);
    assert_int_equal(nw_store_format(&store, below, &config, ram, sizeof ram), NW_ERR_POWER);
    nw_nand_power_up(rig.nand);
    assert_int_equal(nw_store_mount(&store, below, &config, ram, sizeof ram),
                     programs > 2U ? NW_ERR_NOT_FOUND : NW_ERR_BLANK);
    assert_int_equal(nw_store_mount(&store, below, &other, ram, sizeof ram),
                     programs <= 2U ? NW_ERR_BLANK : sealed ? NW_ERR_KEY : NW_ERR_VERSION);
    assert_int_equal(nw_identify(below, &found), NW_OK);
    assert_int_equal(found.kind, programs > 2U ? NW_KIND_STORE : NW_KIND_BLANK);
    assert_int_equal(nw_nand_misuse(rig.nand)->error, 0);
    nw_nand_close(rig.nand);
}

static void test_last_program(void **state)
{
    (void)state;
    check_last_program(64, 0, 4);
    check_last_program(100, 0, 3);
    check_last_program(101, 0, 2);
    check_last_program(128, 1, 3);
    check_last_program(129, 1, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_last_program)};

    return cmocka_run_group_tests(tests, NULL, NULL) + store_each_shape(run);
}

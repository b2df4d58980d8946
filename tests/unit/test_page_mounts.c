/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: whatever a mount of the page layer had begun when power went or the bus failed, the next
 * one begins from where that one did: nothing is lost, no room is used up, a torn page that was
 * fenced off is gone before its fence is. Once each mount counted as one that had erased where torn
 * pages may hide, also when it was cut on the way: a torn page outlived its fence after one cut
 * write and two cut mounts, and a sector acknowledged long ago was lost. And each cut mount left a
 * block partly filled: after nine of them a full device answered NW_ERR_FULL for ever.
 * ctest: slow
 * ctest: soak
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "layer_trials.h"

/* Blocks of different lengths; lists with room for 26, 54 and 64 fences. */
static const struct layer_shape shapes[] = {
    {.part = "K9F1G08U0A", .blocks = 64, .block_pages = 32, .page_bytes = 256, .spare_bytes = 20},
    {.part = "K9F1G08U0A", .blocks = 44, .block_pages = 36, .page_bytes = 512, .spare_bytes = 20},
    {.part = "K9F1G08U0A", .blocks = 40, .block_pages = 64},
    {.part = "K9F1G08U0A", .blocks = 24, .block_pages = 8, .page_bytes = 256, .spare_bytes = 20},
    {.part = "W25N01GV", .blocks = 30, .block_pages = 19, .page_bytes = 256, .spare_blocks = 10},
};

#define SHAPES (sizeof shapes / sizeof shapes[0])
#define NEVER (1ULL << 40) /* requests */

static struct layer_rig rig;
static struct nw_random dice;

static uint32_t soak(uint32_t times)
{
    return getenv("NW_SOAK") != NULL ? times * 20U : times;
}

static void open_full(unsigned shape, uint32_t seed)
{
    nw_random_seed(&dice, seed);
    layer_rig_open(&rig, &nw_layer_page, &shapes[shape], seed);
    layer_trial_fill(&rig);
}

static void write_one(uint32_t sector)
{
    struct layer_op op = {.kind = OP_WRITE, .sector = sector, .count = 1};

    assert_int_equal(layer_rig_run(&rig, &op), NW_OK);
}

/* What a mount does. */
struct effect {
    uint64_t requests;
    uint64_t programs;
    uint32_t erases; /* of the block asked for */
};

/* A mount of a copy of the chip that is cut after so many requests. */
static struct effect rehearse(uint64_t after, uint32_t block)
{
    struct nw_cut cut = {.after = after, .phase = NW_CUT_BEFORE};
    struct nw_nand *real = rig.nand;
    struct nw_chip *chip = rig.site.chip;
    struct nw_nand *fork;

    assert_int_equal(nw_nand_fork(&fork, real), NW_OK);
    rig.nand = fork;
    rig.site.chip = nw_nand_chip(fork);
    nw_nand_cut(fork, &cut);
    (void)layer_rig_mount(&rig);
    rig.nand = real;
    rig.site.chip = chip;
    struct effect effect = {
        .requests = nw_nand_operations(fork) - nw_nand_operations(real),
        .programs = nw_nand_stats(fork)->programs - nw_nand_stats(real)->programs,
        .erases = nw_nand_block_erases(fork, block) - nw_nand_block_erases(real, block)};

    nw_nand_close(fork);
    return effect;
}

static void cut_after(uint64_t requests, uint8_t phase)
{
    struct nw_cut cut = {.after = requests, .phase = phase};

    nw_nand_cut(rig.nand, &cut);
    (void)layer_rig_mount(&rig);
    nw_nand_cut(rig.nand, NULL);
    nw_nand_power_up(rig.nand);
}

/* A mount that is cut somewhere in what it writes. */
static void cut_mount(void)
{
    struct effect whole = rehearse(NEVER, 0);
    uint32_t reach = (uint32_t)whole.programs * 2U + 2U;

    cut_after(whole.requests - 1U - nw_random_below(&dice, reach),
              (uint8_t)nw_random_below(&dice, 3));
}

/* A mount that is cut when it has moved the first page out of some block: its fifth program. */
static void cut_first_move(struct effect whole)
{
    uint64_t after = whole.requests - 3U * (whole.programs - 4U);

    while (after < whole.requests && rehearse(after, 0).programs < 5U) {
        after++;
    }
    cut_after(after, NW_CUT_BEFORE);
}

static void good_mount(const char *what, unsigned shape, uint32_t round)
{
    int result = layer_rig_mount(&rig);

    if (result < 0 || layer_rig_check(&rig, 1) < 0 || layer_rig_clean(&rig) < 0) {
        fail_msg("%s, shape %u, round %u: %s %s", what, shape, (unsigned)round,
                 nw_error_text(result), result < 0 ? "" : rig.why);
    }
}

/* A write is cut; then come sessions of a write each, and every mount that would erase the block
 * with the torn page is cut before. */
static void torn_page_stays(unsigned shape, uint32_t seed)
{
    uint32_t pages = rig.shape->blocks * (uint32_t)rig.shape->block_pages;
    uint32_t *life = calloc(pages, sizeof *life);
    struct nw_cut cut = {.after = 0, .phase = NW_CUT_INSIDE};
    struct layer_op op = {.kind = OP_WRITE, .sector = 5, .count = 1};
    uint32_t torn = 0;

    assert_non_null(life);
    good_mount("begin", shape, seed);
    write_one(5);
    for (uint32_t sector = 20; sector < 25U; sector++) {
        write_one(sector); /* these keep the block in use */
    }
    for (uint32_t page = 0; page < pages; page++) {
        life[page] = nw_nand_page_lifetime(rig.nand, page);
    }
    nw_nand_cut(rig.nand, &cut);
    (void)layer_rig_run(&rig, &op);
    nw_nand_cut(rig.nand, NULL);
    while (torn < pages && nw_nand_page_lifetime(rig.nand, torn) == life[torn]) {
        torn++;
    }
    free(life);
    if (torn == pages) {
        return; /* it had not begun */
    }
    uint32_t block = torn / rig.shape->block_pages;
    uint32_t erases = nw_nand_block_erases(rig.nand, block);

    nw_nand_power_up(rig.nand);
    unsigned cuts = 0;

    for (uint32_t round = 0; round < 90U && nw_nand_block_erases(rig.nand, block) == erases;) {
        struct effect whole = rehearse(NEVER, block);

        if (cuts < 5U && whole.erases != 0 && whole.programs > 5U) {
            cut_first_move(whole);
            cuts++;
            continue;
        }
        good_mount("torn page", shape, seed * 1000U + round++);
        write_one(100U + nw_random_below(&dice, rig.sectors - 100U));
        nw_nand_power_up(rig.nand);
    }
}

/* One cut write and a few cut mounts: what was acknowledged is there. */
static void test_torn_page_is_renewed(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= soak(4); seed++) {
        for (unsigned shape = 0; shape < 2U; shape++) {
            open_full(shape, seed);
            torn_page_stays(shape, seed);
            layer_rig_close(&rig);
        }
    }
}

/* Mounts are cut one after the other, on full devices: the ones that get through find room to write
 * and all that was there. */
static void test_cut_mounts_leave_room(void **state)
{
    (void)state;
    for (unsigned shape = 0; shape < SHAPES; shape++) {
        open_full(shape, 7);
        for (uint32_t round = 0; round < soak(60); round++) {
            uint32_t writes = nw_random_below(&dice, round % 3U == 0 ? 200 : 8);

            for (uint32_t cuts = nw_random_below(&dice, 5); cuts > 0; cuts--) {
                cut_mount();
            }
            good_mount("room", shape, round);
            while (writes-- > 0) {
                write_one(nw_random_below(&dice, rig.sectors));
            }
            nw_nand_power_up(rig.nand);
        }
        layer_rig_close(&rig);
    }
}

/* The same with writes that are cut, too, wherever they clean. */
static void test_cut_sessions_leave_room(void **state)
{
    (void)state;
    for (unsigned shape = 0; shape < SHAPES; shape++) {
        open_full(shape, 9);
        for (uint32_t round = 0; round < soak(150); round++) {
            struct nw_cut cut = {.after = nw_random_below(&dice, 60),
                                 .phase = (uint8_t)nw_random_below(&dice, 3)};

            if (nw_random_below(&dice, 2) != 0) {
                cut_mount();
            }
            good_mount("sessions", shape, round);
            write_one(nw_random_below(&dice, rig.sectors));
            nw_nand_cut(rig.nand, &cut);
            while (!nw_nand_is_off(rig.nand)) {
                struct layer_op op = {.kind = OP_WRITE,
                                      .sector = nw_random_below(&dice, rig.sectors),
                                      .count = 1};
                int result = layer_rig_run(&rig, &op);

                if (result != NW_OK && !nw_nand_is_off(rig.nand)) {
                    fail_msg("sessions, shape %u, round %u: %s", shape, (unsigned)round,
                             nw_error_text(result));
                }
            }
            nw_nand_cut(rig.nand, NULL);
            nw_nand_power_up(rig.nand);
        }
        layer_rig_close(&rig);
    }
}

/* The bus fails in mounts, once in each, before or after the program was done. */
static void test_bus_errors_leave_room(void **state)
{
    (void)state;
    for (unsigned shape = 0; shape < SHAPES; shape++) {
        open_full(shape, 8);
        assert_int_equal(layer_rig_filter(&rig), NW_OK);
        for (uint32_t round = 0; round < soak(60); round++) {
            for (uint32_t i = 0; i < 3U; i++) {
                rig.fault = (struct nw_fault){
                    .verb = nw_random_below(&dice, 4) != 0 ? NW_VERB_PROGRAM : NW_VERB_ERASE,
                    .acts = (uint8_t)nw_random_below(&dice, 2),
                    .skip = nw_random_below(&dice, 12),
                    .times = 1,
                    .error = NW_ERR_IO};
                (void)layer_rig_mount(&rig);
                layer_rig_quiet(&rig);
            }
            good_mount("bus", shape, round);
            for (unsigned i = 0; i < 5U; i++) {
                write_one(nw_random_below(&dice, rig.sectors));
            }
        }
        layer_rig_close(&rig);
    }
}

/* Blocks fail while a mount programs and erases, as long as there are blocks to spare for that: the
 * mount begins anew without them, and what it had moved is where it was. */
static void test_blocks_fail_in_mounts(void **state)
{
    (void)state;
    for (unsigned shape = 0; shape < SHAPES; shape++) {
        for (uint32_t seed = 1; seed <= soak(3); seed++) {
            open_full(shape, seed);
            assert_int_equal(layer_rig_filter(&rig), NW_OK);
            for (uint32_t round = 0; round < 40U; round++) {
                int erase = nw_random_below(&dice, 3) == 0;

                if (round % 10U == 0) {
                    rig.fault = (struct nw_fault){
                        .verb = erase ? NW_VERB_ERASE : NW_VERB_PROGRAM,
                        .skip = nw_random_below(&dice, erase ? 2 : 40),
                        .times = 1,
                        .error = erase ? NW_ERR_ERASE : NW_ERR_PROGRAM};
                }
                good_mount("blocks", shape, seed * 100U + round);
                layer_rig_quiet(&rig);
                for (uint32_t i = nw_random_below(&dice, 60); i > 0; i--) {
                    write_one(nw_random_below(&dice, rig.sectors));
                }
            }
            layer_rig_close(&rig);
        }
    }
}

/* Blocks of few pages and of many; spare blocks of which seven stay good at the worst. */
static const struct layer_shape worn_shapes[] = {
    {.part = "K9F1G08U0A", .blocks = 33, .block_pages = 8, .page_bytes = 256, .spare_blocks = 13},
    {.part = "K9F1G08U0A", .blocks = 20, .block_pages = 9, .page_bytes = 256, .spare_blocks = 12},
    {.part = "K9F1G08U0A", .blocks = 16, .block_pages = 12, .page_bytes = 256, .spare_blocks = 14},
    {.part = "K9F1G08U0A", .blocks = 13, .block_pages = 19, .page_bytes = 256, .spare_blocks = 12},
    {.part = "K9F1G08U0A", .blocks = 18, .block_pages = 33, .page_bytes = 256, .spare_blocks = 13},
    {.part = "K9F1G08U0A", .blocks = 20, .block_pages = 64, .page_bytes = 256, .spare_blocks = 12},
};

#define WORN_SHAPES (sizeof worn_shapes / sizeof worn_shapes[0])
#define FEW_PAGES 3U /* of them have so few that a mount needs several blocks for its lists */
#define GOOD_SPARES 7U

static uint32_t until_one_fails; /* programs; UINT32_MAX: none does */
static uint32_t failed;          /* blocks so far */

/* The program of a chip where a block fails for good when its time has come. */
static int program(struct nw_chip_req *req)
{
    struct nw_chip_req below = *req;

    below.chip = rig.faults.below;
    if (until_one_fails == 0) {
        failed++;
        nw_nand_doom(rig.nand, req->page / rig.shape->block_pages, 1);
    }
    if (until_one_fails != UINT32_MAX) {
        until_one_fails--; /* from 0 to none */
    }
    return below.chip->ops->program(&below);
}

/* A device in use whose blocks are about to fail. */
static void open_worn(const struct layer_shape *shape, uint32_t seed)
{
    nw_random_seed(&dice, seed);
    layer_rig_open(&rig, &nw_layer_page, shape, seed);
    assert_int_equal(layer_rig_filter(&rig), NW_OK);
    rig.faults.ops.program = program;
    until_one_fails = UINT32_MAX;
    failed = 0;
    layer_trial_fill(&rig);
    for (uint32_t i = nw_random_below(&dice, rig.sectors * 3U); i > 0; i--) {
        write_one(nw_random_below(&dice, rig.sectors));
    }
}

/* Power goes in writes, and in up to three of the mounts behind that. */
static void cut_some(void)
{
    struct nw_cut cut = {.after = nw_random_below(&dice, 40),
                         .phase = (uint8_t)nw_random_below(&dice, 3)};

    nw_nand_cut(rig.nand, &cut);
    while (!nw_nand_is_off(rig.nand)) {
        struct layer_op op = {
            .kind = OP_WRITE, .sector = nw_random_below(&dice, rig.sectors), .count = 1};
        int result = layer_rig_run(&rig, &op);

        assert_true(result == NW_OK || nw_nand_is_off(rig.nand));
    }
    nw_nand_cut(rig.nand, NULL);
    nw_nand_power_up(rig.nand);
    for (uint32_t cuts = nw_random_below(&dice, 4); cuts > 0; cuts--) {
        cut_after(3U * rig.shape->blocks +
                      nw_random_below(&dice, rig.shape->blocks * (uint32_t)rig.shape->block_pages),
                  (uint8_t)nw_random_below(&dice, 3));
    }
}

/* A block fails in each of up to eight mounts, as long as there are blocks to spare for that. What
 * was acknowledged is there, and every sector can be written again. */
static void mounts_that_fail(const struct layer_shape *shape, uint32_t seed, int cuts)
{
    unsigned index = (unsigned)(shape - worn_shapes);

    open_worn(shape, seed);
    for (uint32_t mounts = 1U + nw_random_below(&dice, 8); mounts > 0; mounts--) {
        if (cuts && nw_random_below(&dice, 2) != 0) {
            cut_some();
        }
        if (shape->spare_blocks - failed > GOOD_SPARES) {
            until_one_fails = nw_random_below(&dice, nw_random_below(&dice, 2) != 0 ? 6 : 30);
        }
        good_mount("a block fails in each", index, seed);
        until_one_fails = UINT32_MAX;
        for (uint32_t i = nw_random_below(&dice, 3); i > 0; i--) {
            write_one(nw_random_below(&dice, rig.sectors));
        }
        nw_nand_power_up(rig.nand);
    }
    good_mount("blocks have failed", index, seed);
    layer_trial_fill(&rig);
    layer_rig_close(&rig);
}

/* Once a mount in which a program failed began anew, in another block, and what it had won was lost
 * with it. It might end with no block left for the next mount, although it had won some: there was
 * no page for a list that names them. Then writes answered NW_ERR_FULL for ever, with eight spare
 * blocks good (one in 300 histories like these). */
static void test_a_block_fails_in_each_mount(void **state)
{
    (void)state;
    for (unsigned shape = 0; shape < WORN_SHAPES; shape++) {
        for (uint32_t seed = 1; seed <= soak(40); seed++) {
            mounts_that_fail(&worn_shapes[shape], seed, 0);
        }
    }
}

/* The same with cuts between. */
static void test_blocks_fail_and_power(void **state)
{
    (void)state;
    for (unsigned shape = 0; shape < WORN_SHAPES; shape++) {
        for (uint32_t seed = 1; seed <= soak(40); seed++) {
            mounts_that_fail(&worn_shapes[shape], seed, 1);
        }
    }
}

/* Of a mount that finds little room each program in turn is the one that fails. */
static void each_program_fails(unsigned index, uint32_t seed)
{
    struct layer_snapshot before;
    int one_failed = 1;

    open_worn(&worn_shapes[index], seed);
    for (unsigned i = 0; i < 3U; i++) {
        until_one_fails = nw_random_below(&dice, 6);
        good_mount("three before", index, seed);
        until_one_fails = UINT32_MAX;
        cut_some();
    }
    layer_snapshot_open(&before, &rig);
    layer_snapshot_take(&before, &rig);
    for (uint32_t skip = 0; one_failed; skip++) {
        layer_snapshot_restore(&before, &rig);
        until_one_fails = skip;
        good_mount("each program", index, seed);
        one_failed = until_one_fails == UINT32_MAX;
        until_one_fails = UINT32_MAX;
        nw_nand_power_up(rig.nand);
        good_mount("each program, again", index, seed);
        layer_trial_fill(&rig);
    }
    layer_snapshot_close(&before);
    layer_rig_close(&rig);
}

/* A block was marked bad although pages in it counted, behind a list of the same mount: what had
 * been moved there was lost. */
static void test_each_program_of_a_mount_fails(void **state)
{
    (void)state;
    for (unsigned shape = 0; shape < FEW_PAGES; shape++) {
        for (uint32_t seed = 1; seed <= soak(40); seed++) {
            each_program_fails(shape, seed);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_torn_page_is_renewed),
                                       cmocka_unit_test(test_cut_mounts_leave_room),
                                       cmocka_unit_test(test_cut_sessions_leave_room),
                                       cmocka_unit_test(test_bus_errors_leave_room),
                                       cmocka_unit_test(test_blocks_fail_in_mounts),
                                       cmocka_unit_test(test_a_block_fails_in_each_mount),
                                       cmocka_unit_test(test_blocks_fail_and_power),
                                       cmocka_unit_test(test_each_program_of_a_mount_fails)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: an erase that fails counts against the budget of idle as one that works. Once an erase
 * ahead was tried on one block after the other until it went well, for the price of one: a call
 * with time for two erases made ten, of which eight failed.
 * ctest: quick
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lavish_rig.h"
#include "layer_rig.h"

#define FAILURES 8U

static const struct layer_shape shape = {.part = "K9F1G08U0A",
                                         .blocks = 64,
                                         .block_pages = 16,
                                         .page_bytes = 512,
                                         .no_copy = 1,
                                         .spare_blocks = 24};

static struct layer_rig rig;

/* A call with time for two erases, while erases fail: how many it made. */
static uint32_t erases_of_idle(void)
{
    struct layer_op idle = {.kind = OP_IDLE,
                            .count = 2U * nw_nand_chip(rig.nand)->geometry.erase_us};
    uint64_t before = nw_nand_stats(rig.nand)->erases;
    uint32_t hits = rig.fault.hits;

    assert_true(layer_rig_run(&rig, &idle) >= 0);
    return rig.fault.hits - hits + (uint32_t)(nw_nand_stats(rig.nand)->erases - before);
}

static void test_failed_erases_count(void **state)
{
    (void)state;
    uint32_t hits = 0;

    layer_rig_open(&rig, &nw_layer_tree, &shape, 1);
    assert_int_equal(layer_rig_filter(&rig), NW_OK);
    for (uint32_t sector = 0; sector < rig.sectors / 2U; sector++) {
        struct layer_op op = {.kind = OP_WRITE, .sector = sector, .count = 1};
        assert_int_equal(layer_rig_run(&rig, &op), NW_OK);
    }
    assert_int_equal(layer_rig_mount(&rig), NW_OK);
    rig.fault = (struct nw_fault){
        .verb = NW_VERB_ERASE, .times = FAILURES, .error = NW_ERR_ERASE};
    for (uint32_t call = 0; call < 2U * FAILURES; call++) {
        uint32_t erases = erases_of_idle();

        if (erases > 2U) {
            fail_msg("%s, call %u: %u erases", rig.kind->name, (unsigned)call,
                     (unsigned)erases);
        }
        hits = rig.fault.hits;
    }
    assert_true(hits > 2U); /* or nothing was tried */
    layer_rig_close(&rig);
}

/* Idle of lavish is one merge, whatever fails in it. Once it merged until a lavish block was won,
 * and one was given up for each erase that failed. */
static void test_lavish_merges_once(void **state)
{
    static struct lavish_rig lavish;
    struct lavish_shape wide = lavish_shape_tiny;
    struct nw_fault fault = {.verb = NW_VERB_ERASE, .error = NW_ERR_ERASE};
    struct nw_faults faults;
    struct nw_random dice;
    uint32_t hits = 0;

    (void)state;
    wide.blocks = 40;
    wide.lavish.sectors = 48;
    wide.lavish.lavish_blocks = 0;
    for (uint32_t seed = 1; seed <= 200U; seed++) {
        nw_random_seed(&dice, seed);
        assert_int_equal(lavish_rig_open(&lavish, &wide, 0, seed), NW_OK);
        nw_faults_open(&faults, nw_nand_chip(lavish.nand), &fault, 1, seed);
        fault.times = 1;
        fault.hits = 1; /* quiet */
        assert_int_equal(lavish_rig_open_on(&lavish, &faults.chip, &wide.lavish), NW_OK);
        for (uint32_t i = 0; i < 600U; i++) {
            uint32_t sector = nw_random_below(&dice, lavish.lavish.block.sectors);
            assert_int_equal(lavish_rig_write(&lavish, sector, 1), NW_OK);
        }
        fault.hits = 0;
        fault.seen = 0;
        fault.times = 2;
        for (uint32_t call = 0; call < 8U; call++) {
            const struct nw_stats *stats = &lavish.lavish.stats;
            nw_count before = stats->merges_full + stats->merges_partial + stats->merges_switch;
            struct nw_block_req idle = {.block = &lavish.lavish.block, .budget_us = UINT32_MAX};

            (void)nw_block_idle(&idle);
            uint32_t merges = (uint32_t)(stats->merges_full + stats->merges_partial +
                                         stats->merges_switch - before);
            if (merges > 1U) {
                fail_msg("seed %u, call %u: %u merges, %u erases failed", (unsigned)seed,
                         (unsigned)call, (unsigned)merges, (unsigned)fault.hits);
            }
        }
        hits += fault.hits;
        lavish_rig_close(&lavish);
    }
    assert_true(hits > 100U);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_failed_erases_count),
                                       cmocka_unit_test(test_lavish_merges_once)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

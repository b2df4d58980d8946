/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: idle of a model keeps to its budget, by the chip's typical times, and wins blocks in
 * it. Once one step was a whole merge, which for fast merges as many logical blocks as a log block
 * has pages, and for a superblock many blocks: with a budget of 52 ms fast took 614 ms. And a page
 * that the chip copies costs a read of its tag, which was not counted. And a step that took a block
 * healed all that could wait no longer before: with a budget of 98 ms a superblock took 15 s.
 * ctest: quick
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "layer_rig.h"
#include "nandwich-models/wear.h"

#define CALLS 300U

static const struct nw_layer_kind *const kinds[] = {&nw_layer_fast, &nw_layer_log, &nw_layer_nftl,
                                                    &nw_layer_superblock, &nw_layer_page};

#define KINDS (sizeof kinds / sizeof kinds[0])

static const struct layer_shape with_copy = {
    .part = "K9F1G08U0A", .blocks = 96, .block_pages = 32, .page_bytes = 256, .spare_blocks = 16};
static const struct layer_shape without_copy = {.part = "K9F1G08U0A",
                                                .blocks = 96,
                                                .block_pages = 32,
                                                .page_bytes = 256,
                                                .no_copy = 1,
                                                .spare_blocks = 16};

static const struct layer_shape heals = {
    .part = "TLC8G-HEAL", .blocks = 96, .block_pages = 32, .page_bytes = 256, .spare_blocks = 16};

static uint8_t waits[96];
static struct layer_rig rig;
static struct nw_random random_numbers;

static void write_some(uint32_t sectors, int in_order)
{
    for (uint32_t i = 0; i < sectors; i++) {
        uint32_t sector = in_order ? i : nw_random_below(&random_numbers, rig.sectors);

        assert_int_equal(
            layer_rig_run(&rig, &(struct layer_op){.kind = OP_WRITE, .sector = sector, .count = 1}),
            NW_OK);
    }
}

/* What idle took by the times of the geometry. */
static uint32_t idle_us(uint32_t budget_us)
{
    const struct nw_geometry *geometry = &nw_nand_chip(rig.nand)->geometry;
    struct nw_nand_counts before = *nw_nand_stats(rig.nand);
    int result = layer_rig_run(&rig, &(struct layer_op){.kind = OP_IDLE, .count = budget_us});
    const struct nw_nand_counts *after = nw_nand_stats(rig.nand);
    uint64_t copies = after->copies - before.copies;
    uint64_t reads = after->reads - before.reads + copies;
    uint64_t programs = after->programs - before.programs + copies;

    assert_true(result >= 0);
    return (uint32_t)(reads * geometry->read_us + programs * geometry->program_us +
                      (after->erases - before.erases) * geometry->erase_us +
                      (after->heals - before.heals) * geometry->heal_us);
}

static void expect_in_budget(uint32_t most_us, int merges)
{
    uint64_t moved_idle = 0;

    for (uint32_t i = 0; i < CALLS; i++) {
        uint32_t budget_us = nw_random_below(&random_numbers, 1000) * (most_us / 1000U);

        write_some(30, 0);
        uint64_t moved = rig.block->stats->copies;
        uint32_t took_us = idle_us(budget_us);
        moved_idle += rig.block->stats->copies - moved;
        if (took_us > budget_us) {
            fail_msg("%s: budget %u us, took %u us", rig.kind->name, (unsigned)budget_us,
                     (unsigned)took_us);
        }
    }
    assert_true(!merges || moved_idle > CALLS); /* or it had done nothing */
}

static void expect_budgets(const struct nw_layer_kind *kind, const struct layer_shape *shape)
{
    nw_random_seed(&random_numbers, 1);
    layer_rig_open(&rig, kind, shape, 1);
    write_some(rig.sectors, 1);
    write_some(rig.sectors, 0);
    expect_in_budget(60000, 1);
    assert_int_equal(layer_rig_check(&rig, 0), 0);
    layer_rig_close(&rig);
}

/* Blocks that wait to be healed: few budgets are as long as that takes. */
static void expect_budgets_healing(const struct nw_layer_kind *kind, uint32_t period_s)
{
    struct nw_heal_config heal = {.heals = 1, .cycles = 2, .period_s = period_s};
    struct nw_wear wear;

    nw_random_seed(&random_numbers, 1);
    layer_rig_open(&rig, kind, &heals, 1);
    assert_int_equal(nw_wear_dynamic_open(&wear, &heal, heals.blocks, waits, sizeof waits), NW_OK);
    rig.config.wear = &wear;
    assert_int_equal(layer_rig_mount(&rig), NW_OK);
    write_some(rig.sectors, 1);
    write_some(rig.sectors, 0);
    /* writes leave page no more free blocks than the reserve: then healing goes first */
    expect_in_budget(300000, period_s != 0 && kind != &nw_layer_page);
    expect_in_budget(4000000, 0);
    assert_true(wear.stats.heals > wear.stats.heals_idle);
    assert_true(wear.stats.heals_idle > 0 || period_s == 0);
    assert_int_equal(layer_rig_check(&rig, 0), 0);
    layer_rig_close(&rig);
}

static void test_budgets(void **state)
{
    (void)state;
    for (unsigned i = 0; i < KINDS; i++) {
        expect_budgets(kinds[i], &with_copy);
        expect_budgets(kinds[i], &without_copy);
    }
}

static void test_budgets_healing(void **state)
{
    (void)state;
    for (unsigned i = 0; i < KINDS; i++) {
        expect_budgets_healing(kinds[i], 0);
        expect_budgets_healing(kinds[i], 1000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_budgets),
                                       cmocka_unit_test(test_budgets_healing)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

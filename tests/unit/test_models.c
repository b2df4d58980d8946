/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: a model reads as written, whatever is asked of it and whatever fails below: content agrees
 * with a plain list of sectors, a block in which a program or an erase fails goes and takes nothing
 * along, an error of the bus leaves its sector old or new and the next calls work. Opening erases.
 * ctest: quick
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "layer_rig.h"

#define OPERATIONS 3000U
#define SEEDS 6U

static const struct nw_layer_kind *const kinds[] = {&nw_layer_nftl, &nw_layer_log,
                                                    &nw_layer_superblock, &nw_layer_fast,
                                                    &nw_layer_page};

#define KINDS (sizeof kinds / sizeof kinds[0])

static struct layer_rig rig;
static struct nw_random dice;

static void check(uint32_t seed)
{
    if (layer_rig_check(&rig, 1) < 0 || layer_rig_clean(&rig) < 0) {
        fail_msg("%s, seed %u: %s", rig.kind->name, (unsigned)seed, rig.why);
    }
}

/* Random work: how many calls failed. `fails` is called before each. */
static uint32_t work(uint32_t seed, void (*fails)(uint32_t step))
{
    uint32_t failed = 0;

    for (uint32_t i = 0; i < OPERATIONS; i++) {
        struct layer_op op = layer_rig_draw(&rig, &dice);

        if (fails != NULL) {
            fails(i);
        }
        failed += layer_rig_run(&rig, &op) < 0;
        if (i % 100U == 99U) {
            layer_rig_quiet(&rig);
            check(seed);
        }
    }
    return failed;
}

static void open_rig(const struct nw_layer_kind *kind, uint32_t seed)
{
    nw_random_seed(&dice, seed);
    layer_rig_open(&rig, kind, &layer_shapes[seed % 4U], seed);
}

static void test_reads_as_written(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < KINDS * SEEDS; i++) {
        open_rig(kinds[i % KINDS], i / KINDS);
        assert_int_equal(work(i, NULL), 0);
        layer_rig_close(&rig);
    }
}

/* Three blocks of eleven spare ones, one after the other. */
static void doom_some(uint32_t step)
{
    if (step == 500U || step == 1000U || step == 1500U) {
        nw_nand_doom(rig.nand, nw_random_below(&dice, rig.shape->blocks), step != 1000U);
    }
}

static void test_blocks_that_fail(void **state)
{
    uint32_t retired = 0;

    (void)state;
    for (uint32_t i = 0; i < KINDS * SEEDS; i++) {
        open_rig(kinds[i % KINDS], i / KINDS);
        assert_int_equal(work(i, doom_some), 0);
        retired += (uint32_t)rig.block->stats->retired;
        layer_rig_close(&rig);
    }
    assert_true(retired > KINDS * SEEDS);
}

static void fail_on_the_bus(uint32_t step)
{
    if (step % 40U == 20U) {
        rig.fault = (struct nw_fault){
            .verb = nw_random_below(&dice, 2) != 0 ? NW_VERB_PROGRAM : NW_VERB_ERASE,
            .acts = (uint8_t)nw_random_below(&dice, 2),
            .skip = nw_random_below(&dice, 12),
            .times = 1,
            .error = NW_ERR_IO};
    }
}

static void test_errors_of_the_bus(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < KINDS * SEEDS; i++) {
        open_rig(kinds[i % KINDS], i / KINDS);
        assert_int_equal(layer_rig_filter(&rig), NW_OK);
        assert_in_range(work(i, fail_on_the_bus), 1, OPERATIONS / 20U);
        layer_rig_close(&rig);
    }
}

/* What was there is gone, also behind a power cut. */
static void test_opening_erases(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < KINDS; i++) {
        open_rig(kinds[i], 1);
        (void)work(i, NULL);
        nw_nand_cut(rig.nand, &(struct nw_cut){.phase = NW_CUT_INSIDE});
        struct layer_op op = {.kind = OP_WRITE, .sector = 1, .count = 1};
        assert_int_equal(layer_rig_run(&rig, &op), NW_ERR_POWER);
        nw_nand_power_up(rig.nand);
        assert_int_equal(layer_rig_mount(&rig), NW_OK);
        for (uint32_t page = 0; page < 16U; page++) {
            assert_int_equal(nw_nand_page_programs(rig.nand, page), 0);
        }
        check(i);
        assert_int_equal(work(i, NULL), 0);
        layer_rig_close(&rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_reads_as_written),
                                       cmocka_unit_test(test_blocks_that_fail),
                                       cmocka_unit_test(test_errors_of_the_bus),
                                       cmocka_unit_test(test_opening_erases)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: healing costs what the part says, gives the life it says and no more often than it says,
 * leaves a block that must be erased, and is reached through every filter.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "nand_rig.h"
#include "nandwich-twin/faults.h"
#include "nandwich/slice.h"

#define PART "TLC8G-HEAL"

static int heal(struct nand_rig *rig, uint32_t block)
{
    rig->req.block = block;
    return nw_chip_heal(&rig->req);
}

static void costs_time_and_energy_and_the_content(void **state)
{
    struct nand_rig rig;
    struct nw_meter before;

    (void)state;
    rig_open(&rig, PART, 0);
    assert_int_equal(rig_program(&rig, 0, 0, 8192, 0, 0), NW_OK);
    before = *nw_nand_meter(rig.nand);
    assert_int_equal(heal(&rig, 0), NW_OK);
    assert_int_equal(nw_nand_meter(rig.nand)->time_ns - before.time_ns, 3000000000U);
    assert_int_equal(nw_nand_meter(rig.nand)->energy_pj - before.energy_pj, 990000000000U);
    assert_int_equal(nw_nand_stats(rig.nand)->heals, 1);
    assert_int_equal(nw_nand_block_heals(rig.nand, 0), 1);
    assert_int_equal(rig_program(&rig, 1, 0, 8192, 0, 0), NW_ERR_NOT_ERASED);
    rig_expect_misuse(&rig, NW_ERR_NOT_ERASED, NW_VERB_PROGRAM, 1);
    assert_int_equal(rig_erase(&rig, 0), NW_OK);
    assert_int_equal(rig_program(&rig, 0, 0, 8192, 0, 0), NW_OK);
    rig_close_clean(&rig);
}

/* The thesis: 2500 + 2490 + 2480 + ... + 0 = 313,750 erases, 125 times the life without. Here the
 * block is healed at 85 % of each life, below which none dies, so that it never fails. */
static void the_lives_add_up(void **state)
{
    struct nand_rig rig;
    uint32_t erases = 0;

    (void)state;
    rig_open(&rig, PART, NW_NAND_WEAR_OUT);
    for (uint32_t life = 0; life <= 250; life++) {
        uint32_t bar = (2500U - 10U * life) * 85U / 100U;

        for (uint32_t i = 0; i < bar; i++) {
            assert_int_equal(rig_erase(&rig, 3), NW_OK);
        }
        erases += bar;
        assert_int_equal(heal(&rig, 3), life < 250 ? NW_OK : NW_ERR_UNSUPPORTED);
    }
    assert_in_range(erases, 313750U * 85U / 100U - 250U, 313750U * 85U / 100U);
    assert_int_equal(nw_nand_block_erases(rig.nand, 3), erases);
    while (rig_erase(&rig, 3) == NW_OK && rig_program(&rig, 768, 0, 8192, 0, 0) == NW_OK) {
        erases++;
        assert_true(erases < 313750U);
    }
    rig_close_clean(&rig);
}

static void without_healing_a_block_dies_around_its_rating(void **state)
{
    struct nand_rig rig;
    uint32_t erases = 0;

    (void)state;
    rig_open(&rig, PART, NW_NAND_WEAR_OUT);
    while (rig_erase(&rig, 3) == NW_OK && rig_program(&rig, 768, 0, 8192, 0, 0) == NW_OK) {
        erases++;
    }
    assert_in_range(erases, 2125, 3125);
    rig_close_clean(&rig);
}

static void healed_cells_err_like_new_ones(void **state)
{
    struct nand_rig rig;
    uint64_t worn;
    uint64_t healed;

    (void)state;
    rig_open(&rig, PART, NW_NAND_BIT_ERRORS);
    nw_nand_set_erases(rig.nand, 0, 2499);
    assert_int_equal(rig_erase(&rig, 0), NW_OK);
    for (uint32_t page = 0; page < 16; page++) {
        assert_int_equal(rig_program(&rig, page, 0, 8192, 0, 0), NW_OK);
        assert_true(rig_read(&rig, page, 8192, 0) >= 0);
    }
    worn = nw_nand_stats(rig.nand)->bits_flipped;
    assert_int_equal(heal(&rig, 0), NW_OK);
    assert_int_equal(rig_erase(&rig, 0), NW_OK);
    for (uint32_t page = 0; page < 16; page++) {
        assert_int_equal(rig_program(&rig, page, 0, 8192, 0, 0), NW_OK);
        assert_true(rig_read(&rig, page, 8192, 0) >= 0);
    }
    healed = nw_nand_stats(rig.nand)->bits_flipped - worn;
    assert_in_range(worn, 850, 1250); /* 1e-3 of 16 x 65,536 bits */
    assert_in_range(healed, 2, 25);   /* 1e-5 of them */
    rig_close_clean(&rig);
}

static void a_cut_inside_costs_the_content_and_gains_nothing(void **state)
{
    struct nand_rig rig;
    struct nw_cut cut = { .phase = NW_CUT_INSIDE };

    (void)state;
    rig_open(&rig, PART, 0);
    assert_int_equal(rig_erase(&rig, 2), NW_OK);
    nw_nand_cut(rig.nand, &cut);
    assert_int_equal(heal(&rig, 2), NW_ERR_POWER);
    nw_nand_power_up(rig.nand);
    assert_int_equal(nw_nand_block_heals(rig.nand, 2), 0);
    assert_int_equal(rig_program(&rig, 512, 0, 8192, 0, 0), NW_ERR_NOT_ERASED);
    rig_expect_misuse(&rig, NW_ERR_NOT_ERASED, NW_VERB_PROGRAM, 512);
    assert_int_equal(rig_erase(&rig, 2), NW_OK);
    rig_close_clean(&rig);
}

static void an_image_keeps_what_was_healed(void **state)
{
    const char *path = "test_nand_heal.image";
    struct nand_rig rig;
    struct nw_nand *loaded;

    (void)state;
    rig_open(&rig, PART, NW_NAND_WEAR_OUT);
    assert_int_equal(rig_erase(&rig, 1), NW_OK);
    assert_int_equal(heal(&rig, 1), NW_OK);
    assert_int_equal(nw_nand_save(rig.nand, path), NW_OK);
    assert_int_equal(nw_nand_load(&loaded, path, NULL), NW_OK);
    assert_int_equal(nw_nand_block_heals(loaded, 1), 1);
    assert_int_equal(nw_nand_stats(loaded)->heals, 1);
    assert_int_equal(nw_nand_save(loaded, path), NW_OK);
    nw_nand_close(loaded);
    assert_int_equal(remove(path), 0);
    rig_close_clean(&rig);
}

static void goes_through_filters(void **state)
{
    struct nand_rig rig;
    struct nw_slice slice;
    struct nw_faults faults;

    (void)state;
    rig_open(&rig, PART, 0);
    nw_faults_open(&faults, nw_nand_chip(rig.nand), NULL, 0, 1);
    assert_int_equal(nw_slice_open(&slice, &faults.chip, 4, 2), NW_OK);
    assert_int_equal(slice.chip.geometry.heal_life, 2490);
    assert_int_equal(slice.chip.geometry.heal_step, 10);
    assert_int_equal(slice.chip.geometry.heal_limit, 250);
    assert_int_equal(slice.chip.geometry.heal_us, 3000000);
    rig.req.chip = &slice.chip;
    assert_int_equal(heal(&rig, 1), NW_OK);
    assert_int_equal(heal(&rig, 2), NW_ERR_RANGE);
    assert_int_equal(nw_nand_block_heals(rig.nand, 5), 1);
    rig_close_clean(&rig);
}

static void other_parts_say_that_they_cannot(void **state)
{
    struct nand_rig rig;

    (void)state;
    rig_open(&rig, "TLC8G", 0);
    assert_int_equal(nw_nand_chip(rig.nand)->geometry.heal_life, 0);
    assert_int_equal(heal(&rig, 0), NW_ERR_UNSUPPORTED);
    rig_close_clean(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(costs_time_and_energy_and_the_content),
        cmocka_unit_test(the_lives_add_up),
        cmocka_unit_test(without_healing_a_block_dies_around_its_rating),
        cmocka_unit_test(healed_cells_err_like_new_ones),
        cmocka_unit_test(a_cut_inside_costs_the_content_and_gains_nothing),
        cmocka_unit_test(an_image_keeps_what_was_healed),
        cmocka_unit_test(goes_through_filters),
        cmocka_unit_test(other_parts_say_that_they_cannot),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

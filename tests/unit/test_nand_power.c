/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: a power cut strikes the operation it was armed for, before, inside or after it; what it
 * leaves is what chip.h allows, all of it comes up, and nothing else is touched.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "nand_rig.h"

static void arm(struct nand_rig *rig, uint64_t after, uint8_t phase, uint8_t data, uint8_t spare)
{
    struct nw_cut cut = { .after = after, .phase = phase, .data = data, .spare = spare };

    nw_nand_cut(rig->nand, &cut);
}

static void cut_before_and_after(void **state)
{
    struct nand_rig rig;

    (void)state;
    rig_open(&rig, "K9F1G08U0A", 0);
    arm(&rig, 2, NW_CUT_BEFORE, 0, 0);
    assert_int_equal(rig_program(&rig, 0, 0, 2048, 0, 62), NW_OK);
    assert_int_equal(rig_program(&rig, 1, 0, 2048, 0, 62), NW_OK);
    assert_int_equal(rig_program(&rig, 2, 0, 2048, 0, 62), NW_ERR_POWER);
    assert_int_equal(nw_nand_is_off(rig.nand), 1);
    assert_int_equal(rig_read(&rig, 0, 2048, 62), NW_ERR_POWER);
    assert_int_equal(rig_erase(&rig, 0), NW_ERR_POWER);
    nw_nand_power_up(rig.nand);
    assert_int_equal(nw_nand_page_programs(rig.nand, 2), 0);
    assert_int_equal(rig_program(&rig, 2, 0, 2048, 0, 62), NW_OK);
    arm(&rig, 0, NW_CUT_AFTER, 0, 0);
    assert_int_equal(rig_program(&rig, 3, 0, 2048, 0, 62), NW_ERR_POWER);
    nw_nand_power_up(rig.nand);
    assert_int_equal(rig_read(&rig, 3, 2048, 62), 0); /* it had ended */
    assert_int_equal(rig.data[2047], 0xA5);
    assert_int_equal(nw_nand_stats(rig.nand)->power_cuts, 2);
    rig_close_clean(&rig);
}

/* Counts, over many seeds, how a torn program of data 0 and spare 0 over erased 0xFF comes up. */
static void torn_program_shows_every_face(void **state)
{
    uint32_t data_old = 0;
    uint32_t data_new = 0;
    uint32_t data_mixed = 0;
    uint32_t apart = 0;
    uint32_t unsteady = 0;

    (void)state;
    for (uint32_t seed = 1; seed <= 200; seed++) {
        struct nw_part part;
        struct nw_nand_config config = { .part = &part, .blocks = 2, .seed = seed };
        struct nand_rig rig;
        uint8_t first[2048];
        uint32_t zero_data = 0;
        uint32_t zero_spare = 0;

        assert_int_equal(nw_parts_get("K9F1G08U0A", &part), NW_OK);
        rig_open_config(&rig, &config);
        assert_int_equal(rig_program(&rig, 0, 0, 2048, 0, 62), NW_OK);
        rig_fill(&rig, 0x00, 0x00);
        arm(&rig, 0, NW_CUT_INSIDE, NW_TORN_ANY, NW_TORN_ANY);
        assert_int_equal(rig_program(&rig, 1, 0, 2048, 0, 62), NW_ERR_POWER);
        nw_nand_power_up(rig.nand);
        assert_int_equal(rig_read(&rig, 1, 2048, 62), 0);
        for (uint32_t i = 0; i < 2048; i++) {
            zero_data += rig.data[i] == 0x00;
        }
        for (uint32_t i = 0; i < 62; i++) {
            zero_spare += rig.spare[i] == 0x00;
        }
        data_old += zero_data == 0 && rig.data[0] == 0xFF && rig.data[2047] == 0xFF;
        data_new += zero_data == 2048;
        data_mixed += zero_data > 0 && zero_data < 2048;
        apart += (zero_data == 2048) != (zero_spare == 62);
        memcpy(first, rig.data, sizeof first);
        assert_int_equal(rig_read(&rig, 1, 2048, 62), 0);
        assert_memory_equal(first, rig.data, 2048); /* steady until the next power-up */
        nw_nand_power_up(rig.nand);
        assert_int_equal(rig_read(&rig, 1, 2048, 62), 0);
        unsteady += memcmp(first, rig.data, 2048) != 0;
        assert_int_equal(rig_read(&rig, 0, 2048, 62), 0); /* the page beside it is whole */
        assert_int_equal(rig.data[77], 0xA5);
        rig_close_clean(&rig);
    }
    assert_in_range(data_old, 20, 60);  /* one of five faces: 40 of 200 expected */
    assert_in_range(data_new, 20, 60);
    assert_in_range(data_mixed, 80, 160);
    assert_in_range(apart, 40, 100); /* data and spare fare apart */
    assert_in_range(unsteady, 120, 200);
}

static void torn_page_is_not_programmed_again(void **state)
{
    struct nand_rig rig;

    (void)state;
    rig_open(&rig, "K9F1G08U0A", 0);
    arm(&rig, 0, NW_CUT_INSIDE, NW_TORN_OLD, NW_TORN_OLD);
    assert_int_equal(rig_program(&rig, 5, 0, 512, 0, 14), NW_ERR_POWER);
    nw_nand_power_up(rig.nand);
    assert_int_equal(rig_read(&rig, 5, 2048, 62), 0);
    assert_int_equal(rig.data[0], 0xFF); /* looks erased */
    assert_int_equal(rig.spare[0], 0xFF);
    assert_int_equal(rig_program(&rig, 5, 512, 512, 14, 14), NW_ERR_NOT_ERASED);
    rig_expect_misuse(&rig, NW_ERR_NOT_ERASED, NW_VERB_PROGRAM, 5);
    assert_int_equal(rig_program(&rig, 6, 0, 512, 0, 14), NW_OK); /* skipped, as chip.h says */
    assert_int_equal(rig_erase(&rig, 0), NW_OK);
    assert_int_equal(rig_program(&rig, 5, 0, 512, 0, 14), NW_OK);
    assert_int_equal(rig_read(&rig, 5, 512, 14), 0);
    assert_int_equal(rig.data[511], 0xFF); /* what was read above: the erase ended the tear */
    rig_close_clean(&rig);
}

static void only_the_torn_bytes_are_torn(void **state)
{
    struct nand_rig rig;

    (void)state;
    rig_open(&rig, "K9F1G08U0A", 0);
    rig_fill(&rig, 0x00, 0x00);
    assert_int_equal(rig_program(&rig, 0, 0, 512, 0, 14), NW_OK);
    arm(&rig, 0, NW_CUT_INSIDE, NW_TORN_HALF, NW_TORN_HALF);
    assert_int_equal(rig_program(&rig, 0, 512, 512, 14, 14), NW_ERR_POWER);
    nw_nand_power_up(rig.nand);
    assert_int_equal(rig_read(&rig, 0, 2048, 62), 0);
    for (uint32_t i = 0; i < 512; i++) {
        assert_int_equal(rig.data[i], 0x00);
    }
    for (uint32_t i = 1024; i < 2048; i++) {
        assert_int_equal(rig.data[i], 0xFF);
    }
    assert_int_equal(rig.spare[13], 0x00);
    assert_int_equal(rig.spare[28], 0xFF);
    rig_close_clean(&rig);
}

static void torn_erase_must_be_done_again(void **state)
{
    static const uint8_t faces[] = { NW_TORN_OLD, NW_TORN_NEW, NW_TORN_HALF, NW_TORN_RANDOM,
                                     NW_TORN_ANY };

    (void)state;
    for (size_t i = 0; i < sizeof faces; i++) {
        struct nand_rig rig;

        rig_open(&rig, "K9F1G08U0A", 0);
        assert_int_equal(rig_program(&rig, 64, 0, 2048, 0, 62), NW_OK);
        assert_int_equal(rig_program(&rig, 128, 0, 2048, 0, 62), NW_OK);
        arm(&rig, 0, NW_CUT_INSIDE, faces[i], 0);
        assert_int_equal(rig_erase(&rig, 1), NW_ERR_POWER);
        nw_nand_power_up(rig.nand);
        assert_int_equal(rig_read(&rig, 64, 2048, 62), 0); /* legal: who could know? */
        if (faces[i] == NW_TORN_OLD) {
            assert_int_equal(rig.data[9], 0xA5);
            assert_int_equal(rig.spare[9], 0x5A);
        } else if (faces[i] == NW_TORN_NEW) {
            assert_int_equal(rig.data[9], 0xFF);
            assert_int_equal(rig.spare[9], 0xFF);
        }
        assert_int_equal(rig_program(&rig, 65, 0, 2048, 0, 62), NW_ERR_NOT_ERASED);
        rig_expect_misuse(&rig, NW_ERR_NOT_ERASED, NW_VERB_PROGRAM, 65);
        assert_int_equal(nw_nand_block_erases(rig.nand, 1), 1);
        assert_int_equal(rig_erase(&rig, 1), NW_OK);
        assert_int_equal(rig_program(&rig, 64, 0, 2048, 0, 62), NW_OK);
        assert_int_equal(rig_read(&rig, 128, 0, 62), 0); /* the neighbour is untouched */
        assert_int_equal(rig.spare[0], 0x5A);
        rig_close_clean(&rig);
    }
}

static void random_torn_erase_is_noise_in_unwritten_pages_too(void **state)
{
    struct nand_rig rig;
    uint32_t erased = 0;

    (void)state;
    rig_open(&rig, "K9F1G08U0A", 0);
    arm(&rig, 0, NW_CUT_INSIDE, NW_TORN_RANDOM, 0);
    assert_int_equal(rig_erase(&rig, 2), NW_ERR_POWER);
    nw_nand_power_up(rig.nand);
    assert_int_equal(rig_read(&rig, 130, 2048, 0), 0);
    for (uint32_t i = 0; i < 2048; i++) {
        erased += rig.data[i] == 0xFF;
    }
    assert_in_range(erased, 1, 40);
    rig_close_clean(&rig);
}

static void cut_in_mark_bad(void **state)
{
    struct nand_rig rig;

    (void)state;
    rig_open(&rig, "K9F1G08U0A", 0);
    rig.req.block = 1;
    arm(&rig, 0, NW_CUT_INSIDE, NW_TORN_OLD, 0);
    assert_int_equal(nw_chip_mark_bad(&rig.req), NW_ERR_POWER);
    nw_nand_power_up(rig.nand);
    assert_int_equal(nw_chip_is_bad(&rig.req), 0);
    arm(&rig, 0, NW_CUT_INSIDE, NW_TORN_NEW, 0);
    assert_int_equal(nw_chip_mark_bad(&rig.req), NW_ERR_POWER);
    nw_nand_power_up(rig.nand);
    assert_int_equal(nw_chip_is_bad(&rig.req), 1);
    rig_close_clean(&rig);
}

/* Every verb can be cut in every phase, and a cut inside costs half of what the verb costs. */
static void every_verb_every_phase(void **state)
{
    (void)state;
    for (uint64_t verb = 0; verb < 6; verb++) {
        for (uint8_t phase = NW_CUT_BEFORE; phase <= NW_CUT_AFTER; phase++) {
            struct nand_rig rig;
            uint64_t before;
            uint64_t full;
            int (*const verbs[])(struct nw_chip_req *) = { nw_chip_read,   nw_chip_program,
                                                           nw_chip_erase,  nw_chip_is_bad,
                                                           nw_chip_copy,   nw_chip_mark_bad };
            static const uint64_t costs_ns[] = { 25000 + 2110 * 30, 200000 + 2110 * 30, 2000000,
                                                 25030, 225000 + 62 * 30, 200030 };

            rig_open(&rig, "K9F1G08U0A", 0);
            assert_int_equal(rig_program(&rig, 0, 0, 2048, 0, 62), NW_OK);
            rig.req.page = verb == 1 ? 1 : 0;
            rig.req.to_page = 64;
            rig.req.block = 2;
            before = nw_nand_meter(rig.nand)->time_ns;
            arm(&rig, 0, phase, 0, 0);
            assert_int_equal(verbs[verb](&rig.req), NW_ERR_POWER);
            full = phase == NW_CUT_BEFORE ? 0 : costs_ns[verb] / (phase == NW_CUT_INSIDE ? 2 : 1);
            assert_int_equal(nw_nand_meter(rig.nand)->time_ns - before, full);
            assert_int_equal(verbs[verb](&rig.req), NW_ERR_POWER);
            nw_nand_power_up(rig.nand);
            assert_int_equal(rig_read(&rig, 0, 2048, 62), 0);
            assert_int_equal(rig.data[0], 0xA5);
            rig_close_clean(&rig);
        }
    }
}

static void forks_go_their_own_ways(void **state)
{
    struct nand_rig rig;
    struct nand_rig other;
    struct nw_nand *fork;

    (void)state;
    rig_open(&rig, "K9F1G08U0A", 0);
    other = rig;
    arm(&rig, 0, NW_CUT_INSIDE, NW_TORN_HALF, NW_TORN_HALF);
    assert_int_equal(rig_program(&rig, 0, 0, 2048, 0, 62), NW_ERR_POWER);
    nw_nand_power_up(rig.nand);
    assert_int_equal(rig_program(&rig, 1, 0, 512, 0, 14), NW_OK);
    arm(&rig, 0, NW_CUT_BEFORE, 0, 0);
    assert_int_equal(rig_program(&rig, 1, 512, 512, 0, 14), NW_ERR_POWER);
    assert_int_equal(nw_nand_fork(&fork, rig.nand), NW_OK);
    rig_use(&other, fork);
    assert_int_equal(nw_nand_is_off(fork), 1);
    nw_nand_power_up(rig.nand);
    nw_nand_power_up(fork);
    for (uint32_t page = 0; page < 2; page++) { /* the same content, the torn page included */
        assert_int_equal(rig_read(&rig, page, 2048, 62), 0);
        assert_int_equal(rig_read(&other, page, 2048, 62), 0);
        assert_memory_equal(rig.data, other.data, 2048);
        assert_memory_equal(rig.spare, other.spare, 62);
    }
    assert_int_equal(nw_nand_meter(fork)->time_ns, nw_nand_meter(rig.nand)->time_ns);
    assert_int_equal(rig_program(&other, 1, 500, 16, 0, 0), NW_ERR_NOT_ERASED);
    rig_expect_misuse(&other, NW_ERR_NOT_ERASED, NW_VERB_PROGRAM, 1);
    assert_int_equal(rig_program(&other, 1, 0, 0, 8, 8), NW_ERR_NOT_ERASED);
    rig_expect_misuse(&other, NW_ERR_NOT_ERASED, NW_VERB_PROGRAM, 1);
    assert_int_equal(rig_erase(&other, 0), NW_OK);
    rig_fill(&other, 0x11, 0x11);
    assert_int_equal(rig_program(&other, 0, 0, 2048, 0, 62), NW_OK);
    assert_int_equal(rig_program(&other, 1, 0, 2048, 0, 62), NW_OK);
    assert_int_equal(rig_read(&rig, 1, 2048, 62), 0);
    assert_int_equal(rig.data[0], 0xA5);
    assert_int_equal(nw_nand_block_erases(rig.nand, 0), 0);
    assert_int_equal(rig_program(&rig, 1, 512, 512, 14, 14), NW_OK); /* still free here */
    assert_true(nw_nand_meter(fork)->time_ns > nw_nand_meter(rig.nand)->time_ns);
    assert_int_equal(nw_nand_assign(fork, rig.nand), NW_OK); /* back to the other's state */
    assert_int_equal(rig_read(&other, 1, 2048, 62), 0);
    assert_int_equal(other.data[0], 0xA5);
    assert_int_equal(rig_program(&other, 0, 0, 16, 0, 0), NW_ERR_ORDER);
    rig_expect_misuse(&other, NW_ERR_ORDER, NW_VERB_PROGRAM, 0);
    rig_close_clean(&other);
    rig_close_clean(&rig);
}

static void assign_wants_one_shape(void **state)
{
    struct nand_rig rig;
    struct nand_rig other;

    (void)state;
    rig_open(&rig, "K9F1G08U0A", 0);
    rig_open(&other, "TC58DVG02A1FT00", 0);
    assert_int_equal(nw_nand_assign(rig.nand, other.nand), NW_ERR_CONFIG);
    rig_close_clean(&rig);
    rig_close_clean(&other);
}

/* One script and one seed: the same bytes, time and energy. Another seed: other bytes. */
static void runs_repeat_to_the_bit(void **state)
{
    uint8_t images[3][2048];
    uint64_t energy[3];

    (void)state;
    for (uint32_t run = 0; run < 3; run++) {
        struct nw_part part;
        struct nw_nand_config config = { .part = &part, .blocks = 2, .seed = run == 2 ? 8 : 7 };
        struct nand_rig rig;

        assert_int_equal(nw_parts_get("K9F1G08U0A", &part), NW_OK);
        rig_open_config(&rig, &config);
        rig_fill(&rig, 0x00, 0x00);
        arm(&rig, 1, NW_CUT_INSIDE, NW_TORN_HALF, NW_TORN_HALF);
        assert_int_equal(rig_program(&rig, 0, 0, 2048, 0, 62), NW_OK);
        assert_int_equal(rig_program(&rig, 1, 0, 2048, 0, 62), NW_ERR_POWER);
        nw_nand_power_up(rig.nand);
        assert_int_equal(rig_read(&rig, 1, 2048, 62), 0);
        memcpy(images[run], rig.data, sizeof images[run]);
        energy[run] = nw_nand_meter(rig.nand)->energy_pj;
        rig_close_clean(&rig);
    }
    assert_memory_equal(images[0], images[1], 2048);
    assert_memory_not_equal(images[0], images[2], 2048);
    assert_int_equal(energy[0], energy[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cut_before_and_after),
        cmocka_unit_test(torn_program_shows_every_face),
        cmocka_unit_test(torn_page_is_not_programmed_again),
        cmocka_unit_test(only_the_torn_bytes_are_torn),
        cmocka_unit_test(torn_erase_must_be_done_again),
        cmocka_unit_test(random_torn_erase_is_noise_in_unwritten_pages_too),
        cmocka_unit_test(cut_in_mark_bad),
        cmocka_unit_test(every_verb_every_phase),
        cmocka_unit_test(forks_go_their_own_ways),
        cmocka_unit_test(assign_wants_one_shape),
        cmocka_unit_test(runs_repeat_to_the_bit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

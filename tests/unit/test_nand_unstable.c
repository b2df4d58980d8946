/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: with NW_NAND_UNSTABLE a page whose program, and each page of a block whose erase, did not
 * end shows content or cannot be read, or shows blank or cannot be read, drawn at each read; never
 * content in one read and blank in another; the block's next erase makes it sound. Forks and images
 * go on as the chip does.
 */
#define _DEFAULT_SOURCE /* mkstemp */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "nand_rig.h"

#define READS 40U
#define SEEDS 200U

enum shown { BLANK = 1, CONTENT = 2, UNREADABLE = 4 };

/* A chip of 0xA5 and 0x5A, with or without ECC. */
static void open_unstable(struct nand_rig *rig, uint32_t seed, uint16_t ecc_bits)
{
    struct nw_part part;
    struct nw_nand_config config = { .part = &part, .blocks = 4, .seed = seed };

    config.flags = NW_NAND_UNSTABLE;
    assert_int_equal(nw_parts_get("K9F1G08U0A", &part), NW_OK);
    part.ecc_bits = ecc_bits;
    part.ecc_bytes = 512;
    rig_open_config(rig, &config);
}

static void cut(struct nand_rig *rig, uint8_t data)
{
    nw_nand_cut(rig->nand, &(struct nw_cut){ .phase = NW_CUT_INSIDE, .data = data });
}

static void cut_program(struct nand_rig *rig, uint32_t page, uint8_t data)
{
    rig_fill(rig, 0xA5, 0x5A);
    cut(rig, data);
    assert_int_equal(rig_program(rig, page, 0, 2048, 0, 62), NW_ERR_POWER);
    nw_nand_power_up(rig->nand);
}

static void cut_erase(struct nand_rig *rig, uint32_t block, uint8_t data)
{
    cut(rig, data);
    assert_int_equal(rig_erase(rig, block), NW_ERR_POWER);
    nw_nand_power_up(rig->nand);
}

static uint32_t count(const uint8_t *bytes, uint32_t length, uint8_t value)
{
    uint32_t same = 0;

    for (uint32_t i = 0; i < length; i++) {
        same += bytes[i] == value;
    }
    return same;
}

/* What one read shows; data and spare bytes are of one face. */
static enum shown look(struct nand_rig *rig, uint32_t page)
{
    int result = rig_read(rig, page, 2048, 62);

    if (count(rig->data, 2048, 0xA5) == 2048U && count(rig->spare, 62, 0x5A) == 62U) {
        assert_true(result >= 0);
        return CONTENT;
    }
    if (count(rig->data, 2048, 0xFF) == 2048U && count(rig->spare, 62, 0xFF) == 62U) {
        assert_true(result >= 0);
        return BLANK;
    }
    assert_int_equal(result, nw_nand_part(rig->nand)->ecc_bits > 0 ? (int)NW_ERR_ECC : 0);
    return UNREADABLE;
}

/* All that a page shows in two sessions: a set. */
static uint32_t look_often(struct nand_rig *rig, uint32_t page)
{
    uint32_t shown = 0;

    for (uint32_t i = 0; i < READS; i++) {
        if (i == READS / 2U) {
            nw_nand_power_up(rig->nand);
        }
        shown |= look(rig, page);
    }
    assert_int_not_equal(shown & (BLANK | CONTENT), BLANK | CONTENT);
    return shown;
}

/* Each set comes up: a kind alone, the same with errors between, errors alone. */
static void expect_every_set(const uint32_t *seen)
{
    assert_true(seen[BLANK] > 0 && seen[CONTENT] > 0 && seen[UNREADABLE] > 0);
    assert_true(seen[BLANK | UNREADABLE] > 10U && seen[CONTENT | UNREADABLE] > 10U);
}

static void a_torn_page_is_of_one_kind(void **state)
{
    for (uint16_t ecc_bits = 0; ecc_bits < 2U; ecc_bits++) {
        uint32_t seen[8] = { 0 };

        (void)state;
        for (uint32_t seed = 1; seed <= SEEDS; seed++) {
            struct nand_rig rig;

            open_unstable(&rig, seed, ecc_bits);
            assert_int_equal(rig_program(&rig, 0, 0, 2048, 0, 62), NW_OK);
            cut_program(&rig, 1, NW_TORN_ANY);
            seen[look_often(&rig, 1)]++;
            assert_int_equal(look_often(&rig, 0), CONTENT); /* the page beside it is sound */
            assert_int_equal(rig_program(&rig, 1, 0, 2048, 0, 62), NW_ERR_NOT_ERASED);
            rig_expect_misuse(&rig, NW_ERR_NOT_ERASED, NW_VERB_PROGRAM, 1);
            assert_int_equal(rig_erase(&rig, 0), NW_OK);
            rig_fill(&rig, 0xA5, 0x5A);
            assert_int_equal(rig_program(&rig, 1, 0, 2048, 0, 62), NW_OK);
            assert_int_equal(look_often(&rig, 1), CONTENT); /* the erase has made it sound */
            rig_close_clean(&rig);
        }
        expect_every_set(seen);
    }
}

/* Pages of one block may be of both kinds, or all of one; pages never programmed are blank. */
static void a_torn_erase_leaves_each_page_a_kind(void **state)
{
    uint32_t seen[8] = { 0 };
    uint32_t whole[8] = { 0 };

    (void)state;
    for (uint32_t seed = 1; seed <= SEEDS; seed++) {
        struct nand_rig rig;
        uint32_t kinds = 0;

        open_unstable(&rig, seed, 1);
        for (uint32_t page = 64; page < 70U; page++) {
            assert_int_equal(rig_program(&rig, page, 0, 2048, 0, 62), NW_OK);
        }
        cut_erase(&rig, 1, NW_TORN_ANY);
        for (uint32_t page = 64; page < 70U; page++) {
            uint32_t shown = look_often(&rig, page);

            seen[shown]++;
            kinds |= shown & (BLANK | CONTENT);
        }
        whole[kinds]++;
        assert_int_equal(look_often(&rig, 70) & CONTENT, 0);
        assert_int_equal(rig_program(&rig, 71, 0, 2048, 0, 62), NW_ERR_NOT_ERASED);
        rig_expect_misuse(&rig, NW_ERR_NOT_ERASED, NW_VERB_PROGRAM, 71);
        assert_int_equal(rig_erase(&rig, 1), NW_OK);
        rig_fill(&rig, 0xA5, 0x5A);
        assert_int_equal(rig_program(&rig, 64, 0, 2048, 0, 62), NW_OK);
        assert_int_equal(look_often(&rig, 64), CONTENT);
        rig_close_clean(&rig);
    }
    expect_every_set(seen);
    assert_true(whole[BLANK] > 20U && whole[CONTENT] > 20U && whole[BLANK | CONTENT] > 20U);
}

/* A second erase that is cut may take content away, and brings none back. */
static void blank_stays_blank_through_cut_erases(void **state)
{
    uint32_t lost = 0;

    (void)state;
    for (uint32_t seed = 1; seed <= SEEDS; seed++) {
        struct nand_rig rig;

        open_unstable(&rig, seed, 1);
        cut_program(&rig, 0, NW_TORN_ANY);
        uint32_t before = look_often(&rig, 0);

        for (uint32_t i = 0; i < 4U; i++) {
            cut_erase(&rig, 0, NW_TORN_ANY);
            uint32_t after = look_often(&rig, 0);

            assert_false((before & BLANK) != 0 && (after & CONTENT) != 0);
            lost += (before & CONTENT) != 0 && (after & BLANK) != 0;
            before = after;
        }
        rig_close_clean(&rig);
    }
    assert_true(lost > 20U);
}

static void a_fixed_cut_fixes_the_kind(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= 30U; seed++) {
        struct nand_rig rig;

        open_unstable(&rig, seed, 1);
        cut_program(&rig, 0, NW_TORN_OLD);
        cut_program(&rig, 1, NW_TORN_NEW);
        cut_program(&rig, 2, NW_TORN_HALF);
        assert_int_equal(look_often(&rig, 0) & CONTENT, 0);
        assert_int_equal(look_often(&rig, 1) & BLANK, 0);
        assert_int_equal(look_often(&rig, 2), UNREADABLE);
        rig_fill(&rig, 0xA5, 0x5A);
        assert_int_equal(rig_program(&rig, 64, 0, 2048, 0, 62), NW_OK);
        assert_int_equal(rig_program(&rig, 128, 0, 2048, 0, 62), NW_OK);
        cut_erase(&rig, 1, NW_TORN_OLD);
        cut_erase(&rig, 2, NW_TORN_NEW);
        assert_int_equal(look_often(&rig, 64) & BLANK, 0);
        assert_int_equal(look_often(&rig, 128) & CONTENT, 0);
        rig_close_clean(&rig);
    }
}

/* Of a program of parts the others read as ever. */
static void other_parts_of_the_page_are_sound(void **state)
{
    struct nand_rig rig;

    (void)state;
    open_unstable(&rig, 3, 1);
    assert_int_equal(rig_program(&rig, 0, 0, 512, 0, 14), NW_OK);
    cut(&rig, NW_TORN_HALF);
    assert_int_equal(rig_program(&rig, 0, 512, 512, 14, 14), NW_ERR_POWER);
    nw_nand_power_up(rig.nand);
    assert_int_equal(rig_read(&rig, 0, 512, 14), 0);
    assert_int_equal(count(rig.data, 512, 0xA5), 512);
    assert_int_equal(rig_read(&rig, 0, 513, 0), NW_ERR_ECC);
    assert_int_equal(rig_read(&rig, 0, 0, 15), NW_ERR_ECC);
    rig_close_clean(&rig);
}

static void a_copy_of_what_cannot_be_read_programs_nothing(void **state)
{
    struct nand_rig rig;

    (void)state;
    open_unstable(&rig, 3, 1);
    cut_program(&rig, 0, NW_TORN_HALF);
    rig.req.to_page = 1;
    assert_int_equal(nw_chip_copy(&rig.req), NW_ERR_ECC);
    assert_int_equal(nw_nand_page_programs(rig.nand, 1), 0);
    rig_fill(&rig, 0xA5, 0x5A);
    assert_int_equal(rig_program(&rig, 1, 0, 2048, 0, 62), NW_OK);
    rig_close_clean(&rig);
}

static void forks_and_images_show_the_same(void **state)
{
    char path[] = "/tmp/nand_unstable_XXXXXX";
    int file = mkstemp(path);

    (void)state;
    assert_true(file >= 0);
    assert_int_equal(close(file), 0);
    for (uint32_t seed = 1; seed <= 20U; seed++) {
        struct nand_rig rigs[3];

        open_unstable(&rigs[0], seed, 1);
        rigs[1] = rigs[0];
        rigs[2] = rigs[0];
        cut_program(&rigs[0], 0, NW_TORN_ANY);
        assert_int_equal(rig_program(&rigs[0], 64, 0, 2048, 0, 62), NW_OK);
        cut_erase(&rigs[0], 1, NW_TORN_ANY);
        assert_int_equal(nw_nand_fork(&rigs[1].nand, rigs[0].nand), NW_OK);
        assert_int_equal(nw_nand_save(rigs[0].nand, path), NW_OK);
        assert_int_equal(nw_nand_load(&rigs[2].nand, path, NULL), NW_OK);
        rig_use(&rigs[1], rigs[1].nand);
        rig_use(&rigs[2], rigs[2].nand);
        for (uint32_t i = 0; i < READS; i++) {
            enum shown shown = look(&rigs[0], i % 2U * 64U);

            assert_int_equal(look(&rigs[1], i % 2U * 64U), shown);
            assert_int_equal(look(&rigs[2], i % 2U * 64U), shown);
        }
        for (uint32_t i = 0; i < 3U; i++) {
            rig_close_clean(&rigs[i]);
        }
    }
    assert_int_equal(remove(path), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_torn_page_is_of_one_kind),
        cmocka_unit_test(a_torn_erase_leaves_each_page_a_kind),
        cmocka_unit_test(blank_stays_blank_through_cut_erases),
        cmocka_unit_test(a_fixed_cut_fixes_the_kind),
        cmocka_unit_test(other_parts_of_the_page_are_sound),
        cmocka_unit_test(a_copy_of_what_cannot_be_read_programs_nothing),
        cmocka_unit_test(forks_and_images_show_the_same),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

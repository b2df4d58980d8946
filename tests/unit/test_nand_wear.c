/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: blocks die around their rating and by no other rule, factory-bad blocks are as many as the
 * part allows, and bits flip as often as the part's curve says, in fixed places until written anew.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "nand_rig.h"

/* A small part of one program a page; fields as text. */
static void small_part(struct nw_part *part, const char *const (*fields)[2], size_t count)
{
    nw_part_init(part);
    assert_int_equal(nw_part_set(part, "name", "SMALL"), NW_OK);
    assert_int_equal(nw_part_set(part, "blocks", "1000"), NW_OK);
    assert_int_equal(nw_part_set(part, "block_pages", "2"), NW_OK);
    assert_int_equal(nw_part_set(part, "page_bytes", "2048 B"), NW_OK);
    assert_int_equal(nw_part_set(part, "program_bytes", "2048 B"), NW_OK);
    assert_int_equal(nw_part_set(part, "spare_bytes", "32 B"), NW_OK);
    assert_int_equal(nw_part_set(part, "endurance", "100"), NW_OK);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(nw_part_set(part, fields[i][0], fields[i][1]), NW_OK);
    }
}

/* Erases and programs a block until it fails; answers at which erase, and whether in a program. */
static uint32_t wear_out(struct nand_rig *rig, uint32_t block, int *in_program)
{
    for (uint32_t cycle = 1; cycle < 1000; cycle++) {
        int result = rig_erase(rig, block);

        *in_program = 0;
        for (uint32_t page = 0; result == NW_OK && page < 2; page++) {
            *in_program = 1;
            result = rig_program(rig, 2 * block + page, 0, 0, 0, 1);
        }
        if (result != NW_OK) {
            assert_int_equal(result, *in_program ? NW_ERR_PROGRAM : NW_ERR_ERASE);
            return cycle;
        }
    }
    return 1000;
}

/* Told lives count as drawn ones do: a block fails in its last erase, or in the one behind it. */
static void lives_may_be_told(void **state)
{
    static const uint32_t lives[] = { 7, 0, 300, 20 };
    struct nw_part part;
    struct nw_nand_config config = {
        .part = &part, .blocks = 4, .seed = 3, .lives = lives,
        .flags = NW_NAND_WEAR_OUT | NW_NAND_FACTORY_BAD
    };
    struct nand_rig rig;

    (void)state;
    small_part(&part, NULL, 0);
    rig_open_config(&rig, &config);
    for (uint32_t block = 0; block < 4; block++) {
        int how;

        assert_int_equal(nw_nand_block_bad(rig.nand, block), lives[block] == 0);
        if (lives[block] != 0) {
            uint32_t at = wear_out(&rig, block, &how);

            assert_in_range(at, lives[block], lives[block] + 1);
        }
    }
    rig_close_clean(&rig);
}

static void blocks_die_around_their_rating(void **state)
{
    struct nw_part part;
    struct nw_nand_config config = { .part = &part, .seed = 3, .flags = NW_NAND_WEAR_OUT };
    struct nand_rig rig;
    uint32_t least = UINT32_MAX;
    uint32_t most = 0;
    uint32_t sum = 0;
    uint32_t in_program = 0;
    uint32_t before_rating = 0;
    static const uint32_t first_lives[] = { 103, 102, 105, 106, 100, 104 };

    (void)state;
    small_part(&part, NULL, 0);
    rig_open_config(&rig, &config);
    for (uint32_t block = 0; block < 1000; block++) {
        int how;
        uint32_t at = wear_out(&rig, block, &how);

        if (block < 6) { /* a change of the draw, or of what a life means, shows here */
            assert_int_equal(at, first_lives[block]);
            assert_int_equal(how, block != 4);
        }
        least = at < least ? at : least;
        most = at > most ? at : most;
        sum += at;
        in_program += how != 0;
        before_rating += at <= 100;
        assert_int_equal(nw_nand_block_failed(rig.nand, block), 1);
        assert_int_equal(rig_erase(&rig, block), NW_ERR_ERASE); /* for ever */
    }
    assert_in_range(least, 85, 95);
    assert_in_range(most, 115, 128);
    assert_in_range(sum, 103000, 108000); /* mean life 105 of a rating of 100 */
    assert_in_range(in_program, 400, 600);
    assert_in_range(before_rating, 100, 300); /* rising around the rating */
    assert_int_equal(nw_nand_stats(rig.nand)->failures, 2000);
    rig_close_clean(&rig);
}

static void early_deaths_are_as_many_as_asked(void **state)
{
    struct nw_part part;
    struct nw_nand_config config = { .part = &part, .seed = 3, .flags = NW_NAND_WEAR_OUT,
                                     .early_deaths = 6554 }; /* one in ten */
    struct nand_rig rig;
    uint32_t early = 0;

    (void)state;
    small_part(&part, NULL, 0);
    rig_open_config(&rig, &config);
    for (uint32_t block = 0; block < 1000; block++) {
        int how;

        early += wear_out(&rig, block, &how) < 84;
    }
    assert_in_range(early, 60, 110);
    rig_close_clean(&rig);
}

static void without_wear_out_nothing_dies(void **state)
{
    struct nand_rig rig;

    (void)state;
    rig_open(&rig, "K9LBG08U0M", 0);
    nw_nand_set_erases(rig.nand, 0, 1000000);
    assert_int_equal(rig_erase(&rig, 0), NW_OK);
    assert_int_equal(nw_nand_block_erases(rig.nand, 0), 1000001);
    assert_int_equal(rig_program(&rig, 0, 0, 4096, 0, 0), NW_OK);
    rig_close_clean(&rig);
}

static void a_doomed_block_fails_once_asked(void **state)
{
    struct nand_rig rig;

    (void)state;
    rig_open(&rig, "K9F1G08U0A", 0);
    assert_int_equal(rig_program(&rig, 0, 0, 2048, 0, 62), NW_OK);
    nw_nand_doom(rig.nand, 0, 1);
    rig_fill(&rig, 0, 0);
    assert_int_equal(rig_program(&rig, 1, 0, 2048, 0, 62), NW_ERR_PROGRAM);
    assert_int_equal(rig_program(&rig, 1, 0, 2048, 0, 62), NW_ERR_NOT_ERASED);
    rig_expect_misuse(&rig, NW_ERR_NOT_ERASED, NW_VERB_PROGRAM, 1);
    assert_int_equal(rig_read(&rig, 0, 2048, 62), 0); /* the rest can still be read */
    assert_int_equal(rig.data[5], 0xA5);
    assert_int_equal(rig_erase(&rig, 0), NW_ERR_ERASE);
    nw_nand_doom(rig.nand, 1, 0);
    assert_int_equal(rig_program(&rig, 64, 0, 2048, 0, 62), NW_OK);
    assert_int_equal(rig_erase(&rig, 1), NW_ERR_ERASE);
    rig_close_clean(&rig);
}

static void factory_bad_blocks(void **state)
{
    struct nw_part part;
    uint32_t most = 0;
    uint32_t sum = 0;

    (void)state;
    assert_int_equal(nw_parts_get("K9F1G08U0A", &part), NW_OK);
    for (uint32_t seed = 0; seed < 50; seed++) {
        struct nw_nand_config config = { .part = &part, .seed = seed,
                                         .flags = NW_NAND_FACTORY_BAD | NW_NAND_NO_PAYLOAD };
        struct nand_rig rig;
        uint32_t bad = 0;

        rig_open_config(&rig, &config);
        for (uint32_t block = 0; block < 1024; block++) {
            rig.req.block = block;
            assert_int_equal(nw_chip_is_bad(&rig.req), nw_nand_block_bad(rig.nand, block));
            bad += (uint32_t)nw_nand_block_bad(rig.nand, block);
        }
        assert_int_equal(nw_nand_block_bad(rig.nand, 0), 0);
        most = bad > most ? bad : most;
        sum += bad;
        rig_close_clean(&rig);
    }
    assert_in_range(most, 15, 20);
    assert_in_range(sum, 350, 650); /* 10 a part on the average */
}

static uint32_t count_flips(const uint8_t *bytes, uint32_t length, uint8_t wanted)
{
    uint32_t flips = 0;

    for (uint32_t i = 0; i < length; i++) {
        flips += (uint32_t)__builtin_popcount(bytes[i] ^ wanted);
    }
    return flips;
}

/* Reads 2000 pages at a given wear; answers the flipped bits of 2000 x 2048 x 8 = 32.8 M. */
static uint32_t flips_at(uint32_t erases, const char *curve)
{
    const char *const fields[][2] = { { "errors", curve } };
    struct nw_part part;
    struct nw_nand_config config = { .part = &part, .seed = 11, .flags = NW_NAND_BIT_ERRORS };
    struct nand_rig rig;
    uint32_t flips = 0;

    small_part(&part, fields, 1);
    rig_open_config(&rig, &config);
    for (uint32_t block = 0; block < 1000; block++) {
        nw_nand_set_erases(rig.nand, block, erases);
    }
    for (uint32_t page = 0; page < 2000; page++) {
        rig_fill(&rig, 0xA5, 0x5A);
        assert_int_equal(rig_program(&rig, page, 0, 2048, 0, 0), NW_OK);
        assert_int_equal(rig_read(&rig, page, 2048, 0), 0);
        flips += count_flips(rig.data, 2048, 0xA5);
    }
    assert_int_equal(nw_nand_stats(rig.nand)->bits_flipped, flips);
    rig_close_clean(&rig);
    return flips;
}

/* Expected counts +- 5 standard deviations (Poisson). */
static void flips_follow_the_curve(void **state)
{
    static const char curve[] = "100:1000000 200:100000000 300:4000000000";

    (void)state;
    assert_in_range(flips_at(0, curve), 5, 62);              /* flat below: 1e-6, 33 bits */
    assert_in_range(flips_at(100, curve), 5, 62);
    assert_in_range(flips_at(150, curve), 1451, 1858);       /* half way: 50.5e-6, 1655 bits */
    assert_in_range(flips_at(200, curve), 2990, 3563);       /* 1e-4, 3277 bits */
    assert_in_range(flips_at(300, curve), 129200, 132900);   /* 4e-3, 131 072 bits */
    assert_in_range(flips_at(5000, curve), 129200, 132900);  /* flat above */
    assert_in_range(flips_at(9, "0:10000000000"), 324800, 330500); /* the most: 1e-2 */
    assert_int_equal(flips_at(100, ""), 0);
}

static void flips_stay_until_written_anew(void **state)
{
    static const char *const fields[][2] = { { "errors", "0:1000000000" } };
    struct nw_part part;
    struct nw_nand_config config = { .part = &part, .seed = 5, .flags = NW_NAND_BIT_ERRORS };
    struct nand_rig rig;
    uint8_t first[2048];
    uint8_t spare[32];

    (void)state;
    small_part(&part, fields, 1);
    rig_open_config(&rig, &config);
    assert_int_equal(rig_program(&rig, 1, 0, 2048, 0, 32), NW_OK);
    assert_int_equal(rig_read(&rig, 1, 2048, 32), 0);
    memcpy(first, rig.data, sizeof first);
    memcpy(spare, rig.spare, sizeof spare);
    assert_true(count_flips(first, 2048, 0xA5) > 3);
    assert_int_equal(rig_read(&rig, 1, 2048, 32), 0);
    assert_memory_equal(rig.data, first, sizeof first);
    assert_memory_equal(rig.spare, spare, sizeof spare);
    rig.req.offset = 700; /* a part of the page shows the same flips */
    rig.req.length = 900;
    assert_int_equal(nw_chip_read(&rig.req), 0);
    assert_memory_equal(rig.data, first + 700, 900);
    rig_fill(&rig, 0xA5, 0x5A);
    assert_int_equal(rig_erase(&rig, 0), NW_OK);
    assert_int_equal(rig_program(&rig, 1, 0, 2048, 0, 32), NW_OK);
    assert_int_equal(rig_read(&rig, 1, 2048, 32), 0);
    assert_memory_not_equal(rig.data, first, sizeof first);
    rig_close_clean(&rig);

    config.flags |= NW_NAND_READ_NOISE;
    rig_open_config(&rig, &config);
    assert_int_equal(rig_program(&rig, 1, 0, 2048, 0, 32), NW_OK);
    assert_int_equal(rig_read(&rig, 1, 2048, 32), 0);
    memcpy(first, rig.data, sizeof first);
    assert_int_equal(rig_read(&rig, 1, 2048, 32), 0);
    assert_memory_not_equal(rig.data, first, sizeof first);
    rig_close_clean(&rig);
}

/* A part with ECC inside repairs up to its limit, tells how many, and gives up beyond. */
static void ecc_inside_the_chip(void **state)
{
    static const char *const fields[][2] = {
        { "errors", "0:100000000" }, { "ecc_bits", "1" }, { "ecc_bytes", "512 B" } };
    struct nw_part part;
    struct nw_nand_config config = { .part = &part, .seed = 5, .flags = NW_NAND_BIT_ERRORS };
    struct nand_rig rig;
    uint64_t corrected = 0;
    uint32_t lost = 0;

    (void)state;
    small_part(&part, fields, 3);
    rig_open_config(&rig, &config);
    for (uint32_t page = 0; page < 2000; page++) {
        int result;

        rig_fill(&rig, 0xA5, 0x5A);
        assert_int_equal(rig_program(&rig, page, 0, 2048, 0, 32), NW_OK);
        result = rig_read(&rig, page, 2048, 32);
        if (result == NW_ERR_ECC) {
            lost++;
            assert_true(count_flips(rig.data, 2048, 0xA5) > 1);
        } else {
            assert_true(result >= 0);
            corrected += (uint64_t)result;
            assert_int_equal(count_flips(rig.data, 2048, 0xA5), 0);
            assert_int_equal(count_flips(rig.spare, 32, 0x5A), 0);
        }
    }
    /* 8000 pieces of 4096 bits at 1e-4: 0.41 flips each; 27 % have one, 6.4 % have more. */
    assert_in_range(corrected, 1300, 2200);
    assert_in_range(lost, 350, 560); /* 1 - 0.936^4 of 2000 pages */
    rig_close_clean(&rig);
}

/* Large units expect many errors at once, which are drawn in parts. */
static void large_units_draw_right(void **state)
{
    static const char *const fields[][2] = {
        { "errors", "0:5000000000" }, { "ecc_bits", "100" }, { "ecc_bytes", "2048 B" } };
    struct nw_part part;
    struct nw_nand_config config = { .part = &part, .seed = 5, .flags = NW_NAND_BIT_ERRORS };
    struct nand_rig rig;
    uint64_t corrected = 0;
    uint32_t lost = 0;

    (void)state;
    small_part(&part, fields, 3);
    rig_open_config(&rig, &config);
    for (uint32_t page = 0; page < 2000; page++) {
        int result;

        rig_fill(&rig, 0xA5, 0x5A);
        assert_int_equal(rig_program(&rig, page, 0, 2048, 0, 0), NW_OK);
        result = rig_read(&rig, page, 2048, 0);
        lost += result == NW_ERR_ECC;
        corrected += result < 0 ? 0 : (uint64_t)result;
    }
    /* 81.9 errors expected a page, deviation 9.0: 2.2 % above 100; the others' mean is 81.4. */
    assert_in_range(lost, 15, 75);
    assert_in_range(corrected, (2000 - lost) * 80, (2000 - lost) * 83);
    rig_close_clean(&rig);
}

static void flips_travel_with_a_copy(void **state)
{
    static const char *const fields[][2] = { { "errors", "0:1000000000" }, { "copy", "yes" } };
    struct nw_part part;
    struct nw_nand_config config = { .part = &part, .seed = 5, .flags = NW_NAND_BIT_ERRORS };
    struct nand_rig rig;
    uint32_t before;

    (void)state;
    small_part(&part, fields, 2);
    rig_open_config(&rig, &config);
    assert_int_equal(rig_program(&rig, 0, 0, 2048, 0, 32), NW_OK);
    assert_int_equal(rig_read(&rig, 0, 2048, 32), 0);
    before = count_flips(rig.data, 2048, 0xA5);
    for (uint32_t page = 1; page < 9; page++) { /* errors of eight generations add up */
        rig.req.page = page - 1;
        rig.req.to_page = page;
        assert_int_equal(nw_chip_copy(&rig.req), NW_OK);
    }
    assert_int_equal(rig_read(&rig, 8, 2048, 32), 0);
    assert_in_range(count_flips(rig.data, 2048, 0xA5), 4 * before, 16 * before);
    rig_close_clean(&rig);
}

static void a_flipped_bit_stays(void **state)
{
    struct nand_rig rig;

    (void)state;
    rig_open(&rig, "K9F1G08U0A", 0);
    assert_int_equal(rig_program(&rig, 0, 0, 2048, 0, 62), NW_OK);
    nw_nand_flip(rig.nand, 0, 8 * 100 + 1);
    nw_nand_flip(rig.nand, 0, 8 * 2048 + 8 * 3);
    assert_int_equal(rig_read(&rig, 0, 2048, 62), 0);
    assert_int_equal(rig.data[100], 0xA5 ^ 2);
    assert_int_equal(rig.spare[3], 0x5A ^ 1);
    rig_close_clean(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_die_around_their_rating),
        cmocka_unit_test(lives_may_be_told),
        cmocka_unit_test(early_deaths_are_as_many_as_asked),
        cmocka_unit_test(without_wear_out_nothing_dies),
        cmocka_unit_test(a_doomed_block_fails_once_asked),
        cmocka_unit_test(factory_bad_blocks),
        cmocka_unit_test(flips_follow_the_curve),
        cmocka_unit_test(flips_stay_until_written_anew),
        cmocka_unit_test(ecc_inside_the_chip),
        cmocka_unit_test(large_units_draw_right),
        cmocka_unit_test(flips_travel_with_a_copy),
        cmocka_unit_test(a_flipped_bit_stays),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

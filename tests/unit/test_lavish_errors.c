/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: an error of the lavish layer belongs to a sector of the request. A write or trim answered
 * NW_ERR_IO with all its sectors done when a merge behind the last one failed. A read of a sector
 * never written took data == NULL, which block.h allows over chips without payload only.
 * ctest: quick
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "nandwich-twin/faults.h"
#include "nandwich-twin/nand.h"
#include "nandwich-twin/parts.h"
#include "nandwich/ftl_lavish.h"
#include "nandwich/random.h"

#define CALLS 20000U
#define SECTORS 24U

static uint64_t ram[1U << 12];
static uint8_t data[2048];
static struct nw_nand *nand;
static struct nw_fault fault;
static struct nw_faults faults;
static struct nw_ftl_lavish lavish;

static int open_all(void **state)
{
    struct nw_ftl_lavish_config config = {.sectors = SECTORS, .degree = 2, .maps = 2};
    struct nw_part part;

    (void)state;
    assert_int_equal(nw_parts_get("K9F1G08U0A", &part), NW_OK);
    part.blocks = 32;
    part.block_pages = 8;
    assert_int_equal(nw_nand_open(&nand, &(struct nw_nand_config){.part = &part}), NW_OK);
    fault = (struct nw_fault){.verb = NW_VERB_HEAL};
    nw_faults_open(&faults, nw_nand_chip(nand), &fault, 1, 1);
    assert_int_equal(nw_ftl_lavish_open(&lavish, &faults.chip, &config, ram, sizeof ram), NW_OK);
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    nw_nand_close(nand);
    return 0;
}

/* An erase answers NW_ERR_IO once, now and then. Each sector reads as it was last written. */
static void test_merge_fails_behind_the_data(void **state)
{
    uint8_t value[SECTORS] = {0};
    struct nw_random random;
    uint32_t struck = 0;

    (void)state;
    nw_random_seed(&random, 1);
    for (uint32_t i = 0; i < CALLS; i++) {
        uint32_t sector = nw_random_below(&random, SECTORS);
        int trims = nw_random_below(&random, 4) == 0;
        struct nw_block_req req = {
            .block = &lavish.block, .sector = sector, .count = 1, .data = data};

        if (nw_random_below(&random, 12) == 0) {
            struck += fault.hits;
            fault = (struct nw_fault){.verb = NW_VERB_ERASE, .error = NW_ERR_IO, .times = 1};
        }
        memset(data, (int)(i & 0xFFU), sizeof data);
        int result = trims ? nw_block_trim(&req) : nw_block_write(&req);

        assert_int_equal(req.done, result < 0 ? 0 : 1);
        if (result == NW_OK) {
            value[sector] = trims ? 0 : (uint8_t)(i & 0xFFU);
        }
        assert_int_equal(nw_block_read(&req), NW_OK);
        assert_int_equal(data[0], value[sector]);
    }
    assert_true(struck > 0 && lavish.merges_1 > 0); /* or nothing was tried */
}

/* Now and then a read answers NW_ERR_ECC once. It lost the sector for good when a merge met it, a
 * whole logical block when its map was fetched, and a mount answered NW_ERR_NOT_FOUND. */
static void test_what_fails_once_is_read_again(void **state)
{
    uint8_t value[SECTORS] = {0};
    struct nw_random random;
    uint32_t struck = 0;

    (void)state;
    nw_random_seed(&random, 2);
    for (uint32_t i = 0; i < CALLS; i++) {
        uint32_t sector = nw_random_below(&random, SECTORS);
        struct nw_block_req req = {
            .block = &lavish.block, .sector = sector, .count = 1, .data = data};

        if (nw_random_below(&random, 3) == 0) {
            struck += fault.hits;
            fault = (struct nw_fault){.verb = NW_VERB_READ, .error = NW_ERR_ECC, .times = 1};
        }
        if (nw_random_below(&random, 2) == 0) {
            value[sector] = (uint8_t)(i & 0xFFU);
            memset(data, value[sector], sizeof data);
            assert_int_equal(nw_block_write(&req), NW_OK);
        } else {
            assert_int_equal(nw_block_read(&req), NW_OK);
            assert_int_equal(data[0], value[sector]);
        }
    }
    assert_int_equal(lavish.stats.lost, 0);
    assert_true(struck > CALLS / 4 && lavish.stats.map_reads > 0); /* or nothing was tried */
}

/* The mark is in two pages, of which a cut may leave one: a mount that read it once answered
 * NW_ERR_NOT_FOUND, as if the chip were another's. */
static void test_open_reads_again(void **state)
{
    struct nw_ftl_lavish_config config = {.sectors = SECTORS, .degree = 2, .maps = 2};
    uint32_t page = lavish.mark * 8U;
    uint8_t spare[4] = {0};
    struct nw_chip_req req = {.chip = &faults.chip, .spare = spare, .spare_length = sizeof spare};

    (void)state;
    assert_int_equal(nw_chip_program(&req), NW_OK); /* over a blank chip the mark is made again */
    for (uint32_t whole = 0; whole < 2; whole++) {
        for (uint32_t times = 0; times < 4; times++) {
            struct nw_fault both[2] = {
                {.verb = NW_VERB_READ, .first = page + !whole, .last = page + !whole,
                 .error = NW_ERR_ECC},
                {.verb = NW_VERB_READ, .first = page + whole, .last = page + whole,
                 .error = times > 0 ? NW_ERR_ECC : NW_OK, .times = times > 0 ? times : 1U},
            };

            nw_faults_open(&faults, nw_nand_chip(nand), both, 2, 1);
            assert_int_equal(nw_ftl_lavish_open(&lavish, &faults.chip, &config, ram, sizeof ram),
                             times < 2 ? NW_OK : NW_ERR_ECC);
        }
    }
}

/* An erase fails, and the bus as that block is marked, before or after it was. The block stayed in
 * its lavish block: later it was erased although it was marked, and half of all writes answered
 * NW_ERR_BAD_BLOCK from then on. */
static void test_marked_but_not_told(void **state)
{
    struct nw_fault both[2] = {{.verb = NW_VERB_HEAL}, {.verb = NW_VERB_HEAL}};
    uint8_t value[SECTORS] = {0};
    struct nw_random random;
    uint32_t calls = 0;
    uint32_t marks = 0;

    (void)state;
    nw_random_seed(&random, 3);
    nw_faults_open(&faults, nw_nand_chip(nand), both, 2, 1);
    for (uint32_t i = 0; i < CALLS; i++) {
        uint32_t sector = nw_random_below(&random, SECTORS);
        struct nw_block_req req = {
            .block = &lavish.block, .sector = sector, .count = 1, .data = data};
        int result = NW_ERR_IO;

        if (i % 4000U == 3000U) {
            marks += both[1].hits;
            both[0] = (struct nw_fault){.verb = NW_VERB_ERASE, .error = NW_ERR_ERASE, .times = 1};
            both[1] = (struct nw_fault){.verb = NW_VERB_MARK_BAD, .error = NW_ERR_IO, .times = 1,
                                        .acts = (uint8_t)(i / 4000U % 2U)};
        }
        memset(data, (int)(i & 0xFFU), sizeof data);
        for (; result == NW_ERR_IO; calls++) {
            result = nw_block_write(&req);
        }
        assert_int_equal(result, NW_OK);
        value[sector] = (uint8_t)(i & 0xFFU);
        req.sector = nw_random_below(&random, SECTORS);
        assert_int_equal(nw_block_read(&req), NW_OK);
        assert_int_equal(data[0], value[req.sector]);
    }
    assert_int_equal(marks, CALLS / 4000U - 1U); /* or nothing was tried */
    assert_true(calls - CALLS <= marks + 1U);
    assert_int_equal(nw_nand_misuse(nand)->error, 0);
}

/* Power goes as a block is marked whose erase has just failed, for a copy to enter it. The write
 * answered NW_ERR_ERASE, as if the device could go on. */
static void test_power_goes_as_a_block_is_marked(void **state)
{
    struct nw_ftl_lavish_config config = {
        .sectors = SECTORS, .degree = 2, .maps = 2, .erase_late = 1};
    struct nw_fault both[2] = {{.verb = NW_VERB_HEAL}, {.verb = NW_VERB_HEAL}};
    struct nw_random random;
    uint32_t told = 0;

    (void)state;
    nw_faults_open(&faults, nw_nand_chip(nand), both, 2, 1);
    nw_random_seed(&random, 7);
    for (uint32_t turn = 0; turn < 200U; turn++) {
        int result = NW_OK;

        assert_int_equal(nw_ftl_lavish_open(&lavish, &faults.chip, &config, ram, sizeof ram),
                         NW_OK);
        for (uint32_t i = 0; i < 200U && both[1].hits == 0; i++) {
            struct nw_block_req req = {.block = &lavish.block,
                                       .sector = nw_random_below(&random, SECTORS),
                                       .count = 1,
                                       .data = data};

            if (i == 20U + turn % 100U) {
                both[0] =
                    (struct nw_fault){.verb = NW_VERB_ERASE, .error = NW_ERR_ERASE, .times = 1};
                both[1] = (struct nw_fault){
                    .verb = NW_VERB_MARK_BAD, .error = NW_ERR_POWER, .times = 1};
            }
            result = nw_block_write(&req);
        }
        assert_int_equal(both[1].hits, 1);
        if (result != NW_OK) { /* else it happened behind the data */
            assert_int_equal(result, NW_ERR_POWER);
            told++;
        }
        both[0] = both[1] = (struct nw_fault){.verb = NW_VERB_HEAL};
    }
    assert_true(told > 10U); /* or nothing was tried */
}

/* Idle took longer than its budget: its worst case knew neither of the map that a merge fetches,
 * for which another one may have to be written, nor of a block that it enters and has to erase. */
static void test_idle_keeps_its_budget(void **state)
{
    const struct nw_geometry *geometry = &faults.chip.geometry;
    struct nw_random random;
    uint32_t merges = 0;

    (void)state;
    faults.ops.copy = NULL; /* a copy takes its full time */
    nw_random_seed(&random, 8);
    for (uint32_t turn = 0; turn < 60U; turn++) {
        struct nw_ftl_lavish_config config = {.sectors = SECTORS,
                                              .degree = 1,
                                              .maps = 1,
                                              .lavish_blocks = (uint16_t)(6U + turn % 3U),
                                              .erase_late = 0};

        assert_int_equal(nw_ftl_lavish_open(&lavish, &faults.chip, &config, ram, sizeof ram),
                         NW_OK);
        for (uint32_t i = 0; i < 400U; i++) {
            struct nw_block_req req = {.block = &lavish.block,
                                       .sector = nw_random_below(&random, SECTORS),
                                       .count = 1,
                                       .data = data};

            assert_int_equal(nw_block_write(&req), NW_OK);
            req.budget_us =
                2U * lavish.degree * geometry->erase_us +
                lavish.logical_sectors * (geometry->read_us + geometry->program_us) +
                nw_random_below(&random, turn % 2U ? 100U : 3U * geometry->erase_us);
            uint64_t before = nw_nand_meter(nand)->time_ns;
            merges -= (uint32_t)(lavish.stats.merges_full + lavish.stats.merges_partial);
            assert_true(nw_block_idle(&req) >= 0);
            merges += (uint32_t)(lavish.stats.merges_full + lavish.stats.merges_partial);
            assert_true(nw_nand_meter(nand)->time_ns - before <= req.budget_us * 1000ULL);
        }
    }
    assert_true(merges > 0); /* or nothing was tried */
}

/* A copy that did not come to pass, since the erase of the block before it failed, was counted as
 * a read. */
static void test_reads_are_counted(void **state)
{
    const struct nw_nand_counts *chip = nw_nand_stats(nand);
    struct nw_nand_counts opened = *chip;
    struct nw_random random;
    uint32_t hits = 0;

    (void)state;
    nw_random_seed(&random, 4);
    for (uint32_t i = 0; i < CALLS; i++) {
        struct nw_block_req req = {.block = &lavish.block,
                                   .sector = nw_random_below(&random, SECTORS),
                                   .count = 1,
                                   .data = data};

        if (nw_random_below(&random, 12) == 0) {
            hits += fault.hits;
            fault = (struct nw_fault){.verb = NW_VERB_ERASE, .error = NW_ERR_IO, .times = 1};
        }
        (void)nw_block_write(&req);
        assert_int_equal(chip->reads + chip->copies - opened.reads - opened.copies,
                         lavish.stats.reads);
    }
    assert_true(hits > 0 && chip->copies > opened.copies); /* or nothing was tried */
}

/* When the first erase behind a merge III failed, the log it had emptied was not released: it was
 * lost for the session. Here one is full when another log is wanted. */
static void test_no_lavish_block_is_lost(void **state)
{
    struct nw_ftl_lavish_config config = {
        .sectors = SECTORS, .degree = 2, .maps = 2, .lavish_blocks = 5};
    struct nw_random random;

    (void)state;
    assert_int_equal(nw_ftl_lavish_open(&lavish, &faults.chip, &config, ram, sizeof ram), NW_OK);
    nw_random_seed(&random, 5);
    for (uint32_t i = 0; i < CALLS; i++) {
        struct nw_block_req req = {.block = &lavish.block,
                                   .sector = i / 22U % 3U * 8U + nw_random_below(&random, 8),
                                   .count = 1,
                                   .data = data};
        uint32_t used = 0;

        if (i % 4U == 0) {
            fault = (struct nw_fault){.verb = NW_VERB_ERASE, .error = NW_ERR_IO, .times = 1};
        }
        (void)nw_block_write(&req);
        for (uint32_t number = 0; number < lavish.logical_count; number++) {
            used += lavish.logical[number].data != NW_LAVISH_NONE;
            used += lavish.logical[number].log != NW_LAVISH_NONE;
        }
        assert_int_equal(lavish.free + used, lavish.good);
    }
    assert_true(lavish.stats.merges_full > 0); /* or nothing was tried */
}

static void test_payload_or_not(void **state)
{
    struct nw_block_req req = {.block = &lavish.block, .count = 1};

    (void)state;
    assert_int_equal(nw_block_read(&req), NW_ERR_UNSUPPORTED);
    assert_int_equal(req.done, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_merge_fails_behind_the_data, open_all, close_all),
        cmocka_unit_test_setup_teardown(test_what_fails_once_is_read_again, open_all, close_all),
        cmocka_unit_test_setup_teardown(test_open_reads_again, open_all, close_all),
        cmocka_unit_test_setup_teardown(test_marked_but_not_told, open_all, close_all),
        cmocka_unit_test_setup_teardown(test_power_goes_as_a_block_is_marked, open_all, close_all),
        cmocka_unit_test_setup_teardown(test_idle_keeps_its_budget, open_all, close_all),
        cmocka_unit_test_setup_teardown(test_reads_are_counted, open_all, close_all),
        cmocka_unit_test_setup_teardown(test_no_lavish_block_is_lost, open_all, close_all),
        cmocka_unit_test_setup_teardown(test_payload_or_not, open_all, close_all)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

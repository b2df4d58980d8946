/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: an error of a model belongs to a sector of the request. Once a write answered
 * NW_ERR_IO with all its sectors written, when what failed was the wear policy's work behind it.
 * And the policy hears of each update once.
 * ctest: quick
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "nandwich-twin/faults.h"
#include "nandwich-twin/nand.h"
#include "nandwich-twin/parts.h"
#include "nandwich-models/models.h"
#include "nandwich/random.h"
#include "nandwich-models/wear_swl.h"

#define BLOCKS 36U
#define WRITES 4000U

static uint64_t ram[1U << 15];
static uint64_t policy_ram[1U << 10];
static uint8_t data[2048];

/* Programs and erases answer NW_ERR_IO once, behind a few others, over and over. */
static void arm(struct nw_fault *fault, struct nw_random *random)
{
    *fault = (struct nw_fault){.verb = nw_random_below(random, 2) != 0 ? NW_VERB_PROGRAM
                                                                      : NW_VERB_ERASE,
                               .error = NW_ERR_IO,
                               .times = 1,
                               .skip = nw_random_below(random, 12)};
}

static void test_policy_fails_behind_the_data(void **state)
{
    struct nw_part part;
    struct nw_nand *nand;
    struct nw_fault fault = {0};
    struct nw_faults faults;
    struct nw_swl swl;
    struct nw_model ftl;
    struct nw_random random;
    struct nw_swl_config policy = {.threshold = 3, .seed = 1};
    struct nw_model_config config = {
        .kind = NW_MODEL_LOG, .spare_blocks = 12, .wear = &swl.wear};
    uint32_t told = 0;

    (void)state;
    nw_random_seed(&random, 1);
    assert_int_equal(nw_parts_get("K9F1G08U0A", &part), NW_OK);
    part.blocks = BLOCKS;
    part.block_pages = 8;
    assert_int_equal(nw_nand_open(&nand, &(struct nw_nand_config){.part = &part}), NW_OK);
    nw_faults_open(&faults, nw_nand_chip(nand), &fault, 1, 1);
    assert_int_equal(nw_swl_open(&swl, &policy, BLOCKS, policy_ram, sizeof policy_ram), NW_OK);
    assert_int_equal(nw_model_open(&ftl, &faults.chip, &config, ram, sizeof ram), NW_OK);
    for (uint32_t i = 0; i < WRITES; i++) {
        uint32_t among = nw_random_below(&random, 4) != 0 ? 16U : ftl.block.sectors;
        struct nw_block_req req = {.block = &ftl.block,
                                   .sector = nw_random_below(&random, among),
                                   .count = 1,
                                   .data = data};
        if (nw_random_below(&random, 12) == 0) {
            arm(&fault, &random);
        }
        int result = nw_block_write(&req);

        told += result < 0;
        assert_int_equal(req.done, result < 0 ? 0 : 1);
    }
    assert_true(told > 0 && swl.wear.stats.moved > 0); /* or nothing was tried */
    nw_nand_close(nand);
}

/* What the policy was told: so many calls, and of which logical blocks the last two were. */
static uint32_t told_count;
static uint16_t told_last;
static uint16_t told_before;

static void note_update(struct nw_wear *wear, uint16_t of)
{
    (void)wear;
    told_count++;
    told_before = told_last;
    told_last = of;
}

static int write_some(struct nw_model *ftl, uint32_t sector, uint32_t count)
{
    static uint8_t many[24U * 2048U];
    struct nw_block_req req = {
        .block = &ftl->block, .sector = sector, .count = count, .data = many};

    told_count = 0;
    return nw_block_write(&req);
}

/* The policy hears once of each logical block in which a request updates something, and of none
 * that is written for the first time. */
static void test_policy_hears_of_updates(void **state)
{
    struct nw_part part;
    struct nw_nand *nand;
    struct nw_swl swl;
    struct nw_model ftl;
    struct nw_swl_config policy = {.threshold = 1000, .seed = 1};
    struct nw_model_config config = {
        .kind = NW_MODEL_LOG, .spare_blocks = 12, .wear = &swl.wear};

    (void)state;
    assert_int_equal(nw_parts_get("K9F1G08U0A", &part), NW_OK);
    part.blocks = BLOCKS;
    part.block_pages = 8;
    assert_int_equal(nw_nand_open(&nand, &(struct nw_nand_config){.part = &part}), NW_OK);
    assert_int_equal(nw_swl_open(&swl, &policy, BLOCKS, policy_ram, sizeof policy_ram), NW_OK);
    struct nw_wear_ops ops = *swl.wear.ops;
    ops.updated = note_update;
    swl.wear.ops = &ops;
    assert_int_equal(
        nw_model_open(&ftl, nw_nand_chip(nand), &config, ram, sizeof ram), NW_OK);
    assert_int_equal(write_some(&ftl, 0, 24), NW_OK);
    assert_int_equal(told_count, 0);
    assert_int_equal(write_some(&ftl, 3, 2), NW_OK);
    assert_int_equal(told_count, 1);
    assert_int_equal(told_last, 0);
    assert_int_equal(write_some(&ftl, 11, 12), NW_OK);
    assert_int_equal(told_count, 2);
    assert_int_equal(told_before, 1);
    assert_int_equal(told_last, 2);
    nw_nand_close(nand);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_policy_fails_behind_the_data),
                                       cmocka_unit_test(test_policy_hears_of_updates)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

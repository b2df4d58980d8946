/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: with a policy that heals the layers go on writing as long as seven spare blocks are
 * good. Once blocks that waited to be healed were not asked for: merges that had nothing left to
 * win answered NW_ERR_FULL before a block was taken, which is when the list is healed, and so did
 * every later write, on chips without one bad block. Once a healing that answered NW_ERR_BUSY kept
 * its block out of use for the session, and a few of them answered NW_ERR_FULL.
 * ctest: quick
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "layer_rig.h"
#include "nandwich-models/wear.h"

#define MOST_BLOCKS 64U
#define SPARE 10U
#define WRITES 12000U
#define MANY 0xFFFFFFFFU

static const struct nw_layer_kind *const kinds[] = {&nw_layer_fast, &nw_layer_log, &nw_layer_nftl,
                                                    &nw_layer_superblock, &nw_layer_page};

#define KINDS (sizeof kinds / sizeof kinds[0])

static uint64_t ram[1U << 15];
static uint64_t state[1U << 8];
static uint8_t policy_ram[MOST_BLOCKS];
static uint8_t data[512];

static struct nw_nand *open_part(uint16_t blocks)
{
    struct nw_part part;
    struct nw_nand *nand;

    assert_int_equal(nw_parts_get("TLC8G-HEAL", &part), NW_OK);
    part.blocks = blocks;
    part.block_pages = 16;
    part.page_bytes = sizeof data;
    part.program_bytes = sizeof data;
    part.spare_bytes = 18; /* tags with the erases of their block */
    part.heal_life = 40;
    part.heal_step = 0;
    part.heal_limit = 50;
    part.endurance = 60;
    part.factory_bad = 0;
    memset(&part.errors, 0, sizeof part.errors);
    part.ecc_bits = 0;
    part.ecc_bytes = 0;
    assert_int_equal(nw_nand_open(&nand, &(struct nw_nand_config){.part = &part}), NW_OK);
    return nand;
}

/* Formats that chip, with dynamic wear levelling that heals. */
static struct nw_block *begin(const struct nw_layer_kind *kind, const struct nw_heal_config *heal,
                              struct nw_chip *chip, struct nw_wear *wear)
{
    struct nw_layer_config config = {.spare_blocks = SPARE, .wear = wear};
    struct nw_layer_site site = {.config = &config,
                                 .chip = chip,
                                 .chip_name = "TLC8G-HEAL",
                                 .state = state,
                                 .ram = ram};
    struct nw_block *block;

    assert_int_equal(nw_wear_dynamic_open(wear, heal, (uint16_t)chip->geometry.blocks, policy_ram,
                                          sizeof policy_ram),
                     NW_OK);
    site.ram_bytes = kind->ram_bytes(&site);
    assert_true(site.ram_bytes <= sizeof ram && kind->state_bytes <= sizeof state);
    assert_int_equal(kind->format(&site, &block), NW_OK);
    return block;
}

/* Blocks go bad on the way, `doomed` of them. */
static void expect_writes(const struct nw_layer_kind *kind, const struct nw_heal_config *heal,
                          uint16_t blocks, uint32_t doomed)
{
    struct nw_nand *nand = open_part(blocks);
    struct nw_wear wear;
    struct nw_block *block = begin(kind, heal, nw_nand_chip(nand), &wear);
    struct nw_random random;

    nw_random_seed(&random, 1);
    for (uint32_t i = 0; i < WRITES; i++) {
        uint32_t among = i % 4U != 0 ? block->sectors / 3U : block->sectors;
        struct nw_block_req req = {.block = block,
                                   .sector = nw_random_below(&random, among),
                                   .count = 1,
                                   .data = data};
        if (doomed > 0 && i % 1000U == 999U) {
            nw_nand_doom(nand, nw_random_below(&random, blocks), (int)(doomed-- % 2U));
        }
        int result = nw_block_write(&req);

        if (result < 0) {
            fail_msg("%s, period %u: write %u answers %d; %u wait to be healed", kind->name,
                     (unsigned)heal->period_s, (unsigned)i, result, (unsigned)wear.heal.count);
        }
    }
    assert_true(wear.stats.heals > 0); /* or nothing was tried */
    assert_int_equal(nw_nand_misuse(nand)->error, 0);
    nw_nand_close(nand);
}

static void test_eager(void **unused)
{
    struct nw_heal_config heal = {.heals = 1};

    (void)unused;
    for (unsigned i = 0; i < KINDS; i++) {
        expect_writes(kinds[i], &heal, 24, 3);
    }
}

/* With a period that never ends, and a clock that stands still. */
static void test_lazy(void **unused)
{
    struct nw_heal_config heal = {.heals = 1, .period_s = MANY};

    (void)unused;
    for (unsigned i = 0; i < KINDS - 1U; i++) { /* page does not wear blocks that fast */
        expect_writes(kinds[i], &heal, MOST_BLOCKS, 0);
    }
}

/* One healing in three answers an error that is not its block's. The write that meets it answers
 * the same, the block waits on, and no write answers NW_ERR_FULL. */
static void expect_heals(const struct nw_layer_kind *kind, int error, uint8_t acts)
{
    const struct nw_heal_config heal = {.heals = 1};
    struct nw_nand *nand = open_part(24);
    struct nw_fault fault = {.verb = NW_VERB_HEAL, .acts = acts, .every = 3, .error = error};
    struct nw_faults faults;
    struct nw_wear wear;
    struct nw_random random;

    nw_random_seed(&random, 1);
    nw_faults_open(&faults, nw_nand_chip(nand), &fault, 1, 1);
    struct nw_block *block = begin(kind, &heal, &faults.chip, &wear);
    for (uint32_t i = 0; i < WRITES; i++) {
        uint32_t hits = fault.hits;
        struct nw_block_req req = {.block = block,
                                   .sector = nw_random_below(&random, block->sectors),
                                   .count = 1,
                                   .data = data};
        int result = nw_block_write(&req);

        if (result < 0 && (result != error || fault.hits == hits)) {
            fail_msg("%s: write %u answers %d; %u wait to be healed, %u errors", kind->name,
                     (unsigned)i, result, (unsigned)wear.heal.count, (unsigned)fault.hits);
        }
    }
    assert_true(fault.hits > 3U); /* or nothing was tried */
    assert_int_equal(nw_nand_misuse(nand)->error, 0);
    nw_nand_close(nand);
}

static void test_a_healing_fails(void **unused)
{
    (void)unused;
    for (unsigned i = 0; i < KINDS; i++) {
        for (uint8_t acts = 0; acts < 2U; acts++) {
            expect_heals(kinds[i], NW_ERR_BUSY, acts);
            expect_heals(kinds[i], NW_ERR_IO, acts);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_eager),
                                       cmocka_unit_test(test_lazy),
                                       cmocka_unit_test(test_a_healing_fails)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: where it is told to, the tree layer scrubs: what is read again and again, on a chip whose
 * reads flip bits, is written anew before the code is full, for less than a tenth more programs.
 * ctest: slow
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "nandwich-twin/nand.h"
#include "nandwich-twin/parts.h"
#include "nandwich/ftl_tree_check.h"
#include "nandwich/random.h"
#include "pass_chip.h"

#define BLOCKS 96U
#define ECC_BITS 4U      /* a page */
#define SCRUB_BITS 3U
#define COLD 256U        /* sectors that are read and never written */
#define FILLED 10000U    /* reads in which a page of these gets ECC_BITS wrong ones */
#define RAM_BYTES (512U * 1024U) /* all that RAM is good for */

static struct nw_nand *nand;
static struct nw_chip chip; /* a filter: a read may flip a bit in its block */
static struct nw_chip_ops ops;
static struct nw_random disturbs;
static uint32_t one_in; /* reads flip a bit; 0: none does */
static uint8_t *flipped; /* bits of each page */
static struct nw_ftl_tree ftl;
static void *ram;

static int disturbed_read(struct nw_chip_req *req)
{
    struct nw_chip_req below = pass_below(req);
    uint32_t pages = chip.geometry.block_pages;
    int result = nw_chip_read(&below);

    if (one_in != 0 && nw_random_below(&disturbs, one_in) == 0) {
        uint8_t *bits = &flipped[req->page / pages * pages + nw_random_below(&disturbs, pages)];

        *bits = (uint8_t)(*bits + (*bits <= ECC_BITS));
    }
    if (result < 0 || nw_nand_page_programs(nand, req->page) == 0) {
        return result;
    }
    return flipped[req->page] <= ECC_BITS ? (int)flipped[req->page] : (int)NW_ERR_ECC;
}

static int fresh_program(struct nw_chip_req *req)
{
    struct nw_chip_req below = pass_below(req);

    flipped[req->page] = 0;
    return nw_chip_program(&below);
}

static int write(uint32_t sector)
{
    struct nw_block_req req = {.block = &ftl.block, .sector = sector, .count = 1};

    return nw_block_write(&req);
}

static int read(uint32_t sector)
{
    struct nw_block_req req = {.block = &ftl.block, .sector = sector, .count = 1};

    return nw_block_read(&req);
}

/* A full device. */
static void open_with(const struct nw_ftl_tree_config *config)
{
    struct nw_part part;
    struct nw_nand_config twin = {.part = &part, .seed = 3, .flags = NW_NAND_NO_PAYLOAD};

    assert_int_equal(nw_parts_get("K9F1G08U0A", &part), NW_OK);
    part.blocks = BLOCKS;
    assert_int_equal(nw_nand_open(&nand, &twin), NW_OK);
    pass_chip_open(&chip, &ops, nw_nand_chip(nand));
    ops.read = disturbed_read;
    ops.program = fresh_program;
    one_in = 0;
    flipped = calloc(BLOCKS * (size_t)part.block_pages, 1);
    ram = malloc(RAM_BYTES);
    assert_true(flipped != NULL && ram != NULL);
    assert_int_equal(nw_ftl_tree_format(&ftl, &chip, config, ram, RAM_BYTES), NW_OK);
    for (uint32_t sector = 0; sector < ftl.block.sectors; sector++) {
        assert_int_equal(write(sector), NW_OK);
    }
}

static void close_device(void)
{
    assert_int_equal(nw_nand_misuse(nand)->error, 0);
    nw_nand_close(nand);
    free(flipped);
    free(ram);
}

struct outcome {
    uint32_t unreadable;
    uint32_t scrubbed;
    uint64_t programs;
};

/* Reads of what is never written, and as many writes to the rest. */
static struct outcome disturb(uint8_t scrub_bits)
{
    struct nw_ftl_tree_config config = {.scrub_bits = scrub_bits};
    struct outcome outcome = {0};
    struct nw_random random;

    nw_random_seed(&random, 8);
    nw_random_seed(&disturbs, 9);
    open_with(&config);
    uint64_t before = nw_nand_stats(nand)->programs;

    one_in = FILLED / (COLD * ECC_BITS);
    for (uint32_t i = 0; i < 100000U; i++) {
        outcome.unreadable += read(nw_random_below(&random, COLD)) != NW_OK;
        assert_int_equal(write(COLD + nw_random_below(&random, ftl.block.sectors - COLD)), NW_OK);
    }
    outcome.programs = nw_nand_stats(nand)->programs - before;
    outcome.scrubbed = (uint32_t)ftl.stats.scrubbed;
    print_message("scrub %u: %u unreadable, %u programs, %u scrubbed\n", scrub_bits,
                  (unsigned)outcome.unreadable, (unsigned)outcome.programs,
                  (unsigned)outcome.scrubbed);
    close_device();
    return outcome;
}

static void test_scrub(void **state)
{
    (void)state;
    struct outcome without = disturb(0);
    struct outcome with = disturb(SCRUB_BITS);

    assert_true(without.unreadable > 0 && without.scrubbed == 0);
    assert_true(with.unreadable == 0 && with.scrubbed > 0);
    assert_true(with.programs * 100U <= without.programs * 110U);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scrub),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

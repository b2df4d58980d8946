/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: nw_ftl_page_check() finds nothing in a device that is well, and tells where map and counts
 * contradict each other once its memory was overwritten.
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
#include "nandwich/ftl_page_check.h"

#define WRITTEN 6U
#define BLOCKS 24U
#define BLOCK_PAGES 8U
#define PAGES (BLOCKS * BLOCK_PAGES)

static struct nw_nand *nand;
static struct nw_ftl_page ftl;
static uint64_t ram[4096];

static int open_all(void **state)
{
    struct nw_ftl_page_config config = {0};
    struct nw_part part;

    (void)state;
    assert_int_equal(nw_parts_get("K9F1G08U0A", &part), NW_OK);
    part.blocks = BLOCKS;
    part.block_pages = BLOCK_PAGES;
    part.page_bytes = 512;
    part.program_bytes = 512;
    part.factory_bad = 0;
    assert_int_equal(nw_nand_open(&nand, &(struct nw_nand_config){.part = &part}), NW_OK);
    assert_int_equal(nw_ftl_page_format(&ftl, nw_nand_chip(nand), &config, ram, sizeof ram), NW_OK);
    for (uint32_t i = 0; i < WRITTEN; i++) {
        uint8_t data[512];
        struct nw_block_req req = {.block = &ftl.block, .sector = i, .count = 1, .data = data};

        memset(data, (int)i, sizeof data);
        assert_int_equal(nw_block_write(&req), NW_OK);
    }
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    nw_nand_close(nand);
    return 0;
}

/* The map in the layer's memory: pages of the chip, and then sectors that have none. */
static uint32_t *find_map(void)
{
    uint32_t *words = (uint32_t *)ram;

    for (uint32_t at = 0; at + 2U * WRITTEN < sizeof ram / 4U; at++) {
        uint32_t fits = 0;

        while (fits < WRITTEN && words[at + fits] < PAGES && words[at + fits] != 0 &&
               words[at + WRITTEN + fits] == UINT32_MAX) {
            fits++;
        }
        if (fits == WRITTEN) {
            return words + at;
        }
    }
    fail_msg("no map");
    return NULL;
}

static void test_well(void **state)
{
    uint32_t where;

    (void)state;
    assert_int_equal(nw_ftl_page_check(&ftl, &where), NW_OK);
}

static void test_a_page_that_nothing_counts(void **state)
{
    uint32_t *map = find_map();
    uint32_t where;

    (void)state;
    map[3] = PAGES - 1U; /* of a free block */
    assert_int_equal(nw_ftl_page_check(&ftl, &where), NW_ERR_CORRUPT);
    assert_int_equal(where, 3);
    map[3] = PAGES; /* beyond the chip */
    assert_int_equal(nw_ftl_page_check(&ftl, &where), NW_ERR_CORRUPT);
    assert_int_equal(where, 3);
}

static void test_a_page_of_two_sectors(void **state)
{
    uint32_t *map = find_map();
    uint32_t where;

    (void)state;
    map[3] = map[4];
    assert_int_equal(nw_ftl_page_check(&ftl, &where), NW_ERR_CORRUPT);
    assert_true(where > ftl.block.sectors); /* behind the sectors: a block */
}

static void test_a_page_that_nobody_has(void **state)
{
    uint32_t *map = find_map();
    uint32_t where;

    (void)state;
    map[3] = UINT32_MAX;
    assert_int_equal(nw_ftl_page_check(&ftl, &where), NW_ERR_CORRUPT);
    assert_true(where > ftl.block.sectors);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_well, open_all, close_all),
        cmocka_unit_test_setup_teardown(test_a_page_that_nothing_counts, open_all, close_all),
        cmocka_unit_test_setup_teardown(test_a_page_of_two_sectors, open_all, close_all),
        cmocka_unit_test_setup_teardown(test_a_page_that_nobody_has, open_all, close_all)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

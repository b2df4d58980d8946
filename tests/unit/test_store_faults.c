/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: what fails in the middle of the store's work leaves neither its books nor its promises
 * wrong: blocks that failed are counted once.
 * ctest: quick
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "nandwich-twin/faults.h"
#include "nandwich-twin/nand.h"
#include "nandwich-twin/parts.h"
#include "nandwich/store.h"

#define BLOCKS 32U
#define BLOCK_PAGES 8U

struct bed {
    struct nw_nand *nand;
    struct nw_fault fault;
    struct nw_faults filter;
    struct nw_chip *chip;
    struct nw_store *store;
    struct nw_store_config config;
    uint8_t *ram;
    size_t ram_bytes;
};

static struct bed bed;

static int mount(void)
{
    memset(bed.ram, 0xA5, bed.ram_bytes);
    return nw_store_mount(&bed.store, bed.chip, &bed.config, bed.ram, bed.ram_bytes);
}

static void open_bed(const struct nw_store_config *config)
{
    struct nw_part part;

    memset(&bed, 0, sizeof bed);
    assert_true(nw_parts_get("TC58DVG02A1FT00", &part) >= 0);
    part.blocks = BLOCKS;
    part.block_pages = BLOCK_PAGES;
    part.factory_bad = 0;
    struct nw_nand_config nand = {.part = &part, .seed = 9};
    assert_int_equal(nw_nand_open(&bed.nand, &nand), NW_OK);
    bed.fault = (struct nw_fault){.verb = NW_VERB_ERASE, .skip = UINT32_MAX};
    nw_faults_open(&bed.filter, nw_nand_chip(bed.nand), &bed.fault, 1, 1);
    bed.chip = &bed.filter.chip;
    bed.config = *config;
    bed.ram_bytes = nw_store_ram_bytes(&bed.config, &bed.chip->geometry);
    assert_true(bed.ram_bytes > 0);
    bed.ram = calloc(1, bed.ram_bytes);
    assert_non_null(bed.ram);
    assert_int_equal(
        nw_store_format(&bed.store, bed.chip, &bed.config, bed.ram, bed.ram_bytes), NW_OK);
}

static void close_bed(void)
{
    assert_int_equal(nw_nand_misuse(bed.nand)->error, 0);
    nw_nand_close(bed.nand);
    free(bed.ram);
}

static int create(const char *name, uint8_t type, uint16_t unit, uint32_t count)
{
    struct nw_store_spec spec = {.type = type, .unit_bytes = unit, .count = count};

    return nw_store_create(bed.store, name, &spec);
}

/* Work until a fault strikes, or without one until there is a new anchor. */
static void work(int stack, int wait)
{
    const struct nw_store_stats *stats = nw_store_stats(bed.store);
    uint32_t anchors = stats->anchors;
    uint8_t data[300] = {0};

    while (wait ? bed.fault.hits == 0 : stats->anchors == anchors) {
        anchors = wait ? stats->anchors : anchors;
        assert_int_equal(nw_store_push(bed.store, stack, data, sizeof data), NW_OK);
        assert_int_equal(nw_store_sync(bed.store), NW_OK);
        assert_int_equal(nw_store_pop(bed.store, stack, data, sizeof data), sizeof data);
    }
    assert_true(!wait || stats->anchors == anchors);
    assert_int_equal(nw_store_sync(bed.store), NW_OK);
}

/* Power goes after a block has failed and before an anchor tells of it: the mount takes one block
 * and counts the others as they were. Otherwise the log would run into what is still needed, some
 * power cuts later. */
static void test_counts(void **state)
{
    struct nw_store_config config = {.objects = 2};
    struct nw_store_space before;
    struct nw_store_space after;

    (void)state;
    for (uint32_t way = 0; way < 2U + BLOCK_PAGES; way++) { /* none, in an erase, in each page */
        open_bed(&config);
        int stack = create("s", NW_STORE_STACK, 0, 0);
        while (nw_nand_stats(bed.nand)->erases < 2U * BLOCKS) { /* blocks are erased as they come */
            work(stack, 0);
        }
        if (way > 0) {
            bed.fault = way == 1U ? (struct nw_fault){.verb = NW_VERB_ERASE, .error = NW_ERR_ERASE}
                                  : (struct nw_fault){.verb = NW_VERB_PROGRAM,
                                                      .skip = way - 2U,
                                                      .error = NW_ERR_PROGRAM};
            bed.fault.times = 1;
        }
        work(stack, way > 0);
        nw_store_space(bed.store, &before);
        assert_true(before.free_blocks > 1U);
        assert_int_equal(mount(), NW_OK);
        nw_store_space(bed.store, &after);
        assert_int_equal(after.good_blocks, before.good_blocks);
        assert_int_equal(after.free_blocks + 1U, before.free_blocks);
        close_bed();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: the tree layer does what its header says with the least RAM and with more, on small and
 * large blocks: a full device takes random writes for ever, mounts alone never use it up, its
 * counts of valid pages are true, and what calls cost is known to the unit. Histories with cuts and
 * faults are those of test_torture.
 * ctest: quick
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
#include "../../core/ftl/mark.h"
#include "../../core/ftl/tag.h"

#define MOST_BYTES 2048U

struct shape {
    const char *part;
    uint32_t blocks;
    uint16_t block_pages;
    uint16_t page_bytes;
    uint16_t spare_blocks;
    uint16_t frames; /* nodes in the cache */
};

static const struct shape shapes[] = {
    {"K9F1G08U0A", 40, 64, 2048, 12, 0},     {"K9F1G08U0A", 40, 16, 512, 12, 0},
    {"K9F1G08U0A", 60, 32, 512, 0, 5},       {"K9F1G08U0A", 30, 256, 512, 12, 0},
    {"TC58DVG02A1FT00", 40, 32, 512, 12, 4}, {"K9F1G08U0A", 200, 16, 256, 0, 0},
    {"K9F1G08U0A", 40, 20, 256, 12, 9},
};

#define SHAPES (sizeof shapes / sizeof shapes[0])

static struct nw_nand *nand;
static struct nw_ftl_tree ftl;
static struct nw_ftl_tree_config config;
static void *ram;
static size_t ram_bytes;
static uint32_t *wanted; /* what each sector holds; 0: nothing */
static uint32_t serial;
static uint8_t data[MOST_BYTES];

static struct nw_chip *chip(void)
{
    return nw_nand_chip(nand);
}

static void open_shape(const struct shape *shape)
{
    struct nw_part part;
    struct nw_nand_config twin = {.part = &part, .seed = 3};

    assert_int_equal(nw_parts_get(shape->part, &part), NW_OK);
    part.blocks = shape->blocks;
    part.block_pages = shape->block_pages;
    part.page_bytes = shape->page_bytes;
    part.program_bytes = shape->page_bytes;
    part.factory_bad = 1;
    assert_int_equal(nw_nand_open(&nand, &twin), NW_OK);
    config.spare_blocks = shape->spare_blocks;
    ram_bytes = nw_ftl_tree_ram_bytes(&config, &chip()->geometry) +
                shape->frames * (shape->page_bytes + sizeof(uint32_t)) + sizeof(uint32_t);
    ram = malloc(ram_bytes);
    assert_non_null(ram);
    memset(ram, 0xC3, ram_bytes);
    assert_int_equal(nw_ftl_tree_format(&ftl, chip(), &config, ram, ram_bytes), NW_OK);
    assert_int_equal(ftl.block.sectors, nw_ftl_tree_sectors(&config, &chip()->geometry));
    wanted = calloc(ftl.block.sectors, sizeof *wanted);
    assert_non_null(wanted);
}

static void close_shape(void)
{
    assert_int_equal(nw_nand_misuse(nand)->error, 0);
    nw_nand_close(nand);
    free(ram);
    free(wanted);
}

static void mount(void)
{
    memset(ram, 0xC3, ram_bytes);
    assert_int_equal(nw_ftl_tree_mount(&ftl, chip(), &config, ram, ram_bytes), NW_OK);
}

static void fill(uint32_t token)
{
    for (uint16_t i = 0; i < ftl.block.sector_bytes; i++) {
        data[i] = (uint8_t)(token == 0 ? 0 : (token >> (i & 3U) * 8U) + i);
    }
}

static struct nw_block_req request(uint32_t sector)
{
    return (struct nw_block_req){
        .block = &ftl.block, .sector = sector, .count = 1, .data = data};
}

static void write(uint32_t sector)
{
    struct nw_block_req req = request(sector);

    wanted[sector] = ++serial;
    fill(serial);
    assert_int_equal(nw_block_write(&req), NW_OK);
}

static void trim(uint32_t sector)
{
    struct nw_block_req req = request(sector);

    wanted[sector] = 0;
    assert_int_equal(nw_block_trim(&req), NW_OK);
}

static void check(uint32_t sector)
{
    struct nw_block_req req = request(sector);
    uint8_t read[MOST_BYTES];

    req.data = read;
    assert_int_equal(nw_block_read(&req), NW_OK);
    fill(wanted[sector]);
    assert_memory_equal(read, data, ftl.block.sector_bytes);
}

static void check_all(void)
{
    for (uint32_t sector = 0; sector < ftl.block.sectors; sector++) {
        check(sector);
    }
}

static void sync(void)
{
    struct nw_block_req req = request(0);

    assert_int_equal(nw_block_sync(&req), NW_OK);
}

/* Each block has as many valid pages as are counted for it, one that is free has none. */
static void check_counts(void)
{
    uint32_t where;

    assert_int_equal(nw_ftl_tree_check(&ftl, &where), NW_OK);
}

/* Full to the last sector, written at random, with mounts and trims now and then: never
 * NW_ERR_FULL, and all is there. */
static void test_full_device(void **state)
{
    (void)state;
    for (size_t i = 0; i < SHAPES; i++) {
        struct nw_random random;

        nw_random_seed(&random, (uint32_t)i);
        open_shape(&shapes[i]);
        for (uint32_t sector = 0; sector < ftl.block.sectors; sector++) {
            write(sector);
        }
        for (uint32_t turn = 0; turn < 6U * ftl.block.sectors; turn++) {
            write(nw_random_below(&random, ftl.block.sectors));
            if (nw_random_below(&random, 50) == 0) {
                check(nw_random_below(&random, ftl.block.sectors));
            }
            if (nw_random_below(&random, 200) == 0) {
                trim(nw_random_below(&random, ftl.block.sectors));
                sync();
            }
            if (nw_random_below(&random, 1000) == 0) {
                mount();
            }
            if (nw_random_below(&random, 700) == 0) {
                check_counts();
            }
        }
        check_all();
        mount();
        check_all();
        close_shape();
    }
}

static struct nw_ftl_tree_most longest(enum nw_ftl_tree_call call)
{
    struct nw_ftl_tree_most most;

    assert_int_equal(nw_ftl_tree_longest(&config, &chip()->geometry, call, &most), NW_OK);
    return most;
}

/* The longest call of a full device, far below what the geometry bounds. With few spare blocks a
 * write may wait for cleaning. */
static void test_longest_write(void **state)
{
    (void)state;
    for (size_t i = 0; i < SHAPES; i++) {
        struct nw_random random;
        uint64_t with_erase = 0;
        uint64_t without = 0;

        nw_random_seed(&random, (uint32_t)i);
        open_shape(&shapes[i]);
        for (uint32_t sector = 0; sector < ftl.block.sectors; sector++) {
            write(sector);
        }
        for (uint32_t turn = 0; turn < 8U * ftl.block.sectors; turn++) {
            struct nw_nand_counts before = *nw_nand_stats(nand);

            write(nw_random_below(&random, ftl.block.sectors));
            uint64_t programs = nw_nand_stats(nand)->programs - before.programs;
            uint64_t erases = nw_nand_stats(nand)->erases - before.erases;
            uint64_t *most = erases != 0 ? &with_erase : &without;

            assert_in_range(erases, 0, 1);
            *most = programs > *most ? programs : *most;
        }
        uint32_t bound = longest(NW_FTL_TREE_CHANGE).programs;

        assert_in_range(with_erase, 1, bound * 2U / 3U);
        assert_in_range(without, 2, bound * 2U / 3U);
        close_shape();
    }
}

/* What the longest calls are on 128 MiB: a change, computed, 30 ms; as a rule a tenth of that. */
static void test_bounds(void **state)
{
    struct nw_ftl_tree_config own = {0};
    struct nw_ftl_tree_most most;
    struct nw_part part;
    struct nw_nand_config twin = {.part = &part};

    (void)state;
    assert_int_equal(nw_parts_get("K9F1G08U0A", &part), NW_OK);
    assert_int_equal(nw_nand_open(&nand, &twin), NW_OK);
    assert_int_equal(nw_ftl_tree_longest(&own, &chip()->geometry, NW_FTL_TREE_CHANGE, &most),
                     NW_OK);
    print_message("a change: %u reads, %u programs, %u erases\n", (unsigned)most.reads,
                  (unsigned)most.programs, (unsigned)most.erases);
    assert_in_range(most.reads, 1, 400); /* twice: most are of a tag, 30 us */
    assert_in_range(most.programs, 1, 70);
    assert_in_range(most.erases, 1, 3);
    own.spare_blocks = 1;
    assert_int_equal(nw_ftl_tree_longest(&own, &chip()->geometry, NW_FTL_TREE_CHANGE, &most),
                     NW_ERR_CONFIG);
    nw_nand_close(nand);
}

/* Reads go on and nothing is written. */
static void test_read_only(void **state)
{
    struct nw_nand_counts before;
    struct nw_block_req req;

    (void)state;
    open_shape(&shapes[3]);
    for (uint32_t sector = 0; sector < ftl.block.sectors; sector += 3U) {
        write(sector);
    }
    trim(3);
    sync();
    write(5);
    before = *nw_nand_stats(nand);
    memset(ram, 0xC3, ram_bytes);
    assert_int_equal(nw_ftl_tree_mount_read_only(&ftl, chip(), &config, ram, ram_bytes), NW_OK);
    check_all();
    req = request(5);
    assert_int_equal(nw_block_write(&req), NW_ERR_UNSUPPORTED);
    req = request(5);
    assert_int_equal(nw_block_trim(&req), NW_ERR_UNSUPPORTED);
    req = request(0);
    assert_int_equal(nw_block_sync(&req), NW_OK);
    req.budget_us = 1000000;
    assert_int_equal(nw_block_idle(&req), NW_ERR_UNSUPPORTED);
    assert_int_equal(nw_nand_stats(nand)->programs, before.programs);
    assert_int_equal(nw_nand_stats(nand)->erases, before.erases);
    mount();
    check_all();
    close_shape();
}

/* Half of the sectors never change: what is hot goes round among the rest. */
static void test_hot_spot(void **state)
{
    struct nw_random random;

    (void)state;
    nw_random_seed(&random, 4);
    open_shape(&shapes[0]);
    for (uint32_t sector = 0; sector < ftl.block.sectors; sector++) {
        write(sector);
    }
    for (uint32_t turn = 0; turn < 10000U; turn++) {
        write(nw_random_below(&random, 20));
    }
    check_all();
    close_shape();
}

/* Mounts alone, of a device that is full: they give back what they take. */
static void test_mounts_alone(void **state)
{
    (void)state;
    for (size_t i = 0; i < SHAPES; i++) {
        open_shape(&shapes[i]);
        for (uint32_t turn = 0; turn < 2U * ftl.block.sectors; turn++) {
            write((turn * 7919U) % ftl.block.sectors);
        }
        for (uint32_t turn = 0; turn < 150U; turn++) {
            mount();
        }
        for (uint32_t turn = 0; turn < ftl.block.sectors; turn++) {
            write((turn * 104729U) % ftl.block.sectors);
        }
        check_all();
        close_shape();
    }
}

/* Idle time leaves one program and no erase for a write, and a look-up. */
static void test_idle(void **state)
{
    struct nw_random random;

    (void)state;
    nw_random_seed(&random, 9);
    open_shape(&shapes[0]);
    for (uint32_t sector = 0; sector < ftl.block.sectors; sector++) {
        write(sector);
    }
    for (uint32_t turn = 0; turn < 3000U; turn++) {
        struct nw_block_req req = request(0);
        uint64_t erases;

        req.budget_us = 20000;
        assert_true(nw_block_idle(&req) >= 0);
        erases = nw_nand_stats(nand)->erases;
        write(nw_random_below(&random, ftl.block.sectors));
        assert_int_equal(nw_nand_stats(nand)->erases, erases);
    }
    close_shape();
}

/* The same device with other amounts of RAM; one byte less than the least is refused. */
static void test_ram(void **state)
{
    size_t least;

    (void)state;
    open_shape(&shapes[2]);
    least = nw_ftl_tree_ram_bytes(&config, &chip()->geometry);
    for (uint32_t sector = 0; sector < ftl.block.sectors; sector += 2U) {
        write(sector);
    }
    free(ram);
    ram = malloc(least + 40000U);
    for (ram_bytes = least; ram_bytes < least + 40000U; ram_bytes += 3001U) {
        mount();
        write((uint32_t)ram_bytes % ftl.block.sectors);
        check_all();
    }
    assert_int_equal(nw_ftl_tree_mount(&ftl, chip(), &config, ram, least - 1U), NW_ERR_RAM);
    close_shape();
}

/* Chips that it does not take, and devices of others. */
static void test_refusals(void **state)
{
    struct nw_ftl_tree_config other = {.spare_blocks = 14};
    struct nw_geometry geometry;

    (void)state;
    open_shape(&shapes[1]);
    geometry = chip()->geometry;
    assert_int_equal(nw_ftl_tree_mount(&ftl, chip(), &other, ram, ram_bytes), NW_ERR_VERSION);
    other.spare_blocks = 11;
    assert_int_equal(nw_ftl_tree_mount(&ftl, chip(), &other, ram, ram_bytes), NW_ERR_CONFIG);
    geometry.block_pages = 15;
    assert_int_equal(nw_ftl_tree_ram_bytes(&config, &geometry), 0);
    geometry.block_pages = 257;
    assert_int_equal(nw_ftl_tree_sectors(&config, &geometry), 0);
    geometry.block_pages = 16;
    geometry.spare_bytes = 14;
    assert_int_equal(nw_ftl_tree_sectors(&config, &geometry), 0);
    close_shape();
}

/* The root of a new device gets the mark of the format before. */
static void set_older_format(void)
{
    uint16_t block_pages = chip()->geometry.block_pages;
    uint8_t kept[5][MOST_BYTES];
    struct nw_tag tags[5];
    struct nw_tagged tagged;
    uint32_t first = 0;

    nw_tagged_open(&tagged, chip(), NULL);
    while (nw_nand_page_programs(nand, first) == 0) {
        first += block_pages;
    }
    for (uint32_t i = 0; i < 5U; i++) { /* root, root, no copy, END, END */
        if (nw_nand_page_programs(nand, first + i) != 0) {
            assert_int_equal(nw_tagged_read(&tagged, first + i, ftl.block.sector_bytes, kept[i]),
                             NW_TAG_GOOD);
            tags[i] = tagged.tag;
        }
    }
    tagged.req.block = first / block_pages;
    assert_int_equal(nw_chip_erase(&tagged.req), NW_OK);
    for (uint32_t i = 0; i < 5U; i++) {
        if (i == 2U) {
            continue;
        }
        if (tags[i].word == NW_MARK_LIST) {
            assert_int_equal(kept[i][3], '3');
            kept[i][3]--;
            tags[i].crc = nw_tag_sum(kept[i], ftl.block.sector_bytes);
        }
        tagged.tag = tags[i];
        assert_int_equal(nw_tagged_program(&tagged, first + i, ftl.block.sector_bytes, kept[i]),
                         NW_OK);
    }
}

/* Another format is refused as such, and nothing is written; a format makes it a device. */
static void test_older_format(void **state)
{
    struct nw_nand_counts before;

    (void)state;
    open_shape(&shapes[1]);
    set_older_format();
    before = *nw_nand_stats(nand);
    assert_int_equal(nw_ftl_tree_mount(&ftl, chip(), &config, ram, ram_bytes), NW_ERR_VERSION);
    assert_int_equal(nw_ftl_tree_mount_read_only(&ftl, chip(), &config, ram, ram_bytes),
                     NW_ERR_VERSION);
    assert_int_equal(nw_nand_stats(nand)->programs, before.programs);
    assert_int_equal(nw_nand_stats(nand)->erases, before.erases);
    assert_int_equal(nw_ftl_tree_format(&ftl, chip(), &config, ram, ram_bytes), NW_OK);
    mount();
    check_all();
    close_shape();
}

/* Exact costs of a small script: K9F1G08U0A's pages, 40 blocks of 64. */
static void test_costs(void **state)
{
    struct nw_nand_counts before;
    const struct nw_nand_counts *now;

    (void)state;
    open_shape(&shapes[0]);
    now = nw_nand_stats(nand);
    before = *now;
    write(5); /* nothing is known of it: no read; a block begins */
    assert_int_equal(now->reads - before.reads, 0);
    assert_int_equal(now->programs - before.programs, 3);
    before = *now;
    check(5); /* in RAM, and the page */
    check(6); /* nowhere: the root has no entries yet */
    check(7); /* looked up with it */
    assert_int_equal(now->reads - before.reads, 1);
    before = *now;
    sync();
    assert_int_equal(now->programs - before.programs, 0);
    trim(5);
    assert_int_equal(now->programs - before.programs, 0);
    sync();
    assert_int_equal(now->programs - before.programs, 2);
    for (uint32_t sector = 0; sector < 62U; sector++) { /* 5 pages are used: into the next block */
        write(sector);
    }
    assert_int_equal(now->erases - before.erases, 1);
    assert_int_equal(now->programs - before.programs, 2U + 62U + 2U);
    before = *now;
    mount(); /* heads, of blank blocks two pages, tags of six pages; nothing of the map */
    assert_int_equal(now->programs - before.programs, 5); /* root twice, a copy, two ends */
    assert_int_equal(now->erases - before.erases, 1);
    assert_in_range(now->reads - before.reads, 70, 100);
    close_shape();
}

static void assert_takes(uint16_t page_bytes, uint16_t block_pages, uint32_t blocks, int takes)
{
    struct nw_ftl_tree_config tight = {.spare_blocks = 12};
    struct nw_geometry geometry = {.blocks = blocks,
                                   .block_pages = block_pages,
                                   .page_bytes = page_bytes,
                                   .spare_bytes = 16,
                                   .program_bytes = page_bytes,
                                   .page_programs = 1,
                                   .erased = 0xFF};

    assert_int_equal(nw_ftl_tree_sectors(&tight, &geometry) != 0, takes);
}

/* The header named rounder limits than the code has: it accepted chips that were said to be too
 * large. These are the last that it takes, and the first that it does not. */
static void test_limits(void **state)
{
    (void)state;
    assert_takes(256, 64, 12U + 1275U, 1); /* x 62: 79,050 */
    assert_takes(256, 64, 12U + 1276U, 0);
    assert_takes(512, 64, 12U + 14811U, 1); /* x 62: 918,282 */
    assert_takes(512, 64, 12U + 14812U, 0);
    assert_takes(1024, 256, 12U + 33726U, 1); /* x 254: 8,566,404 */
    assert_takes(1024, 256, 12U + 33727U, 0);
    assert_takes(2048, 256, 65534, 1);
    assert_takes(2048, 256, 65535, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_full_device), cmocka_unit_test(test_hot_spot),
        cmocka_unit_test(test_mounts_alone), cmocka_unit_test(test_idle),
        cmocka_unit_test(test_ram),         cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_costs), cmocka_unit_test(test_longest_write),
        cmocka_unit_test(test_limits),         cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_read_only),    cmocka_unit_test(test_older_format),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: what more RAM brings the tree layer, to the unit. With a bit a page cleaning reads no
 * sector's page but those that it moves, once. With the long list of changes a session writes four
 * blocks behind one root. A mount takes any RAM from the least on, whatever the session before it
 * had; one that writes nothing says NW_ERR_RAM and touches nothing. A mount in the midst of a
 * session keeps the trims that are in RAM alone, also where it meets more changes than the list has
 * room for.
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
#include "nandwich/bytes.h"
#include "nandwich/ftl_tree_check.h"
#include "nandwich/random.h"
#include "../../core/ftl/tree.h"
#include "pass_chip.h"

#define MOST_BYTES 2048U
#define MOST_SPARE 64U
#define PLENTY (512U * 1024U) /* all that RAM is good for */
#define STRETCH NW_FLOOR_STRETCH
#define ROOTS NW_FLOOR_ROOTS

struct shape {
    uint32_t blocks;
    uint16_t block_pages;
    uint16_t page_bytes;
};

static const struct shape large = {40, 64, 2048};
static const struct shape small = {40, 16, 512};
static const struct shape tiny = {40, 16, 256}; /* a stretch has pushes in it */
static const struct shape tight = {40, 34, 256}; /* and a block more pages than the list has room */

static struct nw_nand *nand;
static struct nw_chip chip; /* a filter: reads of sectors' pages are counted */
static struct nw_chip_ops ops;
static uint64_t sector_reads;
static struct nw_ftl_tree ftl;
static const struct nw_ftl_tree_config config = {.spare_blocks = 20};
static uint8_t *ram;
static uint32_t *wanted; /* what each sector holds; 0: nothing */
static uint32_t serial;
static uint8_t data[MOST_BYTES];

static uint32_t pages(void)
{
    return chip.geometry.blocks * chip.geometry.block_pages;
}

/* What the page's tag says; NW_FLOOR_NONE: it is not written. */
static uint32_t word_of(uint32_t page, uint64_t *version)
{
    uint8_t bytes[MOST_BYTES];
    uint8_t spare[MOST_SPARE];

    if (nw_nand_page_programs(nand, page) == 0) {
        return NW_FLOOR_NONE;
    }
    nw_nand_peek(nand, page, bytes, spare);
    *version = nw_get32(spare + 4) | ((uint64_t)spare[8] << 32);
    return nw_get32(spare);
}

static int count_read(struct nw_chip_req *req)
{
    struct nw_chip_req below = pass_below(req);
    uint64_t version;

    sector_reads += (word_of(req->page, &version) & (NW_FLOOR_OWN | NW_FLOOR_TWICE)) == 0;
    return nw_chip_read(&below);
}

static size_t least(void)
{
    return nw_ftl_tree_ram_bytes(&config, &chip.geometry);
}

/* A new device, with the least RAM or with plenty. */
static void open_shape(const struct shape *shape, int plenty)
{
    struct nw_part part;
    struct nw_nand_config twin = {.part = &part, .seed = 3};

    assert_int_equal(nw_parts_get("K9F1G08U0A", &part), NW_OK);
    part.blocks = shape->blocks;
    part.block_pages = shape->block_pages;
    part.page_bytes = shape->page_bytes;
    assert_int_equal(nw_nand_open(&nand, &twin), NW_OK);
    pass_chip_open(&chip, &ops, nw_nand_chip(nand));
    ops.read = count_read;
    ram = malloc(PLENTY);
    assert_non_null(ram);
    memset(ram, 0xC3, PLENTY);
    assert_int_equal(
        nw_ftl_tree_format(&ftl, &chip, &config, ram, plenty ? PLENTY : least()), NW_OK);
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

static void fill(uint8_t *bytes, uint32_t token)
{
    for (uint16_t i = 0; i < ftl.block.sector_bytes; i++) {
        bytes[i] = (uint8_t)(token == 0 ? 0 : (token >> (i & 3U) * 8U) + i);
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
    fill(data, serial);
    assert_int_equal(nw_block_write(&req), NW_OK);
}

static void check_all(void)
{
    uint32_t where;

    for (uint32_t sector = 0; sector < ftl.block.sectors; sector++) {
        struct nw_block_req req = request(sector);
        uint8_t bytes[MOST_BYTES];

        assert_int_equal(nw_block_read(&req), NW_OK);
        fill(bytes, wanted[sector]);
        assert_memory_equal(bytes, data, ftl.block.sector_bytes);
    }
    assert_int_equal(nw_ftl_tree_check(&ftl, &where), NW_OK);
}

static void churn(struct nw_random *random, uint32_t writes)
{
    for (; writes > 0; writes--) {
        write(nw_random_below(random, ftl.block.sectors));
    }
}

/* Sectors' pages that are read for each that cleaning moves, in hundredths. */
static uint32_t reads_a_copy(int plenty)
{
    struct nw_random random;

    nw_random_seed(&random, 5);
    open_shape(&small, plenty);
    for (uint32_t sector = 0; sector < ftl.block.sectors; sector++) {
        write(sector);
    }
    churn(&random, ftl.block.sectors);
    uint64_t copies = ftl.stats.copies;

    sector_reads = 0;
    churn(&random, 4U * ftl.block.sectors);
    copies = ftl.stats.copies - copies;
    assert_true(copies > 100U);
    uint32_t share = (uint32_t)(100U * sector_reads / copies);

    check_all();
    close_shape();
    return share;
}

/* A page that is not reached is not read, and one that is but once. Without the bits each page's
 * tag is read, and each that moves a second time. */
static void test_live_pages_alone(void **state)
{
    (void)state;
    assert_int_equal(reads_a_copy(1), 100);
    assert_true(reads_a_copy(0) > 200U);
}

/* Pages that hold a root. */
static uint32_t roots(void)
{
    uint64_t version;
    uint32_t count = 0;

    for (uint32_t page = 0; page < pages(); page++) {
        count += word_of(page, &version) == NW_FLOOR_ROOT;
    }
    return count;
}

/* Writes of a new device, until a root is written: how many there were. Costs are exact. */
static uint32_t writes_behind_a_root(int plenty, uint32_t blocks)
{
    uint32_t behind = 0;

    open_shape(&large, plenty);
    write(0);
    uint32_t before = roots(); /* the format's, and this block's */
    const struct nw_nand_counts *now = nw_nand_stats(nand);
    struct nw_nand_counts was = *now;

    while (roots() == before) {
        write(++behind);
    }
    assert_int_equal(roots(), before + ROOTS);
    assert_int_equal(now->programs - was.programs, behind + ROOTS);
    assert_int_equal(now->erases - was.erases, blocks);
    check_all();
    close_shape();
    return behind;
}

static void test_one_root_for_four_blocks(void **state)
{
    uint32_t block = large.block_pages;

    (void)state;
    assert_int_equal(writes_behind_a_root(1, STRETCH), STRETCH * block - ROOTS);
    assert_int_equal(writes_behind_a_root(0, 1), block - ROOTS);
}

/* The blocks of a stretch have versions in a row, from one that is a multiple of eight on. */
static void test_versions(void **state)
{
    uint64_t first = 0;
    uint64_t version = 0;
    unsigned seen = 0;

    (void)state;
    open_shape(&large, 1);
    for (uint32_t i = 0; i < STRETCH * large.block_pages - ROOTS; i++) {
        write(i);
    }
    for (uint32_t page = 0; page < pages(); page++) { /* blocks are taken in order */
        uint32_t word = word_of(page, &version);

        if (word == NW_FLOOR_NONE || (version & NW_FLOOR_MOUNT) != 0) {
            continue;
        }
        if (page % large.block_pages == 0) {
            first = seen == 0 ? version : first;
            assert_int_equal(word == NW_FLOOR_ROOT, seen == 0);
            assert_int_equal(version, first + seen);
            seen++;
        }
        assert_int_equal(version, first + seen - 1U);
    }
    assert_int_equal(seen, STRETCH);
    assert_int_equal(first % NW_FLOOR_SESSION, 0);
    close_shape();
}

/* Does the session at hand have more changes behind its root than a mount with the least RAM has
 * room for? */
static int is_beyond_least(void)
{
    const struct nw_tree *tree = ftl.tree;
    unsigned room = tree->floor.used_pages;

    room = room < tree->root_room / 2U ? room : tree->root_room / 2U;
    return tree->change_count > room + 2U && tree->floor.begun > 1U;
}

static void open_with(size_t ram_bytes)
{
    memset(ram, 0xC3, PLENTY);
    assert_int_equal(nw_ftl_tree_mount(&ftl, &chip, &config, ram, ram_bytes), NW_OK);
}

/* A device that was written with plenty is mounted with the least. The changes that have no room go
 * into the root of the mount. It writes no more for that: root, root, the copy, END, END. A mount
 * that has no root to write says so. */
static void fold(const struct shape *shape, uint32_t seed)
{
    struct nw_random random;

    nw_random_seed(&random, seed);
    open_shape(shape, 1);
    for (uint32_t sector = 0; sector < ftl.block.sectors; sector++) {
        write(sector);
    }
    churn(&random, ftl.block.sectors);
    for (uint32_t turn = 0; !is_beyond_least(); turn++) {
        assert_in_range(turn, 0, 100000);
        write(nw_random_below(&random, ftl.block.sectors));
    }
    struct nw_nand_counts before = *nw_nand_stats(nand);
    const struct nw_nand_counts *now = nw_nand_stats(nand);

    memset(ram, 0xC3, PLENTY);
    assert_int_equal(nw_ftl_tree_mount_read_only(&ftl, &chip, &config, ram, least()), NW_ERR_RAM);
    assert_int_equal(nw_ftl_tree_mount_read_only(&ftl, &chip, &config, ram, PLENTY), NW_OK);
    check_all();
    assert_int_equal(now->programs, before.programs);
    assert_int_equal(now->erases, before.erases);
    open_with(least());
    assert_int_equal(now->programs - before.programs, 5);
    check_all();
    churn(&random, ftl.block.sectors);
    check_all();
    memset(ram, 0xC3, PLENTY);
    assert_int_equal(nw_ftl_tree_mount_read_only(&ftl, &chip, &config, ram, least()), NW_OK);
    check_all();
    open_with(PLENTY);
    check_all();
    close_shape();
}

static void test_mount_with_less(void **state)
{
    (void)state;
    for (uint32_t seed = 0; seed < 6U; seed++) {
        fold(&small, seed);
        fold(&tiny, seed);
    }
}

/* Trims that were not synced, and a program that fails: the mount behind it keeps them. */
static void trim_and_fail(const struct shape *shape, int plenty, uint32_t seed)
{
    struct nw_random random;

    nw_random_seed(&random, seed);
    open_shape(shape, plenty);
    for (uint32_t sector = 0; sector < ftl.block.sectors; sector++) {
        write(sector);
    }
    churn(&random, ftl.block.sectors + 3U * seed);
    for (uint32_t i = 0; i < 1U + seed % 16U; i++) {
        uint32_t sector = nw_random_below(&random, ftl.block.sectors / 2U);
        struct nw_block_req req = request(sector);

        wanted[sector] = 0;
        assert_int_equal(nw_block_trim(&req), NW_OK);
    }
    nw_nand_doom(nand, ftl.tree->floor.current, 1);
    for (uint32_t i = 0; i < 4U; i++) {
        write(ftl.block.sectors / 2U + i);
    }
    check_all();
    close_shape();
}

static void test_trims_stay(void **state)
{
    (void)state;
    for (uint32_t seed = 0; seed < 100U; seed++) {
        trim_and_fail(&tiny, seed % 2U != 0, seed);
        trim_and_fail(&small, seed % 2U != 0, seed);
        trim_and_fail(&tight, seed % 2U != 0, seed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_live_pages_alone),
        cmocka_unit_test(test_one_root_for_four_blocks),
        cmocka_unit_test(test_versions),
        cmocka_unit_test(test_mount_with_less),
        cmocka_unit_test(test_trims_stay),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

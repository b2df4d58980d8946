/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: a page that can never be read again, whichever it is, costs the tree layer no more than its
 * own content. Each page of small devices in turn: the device mounts, the sector whose content was
 * there answers an error, all others read as they did, and what is written later stays.
 *
 * Roots and nodes stand twice: of the map nothing is lost, and no write fails. The page written
 * last looks like one that was cut: its sector holds what it held before, or zeros; if a root
 * counts for that page alone, the trims of that root are undone. So may, on chips with less than 18
 * spare bytes, the sector of any page that was written since the newest root.
 * ctest: slow
 * ctest: soak
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
#include "effort.h"
#include "pass_chip.h"

#define EVERY EFFORT(1U, 5U) /* pages */

#define MOST_BYTES 512U
#define NOWHERE 0xFFFFFFFFU

struct shape {
    const char *part;
    uint32_t blocks;
    uint16_t block_pages;
    uint16_t page_bytes;
    uint16_t frames;  /* nodes in the cache, and what RAM brings before that */
    uint16_t stretch; /* blocks behind one root, at most */
};

static const struct shape shapes[] = {
    {"K9F1G08U0A", 20, 16, 256, 0, 1},
    {"K9F1G08U0A", 19, 64, 256, 0, 1}, /* several roots a block: changes fill RAM */
    {"TC58DVG02A1FT00", 20, 20, 512, 0, 1},
    {"K9F1G08U0A", 22, 16, 256, 6, NW_FLOOR_STRETCH}, /* pushes in a stretch */
    {"K9F1G08U0A", 26, 16, 512, 7, NW_FLOOR_STRETCH}, /* whole ones of four blocks */
};

#define SHAPES (sizeof shapes / sizeof shapes[0])

/* How the session before ended. */
enum last_days { IN_BLOCK, AT_MOUNT, AT_SYNC, BEHIND_SYNC, NEW_BLOCK, DAYS };

static struct nw_nand *nand;
static struct nw_nand *kept; /* as it was before anything rotted */
static struct nw_chip chip;  /* a filter: one page answers NW_ERR_ECC */
static struct nw_chip_ops ops;
static uint32_t rotten;
static int tag_stays; /* its tag can still be read */
static struct nw_ftl_tree ftl;
static struct nw_ftl_tree_config config;
static void *ram;
static size_t ram_bytes;
static uint32_t *wanted;
static uint32_t *saved; /* wanted, as it was with `kept` */
static uint32_t serial;
static uint8_t data[MOST_BYTES];

/* What the losses were, over all pages. */
static unsigned told;
static unsigned last_gone;
static unsigned older;
static unsigned cuts;

static int rot_read(struct nw_chip_req *req)
{
    struct nw_chip_req below = pass_below(req);

    return req->page == rotten && (req->length != 0 || !tag_stays) ? (int)NW_ERR_ECC
                                                                   : nw_chip_read(&below);
}

static int rot_erase(struct nw_chip_req *req)
{
    struct nw_chip_req below = pass_below(req);

    rotten = rotten / chip.geometry.block_pages == req->block ? NOWHERE : rotten;
    return nw_chip_erase(&below);
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
    rotten = NOWHERE;
    pass_chip_open(&chip, &ops, nw_nand_chip(nand));
    ops.read = rot_read;
    ops.erase = rot_erase;
    config.spare_blocks = 12;
    ram_bytes = nw_ftl_tree_ram_bytes(&config, &chip.geometry) +
                shape->frames * (shape->page_bytes + sizeof(uint32_t)) + sizeof(uint32_t);
    ram = malloc(ram_bytes);
    assert_non_null(ram);
    assert_int_equal(nw_ftl_tree_format(&ftl, &chip, &config, ram, ram_bytes), NW_OK);
    assert_int_equal(ftl.tree->floor.stretch, shape->stretch);
    assert_int_equal(ftl.tree->floor.live != NULL, shape->stretch > 1U);
    wanted = calloc(ftl.block.sectors, sizeof *wanted);
    saved = calloc(ftl.block.sectors, sizeof *saved);
    assert_true(wanted != NULL && saved != NULL);
}

static void close_shape(void)
{
    assert_int_equal(nw_nand_misuse(nand)->error, 0);
    nw_nand_close(nand);
    nw_nand_close(kept);
    kept = NULL;
    free(ram);
    free(wanted);
    free(saved);
}

static void mount(void)
{
    memset(ram, 0xC3, ram_bytes);
    int result = nw_ftl_tree_mount(&ftl, &chip, &config, ram, ram_bytes);

    if (result != NW_OK) {
        fail_msg("page %u lost: the mount answers %d", (unsigned)rotten, result);
    }
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
    int result = nw_block_write(&req);

    if (result != NW_OK) {
        fail_msg("page %u lost: a write answers %d", (unsigned)rotten, result);
    }
}

static void trim(uint32_t sector)
{
    struct nw_block_req req = request(sector);

    wanted[sector] = 0;
    assert_int_equal(nw_block_trim(&req), NW_OK);
}

static void sync(void)
{
    struct nw_block_req req = request(0);

    assert_int_equal(nw_block_sync(&req), NW_OK);
}

static void work(struct nw_random *random, uint32_t writes)
{
    for (uint32_t i = 0; i < writes; i++) {
        uint32_t sector = nw_random_below(random, ftl.block.sectors);

        if (nw_random_below(random, 40) == 0) {
            trim(sector);
            sync();
        } else {
            write(sector);
        }
    }
}

/* A used device at rest, whose last session ended in one of these ways. */
static void grow(const struct shape *shape, enum last_days day, uint32_t seed)
{
    struct nw_random random;

    nw_random_seed(&random, seed);
    open_shape(shape);
    for (uint32_t sector = 0; sector < ftl.block.sectors; sector++) {
        if (sector % 16U != 5U) { /* some are never written */
            write(sector);
        }
    }
    work(&random, ftl.block.sectors + seed % 40U);
    if (day != IN_BLOCK) {
        mount();
    }
    if (day == AT_SYNC || day == BEHIND_SYNC) {
        work(&random, 9U + seed % 7U);
        trim(3);
        sync();
    }
    if (day == BEHIND_SYNC) {
        write(1);
        write(2);
    }
    if (day == NEW_BLOCK) { /* a few pages behind the head */
        work(&random, 30);
        while (ftl.tree->floor.left + 3U + seed % 3U != shape->block_pages) {
            write(nw_random_below(&random, ftl.block.sectors));
        }
    }
    assert_int_equal(nw_nand_fork(&kept, nand), NW_OK);
    memcpy(saved, wanted, ftl.block.sectors * sizeof *saved);
}

/* The page that ends the newest block. */
static uint32_t find_last(void)
{
    const struct nw_geometry *geometry = &chip.geometry;
    uint64_t newest = 0;
    uint32_t last = 0;

    for (uint32_t page = 0; page < geometry->blocks * geometry->block_pages; page++) {
        uint8_t spare[1024];

        nw_nand_peek(nand, page, data, spare);
        uint64_t version = nw_get32(spare + 4) | ((uint64_t)spare[8] << 32);
        if (nw_nand_page_programs(nand, page) > 0 && version >= newest &&
            !nw_nand_block_bad(nand, page / geometry->block_pages)) {
            newest = version;
            last = page;
        }
    }
    return last;
}

/* What a page holds: its sector, if it is that one's content now. */
static uint32_t sector_in(uint32_t page)
{
    uint8_t spare[1024];
    uint8_t bytes[MOST_BYTES];

    nw_nand_peek(nand, page, data, spare);
    uint32_t word = nw_get32(spare);
    if (word >= ftl.block.sectors || wanted[word] == 0) {
        return NOWHERE;
    }
    fill(bytes, wanted[word]);
    return memcmp(bytes, data, ftl.block.sector_bytes) == 0 ? word : NOWHERE;
}

enum { MAP = 1, CONFIRMS }; /* CONFIRMS: a page without data, for which a root counts */

static int is_map(uint32_t page)
{
    uint8_t spare[1024];

    nw_nand_peek(nand, page, data, spare);
    uint32_t word = nw_get32(spare);
    return word == NW_FLOOR_FILL ? CONFIRMS : (word & 0xB0000000U) != 0 ? MAP : 0;
}

/* Reads all, takes what it shows for true from now on. */
static void judge(uint32_t page, uint32_t held, int map, uint32_t last)
{
    int is_last = page == last;
    int is_newest = page / chip.geometry.block_pages == last / chip.geometry.block_pages;

    for (uint32_t sector = 0; sector < ftl.block.sectors; sector++) {
        struct nw_block_req req = request(sector);
        uint8_t bytes[MOST_BYTES];
        int result = nw_block_read(&req);

        fill(bytes, wanted[sector]);
        if (result == NW_OK && memcmp(bytes, data, ftl.block.sector_bytes) == 0) {
            continue;
        }
        if (result == NW_OK && is_last && (sector == held || map == CONFIRMS)) {
            last_gone++;
        } else if (result == NW_OK && sector == held && is_newest &&
                   chip.geometry.spare_bytes < 18U) {
            older++;
        } else if ((result == NW_ERR_ECC || result == NW_ERR_CORRUPT) && sector == held) {
            told++;
        } else {
            fail_msg("page %u lost (held %d, map %d): sector %u answers %d, content of %u",
                     (unsigned)page, (int)held, map, (unsigned)sector, result,
                     (unsigned)(nw_get32(data)));
        }
        write(sector);
    }
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

/* Mounts that are cut, some in a row. */
static void cut_mounts(struct nw_random *random, unsigned mounts, uint32_t most)
{
    for (unsigned i = 0; i < mounts; i++) {
        struct nw_cut cut = {.after = 40U + nw_random_below(random, most), .phase = NW_CUT_INSIDE};

        nw_nand_cut(nand, &cut);
        memset(ram, 0xC3, ram_bytes);
        (void)nw_ftl_tree_mount(&ftl, &chip, &config, ram, ram_bytes);
        cuts += nw_nand_is_off(nand) != 0;
        nw_nand_cut(nand, NULL);
        nw_nand_power_up(nand);
    }
}

static void rot(uint32_t page, uint32_t last, uint32_t seed)
{
    struct nw_random random;
    uint32_t where;

    nw_random_seed(&random, seed + page);
    assert_int_equal(nw_nand_assign(nand, kept), NW_OK);
    memcpy(wanted, saved, ftl.block.sectors * sizeof *saved);
    uint32_t held = sector_in(page);
    int map = is_map(page);
    rotten = page;
    if ((page + seed) % 3U == 0) {
        cut_mounts(&random, 3, 160);
    }
    mount();
    if (nw_ftl_tree_check(&ftl, &where) != NW_OK) {
        fail_msg("page %u lost: map and counts differ at %u", (unsigned)page, (unsigned)where);
    }
    judge(page, held, map, last);
    work(&random, ftl.block.sectors / 2U);
    check_all();
    mount();
    check_all();
}

static void test_each_page(void **state)
{
    uint32_t seeds = getenv("NW_SOAK") != NULL ? 40U : 1U;

    (void)state;
    for (uint32_t turn = 0; turn < SHAPES * DAYS * seeds; turn++) {
        grow(&shapes[turn % SHAPES], (enum last_days)(turn / SHAPES % DAYS), turn);
        uint32_t pages = chip.geometry.blocks * chip.geometry.block_pages;
        uint32_t last = find_last();

        for (uint32_t page = 0; page < pages; page += EVERY) {
            for (tag_stays = 0; tag_stays < 2 && nw_nand_page_programs(kept, page) > 0;
                 tag_stays++) {
                rot(page, last, turn);
            }
        }
        close_shape();
    }
    print_message("%u sectors told, %u last pages gone, %u older, %u cuts\n", told, last_gone,
                  older, cuts);
    assert_true(told > 100U * seeds && cuts > 200U);
    assert_true(EVERY > 1U || (last_gone > 0 && older > 0));
}

/* The page rots while the device is in use. Writes go on. */
static void rot_in_use(uint32_t page, uint32_t seed)
{
    struct nw_random random;
    uint32_t where;

    nw_random_seed(&random, seed + page);
    rotten = NOWHERE;
    assert_int_equal(nw_nand_assign(nand, kept), NW_OK);
    memcpy(wanted, saved, ftl.block.sectors * sizeof *saved);
    mount();
    if (nw_nand_page_programs(nand, page) == 0) {
        return;
    }
    uint32_t held = sector_in(page);
    int map = is_map(page);
    rotten = page;
    for (uint32_t i = 0; i < ftl.block.sectors / 2U; i++) {
        uint32_t sector = nw_random_below(&random, ftl.block.sectors);
        struct nw_block_req req = request(sector);

        fill(data, ++serial);
        int result = nw_block_write(&req);
        if (result == NW_OK) {
            wanted[sector] = serial;
            held = held == sector ? NOWHERE : held;
        } else {
            fail_msg("page %u lost: a write answers %d", (unsigned)page, result);
        }
    }
    mount();
    if (nw_ftl_tree_check(&ftl, &where) != NW_OK) {
        fail_msg("page %u lost in use: map and counts differ at %u", (unsigned)page,
                 (unsigned)where);
    }
    judge(page, held, map, NOWHERE);
    work(&random, ftl.block.sectors / 2U);
    check_all();
}

static void test_in_use(void **state)
{
    (void)state;
    for (uint32_t turn = 0; turn < SHAPES; turn++) {
        grow(&shapes[turn], IN_BLOCK, turn);
        uint32_t pages = chip.geometry.blocks * chip.geometry.block_pages;

        for (uint32_t page = 0; page < pages; page += EVERY) {
            for (tag_stays = 0; tag_stays < 2; tag_stays++) {
                rot_in_use(page, turn);
            }
        }
        close_shape();
    }
}

/* Each node, at several times of a larger device: pushes that cleaning asks for meet it. */
static void test_nodes_in_use(void **state)
{
    static const struct shape shape = {"K9F1G08U0A", 40, 30, 256, 0, 1};

    (void)state;
    tag_stays = 0;
    for (uint32_t turn = 0; turn < 10U; turn++) {
        grow(&shape, IN_BLOCK, turn * 17U);
        for (uint32_t page = 0; page < shape.blocks * shape.block_pages; page += EVERY) {
            assert_int_equal(nw_nand_assign(nand, kept), NW_OK);
            if (nw_nand_page_programs(nand, page) != 0 && is_map(page)) {
                rot_in_use(page, turn);
            }
        }
        close_shape();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_each_page),
                                       cmocka_unit_test(test_in_use),
                                       cmocka_unit_test(test_nodes_in_use)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: every cut and every view, and deeper at random. A write of the tree layer is cut, then each
 * mount behind it in each of its programs and erases, up to so many in a row; and at each power-up
 * what was cut shows itself in each way that it may (views.h). After each of these histories the
 * device mounts, all that was acknowledged is there, the sector under way holds the old content or
 * the new, and keeps what it showed at one more power-up of each view. Before each of these mounts
 * a read-only one shows what was acknowledged, and changes nothing. Four cuts once lost a sector
 * that was acknowledged long before.
 * ctest: quick
 * ctest: soak
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "nandwich/ftl_tree.h"
#include "nandwich/random.h"
#include "views.h"

#define SHARE 8U /* one sector in so many is read without writing; all by the mount behind it */

static struct nw_ftl_tree ftl;
static struct nw_ftl_tree_config config = {.spare_blocks = 12};
static void *ram;
static size_t ram_bytes;
static uint32_t *wanted;
static uint32_t serial;

static void fill(uint8_t *bytes, uint32_t token)
{
    for (uint32_t i = 0; i < VIEWS_BYTES; i++) {
        bytes[i] = (uint8_t)(token == 0 ? 0 : (token >> (i & 3U) * 8U) + i);
    }
}

static int write(uint32_t sector, uint32_t token)
{
    uint8_t bytes[VIEWS_BYTES];
    struct nw_block_req req = {.block = &ftl.block, .sector = sector, .count = 1, .data = bytes};

    fill(bytes, token);
    return nw_block_write(&req);
}

static int holds(uint32_t sector, uint32_t token)
{
    uint8_t bytes[VIEWS_BYTES];
    uint8_t read[VIEWS_BYTES];
    struct nw_block_req req = {.block = &ftl.block, .sector = sector, .count = 1, .data = read};

    fill(bytes, token);
    return nw_block_read(&req) == NW_OK && memcmp(bytes, read, VIEWS_BYTES) == 0;
}

static struct views_judged judged;

static void shows(uint32_t sector)
{
    if (!holds(sector, judged.wanted[sector]) &&
        !(sector == judged.under_way && holds(sector, judged.coming))) {
        fail_msg("sector %u is lost without writing", (unsigned)sector);
    }
}

/* What a cut left may show itself to the mount and not to the reads behind it. The first program or
 * erase would be cut. */
static void look(void)
{
    static struct views shown;
    struct views *device = views_now;

    memcpy(&shown, device, sizeof shown);
    shown.cut_after = 1;
    views_now = &shown;
    memset(ram, 0xC3, ram_bytes);
    assert_int_equal(
        nw_ftl_tree_mount_read_only(&ftl, &views_chip, &config, ram, ram_bytes), NW_OK);
    shows(judged.under_way);
    views_lose(&shown);
    shows(judged.under_way);
    for (uint32_t sector = 0; sector < judged.count; sector += SHARE) {
        shows(sector);
    }
    assert_int_equal(write(0, 0), NW_ERR_UNSUPPORTED);
    assert_false(shown.off);
    views_now = device;
}

static int mount(void)
{
    look();
    memset(ram, 0xC3, ram_bytes);
    return nw_ftl_tree_mount(&ftl, &views_chip, &config, ram, ram_bytes);
}

static void judge(void)
{
    views_judge(&judged);
}

static void test_views(void **state)
{
    uint32_t seeds = getenv("NW_SOAK") != NULL ? 6U : 2U;
    uint32_t cuts = getenv("NW_SOAK") != NULL ? 3U : 2U;
    uint32_t walks = getenv("NW_SOAK") != NULL ? 300000U : 10000U;

    (void)state;
    ram_bytes = nw_ftl_tree_ram_bytes(&config, &views_chip.geometry);
    ram = malloc(ram_bytes);
    for (uint32_t seed = 0; seed < seeds; seed++) {
        struct nw_random random;
        struct views *device = calloc(1, sizeof *device);

        views_now = device;
        assert_true(ram != NULL && device != NULL);
        assert_int_equal(nw_ftl_tree_format(&ftl, &views_chip, &config, ram, ram_bytes), NW_OK);
        wanted = calloc(ftl.block.sectors, sizeof *wanted);
        assert_non_null(wanted);
        nw_random_seed(&random, seed);
        for (uint32_t i = 0; i < ftl.block.sectors + nw_random_below(&random, 200); i++) {
            uint32_t sector = i < ftl.block.sectors
                                  ? i
                                  : nw_random_below(&random, ftl.block.sectors);
            wanted[sector] = ++serial;
            assert_int_equal(write(sector, serial), NW_OK);
        }
        judged.mount = mount;
        judged.holds = holds;
        judged.wanted = wanted;
        judged.count = ftl.block.sectors;
        judged.under_way = nw_random_below(&random, ftl.block.sectors);
        judged.coming = ++serial;
        device->cut_after = 1;
        assert_int_equal(write(judged.under_way, serial), NW_ERR_POWER);
        judged.histories += views_mounts(device, cuts, mount, judge);
        judged.random = &random;
        for (uint32_t walk = 0; walk < walks; walk++) {
            views_walk(device, &random, 2U + walk % 5U, mount, judge);
        }
        judged.random = NULL;
        free(wanted);
        free(device);
    }
    free(ram);
    print_message("%u histories\n", (unsigned)judged.histories);
    assert_true(judged.histories > 500U);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_views)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: every cut and every view. A write of the tree layer is cut, then each mount behind it in
 * each of its programs and erases, up to so many in a row; and at each power-up what was cut shows
 * itself in each way that it may: a page as its new content, or as blank, or not at all, a block
 * that was being erased as its old content, or as blank, or not at all. What showed whole never
 * turns blank. After each of these histories the device mounts, all that was acknowledged is there,
 * the sector under way holds the old content or the new, and keeps what it showed at one more
 * power-up of each view. Four cuts once lost a sector that was acknowledged long before.
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
#include "view_chip.h"

#define BYTES VIEW_BYTES
#define OPERATIONS 14U

static struct nw_chip chip;
static struct nw_ftl_tree ftl;
static struct nw_ftl_tree_config config = {.spare_blocks = 12};
static void *ram;
static size_t ram_bytes;
static uint32_t *wanted;
static uint32_t under_way;
static uint32_t serial;
static uint32_t histories;

static int mount(void)
{
    memset(ram, 0xC3, ram_bytes);
    return nw_ftl_tree_mount(&ftl, &chip, &config, ram, ram_bytes);
}

static void fill(uint8_t *bytes, uint32_t token)
{
    for (uint32_t i = 0; i < BYTES; i++) {
        bytes[i] = (uint8_t)(token == 0 ? 0 : (token >> (i & 3U) * 8U) + i);
    }
}

static int write(uint32_t sector, uint32_t token)
{
    uint8_t bytes[BYTES];
    struct nw_block_req req = {.block = &ftl.block, .sector = sector, .count = 1, .data = bytes};

    fill(bytes, token);
    return nw_block_write(&req);
}

static int holds(uint32_t sector, uint32_t token)
{
    uint8_t bytes[BYTES];
    uint8_t read[BYTES];
    struct nw_block_req req = {.block = &ftl.block, .sector = sector, .count = 1, .data = read};

    fill(bytes, token);
    return nw_block_read(&req) == NW_OK && memcmp(bytes, read, BYTES) == 0;
}

/* The device has mounted: all is there, and stays. */
static void judge(uint32_t old, uint32_t new)
{
    struct view_chip *mounted = view_chip;
    uint32_t shown = holds(under_way, new) ? new : old;

    for (uint32_t sector = 0; sector < ftl.block.sectors; sector++) {
        if (!holds(sector, sector == under_way ? shown : wanted[sector])) {
            fail_msg("sector %u is lost", (unsigned)sector);
        }
    }
    for (uint32_t pick = 0;; pick++) {
        view_chip = view_chip_fork(mounted);
        int is = view_chip_power_up(pick);

        if (is) {
            histories++;
            assert_int_equal(mount(), NW_OK);
            assert_true(holds(under_way, shown));
        }
        free(view_chip);
        if (!is) {
            break;
        }
    }
    view_chip = mounted;
}

/* Each view of a device without power, and from each of them a mount, whole or cut. */
static void mounts(const struct view_chip *dark, uint32_t cuts, uint32_t old, uint32_t new)
{
    for (uint32_t pick = 0;; pick++) {
        view_chip = view_chip_fork(dark);
        if (!view_chip_power_up(pick)) {
            free(view_chip);
            return;
        }
        struct view_chip *lit = view_chip;

        for (uint32_t at = cuts != 0 ? OPERATIONS : 0U;; at--) {
            view_chip = view_chip_fork(lit);
            view_chip->cut_after = at;
            int result = mount();

            histories++;
            if (at == 0) {
                assert_int_equal(result, NW_OK);
                judge(old, new);
            } else if (view_chip->off) {
                struct view_chip *cut = view_chip;

                mounts(cut, cuts - 1U, old, new);
                view_chip = cut;
            }
            free(view_chip);
            if (at == 0) {
                break;
            }
        }
        free(lit);
    }
}

static void test_views(void **state)
{
    uint32_t seeds = getenv("NW_SOAK") != NULL ? 6U : 2U;
    uint32_t cuts = getenv("NW_SOAK") != NULL ? 3U : 2U;

    (void)state;
    view_chip_open(&chip);
    ram_bytes = nw_ftl_tree_ram_bytes(&config, &chip.geometry);
    ram = malloc(ram_bytes);
    for (uint32_t seed = 0; seed < seeds; seed++) {
        struct nw_random random;
        struct view_chip *device = calloc(1, sizeof *device);

        view_chip = device;
        assert_true(ram != NULL && device != NULL);
        assert_int_equal(nw_ftl_tree_format(&ftl, &chip, &config, ram, ram_bytes), NW_OK);
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
        under_way = nw_random_below(&random, ftl.block.sectors);
        device->cut_after = 1;
        assert_int_equal(write(under_way, ++serial), NW_ERR_POWER);
        mounts(device, cuts, wanted[under_way], serial);
        free(wanted);
        free(device);
    }
    free(ram);
    print_message("%u histories\n", (unsigned)histories);
    assert_true(histories > 500U);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_views)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

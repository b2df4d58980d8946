/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: every cut and every view, and deeper at random. A write of the tree layer is cut, then each
 * mount behind it in each of its programs and erases, up to so many in a row; and at each power-up
 * what was cut shows itself in each way that it may (views.h). After each of these histories the
 * device mounts, all that was acknowledged is there, the sector under way holds the old content or
 * the new, and keeps what it showed at one more power-up of each view. Before each of these mounts
 * a read-only one shows what was acknowledged, and changes nothing. Four cuts once lost a sector
 * that was acknowledged long before. With the least RAM, and with so much that a session goes on
 * into several blocks behind one root.
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

#include "effort.h"
#include "nandwich/bytes.h"
#include "nandwich/ftl_tree.h"
#include "nandwich/random.h"
#include "../../core/ftl/floor.h"
#include "views.h"

#define BESIDE 2048U /* bytes of RAM over the least: stretches, a bit a page, some of the map */
#define SHARE 8U /* one sector in so many is read without writing; all by the mount behind it */

static struct nw_ftl_tree ftl;
static struct nw_ftl_tree_config config = {.spare_blocks = 12};
static void *ram;
static size_t ram_bytes;
static uint32_t *wanted;
static uint32_t serial;
static unsigned gone_on; /* cuts in a block that goes on with a stretch */

static int write(uint32_t sector, uint32_t token)
{
    return views_write(&ftl.block, sector, token);
}

static int holds(uint32_t sector, uint32_t token)
{
    return views_holds(&ftl.block, sector, token);
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

/* Does the block that was written last go on with a stretch? */
static int goes_on(const struct views *device)
{
    uint64_t newest = 0;

    for (uint32_t page = 0; page < VIEWS_PAGES; page++) {
        const uint8_t *tag = device->bytes[page] + VIEWS_BYTES;
        uint64_t version = nw_get32(tag + 4) | ((uint64_t)tag[8] << 32);

        newest = device->written[page] && version > newest ? version : newest;
    }
    return newest % NW_FLOOR_STRETCH != 0;
}

/* A used device, a write that is cut, and all that may come behind it. */
static void try_seed(uint32_t seed, uint32_t cuts, uint32_t walks)
{
    struct nw_random random;
    struct views *device = calloc(1, sizeof *device);

    views_now = device;
    assert_true(ram != NULL && device != NULL);
    assert_int_equal(nw_ftl_tree_format(&ftl, &views_chip, &config, ram, ram_bytes), NW_OK);
    wanted = calloc(ftl.block.sectors, sizeof *wanted);
    assert_non_null(wanted);
    nw_random_seed(&random, seed);
    for (uint32_t i = 0; i < ftl.block.sectors + nw_random_below(&random, 200); i++) {
        uint32_t sector = i < ftl.block.sectors ? i
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
    gone_on += goes_on(device) != 0;
    judged.histories += views_mounts(device, cuts, mount, judge);
    judged.random = &random;
    for (uint32_t walk = 0; walk < walks; walk++) {
        views_walk(device, &random, 2U + walk % 5U, mount, judge);
    }
    judged.random = NULL;
    free(wanted);
    free(device);
}

static void test_views(void **state)
{
    uint32_t seeds = getenv("NW_SOAK") != NULL ? 6U : 2U;
    uint32_t cuts = getenv("NW_SOAK") != NULL ? 3U : 2U;
    uint32_t walks = getenv("NW_SOAK") != NULL ? 300000U : EFFORT(6000U, 1500U);
    size_t least = nw_ftl_tree_ram_bytes(&config, &views_chip.geometry);

    (void)state;
    ram = malloc(least + BESIDE);
    for (ram_bytes = least; ram_bytes <= least + BESIDE; ram_bytes += BESIDE) {
        gone_on = 0;
        for (uint32_t seed = 0; seed < seeds; seed++) {
            try_seed(seed, cuts, walks);
        }
        print_message("%u bytes of RAM: %u histories, %u of %u cuts in a block that goes on\n",
                      (unsigned)ram_bytes, (unsigned)judged.histories, gone_on, (unsigned)seeds);
        assert_int_equal(gone_on != 0, ram_bytes != least);
    }
    free(ram);
    assert_true(judged.histories > 500U);
}

/* A sync of trims is cut in the first copy of its root. A session that cannot write does not lean
 * on that page: the sectors read the same when it cannot be read any more. */
static void test_torn_root(void **state)
{
    struct views *device = calloc(1, sizeof *device);
    struct nw_block_req req = {.block = &ftl.block, .sector = 19, .count = 1};

    (void)state;
    views_now = device;
    ram_bytes = nw_ftl_tree_ram_bytes(&config, &views_chip.geometry);
    ram = malloc(ram_bytes);
    assert_true(ram != NULL && device != NULL);
    assert_int_equal(nw_ftl_tree_format(&ftl, &views_chip, &config, ram, ram_bytes), NW_OK);
    for (uint32_t sector = 0; sector < 20U; sector++) {
        assert_int_equal(write(sector, sector + 1U), NW_OK);
    }
    assert_int_equal(nw_block_trim(&req), NW_OK);
    device->cut_after = 1;
    assert_int_equal(nw_block_sync(&req), NW_ERR_POWER);
    for (unsigned view = 0; view < 3U; view++) {
        views_now = views_show(device, view);
        memset(ram, 0xC3, ram_bytes);
        assert_int_equal(nw_ftl_tree_mount_read_only(&ftl, &views_chip, &config, ram, ram_bytes),
                         NW_OK);
        views_lose(views_now);
        for (uint32_t sector = 0; sector < 19U; sector++) {
            assert_true(holds(sector, sector + 1U));
        }
        free(views_now);
    }
    free(device);
    free(ram);
}

static uint32_t fades_after; /* reads; 0: it has */
static uint32_t fades;       /* this page; 0: all that a cut left */

static int fading_read(struct nw_chip_req *req)
{
    if (fades_after != 0 && --fades_after == 0 && fades == 0) {
        views_lose(views_now);
    }
    return fades_after == 0 && fades != 0 && req->page == fades ? (int)NW_ERR_ECC
                                                                : views_chip.ops->read(req);
}

/* A device of 20 sectors. A mount is cut in its first END, and the next one, which does not see
 * that END, in the erase of the same block. Then the END shows, and the page of the second END,
 * which was never written, cannot be read. */
static struct views *half_erased(uint32_t *first)
{
    struct views *device = calloc(1, sizeof *device);
    struct views *lit;
    uint32_t end = 0;

    assert_non_null(device);
    views_now = device;
    assert_int_equal(nw_ftl_tree_format(&ftl, &views_chip, &config, ram, ram_bytes), NW_OK);
    for (uint32_t sector = 0; sector < 20U; sector++) {
        assert_int_equal(write(sector, sector != 7U ? sector + 1U : 100U), NW_OK);
    }
    assert_int_equal(write(7, 8), NW_OK); /* the last page */
    device->cut_after = 5; /* erase, root, root, copy, END */
    assert_int_equal(nw_ftl_tree_mount(&ftl, &views_chip, &config, ram, ram_bytes), NW_ERR_POWER);
    while (device->page_kind[end] == 0) {
        end++;
    }
    assert_int_equal(end % VIEWS_BLOCK_PAGES, 3);
    views_now = views_show(device, 0); /* the END is lost */
    free(device);
    views_now->cut_after = 1;
    assert_int_equal(nw_ftl_tree_mount(&ftl, &views_chip, &config, ram, ram_bytes), NW_ERR_POWER);
    assert_int_not_equal(views_now->block_kind[end / VIEWS_BLOCK_PAGES], 0);
    lit = views_show(views_now, 1); /* the block is whole */
    free(views_now);
    lit->page_kind[end + 1U] = lit->page_kind[end];
    lit->page_view[end + 1U] = lit->page_view[end];
    lit->page_view[end] = 0;
    *first = end - 3U;
    return lit;
}

/* A read of the sector that shows this, or fails. */
static int holds_or_fails(uint32_t sector, uint32_t token)
{
    uint8_t bytes[VIEWS_BYTES];
    uint8_t read[VIEWS_BYTES];
    struct nw_block_req req = {.block = &ftl.block, .sector = sector, .count = 1, .data = read};

    views_fill(bytes, token);
    return nw_block_read(&req) != NW_OK || memcmp(bytes, read, VIEWS_BYTES) == 0;
}

/* From some read on, in the mount or behind it, nothing of that block can be read, or one page of
 * it not. A session that cannot write shows what was acknowledged or an error, whichever read it
 * is. */
static void test_half_erased(void **state)
{
    struct nw_chip_ops ops = *views_chip.ops;
    struct nw_chip chip = {.ops = &ops, .geometry = views_chip.geometry};
    struct views shown;
    struct views *device;
    uint32_t first;

    (void)state;
    ops.read = fading_read;
    ram_bytes = nw_ftl_tree_ram_bytes(&config, &views_chip.geometry);
    ram = malloc(ram_bytes);
    assert_non_null(ram);
    device = half_erased(&first);
    views_now = &shown;
    for (uint32_t page = 0; page < 5U; page++) {
        uint32_t after = 0;

        do {
            shown = *device;
            fades = page != 0 ? first + page - 1U : 0U; /* a root, the copy, the END */
            fades_after = ++after;
            memset(ram, 0xC3, ram_bytes);
            assert_int_equal(nw_ftl_tree_mount_read_only(&ftl, &chip, &config, ram, ram_bytes),
                             NW_OK);
            for (uint32_t sector = 0; sector < 20U; sector++) {
                assert_true(holds_or_fails(sector, sector + 1U));
            }
        } while (fades_after == 0);
        assert_in_range(after, 80, 1000);
    }
    free(device);
    free(ram);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_views),
                                       cmocka_unit_test(test_torn_root),
                                       cmocka_unit_test(test_half_erased)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

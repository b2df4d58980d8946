/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: no mount takes the block that a session has begun and that may count again. A session's
 * first write is cut. Mounts that do not see its page are cut in their first END, each seen by the
 * next one, and the last of them in its erase. Where that began to take the session's block, and a
 * mount then sees it: its page is followed by one that was blank and cannot be read, and so looks
 * as if it could not be torn. The map of that mount named it, and its sector was lost for good.
 * The session had taken the block from what the root before it lists for mounts.
 *
 * Goal: the list for mounts has the length that docs/faults.md tells, and the device can be read
 * behind its end. With a second END blank there it can be written, too. An error of the bus does
 * not pass for a page that is written.
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

#define SEEDS 80U
#define MOUNTS 6U /* that are cut; a root lists so many blocks */
#define SECTOR 5U
#define COMING 0x777777U
#define DATA 2U /* pages of a block: a session's first */
#define END 3U  /* a mount's first END */
#define BORNE 5U /* mounts in a row that are cut in their second END, at least */
#define NO_PAGE VIEWS_BLOCK_PAGES

static struct views device;
static struct views before;
static struct nw_chip chip; /* a filter: pages cannot be read, and where power goes */
static struct nw_chip_ops ops;
static uint8_t lost[VIEWS_PAGES];
static uint32_t cut_page; /* of a block: power goes in its program; NO_PAGE */
static uint32_t cut_at;   /* the page of the chip where it did */
static uint32_t fails_at; /* this read answers an error of the bus; 0: none does */
static struct nw_ftl_tree ftl;
static struct nw_ftl_tree_config config = {.spare_blocks = 12};
static void *ram;
static size_t ram_bytes;
static uint32_t *wanted;

static int filter_read(struct nw_chip_req *req)
{
    if (fails_at != 0 && --fails_at == 0) {
        return NW_ERR_IO;
    }
    return lost[req->page] ? (int)NW_ERR_ECC : views_chip.ops->read(req);
}

static int filter_program(struct nw_chip_req *req)
{
    if (req->page % VIEWS_BLOCK_PAGES == cut_page) {
        device.cut_after = 1;
        cut_at = req->page;
    }
    return views_chip.ops->program(req);
}

static int write(uint32_t sector, uint32_t token)
{
    return views_write(&ftl.block, sector, token);
}

static int holds(uint32_t sector, uint32_t token)
{
    return views_holds(&ftl.block, sector, token);
}

/* Power is on, and goes in a program of that page of a block, or in this change; 0: it stays. */
static int mount(uint32_t page, uint32_t change)
{
    device.off = 0;
    device.cut_after = change;
    cut_page = page;
    memset(ram, 0xC3, ram_bytes);
    int result = nw_ftl_tree_mount(&ftl, &chip, &config, ram, ram_bytes);

    cut_page = NO_PAGE;
    return result;
}

/* A device that was used, and a mount. */
static void grow(uint32_t seed)
{
    struct nw_random random;
    uint32_t serial = 0;

    memset(&device, 0, sizeof device);
    memset(lost, 0, sizeof lost);
    cut_page = NO_PAGE;
    assert_int_equal(nw_ftl_tree_format(&ftl, &chip, &config, ram, ram_bytes), NW_OK);
    uint32_t sectors = ftl.block.sectors;

    nw_random_seed(&random, seed);
    wanted = calloc(sectors, sizeof *wanted);
    assert_non_null(wanted);
    for (uint32_t rounds = 1U + nw_random_below(&random, 6); rounds > 0; rounds--) {
        uint32_t writes = serial == 0 ? sectors + nw_random_below(&random, 300)
                                      : nw_random_below(&random, 200);

        for (; writes > 0; writes--) {
            uint32_t sector = serial < sectors ? serial : nw_random_below(&random, sectors);

            wanted[sector] = ++serial;
            assert_int_equal(write(sector, serial), NW_OK);
        }
        assert_int_equal(mount(NO_PAGE, 0), NW_OK);
    }
}

/* The session's block is half erased: what was programmed shows, and the first page that was not
 * cannot be read. No END of a mount that was cut shows. Then nothing of that block does. */
static void judge(uint32_t block, const uint32_t *ends, uint32_t count)
{
    uint8_t kept[VIEWS_PAGES];

    memcpy(kept, lost, sizeof kept);
    memset(lost, 0, sizeof lost);
    for (uint32_t i = 0; i < count; i++) {
        lost[ends[i]] = 1;
    }
    lost[block * VIEWS_BLOCK_PAGES + DATA + 1U] = 1;
    assert_int_equal(mount(NO_PAGE, 0), NW_OK);
    uint32_t shown = holds(SECTOR, COMING) ? COMING : wanted[SECTOR];

    memset(lost + block * VIEWS_BLOCK_PAGES, 1, VIEWS_BLOCK_PAGES);
    assert_true(holds(SECTOR, shown));
    assert_int_equal(mount(NO_PAGE, 0), NW_OK);
    assert_true(holds(SECTOR, shown));
    memcpy(lost, kept, sizeof kept);
}

/* Returns how many mounts were cut. A mount that cleans has begun the session's block itself. */
static uint32_t play(uint32_t seed)
{
    uint32_t ends[MOUNTS];
    uint32_t count = 0;

    grow(seed);
    cut_page = DATA;
    int result = write(SECTOR, COMING);
    uint32_t block = cut_at / VIEWS_BLOCK_PAGES;

    lost[cut_at] = 1;
    while (count < MOUNTS && result == NW_ERR_POWER) {
        memcpy(&before, &device, sizeof device);
        result = mount(NO_PAGE, 1);
        if (device.block_kind[block] != 0) {
            judge(block, ends, count);
        }
        memcpy(&device, &before, sizeof device);
        result = result == NW_ERR_POWER ? mount(END, 0) : result;
        ends[count] = cut_at;
        count += result == NW_ERR_POWER;
    }
    free(wanted);
    return count;
}

static int open_chip(void **state)
{
    (void)state;
    chip = views_chip;
    ops = *views_chip.ops;
    ops.read = filter_read;
    ops.program = filter_program;
    chip.ops = &ops;
    views_now = &device;
    ram_bytes = nw_ftl_tree_ram_bytes(&config, &chip.geometry);
    ram = malloc(ram_bytes);
    return ram == NULL;
}

static int close_chip(void **state)
{
    (void)state;
    free(ram);
    return 0;
}

static void test_session_block(void **state)
{
    uint32_t mounts = 0;

    (void)state;
    for (uint32_t seed = 0; seed < SEEDS; seed++) {
        mounts += play(seed);
    }
    print_message("%u mounts\n", (unsigned)mounts);
    assert_true(mounts >= SEEDS);
}

/* Mounts that are cut in their second END, which cannot be read, up to one that has no block left.
 * Returns how many. */
static uint32_t use_up(void)
{
    uint32_t count = 0;

    while (mount(END + 1U, 0) == NW_ERR_POWER) {
        lost[cut_at] = 1;
        count++;
    }
    assert_int_equal(write(SECTOR, COMING), NW_ERR_FULL);
    assert_true(holds(SECTOR, wanted[SECTOR]));
    return count;
}

static void test_list_used_up(void **state)
{
    uint32_t reads = 0;

    (void)state;
    for (uint32_t seed = 0; seed < 8U; seed++) {
        grow(seed);
        assert_true(use_up() >= BORNE);
        lost[cut_at] = 0;
        device.written[cut_at] = 0;
        memcpy(&before, &device, sizeof device);
        for (uint32_t at = 1; fails_at == 0; at++) { /* up to the last read of a mount */
            memcpy(&device, &before, sizeof device);
            fails_at = at;
            int result = mount(NO_PAGE, 0);
            uint32_t rest = fails_at;

            fails_at = 0;
            assert_true(result == NW_OK || result == NW_ERR_IO);
            if (result == NW_OK) {
                assert_int_equal(write(SECTOR, COMING), NW_OK);
            }
            fails_at = rest;
            reads++;
        }
        fails_at = 0;
        free(wanted);
    }
    assert_true(reads > 8U * VIEWS_BLOCKS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_session_block),
                                       cmocka_unit_test(test_list_used_up)};

    return cmocka_run_group_tests(tests, open_chip, close_chip);
}

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

#define BLOCKS 24U
#define BLOCK_PAGES 16U
#define BYTES 256U
#define SPARE 18U
#define PAGES (BLOCKS * BLOCK_PAGES)
#define OPERATIONS 14U

enum kind { SETTLED, OPEN, CONTENT, EMPTY }; /* of what a cut left: EMPTY shows blank */
enum view { WHOLE, BLANK, LOST };

struct device {
    uint8_t bytes[PAGES][BYTES + SPARE]; /* also what was there before an erase that was cut */
    uint8_t written[PAGES];
    uint8_t page_kind[PAGES];
    uint8_t block_kind[BLOCKS];
    uint8_t page_view[PAGES];
    uint8_t block_view[BLOCKS];
    uint32_t cut_after; /* changes; 0: never */
    uint8_t off;
};

static struct device *now;
static struct nw_chip chip;
static struct nw_ftl_tree ftl;
static struct nw_ftl_tree_config config = {.spare_blocks = 12};
static void *ram;
static size_t ram_bytes;
static uint32_t *wanted;
static uint32_t under_way;
static uint32_t serial;
static uint32_t histories;
static uint8_t data[BYTES];

static int view_of(uint32_t page)
{
    uint32_t block = page / BLOCK_PAGES;
    int view = now->page_kind[page] != SETTLED ? now->page_view[page] : (int)WHOLE;

    if (now->block_kind[block] != SETTLED && view != BLANK) {
        view = now->block_view[block] != WHOLE ? now->block_view[block] : view;
    }
    return view;
}

static int chip_read(struct nw_chip_req *req)
{
    int view = view_of(req->page);

    if (now->off) {
        return NW_ERR_POWER;
    }
    if (view == LOST) {
        return NW_ERR_ECC;
    }
    assert_true(req->length == 0 || now->written[req->page]);
    if (view == BLANK || !now->written[req->page]) {
        memset(req->length != 0 ? req->data : data, 0xFF, req->length);
        memset(req->spare_length != 0 ? req->spare : data, 0xFF, req->spare_length);
        return 0;
    }
    memcpy(req->length != 0 ? req->data : data, now->bytes[req->page] + req->offset, req->length);
    memcpy(req->spare_length != 0 ? req->spare : data,
           now->bytes[req->page] + BYTES + req->spare_offset, req->spare_length);
    return 0;
}

/* 1: this change is the one that is cut. */
static int is_cut(void)
{
    if (now->cut_after != 0 && --now->cut_after == 0) {
        now->off = 1;
    }
    return now->off;
}

static int chip_program(struct nw_chip_req *req)
{
    uint8_t *page = now->bytes[req->page];

    if (now->off) {
        return NW_ERR_POWER;
    }
    assert_true(!now->written[req->page] && now->block_kind[req->page / BLOCK_PAGES] == SETTLED);
    memset(page, 0xFF, BYTES + SPARE);
    memcpy(page + req->offset, req->length != 0 ? req->data : page, req->length);
    memcpy(page + BYTES + req->spare_offset, req->spare, req->spare_length);
    now->written[req->page] = 1;
    now->page_kind[req->page] = is_cut() ? (uint8_t)OPEN : (uint8_t)SETTLED;
    return now->off ? (int)NW_ERR_POWER : (int)NW_OK;
}

static int chip_erase(struct nw_chip_req *req)
{
    uint32_t first = req->block * BLOCK_PAGES;

    if (now->off) {
        return NW_ERR_POWER;
    }
    if (is_cut()) {
        now->block_kind[req->block] = OPEN;
        return NW_ERR_POWER;
    }
    now->block_kind[req->block] = SETTLED;
    memset(now->written + first, 0, BLOCK_PAGES);
    memset(now->page_kind + first, SETTLED, BLOCK_PAGES);
    return NW_OK;
}

static int chip_is_bad(struct nw_chip_req *req)
{
    (void)req;
    return now->off ? (int)NW_ERR_POWER : 0;
}

static const struct nw_chip_ops ops = {.read = chip_read,
                                       .program = chip_program,
                                       .erase = chip_erase,
                                       .is_bad = chip_is_bad,
                                       .mark_bad = chip_is_bad};

/* One of the views that what was cut may have: the next digit of `pick`. */
static void show(uint8_t *kind, uint8_t *view, uint32_t *pick)
{
    uint8_t choices = *kind == OPEN ? 3U : 2U;
    uint8_t choice = (uint8_t)(*pick % choices);

    *pick /= choices;
    *view = (uint8_t)(choice == 0 ? LOST : choice == 2U || *kind == EMPTY ? BLANK : WHOLE);
    if (*view != LOST) {
        *kind = *view == WHOLE ? (uint8_t)CONTENT : (uint8_t)EMPTY;
    }
}

/* Power comes back, and what was cut shows itself. 0: there is no such view. */
static int power_up(uint32_t pick)
{
    now->off = 0;
    now->cut_after = 0;
    for (uint32_t page = 0; page < PAGES; page++) {
        if (now->page_kind[page] != SETTLED && now->block_kind[page / BLOCK_PAGES] == SETTLED) {
            show(&now->page_kind[page], &now->page_view[page], &pick);
        }
    }
    for (uint32_t block = 0; block < BLOCKS; block++) {
        if (now->block_kind[block] != SETTLED) {
            show(&now->block_kind[block], &now->block_view[block], &pick);
        }
    }
    return pick == 0;
}

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

static struct device *fork_device(const struct device *device)
{
    struct device *copy = malloc(sizeof *copy);

    assert_non_null(copy);
    memcpy(copy, device, sizeof *copy);
    return copy;
}

/* The device has mounted: all is there, and stays. */
static void judge(uint32_t old, uint32_t new)
{
    struct device *mounted = now;
    uint32_t shown = holds(under_way, new) ? new : old;

    for (uint32_t sector = 0; sector < ftl.block.sectors; sector++) {
        if (!holds(sector, sector == under_way ? shown : wanted[sector])) {
            fail_msg("sector %u is lost", (unsigned)sector);
        }
    }
    for (uint32_t pick = 0;; pick++) {
        now = fork_device(mounted);
        int is = power_up(pick);

        if (is) {
            histories++;
            assert_int_equal(mount(), NW_OK);
            assert_true(holds(under_way, shown));
        }
        free(now);
        if (!is) {
            break;
        }
    }
    now = mounted;
}

/* Each view of a device without power, and from each of them a mount, whole or cut. */
static void mounts(const struct device *dark, uint32_t cuts, uint32_t old, uint32_t new)
{
    for (uint32_t pick = 0;; pick++) {
        now = fork_device(dark);
        if (!power_up(pick)) {
            free(now);
            return;
        }
        struct device *lit = now;

        for (uint32_t at = cuts != 0 ? OPERATIONS : 0U;; at--) {
            now = fork_device(lit);
            now->cut_after = at;
            int result = mount();

            histories++;
            if (at == 0) {
                assert_int_equal(result, NW_OK);
                judge(old, new);
            } else if (now->off) {
                struct device *cut = now;

                mounts(cut, cuts - 1U, old, new);
                now = cut;
            }
            free(now);
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
    chip = (struct nw_chip){.ops = &ops,
                            .geometry = {.blocks = BLOCKS,
                                         .block_pages = BLOCK_PAGES,
                                         .page_bytes = BYTES,
                                         .spare_bytes = SPARE,
                                         .program_bytes = BYTES,
                                         .page_programs = 1,
                                         .erased = 0xFF,
                                         .flags = NW_CHIP_IN_ORDER}};
    ram_bytes = nw_ftl_tree_ram_bytes(&config, &chip.geometry);
    ram = malloc(ram_bytes);
    for (uint32_t seed = 0; seed < seeds; seed++) {
        struct nw_random random;
        struct device *device = calloc(1, sizeof *device);

        now = device;
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

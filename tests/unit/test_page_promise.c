/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: the latency that docs/ftl-page.md promises. Given idle time between requests no call of the
 * page layer, write, trim or sync, takes longer than one erase and two programs by the chip's
 * clock, under no and under every wear policy; and idle keeps to the budget it is given.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "nandwich-twin/nand.h"
#include "nandwich-twin/parts.h"
#include "nandwich/ftl_page.h"
#include "nandwich/random.h"
#include "nandwich/wear_dheating.h"
#include "nandwich/wear_swl.h"

#define BLOCKS 64U

enum policy { NONE, DYNAMIC, SWL, DHEATING, POLICIES };

static struct nw_nand *nand;
static struct nw_ftl_page ftl;
static struct nw_wear dynamic;
static struct nw_swl swl;
static struct nw_dheating dheating;
static uint64_t wear_ram[64];
static struct nw_random load;
static void *ram;

static struct nw_wear *open_policy(enum policy policy)
{
    static const struct nw_heal_config no_heal = {0};
    static const struct nw_swl_config swl_config = {.threshold = 2, .seed = 1};
    static const struct nw_dheating_config dheating_config = {0};

    switch (policy) {
    case DYNAMIC:
        assert_int_equal(
            nw_wear_dynamic_open(&dynamic, &no_heal, BLOCKS, wear_ram, sizeof wear_ram), NW_OK);
        return &dynamic;
    case SWL:
        assert_int_equal(nw_swl_open(&swl, &swl_config, BLOCKS, wear_ram, sizeof wear_ram), NW_OK);
        return &swl.wear;
    case DHEATING:
        assert_int_equal(
            nw_dheating_open(&dheating, &dheating_config, BLOCKS, wear_ram, sizeof wear_ram),
            NW_OK);
        return &dheating.wear;
    default: return NULL;
    }
}

static void open_device(const char *name, enum policy policy)
{
    struct nw_part part;
    struct nw_nand_config config = {
        .part = &part, .blocks = BLOCKS, .seed = 3, .flags = NW_NAND_NO_PAYLOAD};
    struct nw_ftl_page_config page = {.spare_blocks = 14, .wear = open_policy(policy)};

    nw_random_seed(&load, 8);
    assert_int_equal(nw_parts_get(name, &part), NW_OK);
    assert_int_equal(nw_nand_open(&nand, &config), NW_OK);
    struct nw_chip *chip = nw_nand_chip(nand);
    size_t bytes = nw_ftl_page_ram_bytes(&page, &chip->geometry);
    ram = malloc(bytes);
    assert_non_null(ram);
    assert_int_equal(nw_ftl_page_format(&ftl, chip, &page, ram, bytes), NW_OK);
}

static void close_device(void)
{
    nw_nand_close(nand);
    free(ram);
}

/* The call's time by the chip's clock, ns. */
static uint64_t time_of(int (*verb)(struct nw_block_req *), struct nw_block_req *req)
{
    uint64_t before = nw_nand_meter(nand)->time_ns;

    req->block = &ftl.block;
    assert_true(verb(req) >= 0);
    return nw_nand_meter(nand)->time_ns - before;
}

static void fill(void)
{
    for (uint32_t sector = 0; sector < ftl.block.sectors; sector++) {
        struct nw_block_req req = {.sector = sector, .count = 1};
        (void)time_of(nw_block_write, &req);
    }
}

/* A request of one sector, mostly to an eighth of the device. */
static uint64_t draw(struct nw_random *random)
{
    uint32_t dice = nw_random_below(random, 100);
    uint32_t sectors = dice % 4U != 0 ? ftl.block.sectors / 8U : ftl.block.sectors;
    struct nw_block_req req = {.sector = nw_random_below(random, sectors), .count = 1};

    return time_of(dice < 90U ? nw_block_write : dice < 96U ? nw_block_trim : nw_block_sync, &req);
}

/* The longest of so many requests, each after a pause of so long, ns. */
static uint64_t longest(uint32_t requests, uint32_t pause_us, uint64_t *overrun_ns)
{
    uint64_t most = 0;

    *overrun_ns = 0;
    for (uint32_t i = 0; i < requests; i++) {
        struct nw_block_req idle = {.budget_us = pause_us};
        uint64_t worked = time_of(nw_block_idle, &idle);
        uint64_t budget = (uint64_t)pause_us * 1000U;
        uint64_t took = draw(&load);

        if (worked > budget && worked - budget > *overrun_ns) {
            *overrun_ns = worked - budget;
        }
        most = took > most ? took : most;
    }
    return most;
}

static uint64_t promised(void)
{
    const struct nw_geometry *geometry = &nw_nand_chip(nand)->geometry;

    return 1000U * ((uint64_t)geometry->erase_us + 2U * (uint64_t)geometry->program_us);
}

/* Enough to empty a block, as a wear policy may ask, and to erase two. */
static uint32_t long_pause_us(void)
{
    const struct nw_geometry *geometry = &nw_nand_chip(nand)->geometry;

    return geometry->block_pages * (geometry->read_us + geometry->program_us) +
           2U * geometry->erase_us;
}

static void check_promise(const char *name, enum policy policy)
{
    uint64_t overrun;

    open_device(name, policy);
    fill();
    uint64_t most = longest(20000, long_pause_us(), &overrun);
    printf("%s, policy %d: longest call %llu ns, promised %llu; idle over its budget by %llu\n",
           name, (int)policy, (unsigned long long)most, (unsigned long long)promised(),
           (unsigned long long)overrun);
    assert_true(most < promised());
    assert_int_equal(overrun, 0);
    assert_true(policy != SWL || swl.wear.stats.moved > 3U);
    close_device();
}

static void test_worst_call_given_idle_time(void **state)
{
    (void)state;
    for (int policy = NONE; policy < POLICIES; policy++) {
        check_promise("K9F1G08U0A", (enum policy)policy);
        check_promise("MLC64G", (enum policy)policy);
    }
}

/* Pauses of any short length: the step that emptied a block wrote down trims as well, of which the
 * budget knew nothing. */
static void test_short_pauses(void **state)
{
    struct nw_random random;

    (void)state;
    nw_random_seed(&random, 4);
    for (int policy = NONE; policy < POLICIES; policy++) {
        open_device("K9F1G08U0A", (enum policy)policy);
        fill();
        for (uint32_t i = 0; i < 4000U; i++) {
            uint32_t pause_us = 200U + nw_random_below(&random, 4000);
            uint64_t overrun;

            (void)longest(3, pause_us, &overrun);
            if (overrun != 0) {
                fail_msg("policy %d, %u us: %llu ns over", policy, (unsigned)pause_us,
                         (unsigned long long)overrun);
            }
        }
        close_device();
    }
}

/* The same load without a pause has to break the promise: else the test above shows nothing. */
static void test_idle_time_is_what_does_it(void **state)
{
    uint64_t overrun;

    (void)state;
    open_device("K9F1G08U0A", NONE);
    fill();
    assert_true(longest(20000, 0, &overrun) > promised());
    close_device();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_worst_call_given_idle_time),
                                       cmocka_unit_test(test_short_pauses),
                                       cmocka_unit_test(test_idle_time_is_what_does_it)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

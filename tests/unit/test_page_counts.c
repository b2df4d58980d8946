/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: what the page layer costs in chip operations is known to the unit for a fixed script, and
 * the longest call stays within what the header promises. A change that makes it dearer fails here.
 * ctest: quick
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "layer_rig.h"
#include "nandwich/ftl_page.h"

struct counts {
    uint32_t reads;
    uint32_t programs;
    uint32_t erases;
    uint32_t copies; /* chip copies */
    uint32_t moved;  /* sectors moved by cleaning */
};

/* 20 blocks of 8 pages, 10 spare: 79 sectors, one trim page. */
static const struct layer_shape shape = {
    .part = "K9F1G08U0A", .blocks = 20, .block_pages = 8, .spare_blocks = 10};

static struct layer_rig rig;

static const struct nw_ftl_page *ftl(void)
{
    return rig.site.state;
}

static struct counts now(void)
{
    const struct nw_nand_counts *stats = nw_nand_stats(rig.nand);

    return (struct counts){.reads = (uint32_t)stats->reads,
                           .programs = (uint32_t)stats->programs,
                           .erases = (uint32_t)stats->erases,
                           .copies = (uint32_t)stats->copies,
                           .moved = (uint32_t)ftl()->stats.copies};
}

static struct counts run(uint8_t kind, uint32_t sector, uint32_t count)
{
    struct layer_op op = {.kind = kind, .sector = sector, .count = count};
    struct counts before = now();

    assert_true(layer_rig_run(&rig, &op) >= 0);
    struct counts after = now();
    return (struct counts){after.reads - before.reads, after.programs - before.programs,
                           after.erases - before.erases, after.copies - before.copies,
                           after.moved - before.moved};
}

static void expect(const char *what, struct counts got, struct counts wanted)
{
    if (memcmp(&got, &wanted, sizeof got) != 0) {
        fail_msg("%s: reads %u programs %u erases %u copies %u moved %u, "
                 "wanted %u %u %u %u %u",
                 what, got.reads, got.programs, got.erases, got.copies, got.moved, wanted.reads,
                 wanted.programs, wanted.erases, wanted.copies, wanted.moved);
    }
}

static struct counts read_all(uint32_t sector, uint32_t count)
{
    struct counts before = now();

    for (uint32_t i = 0; i < count; i++) {
        struct nw_block_req req = {
            .block = rig.block, .sector = sector + i, .count = 1, .data = rig.data};
        assert_int_equal(nw_block_read(&req), NW_OK);
    }
    return (struct counts){.reads = now().reads - before.reads};
}

static struct counts overwrite(uint32_t writes)
{
    struct nw_random random;
    struct counts sum = {0};

    nw_random_seed(&random, 5);
    for (uint32_t i = 0; i < writes; i++) {
        struct counts one = run(OP_WRITE, nw_random_below(&random, rig.sectors), 1);
        sum.reads += one.reads;
        sum.programs += one.programs;
        sum.erases += one.erases;
        sum.copies += one.copies;
        sum.moved += one.moved;
    }
    return sum;
}

static struct counts mount(void)
{
    struct counts before = now();

    nw_nand_power_up(rig.nand);
    assert_int_equal(layer_rig_mount(&rig), NW_OK);
    struct counts after = now();
    return (struct counts){.reads = after.reads - before.reads,
                           .programs = after.programs - before.programs,
                           .erases = after.erases - before.erases,
                           .copies = after.copies - before.copies};
}

static void test_counts(void **state)
{
    (void)state;
    layer_rig_open(&rig, &nw_layer_page, &shape, 1);
    /* Every block is looked at for an old list and erased; the list is written, between two
     * empty pages, and read. */
    expect("format", now(), (struct counts){.reads = 21, .programs = 3, .erases = 20});
    expect("read nothing", read_all(0, 79), (struct counts){0});
    /* Pages 3 .. 7 of that block and the first of the next, which was erased by the format. */
    expect("first writes", run(OP_WRITE, 0, 6), (struct counts){.programs = 6});
    expect("read", read_all(0, 6), (struct counts){.reads = 6});
    expect("trim", run(OP_TRIM, 0, 2), (struct counts){0});
    /* The trim page opens the second stream's block, erased by the format too. */
    expect("sync", run(OP_SYNC, 0, 0), (struct counts){.programs = 1});
    expect("sync again", run(OP_SYNC, 0, 0), (struct counts){0});
    expect("fill", run(OP_WRITE, 0, 12), (struct counts){.programs = 12});
    expect("idle", run(OP_IDLE, 0, 1000000), (struct counts){0});
    for (uint32_t i = 12; i < 72U; i += 12) {
        (void)run(OP_WRITE, i, 12);
    }
    expect("rest", run(OP_WRITE, 72, 7), (struct counts){.programs = 7});
    expect("churn", overwrite(1000),
           (struct counts){.reads = 1028, .programs = 2028, .erases = 247, .moved = 1010});
    expect("mount", mount(), (struct counts){.reads = 243, .programs = 4, .erases = 1});
    assert_int_equal(layer_rig_clean(&rig), 0);
    layer_rig_close(&rig);
}

/* With idle time between writes a write is one program, whatever it replaces. */
static void test_worst_write_with_idle(void **state)
{
    static const struct layer_shape big = {
        .part = "K9F1G08U0A", .blocks = 64, .block_pages = 32, .spare_blocks = 12};
    struct nw_random random;

    (void)state;
    layer_rig_open(&rig, &nw_layer_page, &big, 3);
    nw_random_seed(&random, 8);
    for (uint32_t i = 0; i < 12000U; i++) {
        uint32_t sector = nw_random_below(&random, rig.sectors);
        expect("write", run(OP_WRITE, sector, 1), (struct counts){.programs = 1});
        (void)run(OP_IDLE, 0, 12000);
    }
    layer_rig_close(&rig);
}

/* Without idle time: no more moves at once than the victim's share, and at most two erases. */
static void test_worst_write_without_idle(void **state)
{
    struct counts worst = {0};
    struct nw_random random;

    (void)state;
    layer_rig_open(&rig, &nw_layer_page, &shape, 4);
    nw_random_seed(&random, 8);
    for (uint32_t i = 0; i < 6000U; i++) {
        struct counts one = run(OP_WRITE, nw_random_below(&random, rig.sectors), 1);
        worst.moved = one.moved > worst.moved ? one.moved : worst.moved;
        worst.erases = one.erases > worst.erases ? one.erases : worst.erases;
    }
    assert_in_range(worst.moved, 1, shape.block_pages);
    assert_in_range(worst.erases, 1, 2);
    layer_rig_close(&rig);
}

/* The same while 7 of the spare blocks are good. With 6 a write took 21 reads, 22 programs and 2
 * erases on blocks of 16 pages, which the header did not say. */
static void test_worst_write_with_bad_blocks(void **state)
{
    static const uint16_t pages[] = {8, 16, 32};

    (void)state;
    for (unsigned i = 0; i < sizeof pages / sizeof pages[0]; i++) {
        struct layer_shape worn = {.part = "K9F1G08U0A",
                                   .blocks = pages[i] == 8U ? 20 : 64,
                                   .block_pages = pages[i],
                                   .spare_blocks = 10};
        struct nw_random random;

        nw_random_seed(&random, 8);
        layer_rig_open(&rig, &nw_layer_page, &worn, 4);
        for (uint32_t block = 3; block < 6U; block++) {
            struct nw_chip_req req = {.chip = nw_nand_chip(rig.nand), .block = block};

            assert_int_equal(nw_chip_mark_bad(&req), NW_OK);
        }
        assert_int_equal(rig.kind->format(&rig.site, &rig.block), NW_OK);
        for (uint32_t write = 0; write < 6000U; write++) {
            uint32_t sector = write < rig.sectors ? write : nw_random_below(&random, rig.sectors);
            struct counts one = run(OP_WRITE, sector, 1);

            assert_in_range(one.reads, 0, pages[i]);
            assert_in_range(one.programs, 1, pages[i] + 1U);
            assert_in_range(one.erases, 0, 2);
        }
        layer_rig_close(&rig);
    }
}

/* A sync behind one trim writes one page, also when free blocks are few: it once cleaned a block
 * first, which took 39 programs. Trims of one sector each, among writes without idle time. */
static void test_sync_of_one_trim(void **state)
{
    static const struct layer_shape full = {
        .part = "K9F1G08U0A", .blocks = 64, .block_pages = 24, .spare_blocks = 10};
    struct nw_random random;
    uint32_t dear = 0;

    (void)state;
    layer_rig_open(&rig, &nw_layer_page, &full, 5);
    nw_random_seed(&random, 8);
    for (uint32_t sector = 0; sector < rig.sectors; sector++) {
        (void)run(OP_WRITE, sector, 1);
    }
    for (uint32_t i = 0; i < 3000U; i++) {
        (void)run(OP_WRITE, nw_random_below(&random, rig.sectors), 1);
        if (nw_random_below(&random, 8) == 0) {
            (void)run(OP_TRIM, nw_random_below(&random, rig.sectors), 1);
            dear += run(OP_SYNC, 0, 0).programs > 1U;
        }
    }
    assert_int_equal(dear, 0);
    layer_rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_counts),
                                       cmocka_unit_test(test_worst_write_with_idle),
                                       cmocka_unit_test(test_worst_write_without_idle),
                                       cmocka_unit_test(test_worst_write_with_bad_blocks),
                                       cmocka_unit_test(test_sync_of_one_trim)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

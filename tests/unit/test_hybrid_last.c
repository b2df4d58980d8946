/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: a merge may fail at its last page, as often as it likes. That page tells a mount that the
 * others count.
 * ctest: quick
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "layer_rig.h"
#include "nandwich/bytes.h"

#define LAST_MOVE 0x30000000UL /* of a tag's word: moved by a merge, its last page */
#define SEEDS 300U
#define HISTORIES 400U
#define CALLS 80U
#define MOST_RUN 8U /* sectors a call */
#define PAGE_BYTES 256U

static const struct nw_layer_kind *const kinds[] = {&nw_layer_fast, &nw_layer_log, &nw_layer_nftl,
                                                    &nw_layer_superblock};

#define KINDS (sizeof kinds / sizeof kinds[0])

static const struct layer_shape shape = {.part = "K9F1G08U0A",
                                         .blocks = 30,
                                         .block_pages = 8,
                                         .page_bytes = PAGE_BYTES,
                                         .no_copy = 1,
                                         .spare_blocks = 10};

static struct layer_rig rig;
static struct nw_random numbers;

/* A chip on top of the rig's, whose programs fail as `fails` says. */
static struct nw_chip chip;
static struct nw_chip_ops ops;
static int (*fails)(struct nw_chip_req *req, int ends);
static uint32_t failed;

static int program(struct nw_chip_req *req)
{
    uint32_t word = nw_get32(req->spare);

    return fails == NULL ? rig.faults.ops.program(req)
                         : fails(req, (word & (LAST_MOVE | 0x80000000UL)) == LAST_MOVE);
}

static void begin(const struct nw_layer_kind *kind, uint32_t seed)
{
    nw_random_seed(&numbers, seed);
    layer_rig_open(&rig, kind, &shape, 1);
    assert_int_equal(layer_rig_filter(&rig), NW_OK);
    chip = rig.faults.chip;
    ops = rig.faults.ops;
    ops.program = program;
    chip.ops = &ops;
    rig.site.chip = &chip;
    fails = NULL;
    assert_int_equal(layer_rig_mount(&rig), NW_OK);
}

static int write_run(uint32_t sector, uint32_t count)
{
    struct layer_op op = {.kind = OP_WRITE, .sector = sector, .count = count};

    return layer_rig_run(&rig, &op);
}

/* An answer has to be NW_OK or that error. */
static void tell(uint32_t history, int result, int error)
{
    if (result != NW_OK && result != error) {
        fail_msg("%s, history %u: answer %d; %s", rig.kind->name, (unsigned)history, result,
                 rig.why);
    }
}

/* The bus fails at each last page of a merge, and at one in `gap` of the others. */
static uint32_t gap;

static int fail_bus(struct nw_chip_req *req, int ends)
{
    int hits = ends || nw_random_below(&numbers, gap) == 0;
    int result = hits && nw_random_below(&numbers, 2) == 0 ? (int)NW_OK
                                                           : rig.faults.ops.program(req);

    failed += ends ? 1U : 0U;
    return hits ? (int)NW_ERR_IO : result;
}

/* The block of such a merge stays, and those before it are outdated when the next call has written
 * that sector anew. Once they stayed too until that chain was merged again, while each merge that
 * was tried took blocks of its own: with two or three such chains no block was left for any merge,
 * and log and fast answered NW_ERR_FULL until the next mount. */
static void test_the_bus_fails(void **state)
{
    (void)state;
    failed = 0;
    for (uint32_t i = 0; i < KINDS * SEEDS; i++) {
        uint32_t sector = 0;

        begin(kinds[i / SEEDS], i % SEEDS);
        gap = 2U + i % 4U;
        fails = fail_bus;
        for (uint32_t call = 0; call < CALLS; call++) {
            uint32_t count = 1U + nw_random_below(&numbers, MOST_RUN);

            tell(i, write_run(sector % (rig.sectors - MOST_RUN), count), NW_ERR_IO);
            sector += count;
        }
        fails = NULL;
        for (uint32_t session = 0; session < 2U; session++) {
            tell(i, write_run(nw_random_below(&numbers, rig.sectors), 1), NW_OK);
            tell(i, layer_rig_check(&rig, 1), NW_OK); /* a failed write may show after a mount */
            tell(i, layer_rig_mount(&rig), NW_OK);
        }
        tell(i, layer_rig_check(&rig, 0), NW_OK);
        layer_rig_close(&rig);
    }
    assert_true(failed > KINDS * SEEDS); /* or nothing was tried */
}

/* The program after so many fails, and power goes at the next last page of a merge. Both pages have
 * whole tags beside other data. */
static uint32_t skip;
static int off;

static int fail_and_cut(struct nw_chip_req *req, int ends)
{
    uint8_t other[PAGE_BYTES];
    struct nw_chip_req wrong = *req;

    if (off) {
        return NW_ERR_POWER;
    }
    if (skip > 0 || (failed > 0 && !ends)) {
        skip -= skip > 0 ? 1U : 0U;
        return rig.faults.ops.program(req);
    }
    off = failed > 0;
    failed++;
    memset(other, 0x5A, sizeof other);
    wrong.data = other;
    assert_int_equal(rig.faults.ops.program(&wrong), NW_OK);
    return off ? (int)NW_ERR_POWER : (int)NW_ERR_PROGRAM;
}

/* A full device, some writes old, and then writes until power goes. */
static void write_and_cut(const struct nw_layer_kind *kind, uint32_t seed)
{
    int result = NW_OK;

    begin(kind, seed);
    for (uint32_t sector = 0; sector < rig.sectors; sector++) {
        assert_int_equal(write_run(sector, 1), NW_OK);
    }
    for (uint32_t writes = nw_random_below(&numbers, 60); writes > 0; writes--) {
        assert_int_equal(write_run(nw_random_below(&numbers, rig.sectors), 1), NW_OK);
    }
    skip = nw_random_below(&numbers, 40);
    failed = 0;
    off = 0;
    fails = fail_and_cut;
    for (uint32_t call = 0; result == NW_OK && !off && call < 200U; call++) {
        result = write_run(nw_random_below(&numbers, rig.sectors), 1);
    }
    fails = NULL;
}

/* The page before the last one of a merge fails and is tried again in a block of its own, and then
 * the last page is torn. The mount leaves that block out, unless the last page is whole. Once the
 * failed page passed for one that had ended then, since the last page is of another sector: its
 * sector answered NW_ERR_CORRUPT. */
static void test_the_page_before_fails_too(void **state)
{
    uint32_t cut = 0;

    (void)state;
    for (uint32_t i = 0; i < KINDS * HISTORIES; i++) {
        write_and_cut(kinds[i / HISTORIES], i % HISTORIES);
        cut += off != 0;
        for (uint32_t session = 0; session < 2U; session++) {
            tell(i, layer_rig_mount(&rig), NW_OK);
            tell(i, layer_rig_check(&rig, 1), NW_OK);
            tell(i, write_run(nw_random_below(&numbers, rig.sectors), 1), NW_OK);
        }
        layer_rig_close(&rig);
    }
    assert_true(cut > KINDS * HISTORIES / 2U); /* or nothing was tried */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_the_bus_fails),
                                       cmocka_unit_test(test_the_page_before_fails_too)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

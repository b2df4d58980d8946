/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: a merge that could not end in its block goes on behind it, and what is seen there may be
 * gone at the next mount.
 * A program of the merge fails, or the bus at its last page. Power goes at the next program, in a
 * block of its own, and the page shows. The mount that sees it counts the block of the merge,
 * erases blocks for its session, and is cut before its record. Then the page hides, as a torn one
 * may: now the block of the merge is one of a merge cut short, and nothing counts of it. Once the
 * mount before had given back what was moved from, and its session had erased that: in log and nftl
 * sectors showed older content, or zeros.
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

#define OWN 0x80000000UL /* of a tag's word: by a mount */
#define MOVED 0x20000000UL
#define LAST 0x10000000UL
#define HISTORIES 200U
#define CALLS 200U
#define BLOCKS 30U
#define PAGES 8U

static const struct nw_layer_kind *const kinds[] = {&nw_layer_fast, &nw_layer_log, &nw_layer_nftl,
                                                    &nw_layer_superblock};

#define KINDS (sizeof kinds / sizeof kinds[0])

static const struct layer_shape shape = {.part = "K9F1G08U0A",
                                         .blocks = BLOCKS,
                                         .block_pages = PAGES,
                                         .page_bytes = 256,
                                         .no_copy = 1,
                                         .spare_blocks = 14};

static struct layer_rig rig;
static struct nw_random numbers;

/* A chip on top of the rig's. The move after `skip` others of its sort fails with `error`. The next
 * program ends although power goes in it, and it stays off. */
enum { QUIET, WAITING, FAILED, OFF };
static struct nw_chip chip;
static struct nw_chip_ops ops;
static uint8_t used[BLOCKS]; /* programmed since its erase */
static int phase;
static int error;
static uint32_t skip;
static uint32_t second; /* block of the page that shows, or BLOCKS: it is not alone there */

static int erase(struct nw_chip_req *req)
{
    used[req->block] = 0;
    return rig.faults.ops.erase(req);
}

static int program(struct nw_chip_req *req)
{
    uint32_t word = nw_get32(req->spare);
    uint32_t block = req->page / PAGES;
    uint32_t strikes = error == NW_ERR_IO ? (MOVED | LAST) : MOVED;

    if (phase == OFF) {
        return NW_ERR_POWER;
    }
    if (phase == WAITING && (word & (OWN | MOVED | LAST)) == strikes && skip-- == 0) {
        phase = FAILED;
        return error;
    }
    int cut = phase == FAILED && (word & OWN) == 0;
    if (cut) {
        second = used[block] == 0 ? block : BLOCKS;
        phase = OFF;
    }
    used[block] = 1;
    int result = rig.faults.ops.program(req);
    return cut ? (int)NW_ERR_POWER : result;
}

static int write_one(uint32_t sector)
{
    struct layer_op op = {.kind = OP_WRITE, .sector = sector, .count = 1};

    return layer_rig_run(&rig, &op);
}

static void begin(const struct nw_layer_kind *kind, uint32_t seed)
{
    nw_random_seed(&numbers, seed);
    layer_rig_open(&rig, kind, &shape, 1);
    assert_int_equal(layer_rig_filter(&rig), NW_OK);
    chip = rig.faults.chip;
    ops = rig.faults.ops;
    ops.program = program;
    ops.erase = erase;
    chip.ops = &ops;
    rig.site.chip = &chip;
    memset(used, 0, sizeof used);
    phase = QUIET;
    assert_int_equal(layer_rig_mount(&rig), NW_OK);
    for (uint32_t sector = 0; sector < rig.sectors; sector++) {
        assert_int_equal(write_one(sector), NW_OK);
    }
}

/* Writes until power goes behind what has failed: 1 if it came so. */
static int write_and_cut(void)
{
    int result = NW_OK;

    skip = nw_random_below(&numbers, error == NW_ERR_IO ? 4 : 40);
    phase = WAITING;
    for (uint32_t call = 0; phase != OFF && call < CALLS; call++) {
        result = write_one(nw_random_below(&numbers, rig.sectors));
        assert_true(result == NW_OK || result == error || result == NW_ERR_POWER);
    }
    return phase == OFF && second < BLOCKS;
}

/* Some erases of the session's block fail, and power goes at the first program. Then the page that
 * showed is blank, unless the mount has come so far that its block is bad. 1 if it came so. */
static uint32_t cut_mount(void)
{
    struct nw_chip_req req = {.chip = &chip, .block = second};

    rig.fault = (struct nw_fault){.verb = NW_VERB_ERASE,
                                  .times = 1U + nw_random_below(&numbers, 6),
                                  .error = NW_ERR_ERASE};
    int result = layer_rig_mount(&rig);
    layer_rig_quiet(&rig);
    int hidden = erase(&req);
    assert_true(hidden == NW_OK || hidden == NW_ERR_BAD_BLOCK);
    return result == NW_ERR_POWER;
}

static void hide_behind(int answer)
{
    uint32_t cut = 0;

    error = answer;
    for (uint32_t i = 0; i < KINDS * HISTORIES; i++) {
        begin(kinds[i / HISTORIES], i % HISTORIES);
        cut += write_and_cut() ? cut_mount() : 0U;
        phase = QUIET;
        int result = layer_rig_mount(&rig);
        if (result != NW_OK || layer_rig_check(&rig, 1) != 0) {
            fail_msg("%s, history %u: answer %d; %s", rig.kind->name, (unsigned)(i % HISTORIES),
                     result, rig.why);
        }
        layer_rig_close(&rig);
    }
    assert_true(cut > HISTORIES); /* or nothing was tried */
}

static void test_a_program_fails(void **state)
{
    (void)state;
    hide_behind(NW_ERR_PROGRAM);
}

static void test_the_bus_fails(void **state)
{
    (void)state;
    hide_behind(NW_ERR_IO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_a_program_fails),
                                       cmocka_unit_test(test_the_bus_fails)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

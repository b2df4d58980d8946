/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: while a sector is in doubt or a merge is stopped, nothing else is programmed or merged. A
 * merge that wins blocks back behind an error may meet a program that fails when no other block is
 * left. Once such a merge counted as one that had nothing to win, and the call went on. It
 * programmed its own sector in a block with room. To the next mount that page showed that the
 * failed one had ended, so it believed that without a look at its data, and the sector answered
 * NW_ERR_CORRUPT. Or (superblock) it gave back blocks that the stopped merge had emptied, and
 * erased them. A mount does not believe the block of such a merge: it showed older content.
 * ctest: quick
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "layer_rig.h"

#define HISTORIES 1500U
#define PAGE_BYTES 512U

static const struct nw_layer_kind *const kinds[] = {&nw_layer_fast, &nw_layer_log, &nw_layer_nftl,
                                                    &nw_layer_superblock};

#define KINDS (sizeof kinds / sizeof kinds[0])

static const struct layer_shape shape = {.part = "K9F1G08U0A",
                                         .blocks = 20,
                                         .block_pages = 8,
                                         .page_bytes = PAGE_BYTES,
                                         .no_copy = 1,
                                         .spare_blocks = 10};

static struct layer_rig rig;
static struct nw_random numbers;

/* A chip on top of the rig's in which a program may fail with a whole tag beside other data. */
static struct nw_chip chip;
static struct nw_chip_ops ops;
static uint32_t programs; /* up to the one that fails; 0: none does */
static uint32_t failed;

static int program(struct nw_chip_req *req)
{
    uint8_t other[PAGE_BYTES];
    struct nw_chip_req wrong = *req;

    if (programs != 1U) {
        programs -= programs > 0;
        return rig.faults.ops.program(req);
    }
    programs = 0;
    failed++;
    memset(other, 0x5A, sizeof other);
    wrong.data = other;
    assert_int_equal(rig.faults.ops.program(&wrong), NW_OK);
    return NW_ERR_PROGRAM;
}

static int write_any(void)
{
    struct layer_op op = {
        .kind = OP_WRITE, .sector = nw_random_below(&numbers, rig.sectors), .count = 1};

    return layer_rig_run(&rig, &op);
}

/* A full device, some writes old. */
static void begin(const struct nw_layer_kind *kind, uint32_t seed)
{
    layer_rig_open(&rig, kind, &shape, 1);
    assert_int_equal(layer_rig_filter(&rig), NW_OK);
    chip = rig.faults.chip;
    ops = rig.faults.ops;
    ops.program = program;
    chip.ops = &ops;
    rig.site.chip = &chip;
    programs = 0;
    assert_int_equal(layer_rig_mount(&rig), NW_OK);
    nw_random_seed(&numbers, seed);
    for (uint32_t sector = 0; sector < rig.sectors; sector++) {
        struct layer_op op = {.kind = OP_WRITE, .sector = sector, .count = 1};
        assert_int_equal(layer_rig_run(&rig, &op), NW_OK);
    }
    uint32_t writes = 10U + nw_random_below(&numbers, 40);
    for (uint32_t i = 0; i < writes; i++) {
        assert_int_equal(write_any(), NW_OK);
    }
}

/* Some writes, in which a program fails, and so does each erase but some: how many answered
 * NW_ERR_FULL. Then a mount finds everything. */
static uint32_t write_and_mount(uint32_t history)
{
    uint32_t full = 0;

    programs = 1U + nw_random_below(&numbers, 14);
    rig.fault = (struct nw_fault){
        .verb = NW_VERB_ERASE, .skip = nw_random_below(&numbers, 5), .error = NW_ERR_ERASE};
    for (uint32_t turn = 0; turn < 4U; turn++) {
        int result = write_any();
        assert_true(result == NW_OK || result == NW_ERR_FULL);
        full += result == NW_ERR_FULL;
    }
    programs = 0;
    layer_rig_quiet(&rig);
    assert_int_equal(layer_rig_mount(&rig), NW_OK);
    if (layer_rig_check(&rig, 0) < 0) {
        fail_msg("%s, history %u: %s", rig.kind->name, (unsigned)history, rig.why);
    }
    layer_rig_close(&rig);
    return full;
}

/* Behind an error of the bus. */
static void test_no_block_is_left(void **state)
{
    uint32_t full = 0;

    (void)state;
    failed = 0;
    for (uint32_t i = 0; i < KINDS * HISTORIES; i++) {
        begin(kinds[i / HISTORIES], i);
        rig.fault =
            (struct nw_fault){.verb = NW_VERB_PROGRAM, .times = 1, .error = NW_ERR_IO};
        assert_int_equal(write_any(), NW_ERR_IO);
        full += write_and_mount(i);
    }
    assert_true(failed > HISTORIES && full > HISTORIES); /* or nothing was tried */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_no_block_is_left)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

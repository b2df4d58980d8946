/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: blocks that fail close together do not end a device that has good ones, whenever power goes
 * between them. A session needs a free block, and each of these left none for it, with eight of
 * twelve spare blocks good: NW_ERR_FULL for good.
 * Four erases fail in a merge, and power goes in it. The last free block held what it had moved.
 * Four erases fail as a mount merges. It had used two blocks, for its record and for the sector
 * that it had saved.
 * Two erases fail in a session that ends with a merge, and two in the next mount. What the merge
 * had given back was not free for that one.
 * ctest: quick
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "layer_rig.h"

#define HISTORIES 400U
#define SPARE 12U

static const struct nw_layer_kind *const kinds[] = {&nw_layer_fast, &nw_layer_log, &nw_layer_nftl,
                                                    &nw_layer_superblock};

#define KINDS (sizeof kinds / sizeof kinds[0])
#define IN_PLACE 3U /* of these */

static struct layer_shape shape = {.part = "K9F1G08U0A",
                                   .block_pages = 8,
                                   .page_bytes = 512,
                                   .no_copy = 1,
                                   .spare_blocks = SPARE};

static struct layer_rig rig;
static struct nw_random numbers;

static int write_any(void)
{
    struct layer_op op = {
        .kind = OP_WRITE, .sector = nw_random_below(&numbers, rig.sectors), .count = 1};

    return layer_rig_run(&rig, &op);
}

static void begin(unsigned kind, uint32_t seed)
{
    nw_random_seed(&numbers, seed);
    shape.blocks = (uint16_t)(16U + nw_random_below(&numbers, 8));
    layer_rig_open(&rig, kinds[kind], &shape, seed);
    assert_int_equal(layer_rig_filter(&rig), NW_OK);
    for (uint32_t sector = 0; sector < rig.sectors; sector++) {
        struct layer_op op = {.kind = OP_WRITE, .sector = sector, .count = 1};
        assert_int_equal(layer_rig_run(&rig, &op), NW_OK);
    }
    for (uint32_t i = nw_random_below(&numbers, 80); i > 0; i--) {
        assert_int_equal(write_any(), NW_OK);
    }
}

static uint32_t count_bad(void)
{
    uint32_t bad = 0;

    for (uint32_t block = 0; block < shape.blocks; block++) {
        bad += nw_nand_block_bad(rig.nand, block) != 0;
    }
    return bad;
}

/* The next erases fail, so many. */
static void fail_erases(uint32_t times)
{
    rig.fault = (struct nw_fault){.verb = NW_VERB_ERASE, .times = times, .error = NW_ERR_ERASE};
}

/* Mounts, reads all, and writes: 1 if one of three mounts can. */
static uint32_t can_write(uint32_t seed)
{
    int result = NW_ERR_FULL;

    layer_rig_quiet(&rig);
    for (unsigned mount = 0; result == NW_ERR_FULL && mount < 3U; mount++) {
        nw_nand_power_up(rig.nand);
        result = layer_rig_mount(&rig);
        if (result < 0 || layer_rig_check(&rig, 1) < 0 || layer_rig_clean(&rig) < 0) {
            fail_msg("%s, seed %u: answer %d; %s", rig.kind->name, (unsigned)seed, result,
                     rig.why);
        }
        result = write_any();
    }
    layer_rig_close(&rig);
    return result == NW_OK;
}

/* Writes until a merge begins, for which four erases fail, and stops it behind some pages as a cut
 * does. 1 if it came so. */
static uint32_t stop_merge(void)
{
    struct nw_fault faults[2] = {{.verb = NW_VERB_ERASE, .times = 4, .error = NW_ERR_ERASE},
                                 {.verb = NW_VERB_PROGRAM, .error = NW_ERR_POWER}};

    rig.faults.faults = faults;
    rig.faults.count = 2;
    for (unsigned i = 0; i < 100U && faults[0].hits + faults[1].hits == 0; i++) {
        faults[1].seen = 0;
        faults[1].skip = 2U + nw_random_below(&numbers, 3);
        (void)write_any();
    }
    rig.faults.faults = &rig.fault;
    rig.faults.count = 1;
    return faults[0].hits == 4U && faults[1].hits == 1U;
}

static void test_merge_is_cut(void **state)
{
    uint32_t tried = 0;

    (void)state;
    for (uint32_t i = 0; i < IN_PLACE * HISTORIES; i++) {
        begin(i / HISTORIES, i);
        uint32_t came = stop_merge();
        uint32_t bad = count_bad();

        tried += came;
        if (can_write(i) == 0 && came != 0) {
            fail_msg("%s, seed %u: full with %u bad", rig.kind->name, (unsigned)i, (unsigned)bad);
        }
    }
    assert_true(tried > HISTORIES); /* or nothing was tried */
}

static void test_mount_merges(void **state)
{
    uint32_t tried = 0;

    (void)state;
    for (uint32_t i = 0; i < KINDS * HISTORIES; i++) {
        begin(i / HISTORIES, i);
        fail_erases(4);
        rig.fault.skip = 2;
        assert_int_equal(layer_rig_mount(&rig), NW_OK);
        uint32_t bad = count_bad();

        tried += bad == 4U;
        if (can_write(i) == 0) {
            fail_msg("%s, seed %u: full with %u bad", rig.kind->name, (unsigned)i, (unsigned)bad);
        }
    }
    assert_true(tried > HISTORIES);
}

static void test_session_ends_with_a_merge(void **state)
{
    uint32_t tried = 0;

    (void)state;
    for (uint32_t i = 0; i < KINDS * HISTORIES; i++) {
        begin(i / HISTORIES, i);
        for (unsigned mount = 0; mount < 2U; mount++) {
            fail_erases(2);
            rig.fault.skip = nw_random_below(&numbers, 4);
            assert_int_equal(layer_rig_mount(&rig), NW_OK);
        }
        uint32_t bad = count_bad();

        tried += bad == 4U;
        if (can_write(i) == 0) {
            fail_msg("%s, seed %u: full with %u bad", rig.kind->name, (unsigned)i, (unsigned)bad);
        }
    }
    assert_true(tried > HISTORIES / 2U);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_merge_is_cut),
                                       cmocka_unit_test(test_mount_merges),
                                       cmocka_unit_test(test_session_ends_with_a_merge)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

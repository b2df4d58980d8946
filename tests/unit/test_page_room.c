/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: an error takes no room from the page layer that it could win back. Two ways were found from
 * outside in which it did.
 *
 * A block failed in a mount. The blocks that this mount won came free with its last list, when its
 * own block had no page left for one that would name two of them for the next mounts. It ended all
 * the same. Then errors of the bus used up the free blocks, as they may, and no mount behind that
 * found one to write to: NW_ERR_FULL for good, with nine of ten spare blocks good (one history in
 * twenty-four like these).
 *
 * The last free block had failed to erase, and then the host's block failed to program. The write
 * answered NW_ERR_FULL, although there was room in the block for what cleaning moves.
 * ctest: slow
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "layer_trials.h"

#define NEVER UINT32_MAX

static struct layer_rig rig;
static struct nw_random dice;
static uint32_t until_erase_fails; /* requests; NEVER */
static uint32_t until_program_fails;
static uint32_t one_in; /* requests that the bus answers with an error; 0: none */
static uint32_t failed; /* blocks so far */

/* Counts down to 0, where a block fails for good. */
static void strike(uint32_t *until, uint32_t block, int at_program)
{
    if (*until == 0) {
        failed++;
        nw_nand_doom(rig.nand, block, at_program);
    }
    if (*until != NEVER) {
        *until -= 1U; /* from 0 to NEVER */
    }
}

/* A request over a bus that may fail, before or behind it. */
static int over_bus(const struct nw_chip_req *req, int (*verb)(struct nw_chip_req *))
{
    struct nw_chip_req below = *req;
    uint32_t fails = one_in != 0 && nw_random_below(&dice, one_in) == 0;

    below.chip = rig.faults.below;
    int result = fails && nw_random_below(&dice, 2) == 0 ? (int)NW_OK : verb(&below);

    return fails ? (int)NW_ERR_IO : result;
}

static int program(struct nw_chip_req *req)
{
    strike(&until_program_fails, req->page / rig.shape->block_pages, 1);
    return over_bus(req, rig.faults.below->ops->program);
}

static int erase(struct nw_chip_req *req)
{
    strike(&until_erase_fails, req->block, 0);
    return over_bus(req, rig.faults.below->ops->erase);
}

static int write_any(void)
{
    struct layer_op op = {
        .kind = OP_WRITE, .sector = nw_random_below(&dice, rig.sectors), .count = 1};

    return layer_rig_run(&rig, &op);
}

/* A device in use. */
static void open_used(const struct layer_shape *shape, uint32_t seed)
{
    until_erase_fails = NEVER;
    until_program_fails = NEVER;
    one_in = 0;
    failed = 0;
    nw_random_seed(&dice, seed);
    layer_rig_open(&rig, &nw_layer_page, shape, seed);
    assert_int_equal(layer_rig_filter(&rig), NW_OK);
    rig.faults.ops.program = program;
    rig.faults.ops.erase = erase;
    layer_trial_fill(&rig);
    for (uint32_t i = 0; i < rig.sectors; i++) {
        assert_int_equal(write_any(), NW_OK);
    }
}

static void good_mount(uint32_t seed)
{
    int result = layer_rig_mount(&rig);

    if (result < 0 || layer_rig_check(&rig, 1) < 0) {
        fail_msg("seed %u: %s %s", (unsigned)seed, nw_error_text(result),
                 result < 0 ? "" : rig.why);
    }
}

/* Writes over a bus with errors until they have used up the free blocks, or so many. */
static void wear_bus(uint32_t writes)
{
    int result = NW_OK;

    for (one_in = 4; writes > 0 && result != NW_ERR_FULL; writes--) {
        result = write_any();
    }
    one_in = 0;
}

static void test_a_mount_with_a_failure_keeps_reserves(void **state)
{
    static const struct layer_shape shape = {.part = "K9F1G08U0A",
                                             .blocks = 26,
                                             .block_pages = 17,
                                             .page_bytes = 256,
                                             .spare_bytes = 20,
                                             .spare_blocks = 10};

    (void)state;
    for (uint32_t seed = 1; seed <= 80U; seed++) {
        open_used(&shape, seed);
        wear_bus(400);
        until_program_fails = nw_random_below(&dice, 24);
        good_mount(seed);
        until_program_fails = NEVER;
        wear_bus(1000);
        good_mount(seed);
        layer_trial_fill(&rig);
        assert_true(failed <= 1U);
        layer_rig_close(&rig);
    }
}

static void test_the_last_free_block_and_the_hosts(void **state)
{
    static const struct layer_shape shape = {.part = "K9F1G08U0A",
                                             .blocks = 27,
                                             .block_pages = 16,
                                             .page_bytes = 256,
                                             .spare_bytes = 20,
                                             .spare_blocks = 11};
    struct layer_snapshot before;

    (void)state;
    open_used(&shape, 1);
    layer_snapshot_open(&before, &rig);
    for (uint32_t step = 0; step < 8000U; step++) {
        struct layer_op idle = {.kind = OP_IDLE, .count = 3000};

        struct layer_op trim = {
            .kind = OP_TRIM, .sector = nw_random_below(&dice, rig.sectors), .count = 1};

        assert_int_equal(write_any(), NW_OK);
        if (step % 4U == 0) {
            assert_int_equal(layer_rig_run(&rig, &trim), NW_OK);
        }
        layer_snapshot_take(&before, &rig);
        until_erase_fails = 0;
        (void)layer_rig_run(&rig, &idle);
        until_erase_fails = NEVER;
        until_program_fails = 0;
        assert_int_equal(write_any(), NW_OK);
        until_program_fails = NEVER;
        layer_snapshot_restore(&before, &rig);
    }
    layer_snapshot_close(&before);
    layer_rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_mount_with_a_failure_keeps_reserves),
        cmocka_unit_test(test_the_last_free_block_and_the_hosts)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

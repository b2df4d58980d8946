/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: the hybrid layers go on writing as long as seven of the spare blocks are good, also when
 * many blocks go bad close together. Once a write took the last free blocks one after the other as
 * they failed, while the logs held the rest: no merge found a block any more, and every write on
 * every mount answered NW_ERR_FULL, with 5 bad blocks of 20 spare (log) or 6 (fast).
 * ctest: quick
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "layer_rig.h"

#define BLOCKS 36U
#define SPARE 20U
#define SEEDS 30U
#define MOST_DOOMED 9U /* beyond, all that are free may fail within one merge */

static const struct nw_layer_kind *const kinds[] = {&nw_layer_fast, &nw_layer_log, &nw_layer_nftl,
                                                    &nw_layer_superblock};

#define KINDS (sizeof kinds / sizeof kinds[0])

static const struct layer_shape shape = {
    .part = "K9F1G08U0A", .blocks = BLOCKS, .block_pages = 8, .spare_blocks = SPARE};

static struct layer_rig rig;

/* `writes` sectors at random: NW_OK or the first error. */
static int write_some(struct nw_random *random, uint32_t writes)
{
    int result = NW_OK;

    for (uint32_t i = 0; result == NW_OK && i < writes; i++) {
        struct layer_op op = {
            .kind = OP_WRITE, .sector = nw_random_below(random, rig.sectors), .count = 1};

        result = layer_rig_run(&rig, &op);
    }
    return result;
}

static uint32_t count_bad(void)
{
    uint32_t bad = 0;

    for (uint32_t block = 0; block < BLOCKS; block++) {
        bad += nw_nand_block_bad(rig.nand, block) != 0;
    }
    return bad;
}

/* So many blocks, none of which has failed yet, fail at their next program or erase. */
static void doom(struct nw_random *random, uint32_t blocks, int in_program)
{
    while (blocks > 0) {
        uint32_t block = nw_random_below(random, BLOCKS);

        if (!nw_nand_block_failed(rig.nand, block)) {
            nw_nand_doom(rig.nand, block, in_program);
            blocks--;
        }
    }
}

/* How many of the doomed blocks were found bad. */
static uint32_t run(const struct nw_layer_kind *kind, uint32_t seed, uint32_t doomed)
{
    struct nw_random random;

    nw_random_seed(&random, seed);
    layer_rig_open(&rig, kind, &shape, seed);
    int result = write_some(&random, 300);
    doom(&random, doomed, (int)(seed % 2U));
    result = result == NW_OK ? write_some(&random, 300) : result;
    int reads = layer_rig_check(&rig, 0);
    uint32_t bad = count_bad();
    result = result == NW_OK ? layer_rig_mount(&rig) : result;
    result = result == NW_OK ? write_some(&random, 100) : result;
    if (result < 0 || reads < 0 || layer_rig_check(&rig, 0) < 0 || layer_rig_clean(&rig) < 0) {
        fail_msg("%s, %u doomed, seed %u: answer %d, %u bad; %s", kind->name, (unsigned)doomed,
                 (unsigned)seed, result, (unsigned)bad, rig.why);
    }
    layer_rig_close(&rig);
    return bad;
}

static void test_many_fail_at_once(void **state)
{
    (void)state;
    for (unsigned i = 0; i < KINDS; i++) {
        uint32_t most = 0;

        for (uint32_t doomed = 5; doomed <= MOST_DOOMED; doomed += 2U) {
            for (uint32_t seed = 1; seed <= SEEDS; seed++) {
                uint32_t bad = run(kinds[i], seed, doomed);
                most = bad > most ? bad : most;
            }
        }
        assert_int_equal(most, MOST_DOOMED); /* or nothing was tried */
    }
}

/* Chains that were as long as they may be moved pages within themselves and were never
 * merged to win blocks for all: with 11 of 20 spare blocks bad no free block was left. */
static void test_superblocks_shrink(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= SEEDS; seed++) {
        (void)run(&nw_layer_superblock, seed, 11);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_many_fail_at_once),
                                       cmocka_unit_test(test_superblocks_shrink)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: what wear.h tells of dynamic levelling holds for each layer that takes a policy. It said
 * that no block comes more than 2 erases above the mean where all data is rewritten in turn.
 * ctest: quick
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "layer_rig.h"
#include "nandwich-models/wear.h"

#define BLOCKS 60U
#define ROUNDS 60U

static const struct layer_shape shape = {.part = "K9F1G08U0A",
                                         .blocks = BLOCKS,
                                         .block_pages = 16,
                                         .page_bytes = 512,
                                         .spare_blocks = 16,
                                         .nand_flags = 0};

/* Writes each sector once a round, in order. Answers by how many erases, rounded down, the most
 * erased block is above the mean of all good ones. */
static uint32_t wear_out(const struct nw_layer_kind *kind)
{
    static uint8_t ram[BLOCKS];
    static struct layer_rig rig;
    uint32_t most = 0;
    uint32_t count = 0;
    uint32_t sum = 0;
    struct nw_wear wear;

    layer_rig_open(&rig, kind, &shape, 1);
    assert_int_equal(nw_wear_dynamic_open(&wear, NULL, BLOCKS, ram, sizeof ram), NW_OK);
    rig.config.wear = &wear;
    assert_int_equal(kind->format(&rig.site, &rig.block), NW_OK);
    for (uint32_t i = 0; i < ROUNDS * rig.sectors; i++) {
        struct layer_op op = {.kind = OP_WRITE, .sector = i % rig.sectors, .count = 1};

        assert_true(layer_rig_run(&rig, &op) >= 0);
    }
    for (uint32_t block = 0; block < BLOCKS; block++) {
        struct nw_chip_req req = {.chip = rig.site.chip, .block = block};

        if (nw_chip_is_bad(&req) == 0) {
            uint32_t erases = nw_nand_block_erases(rig.nand, block);

            most = erases > most ? erases : most;
            sum += erases;
            count++;
        }
    }
    assert_int_equal(layer_rig_check(&rig, 0), 0);
    layer_rig_close(&rig);
    return most - (sum + count - 1U) / count;
}

static void in_order_blocks_take_turns(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < nw_layer_kind_count; i++) {
        const struct nw_layer_kind *kind = nw_layer_kinds[i];

        if (kind->wears != 0) {
            assert_in_range(wear_out(kind), 0, 1);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(in_order_blocks_take_turns)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

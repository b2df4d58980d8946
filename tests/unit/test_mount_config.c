/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: what the headers of the layers say of each field of their configuration is true: one that
 * may change between mounts does not touch the content, whichever way it changes; one that may not
 * is refused by NW_ERR_VERSION before anything is written.
 * ctest: quick
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "layer_rig.h"

static const struct layer_shape roomy = {
    .part = "K9F1G08U0A", .blocks = 44, .block_pages = 8, .page_bytes = 512, .spare_blocks = 20};

static struct layer_rig rig;
static struct nw_random dice;

static void scatter(uint32_t writes)
{
    for (uint32_t i = 0; i < writes; i++) {
        uint32_t sector = nw_random_below(&dice, rig.sectors);
        struct layer_op op = {.kind = nw_random_below(&dice, 9) == 0 ? OP_TRIM : OP_WRITE,
                              .sector = sector,
                              .count = sector + 1U < rig.sectors ? 1U + (i & 1U) : 1U};

        assert_int_equal(layer_rig_run(&rig, &op), NW_OK);
    }
    assert_int_equal(layer_rig_run(&rig, &(struct layer_op){.kind = OP_SYNC}), NW_OK);
}

/* Mounts with another configuration: the layer's answer. */
static int mount_with(const struct nw_layer_config *config)
{
    rig.config = *config;
    free(rig.site.ram);
    rig.site.ram_bytes = rig.kind->ram_bytes(&rig.site);
    rig.site.ram = malloc(rig.site.ram_bytes);
    assert_non_null(rig.site.ram);
    return layer_rig_mount(&rig);
}

static void expect_content(const struct nw_layer_config *config)
{
    if (layer_rig_check(&rig, 1) != 0) {
        fail_msg("%s, maps %u: %s", rig.kind->name, config->maps, rig.why);
    }
}

/* A mount that is refused has written and erased nothing. */
static void expect_refused(const struct nw_layer_config *config)
{
    struct nw_nand_counts before = *nw_nand_stats(rig.nand);

    assert_int_equal(mount_with(config), NW_ERR_VERSION);
    assert_int_equal(nw_nand_stats(rig.nand)->programs, before.programs);
    assert_int_equal(nw_nand_stats(rig.nand)->erases, before.erases);
}

static void test_spare_blocks_may_not(void **state)
{
    (void)state;
    layer_rig_open(&rig, &nw_layer_tree, &roomy, 3);
    nw_random_seed(&dice, 5);
    scatter(rig.sectors);
    for (uint16_t spare = 18; spare < 23; spare++) {
        if (spare != roomy.spare_blocks) {
            expect_refused(&(struct nw_layer_config){.spare_blocks = spare});
        }
    }
    expect_refused(&(struct nw_layer_config){0}); /* 13 of 44 */
    assert_int_equal(mount_with(&(struct nw_layer_config){.spare_blocks = 20}), NW_OK);
    expect_content(&rig.config);
    layer_rig_close(&rig);
}

/* RAM for more nodes or fewer, with changes that wait in RAM and with none. */
static void test_ram_may_change(void **state)
{
    (void)state;
    layer_rig_open(&rig, &nw_layer_tree, &roomy, 3);
    nw_random_seed(&dice, 4);
    for (uint32_t turn = 0; turn < 40; turn++) {
        struct nw_layer_config config = {.spare_blocks = 20,
                                         .maps = (uint8_t)nw_random_below(&dice, 60)};

        assert_int_equal(mount_with(&config), NW_OK);
        expect_content(&config);
        scatter(rig.sectors / (1U + turn % 4U));
    }
    layer_rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spare_blocks_may_not),
        cmocka_unit_test(test_ram_may_change),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

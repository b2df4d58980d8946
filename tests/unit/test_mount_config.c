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
#include "nandwich/wear_dheating.h"
#include "nandwich/wear_swl.h"

/* Room for twelve log blocks. */
static const struct layer_shape roomy = {
    .part = "K9F1G08U0A", .blocks = 44, .block_pages = 8, .page_bytes = 512, .spare_blocks = 20,
    .degree = 3};

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
        fail_msg("%s, log_blocks %u, degree %u, maps %u: %s", rig.kind->name, config->log_blocks,
                 config->degree, config->maps, rig.why);
    }
}

/* A wear policy may come, go and be another one at each mount. */
static void test_wear_may_change(void **state)
{
    static const struct nw_layer_kind *const kinds[] = {
        &nw_layer_page, &nw_layer_tree};
    static uint64_t ram[256];

    (void)state;
    for (unsigned i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        layer_rig_open(&rig, kinds[i], &roomy, 3);
        nw_random_seed(&dice, 4);
        for (uint32_t turn = 0; turn < 12; turn++) {
            struct nw_layer_config config = {.spare_blocks = 20, .degree = 3};
            struct nw_swl swl;
            struct nw_dheating dheating;

            if (turn % 3U == 1U) {
                struct nw_swl_config wish = {.threshold = 2};
                assert_int_equal(nw_swl_open(&swl, &wish, 44, ram, sizeof ram), NW_OK);
                config.wear = &swl.wear;
            } else if (turn % 3U == 2U) {
                struct nw_dheating_config wish = {.heal = {.heals = 1, .cycles = 6}};
                assert_int_equal(nw_dheating_open(&dheating, &wish, 44, ram, sizeof ram), NW_OK);
                config.wear = &dheating.wear;
            }
            assert_int_equal(mount_with(&config), NW_OK);
            expect_content(&config);
            scatter(rig.sectors);
        }
        layer_rig_close(&rig);
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
    static const struct nw_layer_kind *const kinds[] = {
        &nw_layer_page, &nw_layer_tree};

    (void)state;
    for (unsigned i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        layer_rig_open(&rig, kinds[i], &roomy, 3);
        nw_random_seed(&dice, 5);
        scatter(rig.sectors);
        for (uint16_t spare = 18; spare < 23; spare++) {
            if (spare != roomy.spare_blocks) {
                expect_refused(&(struct nw_layer_config){.spare_blocks = spare, .degree = 3});
            }
        }
        expect_refused(&(struct nw_layer_config){.degree = 3}); /* 0: 13 of 44 */
        assert_int_equal(
            mount_with(&(struct nw_layer_config){.spare_blocks = 20, .degree = 3}), NW_OK);
        expect_content(&rig.config);
        layer_rig_close(&rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wear_may_change),
        cmocka_unit_test(test_spare_blocks_may_not),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: the NFTL layer merges as its page says, kind by kind, and what it costs in chip operations
 * is known to the unit for a fixed script. A change that makes it dearer fails here.
 * ctest: quick
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "layer_counts.h"
#include "nandwich-models/models.h"

/* 20 blocks of 8 pages, 10 spare: 80 sectors. Chains of two blocks merge soonest. */
static const struct layer_shape pairs = {
    .part = "K9F1G08U0A", .blocks = 20, .block_pages = 8, .spare_blocks = 10, .degree = 2};
static const struct layer_shape chains = {
    .part = "K9F1G08U0A", .blocks = 20, .block_pages = 8, .spare_blocks = 10};
static const struct layer_shape any_order = {
    .part = "TC58DVG02A1FT00", .blocks = 20, .block_pages = 8, .spare_blocks = 10, .degree = 2};

static struct layer_rig rig;

static void open_rig(const struct layer_shape *shape)
{
    layer_rig_open(&rig, &nw_layer_nftl, shape, 1);
}

/* A logical block written in order twice: the second block holds all, nothing moves. */
static void test_switch_merge(void **state)
{
    (void)state;
    open_rig(&pairs);
    layer_counts_expect("fill", layer_counts_write(&rig, 0, 8, 1),
                        (struct layer_counts){.programs = 8});
    layer_counts_expect("again", layer_counts_write(&rig, 0, 8, 1),
                        (struct layer_counts){.programs = 8});
    layer_counts_expect("third", layer_counts_write(&rig, 0, 1, 1),
                        (struct layer_counts){.programs = 1, .swaps = 1});
    layer_counts_close(&rig);
}

/* The second block begins in order: it takes the five others, a tag read and a copy each. */
static void test_partial_merge(void **state)
{
    (void)state;
    open_rig(&pairs);
    (void)layer_counts_write(&rig, 0, 8, 1);
    (void)layer_counts_write(&rig, 0, 3, 1);
    layer_counts_expect("again", layer_counts_write(&rig, 2, 1, 1),
                        (struct layer_counts){
                            .reads = 5, .programs = 1, .copies = 5, .moved = 5, .partial = 1});
    layer_counts_close(&rig);
}

/* In order, the second block cannot take what lies before page 5: all eight move to a third. */
static void test_full_merge(void **state)
{
    (void)state;
    open_rig(&pairs);
    (void)layer_counts_write(&rig, 0, 8, 1);
    (void)layer_counts_write(&rig, 5, 1, 1);
    layer_counts_expect("again", layer_counts_write(&rig, 5, 1, 1),
                        (struct layer_counts){
                            .reads = 8, .programs = 1, .copies = 8, .moved = 8, .full = 1});
    layer_counts_close(&rig);
}

/* Where pages may be programmed in any order it can: a partial merge. */
static void test_partial_merge_in_any_order(void **state)
{
    (void)state;
    open_rig(&any_order);
    (void)layer_counts_write(&rig, 0, 8, 1);
    (void)layer_counts_write(&rig, 5, 1, 1);
    struct layer_counts got = layer_counts_write(&rig, 5, 1, 1);
    assert_int_equal(got.moved, 7);
    assert_int_equal(got.partial, 1);
    assert_int_equal(got.full, 0);
    layer_counts_close(&rig);
}

/* A chain may grow to its limit before anything moves. */
static void test_chain(void **state)
{
    (void)state;
    open_rig(&chains);
    (void)layer_counts_write(&rig, 0, 8, 1);
    for (uint32_t i = 0; i < 7U; i++) {
        struct layer_counts got = layer_counts_write(&rig, 4, 1, 1);
        assert_int_equal(got.moved, 0);
    }
    struct layer_counts got = layer_counts_write(&rig, 4, 1, 1);
    assert_int_equal(got.moved, 8);
    assert_int_equal(got.full, 1);
    layer_counts_expect("read", layer_counts_read(&rig, 0, 8),
                        (struct layer_counts){.reads = 8});
    layer_counts_close(&rig);
}

static void test_failed_merge(void **state)
{
    (void)state;
    layer_counts_failed_merge(&nw_layer_nftl, &pairs);
}

static void test_counts(void **state)
{
    static const struct layer_counts churn = {
        .reads = 5456, .programs = 1000, .erases = 1443, .copies = 5456, .moved = 5456,
        .full = 602, .partial = 92};

    (void)state;
    layer_counts_script(&nw_layer_nftl, &chains, churn);
}

static void test_refusals(void **state)
{
    struct nw_geometry geometry;
    struct nw_model_config config = {.kind = NW_MODEL_NFTL, .degree = 2};

    (void)state;
    open_rig(&pairs);
    geometry = nw_nand_chip(rig.nand)->geometry;
    assert_true(nw_model_ram_bytes(&config, &geometry) > 0);
    config.degree = 1;
    assert_int_equal(nw_model_ram_bytes(&config, &geometry), 0);
    config = (struct nw_model_config){.kind = NW_MODEL_NFTL, .spare_blocks = 9};
    assert_int_equal(nw_model_sectors(&config, &geometry), 0);
    config.spare_blocks = 20;
    assert_int_equal(nw_model_sectors(&config, &geometry), 0);
    rig.site.ram_bytes--;
    assert_int_equal(rig.kind->format(&rig.site, &rig.block), NW_ERR_RAM);
    layer_rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_switch_merge),
        cmocka_unit_test(test_partial_merge),
        cmocka_unit_test(test_full_merge),
        cmocka_unit_test(test_partial_merge_in_any_order),
        cmocka_unit_test(test_chain),
        cmocka_unit_test(test_failed_merge),
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_refusals),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

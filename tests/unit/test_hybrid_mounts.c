/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: what ftl_hybrid.h says of a mount is true on aged chips: hardly more than one read of a tag
 * for each page of the chip, known to the unit. The hybrid layers take every part of the table that
 * they can take at all as it is, without being told anything.
 * ctest: quick
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "layer_counts.h"
#include "nandwich/bytes.h"
#include "nandwich/crc.h"
#include "nandwich/ftl_nftl.h"
#include "nandwich/ftl_superblock.h"

/* 200 blocks of 32 pages that are programmed in any order: 24 spare. Once such chips took up to 3.5
 * reads a page, which is 53 s for all of this part. */
static const struct layer_shape aged = {
    .part = "TC58DVG02A1FT00", .blocks = 200, .block_pages = 32};

#define PAGES (200U * 32U)

static struct layer_rig rig;

/* Half of the writes anywhere, half in order. */
static void age(void)
{
    struct nw_random random;

    nw_random_seed(&random, 5);
    (void)layer_counts_write(&rig, 0, rig.sectors, 1);
    for (uint32_t i = 0; i < 2U * rig.sectors; i++) {
        uint32_t anywhere = nw_random_below(&random, rig.sectors);

        (void)layer_counts_write(&rig, i % 2U == 0 ? anywhere : i / 2U, 1, 1);
    }
}

static void expect_mount(const struct nw_layer_kind *kind, uint32_t percent,
                         struct layer_counts wanted)
{
    layer_rig_open(&rig, kind, &aged, 1);
    age();
    struct layer_counts mount = layer_counts_mount(&rig);

    layer_counts_expect(kind->name, mount, wanted);
    assert_true(mount.reads - mount.moved < PAGES * percent / 100U);
    layer_counts_close(&rig);
}

static void test_aged_mounts(void **state)
{
    (void)state;
    expect_mount(&nw_layer_nftl, 105,
                 (struct layer_counts){
                     .reads = 6687, .programs = 37, .erases = 2, .moved = 32, .partial = 1});
    expect_mount(&nw_layer_log, 105,
                 (struct layer_counts){
                     .reads = 6699, .programs = 38, .erases = 3, .moved = 33, .full = 1});
    expect_mount(&nw_layer_superblock, 120,
                 (struct layer_counts){
                     .reads = 7409, .programs = 32, .erases = 2, .moved = 28, .partial = 2});
    expect_mount(&nw_layer_fast, 125,
                 (struct layer_counts){
                     .reads = 7758, .programs = 5, .erases = 2, .moved = 1});
}

/* A mount behind a cut that tore a page alone in its block, and the one after it, which erases that
 * block: one erase more, and nothing else. */
static void test_torn_page_costs_an_erase(void **state)
{
    static const struct nw_cut half = {
        .phase = NW_CUT_INSIDE, .data = NW_TORN_HALF, .spare = NW_TORN_NEW};
    struct layer_op op = {.kind = OP_WRITE, .sector = 40, .count = 1};

    (void)state;
    layer_rig_open(&rig, &nw_layer_nftl, &aged, 1);
    (void)layer_counts_write(&rig, 0, 32, 1);
    nw_nand_cut(rig.nand, &half);
    assert_int_equal(layer_rig_run(&rig, &op), NW_ERR_POWER);
    struct layer_counts first = layer_counts_mount(&rig);
    struct layer_counts second = layer_counts_mount(&rig);
    struct layer_counts third = layer_counts_mount(&rig);

    assert_int_equal(first.erases, 1);
    assert_int_equal(second.erases, 2);
    assert_int_equal(third.erases, 1);
    layer_counts_close(&rig);
}

/* A torn page whose tag fits its check by chance, in the last block, which nothing is in yet. */
static void forge(uint32_t word, uint64_t version)
{
    static uint8_t data[512];
    uint8_t spare[15];
    struct nw_chip_req req = {.chip = rig.site.chip,
                              .page = 199U * 32U,
                              .length = sizeof data,
                              .data = data,
                              .spare_length = sizeof spare,
                              .spare = spare};

    nw_put32(spare, word);
    nw_put32(spare + 4, (uint32_t)(version & 0xFFFFFFFFU));
    spare[8] = (uint8_t)(version >> 32);
    nw_put32(spare + 9, nw_crc32(NW_CRC32_START, data, sizeof data));
    nw_put16(spare + 13, (uint16_t)(nw_crc32(NW_CRC32_START, spare, 13) & 0xFFFFU));
    assert_int_equal(nw_chip_program(&req), NW_OK);
}

/* Such a tag named a sector behind the last one: the mount saved it, and wrote it far outside of
 * its arrays. One with the highest version there is would have brought versions to their end. */
static void test_impossible_tags(void **state)
{
    static const struct nw_layer_kind *const kinds[] = {
        &nw_layer_nftl, &nw_layer_log, &nw_layer_superblock, &nw_layer_fast};

    (void)state;
    for (unsigned i = 0; i < 8U; i++) {
        layer_rig_open(&rig, kinds[i / 2U], &aged, 1);
        (void)layer_counts_write(&rig, 0, 40, 1);
        forge(i % 2U == 0 ? 0x80043U : 3U, i % 2U == 0 ? 5000U : 0xFFFFFFFFFFU);
        for (unsigned turn = 0; turn < 3U; turn++) {
            assert_int_equal(layer_rig_mount(&rig), NW_OK);
            assert_int_equal(layer_rig_check(&rig, 0), 0);
            (void)layer_counts_write(&rig, 0, 40, 1);
        }
        layer_counts_close(&rig);
    }
}

/* fast answered NW_ERR_CONFIG for MLC64G: its default was more log blocks than it can number. */
static void test_every_part(void **state)
{
    static const struct nw_layer_kind *const kinds[] = {
        &nw_layer_nftl, &nw_layer_log, &nw_layer_superblock, &nw_layer_fast};
    static const struct nw_layer_config defaults;
    unsigned taken = 0;

    (void)state;
    for (uint32_t i = 0; i < nw_parts_count(); i++) {
        const char *name = nw_parts_at(i)->rows[0].value;
        struct nw_nand_config config = {.flags = NW_NAND_NO_PAYLOAD};
        struct nw_part part;
        struct nw_nand *nand;

        assert_int_equal(nw_parts_get(name, &part), NW_OK);
        config.part = &part;
        if (nw_nand_open(&nand, &config) < 0) {
            continue; /* no flash */
        }
        struct nw_layer_site site = {
            .config = &defaults, .chip = nw_nand_chip(nand), .chip_name = name};
        const struct nw_geometry *geometry = &site.chip->geometry;
        int fits = geometry->spare_bytes >= 15U && geometry->page_bytes >= 256U &&
                   geometry->block_pages >= 4U;

        for (unsigned k = 0; k < 4U; k++) {
            uint32_t wanted = fits ? (geometry->blocks - geometry->blocks / 14U - 10U) *
                                         geometry->block_pages
                                   : 0U;

            if (kinds[k]->sectors(&site) != wanted || (kinds[k]->ram_bytes(&site) > 0) != fits) {
                fail_msg("%s on %s: %u sectors, wanted %u", kinds[k]->name, name,
                         (unsigned)kinds[k]->sectors(&site), (unsigned)wanted);
            }
        }
        taken += fits ? 1U : 0U;
        nw_nand_close(nand);
    }
    assert_true(taken >= 5U);
}

/* With many blocks a superblock's lists had no numbers left: it told of sectors and then answered
 * NW_ERR_CONFIG. */
static void test_many_blocks(void **state)
{
    struct nw_ftl_superblock_config wide = {.degree = NW_FTL_SUPERBLOCK_MOST,
                                            .log_blocks = NW_FTL_SUPERBLOCK_MOST};
    struct nw_ftl_nftl_config longest = {.chain = NW_FTL_NFTL_MOST_CHAIN};

    (void)state;
    layer_rig_open(&rig, &nw_layer_nftl, &aged, 1);
    struct nw_geometry geometry = nw_nand_chip(rig.nand)->geometry;
    for (geometry.blocks = 64990U; geometry.blocks < 65535U; geometry.blocks++) {
        int fits = geometry.blocks <= 65000U;

        assert_int_equal(nw_ftl_superblock_sectors(&wide, &geometry) > 0, fits);
        assert_int_equal(nw_ftl_superblock_ram_bytes(&wide, &geometry) > 0, fits);
        assert_int_equal(nw_ftl_nftl_sectors(&longest, &geometry) > 0, fits);
        assert_int_equal(nw_ftl_nftl_ram_bytes(&longest, &geometry) > 0, fits);
    }
    layer_rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_aged_mounts),
                                       cmocka_unit_test(test_torn_page_costs_an_erase),
                                       cmocka_unit_test(test_impossible_tags),
                                       cmocka_unit_test(test_every_part),
                                       cmocka_unit_test(test_many_blocks)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

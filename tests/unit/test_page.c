/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: the page layer keeps the block contract where things go wrong: refused shapes, chips that
 * are not formatted or formatted otherwise, lost pages, blocks that fail until none is left.
 * ctest: quick
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "nandwich-twin/faults.h"
#include "layer_rig.h"
#include "nandwich/bytes.h"
#include "nandwich/crc.h"
#include "nandwich/ftl_page.h"

static const struct layer_shape shape = {
    .part = "K9F1G08U0A", .blocks = 20, .block_pages = 8, .spare_blocks = 10};
static const struct nw_ftl_page_config config = {.spare_blocks = 10};

static struct layer_rig rig;

static struct nw_ftl_page *ftl(void)
{
    return rig.site.state;
}

static int open_rig(void **state)
{
    (void)state;
    layer_rig_open(&rig, &nw_layer_page, &shape, 11);
    return 0;
}

static int close_rig(void **state)
{
    (void)state;
    assert_int_equal(layer_rig_clean(&rig), 0);
    layer_rig_close(&rig);
    return 0;
}

static void run(uint8_t kind, uint32_t sector, uint32_t count)
{
    struct layer_op op = {.kind = kind, .sector = sector, .count = count};

    assert_true(layer_rig_run(&rig, &op) >= 0);
}

static int read_one(uint32_t sector)
{
    struct nw_block_req req = {
        .block = rig.block, .sector = sector, .count = 1, .data = rig.data};

    return nw_block_read(&req);
}

static void check(void)
{
    if (layer_rig_check(&rig, 0) < 0) {
        fail_msg("%s", rig.why);
    }
}

static void remount(void)
{
    nw_nand_power_up(rig.nand);
    assert_int_equal(layer_rig_mount(&rig), NW_OK);
}

/* Where a sector lies: the page whose tag names it with the highest version. */
static uint32_t page_of(uint32_t sector)
{
    const struct nw_geometry *geometry = &nw_nand_chip(rig.nand)->geometry;
    uint8_t spare[64];
    uint32_t newest = 0;
    uint32_t found = UINT32_MAX;

    for (uint32_t page = 0; page < geometry->blocks * geometry->block_pages; page++) {
        if (nw_nand_page_programs(rig.nand, page) > 0) {
            nw_nand_peek(rig.nand, page, NULL, spare);
            uint32_t word;
            uint32_t version;
            memcpy(&word, spare, 4);
            memcpy(&version, spare + 4, 4);
            if ((word & 0x3FFFFFFFU) == sector && version >= newest) {
                newest = version;
                found = page;
            }
        }
    }
    assert_int_not_equal(found, UINT32_MAX);
    return found;
}

static void test_reads_zeros_at_first(void **state)
{
    (void)state;
    check();
    run(OP_WRITE, 3, 2);
    check();
    run(OP_TRIM, 3, 1);
    check();
}

/* Each figure of a geometry or config out of range is refused, by size 0 and by NW_ERR_CONFIG. */
static void test_refused_shapes(void **state)
{
    struct nw_geometry good = nw_nand_chip(rig.nand)->geometry;
    struct nw_geometry bad[8];
    struct nw_ftl_page_config few = {.spare_blocks = 9};
    struct nw_ftl_page_config all = {.spare_blocks = 20};

    (void)state;
    for (unsigned i = 0; i < 8U; i++) {
        bad[i] = good;
    }
    bad[0].spare_bytes = 14;
    bad[1].block_pages = 7;
    bad[2].block_pages = 0x2000;
    bad[3].blocks = 10;
    bad[4].blocks = 65530;
    bad[5].page_bytes = 128;
    bad[6].blocks = 66644; /* 3,330,496 sectors were told here, and no RAM */
    bad[6].block_pages = 50;
    bad[7].blocks = 65467;
    bad[7].block_pages = 60;
    assert_true(nw_ftl_page_ram_bytes(&config, &good) > 0);
    for (unsigned i = 0; i < 8U; i++) {
        struct nw_chip chip = *nw_nand_chip(rig.nand);
        struct nw_ftl_page other;

        assert_int_equal(nw_ftl_page_ram_bytes(&config, &bad[i]), 0);
        assert_int_equal(nw_ftl_page_sectors(&config, &bad[i]), 0);
        chip.geometry = bad[i];
        assert_int_equal(
            nw_ftl_page_mount(&other, &chip, &config, rig.site.ram, rig.site.ram_bytes),
            NW_ERR_CONFIG);
    }
    bad[7].blocks--; /* blocks and pages a block together 65,526, the most there may be */
    assert_true(nw_ftl_page_ram_bytes(&config, &bad[7]) > 0);
    assert_true(nw_ftl_page_sectors(&config, &bad[7]) > 0);
    assert_int_equal(nw_ftl_page_ram_bytes(&few, &good), 0);
    assert_int_equal(nw_ftl_page_ram_bytes(&all, &good), 0);
    assert_int_equal(nw_ftl_page_sectors(&all, &good), 0);
}

static void test_not_formatted(void **state)
{
    struct nw_nand *blank;
    struct nw_nand_config same = {.part = nw_nand_part(rig.nand), .seed = 5};
    struct nw_ftl_page other;
    struct nw_ftl_page_config more = {.spare_blocks = 11};
    uint8_t *ram = malloc(rig.site.ram_bytes);

    (void)state;
    assert_non_null(ram);
    assert_int_equal(nw_nand_open(&blank, &same), NW_OK);
    assert_int_equal(
        nw_ftl_page_mount(&other, nw_nand_chip(blank), &config, ram, rig.site.ram_bytes - 1U),
        NW_ERR_RAM);
    assert_int_equal(
        nw_ftl_page_mount(&other, nw_nand_chip(blank), &config, ram, rig.site.ram_bytes),
        NW_ERR_BLANK);
    assert_int_equal(
        nw_ftl_page_format(&other, nw_nand_chip(blank), &config, ram, rig.site.ram_bytes), NW_OK);
    assert_int_equal(
        nw_ftl_page_mount(&other, nw_nand_chip(blank), &more, ram, rig.site.ram_bytes),
        NW_ERR_VERSION);
    nw_nand_close(blank);
    free(ram);
}

/* Formatting again leaves nothing of what was there. */
static void test_format_again(void **state)
{
    (void)state;
    run(OP_WRITE, 0, 12);
    assert_int_equal(nw_ftl_page_format(ftl(), nw_nand_chip(rig.nand), &config, rig.site.ram,
                                        rig.site.ram_bytes),
                     NW_OK);
    memset(rig.model, 0, rig.sectors * sizeof *rig.model);
    check();
    remount();
    check();
}

/* The device is filled but for the sectors in use here, then written over at random: every block
 * that holds outdated pages comes to be cleaned. */
static void churn(void)
{
    struct nw_random random;

    nw_random_seed(&random, 4);
    for (uint32_t i = 0; i < rig.sectors + 800U; i++) {
        uint32_t sector = i < rig.sectors ? i : nw_random_below(&random, rig.sectors);
        if (sector != 21U && sector != 22U) {
            run(OP_WRITE, sector, 1);
        }
    }
}

/* A bit that flips without anybody noticing below is told, before and after the page was moved,
 * until the sector is written again. Nothing else suffers. */
static void rot(uint32_t bit)
{
    run(OP_WRITE, 40, 8); /* the block of the last settle, never cleaned, is full */
    run(OP_WRITE, 20, 3);
    nw_nand_flip(rig.nand, page_of(21), bit);
    assert_int_equal(read_one(20), NW_OK);
    assert_int_equal(read_one(21), NW_ERR_CORRUPT);
    churn();
    assert_int_equal(read_one(21), NW_ERR_CORRUPT);
    assert_int_equal(read_one(22), NW_OK);
    remount();
    assert_int_equal(read_one(21), NW_ERR_CORRUPT);
    run(OP_WRITE, 21, 1);
    check();
}

static void test_data_rots(void **state)
{
    (void)state;
    rot(777);
    assert_int_equal(ftl()->stats.lost, 0);
}

static void test_tag_rots(void **state)
{
    (void)state;
    rot(8U * rig.page_bytes + 5U);
}

/* A tag that rots while its block is at rest cannot be laid to a sector; the mount counts it. */
static void test_tag_rots_unseen(void **state)
{
    (void)state;
    run(OP_WRITE, 20, 12);
    remount();
    assert_int_equal(ftl()->stats.lost, 0);
    nw_nand_flip(rig.nand, page_of(22), 8U * rig.page_bytes + 5U);
    remount();
    assert_int_equal(ftl()->stats.lost, 1);
}

/* A torn page is dropped in silence, but not an acknowledged one just before it that rotted: that
 * is told. */
static void test_rot_beside_a_tear(void **state)
{
    static const struct nw_cut cut = {
        .phase = NW_CUT_INSIDE, .data = NW_TORN_HALF, .spare = NW_TORN_NEW};
    struct layer_op torn = {.kind = OP_WRITE, .sector = 30, .count = 1};

    (void)state;
    run(OP_WRITE, 20, 1);
    run(OP_WRITE, 20, 1);
    nw_nand_flip(rig.nand, page_of(20), 777);
    nw_nand_cut(rig.nand, &cut);
    assert_int_equal(layer_rig_run(&rig, &torn), NW_ERR_POWER);
    remount();
    assert_int_equal(read_one(20), NW_ERR_CORRUPT);
    assert_int_equal(read_one(30), NW_OK);
    assert_int_equal(rig.data[0], 0);
    remount();
    assert_int_equal(read_one(20), NW_ERR_CORRUPT);
}

/* The chip says a page cannot be read: told as such, and for ever once the page was moved. */
static void test_unreadable(void **state)
{
    struct nw_fault fault = {.verb = NW_VERB_READ, .error = NW_ERR_ECC, .times = 4};
    struct nw_faults filter;

    (void)state;
    nw_faults_open(&filter, nw_nand_chip(rig.nand), &fault, 0, 1);
    assert_int_equal(
        nw_ftl_page_mount(ftl(), &filter.chip, &config, rig.site.ram, rig.site.ram_bytes), NW_OK);
    run(OP_WRITE, 40, 8);
    run(OP_WRITE, 20, 3);
    fault.first = page_of(21);
    fault.last = fault.first;
    filter.count = 1;
    assert_int_equal(read_one(21), NW_ERR_ECC);
    churn();
    filter.count = 0;
    assert_int_equal(ftl()->stats.lost, 1);
    assert_int_equal(read_one(21), NW_ERR_CORRUPT);
    remount();
    assert_int_equal(read_one(21), NW_ERR_CORRUPT);
    assert_int_equal(read_one(20), NW_OK);
    run(OP_WRITE, 21, 1);
    check();
}

/* Block after block fails, in programs and in erases: nothing is lost, writes go on until too few
 * blocks are left, then they answer full; what is there stays readable, after a mount too. */
static void test_wears_out(void **state)
{
    struct nw_random random;
    struct layer_op op = {.kind = OP_WRITE, .count = 1};
    int result = NW_OK;
    uint32_t wrote = 0;

    (void)state;
    nw_random_seed(&random, 3);
    for (uint32_t i = 0; result == NW_OK && i < 20000U; i++) {
        if (i % 97U == 96U) {
            run(i % 2U == 0 ? OP_DOOM_PROGRAM : OP_DOOM_ERASE, i / 97U % rig.shape->blocks, 0);
        }
        op.sector = nw_random_below(&random, rig.sectors);
        result = layer_rig_run(&rig, &op);
        wrote = i;
    }
    assert_int_equal(result, NW_ERR_FULL);
    assert_true(wrote > 400U);
    assert_true(ftl()->stats.retired >= 4U);
    for (uint32_t i = 0; i < rig.sectors; i++) {
        rig.model[i].has_coming = 0; /* refused, not cut: the old content stays */
    }
    check();
    remount();
    check();
}

/* Mounts one after the other leave lists of fences all over the chip; when then the block that the
 * next one takes cannot be erased, it takes another. (Hypothesis found the mount that gave up.) */
static void test_mounts_only(void **state)
{
    (void)state;
    run(OP_WRITE, 0, 5);
    for (unsigned i = 0; i < 60U; i++) {
        if (i == 40U) {
            for (uint32_t block = 0; block < 3U; block++) {
                run(OP_DOOM_ERASE, block, 0);
            }
        }
        remount();
        check();
        run(OP_WRITE, 7, 1);
    }
}

/* Payload is given exactly when the chip keeps it. */
static void test_payload_or_not(void **state)
{
    struct nw_block_req req = {.block = rig.block, .count = 1};

    (void)state;
    assert_int_equal(nw_block_write(&req), NW_ERR_UNSUPPORTED);
    assert_int_equal(nw_block_read(&req), NW_ERR_UNSUPPORTED);
    req.sector = rig.sectors;
    req.data = rig.data;
    assert_int_equal(nw_block_read(&req), NW_ERR_RANGE);
}

static int write_byte(uint32_t sector, uint8_t value)
{
    struct nw_block_req req = {
        .block = rig.block, .sector = sector, .count = 1, .data = rig.data};

    memset(rig.data, value, rig.page_bytes);
    return nw_block_write(&req);
}

/* Writes at random with one fault on the way, a mount after it; sectors that read otherwise. */
static uint32_t lost_by(struct nw_fault fault, uint32_t at)
{
    struct nw_random random;
    struct nw_faults filter;
    uint8_t values[256] = {0};
    uint32_t wrong = 0;

    nw_random_seed(&random, at);
    fault.skip = UINT32_MAX;
    nw_faults_open(&filter, nw_nand_chip(rig.nand), &fault, 1, 1);
    assert_int_equal(
        nw_ftl_page_format(ftl(), &filter.chip, &config, rig.site.ram, rig.site.ram_bytes), NW_OK);
    assert_true(rig.sectors <= sizeof values);
    for (uint32_t i = 0; i < 500U; i++) {
        uint32_t sector = nw_random_below(&random, rig.sectors);

        if (i == at) {
            fault.skip = fault.seen;
        }
        if (write_byte(sector, (uint8_t)i) == NW_ERR_IO) {
            assert_int_equal(write_byte(sector, (uint8_t)i), NW_OK);
        }
        values[sector] = (uint8_t)i;
    }
    assert_int_equal(fault.hits, 1);
    assert_int_equal(
        nw_ftl_page_mount(ftl(), &filter.chip, &config, rig.site.ram, rig.site.ram_bytes), NW_OK);
    for (uint32_t sector = 0; sector < rig.sectors; sector++) {
        wrong += read_one(sector) < 0 || rig.data[0] != values[sector];
    }
    return wrong;
}

/* A bus that fails in every program, which happens or does not. */
static void break_bus(uint8_t acts)
{
    rig.fault = (struct nw_fault){.verb = NW_VERB_PROGRAM, .acts = acts, .error = NW_ERR_IO};
}

static uint8_t shown(uint32_t sector)
{
    assert_int_equal(read_one(sector), NW_OK);
    return rig.data[0];
}

/* A write answered NW_ERR_IO although its program had happened. Its block was to be emptied and
 * marked bad, although it is good; a sync that found no room for that answered NW_OK, and the next
 * mount took the new page: content changed behind a sync. Now the sector is written anew as reads
 * show it: what it held, zeros when it was never written, zeros when it was trimmed. */
static void test_failed_write_stays(void **state)
{
    (void)state;
    assert_int_equal(layer_rig_filter(&rig), NW_OK);
    assert_int_equal(write_byte(1, 7), NW_OK);
    assert_int_equal(write_byte(2, 8), NW_OK);
    run(OP_TRIM, 2, 1);
    for (uint32_t sector = 1; sector <= 3U; sector++) {
        break_bus(1);
        assert_int_equal(write_byte(sector, 9), NW_ERR_IO);
        layer_rig_quiet(&rig);
        uint8_t before = shown(sector);
        assert_int_equal(before, sector == 1U ? 7 : 0);
        run(OP_SYNC, 0, 0);
        assert_int_equal(ftl()->stats.retired, 0);
        remount();
        assert_int_equal(shown(sector), before);
        assert_int_equal(write_byte(sector, 7), NW_OK);
    }
}

/* A bus that is down for long took a block each time it was tried, and soon all of them. */
static void test_bus_down_for_long(void **state)
{
    (void)state;
    assert_int_equal(layer_rig_filter(&rig), NW_OK);
    for (uint8_t acts = 0; acts < 2U; acts++) {
        assert_int_equal(write_byte(30, 5), NW_OK);
        break_bus(acts);
        for (unsigned i = 0; i < 50U; i++) {
            struct layer_op op = {.kind = i % 3U == 0 ? OP_SYNC : i % 3U == 1 ? OP_WRITE : OP_IDLE,
                                  .sector = 20U + i,
                                  .count = i % 3U == 2 ? 100000U : 1U};
            int result = layer_rig_run(&rig, &op);
            assert_true(result == NW_ERR_IO || (i == 0 && result == NW_OK));
        }
        layer_rig_quiet(&rig);
        assert_int_equal(shown(30), 5);
        run(OP_SYNC, 0, 0);
        remount();
        assert_int_equal(shown(30), 5);
        churn();
    }
    assert_int_equal(ftl()->stats.retired, 0);
}

/* A bus that fails once leaves a page blank. A mount looks no further than the first blank page of
 * a block: what was written behind it was gone. */
static void test_blank_pages_left_behind(void **state)
{
    static const struct nw_fault bus = {.verb = NW_VERB_PROGRAM, .times = 1, .error = NW_ERR_IO};

    for (uint32_t at = 440; at < 480U; at++) {
        close_rig(state);
        open_rig(state);
        assert_int_equal(lost_by(bus, at), 0);
    }
}

/* Metadata only: the map, and trims, come back without any payload. */
static void test_metadata_only(void **state)
{
    static const struct layer_shape no_data = {.part = "K9F1G08U0A",
                                            .blocks = 24,
                                            .block_pages = 16,
                                            .spare_blocks = 10,
                                            .nand_flags = NW_NAND_NO_PAYLOAD};
    struct nw_random random;
    struct layer_rig bare;

    (void)state;
    nw_random_seed(&random, 9);
    layer_rig_open(&bare, &nw_layer_page, &no_data, 2);
    const struct nw_ftl_page *bare_ftl = bare.site.state;
    for (unsigned i = 0; i < 3000U; i++) {
        struct layer_op op = layer_rig_draw(&bare, &random);
        assert_true(layer_rig_run(&bare, &op) >= 0);
    }
    assert_int_equal(layer_rig_run(&bare, &(struct layer_op){.kind = OP_SYNC}), NW_OK);
    assert_int_equal(layer_rig_mount(&bare), NW_OK);
    for (uint32_t sector = 0; sector < bare.sectors; sector++) {
        struct nw_block_req req = {.block = bare.block, .sector = sector, .count = 1};
        nw_count before = bare_ftl->stats.reads;

        assert_int_equal(nw_block_read(&req), NW_OK);
        assert_int_equal(bare_ftl->stats.reads - before, bare.model[sector].now != 0);
    }
    assert_int_equal(layer_rig_clean(&bare), 0);
    layer_rig_close(&bare);
}

/* Erases spread over all blocks that move, and go on doing so over power-ups: the tags carry the
 * counts. (A block in reserve for a mount rests, but not for long.) */
static void test_wear_spreads(void **state)
{
    struct nw_random random;
    uint32_t least = UINT32_MAX;
    uint32_t most = 0;

    (void)state;
    nw_random_seed(&random, 21);
    for (uint32_t i = 0; i < 12000U; i++) {
        run(OP_WRITE, nw_random_below(&random, rig.sectors), 1);
        if (i % 200U == 199U) {
            remount();
        }
    }
    for (uint32_t block = 0; block < rig.shape->blocks; block++) {
        uint32_t erases = nw_nand_block_erases(rig.nand, block);
        least = erases < least ? erases : least;
        most = erases > most ? erases : most;
    }
    assert_true(most > 100U);
        assert_true(8U * least >= 7U * most);
}

/* A page of a free block shows this word under a tag whose 16-bit check is right. */
static void show_at(uint32_t word, uint32_t crc, uint64_t version)
{
    const struct nw_geometry *geometry = &nw_nand_chip(rig.nand)->geometry;
    uint8_t spare[18] = {0};
    struct nw_chip_req req = {.chip = nw_nand_chip(rig.nand),
                              .length = geometry->page_bytes,
                              .data = rig.data,
                              .spare = spare,
                              .spare_length = sizeof spare};

    for (; req.block < geometry->blocks; req.block++) {
        req.page = req.block * geometry->block_pages;
        if (nw_chip_is_bad(&req) == 0 && nw_nand_page_programs(rig.nand, req.page) == 0) {
            break;
        }
    }
    assert_true(req.block < geometry->blocks);
    nw_put32(spare, word);
    nw_put32(spare + 4, (uint32_t)(version & 0xFFFFFFFFU));
    spare[8] = (uint8_t)(version >> 32);
    nw_put32(spare + 9, crc);
    nw_put16(spare + 16, (uint16_t)(nw_crc32(NW_CRC32_START, spare, 16) & 0xFFFFU));
    assert_int_equal(nw_chip_program(&req), NW_OK);
}

static void show(uint32_t word, uint32_t crc)
{
    show_at(word, crc, 0xED52B3BF8FU); /* far above all others */
}

/* The highest version on the chip, but for pages that show() made. */
static uint64_t highest_version(void)
{
    const struct nw_geometry *geometry = &nw_nand_chip(rig.nand)->geometry;
    uint64_t highest = 0;

    for (uint32_t page = 0; page < geometry->blocks * geometry->block_pages; page++) {
        uint8_t spare[64];

        nw_nand_peek(rig.nand, page, NULL, spare);
        uint64_t version = nw_get32(spare + 4) | ((uint64_t)spare[8] << 32);
        if (nw_nand_page_programs(rig.nand, page) > 0 && nw_get32(spare + 9) != 0x00BADBADU &&
            version > highest) {
            highest = version;
        }
    }
    return highest;
}

/* A fence keeps out what a cut has torn, but the list has room for 26 of them here. Once the oldest
 * one had left, the torn page behind it counted again: a write that was never acknowledged, and had
 * been read as not done a hundred times, showed at rest, or its sector was lost. A mount now erases
 * such pages in time: some blocks each, all before a fence leaves. Little is written, so that
 * cleaning does not do it by chance. */
static void test_more_cuts_than_fences(void **state)
{
    static const struct layer_shape small = {.part = "K9F1G08U0A", .blocks = 60, .block_pages = 8,
                                             .page_bytes = 256, .spare_blocks = 40};

    (void)state;
    for (uint32_t seed = 1; seed <= 8U; seed++) {
        struct nw_random random;

        nw_random_seed(&random, seed);
        close_rig(NULL);
        layer_rig_open(&rig, &nw_layer_page, &small, seed);
        for (uint32_t sector = 0; sector < rig.sectors; sector++) {
            run(OP_WRITE, sector, 1);
        }
        for (uint32_t session = 0; session < 160U; session++) {
            struct nw_cut cut = {.after = nw_random_below(&random, 3), .phase = NW_CUT_INSIDE};
            struct layer_op op = {.kind = OP_WRITE, .sector = session % rig.sectors, .count = 1};

            nw_nand_cut(rig.nand, &cut);
            while (layer_rig_run(&rig, &op) == NW_OK) {
            }
            for (uint32_t start = 0; start < 2U; start++) { /* the second one at rest */
                struct nw_cut rest = {.phase = NW_CUT_BEFORE};
                struct nw_chip_req any = {.chip = nw_nand_chip(rig.nand)};

                remount();
                if (layer_rig_check(&rig, 1) < 0) {
                    fail_msg("seed %u, session %u: %s", (unsigned)seed, (unsigned)session,
                             rig.why);
                }
                nw_nand_cut(rig.nand, &rest);
                assert_int_equal(nw_chip_is_bad(&any), NW_ERR_POWER);
            }
            nw_nand_power_up(rig.nand);
            assert_int_equal(layer_rig_mount(&rig), NW_OK);
        }
    }
}

/* Versions have 40 bits for the whole life of a chip. One that bits by chance told, of a sector
 * there is, was taken as the highest so far: near 2^40 the next mount wrote versions that began
 * again at zero, and was the last one. Now a version too far above the newest list's is none. One
 * not so far is: what is written later is above it, and still counts. */
static void test_versions_that_nobody_wrote(void **state)
{
    (void)state;
    run(OP_WRITE, 0, 12);
    show_at(7, 0x00BADBADU, 0xFFFFFFFFF0U);
    remount();
    check();
    assert_true(highest_version() < 2000U);
    show_at(8, 0x00BADBADU, 0x3000000000U);
    remount();
    assert_true(highest_version() < 4000U);
    show_at(9, 0x00BADBADU, 0x0300000000U); /* 2^33 and more: wider than a fence's field */
    remount();
    check();
    for (uint32_t i = 0; i < 4U; i++) {
        run(OP_WRITE, 7, 4);
        remount();
        check();
    }
    assert_true(highest_version() > 0x0300000000U);
}

/* A block whose erase was cut may show any bits, others at each power-up, and one page of 65,536
 * passes the check of a tag. With the bit that says its content was lost nothing else was looked
 * at: the newest page of all then named a slot far outside the map, which was written to, or told
 * of some sector that it was lost. */
static void test_bits_that_pass_for_a_tag(void **state)
{
    (void)state;
    run(OP_WRITE, 0, 12);
    run(OP_WRITE, 40, 8);
    show(0x75A6F36BU, 0xFEFFEBDAU);
    remount();
    check();
    show(0x40000005U, 0xFEFFEBDAU);
    remount();
    check();
    show(0x0000FFFFU, 0xFEFFEBDAU); /* no such sector */
    remount();
    check();
    run(OP_WRITE, 3, 5);
    remount();
    check();
}

#define RIG_TEST(test) cmocka_unit_test_setup_teardown(test, open_rig, close_rig)

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(test_reads_zeros_at_first),
        RIG_TEST(test_refused_shapes),
        RIG_TEST(test_not_formatted),
        RIG_TEST(test_format_again),
        RIG_TEST(test_data_rots),
        RIG_TEST(test_tag_rots),
        RIG_TEST(test_unreadable),
        RIG_TEST(test_tag_rots_unseen),
        RIG_TEST(test_rot_beside_a_tear),
        RIG_TEST(test_wears_out),
        RIG_TEST(test_mounts_only),
        RIG_TEST(test_payload_or_not),
        RIG_TEST(test_blank_pages_left_behind),
        RIG_TEST(test_wear_spreads),
        RIG_TEST(test_bits_that_pass_for_a_tag),
        RIG_TEST(test_versions_that_nobody_wrote),
        RIG_TEST(test_more_cuts_than_fences),
        RIG_TEST(test_failed_write_stays),
        RIG_TEST(test_bus_down_for_long),
        cmocka_unit_test(test_metadata_only),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

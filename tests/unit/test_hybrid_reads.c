/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: a page that cannot be read just now never shows an older content of a sector. Once a list
 * of a superblock's pages was read while one tag failed with NW_ERR_ECC: that page was left out of
 * the list, and an older page of its sector read with NW_OK from then on. A mount took such a page
 * for a torn one, and a merge lost what it could have read the second time.
 * ctest: quick
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "layer_rig.h"
#include "nandwich/bytes.h"

#define DEVICES 4U

static const struct nw_layer_kind *const kinds[] = {&nw_layer_fast, &nw_layer_log, &nw_layer_nftl,
                                                    &nw_layer_superblock};

#define KINDS (sizeof kinds / sizeof kinds[0])

/* 48 blocks of 16 pages: more superblocks than lists fit RAM. */
static const struct layer_shape shape = {.part = "K9F1G08U0A", .blocks = 60, .block_pages = 16,
                                         .page_bytes = 256, .no_copy = 1, .spare_blocks = 12};

/* The same with a chip that copies pages inside. */
static const struct layer_shape copies = {.part = "K9F1G08U0A", .blocks = 60, .block_pages = 16,
                                          .page_bytes = 256, .spare_blocks = 12};

static struct layer_rig rig;
static struct nw_random random_numbers;

static uint32_t below(uint32_t limit)
{
    return nw_random_below(&random_numbers, limit);
}

static void open_aged(const struct nw_layer_kind *kind, const struct layer_shape *on, uint32_t seed)
{
    nw_random_seed(&random_numbers, seed);
    layer_rig_open(&rig, kind, on, seed);
    assert_int_equal(layer_rig_filter(&rig), NW_OK);
    for (uint32_t i = 0; i < 3U * rig.sectors; i++) {
        uint32_t hot = below(60) * 8U; /* some are written often: a block holds them twice */
        uint32_t sector = i < rig.sectors ? i : (i % 4U != 0 ? hot : below(rig.sectors));
        struct layer_op op = {.kind = OP_WRITE, .sector = sector, .count = 1};

        assert_int_equal(layer_rig_run(&rig, &op), NW_OK);
    }
}

/* Reads of the chip fail: behind so many, so often (0: as long as it lasts). */
static void arm(uint32_t skip, uint32_t times)
{
    rig.fault = (struct nw_fault){
        .verb = NW_VERB_READ, .skip = skip, .times = times, .error = NW_ERR_ECC};
}

/* Every sector shows what was acknowledged or, if it may, an error: how many errors. */
static uint32_t check(const char *when, uint32_t seed, int may_fail)
{
    uint32_t errors = 0;

    for (uint32_t sector = 0; sector < rig.sectors; sector++) {
        uint32_t wanted = rig.model[sector].now;
        uint32_t shows = 0;
        struct nw_block_req req = {
            .block = rig.block, .sector = sector, .count = 1, .data = rig.data};
        int result = nw_block_read(&req);

        memcpy(&shows, rig.data, sizeof shows);
        errors += result < 0;
        if (result < 0 ? !may_fail : shows != wanted) {
            fail_msg("%s, %s, seed %u: sector %u answers %d and shows write %u, wanted %u",
                     rig.kind->name, when, (unsigned)seed, (unsigned)sector, result,
                     (unsigned)shows, (unsigned)wanted);
        }
    }
    return errors;
}

/* One read, or copy, in some writes fails, once. */
static void expect_writes(const struct layer_shape *on, uint8_t verb)
{
    uint32_t hits = 0;

    for (uint32_t i = 0; i < KINDS * DEVICES; i++) {
        open_aged(kinds[i % KINDS], on, i);
        for (uint32_t turn = 0; turn < 40U; turn++) {
            arm(below(40), 1);
            rig.fault.verb = verb;
            for (uint32_t write = 0; write < 12U; write++) {
                struct layer_op op = {
                    .kind = OP_WRITE, .sector = below(rig.sectors), .count = 1};

                assert_int_equal(layer_rig_run(&rig, &op), NW_OK);
            }
            hits += rig.fault.hits;
            layer_rig_quiet(&rig);
            assert_int_equal(check("after writes", i, 0), 0);
        }
        assert_int_equal(rig.block->stats->lost, 0);
        layer_rig_close(&rig);
    }
    assert_true(hits > KINDS * DEVICES); /* or nothing was tried */
}

static void test_once_in_writes(void **state)
{
    (void)state;
    expect_writes(&shape, NW_VERB_READ);
}

/* A copy that failed once lost its page, though it could be read. */
static void test_once_in_copies(void **state)
{
    (void)state;
    expect_writes(&copies, NW_VERB_COPY);
}

/* One read of a mount fails, once: also that of the newest page or of a record. */
static void test_once_in_a_mount(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < KINDS * DEVICES; i++) {
        open_aged(kinds[i % KINDS], &shape, i);
        for (uint32_t turn = 0; turn < 12U; turn++) {
            struct layer_op op = {.kind = OP_WRITE, .sector = below(rig.sectors), .count = 1};

            assert_int_equal(layer_rig_run(&rig, &op), NW_OK);
            arm(below(60U * 16U + 100U), 1);
            assert_int_equal(layer_rig_mount(&rig), NW_OK);
            layer_rig_quiet(&rig);
            assert_int_equal(check("after a mount", i, 0), 0);
        }
        layer_rig_close(&rig);
    }
}

/* A page cannot be read for a while. Its sector answers an error as long, no sector shows an older
 * content, and nothing of that is left when it can be read again. */
static void test_page_fails_for_a_while(void **state)
{
    uint32_t errors = 0;

    (void)state;
    for (uint32_t i = 0; i < KINDS * DEVICES; i++) {
        open_aged(kinds[i % KINDS], &shape, i);
        for (uint32_t turn = 0; turn < 60U; turn++) {
            arm(0, 0);
            rig.fault.first = 1U + below(60U * 16U - 1U);
            rig.fault.last = rig.fault.first;
            errors += check("while a page fails", i, 1);
            layer_rig_quiet(&rig);
            assert_int_equal(check("when it is well again", i, 0), 0);
        }
        layer_rig_close(&rig);
    }
    assert_true(errors > 0); /* or nothing was tried */
}

/* The first page of the newest session: of the pages that a mount wrote for itself, the newest. */
static uint32_t newest_session(void)
{
    uint64_t most = 0;
    uint32_t newest = 0;

    for (uint32_t page = 0; page < 60U * 16U; page++) {
        uint8_t spare[64];

        nw_nand_peek(rig.nand, page, rig.data, spare);
        if (nw_nand_page_programs(rig.nand, page) > 0 && (spare[3] & 0x80U) != 0) {
            uint64_t version = (uint64_t)spare[8] << 32 | nw_get32(spare + 4);

            newest = version > most ? page / 16U * 16U : newest;
            most = version > most ? version : most;
        }
    }
    return newest;
}

/* A page lost its tag for good. When it was the first one of a session, or the record behind it,
 * every later mount answered NW_ERR_NOT_FOUND: the device was gone. */
static void test_page_of_a_session_fails(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < KINDS * DEVICES; i++) {
        struct layer_snapshot snapshot;

        open_aged(kinds[i % KINDS], &shape, i);
        assert_int_equal(layer_rig_mount(&rig), NW_OK);
        layer_snapshot_open(&snapshot, &rig);
        layer_snapshot_take(&snapshot, &rig);
        uint32_t first = newest_session();
        for (uint32_t page = first; page < first + 4U; page++) {
            nw_nand_flip(rig.nand, page, 8U * (256U + 2U));
            nw_nand_flip(rig.nand, page, 8U * (256U + 9U));
            assert_int_equal(layer_rig_mount(&rig), NW_OK);
            assert_int_equal(check("without a page", i, 0), 0);
            assert_int_equal(layer_rig_mount(&rig), NW_OK);
            assert_int_equal(check("once more", i, 0), 0);
            layer_snapshot_restore(&snapshot, &rig);
        }
        layer_snapshot_close(&snapshot);
        layer_rig_close(&rig);
    }
}

/* Two pages side by side take programs and never read, from their read number `skip` on: so many
 * mounts. Answers how many blocks that has cost. */
static uint32_t mounts_over(uint32_t page, uint32_t skip)
{
    uint32_t bad = 0;

    arm(skip, 0);
    rig.fault.first = page;
    rig.fault.last = page + 1U;
    for (unsigned i = 0; i < 3U; i++) {
        int result = layer_rig_mount(&rig);

        if (result != NW_OK) {
            fail_msg("%s, pages %u and %u, read %u, mount %u: %d", rig.kind->name, (unsigned)page,
                     (unsigned)page + 1U, (unsigned)skip, i, result);
        }
    }
    layer_rig_quiet(&rig);
    for (uint32_t block = 0; block < 60U; block++) {
        bad += (uint32_t)nw_nand_block_bad(rig.nand, block);
    }
    return bad;
}

static int is_blank(uint32_t page)
{
    return nw_nand_page_programs(rig.nand, page) == 0 &&
           nw_nand_page_programs(rig.nand, page + 1U) == 0;
}

/* Both pages of a record did: every later mount answered NW_ERR_NOT_FOUND, for the block of the
 * record before was given back by then. */
static void test_both_records_never_read(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < KINDS; i++) {
        struct layer_snapshot snapshot;
        uint32_t hits = 0;

        open_aged(kinds[i % KINDS], &shape, i);
        layer_snapshot_open(&snapshot, &rig);
        layer_snapshot_take(&snapshot, &rig);
        uint32_t newest = newest_session(); /* were they to rot there, there would be nothing */
        for (uint32_t page = 1; page < 60U * 16U; page += page % 16U == 2U ? 15U : 1U) {
            uint32_t skips = page / 16U == newest / 16U ? 0 : is_blank(page) ? 5U : 1U;

            for (uint32_t skip = 0; skip < skips; skip++) {
                hits += mounts_over(page, skip) > 0;
                layer_snapshot_restore(&snapshot, &rig);
            }
        }
        assert_true(hits > 2U);
        layer_snapshot_close(&snapshot);
        layer_rig_close(&rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_once_in_writes),
                                       cmocka_unit_test(test_once_in_copies),
                                       cmocka_unit_test(test_once_in_a_mount),
                                       cmocka_unit_test(test_page_fails_for_a_while),
                                       cmocka_unit_test(test_page_of_a_session_fails),
                                       cmocka_unit_test(test_both_records_never_read)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

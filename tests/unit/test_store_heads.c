/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: headers of blocks lead a mount to the end of the log and nowhere else. One that is damaged
 * or was never written leaves all that was durable in its place, or the mount says so.
 * ctest: quick
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "nandwich-twin/faults.h"
#include "nandwich/bytes.h"
#include "nandwich/crc.h"
#include "store_forge.h"

#define BLOCK_BYTES (FORGE_BLOCK_PAGES * FORGE_PAGE_BYTES)
#define ELEMENT_BYTES 60U
#define KEPT 30U
#define FEW 10U

static struct forge bed;
static struct forge kept;

static uint32_t pushed;

static int handle_of(const char *name)
{
    int handle = nw_store_find(bed.store, name);

    assert_true(handle > 0);
    return handle;
}

static void push(void)
{
    uint8_t data[ELEMENT_BYTES];

    memset(data, (int)(pushed % 251U), sizeof data);
    nw_put32(data, pushed);
    assert_int_equal(nw_store_push(bed.store, handle_of("q"), data, sizeof data), NW_OK);
    assert_int_equal(nw_store_sync(bed.store), NW_OK);
    pushed++;
}

static void take(void)
{
    uint8_t data[ELEMENT_BYTES];

    assert_int_equal(nw_store_dequeue(bed.store, handle_of("q"), data, sizeof data),
                     ELEMENT_BYTES);
    assert_int_equal(nw_store_sync(bed.store), NW_OK);
}

/* Elements of the queue that are as they were pushed. */
static uint32_t count_there(uint32_t from)
{
    uint8_t data[ELEMENT_BYTES];
    uint32_t there = 0;

    for (uint32_t i = from; i < pushed; i++) {
        there += nw_store_peek(bed.store, handle_of("q"), i, data, sizeof data) ==
                         (int)ELEMENT_BYTES &&
                 nw_get32(data) == i;
    }
    return there;
}

static void open_bed(uint8_t chip)
{
    pushed = 0;
    forge_open(&bed, chip);
    bed.config.anchor_bytes = 3072;
    assert_int_equal(forge_format(&bed), NW_OK);
}

static uint32_t newest_block(void)
{
    uint32_t newest = 0;
    uint32_t highest = 0;

    for (uint32_t block = 0; block < FORGE_BLOCKS; block++) {
        const uint8_t *head = bed.data + block * BLOCK_BYTES;
        if (head[0] == 'N' && nw_get32(head + 4) > highest) {
            highest = nw_get32(head + 4);
            newest = block;
        }
    }
    return newest;
}

/* One of the two headers of a block is damaged, of any block: nothing is lost. Both are: that of
 * the newest may look like a power cut; behind any other the log goes on, which was once forgotten,
 * and erased. */
static void damage(uint32_t block, uint32_t page)
{
    uint8_t *head = bed.data + block * BLOCK_BYTES + page * FORGE_PAGE_BYTES;

    if (head[0] == 'N') {
        head[6] ^= 0x18U;
    }
}

static void check_one_damaged(uint32_t block, uint32_t newest, uint32_t first)
{
    for (uint32_t page = 0; page < 2U; page++) {
        bed = kept;
        if (block == newest && bed.data[block * BLOCK_BYTES + FORGE_PAGE_BYTES] != 'N') {
            continue; /* its only page */
        }
        damage(block, page);
        assert_int_equal(forge_mount(&bed), NW_OK);
        assert_int_equal(count_there(first), pushed - first);
        assert_int_equal(nw_store_stats(bed.store)->lost, 0);
    }
}

static int check_both_damaged(uint32_t block, uint32_t first)
{
    bed = kept;
    damage(block, 0);
    damage(block, 1);
    int result = forge_mount(&bed);
    if (result < 0) {
        assert_int_equal(result, NW_ERR_CORRUPT);
        damage(block, 0); /* nothing is lost yet */
        damage(block, 1);
        assert_int_equal(forge_mount(&bed), NW_OK);
        assert_int_equal(count_there(first), pushed - first);
    } else {
        assert_true(count_there(first) == pushed - first || nw_store_stats(bed.store)->lost > 0);
    }
    return result < 0;
}

static void test_damaged(void **state)
{
    uint32_t refused = 0;
    uint32_t whole = 0;

    (void)state;
    for (uint8_t chip = 0; chip < 2U; chip++) {
        open_bed(chip);
        for (uint32_t step = 0; step < 400U; step++) {
            push();
            if (step >= KEPT) {
                take();
            }
            if (step % 3U != 0) {
                continue;
            }
            uint32_t first = step >= KEPT ? step + 1U - KEPT : 0;
            uint32_t newest = newest_block();
            kept = bed;
            for (uint32_t block = 0; block < FORGE_BLOCKS; block++) {
                if (kept.data[block * BLOCK_BYTES] == 'N') {
                    check_one_damaged(block, newest, first);
                    uint32_t is = block != newest && check_both_damaged(block, first) ? 1U : 0;

                    refused += is;
                    whole += 1U - is;
                }
            }
            bed = kept;
        }
    }
    print_message("%u mounts refused, %u found all\n", (unsigned)refused, (unsigned)whole);
    assert_true(refused > 0 && whole > refused);
}

/* Up to three blocks in a row fail before they have a header, from each page of the first on: what
 * lies in the one behind them was durable, and was once not found. */
static void test_headless(void **state)
{
    struct nw_fault faults[3];
    struct nw_faults filter;

    (void)state;
    for (uint32_t page = 0; page < FORGE_BLOCK_PAGES; page++) {
        for (uint32_t count = 1; count <= 3U; count++) {
            open_bed(0);
            while (newest_block() != 3U) {
                push();
                if (pushed > FEW) {
                    take();
                }
            }
            uint32_t first = pushed - FEW;
            for (uint32_t i = 0; i < count; i++) {
                uint32_t at = (4U + i) * FORGE_BLOCK_PAGES + (i == 0 ? page : 0);
                faults[i] = (struct nw_fault){.verb = NW_VERB_PROGRAM,
                                              .first = at,
                                              .last = at,
                                              .error = NW_ERR_PROGRAM};
            }
            struct nw_chip below = bed.chip;
            nw_faults_open(&filter, &below, faults, count, 1);
            for (uint32_t i = 0; i < 44U; i++) {
                bed.chip = filter.chip;
                push();
                bed.chip = below;
                kept = bed;
                assert_int_equal(forge_mount(&bed), NW_OK);
                if (count_there(first) != pushed - first) {
                    fail_msg("page %u, %u in a row, push %u: %u of %u", (unsigned)page,
                             (unsigned)count, (unsigned)i, (unsigned)count_there(first),
                             (unsigned)(pushed - first));
                }
                bed = kept;
            }
            assert_int_equal(nw_store_stats(bed.store)->swapped, count);
        }
    }
}

/* The first anchor of a mount is damaged: its header. The second one shows that the mount had
 * ended. Once it was taken for one that was cut, and all that was synced since was forgotten
 * without a word, and erased. */
static void test_mounts_anchor(void **state)
{
    (void)state;
    for (uint8_t number = 0; number < 2U; number++) {
        uint32_t at = 0;

        open_bed(number);
        for (uint32_t i = 0; i < 2U * FEW; i++) {
            if (i == FEW / 2U) { /* of those behind it some begin a page */
                assert_int_equal(forge_mount(&bed), NW_OK);
                at = newest_block() * BLOCK_BYTES;
            }
            push();
        }
        kept = bed;
        while ((bed.data[at] & 15U) != 4U || bed.data[at + 9U] !=
               (uint8_t)(nw_crc16(NW_CRC16_START, bed.data + at, 9) & 0xFFU)) {
            at++;
        }
        for (uint32_t bit = 0; bit < 9U * 8U; bit++) {
            bed = kept;
            bed.data[at + bit / 8U] ^= (uint8_t)(1U << bit % 8U);
            assert_int_equal(forge_mount(&bed), NW_OK);
            assert_int_equal(count_there(0), pushed);
            assert_int_equal(forge_mount(&bed), NW_OK);
            assert_int_equal(count_there(0), pushed);
        }
    }
}

/* A format is cut: what it has not yet erased was once mounted, an old state without a word. */
static void test_cut_format(void **state)
{
    struct nw_fault fault = {.verb = NW_VERB_ERASE, .error = NW_ERR_POWER};
    struct nw_faults filter;

    (void)state;
    for (uint8_t number = 0; number < 2U; number++) {
        open_bed(number);
        while (newest_block() != 3U || pushed < 10U * FORGE_BLOCKS) { /* round the chip */
            push();
            if (pushed > KEPT) {
                take();
            }
        }
        kept = bed;
        for (uint32_t skip = 1; skip <= FORGE_BLOCKS; skip++) {
            bed = kept;
            struct nw_chip below = bed.chip;
            fault.seen = 0;
            fault.skip = skip;
            nw_faults_open(&filter, &below, &fault, 1, 1);
            bed.chip = filter.chip;
            assert_int_equal(forge_format(&bed), NW_ERR_POWER);
            bed.chip = below;
            assert_int_equal(forge_mount(&bed), NW_ERR_NOT_FOUND);
        }
        bed = kept;
        assert_int_equal(forge_format(&bed), NW_OK);
        assert_int_equal(forge_mount(&bed), NW_OK);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_damaged),
                                       cmocka_unit_test(test_headless),
                                       cmocka_unit_test(test_mounts_anchor),
                                       cmocka_unit_test(test_cut_format)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

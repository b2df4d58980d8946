/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: bisection for the newest block is right on every chip that core/store/newest.c speaks of,
 * by trying them all: up to ten blocks, each newest one, each length of the log, each set of bad
 * blocks, and blocks in the log that have no header, two in a row. What it answers is what a look
 * at all headers answers. Where it gives up, every eighth block it begins with has no header.
 * ctest: quick
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The source, over blocks of ours. */
#define store_is_bad given_is_bad
#define store_look_at_head given_look_at_head
#define store_find_newest given_find_newest
#include "../../core/store/newest.c"

#define MOST_BLOCKS 10U
#define IN_A_ROW (HEADLESS - 1U)

enum kind { HEADER, NOTHING, BAD, KINDS };

static enum kind kinds[MOST_BLOCKS];
static uint32_t sequences[MOST_BLOCKS];
static uint32_t looks;

int given_is_bad(struct nw_store *store, uint16_t block)
{
    (void)store;
    return kinds[block] == BAD;
}

int given_look_at_head(struct nw_store *store, uint32_t page, struct block_head *head)
{
    (void)store;
    looks++;
    memset(head, 0, sizeof *head);
    head->sequence = sequences[page]; /* a block has one page */
    return kinds[page] == HEADER ? (int)NW_OK : (int)NW_ERR_UNWRITTEN;
}

/* Lays the chip out: `back` blocks before the newest one stands digit `back` of the number. The log
 * has `length` blocks, behind it nothing is written. 0: there is no such chip. */
static int lay_out(const struct nw_store *store, uint16_t newest, uint32_t length, uint32_t number)
{
    uint32_t row = 0;

    for (uint32_t back = 0; back < store->blocks; back++) {
        uint32_t at = (newest + store->blocks - back) % store->blocks;
        enum kind kind = (enum kind)(number % KINDS);

        number /= KINDS;
        row = kind == NOTHING ? row + 1U : kind == HEADER ? 0 : row;
        if ((back == 0 || back + 1U == length) && kind != HEADER) {
            return 0;
        }
        if (back < length ? row > IN_A_ROW : kind == HEADER) {
            return 0;
        }
        kinds[at] = kind;
        sequences[at] = 100U - back;
    }
    return 1;
}

static void try_chip(struct nw_store *store, uint32_t *found, uint32_t *given_up)
{
    struct block_head head;
    struct block_head wanted_head;
    uint16_t newest = 0xFFFF;
    uint16_t wanted = 0xFFFF;

    looks = 0;
    int result = given_find_newest(store, 0, &newest, &head);
    assert_true(looks <= 3U * store->blocks + 8U);
    assert_int_equal(given_find_newest(store, 1, &wanted, &wanted_head), NW_OK);
    if (result == NW_OK) {
        assert_int_equal(newest, wanted);
        assert_int_equal(head.sequence, wanted_head.sequence);
        ++*found;
    } else {
        assert_int_equal(result, NW_ERR_NOT_FOUND);
        assert_int_not_equal(kinds[0], HEADER);
        ++*given_up;
    }
}

static void test_every_chip(void **state)
{
    uint32_t found = 0;
    uint32_t given_up = 0;

    (void)state;
    for (uint16_t blocks = 2; blocks <= MOST_BLOCKS; blocks++) {
        struct nw_store store = {.blocks = blocks, .block_pages = 1};
        uint32_t numbers = 1;

        for (uint16_t i = 0; i < blocks; i++) {
            numbers *= KINDS;
        }
        for (uint16_t newest = 0; newest < blocks; newest++) {
            for (uint32_t length = 1; length <= blocks; length++) {
                for (uint32_t number = 0; number < numbers; number += KINDS) {
                    if (lay_out(&store, newest, length, number)) {
                        try_chip(&store, &found, &given_up);
                    }
                }
            }
        }
    }
    print_message("%u chips, %u of them left to a look at all headers\n",
                  (unsigned)(found + given_up), (unsigned)given_up);
    assert_true(found > 100000U);
}

/* A chip without bad blocks, as most are: as few looks as there are halvings. */
static void test_looks_of_a_sound_chip(void **state)
{
    static struct nw_store store = {.blocks = 8, .block_pages = 1};

    (void)state;
    for (uint16_t newest = 0; newest < 8U; newest++) {
        struct block_head head;
        uint16_t at = 0;

        assert_int_equal(lay_out(&store, newest, 8, 0), 1);
        looks = 0;
        assert_int_equal(given_find_newest(&store, 0, &at, &head), NW_OK);
        assert_int_equal(at, newest);
        assert_true(looks <= 1U + 3U + 1U); /* a start, three halvings, the one behind */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_chip),
                                       cmocka_unit_test(test_looks_of_a_sound_chip)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

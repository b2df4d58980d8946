/* SPDX-License-Identifier: Apache-2.0 */
/* The lavish layer when blocks fail or are bad from the start, and when pages cannot be read. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

#include "lavish_rig.h"
#include "nandwich-twin/faults.h"

static struct lavish_rig rig;

/* The device again, with a filter of faults before the chip. */
static struct nw_faults filter;
static struct nw_fault fault;

static void open_with_faults(const struct lavish_shape *shape)
{
    assert_int_equal(lavish_rig_open(&rig, shape, 0, 1), NW_OK);
    memset(&fault, 0, sizeof fault);
    fault.times = 1;
    fault.skip = 0xFFFFFFFFU; /* sleeps */
    nw_faults_open(&filter, rig.chip, &fault, 1, 1);
    assert_int_equal(lavish_rig_open_on(&rig, &filter.chip, &shape->lavish), NW_OK);
}

/* The next matching request strikes. */
static void arm(uint8_t verb, int error)
{
    fault.verb = verb;
    fault.error = error;
    fault.seen = 0;
    fault.skip = 0;
    fault.hits = 0;
}

/* Goal: a block whose program fails is left without loss, marked bad and replaced; its lavish block
 * goes on. */
static void a_failed_program_loses_nothing(void **state)
{
    struct lavish_shape shape = lavish_shape_tiny;

    (void)state;
    shape.blocks = 18; /* one spare */
    assert_int_equal(lavish_rig_open(&rig, &shape, 0, 1), NW_OK);
    assert_int_equal(lavish_rig_write(&rig, 0, 3), NW_OK);
    lavish_rig_repeat(&rig, 3, 4);
    nw_nand_doom(rig.nand, 1, 1); /* the block written now */
    lavish_rig_repeat(&rig, 2, 1);
    /* the failed one, 4 copies, the sector again: 2 blocks entered before, 2 now; then the data
     * block goes with 1 erase, for the worn one is not touched, and the log just taken with 2 */
    lavish_rig_expect(&rig, "read 4 program 13 erase 7 copy 4 map 0/0 switch 0 I 0 II 0 III 1");
    assert_int_equal(rig.lavish.stats.retired, 1);
    assert_int_equal(nw_nand_block_bad(rig.nand, 1), 1);
    assert_int_equal(rig.lavish.good, 4);
    assert_int_equal(rig.lavish.spares[0].stands_for, 1);
    lavish_rig_read_all(&rig);
    lavish_rig_repeat(&rig, 2, 20);
    lavish_rig_finish(&rig);
}

/* Goal: in the log likewise: the worn block is marked at once, not when it is erased next. */
static void a_failed_program_in_the_log(void **state)
{
    struct lavish_shape shape = lavish_shape_tiny;

    (void)state;
    shape.blocks = 18;
    assert_int_equal(lavish_rig_open(&rig, &shape, 0, 1), NW_OK);
    lavish_rig_repeat(&rig, 1, 1);
    lavish_rig_repeat(&rig, 0, 12); /* 5 in the log, which is blocks 2 and 3 */
    nw_nand_doom(rig.nand, 3, 1);
    lavish_rig_repeat(&rig, 2, 1);
    assert_int_equal(nw_nand_block_bad(rig.nand, 3), 1);
    assert_int_equal(nw_nand_stats(rig.nand)->failures, 1); /* no erase was tried on it */
    assert_int_equal(rig.lavish.spares[0].stands_for, 3);
    lavish_rig_finish(&rig);
}

/* Takes all free lavish blocks away, and gives them back. */
static void hide_free(uint8_t from, uint8_t to)
{
    uint16_t i;

    for (i = 0; i < rig.lavish.lavish_count; i++) {
        if (rig.lavish.state[i] == from) {
            rig.lavish.state[i] = to;
            rig.lavish.free = (uint16_t)(to == 0 ? rig.lavish.free + 1 : rig.lavish.free - 1);
        }
    }
}

/* Goal: a write does not start without a lavish block in reserve: it is there for maps that must
 * leave RAM. When even one of those fails, what is there stays readable, also what lies under
 * another map, which once answered NW_ERR_FULL; and the worn block is left and marked as soon as
 * there is room, at the cost of itself alone: once its whole lavish block was lost. */
static void no_place_left(void **state)
{
    struct lavish_shape shape = lavish_shape_tiny;
    unsigned i;

    (void)state;
    shape.lavish.maps = 1;
    shape.lavish.lavish_blocks = 5;
    assert_int_equal(lavish_rig_open(&rig, &shape, 0, 1), NW_OK);
    assert_int_equal(lavish_rig_write(&rig, 4, 4), NW_OK); /* blocks 0 and 1 */
    assert_int_equal(lavish_rig_write(&rig, 0, 4), NW_OK); /* blocks 2 and 3; map 4..7 leaves */
    hide_free(0, 2);
    assert_int_equal(lavish_rig_write(&rig, 0, 1), NW_ERR_FULL);
    lavish_rig_expect(&rig, "read 0 program 9 erase 3 copy 0 map 0/1 switch 0 I 0 II 0 III 0");
    nw_nand_doom(rig.nand, 3, 1);
    assert_int_equal(lavish_rig_read(&rig, 4, 4), NW_OK); /* map 0..3 would have to leave */
    assert_int_equal(lavish_rig_read(&rig, 0, 4), NW_OK);
    assert_int_equal(lavish_rig_write(&rig, 4, 1), NW_ERR_FULL);
    hide_free(2, 0);
    lavish_rig_read_all(&rig);
    for (i = 0; i < 60; i++) {
        assert_int_equal(lavish_rig_write(&rig, i % 4, 1), NW_OK);
    }
    assert_int_equal(rig.lavish.good, 5);
    assert_int_equal(rig.lavish.stats.retired, 1);
    assert_int_equal(nw_nand_block_bad(rig.nand, 3), 1);
    lavish_rig_read_all(&rig);
    lavish_rig_close(&rig);
}

/* Goal: with no lavish block free at all, as after two failures in one call, a logical block that
 * can merge into its own log gives one back, though another one has as few sectors to copy. That
 * one alone was tried once, and the device was full. */
static void a_victim_that_needs_no_free_block(void **state)
{
    struct lavish_shape shape = lavish_shape_tiny;

    (void)state;
    shape.lavish.lavish_blocks = 6;
    assert_int_equal(lavish_rig_open(&rig, &shape, 0, 1), NW_OK);
    assert_int_equal(lavish_rig_write(&rig, 0, 3), NW_OK);
    lavish_rig_repeat(&rig, 3, 10); /* 3 valid in the data block, room for 3 in the log */
    assert_int_equal(lavish_rig_write(&rig, 4, 4), NW_OK);
    lavish_rig_repeat(&rig, 4, 5); /* 3 valid in the data block, room for 7 */
    assert_int_equal(rig.lavish.logical[0].valid, 3);
    assert_int_equal(rig.lavish.logical[1].valid, 3);
    hide_free(0, 2);
    assert_int_equal(rig.lavish.free, 0);
    assert_int_equal(lavish_rig_write(&rig, 0, 1), NW_OK);
    assert_int_equal(rig.lavish.stats.merges_partial, 1);
    hide_free(2, 0);
    lavish_rig_finish(&rig);
}

/* Goal: an error in the last sector of the data block, with the log just taken, leaves a log that
 * is not in use yet; merges know that. */
static void a_log_taken_ahead(void **state)
{
    const struct lavish_shape shape = {
        .blocks = 17,
        .block_pages = 1,
        .page_bytes = 64,
        .lavish = {.sectors = 2, .degree = 3, .lavish_blocks = 5},
    };

    (void)state;
    open_with_faults(&shape);
    lavish_rig_repeat(&rig, 0, 2);
    arm(NW_VERB_PROGRAM, NW_ERR_IO);
    assert_int_equal(lavish_rig_write(&rig, 0, 1), NW_ERR_IO);
    assert_int_equal(rig.lavish.logical[0].next, 2);
    assert_int_not_equal(rig.lavish.logical[0].log, NW_LAVISH_NONE);
    assert_int_equal(lavish_rig_trim(&rig, 0, 1), NW_OK);
    assert_int_equal(rig.lavish.logical[0].next, 2);
    lavish_rig_repeat(&rig, 0, 20);
    lavish_rig_read_all(&rig);
    lavish_rig_close(&rig);
}

/* Goal: without a spare the lavish block is given up and its good block becomes a spare. */
static void a_lavish_block_given_up_feeds_the_spares(void **state)
{
    struct lavish_shape shape = lavish_shape_tiny;

    (void)state;
    shape.lavish.sectors = 4;
    shape.lavish.lavish_blocks = 8;
    assert_int_equal(lavish_rig_open(&rig, &shape, 0, 1), NW_OK);
    nw_nand_doom(rig.nand, 0, 1);
    nw_nand_doom(rig.nand, 3, 0);
    lavish_rig_repeat(&rig, 0, 60);
    assert_int_equal(nw_nand_block_bad(rig.nand, 0), 1);
    assert_int_equal(nw_nand_block_bad(rig.nand, 3), 1);
    assert_int_equal(rig.lavish.stats.retired, 2);
    assert_int_equal(rig.lavish.good, 7); /* block 1 stands for block 3 */
    lavish_rig_finish(&rig);
}

/* Goal: factory-bad blocks are found at open and replaced or cost their lavish block only. */
static void bad_blocks_at_open(void **state)
{
    struct lavish_shape shape = lavish_shape_tiny;
    struct nw_chip_req req = {0};

    (void)state;
    shape.lavish.lavish_blocks = 6;
    shape.lavish.spare_blocks = 4;
    assert_int_equal(lavish_rig_open(&rig, &shape, 0, 1), NW_OK);
    req.chip = rig.chip;
    for (req.block = 2; req.block < 10; req.block += 3) { /* 2, 5, 8 */
        assert_int_equal(nw_chip_mark_bad(&req), NW_OK);
    }
    req.block = 12; /* of the 4 spares */
    assert_int_equal(nw_chip_mark_bad(&req), NW_OK);
    assert_int_equal(lavish_rig_open_on(&rig, rig.chip, &shape.lavish), NW_OK);
    assert_int_equal(rig.lavish.good, 6);
    lavish_rig_repeat(&rig, 0, 100);
    lavish_rig_repeat(&rig, 4, 100);
    for (req.block = 0; req.block < 4; req.block++) { /* and 13, 14, 15 are in use */
        assert_int_equal(nw_chip_mark_bad(&req), NW_OK);
    }
    assert_int_equal(lavish_rig_open_on(&rig, rig.chip, &shape.lavish), NW_OK);
    assert_int_equal(rig.lavish.good, 4);
    assert_int_equal(rig.lavish.spares[1].block, 14);
    assert_int_equal(rig.lavish.spares[1].stands_for, 5);
    assert_int_equal(rig.lavish.spare, 13); /* stood for 3 until 2 was found bad too, then for 1 */
    for (req.block = 13; req.block < 15; req.block++) {
        assert_int_equal(nw_chip_mark_bad(&req), NW_OK);
    }
    assert_int_equal(lavish_rig_open_on(&rig, rig.chip, &shape.lavish), NW_ERR_FULL);
    lavish_rig_close(&rig);
}

/* Goal: a sector that cannot be read when it has to move is lost alone, counted, and says so until
 * it is written or trimmed. */
static void an_unreadable_sector_is_told(void **state)
{
    (void)state;
    open_with_faults(&lavish_shape_tiny);
    lavish_rig_repeat(&rig, 1, 1);
    lavish_rig_repeat(&rig, 3, 1);
    lavish_rig_repeat(&rig, 0, 12);
    lavish_rig_repeat(&rig, 2, 1);
    arm(NW_VERB_READ, NW_ERR_ECC);
    fault.times = 2;
    lavish_rig_repeat(&rig, 0, 1); /* a switch, that cannot read sector 1 but can read 3 */
    assert_int_equal(fault.hits, 2);
    assert_int_equal(rig.lavish.stats.lost, 1);
    assert_int_equal(lavish_rig_read(&rig, 1, 1), NW_ERR_ECC);
    assert_int_equal(lavish_rig_read(&rig, 3, 1), NW_OK);
    lavish_rig_repeat(&rig, 0, 30); /* merges carry it along */
    assert_int_equal(lavish_rig_read(&rig, 1, 1), NW_ERR_ECC);
    lavish_rig_repeat(&rig, 1, 1);
    lavish_rig_read_all(&rig);
    lavish_rig_close(&rig);
}

/* Goal: an error of a plain read is the reader's alone: read again, it may be there. */
static void a_read_error_is_passed_on(void **state)
{
    (void)state;
    open_with_faults(&lavish_shape_tiny);
    assert_int_equal(lavish_rig_write(&rig, 0, 4), NW_OK);
    arm(NW_VERB_READ, NW_ERR_ECC);
    fault.times = 2;
    assert_int_equal(lavish_rig_read(&rig, 0, 4), NW_ERR_ECC);
    lavish_rig_read_all(&rig);
    assert_int_equal(rig.lavish.stats.lost, 0);
    lavish_rig_close(&rig);
}

/* Goal: without its map a logical block is lost, and says so, sector by sector until written. */
static void an_unreadable_map_is_told(void **state)
{
    struct lavish_shape shape = lavish_shape_tiny;

    (void)state;
    shape.lavish.maps = 1;
    open_with_faults(&shape);
    assert_int_equal(lavish_rig_write(&rig, 0, 4), NW_OK);
    assert_int_equal(lavish_rig_write(&rig, 4, 4), NW_OK);
    arm(NW_VERB_READ, NW_ERR_ECC);
    fault.times = 2;
    lavish_rig_repeat(&rig, 2, 1);
    assert_int_equal(fault.hits, 2);
    assert_int_equal(rig.lavish.stats.lost, 4);
    assert_int_equal(lavish_rig_read(&rig, 1, 1), NW_ERR_ECC);
    assert_int_equal(lavish_rig_read(&rig, 2, 1), NW_OK);
    assert_int_equal(lavish_rig_read(&rig, 4, 4), NW_OK);
    assert_int_equal(lavish_rig_read(&rig, 1, 1), NW_ERR_ECC);
    lavish_rig_repeat(&rig, 2, 40);
    assert_int_equal(lavish_rig_write(&rig, 0, 4), NW_OK);
    lavish_rig_read_all(&rig);
    lavish_rig_close(&rig);
}

/* Goal: a broken transport, at any request of any kind, leaves old content where the write failed
 * and the device fit to go on. */
static void any_io_error_is_survived(void **state)
{
    static const uint8_t verbs[] = {NW_VERB_READ, NW_VERB_PROGRAM, NW_VERB_ERASE};
    struct lavish_shape shape = lavish_shape_tiny;
    unsigned kind;
    unsigned failures = 0;

    (void)state;
    shape.lavish.maps = 1;
    for (kind = 0; kind < 6; kind++) {
        uint32_t skip;
        int struck = 1;

        for (skip = 0; struck; skip++) {
            struct nw_random dice;
            unsigned i;

            open_with_faults(&shape);
            nw_random_seed(&dice, 9);
            arm(verbs[kind % 3], NW_ERR_IO);
            fault.acts = kind >= 3;
            fault.skip = skip;
            for (i = 0; i < 120; i++) {
                int result = lavish_rig_write(&rig, nw_random_below(&dice, 8), 1);

                assert_true(result == NW_OK || result == NW_ERR_IO);
                failures += result == NW_ERR_IO;
                if (i % 7 == 0) {
                    lavish_rig_read(&rig, nw_random_below(&dice, 8), 1);
                }
            }
            struck = fault.hits > 0;
            fault.skip = 0xFFFFFFFFU;
            lavish_rig_read_all(&rig);
            lavish_rig_close(&rig);
        }
        assert_true(skip > 30);
    }
    assert_true(failures > 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_failed_program_loses_nothing),
        cmocka_unit_test(a_lavish_block_given_up_feeds_the_spares),
        cmocka_unit_test(bad_blocks_at_open),
        cmocka_unit_test(an_unreadable_sector_is_told),
        cmocka_unit_test(a_read_error_is_passed_on),
        cmocka_unit_test(an_unreadable_map_is_told),
        cmocka_unit_test(any_io_error_is_survived),
        cmocka_unit_test(a_failed_program_in_the_log),
        cmocka_unit_test(no_place_left),
        cmocka_unit_test(a_victim_that_needs_no_free_block),
        cmocka_unit_test(a_log_taken_ahead),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

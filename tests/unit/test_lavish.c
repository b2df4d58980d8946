/* SPDX-License-Identifier: Apache-2.0 */
/* The lavish layer step by step: each way of making room with its exact counts. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "lavish_rig.h"
#include "nandwich-twin/faults.h"
#include "nandwich-twin/parts.h"

/* Two logical blocks of 4 sectors, lavish blocks of 8, 4 of them: as few as can be; up to 8 have
 * room, and there is the mark's block. */
static const struct lavish_shape tiny = {
    .blocks = 17,
    .block_pages = 4,
    .page_bytes = 64,
    .in_order = 1,
    .lavish = {.sectors = 8, .degree = 2, .maps = 2, .lavish_blocks = 4},
};

static struct lavish_rig rig;

/* What the counters must say, in one line a test. */
static void expect(const char *counts)
{
    const struct nw_stats *stats = &rig.lavish.stats;
    char got[200];

    snprintf(got, sizeof got,
             "read %u program %u erase %u copy %u map %u/%u switch %u I %u II %u III %u",
             (unsigned)stats->reads, (unsigned)stats->programs, (unsigned)stats->erases,
             (unsigned)stats->copies, (unsigned)stats->map_reads, (unsigned)stats->map_programs,
             (unsigned)(stats->merges_switch - rig.lavish.merges_1), (unsigned)rig.lavish.merges_1,
             (unsigned)stats->merges_partial, (unsigned)stats->merges_full);
    assert_string_equal(got, counts);
}

static void write_times(uint32_t sector, unsigned times)
{
    while (times-- > 0) {
        assert_int_equal(lavish_rig_write(&rig, sector, 1), NW_OK);
    }
}

static void finish(void)
{
    const struct nw_nand_counts *chip = nw_nand_stats(rig.nand);
    const struct nw_nand_counts *opened = &rig.opened;
    const struct nw_stats *stats = &rig.lavish.stats;

    /* what the layer says it did is what the chip did */
    assert_int_equal(chip->reads + chip->copies - opened->reads, stats->reads);
    assert_int_equal(chip->programs + chip->copies - opened->programs, stats->programs);
    assert_int_equal(chip->erases - opened->erases, stats->erases);
    assert_int_equal(chip->bytes_read - opened->bytes_read, stats->bytes_read);
    assert_int_equal(chip->bytes_programmed - opened->bytes_programmed, stats->bytes_programmed);
    lavish_rig_read_all(&rig);
    lavish_rig_close(&rig);
}

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

/* Goal: a new device reads zeros without a look at the chip, and trims for nothing. */
static void blank_is_zeros(void **state)
{
    (void)state;
    assert_int_equal(lavish_rig_open(&rig, &tiny, 0, 1), NW_OK);
    lavish_rig_read_all(&rig);
    assert_int_equal(lavish_rig_trim(&rig, 0, 8), NW_OK);
    expect("read 0 program 0 erase 0 copy 0 map 0/0 switch 0 I 0 II 0 III 0");
    write_times(5, 1);
    expect("read 0 program 1 erase 1 copy 0 map 0/0 switch 0 I 0 II 0 III 0");
    finish();
}

/* Goal: a data block without a valid sector is erased at once, nothing is copied. */
static void merge_1_erases(void **state)
{
    (void)state;
    assert_int_equal(lavish_rig_open(&rig, &tiny, 0, 1), NW_OK);
    write_times(0, 8); /* the data block is full, its last sector valid */
    expect("read 0 program 8 erase 2 copy 0 map 0/0 switch 0 I 0 II 0 III 0");
    write_times(0, 1); /* entering the log: 1 erase; the merge: 2 */
    expect("read 0 program 9 erase 5 copy 0 map 0/0 switch 0 I 1 II 0 III 0");
    finish();
}

/* Goal: when both blocks are full the valid rest of the data block starts a new log. The last
 * sector is kept for the map, so 7 writes go to the log, not 8. */
static void switch_starts_a_log(void **state)
{
    (void)state;
    assert_int_equal(lavish_rig_open(&rig, &tiny, 0, 1), NW_OK);
    write_times(1, 1);
    write_times(0, 13);
    write_times(2, 1);
    expect("read 0 program 15 erase 4 copy 0 map 0/0 switch 0 I 0 II 0 III 0");
    write_times(0, 1); /* copy sector 1: enter a block, then 2 erases */
    expect("read 1 program 17 erase 7 copy 1 map 0/0 switch 1 I 0 II 0 III 0");
    assert_int_equal(rig.lavish.logical[0].valid, 1); /* sector 2, in the old log */
    assert_int_equal(rig.lavish.logical[0].next, 10);
    finish();
}

/* Goal: when lavish blocks run low and the victim's log has room, its data block's rest goes there.
 * The victim is the logical block with the fewest valid sectors in its data block. */
static void merge_2_appends(void **state)
{
    (void)state;
    assert_int_equal(lavish_rig_open(&rig, &tiny, 0, 1), NW_OK);
    assert_int_equal(lavish_rig_write(&rig, 0, 3), NW_OK);
    write_times(3, 6); /* 8 in the data block, 1 in the log: 3 valid in the data block */
    assert_int_equal(rig.lavish.logical[0].valid, 3);
    write_times(4, 7);
    expect("read 0 program 16 erase 5 copy 0 map 0/0 switch 0 I 0 II 0 III 0");
    assert_int_equal(rig.lavish.free, 1);
    write_times(4, 1); /* wants a log: 3 copies, 2 erases */
    expect("read 3 program 20 erase 7 copy 3 map 0/0 switch 0 I 0 II 1 III 0");
    assert_int_equal(rig.lavish.free, 1);
    assert_int_equal(rig.lavish.logical[0].log, NW_LAVISH_NONE);
    assert_int_equal(rig.lavish.logical[0].valid, 4);
    finish();
}

/* Goal: without that room both blocks go to a fresh one. */
static void merge_3_gathers(void **state)
{
    (void)state;
    assert_int_equal(lavish_rig_open(&rig, &tiny, 0, 1), NW_OK);
    assert_int_equal(lavish_rig_write(&rig, 0, 3), NW_OK);
    write_times(3, 10); /* 5 in the log: room for 3 there, which are the rest without the map */
    write_times(4, 7);
    expect("read 0 program 20 erase 6 copy 0 map 0/0 switch 0 I 0 II 0 III 0");
    write_times(4, 1); /* 4 copies into a block that is entered, 4 erases */
    expect("read 4 program 25 erase 11 copy 4 map 0/0 switch 0 I 0 II 0 III 1");
    assert_int_equal(rig.lavish.free, 1);
    finish();
}

/* Goal: a map that leaves RAM is written to its own logical block and read back from there. */
static void maps_travel(void **state)
{
    struct lavish_shape shape = tiny;

    (void)state;
    shape.lavish.maps = 1;
    assert_int_equal(lavish_rig_open(&rig, &shape, 0, 1), NW_OK);
    write_times(0, 1);
    write_times(4, 1); /* the map of 0..3 leaves: 1 program */
    expect("read 0 program 3 erase 2 copy 0 map 0/1 switch 0 I 0 II 0 III 0");
    assert_int_equal(lavish_rig_read(&rig, 0, 1), NW_OK); /* and 4..7 leaves */
    expect("read 2 program 4 erase 2 copy 0 map 1/2 switch 0 I 0 II 0 III 0");
    assert_int_equal(lavish_rig_read(&rig, 4, 1), NW_OK); /* unchanged maps just go */
    expect("read 4 program 4 erase 2 copy 0 map 2/2 switch 0 I 0 II 0 III 0");
    finish();
}

/* Goal: the sector kept for the map is there when the map leaves at the worst moment: data block
 * and log full. */
static void a_full_block_still_takes_its_map(void **state)
{
    struct lavish_shape shape = tiny;

    (void)state;
    shape.lavish.maps = 1;
    assert_int_equal(lavish_rig_open(&rig, &shape, 0, 1), NW_OK);
    write_times(1, 1);
    write_times(0, 13);
    write_times(2, 1);
    assert_int_equal(lavish_rig_read(&rig, 4, 1), NW_OK); /* blank: no map needed */
    write_times(4, 1);
    expect("read 0 program 17 erase 5 copy 0 map 0/1 switch 0 I 0 II 0 III 0");
    assert_int_equal(rig.lavish.logical[0].next, 16);
    write_times(0, 1); /* back in: map program, map read, then a switch */
    expect("read 2 program 20 erase 8 copy 1 map 1/2 switch 1 I 0 II 0 III 0");
    finish();
}

/* Goal: trimmed sectors read zeros, need no copy, and free a data block like overwritten ones. */
static void trim_makes_merges_cheap(void **state)
{
    (void)state;
    assert_int_equal(lavish_rig_open(&rig, &tiny, 0, 1), NW_OK);
    write_times(1, 1);
    write_times(0, 8);
    assert_int_equal(lavish_rig_trim(&rig, 1, 1), NW_OK);
    expect("read 0 program 9 erase 5 copy 0 map 0/0 switch 0 I 1 II 0 III 0");
    assert_int_equal(lavish_rig_trim(&rig, 0, 4), NW_OK);
    expect("read 0 program 9 erase 5 copy 0 map 0/0 switch 0 I 1 II 0 III 0");
    finish();
}

/* Goal: a trim that changes nothing leaves the map clean; one that does keeps room for the map. */
static void trim_minds_the_map(void **state)
{
    struct lavish_shape shape = tiny;

    (void)state;
    shape.lavish.maps = 1;
    assert_int_equal(lavish_rig_open(&rig, &shape, 0, 1), NW_OK);
    write_times(1, 1);
    write_times(0, 13);
    write_times(2, 1);
    write_times(4, 1); /* the map of 0..3 goes to the last sector of its log */
    assert_int_equal(lavish_rig_trim(&rig, 3, 1), NW_OK); /* blank: but room is made for a change */
    expect("read 2 program 19 erase 8 copy 1 map 1/2 switch 1 I 0 II 0 III 0");
    assert_int_equal(lavish_rig_read(&rig, 4, 1), NW_OK);
    assert_int_equal(lavish_rig_trim(&rig, 3, 1), NW_OK);
    assert_int_equal(lavish_rig_read(&rig, 4, 1), NW_OK);
    expect("read 7 program 20 erase 8 copy 1 map 4/3 switch 1 I 0 II 0 III 0");
    finish();
}

/* Goal: late erasing moves erases out of merges; idle time takes them, in steps that fit. */
static void erase_late_and_idle(void **state)
{
    struct lavish_shape shape = tiny;
    struct nw_block_req req = {.block = &rig.lavish.block};

    (void)state;
    shape.lavish.erase_late = 1;
    assert_int_equal(lavish_rig_open(&rig, &shape, 0, 1), NW_OK);
    rig.chip->geometry.erase_us = 1000;
    write_times(0, 9);
    expect("read 0 program 9 erase 3 copy 0 map 0/0 switch 0 I 1 II 0 III 0");
    req.budget_us = 1999; /* a lavish block is two erases */
    assert_int_equal(nw_block_idle(&req), 1);
    assert_int_equal(rig.lavish.stats.erases, 3);
    req.budget_us = 2000;
    assert_int_equal(nw_block_idle(&req), 1);
    assert_int_equal(rig.lavish.stats.erases, 5);
    assert_int_equal(nw_block_idle(&req), 0);
    assert_int_equal(rig.lavish.stats.erases, 5);
    write_times(4, 7); /* into the block erased ahead */
    assert_int_equal(rig.lavish.stats.erases, 5);
    finish();
}

/* Goal: idle merges ahead, so that the next write that wants a log does not wait for it. */
static void idle_merges_ahead(void **state)
{
    struct nw_block_req req = {.block = &rig.lavish.block};

    (void)state;
    assert_int_equal(lavish_rig_open(&rig, &tiny, 0, 1), NW_OK);
    rig.chip->geometry.erase_us = 1000;
    rig.chip->geometry.read_us = 10;
    rig.chip->geometry.program_us = 100;
    assert_int_equal(lavish_rig_write(&rig, 0, 3), NW_OK);
    write_times(3, 6);
    write_times(4, 7);
    req.budget_us = 5549; /* 4 copies, a map read and one written, 5 erases at worst */
    assert_int_equal(nw_block_idle(&req), 1); /* erases the next lavish block first */
    assert_int_equal(rig.lavish.stats.erases, 7);
    assert_int_equal(nw_block_idle(&req), 1);
    assert_int_equal(rig.lavish.stats.copies, 0);
    req.budget_us = 5550;
    assert_int_equal(nw_block_idle(&req), 1);
    expect("read 3 program 19 erase 9 copy 3 map 0/0 switch 0 I 0 II 1 III 0");
    assert_int_equal(rig.lavish.free, 2);
    finish();
}

/* Goal: a block whose program fails is left without loss, marked bad and replaced; its lavish block
 * goes on. */
static void a_failed_program_loses_nothing(void **state)
{
    struct lavish_shape shape = tiny;

    (void)state;
    shape.blocks = 18; /* one spare */
    assert_int_equal(lavish_rig_open(&rig, &shape, 0, 1), NW_OK);
    assert_int_equal(lavish_rig_write(&rig, 0, 3), NW_OK);
    write_times(3, 4);
    nw_nand_doom(rig.nand, 1, 1); /* the block written now */
    write_times(2, 1);
    /* the failed one, 4 copies, the sector again: 2 blocks entered before, 2 now; then the data
     * block goes with 1 erase, for the worn one is not touched, and the log just taken with 2 */
    expect("read 4 program 13 erase 7 copy 4 map 0/0 switch 0 I 0 II 0 III 1");
    assert_int_equal(rig.lavish.stats.retired, 1);
    assert_int_equal(nw_nand_block_bad(rig.nand, 1), 1);
    assert_int_equal(rig.lavish.good, 4);
    assert_int_equal(rig.lavish.spares[0].stands_for, 1);
    lavish_rig_read_all(&rig);
    write_times(2, 20);
    finish();
}

/* Goal: in the log likewise: the worn block is marked at once, not when it is erased next. */
static void a_failed_program_in_the_log(void **state)
{
    struct lavish_shape shape = tiny;

    (void)state;
    shape.blocks = 18;
    assert_int_equal(lavish_rig_open(&rig, &shape, 0, 1), NW_OK);
    write_times(1, 1);
    write_times(0, 12); /* 5 in the log, which is blocks 2 and 3 */
    nw_nand_doom(rig.nand, 3, 1);
    write_times(2, 1);
    assert_int_equal(nw_nand_block_bad(rig.nand, 3), 1);
    assert_int_equal(nw_nand_stats(rig.nand)->failures, 1); /* no erase was tried on it */
    assert_int_equal(rig.lavish.spares[0].stands_for, 3);
    finish();
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
 * another map, which once answered NW_ERR_FULL; and the worn block is never written or erased
 * again. */
static void no_place_left(void **state)
{
    struct lavish_shape shape = tiny;
    uint32_t erases;
    unsigned i;

    (void)state;
    shape.lavish.maps = 1;
    shape.lavish.lavish_blocks = 5;
    assert_int_equal(lavish_rig_open(&rig, &shape, 0, 1), NW_OK);
    assert_int_equal(lavish_rig_write(&rig, 4, 4), NW_OK); /* blocks 0 and 1 */
    assert_int_equal(lavish_rig_write(&rig, 0, 4), NW_OK); /* blocks 2 and 3; map 4..7 leaves */
    hide_free(0, 2);
    assert_int_equal(lavish_rig_write(&rig, 0, 1), NW_ERR_FULL);
    expect("read 0 program 9 erase 3 copy 0 map 0/1 switch 0 I 0 II 0 III 0");
    nw_nand_doom(rig.nand, 3, 1);
    erases = nw_nand_block_erases(rig.nand, 3);
    assert_int_equal(lavish_rig_read(&rig, 4, 4), NW_OK); /* map 0..3 would have to leave */
    assert_int_equal(lavish_rig_read(&rig, 0, 4), NW_OK);
    assert_int_equal(lavish_rig_write(&rig, 4, 1), NW_ERR_FULL);
    hide_free(2, 0);
    lavish_rig_read_all(&rig);
    for (i = 0; i < 60; i++) {
        assert_int_equal(lavish_rig_write(&rig, i % 4, 1), NW_OK);
    }
    assert_int_equal(rig.lavish.good, 4); /* the suspect was dropped when it was free */
    assert_int_equal(nw_nand_block_erases(rig.nand, 3), erases + 1); /* when it was entered */
    lavish_rig_read_all(&rig);
    lavish_rig_close(&rig);
}

/* Goal: with no lavish block free at all, as after two failures in one call, a logical block that
 * can merge into its own log gives one back, though another one has as few sectors to copy. That
 * one alone was tried once, and the device was full. */
static void a_victim_that_needs_no_free_block(void **state)
{
    struct lavish_shape shape = tiny;

    (void)state;
    shape.lavish.lavish_blocks = 6;
    assert_int_equal(lavish_rig_open(&rig, &shape, 0, 1), NW_OK);
    assert_int_equal(lavish_rig_write(&rig, 0, 3), NW_OK);
    write_times(3, 10); /* 3 valid in the data block, room for 3 in the log */
    assert_int_equal(lavish_rig_write(&rig, 4, 4), NW_OK);
    write_times(4, 5); /* 3 valid in the data block, room for 7 */
    assert_int_equal(rig.lavish.logical[0].valid, 3);
    assert_int_equal(rig.lavish.logical[1].valid, 3);
    hide_free(0, 2);
    assert_int_equal(rig.lavish.free, 0);
    assert_int_equal(lavish_rig_write(&rig, 0, 1), NW_OK);
    assert_int_equal(rig.lavish.stats.merges_partial, 1);
    hide_free(2, 0);
    finish();
}

/* Goal: a chip of few blocks has a spare block too, where there is one to spare. */
static void a_small_chip_has_a_spare(void **state)
{
    struct lavish_shape shape = tiny;

    (void)state;
    shape.blocks = 24;
    shape.lavish.sectors = 20; /* 5 logical blocks: 12 lavish blocks would take all */
    shape.lavish.lavish_blocks = 0;
    assert_int_equal(lavish_rig_open(&rig, &shape, 0, 1), NW_OK);
    assert_int_equal(rig.lavish.lavish_count, 11);
    assert_int_equal(rig.lavish.spares[0].block, 22);
    finish();
}

/* Goal: lavish blocks take turns, so that one busy logical block wears all of them alike. */
static void wear_is_spread(void **state)
{
    struct lavish_shape shape = tiny;
    uint32_t block;
    uint32_t least = 0xFFFFFFFFU;
    uint32_t most = 0;

    (void)state;
    shape.lavish.lavish_blocks = 8;
    assert_int_equal(lavish_rig_open(&rig, &shape, 0, 1), NW_OK);
    write_times(0, 4000);
    for (block = 0; block < 16; block++) {
        uint32_t erases = nw_nand_block_erases(rig.nand, block);

        least = erases < least ? erases : least;
        most = erases > most ? erases : most;
    }
    assert_true(least > 50 && most - least <= 2);
    finish();
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
    write_times(0, 2);
    arm(NW_VERB_PROGRAM, NW_ERR_IO);
    assert_int_equal(lavish_rig_write(&rig, 0, 1), NW_ERR_IO);
    assert_int_equal(rig.lavish.logical[0].next, 2);
    assert_int_not_equal(rig.lavish.logical[0].log, NW_LAVISH_NONE);
    assert_int_equal(lavish_rig_trim(&rig, 0, 1), NW_OK);
    assert_int_equal(rig.lavish.logical[0].next, 2);
    write_times(0, 20);
    lavish_rig_read_all(&rig);
    lavish_rig_close(&rig);
}

/* Goal: without a spare the lavish block is given up and its good block becomes a spare. */
static void a_lavish_block_given_up_feeds_the_spares(void **state)
{
    struct lavish_shape shape = tiny;

    (void)state;
    shape.lavish.sectors = 4;
    shape.lavish.lavish_blocks = 8;
    assert_int_equal(lavish_rig_open(&rig, &shape, 0, 1), NW_OK);
    nw_nand_doom(rig.nand, 0, 1);
    nw_nand_doom(rig.nand, 3, 0);
    write_times(0, 60);
    assert_int_equal(nw_nand_block_bad(rig.nand, 0), 1);
    assert_int_equal(nw_nand_block_bad(rig.nand, 3), 1);
    assert_int_equal(rig.lavish.stats.retired, 2);
    assert_int_equal(rig.lavish.good, 7); /* block 1 stands for block 3 */
    finish();
}

/* Goal: factory-bad blocks are found at open and replaced or cost their lavish block only. */
static void bad_blocks_at_open(void **state)
{
    struct lavish_shape shape = tiny;
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
    write_times(0, 100);
    write_times(4, 100);
    for (req.block = 0; req.block < 4; req.block++) { /* and 13, 14, 15 are in use */
        assert_int_equal(nw_chip_mark_bad(&req), NW_OK);
    }
    assert_int_equal(lavish_rig_open_on(&rig, rig.chip, &shape.lavish), NW_OK);
    assert_int_equal(rig.lavish.good, 4);
    assert_int_equal(rig.lavish.spares[2].block, 15); /* stood for 2 until 3 was found bad too */
    assert_int_equal(rig.lavish.spares[2].stands_for, 5);
    for (req.block = 13; req.block < 15; req.block++) {
        assert_int_equal(nw_chip_mark_bad(&req), NW_OK);
    }
    assert_int_equal(lavish_rig_open_on(&rig, rig.chip, &shape.lavish), NW_ERR_FULL);
    lavish_rig_close(&rig);
}

/* A fixed script on a real part: streams, a working set, trims, reads. */
static void run_script(void)
{
    struct nw_random dice;
    uint32_t i;

    nw_random_seed(&dice, 2013);
    for (i = 0; i < 2048; i += 8) {
        assert_int_equal(lavish_rig_write(&rig, i % 1024, 8), NW_OK);
    }
    for (i = 0; i < 20000; i++) {
        uint32_t sector = nw_random_below(&dice, 400);

        if (i % 16 == 0) {
            sector = 400 + i / 16 % 600; /* a slow stream beside the working set */
        }
        assert_int_equal(lavish_rig_write(&rig, sector, 1), NW_OK);
    }
    assert_int_equal(lavish_rig_trim(&rig, 100, 200), NW_OK);
    for (i = 0; i < 3000; i++) {
        assert_int_equal(lavish_rig_write(&rig, nw_random_below(&dice, 1024), 1), NW_OK);
        assert_int_equal(lavish_rig_read(&rig, nw_random_below(&dice, 1024), 1), NW_OK);
    }
}

/* Goal: what the script costs on K9F1G08U0A is on record to the operation: a change shows here. */
static void golden_counts(void **state)
{
    static const struct {
        uint8_t degree;
        uint8_t maps;
        uint16_t lavish_blocks;
        const char *counts;
    } golden[] = {
        {1, 4, 0,
        "read 39219 program 59555 erase 946 copy 22307 map 14100/12200 switch 892 I 18 II 0 III 0"},
        {2, 4, 0,
        "read 20883 program 41220 erase 666 copy 4205 map 13866/11967 switch 279 I 20 II 0 III 0"},
        {4, 4, 20,
        "read 23356 program 43692 erase 716 copy 6592 map 13952/12052 switch 0 I 0 II 159 III 0"},
        {8, 1, 0,
        "read 25788 program 45415 erase 792 copy 98 map 22878/20269 switch 33 I 32 II 0 III 0"},
        {8, 4, 0,
        "read 16735 program 37072 erase 672 copy 57 map 13866/11967 switch 10 I 40 II 0 III 0"},
        {8, 4, 18,
        "read 19567 program 39905 erase 688 copy 2858 map 13897/11999 switch 0 I 1 II 67 III 0"},
        {8, 16, 0,
        "read 2813 program 25049 erase 540 copy 1 map 0/0 switch 1 I 33 II 0 III 0"},
    };
    unsigned i;

    (void)state;
    for (i = 0; i < sizeof golden / sizeof golden[0]; i++) {
        struct nw_part part;
        struct nw_nand_config config = {.part = &part, .flags = NW_NAND_NO_PAYLOAD};
        struct nw_ftl_lavish_config lavish = {.sectors = 1024,
                                              .degree = golden[i].degree,
                                              .maps = golden[i].maps,
                                              .lavish_blocks = golden[i].lavish_blocks};

        assert_int_equal(nw_parts_get("K9F1G08U0A", &part), NW_OK);
        memset(&rig, 0, sizeof rig);
        assert_int_equal(nw_nand_open(&rig.nand, &config), NW_OK);
        assert_int_equal(lavish_rig_open_on(&rig, nw_nand_chip(rig.nand), &lavish), NW_OK);
        run_script();
        expect(golden[i].counts);
        lavish_rig_close(&rig);
    }
}

/* Goal: the arithmetic of the space is told, and kept to the block. */
static void space_arithmetic(void **state)
{
    struct nw_part part;
    struct nw_nand_config config = {.part = &part, .flags = NW_NAND_NO_PAYLOAD};
    struct nw_ftl_lavish_config lavish = {.sectors = 4096};
    struct nw_chip *chip;

    (void)state;
    assert_int_equal(nw_parts_get("K9F1G08U0A", &part), NW_OK);
    assert_int_equal(nw_nand_open(&rig.nand, &config), NW_OK);
    chip = nw_nand_chip(rig.nand);
    rig.ram = NULL;
    assert_int_equal(nw_ftl_lavish_blocks_needed(&lavish, chip), 66 * 8 + 1);
    assert_int_equal(lavish_rig_open_on(&rig, chip, &lavish), NW_OK);
    assert_int_equal(rig.lavish.lavish_count, 124); /* 1023 - 31 spares, by 8 */
    assert_int_equal(rig.ram_bytes,
                     64 * 10 + 4 * (4 + 128) + (124 * 8 / 32 + 1 + 8) * 4 + 124 + 124);
    lavish.sectors = 4096 * 4;
    assert_int_equal(nw_ftl_lavish_blocks_needed(&lavish, chip), 258 * 8 + 1);
    assert_int_equal(nw_ftl_lavish_ram_bytes(&lavish, chip), 0);
    assert_int_equal(lavish_rig_open_on(&rig, chip, &lavish), NW_ERR_CONFIG);
    lavish.sectors = 125 * 64;
    assert_int_equal(nw_ftl_lavish_blocks_needed(&lavish, chip), 127 * 8 + 1);
    assert_int_equal(lavish_rig_open_on(&rig, chip, &lavish), NW_OK);
    lavish.sectors = 125 * 64 + 1;
    assert_int_equal(lavish_rig_open_on(&rig, chip, &lavish), NW_ERR_CONFIG);
    lavish.sectors = 100;
    lavish.spare_blocks = 1023 - 4 * 8;
    assert_int_equal(lavish_rig_open_on(&rig, chip, &lavish), NW_OK);
    assert_int_equal(rig.lavish.lavish_count, 4);
    lavish.spare_blocks++;
    assert_int_equal(lavish_rig_open_on(&rig, chip, &lavish), NW_ERR_CONFIG);
    lavish.spare_blocks = 2000;
    assert_int_equal(lavish_rig_open_on(&rig, chip, &lavish), NW_ERR_CONFIG);
    lavish.spare_blocks = 0;
    lavish.lavish_blocks = 128;
    assert_int_equal(lavish_rig_open_on(&rig, chip, &lavish), NW_ERR_CONFIG);
    lavish.lavish_blocks = 127;
    assert_int_equal(lavish_rig_open_on(&rig, chip, &lavish), NW_OK);
    assert_int_equal(nw_ftl_lavish_open(&rig.lavish, chip, &lavish, rig.ram, rig.ram_bytes - 1),
                     NW_ERR_RAM);
    lavish.sectors = 0;
    assert_int_equal(lavish_rig_open_on(&rig, chip, &lavish), NW_ERR_CONFIG);
    lavish_rig_close(&rig);
}

/* Goal: shapes the layer cannot hold are refused: maps larger than a page, indices past 16 bits. */
static void shapes_refused(void **state)
{
    struct lavish_shape shape = tiny;

    (void)state;
    shape.block_pages = 33;
    assert_int_equal(lavish_rig_open(&rig, &shape, 0, 1), NW_ERR_CONFIG);
    lavish_rig_close(&rig);
    shape.block_pages = 32;
    assert_int_equal(lavish_rig_open(&rig, &shape, 0, 1), NW_OK);
    lavish_rig_close(&rig);
    shape.block_pages = 1;
    shape.lavish.degree = 1;
    assert_int_equal(lavish_rig_open(&rig, &shape, 0, 1), NW_ERR_CONFIG);
    lavish_rig_close(&rig);
    shape.page_bytes = 1024;
    shape.block_pages = 128;
    shape.blocks = 1024;
    shape.lavish.degree = 255;
    assert_int_equal(lavish_rig_open(&rig, &shape, NW_NAND_NO_PAYLOAD, 1), NW_ERR_CONFIG);
    lavish_rig_close(&rig);
    shape.lavish.degree = 254;
    assert_int_equal(lavish_rig_open(&rig, &shape, NW_NAND_NO_PAYLOAD, 1), NW_OK);
    lavish_rig_close(&rig);
}

/* Goal: a sector that cannot be read when it has to move is lost alone, counted, and says so until
 * it is written or trimmed. */
static void an_unreadable_sector_is_told(void **state)
{
    (void)state;
    open_with_faults(&tiny);
    write_times(1, 1);
    write_times(3, 1);
    write_times(0, 12);
    write_times(2, 1);
    arm(NW_VERB_READ, NW_ERR_ECC);
    fault.times = 2;
    write_times(0, 1); /* a switch, that cannot read sector 1 but can read 3 */
    assert_int_equal(fault.hits, 2);
    assert_int_equal(rig.lavish.stats.lost, 1);
    assert_int_equal(lavish_rig_read(&rig, 1, 1), NW_ERR_ECC);
    assert_int_equal(lavish_rig_read(&rig, 3, 1), NW_OK);
    write_times(0, 30); /* merges carry it along */
    assert_int_equal(lavish_rig_read(&rig, 1, 1), NW_ERR_ECC);
    write_times(1, 1);
    lavish_rig_read_all(&rig);
    lavish_rig_close(&rig);
}

/* Goal: an error of a plain read is the reader's alone: read again, it may be there. */
static void a_read_error_is_passed_on(void **state)
{
    (void)state;
    open_with_faults(&tiny);
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
    struct lavish_shape shape = tiny;

    (void)state;
    shape.lavish.maps = 1;
    open_with_faults(&shape);
    assert_int_equal(lavish_rig_write(&rig, 0, 4), NW_OK);
    assert_int_equal(lavish_rig_write(&rig, 4, 4), NW_OK);
    arm(NW_VERB_READ, NW_ERR_ECC);
    fault.times = 2;
    write_times(2, 1);
    assert_int_equal(fault.hits, 2);
    assert_int_equal(rig.lavish.stats.lost, 4);
    assert_int_equal(lavish_rig_read(&rig, 1, 1), NW_ERR_ECC);
    assert_int_equal(lavish_rig_read(&rig, 2, 1), NW_OK);
    assert_int_equal(lavish_rig_read(&rig, 4, 4), NW_OK);
    assert_int_equal(lavish_rig_read(&rig, 1, 1), NW_ERR_ECC);
    write_times(2, 40);
    assert_int_equal(lavish_rig_write(&rig, 0, 4), NW_OK);
    lavish_rig_read_all(&rig);
    lavish_rig_close(&rig);
}

/* Goal: a broken transport, at any request of any kind, leaves old content where the write failed
 * and the device fit to go on. */
static void any_io_error_is_survived(void **state)
{
    static const uint8_t verbs[] = {NW_VERB_READ, NW_VERB_PROGRAM, NW_VERB_ERASE};
    struct lavish_shape shape = tiny;
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
        cmocka_unit_test(blank_is_zeros),
        cmocka_unit_test(merge_1_erases),
        cmocka_unit_test(switch_starts_a_log),
        cmocka_unit_test(merge_2_appends),
        cmocka_unit_test(merge_3_gathers),
        cmocka_unit_test(maps_travel),
        cmocka_unit_test(a_full_block_still_takes_its_map),
        cmocka_unit_test(trim_makes_merges_cheap),
        cmocka_unit_test(erase_late_and_idle),
        cmocka_unit_test(idle_merges_ahead),
        cmocka_unit_test(a_failed_program_loses_nothing),
        cmocka_unit_test(a_lavish_block_given_up_feeds_the_spares),
        cmocka_unit_test(bad_blocks_at_open),
        cmocka_unit_test(an_unreadable_sector_is_told),
        cmocka_unit_test(a_read_error_is_passed_on),
        cmocka_unit_test(an_unreadable_map_is_told),
        cmocka_unit_test(any_io_error_is_survived),
        cmocka_unit_test(trim_minds_the_map),
        cmocka_unit_test(a_failed_program_in_the_log),
        cmocka_unit_test(no_place_left),
        cmocka_unit_test(a_victim_that_needs_no_free_block),
        cmocka_unit_test(a_small_chip_has_a_spare),
        cmocka_unit_test(wear_is_spread),
        cmocka_unit_test(a_log_taken_ahead),
        cmocka_unit_test(golden_counts),
        cmocka_unit_test(space_arithmetic),
        cmocka_unit_test(shapes_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The lavish layer step by step: each way of making room with its exact counts. What it does when
 * blocks fail or pages cannot be read: test_lavish_failures.c. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

#include "lavish_rig.h"
#include "nandwich-twin/parts.h"

static struct lavish_rig rig;

/* Goal: a new device reads zeros without a look at the chip, and trims for nothing. */
static void blank_is_zeros(void **state)
{
    (void)state;
    assert_int_equal(lavish_rig_open(&rig, &lavish_shape_tiny, 0, 1), NW_OK);
    lavish_rig_read_all(&rig);
    assert_int_equal(lavish_rig_trim(&rig, 0, 8), NW_OK);
    lavish_rig_expect(&rig, "read 0 program 0 erase 0 copy 0 map 0/0 switch 0 I 0 II 0 III 0");
    lavish_rig_repeat(&rig, 5, 1);
    lavish_rig_expect(&rig, "read 0 program 1 erase 1 copy 0 map 0/0 switch 0 I 0 II 0 III 0");
    lavish_rig_finish(&rig);
}

/* Goal: a data block without a valid sector is erased at once, nothing is copied. */
static void merge_1_erases(void **state)
{
    (void)state;
    assert_int_equal(lavish_rig_open(&rig, &lavish_shape_tiny, 0, 1), NW_OK);
    lavish_rig_repeat(&rig, 0, 8); /* the data block is full, its last sector valid */
    lavish_rig_expect(&rig, "read 0 program 8 erase 2 copy 0 map 0/0 switch 0 I 0 II 0 III 0");
    lavish_rig_repeat(&rig, 0, 1); /* entering the log: 1 erase; the merge: 2 */
    lavish_rig_expect(&rig, "read 0 program 9 erase 5 copy 0 map 0/0 switch 0 I 1 II 0 III 0");
    lavish_rig_finish(&rig);
}

/* Goal: when both blocks are full the valid rest of the data block starts a new log. The last
 * sector is kept for the map, so 7 writes go to the log, not 8. */
static void switch_starts_a_log(void **state)
{
    (void)state;
    assert_int_equal(lavish_rig_open(&rig, &lavish_shape_tiny, 0, 1), NW_OK);
    lavish_rig_repeat(&rig, 1, 1);
    lavish_rig_repeat(&rig, 0, 13);
    lavish_rig_repeat(&rig, 2, 1);
    lavish_rig_expect(&rig, "read 0 program 15 erase 4 copy 0 map 0/0 switch 0 I 0 II 0 III 0");
    lavish_rig_repeat(&rig, 0, 1); /* copy sector 1: enter a block, then 2 erases */
    lavish_rig_expect(&rig, "read 1 program 17 erase 7 copy 1 map 0/0 switch 1 I 0 II 0 III 0");
    assert_int_equal(rig.lavish.logical[0].valid, 1); /* sector 2, in the old log */
    assert_int_equal(rig.lavish.logical[0].next, 10);
    lavish_rig_finish(&rig);
}

/* Goal: when lavish blocks run low and the victim's log has room, its data block's rest goes there.
 * The victim is the logical block with the fewest valid sectors in its data block. */
static void merge_2_appends(void **state)
{
    (void)state;
    assert_int_equal(lavish_rig_open(&rig, &lavish_shape_tiny, 0, 1), NW_OK);
    assert_int_equal(lavish_rig_write(&rig, 0, 3), NW_OK);
    lavish_rig_repeat(&rig, 3, 6); /* 8 in the data block, 3 of them valid, and 1 in the log */
    assert_int_equal(rig.lavish.logical[0].valid, 3);
    lavish_rig_repeat(&rig, 4, 7);
    lavish_rig_expect(&rig, "read 0 program 16 erase 5 copy 0 map 0/0 switch 0 I 0 II 0 III 0");
    assert_int_equal(rig.lavish.free, 1);
    lavish_rig_repeat(&rig, 4, 1); /* wants a log: 3 copies, 2 erases */
    lavish_rig_expect(&rig, "read 3 program 20 erase 7 copy 3 map 0/0 switch 0 I 0 II 1 III 0");
    assert_int_equal(rig.lavish.free, 1);
    assert_int_equal(rig.lavish.logical[0].log, NW_LAVISH_NONE);
    assert_int_equal(rig.lavish.logical[0].valid, 4);
    lavish_rig_finish(&rig);
}

/* Goal: without that room both blocks go to a fresh one. */
static void merge_3_gathers(void **state)
{
    (void)state;
    assert_int_equal(lavish_rig_open(&rig, &lavish_shape_tiny, 0, 1), NW_OK);
    assert_int_equal(lavish_rig_write(&rig, 0, 3), NW_OK);
    lavish_rig_repeat(&rig, 3, 10); /* 5 in the log: 3 have room there, the rest without the map */
    lavish_rig_repeat(&rig, 4, 7);
    lavish_rig_expect(&rig, "read 0 program 20 erase 6 copy 0 map 0/0 switch 0 I 0 II 0 III 0");
    lavish_rig_repeat(&rig, 4, 1); /* 4 copies into a block that is entered, 4 erases */
    lavish_rig_expect(&rig, "read 4 program 25 erase 11 copy 4 map 0/0 switch 0 I 0 II 0 III 1");
    assert_int_equal(rig.lavish.free, 1);
    lavish_rig_finish(&rig);
}

/* Goal: a map that leaves RAM is written to its own logical block and read back from there. */
static void maps_travel(void **state)
{
    struct lavish_shape shape = lavish_shape_tiny;

    (void)state;
    shape.lavish.maps = 1;
    assert_int_equal(lavish_rig_open(&rig, &shape, 0, 1), NW_OK);
    lavish_rig_repeat(&rig, 0, 1);
    lavish_rig_repeat(&rig, 4, 1); /* the map of 0..3 leaves: 1 program */
    lavish_rig_expect(&rig, "read 0 program 3 erase 2 copy 0 map 0/1 switch 0 I 0 II 0 III 0");
    assert_int_equal(lavish_rig_read(&rig, 0, 1), NW_OK); /* and 4..7 leaves */
    lavish_rig_expect(&rig, "read 2 program 4 erase 2 copy 0 map 1/2 switch 0 I 0 II 0 III 0");
    assert_int_equal(lavish_rig_read(&rig, 4, 1), NW_OK); /* unchanged maps just go */
    lavish_rig_expect(&rig, "read 4 program 4 erase 2 copy 0 map 2/2 switch 0 I 0 II 0 III 0");
    lavish_rig_finish(&rig);
}

/* Goal: the sector kept for the map is there when the map leaves at the worst moment: data block
 * and log full. */
static void a_full_block_still_takes_its_map(void **state)
{
    struct lavish_shape shape = lavish_shape_tiny;

    (void)state;
    shape.lavish.maps = 1;
    assert_int_equal(lavish_rig_open(&rig, &shape, 0, 1), NW_OK);
    lavish_rig_repeat(&rig, 1, 1);
    lavish_rig_repeat(&rig, 0, 13);
    lavish_rig_repeat(&rig, 2, 1);
    assert_int_equal(lavish_rig_read(&rig, 4, 1), NW_OK); /* blank: no map needed */
    lavish_rig_repeat(&rig, 4, 1);
    lavish_rig_expect(&rig, "read 0 program 17 erase 5 copy 0 map 0/1 switch 0 I 0 II 0 III 0");
    assert_int_equal(rig.lavish.logical[0].next, 16);
    lavish_rig_repeat(&rig, 0, 1); /* back in: map program, map read, then a switch */
    lavish_rig_expect(&rig, "read 2 program 20 erase 8 copy 1 map 1/2 switch 1 I 0 II 0 III 0");
    lavish_rig_finish(&rig);
}

/* Goal: trimmed sectors read zeros, need no copy, and free a data block like overwritten ones. */
static void trim_makes_merges_cheap(void **state)
{
    (void)state;
    assert_int_equal(lavish_rig_open(&rig, &lavish_shape_tiny, 0, 1), NW_OK);
    lavish_rig_repeat(&rig, 1, 1);
    lavish_rig_repeat(&rig, 0, 8);
    assert_int_equal(lavish_rig_trim(&rig, 1, 1), NW_OK);
    lavish_rig_expect(&rig, "read 0 program 9 erase 5 copy 0 map 0/0 switch 0 I 1 II 0 III 0");
    assert_int_equal(lavish_rig_trim(&rig, 0, 4), NW_OK);
    lavish_rig_expect(&rig, "read 0 program 9 erase 5 copy 0 map 0/0 switch 0 I 1 II 0 III 0");
    lavish_rig_finish(&rig);
}

/* Goal: a trim that changes nothing leaves the map clean; one that does keeps room for the map. */
static void trim_minds_the_map(void **state)
{
    struct lavish_shape shape = lavish_shape_tiny;

    (void)state;
    shape.lavish.maps = 1;
    assert_int_equal(lavish_rig_open(&rig, &shape, 0, 1), NW_OK);
    lavish_rig_repeat(&rig, 1, 1);
    lavish_rig_repeat(&rig, 0, 13);
    lavish_rig_repeat(&rig, 2, 1);
    lavish_rig_repeat(&rig, 4, 1); /* the map of 0..3 goes to the last sector of its log */
    assert_int_equal(lavish_rig_trim(&rig, 3, 1), NW_OK); /* blank: but room is made for a change */
    lavish_rig_expect(&rig, "read 2 program 19 erase 8 copy 1 map 1/2 switch 1 I 0 II 0 III 0");
    assert_int_equal(lavish_rig_read(&rig, 4, 1), NW_OK);
    assert_int_equal(lavish_rig_trim(&rig, 3, 1), NW_OK);
    assert_int_equal(lavish_rig_read(&rig, 4, 1), NW_OK);
    lavish_rig_expect(&rig, "read 7 program 20 erase 8 copy 1 map 4/3 switch 1 I 0 II 0 III 0");
    lavish_rig_finish(&rig);
}

/* Goal: late erasing moves erases out of merges; idle time takes them, in steps that fit. */
static void erase_late_and_idle(void **state)
{
    struct lavish_shape shape = lavish_shape_tiny;
    struct nw_block_req req = {.block = &rig.lavish.block};

    (void)state;
    shape.lavish.erase_late = 1;
    assert_int_equal(lavish_rig_open(&rig, &shape, 0, 1), NW_OK);
    rig.chip->geometry.erase_us = 1000;
    lavish_rig_repeat(&rig, 0, 9);
    lavish_rig_expect(&rig, "read 0 program 9 erase 3 copy 0 map 0/0 switch 0 I 1 II 0 III 0");
    req.budget_us = 1999; /* a lavish block is two erases */
    assert_int_equal(nw_block_idle(&req), 1);
    assert_int_equal(rig.lavish.stats.erases, 3);
    req.budget_us = 2000;
    assert_int_equal(nw_block_idle(&req), 1);
    assert_int_equal(rig.lavish.stats.erases, 5);
    assert_int_equal(nw_block_idle(&req), 0);
    assert_int_equal(rig.lavish.stats.erases, 5);
    lavish_rig_repeat(&rig, 4, 7); /* into the block erased ahead */
    assert_int_equal(rig.lavish.stats.erases, 5);
    lavish_rig_finish(&rig);
}

/* Goal: idle merges ahead, so that the next write that wants a log does not wait for it. */
static void idle_merges_ahead(void **state)
{
    struct nw_block_req req = {.block = &rig.lavish.block};

    (void)state;
    assert_int_equal(lavish_rig_open(&rig, &lavish_shape_tiny, 0, 1), NW_OK);
    rig.chip->geometry.erase_us = 1000;
    rig.chip->geometry.read_us = 10;
    rig.chip->geometry.program_us = 100;
    assert_int_equal(lavish_rig_write(&rig, 0, 3), NW_OK);
    lavish_rig_repeat(&rig, 3, 6);
    lavish_rig_repeat(&rig, 4, 7);
    req.budget_us = 5549; /* 4 copies, a map read and one written, 5 erases at worst */
    assert_int_equal(nw_block_idle(&req), 1); /* erases the next lavish block first */
    assert_int_equal(rig.lavish.stats.erases, 7);
    assert_int_equal(nw_block_idle(&req), 1);
    assert_int_equal(rig.lavish.stats.copies, 0);
    req.budget_us = 5550;
    assert_int_equal(nw_block_idle(&req), 1);
    lavish_rig_expect(&rig, "read 3 program 19 erase 9 copy 3 map 0/0 switch 0 I 0 II 1 III 0");
    assert_int_equal(rig.lavish.free, 2);
    lavish_rig_finish(&rig);
}

/* Goal: a chip of few blocks has a spare block too, where there is one to spare. */
static void a_small_chip_has_a_spare(void **state)
{
    struct lavish_shape shape = lavish_shape_tiny;

    (void)state;
    shape.blocks = 24;
    shape.lavish.sectors = 20; /* 5 logical blocks: 12 lavish blocks would take all */
    shape.lavish.lavish_blocks = 0;
    assert_int_equal(lavish_rig_open(&rig, &shape, 0, 1), NW_OK);
    assert_int_equal(rig.lavish.lavish_count, 11);
    assert_int_equal(rig.lavish.spare, 22);
    lavish_rig_finish(&rig);
}

/* Goal: lavish blocks take turns, so that one busy logical block wears all of them alike. */
static void wear_is_spread(void **state)
{
    struct lavish_shape shape = lavish_shape_tiny;
    uint32_t block;
    uint32_t least = 0xFFFFFFFFU;
    uint32_t most = 0;

    (void)state;
    shape.lavish.lavish_blocks = 8;
    assert_int_equal(lavish_rig_open(&rig, &shape, 0, 1), NW_OK);
    lavish_rig_repeat(&rig, 0, 4000);
    for (block = 0; block < 16; block++) {
        uint32_t erases = nw_nand_block_erases(rig.nand, block);

        least = erases < least ? erases : least;
        most = erases > most ? erases : most;
    }
    assert_true(least > 50 && most - least <= 2);
    lavish_rig_finish(&rig);
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
        lavish_rig_expect(&rig, golden[i].counts);
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
                     64 * 10 + 4 * (4 + 128) + (124 * 8 / 32 + 1 + 8) * 4 + 124 + 1023 / 8 + 1);
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
    struct lavish_shape shape = lavish_shape_tiny;

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
        cmocka_unit_test(trim_minds_the_map),
        cmocka_unit_test(a_small_chip_has_a_spare),
        cmocka_unit_test(wear_is_spread),
        cmocka_unit_test(golden_counts),
        cmocka_unit_test(space_arithmetic),
        cmocka_unit_test(shapes_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: clock, energy and counters are exact for a fixed script on each kind of part, and the
 * DataFlash's buffers work as chip.h and nand.h say.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "nand_rig.h"

static void expect_bill(struct nand_rig *rig, uint64_t time_ns, uint64_t energy_pj)
{
    assert_int_equal(nw_nand_meter(rig->nand)->time_ns, time_ns);
    assert_int_equal(nw_nand_meter(rig->nand)->energy_pj, energy_pj);
}

/* Capsule's own figures: writing and reading 512 B, chip alone, then chip and CPU. */
static void capsule_page(void **state)
{
    struct nand_rig rig;

    (void)state;
    rig_open(&rig, "TC58DVG02A1FT00", 0);
    assert_int_equal(rig_program(&rig, 0, 0, 512, 0, 0), NW_OK);
    expect_bill(&rig, 238000 + 512 * 1530, 13200000 + 512 * 20200);
    assert_int_equal(rig_read(&rig, 0, 512, 0), 0);
    expect_bill(&rig, 238000 + 512 * 1530 + 32000 + 512 * 1761,
                13200000 + 512 * 20200 + 1073000 + 512 * 32200);
    rig_close_clean(&rig);
    rig_open(&rig, "TC58DVG02A1FT00", NW_NAND_NODE_COSTS);
    assert_int_equal(rig_program(&rig, 0, 0, 512, 0, 8), NW_OK);
    expect_bill(&rig, 274000 + 520 * 1577, 24540000 + 520 * 96200);
    assert_int_equal(rig_erase(&rig, 0), NW_OK);
    expect_bill(&rig, 274000 + 520 * 1577 + 2000000, 24540000 + 520 * 96200 + 114000000);
    rig_close_clean(&rig);
}

static void every_counter(void **state)
{
    struct nand_rig rig;
    const struct nw_nand_counts *stats;

    (void)state;
    rig_open(&rig, "K9F1G08U0A", 0);
    assert_int_equal(rig_program(&rig, 0, 0, 2048, 0, 62), NW_OK);
    assert_int_equal(rig_program(&rig, 1, 0, 512, 0, 0), NW_OK);
    assert_int_equal(rig_read(&rig, 0, 100, 10), 0);
    assert_int_equal(rig_read(&rig, 9, 0, 14), 0);
    rig.req.page = 0;
    rig.req.to_page = 64;
    assert_int_equal(nw_chip_copy(&rig.req), NW_OK);
    assert_int_equal(rig_erase(&rig, 0), NW_OK);
    stats = nw_nand_stats(rig.nand);
    assert_int_equal(stats->programs, 2);
    assert_int_equal(stats->reads, 2);
    assert_int_equal(stats->copies, 1);
    assert_int_equal(stats->erases, 1);
    assert_int_equal(stats->bytes_read, 124);
    assert_int_equal(stats->bytes_programmed, 2110 + 512 + 14);
    assert_int_equal(nw_nand_operations(rig.nand), 6);
    expect_bill(&rig, 2 * 200000 + 2622 * 30 + 2 * 25000 + 124 * 30 + 225000 + 14 * 30 + 2000000,
                2 * 9900000 + 2622 * 1485 + 2 * 1237500 + 124 * 1485 + 11137500 + 14 * 1485 +
                    99000000);
    assert_int_equal(nw_nand_block_erases(rig.nand, 0), 1);
    assert_int_equal(nw_nand_page_programs(rig.nand, 64), 1);
    assert_int_equal(nw_nand_page_programs(rig.nand, 0), 0);
    assert_int_equal(nw_nand_page_lifetime(rig.nand, 0), 1);
    rig_close_clean(&rig);
}

static void misuse_is_free(void **state)
{
    struct nand_rig rig;

    (void)state;
    rig_open(&rig, "K9F1G08U0A", 0);
    assert_int_equal(rig_read(&rig, 0, 100, 0), NW_ERR_UNWRITTEN);
    expect_bill(&rig, 0, 0);
    assert_int_equal(nw_nand_stats(rig.nand)->reads, 0);
    nw_nand_close(rig.nand);
}

static void fractions_round_up_once_a_call(void **state)
{
    struct nand_rig rig;

    (void)state;
    rig_open(&rig, "W25N01GV", 0);
    assert_int_equal(rig_program(&rig, 0, 0, 512, 0, 0), NW_OK); /* 512 x 19.231 ns = 9846.272 */
    expect_bill(&rig, 250000 + 9847, 20625000 + 512 * 1587);
    rig_close_clean(&rig);
}

static void one_meter_for_two_parts(void **state)
{
    struct nw_part part;
    struct nw_meter meter = { 0, 0 };
    struct nw_nand_config config = { .part = &part, .blocks = 2, .meter = &meter };
    struct nand_rig nor;
    struct nand_rig nand;
    struct nw_nand *fork;

    (void)state;
    assert_int_equal(nw_parts_get("W25Q128JV", &part), NW_OK);
    rig_open_config(&nor, &config);
    assert_int_equal(nw_parts_get("K9F1G08U0A", &part), NW_OK);
    rig_open_config(&nand, &config);
    assert_int_equal(rig_erase(&nor, 0), NW_OK);
    assert_int_equal(rig_erase(&nand, 0), NW_OK);
    assert_int_equal(meter.time_ns, 45000000 + 2000000);
    assert_int_equal(meter.energy_pj, 2970000000ULL + 99000000);
    assert_int_equal(nw_nand_fork(&fork, nand.nand), NW_OK); /* its own meter, from here on */
    assert_int_equal(nw_nand_meter(fork)->time_ns, 47000000);
    rig_close_clean(&nand);
    rig_use(&nand, fork);
    assert_int_equal(rig_erase(&nand, 0), NW_OK);
    assert_int_equal(nw_nand_meter(fork)->time_ns, 49000000);
    assert_int_equal(meter.time_ns, 47000000);
    rig_close_clean(&nor);
    rig_close_clean(&nand);
}

static void geometry_tells_typical_times(void **state)
{
    struct nand_rig rig;

    (void)state;
    rig_open(&rig, "K9F1G08U0A", 0);
    assert_int_equal(rig.req.chip->geometry.read_us, 89); /* 25 + 2110 x 0.03, rounded up */
    assert_int_equal(rig.req.chip->geometry.program_us, 264);
    assert_int_equal(rig.req.chip->geometry.erase_us, 2000);
    assert_int_equal(nw_geometry_check(&rig.req.chip->geometry), NW_OK);
    rig_close_clean(&rig);
}

/* ViMem's measured page times on the Mica2: 3.6 ms read, 16.3 ms written. */
static void mica2_page_times(void **state)
{
    struct nand_rig rig;

    (void)state;
    rig_open(&rig, "AT45DB041B", NW_NAND_NODE_COSTS);
    assert_int_equal(rig_program(&rig, 0, 0, 264, 0, 0), NW_OK);
    nw_nand_meter(rig.nand)->time_ns = 0;
    assert_int_equal(rig_read(&rig, 0, 264, 0), 0);
    assert_int_equal(nw_nand_meter(rig.nand)->time_ns, 3600000);
    nw_nand_meter(rig.nand)->time_ns = 0;
    rig.req.offset = 0;
    rig.req.length = 264;
    assert_int_equal(nw_chip_buffer_write(&rig.req), NW_OK);
    assert_int_equal(nw_chip_buffer_program(&rig.req), NW_OK);
    assert_int_equal(nw_nand_meter(rig.nand)->time_ns, 16300000);
    rig_close_clean(&rig);
}

static void dataflash_buffers(void **state)
{
    struct nand_rig rig;
    const struct nw_nand_counts *stats;

    (void)state;
    rig_open(&rig, "AT45DB041B", 0);
    stats = nw_nand_stats(rig.nand);
    assert_int_not_equal(rig.req.chip->geometry.flags & NW_CHIP_REWRITE, 0);
    assert_int_equal(rig_read(&rig, 3, 264, 0), 0); /* erased data may be read */
    assert_int_equal(rig.data[0], 0xFF);
    rig_fill(&rig, 0x11, 0);
    rig.req.offset = 0;
    rig.req.length = 264;
    rig.req.buffer = 1;
    rig.req.page = 3;
    assert_int_equal(nw_chip_buffer_write(&rig.req), NW_OK);
    assert_int_equal(nw_chip_buffer_program(&rig.req), NW_OK); /* an erased page: no erase */
    assert_int_equal(stats->buffer_rewrites, 0);
    rig.data[0] = 0x22;
    rig.req.offset = 7;
    rig.req.length = 1;
    assert_int_equal(nw_chip_buffer_write(&rig.req), NW_OK);
    assert_int_equal(nw_chip_buffer_program(&rig.req), NW_OK); /* in use: erases the page first */
    assert_int_equal(stats->buffer_rewrites, 1);
    assert_int_equal(stats->buffer_programs, 2);
    assert_int_equal(nw_nand_page_lifetime(rig.nand, 3), 2);
    assert_int_equal(nw_nand_block_erases(rig.nand, 0), 0);
    assert_int_equal(rig_read(&rig, 3, 264, 0), 0);
    assert_int_equal(rig.data[6], 0x11);
    assert_int_equal(rig.data[7], 0x22);
    rig.req.buffer = 0;
    assert_int_equal(nw_chip_buffer_load(&rig.req), NW_OK);
    rig_fill(&rig, 0, 0);
    assert_int_equal(nw_chip_buffer_read(&rig.req), NW_OK);
    assert_int_equal(rig.data[7], 0x22);
    assert_int_equal(rig_program(&rig, 3, 0, 264, 0, 0), NW_ERR_PROGRAMS); /* plain: no rewrite */
    rig_expect_misuse(&rig, NW_ERR_PROGRAMS, NW_VERB_PROGRAM, 3);
    rig.req.buffer = 2;
    assert_int_equal(nw_chip_buffer_read(&rig.req), NW_ERR_RANGE);
    rig_close_clean(&rig);
}

/* A plain program of a DataFlash goes through the last buffer, whose content is lost. */
static void program_takes_the_last_buffer(void **state)
{
    struct nand_rig rig;

    (void)state;
    rig_open(&rig, "AT45DB041B", 0);
    rig.req.offset = 0;
    rig.req.length = 264;
    for (uint8_t buffer = 0; buffer < 2; buffer++) {
        rig_fill(&rig, (uint8_t)(0x10 + buffer), 0);
        rig.req.buffer = buffer;
        assert_int_equal(nw_chip_buffer_write(&rig.req), NW_OK);
    }
    rig_fill(&rig, 0x77, 0);
    assert_int_equal(rig_program(&rig, 0, 0, 264, 0, 0), NW_OK);
    rig.req.buffer = 0;
    assert_int_equal(nw_chip_buffer_read(&rig.req), NW_OK);
    assert_int_equal(rig.data[3], 0x10);
    rig.req.buffer = 1;
    assert_int_equal(nw_chip_buffer_read(&rig.req), NW_OK);
    assert_int_equal(rig.data[3], 0x77);
    rig_close_clean(&rig);
}

static void buffers_die_with_power(void **state)
{
    struct nand_rig rig;
    struct nw_cut cut = { .after = 0, .phase = NW_CUT_INSIDE, .data = NW_TORN_RANDOM };
    uint32_t kept = 0;

    (void)state;
    rig_open(&rig, "AT45DB041B", 0);
    assert_int_equal(rig_program(&rig, 5, 0, 264, 0, 0), NW_OK);
    rig_fill(&rig, 0x11, 0);
    assert_int_equal(nw_chip_buffer_write(&rig.req), NW_OK);
    nw_nand_cut(rig.nand, &cut);
    assert_int_equal(nw_chip_buffer_program(&rig.req), NW_ERR_POWER); /* torn rewrite of page 5 */
    nw_nand_power_up(rig.nand);
    assert_int_equal(nw_chip_buffer_read(&rig.req), NW_OK);
    for (uint32_t i = 0; i < 264; i++) {
        kept += rig.data[i] == 0x11;
    }
    assert_in_range(kept, 0, 20);
    assert_int_equal(rig_read(&rig, 5, 264, 0), 0);
    kept = 0;
    for (uint32_t i = 0; i < 264; i++) { /* neither old nor new: the page's erase was under way */
        kept += rig.data[i] == 0x11 || rig.data[i] == 0xA5;
    }
    assert_in_range(kept, 0, 30);
    assert_int_equal(nw_chip_buffer_program(&rig.req), NW_OK); /* a rewrite heals the page */
    rig_close_clean(&rig);
}

/* A torn rewrite may show bits that are neither old nor new, whatever was to be written. */
static void a_torn_rewrite_can_be_noise(void **state)
{
    uint32_t noisy = 0;

    (void)state;
    for (uint32_t seed = 0; seed < 100; seed++) {
        struct nw_part part;
        struct nw_nand_config config = { .part = &part, .blocks = 2, .seed = seed };
        struct nw_cut cut = { .phase = NW_CUT_INSIDE };
        struct nand_rig rig;

        assert_int_equal(nw_parts_get("AT45DB041B", &part), NW_OK);
        rig_open_config(&rig, &config);
        rig_fill(&rig, 0xFF, 0);
        assert_int_equal(rig_program(&rig, 0, 0, 264, 0, 0), NW_OK);
        assert_int_equal(nw_chip_buffer_write(&rig.req), NW_OK);
        nw_nand_cut(rig.nand, &cut);
        assert_int_equal(nw_chip_buffer_program(&rig.req), NW_ERR_POWER);
        nw_nand_power_up(rig.nand);
        assert_int_equal(rig_read(&rig, 0, 264, 0), 0);
        noisy += rig.data[0] != 0xFF || rig.data[1] != 0xFF || rig.data[2] != 0xFF;
        rig_close_clean(&rig);
    }
    assert_in_range(noisy, 5, 30); /* one face of six */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(capsule_page),
        cmocka_unit_test(every_counter),
        cmocka_unit_test(misuse_is_free),
        cmocka_unit_test(fractions_round_up_once_a_call),
        cmocka_unit_test(one_meter_for_two_parts),
        cmocka_unit_test(geometry_tells_typical_times),
        cmocka_unit_test(mica2_page_times),
        cmocka_unit_test(dataflash_buffers),
        cmocka_unit_test(program_takes_the_last_buffer),
        cmocka_unit_test(buffers_die_with_power),
        cmocka_unit_test(a_torn_rewrite_can_be_noise),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

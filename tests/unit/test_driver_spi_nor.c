/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: the driver of serial NOR takes its shape from SFDP and proves it by the id, keeps the chip
 * contract, tells failures as each maker's part does, never asks a busy part for anything, and the
 * store on it survives power cuts at any byte of the bus.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "driver_trials.h"
#include "nandwich/bytes.h"
#include "nandwich/driver_spi_nor.h"
#include "spi_nor_model.h"

struct rig {
    struct spi_nor_model model;
    struct nw_spi_nor nor;
};

static const struct spi_nor_kind w25q128 = {{0xEF, 0x40, 0x18}, 24, 16, 0, 0, 0, 0, 0};
static const struct spi_nor_kind w25q256 = {{0xEF, 0x40, 0x19}, 25, 16, 0x21, 0, 0, 0, 0};
/* Found with QEMU's model, which has the bytes of a real part: a table of nine words. */
static const struct spi_nor_kind w25q256fv = {{0xEF, 0x40, 0x19}, 25, 9, 1, 0, 0, 0, 0};
static const struct spi_nor_kind w25q512 = {{0xEF, 0x40, 0x20}, 26, 16, 0x22, 0, 0, 0, 0};
static const struct spi_nor_kind mx25l64 = {{0xC2, 0x20, 0x17}, 23, 9, 0, 0x2B, 0x20, 0x40, 0};
static const struct spi_nor_kind is25lp = {{0x9D, 0x60, 0x18}, 24, 16, 0, 0x81, 0x04, 0x08, 0x82};
static const struct spi_nor_kind n25q = {{0x20, 0xBA, 0x18}, 24, 16, 0, 0x70, 0x10, 0x20, 0x50};
static const struct spi_nor_kind small = {{0xEF, 0x40, 0x13}, 19, 16, 0, 0, 0, 0, 0};

static int open_rig(struct rig *rig, const struct spi_nor_kind *kind)
{
    memset(rig, 0, sizeof *rig);
    spi_nor_model_open(&rig->model, kind, 3);
    return nw_spi_nor_open(&rig->nor, &rig->model.spi.spi, NULL);
}

static struct nw_chip_req request(struct rig *rig, uint32_t block)
{
    static uint8_t data[256];

    memset(data, 0x5A, sizeof data);
    return (struct nw_chip_req){.chip = &rig->nor.chip, .page = block * 16U, .block = block,
                                .length = 256, .data = data};
}

static void each_part_tells_its_shape(void **state)
{
    const struct spi_nor_kind *kinds[] = {&w25q128, &w25q256, &w25q256fv, &w25q512,
                                          &mx25l64, &is25lp,  &n25q};
    struct rig rig;

    (void)state;
    for (uint32_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        const struct nw_geometry *geometry = &rig.nor.chip.geometry;
        bool timed = kinds[i]->dwords == 16;

        assert_int_equal(open_rig(&rig, kinds[i]), NW_OK);
        assert_int_equal(geometry->blocks, 1U << (kinds[i]->size - 12U));
        assert_int_equal(geometry->block_pages, 16);
        assert_int_equal(geometry->page_bytes, 256);
        assert_int_equal(geometry->spare_bytes, 0);
        assert_int_equal(geometry->page_programs, NW_PROGRAMS_UNLIMITED);
        assert_int_equal(geometry->erase_us, timed ? 48000 : 45000);
        assert_int_equal(geometry->program_us, (timed ? 384 : 400) + 102);
        assert_int_equal(rig.nor.address_bytes, kinds[i]->size > 24 ? 4 : 3);
        driver_trial_verbs(&rig.nor.chip, 0, 3, i);
        driver_trial_verbs(&rig.nor.chip, geometry->blocks - 2U, 2, i);
        spi_nor_model_close(&rig.model);
    }
}

static void parts_that_do_not_fit(void **state)
{
    struct spi_nor_kind kind = w25q128;
    static const struct nw_spi_nor_maker other = {0xC2, 0x2B, 0x20, 0x40, 0, 0x3C};
    struct rig rig;

    (void)state;
    kind.dwords = 0;
    assert_int_equal(open_rig(&rig, &kind), NW_ERR_UNSUPPORTED);
    spi_nor_model_close(&rig.model);
    memset(kind.id, 0xFF, 3);
    assert_int_equal(open_rig(&rig, &kind), NW_ERR_NOT_FOUND);
    spi_nor_model_close(&rig.model);
    memset(kind.id, 0, 3);
    assert_int_equal(open_rig(&rig, &kind), NW_ERR_NOT_FOUND);
    spi_nor_model_close(&rig.model);
    kind = w25q256;
    kind.ways = 0;
    assert_int_equal(open_rig(&rig, &kind), NW_ERR_UNSUPPORTED);
    spi_nor_model_close(&rig.model);

    /* A maker that nobody knows: by SFDP alone, whatever the third byte is. */
    kind = (struct spi_nor_kind){{0xBF, 0x26, 0x43}, 23, 16, 0, 0, 0, 0, 0};
    assert_int_equal(open_rig(&rig, &kind), NW_OK);
    assert_null(rig.nor.maker);
    driver_trial_verbs(&rig.nor.chip, 5, 1, 1);
    spi_nor_model_close(&rig.model);

    assert_int_equal(open_rig(&rig, &w25q128), NW_OK);
    assert_int_equal(nw_spi_nor_open(&rig.nor, &rig.model.spi.spi, &other), NW_ERR_CONFIG);
    /* SFDP and id tell different sizes. */
    rig.model.told_size = 23;
    spi_nor_model_power_up(&rig.model);
    assert_int_equal(nw_spi_nor_open(&rig.nor, &rig.model.spi.spi, NULL), NW_ERR_CONFIG);
    rig.model.told_size = 0;
    spi_nor_model_power_up(&rig.model);
    /* Pages of one byte in blocks of 64 KiB, which opened with 0 pages a block; no way to erase. */
    rig.model.sfdp[0x80 + 40] = 0;
    nw_put32(rig.model.sfdp + 0x80 + 28, 0xFF00D810);
    nw_put32(rig.model.sfdp + 0x80 + 32, 0);
    assert_int_equal(nw_spi_nor_open(&rig.nor, &rig.model.spi.spi, NULL), NW_ERR_UNSUPPORTED);
    nw_put32(rig.model.sfdp + 0x80 + 28, 0);
    assert_int_equal(nw_spi_nor_open(&rig.nor, &rig.model.spi.spi, NULL), NW_ERR_UNSUPPORTED);
    spi_nor_model_close(&rig.model);
}

/* Parts with small sectors at one end erase 4 KiB there alone. They were taken as uniform: each
 * erase elsewhere did nothing, or took 64 KiB. */
static void a_part_of_two_sector_sizes(void **state)
{
    struct rig rig;

    (void)state;
    assert_int_equal(open_rig(&rig, &w25q128), NW_OK);
    rig.model.hybrid = true;
    spi_nor_model_power_up(&rig.model);
    assert_int_equal(nw_spi_nor_open(&rig.nor, &rig.model.spi.spi, NULL), NW_ERR_UNSUPPORTED);
    /* The same words on a part that erases no 4 KiB anywhere: 64 KiB it is. */
    nw_put32(rig.model.sfdp + 0x80 + 28, 0x0000D810);
    nw_put32(rig.model.sfdp + 0x80 + 32, 0);
    assert_int_equal(nw_spi_nor_open(&rig.nor, &rig.model.spi.spi, NULL), NW_OK);
    assert_int_equal(rig.nor.chip.geometry.block_pages, 256);
    spi_nor_model_close(&rig.model);
}

/* Bits 2 to 5 were taken for protection with every maker. Micron has its BP3 in bit 6, and in bit 5
 * from which end the blocks are counted. */
static void protection_as_each_maker_means_it(void **state)
{
    static const struct spi_nor_kind nobody = {{0xBF, 0x26, 0x43}, 23, 16, 0, 0, 0, 0, 0};
    static const struct {
        const struct spi_nor_kind *kind;
        uint8_t bits;
    } rows[] = {{&w25q128, 0x3C}, {&mx25l64, 0x3C}, {&is25lp, 0x3C}, {&n25q, 0x5C},
                {&nobody, 0x3C}};
    struct rig rig;

    (void)state;
    for (uint32_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(open_rig(&rig, rows[i].kind), NW_OK);
        for (uint8_t bit = 4; bit < 0x80; bit = (uint8_t)(bit << 1)) {
            rig.model.status = bit;
            assert_int_equal(nw_spi_nor_open(&rig.nor, &rig.model.spi.spi, NULL),
                             (rows[i].bits & bit) != 0 ? NW_ERR_CONFIG : NW_OK);
        }
        rig.model.status = 0;
        spi_nor_model_close(&rig.model);
    }
}

/* A register of failures that reads FF is none: older parts of a maker have not got it. */
static void a_part_without_its_makers_register(void **state)
{
    struct rig rig;
    struct nw_chip_req req;

    (void)state;
    assert_int_equal(open_rig(&rig, &mx25l64), NW_OK);
    rig.model.no_register = true;
    req = request(&rig, 9);
    assert_int_equal(nw_chip_erase(&req), NW_OK);
    assert_int_equal(nw_chip_program(&req), NW_OK);
    spi_nor_model_close(&rig.model);
}

static void failures_are_told(void **state)
{
    const struct spi_nor_kind *kinds[] = {&mx25l64, &is25lp, &n25q};
    struct rig rig;
    struct nw_chip_req req;

    (void)state;
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(open_rig(&rig, kinds[i]), NW_OK);
        req = request(&rig, 7);
        rig.model.fail_next = true;
        assert_int_equal(nw_chip_program(&req), NW_ERR_PROGRAM);
        req = request(&rig, 8);
        rig.model.fail_next = true;
        assert_int_equal(nw_chip_erase(&req), NW_ERR_ERASE);
        req = request(&rig, 9);
        assert_int_equal(nw_chip_erase(&req), NW_OK);
        assert_int_equal(nw_chip_program(&req), NW_OK);
        spi_nor_model_close(&rig.model);
    }
    /* Protection shows by the latch, also with a maker that has no bits. */
    assert_int_equal(open_rig(&rig, &w25q128), NW_OK);
    req = request(&rig, 7);
    rig.model.status = 0x04;
    assert_int_equal(nw_chip_erase(&req), NW_OK); /* it is erased as it is */
    assert_int_equal(nw_chip_program(&req), NW_ERR_PROGRAM);
    rig.model.status = 0;
    assert_int_equal(nw_chip_program(&req), NW_OK);
    rig.model.status = 0x04;
    assert_int_equal(nw_chip_erase(&req), NW_ERR_ERASE);
    rig.model.status = 0;
    assert_int_equal(nw_chip_erase(&req), NW_OK);
    assert_int_equal(nw_chip_is_bad(&req), 0);
    assert_int_equal(nw_chip_mark_bad(&req), NW_ERR_UNSUPPORTED);
    spi_nor_model_close(&rig.model);
}

static void stuck_busy(void **state)
{
    struct rig rig;
    struct nw_chip_req req;

    (void)state;
    assert_int_equal(open_rig(&rig, &w25q128), NW_OK);
    req = request(&rig, 7);
    rig.model.spi.bus.stuck = true;
    assert_int_equal(nw_chip_erase(&req), NW_ERR_BUSY);
    assert_int_equal(nw_chip_read(&req), NW_ERR_BUSY);
    assert_int_equal(nw_chip_program(&req), NW_ERR_BUSY);
    assert_int_equal(nw_spi_nor_open(&rig.nor, &rig.model.spi.spi, NULL), NW_ERR_BUSY);
    rig.model.spi.bus.stuck = false;
    assert_int_equal(nw_spi_nor_open(&rig.nor, &rig.model.spi.spi, NULL), NW_OK);
    assert_int_equal(nw_chip_program(&req), NW_OK);
    spi_nor_model_close(&rig.model);
}

static void bus_errors(void **state)
{
    struct rig rig;
    uint32_t failed = 0;

    (void)state;
    assert_int_equal(open_rig(&rig, &w25q256), NW_OK);
    for (uint32_t at = 1; at < 40; at++) {
        int result;

        rig.model.spi.bus.fail_at = at;
        result = nw_spi_nor_open(&rig.nor, &rig.model.spi.spi, NULL);
        assert_int_equal(result, rig.model.spi.bus.fail_at == 0 ? NW_ERR_IO : NW_OK);
        assert_false(rig.model.spi.selected);
        failed += rig.model.spi.bus.fail_at == 0;
    }
    assert_true(failed >= 12);
    for (uint32_t at = 0; at < 16; at++) {
        struct nw_chip_req req = request(&rig, 7);
        int result;

        rig.model.spi.bus.fail_at = at / 2U + 1U;
        rig.model.spi.bus.fail_acts = at % 2U == 1U; /* the part has taken it in, and works */
        result = nw_chip_erase(&req);
        assert_int_equal(result, rig.model.spi.bus.fail_at == 0 ? NW_ERR_IO : NW_OK);
        rig.model.spi.bus.fail_at = 0;
        assert_int_equal(nw_chip_read(&req), NW_OK);
    }
    spi_nor_model_close(&rig.model);
}

/* A rig put the part to sleep and let the line float high: the driver asked for the status first,
 * took FF for a busy part, and never sent the command that wakes. */
static void a_part_asleep_is_woken(void **state)
{
    struct rig rig;
    struct nw_chip_req req;

    (void)state;
    assert_int_equal(open_rig(&rig, &w25q128), NW_OK);
    for (uint32_t line = 0; line <= 0xFF; line += 0xFF) {
        rig.model.asleep = true;
        rig.model.spi.line = (uint8_t)line;
        assert_int_equal(nw_spi_nor_open(&rig.nor, &rig.model.spi.spi, NULL), NW_OK);
        assert_false(rig.model.asleep);
        req = request(&rig, 7);
        assert_int_equal(nw_chip_erase(&req), NW_OK);
        assert_int_equal(nw_chip_program(&req), NW_OK);
    }
    spi_nor_model_close(&rig.model);
}

/* The header: id all 00 or FF is NW_ERR_NOT_FOUND. With a line that floats high it was NW_ERR_BUSY
 * after 3 s, since FF reads as a busy part. */
static void nobody_on_the_line(void **state)
{
    struct rig rig;
    struct nw_chip_req req;

    (void)state;
    assert_int_equal(open_rig(&rig, &w25q128), NW_OK);
    for (uint32_t line = 0; line <= 0xFF; line += 0xFF) {
        uint64_t before = rig.model.spi.bus.now_ns;

        rig.model.spi.silent = true;
        rig.model.spi.line = (uint8_t)line;
        assert_int_equal(nw_spi_nor_open(&rig.nor, &rig.model.spi.spi, NULL), NW_ERR_NOT_FOUND);
        assert_true(rig.model.spi.bus.now_ns - before < 2000000);
        rig.model.spi.silent = false;
        assert_int_equal(nw_spi_nor_open(&rig.nor, &rig.model.spi.spi, NULL), NW_OK);
    }
    /* One that was there, and falls silent, is busy. */
    rig.model.spi.silent = true;
    req = request(&rig, 7);
    assert_int_equal(nw_chip_erase(&req), NW_ERR_BUSY);
    spi_nor_model_close(&rig.model);
}

static int power_up(struct driver_trial *trial)
{
    struct rig *rig = trial->context;

    spi_nor_model_power_up(&rig->model);
    return nw_spi_nor_open(&rig->nor, &rig->model.spi.spi, NULL);
}

static void store_with_cuts(void **state)
{
    struct rig rig;
    struct driver_trial trial = {.bus = &rig.model.spi.bus, .context = &rig,
                                 .chip = &rig.nor.chip, .power_up = power_up,
                                 .cuts = 2000, .cut_bytes = 20000, .seed = 12};

    (void)state;
    assert_int_equal(open_rig(&rig, &small), NW_OK);
    driver_trial_store(&trial);
    spi_nor_model_close(&rig.model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_part_tells_its_shape), cmocka_unit_test(parts_that_do_not_fit),
        cmocka_unit_test(a_part_of_two_sector_sizes),
        cmocka_unit_test(protection_as_each_maker_means_it),
        cmocka_unit_test(a_part_without_its_makers_register),
        cmocka_unit_test(failures_are_told),         cmocka_unit_test(stuck_busy),
        cmocka_unit_test(a_part_asleep_is_woken),    cmocka_unit_test(nobody_on_the_line),
        cmocka_unit_test(bus_errors),                cmocka_unit_test(store_with_cuts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

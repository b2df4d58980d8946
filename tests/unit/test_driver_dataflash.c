/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: the driver of DataFlash takes its shape from status and id, in both page sizes, keeps the
 * chip contract with its buffers, tells failures the part itself keeps quiet about, never asks a
 * busy part for anything, and the store on it survives power cuts at any byte of the bus.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "dataflash_model.h"
#include "driver_trials.h"
#include "nandwich/driver_dataflash.h"

struct rig {
    struct dataflash_model model;
    struct nw_dataflash flash;
};

#define NO_ID {0xFF, 0xFF, 0xFF, 0xFF}

static const struct dataflash_kind kinds[] = {
    {NO_ID, 7, 0, 2, 264, 2048},                       /* AT45DB041B */
    {{0x1F, 0x22, 0, 0}, 3, 0, 1, 264, 512},           /* AT45DB011D */
    {{0x1F, 0x23, 0, 1}, 5, 1, 2, 256, 1024},          /* AT45DB021E, power of two */
    {{0x1F, 0x25, 0, 1}, 9, 0, 2, 264, 4096},          /* AT45DB081E */
    {{0x1F, 0x26, 0, 0}, 11, 0, 2, 528, 4096},         /* AT45DB161D */
    {{0x1F, 0x27, 1, 0}, 13, 1, 2, 512, 8192},         /* AT45DB321D, power of two */
    {{0x1F, 0x28, 0, 0}, 15, 0, 2, 1056, 8192},        /* AT45DB642D */
    {{0x1F, 0x28, 0, 1}, 15, 0, 2, 264, 32768},        /* AT45DB641E */
};

static int open_rig(struct rig *rig, const struct dataflash_kind *kind)
{
    memset(rig, 0, sizeof *rig);
    dataflash_model_open(&rig->model, kind, 3);
    return nw_dataflash_open(&rig->flash, &rig->model.spi.spi);
}

static struct nw_chip_req request(struct rig *rig, uint32_t page)
{
    static uint8_t data[1056];

    memset(data, 0x5A, sizeof data);
    return (struct nw_chip_req){.chip = &rig->flash.chip, .page = page, .block = page / 8U,
                                .length = rig->flash.chip.geometry.page_bytes, .data = data};
}

static void each_part_tells_its_shape(void **state)
{
    struct rig rig;

    (void)state;
    for (uint32_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        const struct nw_geometry *geometry = &rig.flash.chip.geometry;

        assert_int_equal(open_rig(&rig, &kinds[i]), NW_OK);
        assert_int_equal(geometry->blocks, kinds[i].pages / 8U);
        assert_int_equal(geometry->page_bytes, kinds[i].page_bytes);
        assert_int_equal(geometry->program_bytes, kinds[i].page_bytes);
        assert_int_equal(geometry->buffers, kinds[i].buffers);
        assert_int_equal(nw_geometry_check(geometry), NW_OK);
        driver_trial_verbs(&rig.flash.chip, 0, 3, i);
        driver_trial_verbs(&rig.flash.chip, geometry->blocks - 3U, 3, i);
        dataflash_model_close(&rig.model);
    }
}

static void parts_that_do_not_fit(void **state)
{
    static const struct {
        struct dataflash_kind kind;
        int answer;
    } rows[] = {
        {{NO_ID, 8, 0, 2, 264, 2048}, NW_ERR_UNSUPPORTED},              /* no such density */
        {{NO_ID, 1, 0, 2, 264, 2048}, NW_ERR_UNSUPPORTED},
        {{{0x20, 0x24, 0, 0}, 7, 0, 2, 264, 2048}, NW_ERR_CONFIG},      /* another maker */
        {{{0x1F, 0x25, 0, 0}, 7, 0, 2, 264, 2048}, NW_ERR_CONFIG},      /* another density */
    };
    struct rig rig;

    (void)state;
    for (uint32_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(open_rig(&rig, &rows[i].kind), rows[i].answer);
        dataflash_model_close(&rig.model);
    }
}

/* AT45DB041B has undefined bits at the bottom of its status, and no pages that could be switched.
 * The driver believed bit 0: now and then the part came up with pages of 256 bytes, and what had
 * been written was looked for at other addresses. */
static void a_part_without_an_id_has_one_page_size(void **state)
{
    struct rig rig;

    (void)state;
    assert_int_equal(open_rig(&rig, &kinds[0]), NW_OK);
    for (uint32_t i = 0; i < 9; i++) {
        assert_int_equal(nw_dataflash_open(&rig.flash, &rig.model.spi.spi), NW_OK);
        assert_int_equal(rig.flash.chip.geometry.page_bytes, 264);
        assert_int_equal(rig.flash.page_shift, 9);
        rig.model.noise++; /* the number of questions a turn is even or odd */
    }
    dataflash_model_close(&rig.model);
}

/* A part in deep power-down answers nothing but ABh: it was NW_ERR_NOT_FOUND after a warm start of
 * the processor. And sector protection is lifted. */
static void asleep_or_guarded(void **state)
{
    struct rig rig;

    (void)state;
    assert_int_equal(open_rig(&rig, &kinds[4]), NW_OK);
    for (uint32_t line = 0; line <= 0xFF; line += 0xFF) {
        struct nw_chip_req req = request(&rig, 80);

        rig.model.spi.line = (uint8_t)line;
        rig.model.asleep = true;
        rig.model.guarded = true;
        assert_int_equal(nw_dataflash_open(&rig.flash, &rig.model.spi.spi), NW_OK);
        assert_int_equal(nw_chip_erase(&req), NW_OK);
        assert_int_equal(nw_chip_program(&req), NW_OK);
        rig.model.guarded = true; /* by whatever else is on the board */
        assert_int_equal(nw_chip_erase(&req), NW_ERR_ERASE);
    }
    dataflash_model_close(&rig.model);
}

/* The part does not say that a program or an erase did nothing: the driver finds out. */
static void quiet_failures_are_told(void **state)
{
    struct rig rig;
    struct nw_chip_req req;

    (void)state;
    assert_int_equal(open_rig(&rig, &kinds[0]), NW_OK);
    req = request(&rig, 80);
    rig.model.fail_next = true;
    assert_int_equal(nw_chip_program(&req), NW_ERR_PROGRAM);
    assert_int_equal(nw_chip_erase(&req), NW_OK);
    assert_int_equal(nw_chip_program(&req), NW_OK);
    rig.model.fail_next = true;
    assert_int_equal(nw_chip_erase(&req), NW_ERR_ERASE);
    req.length = 264;
    assert_int_equal(nw_chip_buffer_write(&req), NW_OK);
    req.page++;
    rig.model.fail_next = true;
    assert_int_equal(nw_chip_buffer_program(&req), NW_ERR_PROGRAM);
    assert_int_equal(nw_chip_buffer_program(&req), NW_OK);
    assert_int_equal(nw_chip_is_bad(&req), 0);
    assert_int_equal(nw_chip_mark_bad(&req), NW_ERR_UNSUPPORTED);
    dataflash_model_close(&rig.model);
}

static void stuck_busy(void **state)
{
    struct rig rig;
    struct nw_chip_req req;

    (void)state;
    assert_int_equal(open_rig(&rig, &kinds[4]), NW_OK);
    req = request(&rig, 80);
    rig.model.spi.bus.stuck = true;
    assert_int_equal(nw_chip_program(&req), NW_ERR_BUSY);
    assert_int_equal(nw_chip_read(&req), NW_ERR_BUSY);
    assert_int_equal(nw_chip_erase(&req), NW_ERR_BUSY);
    assert_int_equal(nw_chip_buffer_load(&req), NW_ERR_BUSY);
    assert_int_equal(nw_dataflash_open(&rig.flash, &rig.model.spi.spi), NW_ERR_BUSY);
    rig.model.spi.bus.stuck = false;
    assert_int_equal(nw_dataflash_open(&rig.flash, &rig.model.spi.spi), NW_OK);
    assert_int_equal(nw_chip_read(&req), NW_OK);
    dataflash_model_close(&rig.model);
}

/* The header: nothing answers is NW_ERR_NOT_FOUND. With a line at 0 it was NW_ERR_BUSY after half a
 * second, since 00 reads as a busy part. */
static void nobody_on_the_line(void **state)
{
    struct rig rig;

    (void)state;
    assert_int_equal(open_rig(&rig, &kinds[4]), NW_OK);
    for (uint32_t line = 0; line <= 0xFF; line += 0xFF) {
        uint64_t before = rig.model.spi.bus.now_ns;

        rig.model.spi.silent = true;
        rig.model.spi.line = (uint8_t)line;
        assert_int_equal(nw_dataflash_open(&rig.flash, &rig.model.spi.spi),
                         NW_ERR_NOT_FOUND);
        assert_true(rig.model.spi.bus.now_ns - before < 2000000);
        rig.model.spi.silent = false;
        assert_int_equal(nw_dataflash_open(&rig.flash, &rig.model.spi.spi), NW_OK);
    }
    dataflash_model_close(&rig.model);
}

static void bus_errors(void **state)
{
    struct rig rig;

    (void)state;
    assert_int_equal(open_rig(&rig, &kinds[4]), NW_OK);
    for (uint32_t at = 1; at < 24; at++) {
        struct nw_chip_req req = request(&rig, 80);
        int result;

        assert_int_equal(nw_chip_erase(&req), NW_OK);
        rig.model.spi.bus.fail_at = at / 2U + 1U;
        rig.model.spi.bus.fail_acts = at % 2U == 1U; /* the part has taken it in, and works */
        result = nw_chip_program(&req);
        assert_int_equal(result, rig.model.spi.bus.fail_at == 0 ? NW_ERR_IO : NW_OK);
        rig.model.spi.bus.fail_at = 0;
    }
    dataflash_model_close(&rig.model);
}

static int power_up(struct driver_trial *trial)
{
    struct rig *rig = trial->context;

    dataflash_model_power_up(&rig->model);
    return nw_dataflash_open(&rig->flash, &rig->model.spi.spi);
}

static void store_with_cuts(void **state)
{
    struct rig rig;
    struct driver_trial trial = {.bus = &rig.model.spi.bus, .context = &rig,
                                 .chip = &rig.flash.chip, .power_up = power_up,
                                 .cuts = 2000, .cut_bytes = 20000, .seed = 13};

    (void)state;
    assert_int_equal(open_rig(&rig, &kinds[1]), NW_OK);
    driver_trial_store(&trial);
    dataflash_model_close(&rig.model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_part_tells_its_shape), cmocka_unit_test(parts_that_do_not_fit),
        cmocka_unit_test(a_part_without_an_id_has_one_page_size),
        cmocka_unit_test(asleep_or_guarded),
        cmocka_unit_test(quiet_failures_are_told),   cmocka_unit_test(stuck_busy),
        cmocka_unit_test(nobody_on_the_line),        cmocka_unit_test(bus_errors),
        cmocka_unit_test(store_with_cuts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

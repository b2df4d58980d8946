/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: the driver of NAND on a serial bus tells the part's own shape, keeps the chip contract,
 * tells every error, never asks a busy part for anything, and what stands on it survives power
 * cuts at any byte of the bus.
 *
 * ctest: slow
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "driver_trials.h"
#include "nandwich/driver_spi_nand_ahead.h"
#include "spi_nand_model.h"

struct rig {
    struct spi_nand_model model;
    struct nw_spi_nand nand;
    const struct nw_spi_nand_part *part;
};

/* As the makers' datasheets tell, but for the number of blocks, where a row says otherwise. */
static const struct spi_nand_kind w25n = {{0xEF, 0xAA, 0x21}, 1, 1, 2, 1, 1024, 0};
static const struct spi_nand_kind gd5f_q4 = {{0xC8, 0xD1, 0}, 1, 1, 1, 4, 1024, 0};
static const struct spi_nand_kind gd5f_q5 = {{0xC8, 0x51, 0}, 1, 1, 1, 0, 1024, 0};
static const struct spi_nand_kind gd5f_old = {{0xC8, 0xF1, 0}, 0, 1, 1, 4, 1024, 0};
static const struct spi_nand_kind mx35_2g = {{0xC2, 0x22, 0}, 1, 2, 1, 1, 2048, 0};
static const struct spi_nand_kind mx35 = {{0xC2, 0x12, 0}, 1, 1, 1, 1, 1024, 0};
static const struct spi_nand_kind mt29 = {{0x2C, 0x14, 0}, 1, 1, 1, 1, 1024, 0};
static const struct spi_nand_kind mt29_2g = {{0x2C, 0x24, 0}, 1, 2, 1, 1, 2048, 0};
static const struct spi_nand_kind mt29_4g = {{0x2C, 0x34, 0}, 1, 1, 1, 1, 2048, 4096};

/* A small part of nobody's, for work with many cuts. */
static const struct spi_nand_kind small = {{0xEF, 0xAB, 0x21}, 1, 1, 2, 1, 20, 0};
static const struct nw_spi_nand_part small_part = {
    0xEF, 0xAB, 0x21, NW_SPI_NAND_BIT_3_STOPS | NW_SPI_NAND_FOUR_PROGRAMS, 20, 2048,
    NW_SPI_NAND_ECC_W25N};

static int open_rig(struct rig *rig, const struct spi_nand_kind *kind)
{
    memset(rig, 0, sizeof *rig);
    spi_nand_model_open(&rig->model, kind, 3);
    return nw_spi_nand_open(&rig->nand, &rig->model.spi.spi, rig->part);
}

static struct nw_chip_req request(struct rig *rig, uint32_t page)
{
    static uint8_t data[4096];
    static uint8_t spare[64];

    memset(data, 0x5A, sizeof data);
    memset(spare, 0xC3, sizeof spare);
    return (struct nw_chip_req){.chip = &rig->nand.chip, .page = page,
                                .block = page / 64U, .length = rig->nand.chip.geometry.page_bytes,
                                .data = data, .spare = spare, .spare_length = 16};
}

static void each_part_tells_its_shape(void **state)
{
    const struct spi_nand_kind *kinds[] = {&w25n, &gd5f_q4, &gd5f_q5, &gd5f_old, &mx35, &mx35_2g,
                                           &mt29, &mt29_2g, &mt29_4g};
    struct rig rig;

    (void)state;
    for (uint32_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        const struct nw_geometry *geometry = &rig.nand.chip.geometry;

        assert_int_equal(open_rig(&rig, kinds[i]), NW_OK);
        assert_int_equal(geometry->blocks, kinds[i]->blocks);
        assert_int_equal(geometry->block_pages, 64);
        assert_int_equal(geometry->page_bytes, kinds[i] == &mt29_4g ? 4096 : 2048);
        assert_int_equal(geometry->spare_bytes, geometry->page_bytes / 128);
        assert_int_equal(geometry->program_bytes,
                         kinds[i]->codes == 2 ? 512 : geometry->page_bytes);
        assert_int_equal(geometry->page_programs, kinds[i]->codes == 2 ? 4 : 1);
        assert_int_equal(geometry->endurance, kinds[i]->onfi_row != 0 ? 100000 : 0);
        assert_int_equal(geometry->read_us,
                         60 + geometry->page_bytes * 8 / 20); /* the page at 20 MHz */
        driver_trial_verbs(&rig.nand.chip, 16, 3, i);
        driver_trial_verbs(&rig.nand.chip, geometry->blocks - 1U, 1, i);
        spi_nand_model_close(&rig.model);
    }
}

/* A new user's row: two planes, pages of 4 KiB. The driver set bit 12 of the column for odd blocks,
 * whatever the page: there that is byte 4,096, the first of the spare, so the check of the part
 * found half of all blocks bad and data in the wrong place. The plane's bit is the one above. */
static void two_planes_of_large_pages(void **state)
{
    static const struct spi_nand_kind kind = {{0xCD, 0x72, 0}, 1, 2, 1, 1, 1024, 4096};
    static const struct nw_spi_nand_part row = {0xCD, 0x72, 0, NW_SPI_NAND_TWO_PLANES, 1024, 4096,
                                                NW_SPI_NAND_ECC_MX35};
    struct rig rig;

    (void)state;
    assert_int_equal(open_rig(&rig, &kind), NW_ERR_UNSUPPORTED);
    assert_int_equal(nw_spi_nand_open(&rig.nand, &rig.model.spi.spi, &row), NW_OK);
    driver_trial_verbs(&rig.nand.chip, 16, 2, 1);
    driver_trial_verbs(&rig.nand.chip, 1023, 1, 2);
    spi_nand_model_close(&rig.model);
}

/* A review: an id outside the table was taken by its parameter page alone, with one plane and "01:
 * repaired". That page tells neither: MT29F2G01ABAGD had its odd blocks read from the other plane's
 * cache, and pages with four bits repaired told as lost. W25N02KV (EF AA 22) was taken for W25N01GV
 * (EF AA 21), which differs in the third byte alone; and of a part with two dice, which a command
 * has to choose, both were counted: erasing block 1029 wiped block 5. */
static void parts_that_are_not_in_the_table(void **state)
{
    static const struct spi_nand_kind told = {{0xA1, 0xE4, 0}, 1, 1, 1, 4, 512, 4096};
    static const struct spi_nand_kind silent = {{0xA1, 0xE4, 0}, 1, 1, 1, 0, 512, 0};
    static const struct spi_nand_kind w25n_02kv = {{0xEF, 0xAA, 0x22}, 1, 1, 1, 1, 2048, 0};
    static const struct spi_nand_kind two_dice = {{0x2C, 0x36, 0}, 1, 2, 1, 1, 4096, 0};
    static const struct spi_nand_kind nobody = {{0xFF, 0xFF, 0xFF}, 0, 1, 1, 0, 512, 0};
    static const struct spi_nand_kind pulled = {{0, 0, 0}, 0, 1, 1, 0, 512, 0};
    static const struct nw_spi_nand_part large = {0xA1, 0xE4, 0, 0, 512, 4096,
                                                  NW_SPI_NAND_ECC_MX35};
    static const struct nw_spi_nand_part row = {0xA1, 0xE4, 0, 0, 512, 2048,
                                                NW_SPI_NAND_ECC_MT29};
    static const struct nw_spi_nand_part dice = {0x2C, 0x36, 0, NW_SPI_NAND_TWO_PLANES, 4096, 2048,
                                                 NW_SPI_NAND_ECC_MT29};
    struct rig rig;

    (void)state;
    assert_int_equal(open_rig(&rig, &told), NW_ERR_UNSUPPORTED);
    assert_int_equal(rig.nand.id[1], 0xA1);
    /* The board knows the part. */
    assert_int_equal(nw_spi_nand_open(&rig.nand, &rig.model.spi.spi, &large), NW_OK);
    assert_int_equal(rig.nand.chip.geometry.page_bytes, 4096);
    assert_int_equal(rig.nand.chip.geometry.spare_bytes, 32);
    driver_trial_verbs(&rig.nand.chip, 100, 1, 1);
    spi_nand_model_close(&rig.model);

    assert_int_equal(open_rig(&rig, &silent), NW_ERR_UNSUPPORTED);
    assert_int_equal(nw_spi_nand_open(&rig.nand, &rig.model.spi.spi, &row), NW_OK);
    assert_int_equal(rig.nand.part->ecc, NW_SPI_NAND_ECC_MT29);
    spi_nand_model_close(&rig.model);

    assert_int_equal(open_rig(&rig, &w25n_02kv), NW_ERR_UNSUPPORTED);
    spi_nand_model_close(&rig.model);
    assert_int_equal(open_rig(&rig, &two_dice), NW_ERR_UNSUPPORTED);
    rig.model.told = (struct onfi_shape){2048, 64, 2048, 64, 0x22, 4, 2, 0};
    assert_int_equal(nw_spi_nand_open(&rig.nand, &rig.model.spi.spi, &dice), NW_ERR_UNSUPPORTED);
    spi_nand_model_close(&rig.model);

    assert_int_equal(open_rig(&rig, &nobody), NW_ERR_NOT_FOUND);
    spi_nand_model_close(&rig.model);
    assert_int_equal(open_rig(&rig, &pulled), NW_ERR_NOT_FOUND);
    spi_nand_model_close(&rig.model);

    /* Another part than the board's. */
    assert_int_equal(open_rig(&rig, &w25n), NW_OK);
    assert_int_equal(nw_spi_nand_open(&rig.nand, &rig.model.spi.spi, &row), NW_ERR_CONFIG);
    spi_nand_model_close(&rig.model);
}

/* The parameter page comes three times. One copy was read: where that was spoilt a part of another
 * shape was opened, and the endurance stayed unknown. One that tells 16 wires is none of ours. */
static void the_first_good_copy_of_the_parameter_page(void **state)
{
    struct rig rig;

    (void)state;
    for (uint8_t spoilt = 0; spoilt <= 3; spoilt++) {
        assert_int_equal(open_rig(&rig, &w25n), NW_OK);
        rig.model.spoilt = spoilt;
        assert_int_equal(nw_spi_nand_open(&rig.nand, &rig.model.spi.spi, NULL), NW_OK);
        assert_int_equal(rig.nand.chip.geometry.endurance, spoilt < 3 ? 100000 : 0);
        rig.model.told = (struct onfi_shape){2048, 64, 2048, 64, 0x22, 4, 1, 0};
        assert_int_equal(nw_spi_nand_open(&rig.nand, &rig.model.spi.spi, NULL),
                         spoilt < 3 ? NW_ERR_CONFIG : NW_OK);
        rig.model.told.blocks = 1024;
        rig.model.told.wires16 = 1;
        assert_int_equal(nw_spi_nand_open(&rig.nand, &rig.model.spi.spi, NULL), NW_OK);
        assert_int_equal(rig.nand.chip.geometry.endurance, 0);
        spi_nand_model_close(&rig.model);
    }
}

/* The register of configuration was written and believed: a part whose ECC stayed off was opened,
 * and its reads answered 0 bits whatever had flipped. */
static void a_part_whose_ecc_stays_off(void **state)
{
    struct rig rig;

    (void)state;
    assert_int_equal(open_rig(&rig, &mx35), NW_OK);
    rig.model.config = 0;
    rig.model.config_fixed = 0x10;
    assert_int_equal(nw_spi_nand_open(&rig.nand, &rig.model.spi.spi, NULL), NW_ERR_CONFIG);
    rig.model.config_fixed = 0;
    assert_int_equal(nw_spi_nand_open(&rig.nand, &rig.model.spi.spi, NULL), NW_OK);
    assert_int_equal(rig.model.config, 0x10);
    spi_nand_model_close(&rig.model);
}

static void a_part_that_contradicts_the_table(void **state)
{
    struct onfi_shape shapes[] = {{2048, 64, 2048, 64, 0x22, 4, 1, 0},
                                  {1024, 128, 2048, 64, 0x22, 4, 1, 0},
                                  {1024, 64, 4096, 256, 0x22, 4, 1, 0}};
    struct rig rig;

    (void)state;
    assert_int_equal(open_rig(&rig, &w25n), NW_OK);
    for (uint32_t i = 0; i < 3; i++) {
        rig.model.told = shapes[i];
        assert_int_equal(nw_spi_nand_open(&rig.nand, &rig.model.spi.spi, NULL), NW_ERR_CONFIG);
    }
    rig.model.told.blocks = 0;
    rig.model.pins_protect = true;
    rig.model.protection = 0x38;
    assert_int_equal(nw_spi_nand_open(&rig.nand, &rig.model.spi.spi, NULL), NW_ERR_CONFIG);
    spi_nand_model_close(&rig.model);
}

/* What each maker means by its status, as the datasheets say; -9: NW_ERR_ECC. */
static void ecc_status_as_each_maker_means_it(void **state)
{
    static const struct {
        const struct spi_nand_kind *kind;
        int meaning[8];
    } rows[] = {
        {&w25n, {0, 1, -9, -9, 0, 1, -9, -9}}, {&gd5f_q4, {0, 7, -9, 8, 0, 7, -9, 8}},
        {&gd5f_q5, {0, 4, -9, 4, 0, 4, -9, 4}}, {&mx35, {0, 4, -9, -9, 0, 4, -9, -9}},
        {&mt29, {0, 3, -9, 6, -9, 8, -9, -9}},
    };
    struct rig rig;

    (void)state;
    for (uint32_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct nw_chip_req req;

        assert_int_equal(open_rig(&rig, rows[i].kind), NW_OK);
        req = request(&rig, 20 * 64);
        assert_int_equal(nw_chip_program(&req), NW_OK);
        for (uint8_t code = 0; code < 8; code++) {
            rig.model.ecc = code;
            memset(req.data, 0, 2048);
            assert_int_equal(nw_chip_read(&req), rows[i].meaning[code]);
            assert_int_equal(req.data[2047], 0x5A); /* delivered all the same */
        }
        /* Marks are read whatever ECC says. */
        rig.model.ecc = 2;
        assert_int_equal(nw_chip_is_bad(&req), 0);
        spi_nand_model_close(&rig.model);
    }
}

static void bad_blocks(void **state)
{
    struct rig rig;
    uint32_t bad = 0;

    (void)state;
    assert_int_equal(open_rig(&rig, &w25n), NW_OK);
    for (int second = 0; second < 2; second++) {
        rig.model.mark_second = second != 0;
        for (uint32_t block = 0; block < 1024; block++) {
            struct nw_chip_req req = request(&rig, block * 64U);
            int truth = nw_nand_block_bad(rig.model.spi.bus.nand, block);

            assert_int_equal(nw_chip_is_bad(&req), truth);
            bad += (uint32_t)truth;
        }
    }
    assert_true(bad > 0);
    for (uint32_t block = 1000; block < 1020; block++) {
        struct nw_chip_req req = request(&rig, block * 64U);

        assert_int_equal(nw_chip_mark_bad(&req), NW_OK);
        assert_int_equal(nw_chip_is_bad(&req), 1);
    }
    spi_nand_model_power_up(&rig.model);
    assert_int_equal(nw_spi_nand_open(&rig.nand, &rig.model.spi.spi, NULL), NW_OK);
    for (uint32_t block = 1000; block < 1020; block++) {
        struct nw_chip_req req = request(&rig, block * 64U);

        assert_int_equal(nw_chip_is_bad(&req), 1);
    }
    spi_nand_model_close(&rig.model);
}

static void failures_are_told(void **state)
{
    struct rig rig;
    struct nw_chip_req req;

    (void)state;
    assert_int_equal(open_rig(&rig, &w25n), NW_OK);
    req = request(&rig, 30 * 64);
    rig.model.fail_next = true;
    assert_int_equal(nw_chip_program(&req), NW_ERR_PROGRAM);
    rig.model.fail_next = true;
    req = request(&rig, 31 * 64);
    assert_int_equal(nw_chip_erase(&req), NW_ERR_ERASE);
    req = request(&rig, 32 * 64);
    assert_int_equal(nw_chip_erase(&req), NW_OK); /* the failure is not told twice */
    /* Spare bytes whose code may be there already. */
    req.spare_offset = 2;
    req.spare_length = 3;
    assert_int_equal(nw_chip_program(&req), NW_ERR_ALIGN);
    req.spare_offset = 0;
    /* Protected in the middle of the work, by whatever else is on the board. */
    rig.model.protection = 0x38;
    assert_int_equal(nw_chip_program(&req), NW_ERR_PROGRAM);
    assert_int_equal(nw_chip_erase(&req), NW_ERR_ERASE);
    spi_nand_model_close(&rig.model);
}

/* Datasheets: E_FAIL stays until the next erase or a reset, P_FAIL until the next program. The
 * driver looked at both behind either: after one failed erase each program to a good block answered
 * NW_ERR_PROGRAM, and a layer gave up block after block. */
static void a_failure_is_of_its_own_verb(void **state)
{
    struct rig rig;
    struct nw_chip_req req;

    (void)state;
    assert_int_equal(open_rig(&rig, &mt29), NW_OK);
    req = request(&rig, 31 * 64);
    rig.model.fail_next = 1;
    assert_int_equal(nw_chip_erase(&req), NW_ERR_ERASE);
    req = request(&rig, 32 * 64);
    assert_int_equal(nw_chip_program(&req), NW_OK);
    req.block = 31;
    assert_int_equal(nw_chip_mark_bad(&req), NW_OK);
    req = request(&rig, 33 * 64);
    rig.model.fail_next = 1;
    assert_int_equal(nw_chip_program(&req), NW_ERR_PROGRAM);
    req = request(&rig, 34 * 64);
    assert_int_equal(nw_chip_erase(&req), NW_OK);
    spi_nand_model_close(&rig.model);
}

/* One of the two marks is enough, whichever: a worn block may refuse the other. */
static void one_mark_is_enough(void **state)
{
    static const struct {
        uint8_t fails[2]; /* the first program that fails, and how many behind it the next one */
        int answer;
    } rows[] = {{{1, 0}, NW_OK}, {{2, 0}, NW_OK}, {{1, 1}, NW_ERR_PROGRAM}};
    struct rig rig;

    (void)state;
    assert_int_equal(open_rig(&rig, &w25n), NW_OK);
    for (uint32_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct nw_chip_req req = request(&rig, (1000 + i) * 64);

        rig.model.fail_next = rows[i].fails[0];
        rig.model.fail_then = rows[i].fails[1];
        assert_int_equal(nw_chip_mark_bad(&req), rows[i].answer);
    }
    spi_nand_model_close(&rig.model);
}

/* A stuck part: one error within its limit, no command meanwhile, and work again once it
 * recovers. */
static void stuck_busy(void **state)
{
    struct rig rig;
    struct nw_chip_req req;
    int (*const verbs[])(struct nw_chip_req *) = {nw_chip_read, nw_chip_program, nw_chip_erase,
                                                  nw_chip_is_bad, nw_chip_mark_bad};

    (void)state;
    assert_int_equal(open_rig(&rig, &w25n), NW_OK);
    req = request(&rig, 40 * 64);
    for (uint32_t i = 0; i < 5; i++) {
        uint64_t before = rig.model.spi.bus.now_ns;

        rig.model.spi.bus.stuck = true;
        assert_int_equal(verbs[i](&req), NW_ERR_BUSY);
        assert_in_range(rig.model.spi.bus.now_ns - before, 20000000, 40000000);
        assert_int_equal(verbs[4 - i](&req), NW_ERR_BUSY);
        rig.model.spi.bus.stuck = false;
        rig.model.spi.bus.now_ns += 10000000;
        req = request(&rig, 41 * 64);
        assert_int_equal(nw_chip_erase(&req), NW_OK);
        req = request(&rig, 40 * 64);
    }
    rig.model.spi.bus.stuck = true;
    assert_int_equal(nw_spi_nand_open(&rig.nand, &rig.model.spi.spi, NULL), NW_ERR_BUSY);
    rig.model.spi.bus.stuck = false;
    /* The processor begins anew in the middle of an erase: that is waited for. */
    rig.model.spi.head[0] = 0x06;
    rig.model.spi.finish(&rig.model.spi, 1);
    memcpy(rig.model.spi.head, "\xD8\x00\x0A\x80", 4);
    rig.model.spi.finish(&rig.model.spi, 4);
    assert_int_equal(nw_spi_nand_open(&rig.nand, &rig.model.spi.spi, NULL), NW_OK);
    spi_nand_model_close(&rig.model);
}

/* The header: id all 00 or FF is NW_ERR_NOT_FOUND. With a line that floats high it was NW_ERR_BUSY,
 * since FF reads as a busy part. */
static void nobody_on_the_line(void **state)
{
    struct rig rig;

    (void)state;
    assert_int_equal(open_rig(&rig, &w25n), NW_OK);
    for (uint32_t line = 0; line <= 0xFF; line += 0xFF) {
        uint64_t before = rig.model.spi.bus.now_ns;

        rig.model.spi.silent = true;
        rig.model.spi.line = (uint8_t)line;
        assert_int_equal(nw_spi_nand_open(&rig.nand, &rig.model.spi.spi, NULL),
                         NW_ERR_NOT_FOUND);
        assert_true(rig.model.spi.bus.now_ns - before < 2000000);
        rig.model.spi.silent = false;
        assert_int_equal(nw_spi_nand_open(&rig.nand, &rig.model.spi.spi, NULL), NW_OK);
    }
    spi_nand_model_close(&rig.model);
}

/* The bus fails at each transfer in turn: that error is the answer, the part is deselected. */
static void bus_errors(void **state)
{
    struct rig rig;
    uint32_t failed = 0;

    (void)state;
    assert_int_equal(open_rig(&rig, &w25n), NW_OK);
    for (uint32_t at = 1; at < 200; at++) {
        int result;

        rig.model.spi.bus.fail_at = at;
        result = nw_spi_nand_open(&rig.nand, &rig.model.spi.spi, NULL);
        assert_false(rig.model.spi.selected);
        if (rig.model.spi.bus.fail_at == 0) {
            assert_int_equal(result, NW_ERR_IO);
            failed++;
        } else {
            assert_int_equal(result, NW_OK);
        }
    }
    assert_true(failed > 30);
    rig.model.spi.bus.fail_at = 0;
    assert_int_equal(nw_spi_nand_open(&rig.nand, &rig.model.spi.spi, NULL), NW_OK);
    /* Also where the part has taken the command in: then it is waited for. */
    for (uint32_t at = 1; at < 60; at++) {
        struct nw_chip_req req = request(&rig, 50 * 64);
        int result;

        assert_int_equal(nw_chip_erase(&req), NW_OK);
        rig.model.spi.bus.fail_at = at / 2U + 1U;
        rig.model.spi.bus.fail_acts = at % 2U == 1U;
        result = nw_chip_program(&req);
        assert_int_equal(result, rig.model.spi.bus.fail_at == 0 ? NW_ERR_IO : NW_OK);
        rig.model.spi.bus.fail_at = 0;
        assert_int_equal(nw_chip_read(&req), 0);
        rig.model.spi.bus.fail_at = at / 2U + 1U;
        result = nw_chip_erase(&req);
        assert_int_equal(result, rig.model.spi.bus.fail_at == 0 ? NW_ERR_IO : NW_OK);
        rig.model.spi.bus.fail_at = 0;
    }
    spi_nand_model_close(&rig.model);
}

static int power_up(struct driver_trial *trial)
{
    struct rig *rig = trial->context;

    spi_nand_model_power_up(&rig->model);
    return nw_spi_nand_open(&rig->nand, &rig->model.spi.spi, rig->part);
}

static void with_cuts(const struct nw_layer_kind *kind, uint32_t cuts)
{
    struct rig rig;
    struct driver_trial trial = {.bus = &rig.model.spi.bus, .context = &rig,
                                 .chip = &rig.nand.chip, .power_up = power_up,
                                 .cuts = cuts, .cut_bytes = 40000, .seed = 11};

    memset(&rig, 0, sizeof rig);
    spi_nand_model_open(&rig.model, &small, 5);
    rig.part = &small_part;
    assert_int_equal(power_up(&trial), NW_OK);
    if (kind != NULL) {
        driver_trial_layer(&trial, kind);
    } else {
        driver_trial_store(&trial);
    }
    spi_nand_model_close(&rig.model);
}

static void tree_layer_with_cuts(void **state)
{
    (void)state;
    with_cuts(&nw_layer_tree, 500);
}

static void store_with_cuts(void **state)
{
    (void)state;
    with_cuts(NULL, 1000);
}

/* Data comes in by four lines, commands and what is programmed go by one. */
static void a_bus_of_four_lines(void **state)
{
    const struct spi_nand_kind *kinds[] = {&w25n, &gd5f_q4, &gd5f_q5, &mx35_2g, &mt29, &mt29_4g};
    struct rig rig;

    (void)state;
    for (uint32_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        assert_int_equal(open_rig(&rig, kinds[i]), NW_OK);
        struct nw_chip_req req = request(&rig, 64);
        uint64_t before = rig.model.spi.bus.now_ns, narrow;

        assert_int_equal(nw_chip_read(&req), NW_OK);
        narrow = rig.model.spi.bus.now_ns - before;
        spi_model_widen(&rig.model.spi);
        assert_int_equal(nw_spi_nand_open(&rig.nand, &rig.model.spi.spi, NULL), NW_OK);
        before = rig.model.spi.bus.now_ns;
        assert_int_equal(nw_chip_read(&req), NW_OK);
        assert_int_equal(narrow - (rig.model.spi.bus.now_ns - before),
                         (req.length + 16U) * BUS_BYTE_NS * 3U / 4U);
        driver_trial_verbs(&rig.nand.chip, 16, 3, i);
        spi_nand_model_close(&rig.model);
    }
}

/* A page in the part's cache is not read from the array again, unless something came between. */
static void reading_on(void **state)
{
    struct rig rig;

    (void)state;
    assert_int_equal(open_rig(&rig, &w25n), NW_OK);
    const uint32_t *reads = &rig.model.spi.bus.begun[2];
    struct nw_chip_req req = request(&rig, 640);
    uint8_t back[512];

    for (uint32_t i = 0; i < 2048; i++) {
        req.data[i] = (uint8_t)(i * 7U + i / 512U);
    }
    assert_int_equal(nw_chip_program(&req), NW_OK);
    uint32_t before = *reads;
    for (uint16_t at = 0; at < 2048; at += 512) {
        struct nw_chip_req part = req;

        part.offset = at;
        part.length = 512;
        part.data = back;
        part.spare_length = 0;
        assert_int_equal(nw_spi_nand_read_on(&part), NW_OK);
        assert_memory_equal(back, req.data + at, 512);
    }
    assert_int_equal(*reads, before + 1U);
    req.block = 11;
    assert_int_equal(nw_chip_erase(&req), NW_OK);
    assert_int_equal(nw_spi_nand_read_on(&req), NW_OK);
    assert_int_equal(*reads, before + 2U);
    rig.model.ecc = 2;
    req.page = 641;
    assert_int_equal(nw_spi_nand_read_on(&req), NW_ERR_ECC);
    assert_int_equal(nw_spi_nand_read_on(&req), NW_ERR_ECC); /* asked of the array anew */
    assert_int_equal(*reads, before + 4U);
    req.page = rig.model.kind.blocks * 64U;
    assert_int_equal(nw_spi_nand_read_on(&req), NW_ERR_RANGE);
    assert_int_equal(nw_spi_nand_ahead(&req), NW_ERR_RANGE);
    spi_nand_model_close(&rig.model);
}

/* The array is read while the processor works; a wrong guess is waited for, and nothing else. */
static void reading_ahead(void **state)
{
    struct rig rig;

    (void)state;
    assert_int_equal(open_rig(&rig, &gd5f_q5), NW_OK);
    struct bus *bus = &rig.model.spi.bus;
    struct nw_chip_req req = request(&rig, 64);
    uint8_t data[2048];

    req.data[5] = 1;
    assert_int_equal(nw_chip_program(&req), NW_OK);
    uint32_t before = bus->begun[2];
    assert_int_equal(nw_spi_nand_ahead(&req), NW_OK);
    uint64_t asked = bus->now_ns;
    bus->now_ns += 100000; /* the processor's */
    req.data = data;
    uint32_t waits = bus->waits;
    assert_int_equal(nw_spi_nand_read_on(&req), NW_OK);
    assert_int_equal(bus->waits, waits);
    assert_true(bus->now_ns - asked - 100000 < (2048U + 16U + 40U) * BUS_BYTE_NS);
    assert_int_equal(bus->begun[2], before + 1U);
    assert_int_equal(data[5], 1);

    assert_int_equal(nw_spi_nand_ahead(&req), NW_OK);
    req.page = 65;
    assert_int_equal(nw_spi_nand_read_on(&req), NW_OK); /* waits for page 64 first */
    assert_int_equal(bus->begun[2], before + 3U);
    assert_int_equal(data[5], 0xFF);
    assert_int_equal(nw_spi_nand_ahead(&req), NW_OK);
    assert_int_equal(nw_chip_program(&req), NW_OK);
    rig.model.ecc = 2; /* the status of the row that was asked for, not of the last one */
    assert_int_equal(nw_spi_nand_ahead(&req), NW_OK);
    assert_int_equal(nw_spi_nand_read_on(&req), NW_ERR_ECC);
    bus->fail_at = 1;
    assert_int_equal(nw_spi_nand_ahead(&req), NW_ERR_IO);
    before = bus->begun[2];
    rig.model.ecc = 0;
    assert_int_equal(nw_spi_nand_read_on(&req), NW_OK);
    assert_int_equal(bus->begun[2], before + 1U);
    spi_nand_model_close(&rig.model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bus_of_four_lines),
        cmocka_unit_test(reading_on),
        cmocka_unit_test(reading_ahead),
        cmocka_unit_test(each_part_tells_its_shape),
        cmocka_unit_test(parts_that_are_not_in_the_table),
        cmocka_unit_test(two_planes_of_large_pages),
        cmocka_unit_test(the_first_good_copy_of_the_parameter_page),
        cmocka_unit_test(a_part_whose_ecc_stays_off),
        cmocka_unit_test(a_part_that_contradicts_the_table),
        cmocka_unit_test(ecc_status_as_each_maker_means_it),
        cmocka_unit_test(bad_blocks),
        cmocka_unit_test(failures_are_told),
        cmocka_unit_test(a_failure_is_of_its_own_verb),
        cmocka_unit_test(one_mark_is_enough),
        cmocka_unit_test(stuck_busy),
        cmocka_unit_test(nobody_on_the_line),
        cmocka_unit_test(bus_errors),
        cmocka_unit_test(tree_layer_with_cuts),
        cmocka_unit_test(store_with_cuts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

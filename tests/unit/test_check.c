/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: nw_chip_check() passes every chip that keeps its contract, the twin's and all drivers on
 * their models, and finds each single promise broken, with its place; what it measures is a part
 * the twin takes; a cut by hand is judged as the contract says.
 */
#define _DEFAULT_SOURCE /* mkstemp */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "dataflash_model.h"
#include "nandwich-twin/faults.h"
#include "nandwich-twin/measured.h"
#include "nandwich-twin/parts.h"
#include "nandwich/check.h"
#include "nandwich/driver_dataflash.h"
#include "nandwich/driver_parallel_nand.h"
#include "nandwich/driver_spi_nand.h"
#include "nandwich/driver_spi_nor.h"
#include "nandwich/ecc.h"
#include "parallel_nand_model.h"
#include "spi_nand_model.h"
#include "spi_nor_model.h"

static uint8_t ram[2 * (4096 + 256)];

static uint32_t bus_clock(void *context)
{
    const struct bus *bus = context;

    return (uint32_t)(bus->now_ns / 1000U);
}

static struct nw_check check_of(struct nw_chip *chip, struct bus *bus)
{
    return (struct nw_check){.chip = chip, .now_us = bus != NULL ? bus_clock : NULL,
                             .context = bus, .ram = ram, .ram_bytes = sizeof ram, .seed = 5};
}

static void expect(struct nw_check *check, int wanted, uint8_t step)
{
    int result = nw_chip_check(check);

    if (result != wanted || check->step != step) {
        fail_msg("%s: %s at %s, block %u, page %u, byte %u: %02x, not %02x",
                 nw_error_text(wanted), nw_error_text(result), nw_check_step_name(check->step),
                 (unsigned)check->block, (unsigned)check->page, (unsigned)check->offset,
                 check->found, check->expected);
    }
}

static void every_part_of_the_table_passes(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < nw_parts_count(); i++) {
        struct nw_part part;
        struct nw_nand_config config = {.part = &part, .blocks = 37, .seed = 3,
                                        .flags = NW_NAND_UNERASED};
        struct nw_nand *nand;
        struct nw_check check;

        assert_int_equal(nw_parts_get(nw_parts_at(i)->rows[0].value, &part), NW_OK);
        if (part.kind > NW_PART_DATAFLASH || part.page_bytes > 4096) {
            continue;
        }
        assert_int_equal(nw_nand_open(&nand, &config), NW_OK);
        check = check_of(nw_nand_chip(nand), NULL);
        expect(&check, NW_OK, NW_CHECK_PASSED);
        assert_int_equal(nw_nand_misuse(nand)->error, 0);
        nw_nand_close(nand);
    }
}

static void spi_nand_passes(void **state)
{
    static const struct spi_nand_kind kinds[] = {{{0xEF, 0xAA, 0x21}, 1, 1, 2, 1, 1024, 0},
                                                 {{0xC2, 0x22, 0}, 1, 2, 1, 1, 2048, 0}};

    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        struct spi_nand_model model;
        struct nw_spi_nand nand;
        struct nw_check check;

        spi_nand_model_open(&model, &kinds[i], 3);
        assert_int_equal(nw_spi_nand_open(&nand, &model.spi.spi, NULL), NW_OK);
        check = check_of(&nand.chip, &model.spi.bus);
        expect(&check, NW_OK, NW_CHECK_PASSED);
        spi_nand_model_close(&model);
    }
}

static void spi_nor_passes(void **state)
{
    static const struct spi_nor_kind kind = {{0xEF, 0x40, 0x18}, 24, 16, 0, 0, 0, 0, 0};
    struct spi_nor_model model;
    struct nw_spi_nor nor;
    struct nw_check check;

    (void)state;
    spi_nor_model_open(&model, &kind, 3);
    assert_int_equal(nw_spi_nor_open(&nor, &model.spi.spi, NULL), NW_OK);
    check = check_of(&nor.chip, &model.spi.bus);
    expect(&check, NW_OK, NW_CHECK_PASSED);
    spi_nor_model_close(&model);
}

static void dataflash_passes(void **state)
{
    static const struct dataflash_kind kind = {{0x1F, 0x24, 0, 1}, 7, 0, 2, 264, 2048};
    struct dataflash_model model;
    struct nw_dataflash flash;
    struct nw_check check;

    (void)state;
    dataflash_model_open(&model, &kind, 3);
    assert_int_equal(nw_dataflash_open(&flash, &model.spi.spi), NW_OK);
    check = check_of(&flash.chip, &model.spi.bus);
    expect(&check, NW_OK, NW_CHECK_PASSED);
    dataflash_model_close(&model);
}

static void parallel_nand_passes(void **state)
{
    static const struct parallel_nand_kind kinds[] = {
        {{0xEC, 0xF1, 0x00, 0x95}, 0, 2, 0, 4, 1024}, {{0x98, 0x79, 0xA5, 0xC0}, 1, 3, 0, 4, 8192}};

    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        struct parallel_nand_model model;
        struct nw_parallel_nand nand;
        struct nw_check check;

        parallel_nand_model_open(&model, &kinds[i], 3);
        assert_int_equal(nw_parallel_nand_open(&nand, &model.wires, NULL), NW_OK);
        check = check_of(&nand.chip, &model.bus);
        expect(&check, NW_OK, NW_CHECK_PASSED);
        parallel_nand_model_close(&model);
    }
}

/* A chip with one promise broken, in front of one that keeps them all. */
struct liar {
    struct nw_chip chip;
    struct nw_chip_ops ops;
    struct nw_chip *below;
    uint8_t lie; /* the step that has to find it */
};

static struct liar liar;

/* Three lies about the spare bytes that a rig told and got away with: a read of them alone, not
 * from the first on; a program of them alone that does nothing; and one that forgets where they
 * begin, for no part had any but the last. */
enum { LIE_READ_AT = 90, LIE_ALONE, LIE_PROGRAM_AT };

static int pass_on(struct nw_chip_req *req, int (*verb)(struct nw_chip_req *))
{
    int result;

    req->chip = liar.below;
    result = verb(req);
    req->chip = &liar.chip;
    return result;
}

static int liar_read(struct nw_chip_req *req)
{
    uint32_t page = req->page;
    int result;

    if (liar.lie == NW_CHECK_ADDRESS) {
        req->page &= ~(16U * 64U); /* one address line is not connected */
    }
    result = pass_on(req, nw_chip_read);
    req->page = page;
    if (liar.lie == NW_CHECK_DATA && req->length > 0 && page == 4U * 64U + 7U) {
        req->data[req->length / 2U] ^= 0x10;
    }
    if (liar.lie == NW_CHECK_SPARE && req->spare_length > 1U && req->spare[1] != 0xFF &&
        page == 2U * 64U) {
        req->spare[0] ^= 1;
    }
    if (liar.lie == NW_CHECK_ERASED && req->length == 0 && req->spare_length > 0 &&
        req->spare[0] == 0xFF && page % 64U == 63U) {
        req->spare[req->spare_length - 1U] = 0xFE;
    }
    if (liar.lie == LIE_READ_AT && req->length == 0 && req->spare_offset > 0) {
        req->spare[0] ^= 0x10;
    }
    return liar.lie == NW_CHECK_READ && page == 64U ? (int)NW_ERR_ECC : result;
}

static int liar_program(struct nw_chip_req *req)
{
    uint32_t page = req->page;
    uint16_t spare_offset = req->spare_offset;
    int result;

    if (liar.lie == LIE_ALONE && req->length == 0) {
        return NW_OK;
    }
    if (liar.lie == NW_CHECK_ADDRESS) {
        req->page &= ~(16U * 64U);
    }
    req->spare_offset = liar.lie == LIE_PROGRAM_AT ? 0 : spare_offset;
    result = pass_on(req, nw_chip_program);
    req->page = page;
    req->spare_offset = spare_offset;
    if (liar.lie == NW_CHECK_REQUEST && page == 70) {
        req->data[3]++;
    }
    return liar.lie == NW_CHECK_PROGRAM && page == 5 ? (int)NW_ERR_PROGRAM : result;
}

static int liar_erase(struct nw_chip_req *req)
{
    uint32_t block = req->block;
    int result;

    if (liar.lie == NW_CHECK_ADDRESS) {
        req->block &= ~16U;
    }
    result = pass_on(req, nw_chip_erase);
    req->block = block;
    return liar.lie == NW_CHECK_ERASE && block == 1 ? (int)NW_ERR_ERASE : result;
}

static int liar_is_bad(struct nw_chip_req *req)
{
    return liar.lie == NW_CHECK_IS_BAD && req->block == 9 ? (int)NW_ERR_IO
                                                         : pass_on(req, nw_chip_is_bad);
}

static int liar_mark_bad(struct nw_chip_req *req)
{
    return liar.lie == NW_CHECK_MARK ? (int)NW_OK : pass_on(req, nw_chip_mark_bad);
}

static int liar_copy(struct nw_chip_req *req)
{
    return liar.lie == NW_CHECK_COPY ? (int)NW_OK : pass_on(req, nw_chip_copy);
}

static void every_lie_is_found(void **state)
{
    static const struct {
        uint8_t lie;
        int answer;
        uint8_t step;
    } lies[] = {
        {NW_CHECK_PASSED, NW_OK, NW_CHECK_PASSED},
        {NW_CHECK_IS_BAD, NW_ERR_IO, NW_CHECK_IS_BAD},
        {NW_CHECK_ERASE, NW_ERR_ERASE, NW_CHECK_ERASE},
        {NW_CHECK_ERASED, NW_ERR_CORRUPT, NW_CHECK_ERASED},
        {NW_CHECK_PROGRAM, NW_ERR_PROGRAM, NW_CHECK_PROGRAM},
        {NW_CHECK_READ, NW_ERR_ECC, NW_CHECK_READ},
        {NW_CHECK_DATA, NW_ERR_CORRUPT, NW_CHECK_DATA},
        {NW_CHECK_SPARE, NW_ERR_CORRUPT, NW_CHECK_SPARE},
        {NW_CHECK_REQUEST, NW_ERR_CORRUPT, NW_CHECK_REQUEST},
        {NW_CHECK_ADDRESS, NW_ERR_CORRUPT, NW_CHECK_ADDRESS},
        {NW_CHECK_COPY, NW_ERR_UNWRITTEN, NW_CHECK_COPY},
        {LIE_READ_AT, NW_ERR_CORRUPT, NW_CHECK_SPARE},
        {LIE_ALONE, NW_ERR_CORRUPT, NW_CHECK_SPARE},
        {LIE_PROGRAM_AT, NW_ERR_NOT_ERASED, NW_CHECK_PROGRAM}, /* the twin saw it first */
    };
    struct nw_part part;
    struct nw_nand_config config = {.part = &part, .blocks = 40};

    (void)state;
    assert_int_equal(nw_parts_get("K9F1G08U0A", &part), NW_OK);
    for (uint32_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
        struct nw_nand *nand;
        struct nw_check check;

        assert_int_equal(nw_nand_open(&nand, &config), NW_OK);
        memset(&liar, 0, sizeof liar);
        liar.below = nw_nand_chip(nand);
        liar.ops = (struct nw_chip_ops){.read = liar_read, .program = liar_program,
                                        .erase = liar_erase, .is_bad = liar_is_bad,
                                        .mark_bad = liar_mark_bad, .copy = liar_copy};
        liar.chip = *liar.below;
        liar.chip.ops = &liar.ops;
        liar.lie = lies[i].lie;
        check = check_of(&liar.chip, NULL);
        expect(&check, lies[i].answer, lies[i].step);
        nw_nand_close(nand);
    }
    liar.chip.geometry.page_bytes = 0;
    struct nw_check check = check_of(&liar.chip, NULL);
    expect(&check, NW_ERR_CONFIG, NW_CHECK_GEOMETRY);
    check.ram_bytes = nw_check_ram_bytes(&liar.chip.geometry) - 1U;
    assert_int_equal(nw_chip_check(&check), NW_ERR_RAM);
}

/* Two lies a rig told and got away with: a buffer_read that always reads buffer 0, for what it read
 * was read over, and all buffers held the same; and an is_bad that changes the request. The other
 * verbs' requests are looked at too. */
enum { LIE_BUFFER = 100, LIE_MOVED, LIE_ERASED, LIE_LOADED };

static int buffer_read(struct nw_chip_req *req)
{
    uint8_t buffer = req->buffer;
    int result;

    req->buffer = liar.lie == LIE_BUFFER ? 0 : buffer;
    result = pass_on(req, nw_chip_buffer_read);
    req->buffer = buffer;
    return result;
}

static int buffer_load(struct nw_chip_req *req)
{
    int result = pass_on(req, nw_chip_buffer_load);

    req->page += liar.lie == LIE_LOADED;
    return result;
}

static int buffer_write(struct nw_chip_req *req)
{
    return pass_on(req, nw_chip_buffer_write);
}

static int buffer_program(struct nw_chip_req *req)
{
    return pass_on(req, nw_chip_buffer_program);
}

static int moving_is_bad(struct nw_chip_req *req)
{
    int result = pass_on(req, nw_chip_is_bad);

    req->block = liar.lie == LIE_MOVED ? 0 : req->block;
    return result;
}

static int moving_erase(struct nw_chip_req *req)
{
    int result = pass_on(req, nw_chip_erase);

    req->page += liar.lie == LIE_ERASED;
    return result;
}

static void every_lie_of_a_request_is_found(void **state)
{
    static const uint8_t lies[][2] = {{NW_CHECK_PASSED, NW_CHECK_PASSED},
                                      {LIE_BUFFER, NW_CHECK_BUFFER},
                                      {LIE_MOVED, NW_CHECK_REQUEST},
                                      {LIE_ERASED, NW_CHECK_REQUEST},
                                      {LIE_LOADED, NW_CHECK_REQUEST}};
    struct nw_part part;
    struct nw_nand_config config = {.part = &part, .blocks = 40};

    (void)state;
    assert_int_equal(nw_parts_get("AT45DB041B", &part), NW_OK);
    for (uint32_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
        struct nw_nand *nand;
        struct nw_check check;

        assert_int_equal(nw_nand_open(&nand, &config), NW_OK);
        memset(&liar, 0, sizeof liar);
        liar.below = nw_nand_chip(nand);
        liar.ops = (struct nw_chip_ops){.read = liar_read, .program = liar_program,
                                        .erase = moving_erase, .is_bad = moving_is_bad,
                                        .buffer_load = buffer_load, .buffer_read = buffer_read,
                                        .buffer_write = buffer_write,
                                        .buffer_program = buffer_program};
        liar.chip = *liar.below;
        liar.chip.ops = &liar.ops;
        liar.lie = lies[i][0];
        check = check_of(&liar.chip, NULL);
        assert_true(liar.chip.geometry.buffers > 1);
        expect(&check, i == 0 ? NW_OK : NW_ERR_CORRUPT, lies[i][1]);
        nw_nand_close(nand);
    }
}

static void a_mark_is_kept(void **state)
{
    static const struct spi_nand_kind kind = {{0xEF, 0xAA, 0x21}, 1, 1, 2, 1, 1024, 0};
    struct spi_nand_model model;
    struct nw_spi_nand nand;
    struct nw_check check;
    uint32_t good = 0;

    (void)state;
    spi_nand_model_open(&model, &kind, 3);
    assert_int_equal(nw_spi_nand_open(&nand, &model.spi.spi, NULL), NW_OK);
    check = check_of(&nand.chip, &model.spi.bus);
    for (uint32_t block = 0; block < 1024; block++) {
        good = nw_nand_block_bad(model.spi.bus.nand, block) == 0 ? block : good;
    }
    assert_int_equal(nw_check_mark(&check), NW_OK);
    assert_int_equal(nw_nand_block_bad(model.spi.bus.nand, good), 1);
    spi_nand_model_close(&model);
}

/* Where the chip cannot tell of the last block it is not known which one that is: once the block
 * before it was marked for good. */
static void an_error_is_no_mark(void **state)
{
    struct nw_nand_config config = {.blocks = 20, .seed = 3};
    struct nw_fault fault = {.verb = NW_VERB_IS_BAD, .times = 1, .error = NW_ERR_IO};
    struct nw_faults faults;
    struct nw_nand *nand;
    struct nw_part part;

    (void)state;
    assert_int_equal(nw_parts_get("K9F1G08U0A", &part), NW_OK);
    part.factory_bad = 0;
    config.part = &part;
    assert_int_equal(nw_nand_open(&nand, &config), NW_OK);
    nw_faults_open(&faults, nw_nand_chip(nand), &fault, 1, 1);
    struct nw_check check = check_of(&faults.chip, NULL);
    int (*const verbs[])(struct nw_check *) = {nw_check_mark, nw_check_cut_begin,
                                               nw_check_cut_end};
    for (unsigned i = 0; i < sizeof verbs / sizeof verbs[0]; i++) {
        fault.hits = 0;
        assert_int_equal(verbs[i](&check), NW_ERR_IO);
        assert_int_equal(check.step, NW_CHECK_IS_BAD);
        assert_int_equal(check.block, 19);
    }
    for (uint32_t block = 0; block < config.blocks; block++) {
        assert_int_equal(nw_nand_block_bad(nand, block), 0);
    }
    assert_int_equal(nw_nand_stats(nand)->erases, 0);
    nw_nand_close(nand);
}

/* The plug is pulled at any byte while it runs; what is left passes, but for a part that damages
 * pages it was not writing. */
static void cuts_by_hand(void **state)
{
    static const struct spi_nand_kind kind = {{0xEF, 0xAB, 0x21}, 1, 1, 2, 1, 20, 0};
    static const struct nw_spi_nand_part row = {
        0xEF, 0xAB, 0x21, NW_SPI_NAND_BIT_3_STOPS | NW_SPI_NAND_FOUR_PROGRAMS, 20, 2048,
        NW_SPI_NAND_ECC_W25N};
    struct spi_nand_model model;
    struct nw_spi_nand nand;
    struct nw_check check;
    struct nw_random random;
    uint32_t caught = 0;

    (void)state;
    nw_random_seed(&random, 1);
    spi_nand_model_open(&model, &kind, 3);
    for (uint32_t cut = 0; cut < 120; cut++) {
        int result;

        assert_int_equal(nw_spi_nand_open(&nand, &model.spi.spi, &row), NW_OK);
        check = check_of(&nand.chip, &model.spi.bus);
        model.spi.bus.cut_at = model.spi.bus.bytes + 6000U + nw_random_next(&random) % 500000U;
        result = nw_check_cut_begin(&check);
        assert_int_equal(result, NW_ERR_POWER);
        spi_nand_model_power_up(&model);
        assert_int_equal(nw_spi_nand_open(&nand, &model.spi.spi, &row), NW_OK);
        if (cut >= 100) {
            uint32_t bit = nw_random_next(&random) % (2048U * 8U);

            /* A page written long before, in the block beside. */
            nw_nand_flip(model.spi.bus.nand, 18U * 64U, bit);
            caught += nw_check_cut_end(&check) == NW_ERR_CORRUPT;
            continue;
        }
        result = nw_check_cut_end(&check);
        if (result != NW_OK) {
            fail_msg("cut %u: %s at %s, page %u", (unsigned)cut, nw_error_text(result),
                     nw_check_step_name(check.step), (unsigned)check.page);
        }
    }
    assert_true(caught > 8);
    spi_nand_model_close(&model);
}

/* The chip behind a filter that corrects bits in parts of a page; RAM for it. */
static struct nw_chip *corrected(struct nw_ecc *ecc, struct nw_nand *nand, uint8_t parts)
{
    static uint8_t unit[1024];
    struct nw_ecc_config config = {.parts = parts};

    assert_int_equal(nw_ecc_open(ecc, nw_nand_chip(nand), &config, unit, sizeof unit), NW_OK);
    return &ecc->chip;
}

/* A filter codes data and spare of a part together, in one program. The check wrote all the spare
 * with the first part: what the others brought was coded without it, and a good chip failed. */
static void corrected_chips_pass(void **state)
{
    struct nw_part part;
    struct nw_nand_config config = {.part = &part, .blocks = 20, .seed = 3};

    (void)state;
    assert_int_equal(nw_parts_get("K9F1G08U0A", &part), NW_OK);
    for (uint8_t parts = 1; parts <= 4; parts = (uint8_t)(2U * parts)) {
        struct nw_nand *nand;
        struct nw_ecc ecc;

        assert_int_equal(nw_nand_open(&nand, &config), NW_OK);
        struct nw_check check = check_of(corrected(&ecc, nand, parts), NULL);
        expect(&check, NW_OK, NW_CHECK_PASSED);
        assert_int_equal(nw_nand_misuse(nand)->error, 0);
        nw_nand_close(nand);
    }
}

static void passes(const struct nw_nand_config *config)
{
    struct nw_nand *nand;

    assert_int_equal(nw_nand_open(&nand, config), NW_OK);
    struct nw_check check = check_of(nw_nand_chip(nand), NULL);
    expect(&check, NW_OK, NW_CHECK_PASSED);
    assert_int_equal(nw_nand_misuse(nand)->error, 0);
    nw_nand_close(nand);
}

/* The page behind the one that is copied was taken from the next block, which holds nothing. */
static void blocks_of_few_pages_pass(void **state)
{
    struct nw_part part;
    struct nw_nand_config config = {.part = &part, .blocks = 20, .seed = 3};

    (void)state;
    assert_int_equal(nw_parts_get("K9F1G08U0A", &part), NW_OK);
    for (part.block_pages = 1; part.block_pages < 4; part.block_pages++) {
        for (part.buffers = 0; part.buffers < 4; part.buffers++) {
            passes(&config);
        }
    }
}

/* A byte of its own was written at offset 1 of each page buffer, which a page of one byte has not:
 * the chip refused it, and was said to be the one at fault. */
static void small_pages_pass(void **state)
{
    struct nw_part part;
    struct nw_nand_config config = {.part = &part, .blocks = 20, .seed = 3};

    (void)state;
    assert_int_equal(nw_parts_get("K9F1G08U0A", &part), NW_OK);
    part.program_bytes = 1;
    for (part.page_bytes = 1; part.page_bytes < 5; part.page_bytes++) {
        for (part.buffers = 0; part.buffers < 4; part.buffers++) {
            passes(&config);
        }
    }
}

/* The first read behind a program was made for its time alone: a driver that reads too early there
 * was not found out, nor one whose read answers an error. */
static void first_reads_are_judged(void **state)
{
    struct nw_nand_config config = {.blocks = 9, .seed = 3};
    struct nw_fault fault = {.verb = NW_VERB_READ, .times = 1, .error = NW_ERR_IO};
    struct nw_part part;
    uint32_t reads = 0;

    (void)state;
    assert_int_equal(nw_parts_get("K9F1G08U0A", &part), NW_OK);
    part.factory_bad = 0;
    part.block_pages = 4;
    config.part = &part;
    do {
        struct nw_faults faults;
        struct nw_nand *nand;

        assert_int_equal(nw_nand_open(&nand, &config), NW_OK);
        fault.skip = reads++;
        fault.hits = 0;
        fault.seen = 0;
        nw_faults_open(&faults, nw_nand_chip(nand), &fault, 1, 1);
        struct nw_check check = check_of(&faults.chip, NULL);
        int result = nw_chip_check(&check);
        assert_int_equal(result, fault.hits > 0 ? NW_ERR_IO : NW_OK);
        nw_nand_close(nand);
    } while (fault.hits > 0);
    assert_true(reads > 100);
}

/* A cut at each operation of nw_check_cut_begin() on a part that keeps its contract, plain and
 * behind a filter, behind a check, behind a run that was not cut, and behind one that was. Once a
 * cut of the very first erase was held against the chip, and pages not programmed were read. */
static uint32_t cut_everywhere(struct nw_nand *nand, uint8_t parts, uint32_t before)
{
    struct nw_nand *now;
    uint32_t cuts = 0;
    int off = 1;

    assert_int_equal(nw_nand_fork(&now, nand), NW_OK);
    for (uint32_t at = 0; off; at++) {
        for (uint8_t torn = 0; off && torn < 8; torn++) {
            static const uint8_t phases[] = {NW_CUT_BEFORE, NW_CUT_AFTER};
            struct nw_cut cut = {.after = at, .phase = NW_CUT_INSIDE, .data = torn, .spare = torn};
            struct nw_ecc ecc;

            if (torn >= 6) {
                cut.phase = phases[torn - 6U];
                cut.data = 0;
                cut.spare = 0;
            }
            nw_nand_assign(now, nand);
            struct nw_chip *chip = parts > 0 ? corrected(&ecc, now, parts) : nw_nand_chip(now);
            struct nw_check check = check_of(chip, NULL);
            nw_nand_cut(now, &cut);
            (void)nw_check_cut_begin(&check);
            off = nw_nand_is_off(now);
            nw_nand_cut(now, NULL);
            nw_nand_power_up(now);
            nw_nand_forgive(now);
            int result = nw_check_cut_end(&check);
            if (result != NW_OK || nw_nand_misuse(now)->error != 0) {
                fail_msg("before %u, parts %u, operation %u, torn %u: %d at %s, block %u, page %u, "
                         "misuse %d",
                         (unsigned)before, parts, (unsigned)at, torn, result,
                         nw_check_step_name(check.step), (unsigned)check.block,
                         (unsigned)check.page, nw_nand_misuse(now)->error);
            }
            cuts += (uint32_t)off;
        }
    }
    nw_nand_close(now);
    return cuts;
}

static void cuts_everywhere(void **state)
{
    static const uint8_t parts[] = {0, 1, 4};
    struct nw_part part;
    struct nw_nand_config config = {
        .part = &part, .blocks = 8, .seed = 3, .flags = NW_NAND_UNERASED};

    (void)state;
    assert_int_equal(nw_parts_get("K9F1G08U0A", &part), NW_OK);
    part.factory_bad = 0;
    part.block_pages = 6;
    for (unsigned i = 0; i < sizeof parts; i++) {
        struct nw_nand *nand;
        struct nw_ecc ecc;

        assert_int_equal(nw_nand_open(&nand, &config), NW_OK);
        for (uint32_t before = 0; before < 4; before++) {
            struct nw_chip *chip = parts[i] > 0 ? corrected(&ecc, nand, parts[i])
                                                : nw_nand_chip(nand);
            struct nw_check check = check_of(chip, NULL);

            if (before == 1) {
                expect(&check, NW_OK, NW_CHECK_PASSED);
            } else if (before > 1) {
                assert_int_equal(nw_check_cut_begin(&check), NW_OK);
                assert_int_equal(before == 3 ? nw_check_cut_end(&check) : (int)NW_OK, NW_OK);
            }
            assert_true(cut_everywhere(nand, parts[i], before) > 100);
        }
        nw_nand_close(nand);
    }
}

/* What is measured is what the model takes; the file is kept beside the models, and a test of the
 * command opens it. */
static void measured_part(void **state)
{
    static const struct parallel_nand_kind kind = {{0xEC, 0xF1, 0x00, 0x95}, 0, 2, 0, 4, 1024};
    char path[] = "/tmp/nandwich-measured-XXXXXX";
    struct parallel_nand_model model;
    struct nw_parallel_nand nand;
    struct nw_check check;
    char got[2048] = "";
    char wanted[2048] = "";
    FILE *file;

    (void)state;
    assert_true(close(mkstemp(path)) == 0);
    parallel_nand_model_open(&model, &kind, 3);
    assert_int_equal(nw_parallel_nand_open(&nand, &model.wires, NULL), NW_OK);
    check = check_of(&nand.chip, &model.bus);
    expect(&check, NW_OK, NW_CHECK_PASSED);
    assert_int_equal(nw_measured_save(&check, path), NW_OK);
    file = fopen(path, "r");
    assert_non_null(file);
    assert_true(fread(got, 1, sizeof got - 1U, file) > 0);
    (void)fclose(file);
    (void)remove(path);
    file = fopen(NW_HISTORIES "/../bus/measured.toml", "r");
    if (file != NULL) {
        assert_non_null(fgets(wanted, sizeof wanted, file)); /* the licence */
        wanted[fread(wanted, 1, sizeof wanted - 1U, file)] = '\0';
        (void)fclose(file);
    }
    assert_string_equal(got, wanted);
    assert_int_equal(nw_measured_save(&check, "/nowhere/at/all"), NW_ERR_IO);
    parallel_nand_model_close(&model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_part_of_the_table_passes),
        cmocka_unit_test(spi_nand_passes),
        cmocka_unit_test(spi_nor_passes),
        cmocka_unit_test(dataflash_passes),
        cmocka_unit_test(parallel_nand_passes),
        cmocka_unit_test(every_lie_is_found),
        cmocka_unit_test(every_lie_of_a_request_is_found),
        cmocka_unit_test(a_mark_is_kept),
        cmocka_unit_test(an_error_is_no_mark),
        cmocka_unit_test(cuts_by_hand),
        cmocka_unit_test(corrected_chips_pass),
        cmocka_unit_test(blocks_of_few_pages_pass),
        cmocka_unit_test(small_pages_pass),
        cmocka_unit_test(first_reads_are_judged),
        cmocka_unit_test(cuts_everywhere),
        cmocka_unit_test(measured_part),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

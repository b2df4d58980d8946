/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: the driver of NAND on an eight-bit bus tells the shape of large parts by ONFI and by id and
 * of small ones by id, keeps the chip contract, tells every error, never asks a busy part for
 * anything but its status, and what stands on it survives power cuts at any cycle of the bus.
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
#include "nandwich-sim/torture.h"
#include "nandwich/driver_parallel_nand.h"
#include "parallel_nand_model.h"

struct rig {
    struct parallel_nand_model model;
    struct nw_parallel_nand nand;
    const struct nw_parallel_nand_part *part;
};

static const struct parallel_nand_kind k9f1g08 = {{0xEC, 0xF1, 0x00, 0x95}, 0, 2, 0, 4, 1024};
static const struct parallel_nand_kind mt29f2g = {{0x2C, 0xDA, 0x90, 0x95}, 0, 3, 1, 4, 2048};
/* Not in the table, and only the last copy of its parameter page is right. */
static const struct parallel_nand_kind spoilt = {{0x2C, 0xE0, 0x90, 0x95}, 0, 3, 3, 4, 512};
static const struct parallel_nand_kind k9k8g08 = {{0xEC, 0xD3, 0x51, 0x95}, 0, 3, 0, 4, 8192};
static const struct parallel_nand_kind k9f2808 = {{0xEC, 0x73, 0xA5, 0xC0}, 1, 2, 0, 1, 1024};
static const struct parallel_nand_kind k9f1208 = {{0xEC, 0x76, 0xA5, 0xC0}, 1, 3, 0, 1, 4096};
static const struct parallel_nand_kind tc58dvg02 = {{0x98, 0x79, 0xA5, 0xC0}, 1, 3, 0, 4, 8192};

/* Small ones of nobody's, for work with many cuts. */
static const struct parallel_nand_kind few = {{0xEC, 0x71, 0xA5, 0xC0}, 1, 2, 0, 4, 24};
static const struct nw_parallel_nand_part few_row = {0x71, 9, 2, 4, 24};
static const struct parallel_nand_kind large = {{0xEC, 0xF0, 0x00, 0x95}, 0, 2, 2, 4, 20};
static const struct nw_parallel_nand_part large_row = {0xF0, 11, 2, 4, 20};

static int open_rig(struct rig *rig, const struct parallel_nand_kind *kind)
{
    memset(rig, 0, sizeof *rig);
    parallel_nand_model_open(&rig->model, kind, 3);
    return nw_parallel_nand_open(&rig->nand, &rig->model.wires, rig->part);
}

static struct nw_chip_req request(struct rig *rig, uint32_t block)
{
    static uint8_t data[2048];
    static uint8_t spare[64];
    const struct nw_geometry *geometry = &rig->nand.chip.geometry;

    memset(data, 0x5A, sizeof data);
    memset(spare, 0xC3, sizeof spare);
    return (struct nw_chip_req){.chip = &rig->nand.chip, .block = block,
                                .page = block * geometry->block_pages,
                                .length = geometry->page_bytes, .data = data, .spare = spare,
                                .spare_length = geometry->spare_bytes};
}

static void each_part_tells_its_shape(void **state)
{
    const struct parallel_nand_kind *kinds[] = {&k9f1g08, &mt29f2g, &spoilt,  &k9k8g08,
                                                &k9f2808, &k9f1208, &tc58dvg02};
    struct rig rig;

    (void)state;
    for (uint32_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        const struct nw_geometry *geometry = &rig.nand.chip.geometry;

        assert_int_equal(open_rig(&rig, kinds[i]), NW_OK);
        assert_int_equal(geometry->blocks, kinds[i]->blocks);
        assert_int_equal(geometry->block_pages, kinds[i]->small ? 32 : 64);
        assert_int_equal(geometry->page_bytes, kinds[i]->small ? 512 : 2048);
        assert_int_equal(geometry->spare_bytes, kinds[i]->small ? 15 : 62);
        assert_int_equal(geometry->page_programs, kinds[i]->page_programs);
        assert_int_equal(geometry->flags, kinds[i]->small ? 0 : NW_CHIP_IN_ORDER);
        assert_int_equal(geometry->endurance, 100000);
        for (uint32_t block = 0, done = 0; done < 2; block++) {
            if (nw_nand_block_bad(rig.model.bus.nand, block) == 0) {
                driver_trial_verbs(&rig.nand.chip, block, 1, i);
                done++;
            }
        }
        parallel_nand_model_close(&rig.model);
    }
}

static void parts_that_do_not_fit(void **state)
{
    static const struct parallel_nand_kind unknown = {{0xEC, 0x71, 0xA5, 0xC0}, 1, 2, 0, 1, 512};
    static const struct parallel_nand_kind nobody = {{0xFF, 0xFF, 0xFF, 0xFF}, 1, 2, 0, 1, 512};
    static const struct parallel_nand_kind pulled = {{0, 0, 0, 0}, 1, 2, 0, 1, 512};
    static const struct parallel_nand_kind wide = {{0xEC, 0xF1, 0, 0xA6}, 0, 2, 0, 4, 1024};
    struct rig rig;

    (void)state;
    assert_int_equal(open_rig(&rig, &unknown), NW_ERR_UNSUPPORTED);
    assert_int_equal(rig.nand.id[1], 0x71);
    parallel_nand_model_close(&rig.model);
    assert_int_equal(open_rig(&rig, &nobody), NW_ERR_NOT_FOUND);
    parallel_nand_model_close(&rig.model);
    assert_int_equal(open_rig(&rig, &pulled), NW_ERR_NOT_FOUND);
    parallel_nand_model_close(&rig.model);
    /* The fourth byte of the id tells 4 KiB pages. */
    assert_int_equal(open_rig(&rig, &wide), NW_ERR_CONFIG);
    parallel_nand_model_close(&rig.model);
    /* Another part than the board's. */
    assert_int_equal(open_rig(&rig, &k9f1g08), NW_OK);
    assert_int_equal(nw_parallel_nand_open(&rig.nand, &rig.model.wires, &large_row),
                     NW_ERR_CONFIG);
    parallel_nand_model_close(&rig.model);
    /* The parameter page differs from the table. */
    assert_int_equal(open_rig(&rig, &mt29f2g), NW_OK);
    rig.model.told = (struct onfi_shape){1024, 64, 2048, 64, 0x23, 4, 1, 0};
    parallel_nand_model_power_up(&rig.model);
    assert_int_equal(nw_parallel_nand_open(&rig.nand, &rig.model.wires, NULL), NW_ERR_CONFIG);
    parallel_nand_model_close(&rig.model);
}

/* A rig's parameter pages, each with a right checksum: no spare bytes, of which the mark's two were
 * taken (65,534 were left); more rows than the row cycles address, or none or more cycles than an
 * address has; a page that no column reaches the end of. All of them opened. */
static void pages_that_cannot_be(void **state)
{
    static const struct onfi_shape shapes[] = {
        {512, 64, 2048, 0, 0x23, 4, 1, 0},    {512, 64, 2048, 1, 0x23, 4, 1, 0},
        {1025, 64, 2048, 64, 0x22, 4, 1, 0},  {512, 64, 2048, 64, 0x20, 4, 1, 0},
        {512, 64, 2048, 64, 0x25, 4, 1, 0},   {512, 64, 16384, 0xE000, 0x23, 4, 1, 0},
    };
    struct rig rig;

    (void)state;
    memset(&rig, 0, sizeof rig);
    parallel_nand_model_open(&rig.model, &spoilt, 3);
    for (uint32_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        rig.model.told = shapes[i];
        parallel_nand_model_power_up(&rig.model);
        assert_int_equal(nw_parallel_nand_open(&rig.nand, &rig.model.wires, NULL), NW_ERR_CONFIG);
    }
    rig.model.told = (struct onfi_shape){1024, 64, 2048, 64, 0x22, 4, 1, 0}; /* just so */
    parallel_nand_model_power_up(&rig.model);
    assert_int_equal(nw_parallel_nand_open(&rig.nand, &rig.model.wires, NULL), NW_OK);
    /* A part on 16 wires was opened, and half of each of its words was lost. */
    rig.model.told.wires16 = 1;
    parallel_nand_model_power_up(&rig.model);
    assert_int_equal(nw_parallel_nand_open(&rig.nand, &rig.model.wires, NULL), NW_ERR_UNSUPPORTED);
    parallel_nand_model_close(&rig.model);
}

static void bad_blocks(void **state)
{
    const struct parallel_nand_kind *kinds[] = {&k9f1g08, &k9f2808};
    struct rig rig;

    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t bad = 0;

        assert_int_equal(open_rig(&rig, kinds[i]), NW_OK);
        for (uint32_t block = 0; block < 2048; block++) {
            struct nw_chip_req req = request(&rig, block % 1024U);

            rig.model.mark_second = block >= 1024U;
            assert_int_equal(nw_chip_is_bad(&req),
                             nw_nand_block_bad(rig.model.bus.nand, block % 1024U));
            bad += (uint32_t)nw_chip_is_bad(&req);
        }
        assert_true(bad > 0);
        for (uint32_t block = 1000; block < 1020; block++) {
            struct nw_chip_req req = request(&rig, block);

            assert_int_equal(nw_chip_mark_bad(&req), NW_OK);
            assert_int_equal(nw_chip_is_bad(&req), 1);
        }
        parallel_nand_model_close(&rig.model);
    }
}

static void failures_are_told(void **state)
{
    struct rig rig;
    struct nw_chip_req req;

    (void)state;
    assert_int_equal(open_rig(&rig, &k9f1g08), NW_OK);
    req = request(&rig, 300);
    rig.model.fail_next = true;
    assert_int_equal(nw_chip_program(&req), NW_ERR_PROGRAM);
    req = request(&rig, 301);
    rig.model.fail_next = true;
    assert_int_equal(nw_chip_erase(&req), NW_ERR_ERASE);
    req = request(&rig, 302);
    assert_int_equal(nw_chip_erase(&req), NW_OK);
    /* The WP pin is low: the block is not at fault. */
    rig.model.protect = true;
    assert_int_equal(nw_chip_program(&req), NW_ERR_IO);
    assert_int_equal(nw_chip_erase(&req), NW_ERR_IO);
    assert_int_equal(nw_chip_mark_bad(&req), NW_ERR_IO);
    rig.model.protect = false;
    assert_int_equal(nw_chip_program(&req), NW_OK);
    parallel_nand_model_close(&rig.model);
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
    assert_int_equal(open_rig(&rig, &k9f1g08), NW_OK);
    for (uint32_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct nw_chip_req req = {.chip = &rig.nand.chip, .block = 900 + i};

        rig.model.fail_next = rows[i].fails[0];
        rig.model.fail_then = rows[i].fails[1];
        assert_int_equal(nw_chip_mark_bad(&req), rows[i].answer);
    }
    parallel_nand_model_close(&rig.model);
}

static void stuck_busy(void **state)
{
    struct rig rig;
    struct nw_chip_req req;
    int (*const verbs[])(struct nw_chip_req *) = {nw_chip_read, nw_chip_program, nw_chip_erase,
                                                  nw_chip_is_bad, nw_chip_mark_bad};

    (void)state;
    assert_int_equal(open_rig(&rig, &k9f1208), NW_OK);
    for (uint32_t i = 0; i < 5; i++) {
        uint64_t before = rig.model.bus.now_ns;

        req = request(&rig, 40);
        rig.model.bus.stuck = true;
        assert_int_equal(verbs[i](&req), NW_ERR_BUSY);
        assert_in_range(rig.model.bus.now_ns - before, 20000000, 40000000);
        assert_int_equal(verbs[4 - i](&req), NW_ERR_BUSY);
        rig.model.bus.stuck = false;
        req = request(&rig, 41);
        assert_int_equal(nw_chip_erase(&req), NW_OK);
    }
    rig.model.bus.stuck = true;
    assert_int_equal(nw_parallel_nand_open(&rig.nand, &rig.model.wires, NULL), NW_ERR_BUSY);
    rig.model.bus.stuck = false;
    assert_int_equal(nw_parallel_nand_open(&rig.nand, &rig.model.wires, NULL), NW_OK);
    parallel_nand_model_close(&rig.model);
}

/* The header: id all 00 or FF is NW_ERR_NOT_FOUND. With a bus at 0 it was NW_ERR_BUSY, since 00
 * reads as a busy part. */
static void nobody_on_the_bus(void **state)
{
    struct rig rig;

    (void)state;
    assert_int_equal(open_rig(&rig, &k9f1208), NW_OK);
    rig.model.silent = true;
    for (uint32_t line = 0; line <= 0xFF; line += 0xFF) {
        rig.model.line = (uint8_t)line;
        assert_int_equal(nw_parallel_nand_open(&rig.nand, &rig.model.wires, NULL),
                         NW_ERR_NOT_FOUND);
    }
    rig.model.line = 0x20; /* neither ready nor nobody */
    assert_int_equal(nw_parallel_nand_open(&rig.nand, &rig.model.wires, NULL), NW_ERR_BUSY);
    rig.model.silent = false;
    assert_int_equal(nw_parallel_nand_open(&rig.nand, &rig.model.wires, NULL), NW_OK);
    parallel_nand_model_close(&rig.model);
}

static void bus_errors(void **state)
{
    struct rig rig;

    (void)state;
    assert_int_equal(open_rig(&rig, &mt29f2g), NW_OK);
    for (uint32_t at = 1; at < 60; at++) {
        struct nw_chip_req req = request(&rig, 80);
        int result;

        assert_int_equal(nw_chip_erase(&req), NW_OK);
        rig.model.bus.fail_at = at / 2U + 1U;
        rig.model.bus.fail_acts = at % 2U == 1U; /* the part has taken it in, and works */
        result = nw_chip_program(&req);
        assert_int_equal(result, rig.model.bus.fail_at == 0 ? NW_ERR_IO : NW_OK);
        assert_false(rig.model.selected);
        rig.model.bus.fail_at = 0;
    }
    parallel_nand_model_close(&rig.model);
}

static int power_up(struct driver_trial *trial)
{
    struct rig *rig = trial->context;

    parallel_nand_model_power_up(&rig->model);
    return nw_parallel_nand_open(&rig->nand, &rig->model.wires, rig->part);
}

static void with_cuts(const struct parallel_nand_kind *kind,
                      const struct nw_parallel_nand_part *part, const struct nw_layer_kind *layer,
                      uint32_t cuts)
{
    struct rig rig;
    struct driver_trial trial = {.bus = &rig.model.bus, .context = &rig, .chip = &rig.nand.chip,
                                 .power_up = power_up, .cuts = cuts, .cut_bytes = 20000,
                                 .seed = 14};

    memset(&rig, 0, sizeof rig);
    parallel_nand_model_open(&rig.model, kind, 5);
    rig.part = part;
    assert_int_equal(power_up(&trial), NW_OK);
    if (layer != NULL) {
        driver_trial_layer(&trial, layer);
    } else {
        driver_trial_store(&trial);
    }
    parallel_nand_model_close(&rig.model);
}

static void tree_layer_with_cuts(void **state)
{
    (void)state;
    with_cuts(&few, &few_row, &nw_layer_tree, 1000);
    with_cuts(&large, &large_row, &nw_layer_tree, 250);
}

static void store_with_cuts(void **state)
{
    (void)state;
    with_cuts(&large, &large_row, NULL, 250);
}

static void cycle(void *context)
{
    struct driver_trial *trial = context;

    assert_int_equal(power_up(trial), NW_OK);
}

/* The swarm of `nandwich torture` on the driver, with power cycles between requests. */
static void torture(void **state)
{
    struct rig rig;
    struct driver_trial trial = {.context = &rig};
    struct nw_torture run = {.layer = "tree", .chip = &rig.nand.chip, .first = 1, .runs = 12,
                             .steps = 150, .cycle = cycle, .context = &trial};
    struct nw_torture_result result;

    (void)state;
    memset(&rig, 0, sizeof rig);
    parallel_nand_model_open(&rig.model, &few, 5);
    rig.part = &few_row;
    assert_int_equal(power_up(&trial), NW_OK);
    assert_int_equal(nw_torture(&run, &result), NW_OK);
    if (result.what[0] != '\0') {
        fail_msg("seed %u: %s\n%s", (unsigned)result.seed, result.what,
                 result.history != NULL ? result.history : "");
    }
    assert_int_equal(result.runs, 12);
    parallel_nand_model_close(&rig.model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_part_tells_its_shape), cmocka_unit_test(parts_that_do_not_fit),
        cmocka_unit_test(pages_that_cannot_be),      cmocka_unit_test(bad_blocks),
        cmocka_unit_test(failures_are_told),
        cmocka_unit_test(one_mark_is_enough),
        cmocka_unit_test(stuck_busy),                cmocka_unit_test(nobody_on_the_bus),
        cmocka_unit_test(bus_errors),
        cmocka_unit_test(tree_layer_with_cuts),      cmocka_unit_test(store_with_cuts),
        cmocka_unit_test(torture),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

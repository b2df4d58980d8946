/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: a block of moved pages that an error of the bus has spoiled never counts again, also when
 * its erase is cut, the next mount sees little of it, and a later one all. Its pages were the
 * newest of all. Once a session began 64 versions above what its mount saw, however many pages a
 * block has. So on blocks of more pages some of them fell among the session's own versions, where
 * no fence kept them out. When they came back they hid what the host had written since:
 * acknowledged writes were lost.
 * ctest: quick
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "layer_rig.h"

#define PAGES 160U
#define BLOCKS 40U
#define MOVED (PAGES - 20U)
#define SEEN 10U /* pages of the block that the next mount sees */
#define SEEDS 20U
#define SECTORS (4U * PAGES) /* in use: many blocks are free */
#define NONE UINT32_MAX

static const struct nw_layer_kind *const kinds[] = {&nw_layer_fast, &nw_layer_log, &nw_layer_nftl};

#define KINDS (sizeof kinds / sizeof kinds[0])

static const struct layer_shape shape = {.part = "K9F1G08U0A",
                                         .blocks = BLOCKS,
                                         .block_pages = PAGES,
                                         .page_bytes = 512,
                                         .no_copy = 1,
                                         .spare_blocks = 10};

static struct layer_rig rig;
static struct nw_random numbers;

/* A chip on top of the rig's. The next erase is cut, and then most of its block looks erased. */
static struct nw_chip chip;
static struct nw_chip_ops ops;
static int cuts;
static uint32_t hidden;

static int erase(struct nw_chip_req *req)
{
    if (cuts) {
        cuts = 0;
        hidden = req->block;
        return NW_ERR_POWER;
    }
    hidden = req->block == hidden ? NONE : hidden;
    return rig.faults.ops.erase(req);
}

static int read(struct nw_chip_req *req)
{
    if (req->page / PAGES != hidden || req->page % PAGES < SEEN) {
        return rig.faults.ops.read(req);
    }
    memset(req->spare, 0xFF, req->spare_length);
    return NW_OK;
}

static int write_one(uint32_t sector)
{
    struct layer_op op = {.kind = OP_WRITE, .sector = sector, .count = 1};

    return layer_rig_run(&rig, &op);
}

static void write_run(uint32_t first, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(write_one((first + i) % SECTORS), NW_OK);
    }
}

static void begin(const struct nw_layer_kind *kind, uint32_t seed)
{
    nw_random_seed(&numbers, seed);
    layer_rig_open(&rig, kind, &shape, seed);
    assert_int_equal(layer_rig_filter(&rig), NW_OK);
    chip = rig.faults.chip;
    ops = rig.faults.ops;
    ops.erase = erase;
    ops.read = read;
    chip.ops = &ops;
    rig.site.chip = &chip;
    cuts = 0;
    hidden = NONE;
    assert_int_equal(layer_rig_mount(&rig), NW_OK);
    write_run(0, SECTORS);
    for (uint32_t i = 0; i < 50U; i++) { /* so that any block may be the next */
        write_run(nw_random_below(&numbers, SECTORS), 1);
    }
}

/* Writes until the bus fails in a merge that has moved most of a block. Blocks are erased ahead. */
static void stop_merge(void)
{
    struct layer_op idle = {.kind = OP_IDLE, .count = UINT32_MAX};
    int result = NW_OK;

    for (uint32_t i = 0; result == NW_OK && i < 20U * PAGES; i++) {
        layer_rig_quiet(&rig);
        assert_int_equal(layer_rig_run(&rig, &idle), NW_OK);
        rig.fault = (struct nw_fault){
            .verb = NW_VERB_PROGRAM, .skip = MOVED, .times = 1, .error = NW_ERR_IO};
        result = write_one(nw_random_below(&numbers, SECTORS));
    }
    assert_int_equal(result, NW_ERR_IO);
    layer_rig_quiet(&rig);
}

static void expect_content(const char *kind, uint32_t seed)
{
    int result = layer_rig_mount(&rig);

    if (result < 0 || layer_rig_check(&rig, 1) < 0) {
        fail_msg("%s, seed %u: answer %d; %s", kind, (unsigned)seed, result, rig.why);
    }
}

static void test_hidden_block_comes_back(void **state)
{
    uint32_t came_back = 0;

    (void)state;
    for (uint32_t i = 0; i < KINDS * SEEDS; i++) {
        const char *name = kinds[i / SEEDS]->name;

        begin(kinds[i / SEEDS], i);
        stop_merge();
        cuts = 1;
        (void)write_one(0); /* it begins with that erase, where there was a block of moved pages */
        cuts = 0;
        expect_content(name, i);
        /* What the block held, and so much elsewhere that it is not the newest of all. */
        uint32_t unit = nw_random_below(&numbers, 4) * PAGES;
        write_run(unit + 100U, 35);
        write_run(unit + PAGES, PAGES);
        came_back += hidden != NONE;
        hidden = NONE;
        expect_content(name, i);
        layer_rig_close(&rig);
    }
    assert_true(came_back > SEEDS); /* or nothing was tried */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_hidden_block_comes_back)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

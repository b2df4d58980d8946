/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: under random calls, legal or not, the emulated chip decides and answers as a plain model
 * does that keeps one flag for every byte; forks, images and power cycles in between change
 * nothing. ctest: quick
 * ctest: soak
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "nand_rig.h"
#include "nandwich/random.h"

#define BLOCKS 3U
#define BLOCK_PAGES 5U /* no power of two */
#define PAGES (BLOCKS * BLOCK_PAGES)
#define DATA 48U
#define SPARE 70U /* more than one word of bits */

struct model {
    uint8_t data[PAGES][DATA];
    uint8_t spare[PAGES][SPARE];
    uint8_t data_used[PAGES][DATA];
    uint8_t spare_used[PAGES][SPARE];
    uint32_t programs[PAGES];
    uint32_t erases[BLOCKS];
    uint8_t bad[BLOCKS];
};

struct world {
    struct nand_rig rig;
    struct model model;
    struct nw_random random;
    uint32_t limit;
    uint32_t unit;
    int in_order;
};

static void wipe(struct model *model, uint32_t block)
{
    for (uint32_t page = block * BLOCK_PAGES; page < (block + 1U) * BLOCK_PAGES; page++) {
        memset(model->data[page], 0xFF, DATA);
        memset(model->spare[page], 0xFF, SPARE);
        memset(model->data_used[page], 0, DATA);
        memset(model->spare_used[page], 0, SPARE);
        model->programs[page] = 0;
    }
}

static int used(const uint8_t *flags, uint32_t offset, uint32_t length)
{
    int any = 0;

    for (uint32_t i = offset; i < offset + length; i++) {
        any |= flags[i];
    }
    return any;
}

/* What chip.h says of programming these bytes, in the order the twin looks. */
static int verdict(const struct world *world, const struct nw_chip_req *req, uint32_t page,
                   uint32_t offset, uint32_t length)
{
    const struct model *model = &world->model;
    uint32_t block = page / BLOCK_PAGES;

    if (model->bad[block] != 0) {
        return NW_ERR_BAD_BLOCK;
    }
    for (uint32_t later = page + 1U; world->in_order && later < (block + 1U) * BLOCK_PAGES;
         later++) {
        if (model->programs[later] > 0) {
            return NW_ERR_ORDER;
        }
    }
    if (model->programs[page] >= world->limit) {
        return NW_ERR_PROGRAMS;
    }
    if (used(model->data_used[page], offset, length) ||
        used(model->spare_used[page], req->spare_offset, req->spare_length)) {
        return NW_ERR_NOT_ERASED;
    }
    return NW_OK;
}

static void apply(struct model *model, const struct nw_chip_req *req, uint32_t page,
                  uint32_t offset, uint32_t length, const uint8_t *data)
{
    memcpy(model->data[page] + offset, data, length);
    memset(model->data_used[page] + offset, 1, length);
    memcpy(model->spare[page] + req->spare_offset, req->spare, req->spare_length);
    memset(model->spare_used[page] + req->spare_offset, 1, req->spare_length);
    model->programs[page]++;
}

/* Random bytes into the request's buffers and random ranges that fit the page. */
static void shuffle_request(struct world *world)
{
    struct nw_random *random = &world->random;
    struct nw_chip_req *req = &world->rig.req;
    uint32_t units = DATA / world->unit;
    uint32_t first = nw_random_below(random, units + 1U);

    req->page = nw_random_below(random, PAGES);
    req->offset = (uint16_t)(first * world->unit);
    req->length = (uint16_t)(nw_random_below(random, units - first + 1U) * world->unit);
    if (nw_random_below(random, 4) == 0) {
        req->offset = 0;
        req->length = DATA;
    }
    req->spare_offset = (uint16_t)nw_random_below(random, SPARE + 1U);
    req->spare_length = (uint16_t)nw_random_below(random, SPARE + 1U - req->spare_offset);
    for (uint32_t i = 0; i < SPARE; i++) {
        world->rig.spare[i] = (uint8_t)nw_random_next(random);
        world->rig.data[i] = (uint8_t)(nw_random_next(random) >> 8);
    }
}

static void do_program(struct world *world)
{
    struct nw_chip_req *req = &world->rig.req;
    int expected = verdict(world, req, req->page, req->offset, req->length);

    assert_int_equal(nw_chip_program(req), expected);
    if (expected == NW_OK) {
        apply(&world->model, req, req->page, req->offset, req->length, req->data);
    }
}

static void do_copy(struct world *world)
{
    struct model *model = &world->model;
    struct nw_chip_req *req = &world->rig.req;
    int expected;

    req->to_page = nw_random_below(&world->random, PAGES);
    expected = model->programs[req->page] == 0 ? NW_ERR_UNWRITTEN
                                               : verdict(world, req, req->to_page, 0, DATA);
    assert_int_equal(nw_chip_copy(req), expected);
    if (expected == NW_OK) {
        uint8_t data[DATA];

        memcpy(data, model->data[req->page], DATA);
        apply(model, req, req->to_page, 0, DATA, data);
    }
}

static void do_read(struct world *world)
{
    const struct model *model = &world->model;
    struct nw_chip_req *req = &world->rig.req;
    int expected = req->length > 0 && model->programs[req->page] == 0 ? NW_ERR_UNWRITTEN : 0;

    assert_int_equal(nw_chip_read(req), expected);
    if (expected == 0) {
        assert_memory_equal(req->data, model->data[req->page] + req->offset, req->length);
        assert_memory_equal(req->spare, model->spare[req->page] + req->spare_offset,
                            req->spare_length);
    }
}

static void do_erase(struct world *world)
{
    uint32_t block = nw_random_below(&world->random, BLOCKS);
    int expected = world->model.bad[block] != 0 ? NW_ERR_BAD_BLOCK : NW_OK;

    assert_int_equal(rig_erase(&world->rig, block), expected);
    if (expected == NW_OK) {
        wipe(&world->model, block);
        world->model.erases[block]++;
    }
}

/* The chip goes on as a fork of itself, or as an image of itself, or after a power cycle. */
static void change_body(struct world *world)
{
    struct nw_nand *old = world->rig.nand;
    struct nw_nand *next;
    char path[64];

    switch (nw_random_below(&world->random, 3)) {
    case 0: nw_nand_power_up(old); return;
    case 1: assert_int_equal(nw_nand_fork(&next, old), NW_OK); break;
    default:
        (void)snprintf(path, sizeof path, "nw-model-%ld", (long)getpid());
        assert_int_equal(nw_nand_save(old, path), NW_OK);
        assert_int_equal(nw_nand_load(&next, path, NULL), NW_OK);
        assert_int_equal(remove(path), 0);
        break;
    }
    nw_nand_close(old);
    rig_use(&world->rig, next);
}

static void check_all(struct world *world)
{
    uint8_t data[DATA];
    uint8_t spare[SPARE];

    for (uint32_t page = 0; page < PAGES; page++) {
        assert_int_equal(nw_nand_page_programs(world->rig.nand, page),
                         world->model.programs[page]);
        nw_nand_peek(world->rig.nand, page, data, spare);
        assert_memory_equal(data, world->model.data[page], DATA);
        assert_memory_equal(spare, world->model.spare[page], SPARE);
    }
    for (uint32_t block = 0; block < BLOCKS; block++) {
        assert_int_equal(nw_nand_block_erases(world->rig.nand, block), world->model.erases[block]);
    }
}

static uint32_t seed_at_work; /* told when the run fails */

static void run(uint32_t seed, uint32_t steps)
{
    static struct world world;
    struct nw_part part;
    struct nw_nand_config config = { .part = &part, .seed = seed };

    seed_at_work = seed;
    memset(&world, 0, sizeof world);
    nw_random_seed(&world.random, seed);
    world.limit = 1U + nw_random_below(&world.random, 5);
    world.unit = nw_random_below(&world.random, 2) != 0 ? 1U : 16U;
    world.in_order = (int)nw_random_below(&world.random, 2);
    nw_part_init(&part);
    part.name[0] = 'M';
    part.blocks = BLOCKS;
    part.block_pages = BLOCK_PAGES;
    part.page_bytes = DATA;
    part.spare_bytes = SPARE;
    part.program_bytes = (uint16_t)world.unit;
    part.page_programs = (uint8_t)world.limit;
    part.in_order = (uint8_t)world.in_order;
    part.copy = 1;
    rig_open_config(&world.rig, &config);
    for (uint32_t block = 0; block < BLOCKS; block++) {
        wipe(&world.model, block);
    }
    for (uint32_t step = 0; step < steps; step++) {
        uint32_t choice = nw_random_below(&world.random, 100);

        shuffle_request(&world);
        if (choice < 50) {
            do_program(&world);
        } else if (choice < 60) {
            do_copy(&world);
        } else if (choice < 90) {
            do_read(&world);
        } else if (choice < 97) {
            do_erase(&world);
        } else {
            change_body(&world);
        }
        if (step == steps / 2U) {
            world.rig.req.block = 1;
            assert_int_equal(nw_chip_mark_bad(&world.rig.req), NW_OK);
            world.model.bad[1] = 1;
        }
        check_all(&world);
    }
    nw_nand_close(world.rig.nand);
}

static void decides_as_the_model_does(void **state)
{
    const char *only = getenv("NW_SEED");
    uint32_t seeds = getenv("NW_SOAK") != NULL ? 5000 : 60;

    (void)state;
    for (uint32_t seed = 0; only == NULL && seed < seeds; seed++) {
        run(seed, 400);
    }
    if (only != NULL) {
        run((uint32_t)strtoul(only, NULL, 10), 400);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(decides_as_the_model_does) };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);

    if (failed != 0) {
        (void)fprintf(stderr, "replay: NW_SEED=%u %s\n", seed_at_work, "test_nand_model");
    }
    return failed;
}

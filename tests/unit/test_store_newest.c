/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: a mount that finds the newest block by bisection is the mount that looks at every header:
 * after the same history both write the same bytes and count the same blocks. The histories are
 * random work with power cuts, blocks that fail and are marked bad, and mounts that are cut
 * themselves, up to four in a row. Most of them are in fact mounted by bisection.
 * One of these histories (the last shape, step 600) found no store any more: a mount was cut in the
 * program of the page that had its block's header and its anchor, the next one read that page well,
 * began where it leads and was cut itself, and to the third it was rubbish.
 * ctest: slow
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "nandwich-twin/faults.h"
#include "effort.h"
#include "store_rig.h"

#define KINDS 6U       /* ways to tear, NW_TORN_ANY first */
#define STEPS EFFORT(1500U, 500U) /* of work a history has */
#define DOOMED 9U      /* blocks that fail in it */
#define CUT_MOUNTS 4U
#define MOST_WORK 5U   /* chip operations between two power cuts */

/* What a mount leaves. */
struct outcome {
    int result;
    struct nw_store_space space;
    uint32_t reads;
    uint32_t programs;
    uint32_t erases;
};

struct history {
    struct store_rig rig;
    struct store_snapshot start; /* before the mount */
    struct nw_random random;
    unsigned shape;
    uint32_t step;
    uint32_t compared;
    uint32_t bisected;
    uint64_t reads[2]; /* of all mounts, by bisection as far as it goes, and without */
};

static void expect(struct history *history, int holds, const char *what)
{
    if (!holds) {
        fail_msg("shape %u step %u: %s %s", history->shape, (unsigned)history->step, what,
                 history->rig.why);
    }
}

/* A mount in which the first read fails looks at every header. */
static struct outcome mount(struct history *history, int bisect)
{
    struct store_rig *rig = &history->rig;
    struct nw_fault fault = {.verb = NW_VERB_READ, .times = 1, .error = NW_ERR_IO};
    struct nw_faults filter;
    struct nw_chip *below = rig->chip;
    struct outcome outcome = {.result = NW_OK};

    if (!bisect) {
        nw_faults_open(&filter, below, &fault, 1, 1);
        rig->chip = &filter.chip;
    }
    outcome.result = store_rig_mount(rig);
    rig->chip = below;
    if (outcome.result == NW_OK) {
        const struct nw_store_stats *stats = nw_store_stats(rig->store);
        outcome.reads = stats->reads;
        outcome.programs = stats->programs;
        outcome.erases = stats->erases;
        nw_store_space(rig->store, &outcome.space);
    }
    return outcome;
}

/* Do both chips hold the same? */
static int same_chip(struct nw_nand *one, struct nw_nand *other)
{
    const struct nw_geometry *geometry = &nw_nand_chip(one)->geometry;
    static uint8_t data[2][4096];
    static uint8_t spare[2][256];
    struct nw_nand *nand[2] = {one, other};

    for (uint32_t page = 0; page < geometry->blocks * geometry->block_pages; page++) {
        for (int i = 0; i < 2; i++) {
            nw_nand_peek(nand[i], page, data[i], geometry->spare_bytes != 0 ? spare[i] : NULL);
        }
        if (memcmp(data[0], data[1], geometry->page_bytes) != 0 ||
            memcmp(spare[0], spare[1], geometry->spare_bytes) != 0) {
            return 0;
        }
    }
    for (uint32_t block = 0; block < geometry->blocks; block++) {
        if (nw_nand_block_bad(one, block) != nw_nand_block_bad(other, block) ||
            nw_nand_block_erases(one, block) != nw_nand_block_erases(other, block)) {
            return 0;
        }
    }
    return 1;
}

/* Mounts both ways; work goes on from the first. */
static void compare(struct history *history)
{
    struct store_rig *rig = &history->rig;
    struct nw_nand *scanned;

    store_snapshot_take(&history->start, rig);
    struct outcome all = mount(history, 0);
    assert_int_equal(nw_nand_fork(&scanned, rig->nand), NW_OK);
    store_snapshot_restore(&history->start, rig);
    struct outcome found = mount(history, 1);

    expect(history, all.result == NW_OK, nw_error_text(all.result));
    expect(history, found.result == NW_OK, nw_error_text(found.result));
    expect(history, found.programs == all.programs && found.erases == all.erases, "programs");
    expect(history, found.space.free_blocks == all.space.free_blocks, "free blocks");
    expect(history, found.space.good_blocks == all.space.good_blocks, "good blocks");
    expect(history, same_chip(rig->nand, scanned), "flash");
    nw_nand_close(scanned);
    history->compared++;
    history->bisected += found.reads < all.reads ? 1U : 0U;
    history->reads[0] += found.reads;
    history->reads[1] += all.reads;
}

static void draw_cut(struct history *history, uint32_t operations)
{
    struct nw_random *random = &history->random;
    struct nw_cut cut = {.phase = (uint8_t)nw_random_below(random, 3)};
    uint32_t end = operations < 16U ? operations : 16U;

    cut.after = nw_random_below(random, 3) == 0
                    ? nw_random_below(random, operations + 2U)
                    : operations - end + nw_random_below(random, end + 2U);
    if (cut.phase == NW_CUT_INSIDE) {
        cut.data = (uint8_t)nw_random_below(random, KINDS);
        cut.spare = (uint8_t)nw_random_below(random, KINDS);
    }
    nw_nand_cut(history->rig.nand, &cut);
}

/* Mounts that are cut; most near their end, where they write. */
static void cut_mounts(struct history *history)
{
    struct store_rig *rig = &history->rig;
    uint32_t count = nw_random_below(&history->random, CUT_MOUNTS + 1U);

    for (uint32_t i = 0; i < count; i++) {
        store_snapshot_take(&history->start, rig);
        uint64_t before = nw_nand_operations(rig->nand);
        (void)mount(history, 1);
        uint32_t operations = (uint32_t)(nw_nand_operations(rig->nand) - before);
        store_snapshot_restore(&history->start, rig);
        draw_cut(history, operations);
        (void)mount(history, 1);
        nw_nand_cut(rig->nand, NULL);
        nw_nand_power_up(rig->nand);
    }
}

static struct store_op draw_step(struct history *history)
{
    if (history->step % 150U == 149U && history->step < 150U * DOOMED) {
        return (struct store_op){
            .kind = history->step % 300U == 149U ? STORE_DOOM_PROGRAM : STORE_DOOM_ERASE,
            .count = nw_random_below(&history->random, history->rig.shape->blocks)};
    }
    return store_rig_draw(&history->rig, &history->random);
}

static void run_step(struct history *history)
{
    struct store_rig *rig = &history->rig;
    struct store_op op = draw_step(history);
    int result = store_rig_run(rig, &op);
    int off = nw_nand_is_off(rig->nand);

    expect(history, off || result >= 0, "work");
    if (off) {
        nw_nand_power_up(rig->nand);
        cut_mounts(history);
        compare(history);
        expect(history, store_rig_check(rig, 1) == 0, "what is there");
        draw_cut(history, 1U + nw_random_below(&history->random, MOST_WORK));
    }
    expect(history, store_rig_clean(rig) == 0, "misuse");
}

static void run_shape(unsigned shape)
{
    static struct history history;

    memset(&history, 0, sizeof history);
    history.shape = shape;
    nw_random_seed(&history.random, 19U + shape);
    store_rig_open(&history.rig, &store_shapes[shape], 5U + shape);
    store_snapshot_open(&history.start, &history.rig);
    draw_cut(&history, MOST_WORK);
    for (history.step = 0; history.step < STEPS; history.step++) {
        run_step(&history);
    }
    print_message("%s: %u mounts, %u by bisection, %u reads each instead of %u\n",
                  store_shapes[shape].part, (unsigned)history.compared, (unsigned)history.bisected,
                  (unsigned)(history.reads[0] / history.compared),
                  (unsigned)(history.reads[1] / history.compared));
    assert_true(history.compared > STEPS / 5U);
    store_snapshot_close(&history.start);
    store_rig_close(&history.rig);
}

static void test_all_shapes(void **state)
{
    (void)state;
    for (unsigned shape = 0; shape < STORE_SHAPES; shape++) {
        run_shape(shape);
    }
}

#define FAILING 4U /* places where the first programs of blocks in a row fail */

/* Blocks that fail before they have a header, alone and two in a row, look like the end of the log
 * to a bisection that meets them. */
static void test_headless(void **state)
{
    static struct history history;
    struct store_rig *rig = &history.rig;
    struct nw_fault faults[2U * FAILING];
    struct nw_faults filter;
    uint32_t failed = 0;

    (void)state;
    memset(&history, 0, sizeof history);
    nw_random_seed(&history.random, 3);
    store_rig_open(rig, &store_shapes[0], 1);
    store_snapshot_open(&history.start, rig);
    for (uint32_t i = 0; i < 2U * FAILING; i++) {
        uint32_t block = 7U + i / 2U * 9U + i % 2U;
        faults[i] = (struct nw_fault){.verb = NW_VERB_PROGRAM,
                                      .first = block * rig->shape->block_pages,
                                      .last = block * rig->shape->block_pages,
                                      .times = i % 4U == 3U ? 0 : 1,
                                      .error = NW_ERR_PROGRAM};
        faults[i].skip = i % 4U == 1U ? UINT32_MAX : 0; /* every other pair is one */
    }
    struct nw_chip *below = rig->chip;
    nw_faults_open(&filter, below, faults, 2U * FAILING, 1);
    for (history.step = 0; history.step < 700U; history.step++) {
        struct store_op op = store_rig_draw(rig, &history.random);
        rig->chip = &filter.chip;
        assert_true(store_rig_run(rig, &op) >= 0);
        rig->chip = below;
        assert_true(nw_store_sync(rig->store) == NW_OK);
        if (history.step % 3U == 0) {
            compare(&history);
            rig->chip = &filter.chip;
            assert_int_equal(store_rig_mount(rig), NW_OK);
            assert_int_equal(store_rig_check(rig, 1), 0);
        }
    }
    for (uint32_t i = 0; i < 2U * FAILING; i++) {
        failed += faults[i].hits;
    }
    print_message("%u programs failed, %u of %u mounts by bisection\n", (unsigned)failed,
                  (unsigned)history.bisected, (unsigned)history.compared);
    assert_true(failed >= FAILING);
    store_snapshot_close(&history.start);
    rig->chip = below;
    store_rig_close(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_shapes),
                                       cmocka_unit_test(test_headless)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

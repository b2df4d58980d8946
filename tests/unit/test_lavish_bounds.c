/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the paper promises of the lavish layer of degree L, over long runs. Every merge wins at
 * least (L - 1) / L free blocks for a block erased. A sector appended costs at most 1 / L copies
 * while lavish blocks are ample, 1 / (L - 1) when they are so few that logs are merged before they
 * are full; counted a sector programmed, copies included, it is 1 / L always.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

#include "lavish_rig.h"

#define PAGES 32U
#define SECTORS (24U * PAGES)

static struct lavish_rig rig;

enum work { RANDOM, SEQUENTIAL, HOT, WORKS };

static uint32_t pick(enum work work, struct nw_random *dice, uint32_t i)
{
    if (work == RANDOM) {
        return nw_random_below(dice, SECTORS - PAGES);
    }
    if (work == SEQUENTIAL || nw_random_below(dice, 4) == 0) {
        return i % (SECTORS - PAGES);
    }
    return nw_random_below(dice, 64) * 7U % (SECTORS - PAGES); /* a few sectors of many blocks */
}

/* Blocks erased by the merges so far, as the counts of merges say. */
static uint64_t merged(const struct nw_stats *stats, uint8_t degree)
{
    return (stats->merges_switch + stats->merges_partial + 2U * stats->merges_full) * degree;
}

static void run(uint8_t degree, enum work work, uint8_t maps, int tight)
{
    struct lavish_shape shape = {
        .blocks = 64U * degree,
        .block_pages = PAGES,
        .page_bytes = 64,
        .in_order = 1,
        .lavish = {.sectors = SECTORS - PAGES, .degree = degree, .maps = maps},
    };
    const struct nw_stats *now = &rig.lavish.stats;
    struct nw_stats start = {0};
    struct nw_random dice;
    uint64_t appends;
    uint64_t copies;
    uint32_t i;

    shape.lavish.lavish_blocks = tight ? SECTORS / PAGES + 1U : 0U;
    nw_random_seed(&dice, degree);
    assert_int_equal(lavish_rig_open(&rig, &shape, NW_NAND_NO_PAYLOAD, 1), NW_OK);
    for (i = 0; i < 100000; i++) {
        struct nw_stats before = *now;

        assert_int_equal(lavish_rig_write(&rig, pick(work, &dice, i), 1), NW_OK);
        /* a merge copies at most a block's worth for each lavish block that it erases */
        assert_true((now->copies - before.copies) * degree <=
                    (merged(now, degree) - merged(&before, degree)) * PAGES);
        if (i == 40000) {
            start = *now; /* logs are in use everywhere by then */
        }
    }
    copies = now->copies - start.copies;
    appends = now->programs - start.programs - copies;
    assert_true(copies * degree <= (merged(now, degree) - merged(&start, degree)) * PAGES);
    /* give or take the merge that the count may begin or end with */
    assert_true(copies * (tight ? degree - 1U : degree) <= appends + PAGES * degree);
    assert_true(copies * degree <= appends + copies + PAGES * degree);
    /* the erases are those of the merges, and one of each block when it is entered first */
    assert_true(now->erases <= merged(now, degree) + (uint64_t)rig.lavish.lavish_count * degree);
    assert_true(tight ? now->merges_partial > 0 : now->merges_partial + now->merges_full == 0);
    lavish_rig_close(&rig);
}

static const uint8_t degrees[] = {2, 4, 8, 16};

static void each_work(int tight)
{
    unsigned i;
    int work;

    for (i = 0; i < sizeof degrees; i++) {
        for (work = RANDOM; work < WORKS; work++) {
            run(degrees[i], (enum work)work, 2, tight);
            run(degrees[i], (enum work)work, 32, tight);
        }
    }
}

/* Goal: both bounds hold with a data block and a log for every logical block. */
static void bounds_hold(void **state)
{
    (void)state;
    each_work(0);
}

/* Goal: and, as told above, with one log and one block in reserve for all of them. */
static void bounds_hold_in_little_space(void **state)
{
    (void)state;
    each_work(1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounds_hold),
        cmocka_unit_test(bounds_hold_in_little_space),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

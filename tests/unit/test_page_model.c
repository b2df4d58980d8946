/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: under long random work with failing programs and erases the page layer always reads what a
 * plain model says, before and after remounting, and never misuses the chip.
 * ctest: quick
 * ctest: soak
 * NW_SEED=n runs that one seed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "page_rig.h"

static void doom_some(struct page_rig *rig, struct nw_random *random, unsigned *doomed)
{
    if (*doomed < 2U && nw_random_below(random, 60) == 0) {
        struct page_op op = {.kind = nw_random_below(random, 2) == 0 ? OP_DOOM_PROGRAM
                                                                     : OP_DOOM_ERASE,
                             .sector = nw_random_below(random, rig->shape->blocks)};
        (void)page_rig_run(rig, &op);
        (*doomed)++;
    }
}

static void remount(struct page_rig *rig, uint32_t seed, uint32_t step)
{
    nw_nand_power_up(rig->nand);
    int result = page_rig_mount(rig);
    if (result < 0 || page_rig_check(rig, 1) < 0) {
        fail_msg("page model: part=%s seed=%u step=%u mount: %s %s", rig->shape->part,
                 (unsigned)seed, (unsigned)step, nw_error_text(result), rig->why);
    }
}

static void run_seed(const struct page_shape *shape, uint32_t seed, uint32_t steps)
{
    struct nw_random random;
    struct page_rig rig;
    unsigned doomed = 0;

    nw_random_seed(&random, seed);
    page_rig_open(&rig, shape, seed);
    for (uint32_t step = 0; step < steps; step++) {
        struct page_op op = page_rig_draw(&rig, &random);
        doom_some(&rig, &random, &doomed);
        int result = page_rig_run(&rig, &op);
        if (result < 0 || page_rig_clean(&rig) < 0) {
            fail_msg("page model: part=%s seed=%u step=%u op=%u: %s %s", shape->part,
                     (unsigned)seed, (unsigned)step, op.kind, nw_error_text(result), rig.why);
        }
        if (step % 64U == 63U && page_rig_check(&rig, 0) < 0) {
            fail_msg("page model: part=%s seed=%u step=%u: %s", shape->part, (unsigned)seed,
                     (unsigned)step, rig.why);
        }
        if (nw_random_below(&random, 150) == 0) {
            remount(&rig, seed, step);
        }
    }
    remount(&rig, seed, steps);
    page_rig_close(&rig);
}

static void test_random_work(void **state)
{
    const char *one = getenv("NW_SEED");
    uint32_t seeds = getenv("NW_SOAK") != NULL ? 3000U : 12U;
    uint32_t first = one != NULL ? (uint32_t)strtoul(one, NULL, 0) : 1U;

    (void)state;
    for (uint32_t seed = first; seed < first + (one != NULL ? 1U : seeds); seed++) {
        for (unsigned i = 0; i < 4U; i++) {
            run_seed(&page_shapes[i], seed, 1500);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_work)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

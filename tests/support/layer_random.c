/* SPDX-License-Identifier: Apache-2.0 */
#include "layer_trials.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void doom_some(struct layer_rig *rig, struct nw_random *random, unsigned *doomed)
{
    if (*doomed < 2U && nw_random_below(random, 60) == 0) {
        struct layer_op op = {.kind = nw_random_below(random, 2) == 0 ? OP_DOOM_PROGRAM
                                                                     : OP_DOOM_ERASE,
                             .sector = nw_random_below(random, rig->shape->blocks)};
        (void)layer_rig_run(rig, &op);
        (*doomed)++;
    }
}

static void remount(struct layer_rig *rig, uint32_t seed, uint32_t step)
{
    nw_nand_power_up(rig->nand);
    int result = layer_rig_mount(rig);
    if (result < 0 || layer_rig_check(rig, 1) < 0) {
        fail_msg("%s: part=%s seed=%u step=%u mount: %s %s", rig->kind->name, rig->shape->part,
                 (unsigned)seed, (unsigned)step, nw_error_text(result), rig->why);
    }
}

static void run_seed(const struct nw_layer_kind *kind, const struct layer_shape *shape,
                     uint32_t seed, uint32_t steps)
{
    struct nw_random random;
    struct layer_rig rig;
    unsigned doomed = 0;

    nw_random_seed(&random, seed);
    layer_rig_open(&rig, kind, shape, seed);
    for (uint32_t step = 0; step < steps; step++) {
        struct layer_op op = layer_rig_draw(&rig, &random);
        doom_some(&rig, &random, &doomed);
        int result = layer_rig_run(&rig, &op);
        if (result < 0 || layer_rig_clean(&rig) < 0) {
            fail_msg("%s: part=%s seed=%u step=%u op=%u: %s %s", kind->name, shape->part,
                     (unsigned)seed, (unsigned)step, op.kind, nw_error_text(result), rig.why);
        }
        if (step % 64U == 63U && layer_rig_check(&rig, 0) < 0) {
            fail_msg("%s: part=%s seed=%u step=%u: %s", kind->name, shape->part, (unsigned)seed,
                     (unsigned)step, rig.why);
        }
        if (nw_random_below(&random, 150) == 0) {
            remount(&rig, seed, step);
        }
    }
    remount(&rig, seed, steps);
    layer_rig_close(&rig);
}

void layer_trial_random(const struct nw_layer_kind *kind)
{
    const char *one = getenv("NW_SEED");
    uint32_t seeds = getenv("NW_SOAK") != NULL ? 3000U : 6U;
    uint32_t first = one != NULL ? (uint32_t)strtoul(one, NULL, 0) : 1U;

    for (uint32_t seed = first; seed < first + (one != NULL ? 1U : seeds); seed++) {
        for (unsigned i = 0; i < 4U; i++) {
            run_seed(kind, &layer_shapes[i], seed, 1500);
        }
    }
}

static void spoil_one(const struct nw_layer_kind *kind, unsigned shape, uint32_t seed)
{
    struct nw_random random;
    struct layer_rig rig;
    struct layer_op op = {.kind = OP_WRITE, .count = 1};

    nw_random_seed(&random, seed);
    layer_rig_open(&rig, kind, &layer_shapes[shape], seed);
    layer_trial_fill(&rig);
    uint32_t lost = nw_random_below(&random, rig.sectors);
    layer_rig_spoil(&rig, lost, (seed & 1U) != 0);
    for (uint32_t i = 0; i < 400U; i++) {
        op.sector = (lost + 1U + nw_random_below(&random, rig.sectors - 1U)) % rig.sectors;
        assert_int_equal(layer_rig_run(&rig, &op), NW_OK);
        if (i % 80U == 79U && layer_rig_check(&rig, 0) < 0) {
            fail_msg("%s: part=%s seed=%u step=%u: %s", kind->name, rig.shape->part,
                     (unsigned)seed, (unsigned)i, rig.why);
        }
    }
    op.sector = lost;
    assert_int_equal(layer_rig_run(&rig, &op), NW_OK);
    rig.lost = UINT32_MAX;
    assert_int_equal(layer_rig_check(&rig, 0), 0);
    assert_int_equal(layer_rig_clean(&rig), 0);
    layer_rig_close(&rig);
}

void layer_trial_spoilt(const struct nw_layer_kind *kind)
{
    for (uint32_t seed = 1; seed <= 24U; seed++) {
        spoil_one(kind, seed % 4U, seed);
        spoil_one(kind, (seed + 1U) % 4U, seed);
    }
}

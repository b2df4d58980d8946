/* SPDX-License-Identifier: Apache-2.0 */
#include "layer_trials.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

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

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: the object store agrees with a plain model over long random work, with remounts, on every
 * kind of part, and never misuses the chip.
 * ctest: quick
 * ctest: soak
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "store_rig.h"

static void run_shape(unsigned shape)
{
    static struct store_rig rig;
    struct nw_random random;
    uint32_t steps = getenv("NW_SOAK") != NULL ? 200000U : 4000U;

    nw_random_seed(&random, 100U + shape);
    store_rig_open(&rig, &store_shapes[shape], 1U + shape);
    for (uint32_t step = 0; step < steps; step++) {
        struct store_op op = store_rig_draw(&rig, &random);
        int result = store_rig_run(&rig, &op);
        if (result < 0) {
            fail_msg("shape %u step %u kind %u: %s %s", shape, (unsigned)step, op.kind,
                     nw_error_text(result), rig.why);
        }
        if (nw_random_below(&random, 300) == 0) {
            op.kind = STORE_SYNC;
            assert_int_equal(store_rig_run(&rig, &op), NW_OK);
            result = store_rig_mount(&rig);
            if (result < 0) {
                fail_msg("shape %u step %u mount: %s", shape, (unsigned)step,
                         nw_error_text(result));
            }
        }
        if (step % 100U == 99U && store_rig_check(&rig, 0) < 0) {
            fail_msg("shape %u step %u: %s", shape, (unsigned)step, rig.why);
        }
        if (store_rig_clean(&rig) < 0) {
            fail_msg("shape %u step %u kind %u: %s", shape, (unsigned)step, op.kind, rig.why);
        }
    }
    print_message("%s: %u steps, %u moved, %u erases\n", rig.shape->part, (unsigned)steps,
                  (unsigned)nw_store_stats(rig.store)->moved,
                  (unsigned)nw_nand_stats(rig.nand)->erases);
    store_rig_close(&rig);
}

int main(void)
{
    return store_each_shape(run_shape);
}

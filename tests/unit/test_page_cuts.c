/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: power may go before, inside or after any chip operation, of the work and of the mount after
 * it, and the page layer comes back: what was acknowledged is there (a trim once it was synced),
 * every other sector is old or new, it stays that way over further power-ups although torn pages
 * read differently each time, the next writes work, and the chip is never misused.
 * ctest: slow
 * ctest: soak
 * A failure prints a line; NW_CUT="that line's figures" runs it alone.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "layer_trials.h"

#define MOUNTS 80U /* a list has 26 fences in pages of 256 bytes */

static void flicker(const struct layer_shape *shape, uint32_t seed)
{
    struct nw_random random;
    struct layer_rig rig;
    uint64_t length = 0;

    nw_random_seed(&random, seed);
    layer_rig_open(&rig, &nw_layer_page, shape, seed);
    layer_trial_fill(&rig);
    for (uint32_t mounts = 0; mounts < MOUNTS;) {
        struct nw_cut where = {.after = length - nw_random_below(&random, 14),
                               .phase = (uint8_t)nw_random_below(&random, 3)};
        nw_nand_power_up(rig.nand);
        if (length > 14U && nw_random_below(&random, 6) != 0) {
            nw_nand_cut(rig.nand, &where);
        }
        uint64_t before = nw_nand_operations(rig.nand);
        int result = layer_rig_mount(&rig);
        if (nw_nand_is_off(rig.nand)) {
            continue;
        }
        mounts++;
        nw_nand_cut(rig.nand, NULL);
        length = nw_nand_operations(rig.nand) - before;
        if (result < 0 || layer_rig_check(&rig, 1) < 0 || layer_rig_clean(&rig) < 0) {
            fail_msg("seed %u mount %u: %s %s", (unsigned)seed, (unsigned)mounts,
                     nw_error_text(result), rig.why);
        }
        if (nw_random_below(&random, 3) == 0) {
            struct layer_op op = layer_rig_draw(&rig, &random);
            where.after = nw_random_below(&random, 3);
            nw_nand_cut(rig.nand, &where);
            (void)layer_rig_run(&rig, &op);
        }
    }
    layer_rig_close(&rig);
}

/* Power flickers: mounts are cut again and again near their end, with hardly any work between those
 * that get through. Whatever was acknowledged long ago must be there. */
static void test_flicker(void **state)
{
    uint32_t seeds = getenv("NW_SOAK") != NULL ? 3000U : 6U;

    (void)state;
    for (uint32_t seed = 1; seed <= seeds; seed++) {
        for (unsigned i = 0; i < 4U; i++) {
            flicker(&layer_shapes[i], seed);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_flicker)};
    /* A list has room for fewer fences than cuts here. */
    int failed = layer_trial_all_cuts(&nw_layer_page, &layer_shapes[2]);

    return failed + cmocka_run_group_tests(tests, NULL, NULL);
}

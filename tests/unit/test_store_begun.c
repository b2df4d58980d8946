/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: power goes while the first page of a block is programmed, and again in the erase of that
 * block: the next mount has not seen that it was begun. Then its first page may look whole, with
 * what the erase left behind it. That passed for a page programmed later, and so the first one for
 * a page that had been programmed to its end: the mount did not move what it held, and believed
 * every anchor and node there. One in a thousand such stores answered CORRUPT for good, lacked what
 * the mount had shown, or told of losses.
 * ctest: quick
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "store_rig.h"

#define SEEDS 3U
#define WORK 300U
#define TRIES 60U

static struct store_rig rig;

/* Below the store: the chip of the rig, and power goes at the next program of a first page. */
static struct nw_chip *below;
static int armed;
static const struct nw_cut blow = {.phase = NW_CUT_INSIDE};

static int cut_first_page(struct nw_chip_req *req)
{
    if (armed != 0 && req->page % below->geometry.block_pages == 0 && req->offset == 0) {
        armed = 0;
        nw_nand_cut(rig.nand, &blow);
    }
    return below->ops->program(req);
}

static int cut_erase(struct nw_chip_req *req)
{
    if (armed != 0) {
        armed = 0;
        nw_nand_cut(rig.nand, &blow);
    }
    return below->ops->erase(req);
}

static void work(struct nw_random *random, uint32_t steps)
{
    for (; steps > 0 && !nw_nand_is_off(rig.nand); steps--) {
        struct store_op op = store_rig_draw(&rig, random);

        if (op.kind < STORE_DOOM_PROGRAM) {
            assert_true(store_rig_run(&rig, &op) >= 0 || nw_nand_is_off(rig.nand));
        }
    }
}

static void check(unsigned at, unsigned mount)
{
    nw_nand_power_up(rig.nand);
    int result = store_rig_mount(&rig);

    if (result != NW_OK) {
        fail_msg("try %u, mount %u: %s", at, mount, nw_error_text(result));
    }
    if (store_rig_check(&rig, 1) < 0) {
        fail_msg("try %u, mount %u: %s", at, mount, rig.why);
    }
}

static void run(unsigned shape)
{
    struct nw_chip chip;
    struct nw_chip_ops ops;
    struct store_snapshot start;
    struct nw_random random;

    for (uint32_t seed = 1; seed <= SEEDS; seed++) {
        nw_random_seed(&random, seed);
        store_rig_open(&rig, &store_shapes[shape], seed);
        armed = 0;
        below = rig.chip;
        chip = *below;
        ops = *below->ops;
        work(&random, WORK);
        chip.ops = &ops;
        rig.chip = &chip;
        assert_int_equal(store_rig_run(&rig, &(struct store_op){.kind = STORE_SYNC}), NW_OK);
        store_snapshot_open(&start, &rig);
        store_snapshot_take(&start, &rig);
        for (unsigned at = 0; at < TRIES; at++) {
            store_snapshot_restore(&start, &rig);
            assert_int_equal(store_rig_mount(&rig), NW_OK);
            ops = *below->ops;
            ops.program = cut_first_page;
            armed = 1;
            work(&random, UINT32_MAX);
            ops = *below->ops;
            ops.erase = cut_erase;
            armed = 1;
            nw_nand_power_up(rig.nand);
            (void)store_rig_mount(&rig);
            armed = 0;
            for (unsigned mount = 0; mount < 3U; mount++) {
                check(at, mount);
            }
        }
        assert_int_equal(store_rig_clean(&rig), 0);
        store_snapshot_close(&start);
        rig.chip = below;
        store_rig_close(&rig);
    }
}

int main(void)
{
    return store_each_shape(run);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: a device may be reset between any two calls, as often as it likes: RAM is gone, the chip
 * as the last call left it. The mount shows a state since the last sync, whole, and what it has not
 * written for a long time lives on. Cuts inside calls are the business of test_store_cuts.c.
 * ctest: quick
 * ctest: soak
 *
 * Once an anchor told how far cleaning had come, and a mount went on from there. But the nodes that
 * cleaning had taken along so far lay in RAM only, and were gone with the reset: the next round of
 * the log erased the only copy there was on the chip. Here array `quiet` was such an object: after
 * 18 resets its nodes could no longer be read.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "store_rig.h"

#define QUIET 20U      /* keys set once, each below a node of its own */
#define QUIET_GAP 100U /* keys between them */
#define QUIET_KEYS 4000U

static void fail_at(const struct store_rig *rig, uint32_t step, const char *what, int result)
{
    fail_msg("step %u: %s: %s %s", (unsigned)step, what, nw_error_text(result), rig->why);
}

/* What a caller keeps who wants to notice that an older image was put in. */
static uint32_t sequence_of(const struct store_rig *rig)
{
    struct nw_store_space space;

    nw_store_space(rig->store, &space);
    return space.sequence;
}

/* Random work on all types. `every`: steps between two resets, on an average. */
static void work(struct store_rig *rig, uint32_t steps, uint32_t every, uint32_t seed)
{
    struct nw_random random;

    nw_random_seed(&random, seed);
    for (uint32_t step = 0; step < steps; step++) {
        struct store_op op = store_rig_draw(rig, &random);
        int result = store_rig_run(rig, &op);

        if (result < 0) {
            fail_at(rig, step, "work", result);
        }
        if (nw_random_below(&random, every) == 0) {
            uint32_t sequence = sequence_of(rig);

            result = store_rig_mount(rig);
            if (result < 0) {
                fail_at(rig, step, "mount", result);
            }
            if (store_rig_check(rig, 1) < 0) {
                fail_at(rig, step, "after a reset", NW_ERR_CORRUPT);
            }
            if (sequence_of(rig) <= sequence) { /* it told one that was in RAM only */
                fail_at(rig, step, "the sequence is no higher", NW_OK);
            }
            if (nw_store_stats(rig->store)->lost > 0) {
                fail_at(rig, step, "a mount met damage", NW_ERR_CORRUPT);
            }
        }
    }
    assert_int_equal(store_rig_check(rig, 0), 0);
    assert_int_equal(store_rig_clean(rig), 0);
}

static void run_shape(unsigned shape)
{
    static const uint32_t rates[] = {3, 20, 120};
    static struct store_rig rig;
    uint32_t steps = getenv("NW_SOAK") != NULL ? 30000U : 1500U;

    for (unsigned rate = 0; rate < sizeof rates / sizeof *rates; rate++) {
        store_rig_open(&rig, &store_shapes[shape], 20U + rate);
        work(&rig, steps, rates[rate], 300U + 10U * shape + rate);
        store_rig_close(&rig);
    }
}

static void set_quiet(struct store_rig *rig, uint32_t key, uint32_t value)
{
    assert_int_equal(nw_store_set(rig->store, nw_store_find(rig->store, "quiet"), key, &value),
                     NW_OK);
}

/* Keys that were never set are none, the others as they were. */
static void check_quiet(struct store_rig *rig, uint32_t step)
{
    int quiet = nw_store_find(rig->store, "quiet");

    for (uint32_t i = 0; i < QUIET; i++) {
        uint32_t value = 0;
        int result = nw_store_get(rig->store, quiet, QUIET_KEYS / 2U + i * QUIET_GAP, &value);

        if (result != NW_OK || value != i) {
            fail_at(rig, step, "a quiet key", result);
        }
        result = nw_store_get(rig->store, quiet, i, &value);
        if (result != NW_ERR_NOT_FOUND) {
            fail_at(rig, step, "a key never set", result);
        }
    }
}

/* An array lies still, so that cleaning alone carries its nodes on, while a ring takes the log
 * round the chip and the device is reset now and then. */
static void run_quiet(unsigned shape)
{
    static const struct nw_store_spec spec = {
        .type = NW_STORE_ARRAY, .unit_bytes = 4, .count = QUIET_KEYS};
    static struct store_rig rig;
    struct store_op ring = {.kind = STORE_RING};
    struct nw_random random;

    nw_random_seed(&random, 1000U + shape);
    store_rig_open(&rig, &store_shapes[shape], 50U + shape);
    assert_int_equal(nw_store_delete(rig.store, nw_store_find(rig.store, "stack")), NW_OK);
    assert_true(nw_store_create(rig.store, "quiet", &spec) > 0);
    for (uint32_t i = 0; i < QUIET; i++) {
        set_quiet(&rig, QUIET_KEYS / 2U + i * QUIET_GAP, i);
    }
    assert_int_equal(nw_store_sync(rig.store), NW_OK);
    for (uint32_t step = 0; step < 6000U; step++) {
        int result = store_rig_run(&rig, &ring);

        if (result == NW_OK && step % 3U == 2U) {
            result = store_rig_run(&rig, &(struct store_op){.kind = STORE_SYNC});
        }
        if (result == NW_OK && nw_random_below(&random, 3) == 0) {
            result = nw_store_idle(rig.store, (uint16_t)nw_random_below(&random, 8));
        }
        if (result >= 0 && nw_random_below(&random, 60) == 0) {
            result = store_rig_mount(&rig);
            rig.state_count = 1;
            check_quiet(&rig, step);
        }
        if (result < 0) {
            fail_at(&rig, step, "work", result);
        }
    }
    assert_int_equal(store_rig_clean(&rig), 0);
    store_rig_close(&rig);
}

int main(void)
{
    return store_each_shape(run_shape) + store_each_shape(run_quiet);
}

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

#define KINDS 7U

/* Where a history stands, for the message that tells of a failure. */
struct history {
    const struct nw_layer_kind *kind;
    struct layer_rig rig;
    uint32_t seed;
    uint32_t step;
};

static void expect(struct history *history, int holds, const char *where, int result)
{
    if (!holds) {
        fail_msg("%s: part=%s seed=%u step=%u %s: %s %s", history->kind->name,
                 history->rig.shape->part, (unsigned)history->seed, (unsigned)history->step, where,
                 nw_error_text(result), history->rig.why);
    }
}

static void open_history(struct history *history, const struct nw_layer_kind *kind,
                         const struct layer_shape *shape, uint32_t seed)
{
    history->kind = kind;
    history->seed = seed;
    history->step = 0;
    layer_rig_open(&history->rig, kind, shape, seed);
}

/* The plug is pulled at rest, or power is gone already: then it comes back, and everything has to
 * read as it did. */
static void plug(struct history *history, const char *where)
{
    struct layer_rig *rig = &history->rig;

    nw_nand_power_up(rig->nand);
    int result = layer_rig_mount(rig);
    expect(history, result == NW_OK, where, result);
    expect(history, layer_rig_check(rig, 1) == 0, where, NW_OK);
    expect(history, layer_rig_clean(rig) == 0, where, NW_OK);
}

static int put(struct history *history, uint32_t sector)
{
    struct layer_op op = {.kind = OP_WRITE, .sector = sector, .count = 1};

    return layer_rig_run(&history->rig, &op);
}

/* X, the plug, X again, then a write that is cut: the same sector, the next or any other. */
static void rewrite_and_cut(struct history *history, struct nw_random *random)
{
    struct layer_rig *rig = &history->rig;
    uint32_t x = nw_random_below(random, rig->sectors);
    uint32_t y = nw_random_below(random, 4) == 0 ? x : nw_random_below(random, rig->sectors);
    struct nw_cut cut = {.after = nw_random_below(random, nw_random_below(random, 2) ? 3U : 40U),
                         .phase = NW_CUT_INSIDE};

    cut.data = (uint8_t)nw_random_below(random, KINDS - 1U);
    cut.spare = (uint8_t)(nw_random_below(random, 2) == 0 ? NW_TORN_NEW
                                                           : nw_random_below(random, KINDS - 1U));
    expect(history, put(history, x) == NW_OK, "first write", NW_OK);
    plug(history, "after the first write");
    for (uint32_t i = nw_random_below(random, 3); i < 3U; i++) {
        expect(history, put(history, x) == NW_OK, "second write", NW_OK);
    }
    nw_nand_cut(rig->nand, &cut);
    for (unsigned i = 0; i < 200U && !nw_nand_is_off(rig->nand); i++) {
        (void)put(history, (y + i) % rig->sectors);
    }
    nw_nand_cut(rig->nand, NULL);
}

/* A write to the sector that the mount before had saved was acknowledged, a torn program followed,
 * and the mount after that saved the older content once more, above the newer one: the write was
 * there at one mount and gone at the next. So power goes at rest three times. */
void layer_trial_rewrites(const struct nw_layer_kind *kind)
{
    uint32_t devices = getenv("NW_SOAK") != NULL ? 2000U : 15U;
    static struct history history;

    for (uint32_t seed = 1; seed <= devices; seed++) {
        struct nw_random random;

        nw_random_seed(&random, seed);
        open_history(&history, kind,
                     seed % 5U < 4U ? &layer_shapes[seed % 5U] : &layer_shape_small, seed);
        layer_trial_fill(&history.rig);
        for (; history.step < 5U; history.step++) {
            rewrite_and_cut(&history, &random);
            for (unsigned rest = 0; rest < 3U; rest++) {
                plug(&history, "at rest");
            }
        }
        layer_rig_close(&history.rig);
    }
}

/* The transport fails in a program, a copy, an erase or anything, before it has happened or behind
 * it, once or until it is mended. */
static void arm(struct layer_rig *rig, struct nw_random *random)
{
    static const uint8_t verbs[] = {NW_VERB_PROGRAM, NW_VERB_PROGRAM, NW_VERB_COPY, NW_VERB_ERASE,
                                    NW_VERB_NONE};

    rig->fault = (struct nw_fault){.verb = verbs[nw_random_below(random, 5)],
                                   .acts = (uint8_t)nw_random_below(random, 2),
                                   .skip = nw_random_below(random, 3) * nw_random_below(random, 12),
                                   .times = nw_random_below(random, 2),
                                   .error = NW_ERR_IO};
}

/* Work with such a failure in it. What reads show behind it is what they show from then on. */
static void fail_once(struct history *history, struct nw_random *random)
{
    struct layer_rig *rig = &history->rig;
    int result = NW_OK;

    arm(rig, random);
    for (unsigned i = 0; i < 30U && result >= 0; i++) {
        struct layer_op op = layer_rig_draw(rig, random);
        result = layer_rig_run(rig, &op);
    }
    layer_rig_quiet(rig);
    expect(history, result >= 0 || result == NW_ERR_IO, "work", result);
    if (nw_random_below(random, 4) == 0) {
        plug(history, "after the failure"); /* not synced: the old content or the new */
        return;
    }
    expect(history, layer_rig_check(rig, 1) == 0, "behind the failure", result);
    for (unsigned i = nw_random_below(random, 4); i > 0; i--) {
        struct layer_op op = layer_rig_draw(rig, random);
        result = layer_rig_run(rig, &op);
        expect(history, result >= 0, "work behind the failure", result);
    }
    result = layer_rig_run(rig, &(struct layer_op){.kind = OP_SYNC});
    expect(history, result == NW_OK, "sync", result);
    expect(history, layer_rig_check(rig, 0) == 0, "synced", result);
    plug(history, "after the sync");
}

/* So many full devices of all shapes, and on each twelve times such work. Blocks are good all the
 * time: none may be marked. */
static void each_device(const struct nw_layer_kind *kind, uint32_t devices,
                        void (*work)(struct history *history, struct nw_random *random))
{
    static struct history history;

    devices = getenv("NW_SOAK") != NULL ? 2000U : devices;
    for (uint32_t seed = 1; seed <= devices; seed++) {
        struct nw_random random;

        nw_random_seed(&random, seed);
        open_history(&history, kind,
                     seed % 5U < 4U ? &layer_shapes[seed % 5U] : &layer_shape_small, seed);
        assert_int_equal(layer_rig_filter(&history.rig), NW_OK);
        layer_trial_fill(&history.rig);
        for (; history.step < 12U; history.step++) {
            work(&history, &random);
            expect(&history, history.rig.block->stats->retired == 0, "bad blocks", NW_OK);
        }
        layer_rig_close(&history.rig);
    }
}

/* A write answered NW_ERR_IO although its program had happened: reads showed the old content, and
 * after a sync and a mount the new one. */
void layer_trial_errors(const struct nw_layer_kind *kind)
{
    each_device(kind, 12, fail_once);
}

/* Reads of the chip fail now and then, all the time, while the session goes on: mounts in it too. A
 * read that answers NW_ERR_ECC does so once, and no call may show it. */
static void fail_reads(struct history *history, struct nw_random *random)
{
    struct layer_rig *rig = &history->rig;
    int error = nw_random_below(random, 4) == 0 ? NW_ERR_ECC : NW_ERR_IO;
    int result = NW_OK;

    rig->fault = (struct nw_fault){.verb = NW_VERB_READ,
                                   .skip = nw_random_below(random, 40),
                                   .every = 2U + nw_random_below(random, 40),
                                   .error = error};
    for (unsigned i = 0; i < 60U; i++) {
        struct layer_op op = layer_rig_draw(rig, random);

        if (nw_random_below(random, 5) == 0) { /* what was emptied is given back and erased */
            op = (struct layer_op){.kind = OP_IDLE, .count = 1000U * nw_random_below(random, 600)};
        }
        result = layer_rig_run(rig, &op);
        expect(history, result >= 0 || (error == NW_ERR_IO && result == error), "work", result);
    }
    int ends = nw_random_below(random, 2) == 0;
    for (unsigned i = ends ? nw_random_below(random, 3) : 0; i > 0; i--) {
        nw_nand_power_up(rig->nand);
        result = layer_rig_mount(rig);
        expect(history, result == NW_OK || (error == NW_ERR_IO && result == error), "mount",
               result);
    }
    layer_rig_quiet(rig);
    if (ends) {
        plug(history, "after the errors");
        return;
    }
    expect(history, layer_rig_check(rig, 1) == 0, "behind the errors", result);
    for (unsigned i = nw_random_below(random, 8); i > 0; i--) {
        struct layer_op op = layer_rig_draw(rig, random);
        result = layer_rig_run(rig, &op);
        expect(history, result >= 0, "work behind the errors", result);
    }
    result = layer_rig_run(rig, &(struct layer_op){.kind = OP_SYNC});
    expect(history, result == NW_OK && layer_rig_check(rig, 0) == 0, "sync", result);
    if (nw_random_below(random, 2) == 0) {
        plug(history, "after more work");
    }
}

static void lose_nothing(struct history *history, struct nw_random *random)
{
    fail_reads(history, random);
    expect(history, history->rig.block->stats->lost == 0, "lost", NW_OK);
}

/* A merge that an error stopped had emptied blocks. They were given back when the session went on,
 * and a mount that took the merge for one cut short looked for what it had moved there: it was
 * gone. And each merge that was stopped kept a block, until none was left: every write answered
 * NW_ERR_FULL then, also when the chip was well again. */
void layer_trial_reads(const struct nw_layer_kind *kind)
{
    each_device(kind, 40, lose_nothing);
}

/* A little work on few sectors, then a program is cut, and comes to nothing or not. Now and then it
 * lies beside a page that stays, in a block that nothing asks for any more. */
static void cut_work(struct history *history, struct nw_random *random)
{
    struct layer_rig *rig = &history->rig;
    struct nw_cut cut = {.phase = (uint8_t)nw_random_below(random, 3)};
    uint32_t sector = nw_random_below(random, 3);

    for (uint32_t i = nw_random_below(random, 4); i > 0; i--) {
        expect(history, put(history, nw_random_below(random, 3)) == NW_OK, "work", NW_OK);
    }
    cut.after = nw_random_below(random, nw_random_below(random, 4) == 0 ? 30U : 2U);
    if (nw_random_below(random, 2) == 0) {
        cut.data = NW_TORN_HALF;
        cut.spare = NW_TORN_NEW;
    }
    if (nw_random_below(random, 30) == 0) {
        sector = nw_random_below(random, rig->sectors - 1U);
        expect(history, put(history, sector) == NW_OK, "neighbour", NW_OK);
        cut.phase = NW_CUT_INSIDE;
        cut.after = 0;
        sector++;
    }
    nw_nand_cut(rig->nand, &cut);
    (void)put(history, sector);
    for (unsigned i = 0; i < 200U && !nw_nand_is_off(rig->nand); i++) {
        (void)put(history, i % 3U);
    }
    nw_nand_cut(rig->nand, NULL);
}

/* So many mounts, each cut where it writes. */
static void cut_mounts(struct history *history, struct nw_random *random, unsigned times)
{
    struct layer_rig *rig = &history->rig;

    for (uint32_t operations = 0; times > 0; times--) {
        uint64_t before = nw_nand_operations(rig->nand);
        struct nw_cut cut = {.phase = (uint8_t)nw_random_below(random, 3)};

        cut.after = operations - nw_random_below(random, operations < 12U ? operations + 1U : 12U);
        nw_nand_power_up(rig->nand);
        if (operations > 0) {
            nw_nand_cut(rig->nand, &cut);
        }
        int result = layer_rig_mount(rig);
        expect(history, result == NW_OK || nw_nand_is_off(rig->nand), "mount to cut", result);
        if (!nw_nand_is_off(rig->nand)) {
            operations = (uint32_t)(nw_nand_operations(rig->nand) - before);
        }
        nw_nand_cut(rig->nand, NULL);
    }
}

/* The record of a mount has room for some fences against torn pages. When it was full the oldest
 * went, and what it had fenced off counted: sectors never written answered NW_ERR_CORRUPT. Here
 * most of the device is never written again, so that torn pages could stay for ever. And mounts are
 * cut over and over: once a record that had ended was erased behind one that was torn, and a mount
 * found an old one. */
void layer_trial_mounts(const struct nw_layer_kind *kind, const struct layer_shape *shape,
                        uint32_t mounts)
{
    static struct history history;
    struct nw_random random;
    uint32_t rounds = getenv("NW_SOAK") != NULL ? 20U * mounts : mounts;

    nw_random_seed(&random, mounts);
    open_history(&history, kind, shape, mounts);
    for (uint32_t sector = 0; sector < history.rig.sectors / 3U; sector++) {
        assert_int_equal(put(&history, sector), NW_OK);
    }
    for (; history.step < rounds; history.step++) {
        cut_work(&history, &random);
        if (nw_random_below(&random, 25) == 0) {
            cut_mounts(&history, &random, 60);
        }
        plug(&history, "mount");
        if (nw_random_below(&random, 4) == 0) {
            plug(&history, "at rest");
        }
    }
    layer_rig_close(&history.rig);
}

/* Everything at once: work, blocks that fail, errors of the transport, a cut. */
static void work_on(struct history *history, struct nw_random *random, int errors)
{
    struct layer_rig *rig = &history->rig;
    struct nw_cut cut = {.phase = (uint8_t)nw_random_below(random, 3)};
    int result = NW_OK;

    cut.after = nw_random_below(random, nw_random_below(random, 3) == 0 ? 60U : 4U);
    cut.data = (uint8_t)nw_random_below(random, KINDS - 1U);
    cut.spare = (uint8_t)nw_random_below(random, KINDS - 1U);
    nw_nand_cut(rig->nand, nw_random_below(random, 4) != 0 ? &cut : NULL);
    if (errors) {
        arm(rig, random);
    }
    for (unsigned i = 0; i < 25U && result >= 0; i++) {
        struct layer_op op = layer_rig_draw(rig, random);
        result = layer_rig_run(rig, &op);
    }
    layer_rig_quiet(rig);
    nw_nand_cut(rig->nand, NULL);
    if (nw_nand_is_off(rig->nand)) {
        return;
    }
    expect(history, result >= 0 || result == NW_ERR_IO, "work", result);
    int synced = nw_random_below(random, 2) != 0;
    expect(history, layer_rig_check(rig, synced) == 0, "behind the work", result);
    if (synced) {
        result = layer_rig_run(rig, &(struct layer_op){.kind = OP_SYNC});
        expect(history, result == NW_OK && layer_rig_check(rig, 0) == 0, "sync", result);
    }
}

void layer_trial_everything(const struct nw_layer_kind *kind)
{
    uint32_t devices = getenv("NW_SOAK") != NULL ? 2000U : 20U;
    static struct history history;

    for (uint32_t seed = 1; seed <= devices; seed++) {
        struct nw_random random;
        struct layer_op doom = {.kind = seed % 2U != 0 ? OP_DOOM_PROGRAM : OP_DOOM_ERASE};

        nw_random_seed(&random, seed);
        open_history(&history, kind,
                     seed % 5U < 4U ? &layer_shapes[seed % 5U] : &layer_shape_small, seed);
        assert_int_equal(layer_rig_filter(&history.rig), NW_OK);
        for (; history.step < 30U; history.step++) {
            if (history.step % 12U == 5U) {
                doom.sector = nw_random_below(&random, history.rig.shape->blocks);
                (void)layer_rig_run(&history.rig, &doom);
            }
            work_on(&history, &random, seed % 3U == 1U);
            if (nw_random_below(&random, 4) == 0) {
                cut_mounts(&history, &random, 3);
            }
            plug(&history, "mount");
        }
        layer_rig_close(&history.rig);
    }
}

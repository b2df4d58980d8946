/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: power may go before, inside or after any chip operation, of the work on every kind of
 * object, of cleaning, of checkpoint and rollback, and of the mounts after it; the store comes back
 * as it was at some moment since the last sync, whole, stays so over further power-ups although
 * torn pages read differently each time, goes on working, and never misuses the chip.
 * ctest: slow
 * ctest: soak
 * A failure prints a line; NW_CUT="that line's figures" runs it alone.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cut_plan.h"
#include "effort.h"
#include "store_rig.h"

#define KINDS 6U /* ways to tear, NW_TORN_ANY first */

struct campaign {
    struct store_rig rig;
    struct store_snapshot start; /* before the operation of the work */
    struct cut_plan plan;
    uint64_t done;
};

struct effort {
    uint32_t warm;   /* steps before the first cut */
    uint32_t steps;  /* operations of the work that are cut */
    uint32_t every;  /* of these every so many-th */
    unsigned kinds;  /* ways to tear each operation */
    unsigned mounts; /* chains of cut mounts for each first cut, in 16ths */
    unsigned all;    /* also the cuts that leave the chip as another one does */
};

static void say_failed(const struct campaign *campaign, const char *where, int result)
{
    char text[300];

    cut_plan_print(&campaign->plan, text, sizeof text);
    fail_msg("NW_CUT=\"%s\" %s: %s %s", text, where, nw_error_text(result), campaign->rig.why);
}

static void expect(struct campaign *campaign, int holds, const char *where, int result)
{
    if (!holds) {
        say_failed(campaign, where, result);
    }
}

/* Power comes back: the plan's further cuts hit one mount each, then one is let through. */
static void come_back(struct campaign *campaign)
{
    struct store_rig *rig = &campaign->rig;
    int result = NW_OK;

    for (unsigned i = 1; i <= campaign->plan.cuts; i++) {
        nw_nand_power_up(rig->nand);
        if (campaign->done % 8U == 1U) { /* with few frames, too, which is slow */
            int looked = store_rig_look(rig, (uint8_t)(4U + campaign->done / 8U % 20U), 0);
            expect(campaign, looked == 0, "a look", rig->error);
        }
        if (i < campaign->plan.cuts) {
            nw_nand_cut(rig->nand, &campaign->plan.cut[i]);
        }
        result = store_rig_mount(rig);
        if (i < campaign->plan.cuts && !nw_nand_is_off(rig->nand)) {
            nw_nand_cut(rig->nand, NULL);
            break; /* the mount was shorter than that */
        }
    }
    expect(campaign, result == NW_OK, "mount", result);
    expect(campaign, store_rig_check(rig, 1) == 0, "after the cut", NW_ERR_CORRUPT);
    expect(campaign, store_rig_clean(rig) == 0, "misuse", NW_OK);
}

/* What came back stays over a power-up, and work goes on from there. */
static void live_on(struct campaign *campaign)
{
    struct store_rig *rig = &campaign->rig;
    struct nw_random random;
    int result;

    nw_nand_power_up(rig->nand);
    result = store_rig_mount(rig);
    expect(campaign, result == NW_OK, "second mount", result);
    expect(campaign, store_rig_check(rig, 0) == 0, "second mount", NW_ERR_CORRUPT);
    nw_random_seed(&random, campaign->plan.step);
    for (unsigned i = 0; i < 12U; i++) {
        struct store_op op = store_rig_draw(rig, &random);
        result = store_rig_run(rig, &op);
        expect(campaign, result >= 0, "later work", result);
    }
    expect(campaign, store_rig_check(rig, 0) == 0, "later work", NW_ERR_CORRUPT);
    expect(campaign, store_rig_clean(rig) == 0, "misuse", NW_OK);
}

/* Changes of the cells so far. */
static uint64_t changes(const struct store_rig *rig)
{
    const struct nw_nand_counts *counts = nw_nand_stats(rig->nand);
    uint64_t sum = counts->programs + counts->erases + counts->copies + counts->buffer_programs;

    for (uint32_t block = 0; block < rig->shape->blocks; block++) {
        sum += nw_nand_block_bad(rig->nand, block) != 0;
    }
    return sum;
}

/* Answers how often the cells were changed. */
static uint64_t first_cut(struct campaign *campaign, const struct store_op *op)
{
    struct store_rig *rig = &campaign->rig;

    store_snapshot_restore(&campaign->start, rig);
    uint64_t before = changes(rig);
    nw_nand_cut(rig->nand, &campaign->plan.cut[0]);
    int result = store_rig_run(rig, op);
    expect(campaign, nw_nand_is_off(rig->nand) && (result == NW_ERR_POWER || result >= 0),
           "cut work", result);
    return changes(rig) - before;
}

static void run_plan(struct campaign *campaign, const struct store_op *op)
{
    (void)first_cut(campaign, op);
    come_back(campaign);
    if (campaign->done % 4U == 0) {
        live_on(campaign);
    }
    campaign->done++;
}

static struct nw_cut draw_cut(struct nw_random *random, uint32_t operations)
{
    struct nw_cut cut = {.after = nw_random_below(random, operations + 2U)};

    cut.phase = (uint8_t)nw_random_below(random, 3);
    if (cut.phase == NW_CUT_INSIDE) {
        cut.data = (uint8_t)nw_random_below(random, KINDS);
        cut.spare = (uint8_t)nw_random_below(random, KINDS);
    }
    return cut;
}

/* Further cuts, in the mounts that follow; most near the end, where a mount writes. */
static void cut_mounts(struct campaign *campaign, const struct store_op *op,
                       struct nw_random *random, unsigned times)
{
    if (times == 0) {
        return;
    }
    (void)first_cut(campaign, op);
    nw_nand_power_up(campaign->rig.nand);
    uint64_t before = nw_nand_operations(campaign->rig.nand);
    (void)store_rig_mount(&campaign->rig);
    uint32_t operations = (uint32_t)(nw_nand_operations(campaign->rig.nand) - before);

    for (unsigned i = 0; i < times; i++) {
        campaign->plan.cuts = 2U + nw_random_below(random, CUT_PLAN_MOST - 1U);
        for (unsigned k = 1; k < campaign->plan.cuts; k++) {
            struct nw_cut *cut = &campaign->plan.cut[k];
            *cut = draw_cut(random, operations);
            if (nw_random_below(random, 4) != 0) {
                uint32_t end = operations < 12U ? operations : 12U;
                cut->after = operations - end + nw_random_below(random, end + 2U);
            }
        }
        run_plan(campaign, op);
    }
    campaign->plan.cuts = 1;
}

/* A cut before an operation leaves the cells as one after the operation before it does, and cuts
 * in and after a read as one before it: one of these is enough, of all only the first. */
static int is_news(unsigned phase, uint32_t at, int changed)
{
    return phase == NW_CUT_BEFORE ? at == 0 : changed;
}

static void cut_everywhere(struct campaign *campaign, const struct store_op *op,
                           uint32_t operations, struct nw_random *random,
                           const struct effort *effort)
{
    struct cut_plan *plan = &campaign->plan;
    uint64_t before = 0;

    plan->cuts = 1;
    for (uint32_t at = 0; at < operations; at++) {
        plan->cut[0] = (struct nw_cut){.after = at, .phase = NW_CUT_AFTER};
        uint64_t after = effort->all != 0 ? 0 : first_cut(campaign, op);
        for (unsigned phase = NW_CUT_BEFORE; phase <= NW_CUT_AFTER; phase++) {
            unsigned kinds = phase == NW_CUT_INSIDE ? effort->kinds : 1U;
            if (effort->all == 0 && !is_news(phase, at, after != before)) {
                continue;
            }
            for (unsigned kind = 0; kind < kinds; kind++) {
                plan->cuts = 1;
                plan->cut[0] = (struct nw_cut){.after = at, .phase = (uint8_t)phase};
                if (kind > 0) {
                    plan->cut[0].data = (uint8_t)(1U + nw_random_below(random, KINDS - 1U));
                    plan->cut[0].spare = (uint8_t)(1U + nw_random_below(random, KINDS - 1U));
                }
                run_plan(campaign, op);
                cut_mounts(campaign, op, random,
                           (effort->mounts + nw_random_below(random, 16)) / 16U);
            }
        }
        before = after;
    }
}

/* Random work; now and then a block fails, twelve in all. */
static struct store_op draw_step(struct store_rig *rig, struct nw_random *random, uint32_t step)
{
    if (step % 150U == 149U && step < 1800U) {
        return (struct store_op){.kind = step % 300U == 149U ? STORE_DOOM_PROGRAM
                                                             : STORE_DOOM_ERASE,
                                 .count = nw_random_below(random, rig->shape->blocks)};
    }
    return store_rig_draw(rig, random);
}

static void run_step(struct campaign *campaign, const struct store_op *op, int cut,
                     struct nw_random *cuts, const struct effort *effort)
{
    struct store_rig *rig = &campaign->rig;

    if (cut) {
        store_snapshot_take(&campaign->start, rig);
    }
    uint64_t before = nw_nand_operations(rig->nand);
    int result = store_rig_run(rig, op);
    uint32_t operations = (uint32_t)(nw_nand_operations(rig->nand) - before);
    expect(campaign, result >= 0, "work", result);
    if (cut) {
        cut_everywhere(campaign, op, operations, cuts, effort);
        store_snapshot_restore(&campaign->start, rig);
        result = store_rig_run(rig, op);
        expect(campaign, result >= 0, "work", result);
    }
}

static void run_campaign(struct campaign *campaign, const struct effort *effort,
                         const struct cut_plan *only)
{
    struct store_rig *rig = &campaign->rig;
    struct nw_random random;
    struct nw_random cuts;
    uint32_t end = effort->warm + effort->steps * effort->every;

    nw_random_seed(&random, 7U + campaign->plan.shape);
    nw_random_seed(&cuts, 77U + campaign->plan.shape);
    store_rig_open(rig, &store_shapes[campaign->plan.shape], 3U + campaign->plan.shape);
    store_snapshot_open(&campaign->start, rig);
    for (uint32_t step = 0; step < end; step++) {
        struct store_op op = draw_step(rig, &random, step);
        int now = step >= effort->warm && step % effort->every == 0;
        campaign->plan.step = step;
        if (only != NULL && step == only->step) {
            store_snapshot_take(&campaign->start, rig);
            campaign->plan = *only;
            run_plan(campaign, &op);
            break;
        }
        run_step(campaign, &op, now && only == NULL, &cuts, effort);
        if (step % 97U == 96U) {
            expect(campaign, store_rig_check(rig, 0) == 0, "check", NW_ERR_CORRUPT);
        }
    }
    store_snapshot_close(&campaign->start);
    store_rig_close(rig);
}

static void run_shape(unsigned shape)
{
    static struct campaign campaign;
    static const struct effort quick = {
        .warm = 1500, .steps = EFFORT(600, 200), .every = EFFORT(3, 9), .kinds = 3, .mounts = 8};
    static const struct effort soak = {
        .warm = 500, .steps = 900, .every = 7, .kinds = 4, .mounts = 24, .all = 1};
    const struct effort *effort = getenv("NW_SOAK") != NULL ? &soak : &quick;
    const char *text = getenv("NW_CUT");
    struct cut_plan only = {0};

    memset(&campaign, 0, sizeof campaign);
    campaign.plan.shape = shape;
    if (text != NULL) {
        assert_int_equal(cut_plan_parse(text, &only), 0);
        if (only.shape == shape) {
            run_campaign(&campaign, &soak, &only);
        }
        return;
    }
    run_campaign(&campaign, effort, NULL);
    print_message("%s: %u cuts survived\n", store_shapes[shape].part, (unsigned)campaign.done);
}

int main(void)
{
    return store_each_shape(run_shape);
}

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

#include "cut_plan.h"

#define KINDS 7U

struct campaign {
    const struct nw_layer_kind *kind;
    struct layer_rig rig;
    struct layer_snapshot start; /* before the operation of the work */
    struct layer_snapshot dark;  /* after the first cut, before power comes back */
    struct cut_plan plan;
    uint64_t done;
};

static void say_failed(const struct campaign *campaign, const char *where, int result)
{
    char text[400];

    cut_plan_print(&campaign->plan, text, sizeof text);
    fail_msg("NW_CUT=\"%s\" %s: %s %s", text, where, nw_error_text(result), campaign->rig.why);
}

static void expect(struct campaign *campaign, int holds, const char *where, int result)
{
    if (!holds) {
        say_failed(campaign, where, result);
    }
}

/* Mount until power stays; every cut of the plan from the second on hits one mount. */
static void come_back(struct campaign *campaign, unsigned next)
{
    struct layer_rig *rig = &campaign->rig;
    int result;

    for (;;) {
        nw_nand_power_up(rig->nand);
        if (next < campaign->plan.cuts) {
            nw_nand_cut(rig->nand, &campaign->plan.cut[next]);
        }
        next++;
        result = layer_rig_mount(rig);
        if (!nw_nand_is_off(rig->nand)) {
            break;
        }
        expect(campaign, result == NW_ERR_POWER, "cut mount", result);
    }
    nw_nand_cut(rig->nand, NULL);
    expect(campaign, result == NW_OK, "mount", result);
    expect(campaign, layer_rig_clean(rig) == 0, "misuse", NW_OK);
    expect(campaign, layer_rig_check(rig, 1) == 0, "content", NW_OK);
}

/* What was read stays so, power-up after power-up; then the next writes work. */
static void live_on(struct campaign *campaign)
{
    struct layer_rig *rig = &campaign->rig;
    struct nw_random random;

    nw_random_seed(&random, campaign->plan.seed + 77U);
    for (unsigned round = 0; round < 3U; round++) {
        for (unsigned i = 0; i < (round == 0 ? 0U : 12U); i++) {
            struct layer_op op = layer_rig_draw(rig, &random);
            int result = layer_rig_run(rig, &op);
            expect(campaign, result >= 0, "work after", result);
        }
        nw_nand_power_up(rig->nand);
        int result = layer_rig_mount(rig);
        expect(campaign, result == NW_OK, "mount again", result);
        expect(campaign, layer_rig_check(rig, 1) == 0, "content later", NW_OK);
    }
    expect(campaign, layer_rig_clean(rig) == 0, "misuse later", NW_OK);
}

static void first_cut(struct campaign *campaign, const struct layer_op *op)
{
    struct layer_rig *rig = &campaign->rig;

    layer_snapshot_restore(&campaign->start, rig);
    nw_nand_cut(rig->nand, &campaign->plan.cut[0]);
    int result = layer_rig_run(rig, op);
    expect(campaign, nw_nand_is_off(rig->nand) && (result == NW_ERR_POWER || result >= 0),
           "cut work", result);
}

/* The plan as it stands, on the operation at hand. */
static void run_plan(struct campaign *campaign, const struct layer_op *op)
{
    first_cut(campaign, op);
    come_back(campaign, 1);
    live_on(campaign);
    campaign->done++;
}

/* Chip operations of the mount after the plan's first cut. */
static uint32_t mount_operations(struct campaign *campaign, const struct layer_op *op)
{
    struct layer_rig *rig = &campaign->rig;

    first_cut(campaign, op);
    layer_snapshot_take(&campaign->dark, rig);
    nw_nand_power_up(rig->nand);
    uint64_t before = nw_nand_operations(rig->nand);
    (void)layer_rig_mount(rig);
    return (uint32_t)(nw_nand_operations(rig->nand) - before);
}

static struct nw_cut draw_cut(struct nw_random *random, uint32_t operations)
{
    struct nw_cut cut = {.after = nw_random_below(random, operations)};

    cut.phase = (uint8_t)nw_random_below(random, 3);
    if (cut.phase == NW_CUT_INSIDE && nw_random_below(random, 2) == 0) {
        cut.data = (uint8_t)nw_random_below(random, KINDS - 1U);
        cut.spare = (uint8_t)nw_random_below(random, KINDS - 1U);
    }
    return cut;
}

/* One to five further cuts, in the mounts that follow; most near the end, where a mount writes. */
static void cut_mounts(struct campaign *campaign, const struct layer_op *op,
                       struct nw_random *random, unsigned times)
{
    uint32_t operations = times > 0 ? mount_operations(campaign, op) : 0;

    for (unsigned i = 0; i < times; i++) {
        campaign->plan.cuts = 2U + nw_random_below(random, CUT_PLAN_MOST - 1U);
        for (unsigned k = 1; k < campaign->plan.cuts; k++) {
            campaign->plan.cut[k] = draw_cut(random, operations);
            if (nw_random_below(random, 4) != 0) {
                uint32_t tail = operations < 24U ? operations : 24U;
                campaign->plan.cut[k].after =
                    operations - tail + nw_random_below(random, tail + 6U);
            }
        }
        run_plan(campaign, op);
    }
    campaign->plan.cuts = 1;
}

struct effort {
    uint32_t steps;  /* host operations cut */
    unsigned kinds;  /* ways to tear each operation */
    unsigned mounts; /* chains of cut mounts for each first cut, in 16ths */
};

static void cut_everywhere(struct campaign *campaign, const struct layer_op *op,
                           uint32_t operations, struct nw_random *random,
                           const struct effort *effort)
{
    struct cut_plan *plan = &campaign->plan;

    for (uint32_t at = 0; at < operations; at++) {
        for (unsigned phase = NW_CUT_BEFORE; phase <= NW_CUT_AFTER; phase++) {
            for (unsigned kind = 0; kind < (phase == NW_CUT_INSIDE ? effort->kinds : 1U); kind++) {
                plan->cuts = 1;
                plan->cut[0] = (struct nw_cut){.after = at, .phase = (uint8_t)phase};
                if (kind > 0) {
                    plan->cut[0].data = (uint8_t)(1U + nw_random_below(random, KINDS - 2U));
                    plan->cut[0].spare = (uint8_t)(1U + nw_random_below(random, KINDS - 2U));
                }
                run_plan(campaign, op);
                cut_mounts(campaign, op, random,
                           (effort->mounts + nw_random_below(random, 16)) / 16U);
            }
        }
    }
}

/* Work that touches everything: the device is filled, then written over, trimmed, cleaned, and
 * blocks fail. */
static struct layer_op draw_step(struct layer_rig *rig, struct nw_random *random, uint32_t step)
{
    if (step % 40U == 17U && step < 100U) {
        return (struct layer_op){.kind = step < 40U ? OP_DOOM_PROGRAM : OP_DOOM_ERASE,
                                .sector = nw_random_below(random, rig->shape->blocks)};
    }
    if (step == 130U) { /* the block of the last settle fails: the host writes there now */
        return (struct layer_op){.kind = OP_DOOM_PROGRAM,
                                .sector = rig->sectors % rig->shape->blocks};
    }
    return layer_rig_draw(rig, random);
}

void layer_trial_fill(struct layer_rig *rig)
{
    struct layer_op op = {.kind = OP_WRITE, .count = 1};

    for (op.sector = 0; op.sector < rig->sectors; op.sector++) {
        assert_int_equal(layer_rig_run(rig, &op), NW_OK);
    }
}

static void run_campaign(struct campaign *campaign, const struct effort *effort,
                         const struct cut_plan *only)
{
    struct layer_rig *rig = &campaign->rig;
    struct cut_plan *plan = &campaign->plan;
    struct nw_random random;
    struct nw_random cuts;

    nw_random_seed(&random, plan->seed);
    nw_random_seed(&cuts, plan->seed ^ 0xC07U);
    layer_rig_open(rig, campaign->kind, &layer_shapes[plan->shape], plan->seed);
    layer_snapshot_open(&campaign->start, rig);
    layer_snapshot_open(&campaign->dark, rig);
    layer_trial_fill(rig);
    for (plan->step = 0; plan->step < effort->steps; plan->step++) {
        struct layer_op op = draw_step(rig, &random, plan->step);
        layer_snapshot_take(&campaign->start, rig);
        uint64_t before = nw_nand_operations(rig->nand);
        int result = layer_rig_run(rig, &op);
        uint32_t operations = (uint32_t)(nw_nand_operations(rig->nand) - before);
        expect(campaign, result >= 0, "work", result);
        if (only == NULL) {
            cut_everywhere(campaign, &op, operations, &cuts, effort);
        } else if (plan->step == only->step) {
            *plan = *only;
            run_plan(campaign, &op);
            break;
        }
        layer_snapshot_restore(&campaign->start, rig);
        result = layer_rig_run(rig, &op);
        if (nw_random_below(&random, 60) == 0) {
            nw_nand_power_up(rig->nand);
            result = layer_rig_mount(rig);
            expect(campaign, layer_rig_check(rig, 1) == 0, "remount", result);
        }
        expect(campaign, result >= 0, "work", result);
    }
    layer_snapshot_close(&campaign->dark);
    layer_snapshot_close(&campaign->start);
    layer_rig_close(rig);
}

static void cut_shape(const struct nw_layer_kind *kind, unsigned shape)
{
    static struct campaign campaign;
    static const struct effort quick = {.steps = 110, .kinds = 1, .mounts = 3};
    static const struct effort soak = {.steps = 400, .kinds = 6, .mounts = 64};
    const struct effort *effort = getenv("NW_SOAK") != NULL ? &soak : &quick;
    const char *text = getenv("NW_CUT");
    struct cut_plan only = {0};

    memset(&campaign, 0, sizeof campaign);
    campaign.kind = kind;
    if (text != NULL) {
        assert_int_equal(cut_plan_parse(text, &only), 0);
        if (only.shape == shape) {
            campaign.plan = (struct cut_plan){.shape = shape, .seed = only.seed};
            run_campaign(&campaign, &soak, &only);
        }
        return;
    }
    campaign.plan = (struct cut_plan){.shape = shape, .seed = 1U + shape};
    run_campaign(&campaign, effort, NULL);
    print_message("%s on %s: %u cuts survived\n", kind->name, layer_shapes[shape].part,
                  (unsigned)campaign.done);
}

/* Each torn, with hardly any work between them; half of the device stays as it is all the time. */
static void cut_often(const struct nw_layer_kind *kind, const struct layer_shape *shape)
{
    struct nw_random random;
    struct layer_rig rig;

    nw_random_seed(&random, 17);
    layer_rig_open(&rig, kind, shape, 6);
    layer_trial_fill(&rig);
    for (unsigned cut = 0; cut < 200U; cut++) {
        struct nw_cut where = {.after = nw_random_below(&random, 8), .phase = NW_CUT_INSIDE};
        nw_nand_cut(rig.nand, &where);
        for (unsigned i = 0; !nw_nand_is_off(rig.nand); i++) {
            if (i == 10000U) {
                fail_msg("cut %u: the device writes no more", cut);
            }
            struct layer_op op = layer_rig_draw(&rig, &random);
            op.sector = op.kind <= OP_TRIM && op.sector > 40U ? op.sector % 40U : op.sector;
            (void)layer_rig_run(&rig, &op);
        }
        nw_nand_power_up(rig.nand);
        assert_int_equal(layer_rig_mount(&rig), NW_OK);
        if (layer_rig_check(&rig, 1) < 0 || layer_rig_clean(&rig) < 0) {
            fail_msg("cut %u: %s", cut, rig.why);
        }
    }
    layer_rig_close(&rig);
}

/* What the group works on. */
struct trial {
    const struct nw_layer_kind *kind;
    const struct layer_shape *many;
};

static void test_copyback(void **state)
{
    cut_shape(((const struct trial *)*state)->kind, 0);
}

static void test_ecc_inside(void **state)
{
    cut_shape(((const struct trial *)*state)->kind, 1);
}

static void test_small_page(void **state)
{
    cut_shape(((const struct trial *)*state)->kind, 2);
}

static void test_erased_zero(void **state)
{
    cut_shape(((const struct trial *)*state)->kind, 3);
}

static void test_many_cuts(void **state)
{
    const struct trial *trial = *state;

    cut_often(trial->kind, trial->many);
}

int layer_trial_all_cuts(const struct nw_layer_kind *kind, const struct layer_shape *many)
{
    struct trial trial = {.kind = kind, .many = many};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_copyback, &trial),
        cmocka_unit_test_prestate(test_ecc_inside, &trial),
        cmocka_unit_test_prestate(test_small_page, &trial),
        cmocka_unit_test_prestate(test_erased_zero, &trial),
        cmocka_unit_test_prestate(test_many_cuts, &trial)};

    return cmocka_run_group_tests_name(kind->name, tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: the machine that tortures layers can be trusted. A toy layer with a defect of each sort is
 * caught by the judge meant for it, and its history shrinks to the smallest there is; a history
 * reads back as it was printed, plays again as it was drawn, and does not depend on what was played
 * before; bad text is told with its line.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "nandwich-sim/torture.h"
#include "nandwich-twin/faults.h"
#include "nandwich-twin/parts.h"
#include "sectors.h"
#include "shrink.h"
#include "swarm.h"

/* The toy: a counter in page 0, written anew in the next page by each bump; a mount looks for the
 * last page that was written. Its defect is the setting `maps`. */
enum defect {
    SOUND = 10, /* none; 0 would be drawn */
    FORGETS,    /* the third bump of a session is not written */
    REFUSES,    /* the second bump answers NW_ERR_FULL */
    READS,      /* a look reads twice */
    OVERWRITES, /* the second bump programs page 0 again */
    BREAKS,     /* a mount behind two bumps answers NW_ERR_CORRUPT */
    SCRIBBLES,  /* each mount behind a bump writes, and answers NW_ERR_CORRUPT */
    TURNS       /* a look never ends while there is power */
};

enum toy_verb { BUMP, LOOK, REST, TOY_VERBS };

struct toy {
    uint32_t value;  /* as the toy has it */
    uint32_t wanted; /* as the model has it; a bump that was cut may or may not count */
    uint32_t coming;
    uint32_t bumps; /* in this session */
};

static const struct sim_verb toy_verbs[TOY_VERBS] = {
    [BUMP] = {"bump", "counts up", {{"by", 9, NULL}}, 0},
    [LOOK] = {"look", "reads the counter", {{0}}, 0},
    [REST] = {"rest", "does nothing", {{"long", 1000, NULL}}, 0},
};

static int toy_page(struct sim_subject *subject, uint32_t page, uint32_t *value, int writes)
{
    uint8_t data[2048] = {0};
    struct nw_chip_req req = {.chip = subject->chip, .page = page, .data = data};

    req.length = subject->chip->geometry.page_bytes;
    memcpy(data, value, sizeof *value);
    int result = writes ? nw_chip_program(&req) : nw_chip_read(&req);
    memcpy(value, data, sizeof *value);
    return result;
}

static int toy_open(struct sim_subject *subject)
{
    subject->own = calloc(1, sizeof(struct toy));
    return subject->own != NULL && subject->chip->geometry.page_bytes <= 2048U ? NW_OK
                                                                              : (int)NW_ERR_CONFIG;
}

static void toy_close(struct sim_subject *subject)
{
    free(subject->own);
    subject->own = NULL;
}

static int toy_format(struct sim_subject *subject)
{
    struct nw_chip_req req = {.chip = subject->chip};

    memset(subject->own, 0, sizeof(struct toy));
    return nw_chip_erase(&req);
}

/* Bumps that the chip holds. */
static uint32_t toy_found(const struct sim_subject *subject)
{
    uint32_t found = 0;

    for (uint32_t page = 0; page < subject->chip->geometry.block_pages; page++) {
        found += nw_nand_page_programs(subject->nand, page) > 0;
    }
    return found;
}

static int toy_mount(struct sim_subject *subject)
{
    struct toy *toy = subject->own;
    int breaks = subject->head->maps == BREAKS && toy->bumps >= 2U;
    uint32_t found = toy_found(subject);

    if (subject->head->maps == SCRIBBLES && found > 0) {
        (void)toy_page(subject, found, &found, 1);
        return NW_ERR_CORRUPT;
    }

    toy->value = found;
    toy->bumps = 0;
    if (toy->value == toy->coming) {
        toy->wanted = toy->value;
    }
    return breaks ? (int)NW_ERR_CORRUPT : (int)NW_OK;
}

static uint32_t toy_places(const struct sim_subject *subject)
{
    (void)subject;
    return 1;
}

static void toy_draw(struct sim_subject *subject, struct nw_random *random,
                     struct sim_taste *taste, struct sim_step *step)
{
    (void)subject;
    (void)taste;
    *step = (struct sim_step){
        .verb = (uint8_t)(SIM_COMMON + nw_random_below(random, TOY_VERBS))};
    step->args[0] = nw_random_below(random, 10);
}

static int toy_bump(struct sim_subject *subject)
{
    struct toy *toy = subject->own;
    uint32_t defect = subject->head->maps;
    uint32_t value = toy->value + 1U;
    uint32_t page = toy->value;

    toy->bumps++;
    if (page >= subject->chip->geometry.block_pages) {
        return NW_OK;
    }
    if (defect == REFUSES && toy->bumps == 2U) {
        return NW_ERR_FULL;
    }
    toy->coming = toy->wanted + 1U;
    if (defect == FORGETS && toy->bumps == 3U) {
        toy->wanted++;
        toy->value++;
        return NW_OK;
    }
    int result = toy_page(subject, defect == OVERWRITES && toy->bumps == 2U ? 0 : page, &value, 1);
    toy->wanted += result >= 0;
    toy->value = result >= 0 ? toy->value + 1U : toy_found(subject);
    toy->wanted = result < 0 && result != NW_ERR_POWER ? toy->value : toy->wanted;
    return result == NW_ERR_PROGRAM ? NW_OK : result; /* of a block that is worn out */
}

static int toy_look(struct sim_subject *subject)
{
    struct toy *toy = subject->own;

    if (toy->value != toy->wanted && toy->value != toy->coming) {
        (void)snprintf(subject->why, sizeof subject->why, "the counter is %u and should be %u",
                       (unsigned)toy->value, (unsigned)toy->wanted);
    }
    while (subject->head->maps == TURNS) {
        uint32_t value = 0;
        int result = toy_page(subject, 0, &value, 0);
        if (result < 0) {
            return result;
        }
    }
    toy->wanted = toy->value;
    toy->coming = toy->value;
    for (unsigned i = 0; i < (subject->head->maps == READS ? 2U : 1U) && toy->value > 0; i++) {
        uint32_t value = 0;
        int result = toy_page(subject, toy->value - 1U, &value, 0);
        if (result < 0 && result != NW_ERR_ECC) { /* of a torn page */
            return result;
        }
    }
    return NW_OK;
}

static int toy_run(struct sim_subject *subject, const struct sim_step *step)
{
    switch (step->verb - SIM_COMMON) {
    case BUMP: return toy_bump(subject);
    case LOOK: return toy_look(subject);
    default: return NW_OK;
    }
}

static int toy_check(struct sim_subject *subject)
{
    return toy_look(subject);
}

static int toy_may_fill(const struct sim_subject *subject, const struct sim_strain *strain)
{
    (void)subject;
    (void)strain;
    return 0;
}

static struct sim_most toy_most(const struct sim_subject *subject, const struct sim_step *step,
                                int clean)
{
    (void)subject;
    (void)clean;
    return (struct sim_most){step->verb - SIM_COMMON == LOOK ? 1U : 0U, 1, 0, UINT32_MAX};
}

static const struct sim_kind toy_kind = {.name = "toy",
                                         .what = "counts",
                                         .verbs = toy_verbs,
                                         .verb_count = TOY_VERBS,
                                         .open = toy_open,
                                         .close = toy_close,
                                         .format = toy_format,
                                         .mount = toy_mount,
                                         .places = toy_places,
                                         .draw = toy_draw,
                                         .run = toy_run,
                                         .check = toy_check,
                                         .may_fill = toy_may_fill,
                                         .most = toy_most};

/* The first seed of these that fails, shrunk, as its steps alone; "" when 400 seeds go well. */
static void find(uint32_t defect, uint8_t judge, char *steps, size_t bytes)
{
    struct sim_wish wish = {.kind = &toy_kind, .head = {.maps = defect}, .steps = 60};

    steps[0] = '\0';
    for (uint32_t seed = 5; seed <= 400U; seed++) {
        struct sim_history history;
        struct sim_outcome outcome;

        sim_history_init(&history);
        assert_int_equal(sim_swarm(&wish, seed, &history, &outcome), NW_OK);
        if (outcome.failure.judge == judge) {
            assert_int_equal(sim_shrink(&history, NULL, 2000, &outcome), NW_OK);
            assert_int_equal(outcome.failure.judge, judge);
            assert_int_equal(outcome.failure.step + 1U, history.count);
            for (uint32_t i = 0; i < history.count; i++) {
                size_t used = strlen(steps);
                used += (size_t)sim_step_text(&toy_kind, &history.steps[i], steps + used,
                                              bytes - used);
                (void)snprintf(steps + used, bytes - used, ";");
            }
            sim_history_free(&history);
            return;
        }
        sim_history_free(&history);
    }
}

static void expect(uint32_t defect, uint8_t judge, const char *wanted)
{
    char steps[400];

    find(defect, judge, steps, sizeof steps);
    assert_string_equal(steps, wanted);
}

static void test_judges(void **state)
{
    (void)state;
    expect(FORGETS, SIM_CONTENT, "bump 0;bump 0;bump 0;plug;check;");
    expect(REFUSES, SIM_ERROR, "bump 0;bump 0;");
    expect(READS, SIM_COST, "bump 0;look;");
    expect(OVERWRITES, SIM_MISUSE, "bump 0;bump 0;");
    expect(BREAKS, SIM_MOUNT, "bump 0;bump 0;plug;");
}

/* What a toy with that defect comes to in a few steps, on a device asked 1,000 times a step. */
static uint8_t judge_of(uint32_t defect, uint32_t beyond, const uint8_t *verbs, size_t count)
{
    struct sim_wish wish = {.kind = &toy_kind, .head = {.maps = defect}};
    struct sim_machine machine;
    struct nw_random random;

    nw_random_seed(&random, 1);
    assert_int_equal(sim_swarm_open(&wish, &random, &machine), NW_OK);
    machine.head.beyond = beyond;
    machine.gate.most = 1000;
    for (size_t i = 0; i < count && machine.failure.judge == SIM_FINE; i++) {
        (void)sim_machine_step(&machine, &(struct sim_step){.verb = verbs[i]});
    }
    uint8_t judge = machine.failure.judge;
    sim_machine_close(&machine);
    return judge;
}

/* Beyond the budget it only counts that steps end and that a device told to be damaged stays. */
static void test_beyond_the_budget(void **state)
{
    static const uint8_t loses[] = {SIM_COMMON, SIM_COMMON, SIM_COMMON, SIM_PLUG, SIM_CHECK};
    static const uint8_t mounts[] = {SIM_COMMON, SIM_PLUG, SIM_PLUG};
    static const uint8_t looks[] = {SIM_COMMON, SIM_COMMON + LOOK};

    (void)state;
    assert_int_equal(judge_of(FORGETS, 0, loses, sizeof loses), SIM_CONTENT);
    assert_int_equal(judge_of(FORGETS, 5, loses, sizeof loses), SIM_FINE);
    assert_int_equal(judge_of(SCRIBBLES, 0, mounts, sizeof mounts), SIM_MOUNT);
    assert_int_equal(judge_of(SCRIBBLES, 5, mounts, 2), SIM_FINE); /* nobody had told yet */
    assert_int_equal(judge_of(SCRIBBLES, 5, mounts, sizeof mounts), SIM_WRITES);
    assert_int_equal(judge_of(TURNS, 0, looks, sizeof looks), SIM_ENDLESS);
    assert_int_equal(judge_of(TURNS, 5, looks, sizeof looks), SIM_ENDLESS);
    assert_int_equal(judge_of(SOUND, 5, looks, sizeof looks), SIM_FINE);
}

/* Judges that never acquit are no judges. */
static void test_sound_toy(void **state)
{
    struct sim_wish wish = {.kind = &toy_kind, .head = {.maps = SOUND}, .steps = 60};
    uint64_t cuts = 0;

    (void)state;
    for (uint32_t seed = 1; seed <= 300U; seed++) {
        struct sim_history history;
        struct sim_outcome outcome;

        sim_history_init(&history);
        assert_int_equal(sim_swarm(&wish, seed, &history, &outcome), NW_OK);
        if (outcome.failure.judge != SIM_FINE) {
            fail_msg("seed %u: %s", (unsigned)seed, outcome.failure.text);
        }
        cuts += outcome.cuts;
        sim_history_free(&history);
    }
    assert_true(cuts > 100U);
}

static char *text_of(const struct sim_kind *kind, uint32_t seed, struct sim_outcome *outcome)
{
    struct sim_wish wish = {.kind = kind};
    struct sim_history history;

    sim_history_init(&history);
    assert_int_equal(sim_swarm(&wish, seed, &history, outcome), NW_OK);
    char *text = sim_history_print(&history);
    assert_non_null(text);
    sim_history_free(&history);
    return text;
}

/* What is printed reads back the same and plays the same, whatever was played before. */
static void test_text_and_replay(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 10U * sim_kind_count; i++) {
        const struct sim_kind *kind = sim_kinds[i % sim_kind_count];
        struct sim_outcome drawn;
        struct sim_outcome later;
        struct sim_outcome again;
        struct sim_history history;
        char why[200];
        char *text = text_of(kind, i, &drawn);
        char *other = text_of(sim_kinds[(i + 1U) % sim_kind_count], i + 1000U, &later);
        char *same = text_of(kind, i, &later);

        assert_string_equal(text, same);
        assert_memory_equal(&drawn, &later, sizeof drawn);
        if (sim_history_parse(&history, text, why, sizeof why) < 0) {
            fail_msg("%s", why);
        }
        free(same);
        same = sim_history_print(&history);
        assert_string_equal(text, same);
        assert_int_equal(sim_play(&history, NULL, &again), NW_OK);
        assert_memory_equal(&drawn, &again, sizeof drawn);
        sim_history_free(&history);
        free(same);
        free(other);
        free(text);
    }
}

static void test_bad_text(void **state)
{
    static const char start[] = "nandwich-torture 1\nsubject tree\npart K9F1G08U0A\n";
    static const struct {
        const char *text; /* behind start; from the first line if it begins with ! */
        const char *why;
    } cases[] = {
        {"!", "line 1: the steps are missing"},
        {"!nandwich 1\n", "line 1: a history begins with 'nandwich-torture 1'"},
        {"!nandwich-torture 2\n", "line 1: a history begins with 'nandwich-torture 1'"},
        {"!nandwich-torture 1\nsteps\n", "line 2: a subject and a part come before the steps"},
        {"subject trees\n", "line 4: there is no subject 'trees'"},
        {"part K9\n", "line 4: there is no part 'K9'"},
        {"part.blocks many\n", "line 4: blocks cannot be 'many'"},
        {"part.block 3\n", "line 4: a part has no block"},
        {"spare 3\n", "line 4: there is no setting 'spare'"},
        {"wears 4\n", "line 4: wears is 4, and at most 1"},
        {"degree 256\n", "line 4: degree is 256, and at most 255"},
        {"unstable 2\n", "line 4: unstable is 2, and at most 1"},
        {"seed -1\n", "line 4: seed is a number, not '-1'"},
        {"seed 1 2\n", "line 4: seed takes one value"},
        {"seed\n", "line 4: seed takes one value"},
        {"steps\nwrite 1\n", "line 5: write needs its count"},
        {"steps\nwrite 1 2 3\n", "line 5: write takes no more"},
        {"steps\nwrite one 2\n", "line 5: sector is a number, not 'one'"},
        {"steps\n# talk\n\ncut 1 during any any\n", "line 7: phase cannot be 'during'"},
        {"steps\npush 1\n", "line 5: a tree has no verb 'push'"},
        {"steps\nwrite 4294967296 1\n", "line 5: sector is 4294967296, and at most 4294967295"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct sim_history history;
        char text[400];
        char why[200] = "";

        (void)snprintf(text, sizeof text, "%s%s", cases[i].text[0] == '!' ? "" : start,
                       cases[i].text + (cases[i].text[0] == '!' ? 1 : 0));
        assert_int_equal(sim_history_parse(&history, text, why, sizeof why), NW_ERR_CONFIG);
        assert_string_equal(why, cases[i].why);
        assert_null(history.steps);
    }
}

/* block.h: acknowledged, pending, trimmed, shown, synced. */
static void test_what_a_sector_may_read_as(void **state)
{
    struct sim_sector sector;

    (void)state;
    sim_sector_set(&sector, 5);
    assert_int_equal(sim_sector_show(&sector, 0), -1);
    assert_int_equal(sim_sector_show(&sector, 5), 0);
    sim_sector_may(&sector, 6); /* a write failed: what a read shows stays in this session */
    assert_int_equal(sim_sector_show(&sector, 5), 0);
    assert_int_equal(sim_sector_show(&sector, 6), -1);
    sim_sector_mount(&sector); /* but power may bring the other */
    assert_int_equal(sim_sector_show(&sector, 6), 0);
    sim_sector_mount(&sector); /* and a mount has shown it for good */
    assert_int_equal(sim_sector_show(&sector, 5), -1);
    sim_sector_may(&sector, 7);
    sim_sector_sync(&sector); /* whichever is shown first behind a sync stays for good */
    assert_int_equal(sim_sector_show(&sector, 7), 0);
    sim_sector_mount(&sector);
    assert_int_equal(sim_sector_show(&sector, 6), -1);
    sim_sector_late(&sector, 0);
    assert_int_equal(sim_sector_show(&sector, 7), -1);
    assert_int_equal(sim_sector_show(&sector, 0), 0);
    sim_sector_mount(&sector); /* an unsynced trim */
    assert_int_equal(sim_sector_show(&sector, 7), 0);
    sim_sector_late(&sector, 0);
    sim_sector_sync(&sector);
    sim_sector_mount(&sector);
    assert_int_equal(sim_sector_show(&sector, 7), -1);
    for (uint32_t i = 10; i < 20U; i++) { /* more than are kept: then any one, once */
        sim_sector_may(&sector, i);
    }
    assert_int_equal(sim_sector_show(&sector, 99), 0);
    assert_int_equal(sim_sector_show(&sector, 98), -1);

    for (uint32_t i = 10; i < 20U; i++) { /* a trim, once held to be durable because of that */
        sim_sector_may(&sector, i);
    }
    sim_sector_late(&sector, 0);
    assert_int_equal(sim_sector_show(&sector, 0), 0);
    assert_int_equal(sim_sector_show(&sector, 15), -1);
    sim_sector_mount(&sector);
    assert_int_equal(sim_sector_show(&sector, 15), 0);
}

static void cycle(void *context)
{
    nw_nand_power_up(context);
}

/* Over a driver of which every so many-th read brings wrong bits; 0: none does. */
static void torture_driver(uint32_t skipped, struct nw_torture_result *result)
{
    struct nw_part part;
    struct nw_nand *nand;
    struct nw_faults faults;
    struct nw_fault fault = {.verb = NW_VERB_READ, .flips = 3, .every = skipped, .skip = 40};

    assert_int_equal(nw_parts_get("MT29F2G08ABAEA", &part), NW_OK);
    part.blocks = 20;
    part.block_pages = 16;
    part.factory_bad = 0;
    assert_int_equal(nw_nand_open(&nand, &(struct nw_nand_config){.part = &part}), NW_OK);
    fault.times = skipped != 0 ? 0 : 1U;
    fault.skip = skipped != 0 ? fault.skip : UINT32_MAX;
    nw_faults_open(&faults, nw_nand_chip(nand), &fault, 1, 1);
    struct nw_torture torture = {.layer = "tree",
                                 .chip = &faults.chip,
                                 .config = {.spare_blocks = 12},
                                 .runs = 30,
                                 .steps = 60,
                                 .cycle = cycle,
                                 .context = nand};
    assert_int_equal(nw_torture(&torture, result), NW_OK);
    assert_int_equal(nw_nand_misuse(nand)->error, 0);
    nw_nand_close(nand);
}

/* By one call a driver is tortured as the twin is; one whose reads go wrong is found out. */
static void test_a_driver(void **state)
{
    struct nw_torture_result result;

    (void)state;
    torture_driver(0, &result);
    assert_string_equal(result.what, "");
    assert_int_equal(result.runs, 30);
    assert_true(result.cuts > 20U && result.changes > 2000U);
    torture_driver(7, &result);
    assert_true(result.what[0] != '\0' && result.runs < 30U);
    assert_non_null(strstr(result.history, "part.name BOARD\n"));
    free(result.history);
    assert_int_equal(nw_torture(&(struct nw_torture){.layer = "toy"}, &result), NW_ERR_NOT_FOUND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_judges),          cmocka_unit_test(test_sound_toy),
        cmocka_unit_test(test_beyond_the_budget),
        cmocka_unit_test(test_text_and_replay), cmocka_unit_test(test_bad_text),
        cmocka_unit_test(test_what_a_sector_may_read_as), cmocka_unit_test(test_a_driver)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

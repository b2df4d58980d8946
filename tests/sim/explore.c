/* SPDX-License-Identifier: Apache-2.0 */
#include "explore.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nandwich-twin/parts.h"

#define AT_REST 0xFFFFU
#define SHAPES 11U /* before, nine inside, after */
#define SHAPE_AFTER (SHAPES - 1U)

/* How one power cycle goes. */
struct way {
    uint8_t calls[EXPLORE_CALLS]; /* places in the menu */
    uint8_t count;
    uint8_t shape;  /* of the cut */
    uint16_t change; /* of the chip that is cut; AT_REST: none is */
};

struct node {
    struct way way; /* that led here */
    uint32_t parent;
};

/* A device without power, to come back to. */
struct snapshot {
    struct sim_machine machine;
    struct nw_nand *nand;
    void *model;
};

struct explorer {
    const struct explore_plan *plan;
    struct explore_result *result;
    struct sim_machine machine;
    struct sim_state state;
    struct node *nodes;
    uint64_t *seen; /* hashes; 0: free */
    uint64_t slots;
    struct sim_history aged;
    struct snapshot root;
    struct snapshot here; /* at the node whose ways are gone */
};

/* Power cycles */

static struct sim_step cut_of(const struct way *way)
{
    static const uint8_t torn[] = {NW_TORN_OLD, NW_TORN_NEW, NW_TORN_HALF};
    struct sim_step step = {.verb = SIM_CUT, .args = {way->change, NW_CUT_INSIDE, 0, 0}};

    if (way->shape == 0 || way->shape == SHAPE_AFTER) {
        step.args[1] = way->shape == 0 ? NW_CUT_BEFORE : NW_CUT_AFTER;
    } else {
        step.args[2] = torn[(way->shape - 1U) % 3U];
        step.args[3] = torn[(way->shape - 1U) / 3U];
    }
    return step;
}

/* The steps of a way: how many. */
static uint32_t steps_of(const struct explorer *explorer, const struct way *way,
                         struct sim_step *steps)
{
    uint32_t count = 0;

    if (way->change != AT_REST) {
        steps[count++] = cut_of(way);
    }
    steps[count++] = (struct sim_step){.verb = SIM_PLUG};
    steps[count++] = (struct sim_step){.verb = SIM_CHECK};
    for (uint8_t i = 0; i < way->count; i++) {
        steps[count++] = explorer->plan->menu[way->calls[i]];
    }
    return count;
}

/* Goes a way from where the machine is: 0, or -1 when it failed. `changes` is filled in with the
 * chip's, before the last call and in all. */
static int go(struct explorer *explorer, const struct way *way, uint64_t changes[2])
{
    struct sim_machine *machine = &explorer->machine;
    struct sim_step steps[3U + EXPLORE_CALLS];
    uint64_t before = machine->gate.counts.changes;
    uint32_t count = steps_of(explorer, way, steps);
    int result = 0;

    changes[0] = 0;
    for (uint32_t i = 0; i < count && result == 0; i++) {
        changes[0] = i + 1U == count && way->count > 0 ? machine->gate.counts.changes - before : 0;
        result = sim_machine_step(machine, &steps[i]);
    }
    changes[1] = machine->gate.counts.changes - before;
    explorer->result->played++;
    return result;
}

/* Coming back */

static void *model_of(struct sim_machine *machine, size_t *bytes)
{
    return machine->subject.kind->model(&machine->subject, bytes);
}

static int snapshot_open(struct snapshot *snapshot, struct sim_machine *machine)
{
    size_t bytes;

    (void)model_of(machine, &bytes);
    snapshot->model = calloc(1, bytes);
    return snapshot->model == NULL ? (int)NW_ERR_RAM
                                   : nw_nand_fork(&snapshot->nand, machine->nand);
}

static int snapshot_take(struct snapshot *snapshot, struct sim_machine *machine)
{
    size_t bytes;
    const void *model = model_of(machine, &bytes);

    sim_gate_power_off(&machine->gate);
    memcpy(snapshot->model, model, bytes);
    snapshot->machine = *machine;
    return nw_nand_assign(snapshot->nand, machine->nand);
}

static int snapshot_restore(const struct snapshot *snapshot, struct sim_machine *machine)
{
    size_t bytes;

    *machine = snapshot->machine;
    void *model = model_of(machine, &bytes);
    memcpy(model, snapshot->model, bytes);
    return nw_nand_assign(machine->nand, snapshot->nand);
}

static void snapshot_close(struct snapshot *snapshot)
{
    nw_nand_close(snapshot->nand);
    free(snapshot->model);
}

/* States */

static int is_new(struct explorer *explorer)
{
    sim_state_clear(&explorer->state);
    explorer->machine.subject.kind->state(&explorer->machine.subject, &explorer->state);
    uint64_t hash = sim_state_hash(&explorer->state);
    hash += hash == 0;
    uint64_t at = hash % explorer->slots;

    while (explorer->seen[at] != 0 && explorer->seen[at] != hash) {
        at = (at + 1U) % explorer->slots;
    }
    if (explorer->seen[at] == hash) {
        return 0;
    }
    explorer->seen[at] = hash;
    return 1;
}

static int has_ended(const struct explorer *explorer)
{
    return explorer->result->failure.judge != SIM_FINE || explorer->state.failed != 0 ||
           explorer->result->states >= explorer->plan->most;
}

/* Ways from the root to a node, the first one first: how many. */
static uint32_t path_to(const struct explorer *explorer, uint32_t node, struct way *ways)
{
    uint32_t count = 0;

    for (uint32_t at = node; at != 0; at = explorer->nodes[at].parent) {
        count++;
    }
    uint32_t left = count;
    for (uint32_t at = node; at != 0; at = explorer->nodes[at].parent) {
        ways[--left] = explorer->nodes[at].way;
    }
    return count;
}

static int tell_way(struct explorer *explorer, const struct way *way)
{
    struct sim_step steps[3U + EXPLORE_CALLS];
    uint32_t count = steps_of(explorer, way, steps);
    int result = NW_OK;

    for (uint32_t i = 0; i < count && result == NW_OK; i++) {
        result = sim_history_add(&explorer->result->history, &steps[i]);
    }
    return result;
}

/* The history that has failed: to the node, and the way from there. */
static int tell(struct explorer *explorer, uint32_t node, const struct way *last)
{
    struct sim_history *history = &explorer->result->history;
    struct way ways[UINT8_MAX];
    uint32_t count = path_to(explorer, node, ways);
    int result = NW_OK;

    history->head = explorer->plan->head;
    explorer->result->failure = explorer->machine.failure;
    for (uint32_t i = 0; i < explorer->aged.count && result == NW_OK; i++) {
        result = sim_history_add(history, &explorer->aged.steps[i]);
    }
    for (uint32_t i = 0; i < count && result == NW_OK; i++) {
        result = tell_way(explorer, &ways[i]);
    }
    return result == NW_OK && last != NULL ? tell_way(explorer, last) : result;
}

/* One way from the node, and the state that it leads to. `changes` as go() has it. */
static int try_way(struct explorer *explorer, uint32_t node, const struct way *way,
                   uint64_t changes[2])
{
    struct explore_result *result = explorer->result;

    if (snapshot_restore(&explorer->here, &explorer->machine) < 0) {
        return NW_ERR_RAM;
    }
    if (go(explorer, way, changes) < 0) {
        return tell(explorer, node, way);
    }
    if (is_new(explorer)) {
        explorer->nodes[result->states] = (struct node){.way = *way, .parent = node};
        result->states++;
    }
    return NW_OK;
}

/* A cut at each of the changes of a way from `first` on, in each shape. An erased block has one
 * shape for data and spare bytes. */
static int cut_everywhere(struct explorer *explorer, uint32_t node, struct way way, uint64_t first,
                          uint64_t end)
{
    uint64_t changes[2];
    int result = NW_OK;

    for (uint64_t change = first; change < end; change++) {
        int erases = 0;

        way.change = (uint16_t)change;
        for (uint8_t shape = 0; shape < SHAPES && result == NW_OK; shape++) {
            way.shape = shape;
            if ((shape == SHAPE_AFTER && change + 1U < end) || (erases && shape > 3U) ||
                has_ended(explorer)) {
                continue;
            }
            result = try_way(explorer, node, &way, changes);
            erases = shape > 0 && explorer->machine.gate.cut_verb == NW_VERB_ERASE;
        }
    }
    return result;
}

/* The next order of calls of the same length: 0 when there is none. */
static int next_order(const struct explorer *explorer, struct way *way)
{
    uint8_t at = way->count;

    while (at > 0 && ++way->calls[at - 1U] == explorer->plan->menu_count) {
        way->calls[--at] = 0;
    }
    return at > 0;
}

/* All ways from a node. Cuts before the last call belong to a shorter way. */
static int expand(struct explorer *explorer, uint32_t node)
{
    int result = NW_OK;

    for (uint8_t count = 0; count <= explorer->plan->longest; count++) {
        struct way way = {.count = count};

        do {
            uint64_t changes[2];

            way.change = AT_REST;
            if (result < 0 || has_ended(explorer)) {
                return result;
            }
            result = try_way(explorer, node, &way, changes);
            if (result == NW_OK && !has_ended(explorer)) {
                result = cut_everywhere(explorer, node, way, changes[0], changes[1]);
            }
        } while (next_order(explorer, &way));
    }
    return result;
}

/* The machine at a node: its history once more. */
static int stand_at(struct explorer *explorer, uint32_t node)
{
    struct way ways[UINT8_MAX];
    uint64_t changes[2];
    uint32_t count = path_to(explorer, node, ways);
    int result = snapshot_restore(&explorer->root, &explorer->machine);

    for (uint32_t i = 0; i < count && result == NW_OK; i++) {
        result = go(explorer, &ways[i], changes);
    }
    return result < 0 ? result : snapshot_take(&explorer->here, &explorer->machine);
}

/* Level by level: each is one power cycle away from the one before. */
static int walk(struct explorer *explorer)
{
    struct explore_result *result = explorer->result;
    uint32_t first = 0;
    int answer = NW_OK;

    while (result->depth < explorer->plan->cycles && first < result->states &&
           !has_ended(explorer)) {
        uint32_t end = result->states;

        result->depth++;
        for (; first < end && answer == NW_OK && !has_ended(explorer); first++) {
            answer = stand_at(explorer, first);
            answer = answer == NW_OK ? expand(explorer, first) : answer;
        }
        if (first == end && !has_ended(explorer)) {
            result->whole = result->depth;
        }
    }
    return explorer->state.failed != 0 ? (int)NW_ERR_RAM : answer;
}

/* Steps at random on a device that was full once. */
static int age(struct explorer *explorer)
{
    struct sim_machine *machine = &explorer->machine;
    struct sim_subject *subject = &machine->subject;
    uint32_t places = subject->kind->places(subject);
    struct sim_taste taste = {.span = places, .longest = 2};
    struct nw_random random;
    int result = NW_OK;

    nw_random_seed(&random, explorer->plan->seed);
    memset(taste.weights, 1, sizeof taste.weights);
    taste.weights[0] = 12;
    for (uint32_t i = 0; i < explorer->plan->aged && result == NW_OK; i++) {
        struct sim_step step;

        subject->kind->draw(subject, &random, &taste, &step);
        if (sim_verb_of(subject->kind, step.verb)->twin == 0) {
            result = sim_history_add(&explorer->aged, &step);
            if (result == NW_OK && sim_machine_step(machine, &step) < 0) {
                return tell(explorer, 0, NULL);
            }
        }
    }
    return result;
}

static int open_all(struct explorer *explorer)
{
    const struct explore_plan *plan = explorer->plan;
    struct sim_machine *machine = &explorer->machine;
    int result = sim_machine_open(machine, &plan->head, NULL);

    if (result < 0 || plan->head.kind->mount == NULL || plan->head.kind->model == NULL) {
        return result < 0 ? result : (int)NW_ERR_CONFIG;
    }
    explorer->slots = (uint64_t)plan->most * 2U + 1000U;
    explorer->seen = calloc(explorer->slots, sizeof *explorer->seen);
    explorer->nodes = calloc(plan->most + 1U, sizeof *explorer->nodes);
    if (explorer->seen == NULL || explorer->nodes == NULL) {
        return NW_ERR_RAM;
    }
    result = age(explorer);
    result = result < 0 ? result : snapshot_open(&explorer->root, machine);
    result = result < 0 ? result : snapshot_open(&explorer->here, machine);
    return result < 0 ? result : snapshot_take(&explorer->root, machine);
}

int explore(const struct explore_plan *plan, struct explore_result *result)
{
    struct explorer explorer = {.plan = plan, .result = result};
    int answer;

    memset(result, 0, sizeof *result);
    sim_history_init(&result->history);
    sim_history_init(&explorer.aged);
    sim_state_init(&explorer.state);
    answer = open_all(&explorer);
    if (answer == NW_OK && result->failure.judge == SIM_FINE) {
        (void)is_new(&explorer);
        result->states = 1;
        answer = walk(&explorer);
    }
    snapshot_close(&explorer.root);
    snapshot_close(&explorer.here);
    sim_state_free(&explorer.state);
    sim_history_free(&explorer.aged);
    free(explorer.seen);
    free(explorer.nodes);
    sim_machine_close(&explorer.machine);
    return answer;
}

/* Small chips: in order with copies inside, in order, in free order, an erased value of zeros. */
static void usual_chip(struct sim_head *head, uint32_t variant)
{
    static const char *const names[] = {"K9F1G08U0A", "W25N01GV", "TC58DVG02A1FT00", "K9LBG08U0M"};
    const char *name = names[variant % 4U];

    (void)nw_parts_get(name, &head->part);
    (void)snprintf(head->base, sizeof head->base, "%s", name);
    head->part.blocks = 18U + (variant & 1U);
    head->part.block_pages = 8;
    head->part.page_bytes = 256;
    head->part.program_bytes = 256;
    head->part.factory_bad = 1;
    head->part.erased = variant % 4U == 3U ? 0x00 : head->part.erased;
    head->unerased = variant % 4U == 2U;
    head->spare_blocks = 11;
}

struct explore_plan explore_usual(const struct sim_kind *kind, uint8_t calls, uint32_t variant)
{
    struct explore_plan plan = {.head = {.kind = kind},
                                .seed = variant,
                                .aged = variant % 5U * 30U,
                                .menu = kind->menu,
                                .menu_count = calls > 1U ? kind->menu_count : kind->menu_narrow,
                                .longest = calls,
                                .cycles = 4,
                                .most = 20000};
    struct nw_random random;

    if (kind->fit == NULL) {
        usual_chip(&plan.head, variant);
    } else {
        nw_random_seed(&random, variant);
        kind->fit(&random, &plan.head);
    }
    return plan;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The object store as a subject: a stack, a queue, streams, an array and a file beside the model of
 * the store's own tests. What a power cut leaves must be one of the states since the last durable
 * one, whole. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nandwich-twin/parts.h"
#include "store_rig.h"
#include "subject.h"

#define STATES_AHEAD 16U /* an operation adds so many states at most */
#define MOST_BAD 2U      /* blocks that a store of these shapes bears without a refusal */

#define VERB(number, word, line) [number] = {word, line, {{"count", STORE_KEYS - 1U, NULL}}, 0}

static const struct sim_verb verbs[] = {
    VERB(STORE_PUSH, "push", "to the stack"),
    VERB(STORE_POP, "pop", "from it"),
    VERB(STORE_ENQUEUE, "enqueue", "to the queue"),
    VERB(STORE_DEQUEUE, "dequeue", "from it"),
    VERB(STORE_APPEND, "append", "1 to 8 elements to the packed stream"),
    VERB(STORE_RECORD, "record", "one of any size to a stream"),
    VERB(STORE_RING, "ring", "one to a stream that keeps the newest"),
    VERB(STORE_SET, "set", "a value of the array, under this key"),
    VERB(STORE_WRITE, "write", "some bytes of the file"),
    VERB(STORE_SYNC, "sync", "makes all of it durable"),
    VERB(STORE_IDLE, "idle", "so many pieces of work ahead"),
    VERB(STORE_CHECKPOINT, "checkpoint", "keeps the state"),
    VERB(STORE_ROLLBACK, "rollback", "back to the newest checkpoint"),
    VERB(STORE_RENEW_DELETE, "delete", "gives the queue up"),
    VERB(STORE_RENEW_CREATE, "create", "makes it again"),
};

#define VERBS (sizeof verbs / sizeof verbs[0])

#define CALL(verb, number) {SIM_COMMON + (verb), {number, 0, 0, 0}}

static const struct sim_step menu[] = {CALL(STORE_PUSH, 1),   CALL(STORE_SYNC, 0),
                                       CALL(STORE_POP, 1),    CALL(STORE_CHECKPOINT, 0),
                                       CALL(STORE_APPEND, 3), CALL(STORE_SET, 5),
                                       CALL(STORE_IDLE, 8),   CALL(STORE_ROLLBACK, 0)};

static struct store_rig *rig_of(const struct sim_subject *subject)
{
    return subject->own;
}

static int store_open(struct sim_subject *subject)
{
    uint32_t shape = subject->head->shape;

    subject->own = calloc(1, sizeof(struct store_rig));
    if (subject->own == NULL) {
        return NW_ERR_RAM;
    }
    return store_rig_open_on(rig_of(subject), &store_shapes[shape != 0 ? shape - 1U : 0],
                             subject->chip);
}

static void store_close(struct sim_subject *subject)
{
    store_rig_close(rig_of(subject));
    free(subject->own);
    subject->own = NULL;
}

/* Reads everything; in what state the objects are is known from then on. */
static void settle(struct sim_subject *subject, int after_cut)
{
    struct store_rig *rig = rig_of(subject);

    if (store_rig_check(rig, after_cut) < 0) {
        (void)snprintf(subject->why, sizeof subject->why, "%s", rig->why);
    }
}

static int store_format(struct sim_subject *subject)
{
    return store_rig_format(rig_of(subject));
}

/* Which of its states the store shows is asked at once: every later one builds on it. */
static int store_mount(struct sim_subject *subject)
{
    int result = store_rig_mount(rig_of(subject));

    if (result >= 0) {
        settle(subject, 1);
    }
    return result;
}

static uint32_t store_places(const struct sim_subject *subject)
{
    (void)subject;
    return STORE_KEYS;
}

static void store_draw(struct sim_subject *subject, struct nw_random *random,
                       struct sim_taste *taste, struct sim_step *step)
{
    (void)subject;
    *step = (struct sim_step){.verb = sim_draw_verb(taste, VERBS, random)};
    uint32_t verb = step->verb - SIM_COMMON;
    step->args[0] = nw_random_next(random) % (verb == STORE_SET ? taste->span : 9U);
}

static int run_one(struct sim_subject *subject, const struct store_op *op)
{
    int result = store_rig_run(rig_of(subject), op);

    if (result < 0 && result != NW_ERR_POWER) { /* done or not done */
        settle(subject, 1);
    }
    return result;
}

static int store_run(struct sim_subject *subject, const struct sim_step *step)
{
    struct store_op op = {.kind = (uint8_t)(step->verb - SIM_COMMON), .count = step->args[0]};
    struct store_op sync = {.kind = STORE_SYNC};
    int result = NW_OK;

    if (op.kind != STORE_SET && op.kind != STORE_IDLE) {
        op.count = 1U + op.count % 8U;
    }
    if (rig_of(subject)->state_count + STATES_AHEAD > STORE_STATES) { /* the model is full */
        result = run_one(subject, &sync);
    }
    return result < 0 ? result : run_one(subject, &op);
}

static int store_check(struct sim_subject *subject)
{
    settle(subject, 0);
    return NW_OK;
}

static int store_may_fill(const struct sim_subject *subject, const struct sim_strain *strain)
{
    (void)subject;
    return strain->bad > MOST_BAD;
}

/* store.h bounds bytes and blocks by what is in use: test_store_costs judges that. */
static struct sim_most store_most(const struct sim_subject *subject, const struct sim_step *step,
                                  int clean)
{
    (void)subject;
    (void)step;
    (void)clean;
    return (struct sim_most){UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX};
}

/* States */

static void *store_model(struct sim_subject *subject, size_t *bytes)
{
    *bytes = sizeof(struct store_rig);
    return subject->own;
}

/* As bytes: the lengths of elements depend on how many there were, and where they lie on that. */
static void store_state(struct sim_subject *subject, struct sim_state *state)
{
    const struct store_rig *rig = rig_of(subject);
    const struct nw_geometry *geometry = &nw_nand_chip(subject->nand)->geometry;
    static _Thread_local uint8_t data[8192];
    static _Thread_local uint8_t spare[1024];

    sim_state_put(state, rig->token);
    sim_state_put_bytes(state, (const uint8_t *)&rig->saved, sizeof rig->saved);
    sim_state_put_bytes(state, (const uint8_t *)rig->states,
                        rig->state_count * sizeof rig->states[0]);
    for (uint32_t page = 0; page < geometry->blocks * geometry->block_pages; page++) {
        uint32_t programs = nw_nand_page_programs(subject->nand, page);

        sim_state_put(state, programs);
        if (programs > 0) {
            nw_nand_peek(subject->nand, page, data, spare);
            sim_state_put_bytes(state, data, geometry->page_bytes);
            sim_state_put_bytes(state, spare, geometry->spare_bytes);
        }
    }
}

/* The part of a shape, as the store's tests have it. */
static void store_fit(struct nw_random *random, struct sim_head *head)
{
    uint32_t which = nw_random_below(random, STORE_SHAPES);
    const struct store_shape *shape = &store_shapes[which];
    const struct sim_kind *kind = head->kind;

    *head = (struct sim_head){.kind = kind, .shape = which + 1U, .ecc = shape->ecc};
    (void)nw_parts_get(shape->part, &head->part);
    (void)snprintf(head->base, sizeof head->base, "%s", shape->part);
    head->part.blocks = shape->blocks + nw_random_below(random, 8);
    head->part.block_pages = shape->block_pages != 0 ? shape->block_pages : head->part.block_pages;
    head->part.page_bytes = shape->page_bytes != 0 ? shape->page_bytes : head->part.page_bytes;
    head->part.spare_bytes = shape->spare_bytes != 0 ? shape->spare_bytes : head->part.spare_bytes;
    if (shape->erased == 0 && strcmp(shape->part, "K9LBG08U0M") == 0) {
        head->part.program_bytes = head->part.page_bytes;
        head->part.erased = 0;
    }
    if (head->part.program_bytes > head->part.page_bytes) {
        head->part.program_bytes = head->part.page_bytes;
    }
    head->part.factory_bad = head->part.factory_bad > 1U ? 1U : head->part.factory_bad;
    head->unerased = (shape->nand_flags & NW_NAND_UNERASED) != 0;
}

const struct sim_kind sim_kind_store = {
    .name = "store",
    .what = "the object store: stack, queue, streams, array, file, checkpoints",
    .verbs = verbs,
    .verb_count = VERBS,
    .no_faults = 1,
    .fit = store_fit,
    .open = store_open,
    .close = store_close,
    .format = store_format,
    .mount = store_mount,
    .places = store_places,
    .draw = store_draw,
    .run = store_run,
    .check = store_check,
    .menu = menu,
    .menu_count = sizeof menu / sizeof menu[0],
    .menu_narrow = 4,
    .model = store_model,
    .state = store_state,
    .may_fill = store_may_fill,
    .most = store_most,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* The object store as a subject: a stack, a queue, streams, an array and a file beside the model of
 * the store's own tests. What a power cut leaves must be one of the states since the last durable
 * one, whole; so must what a mount shows behind a call that has failed, if writes did not go on. */
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

struct own {
    struct store_rig rig;
    uint32_t from;    /* writes fail until the next mount: what is read is a state from this on */
    uint8_t unknown;  /* mounted, but which state that shows could not be read yet */
    uint8_t full;     /* no mount went well since one that was full */
};

static struct own *own_of(const struct sim_subject *subject)
{
    return subject->own;
}

static struct store_rig *rig_of(const struct sim_subject *subject)
{
    return &own_of(subject)->rig;
}

static int store_open(struct sim_subject *subject)
{
    uint32_t shape = subject->head->shape;

    subject->own = calloc(1, sizeof(struct own));
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

/* Whether writes answer an error from now on. Nothing of a call that has failed is done or all, so
 * what is read lies between the state before it, number `before`, and the newest. */
static void note_broken(struct sim_subject *subject, uint32_t before)
{
    int broken = nw_store_idle(rig_of(subject)->store, 0);

    if (broken < 0 && subject->broken == NW_OK) {
        subject->broken = broken;
        own_of(subject)->from = before;
    }
}

static int look_once(struct sim_subject *subject)
{
    struct own *own = own_of(subject);

    return subject->broken != NW_OK ? store_rig_shows(&own->rig, own->from)
                                    : store_rig_check(&own->rig, own->unknown);
}

/* Reads everything: the error that was in the way, or NW_OK and what is wrong in `why`. Of what is
 * read in parts not each is checked, so a read that is wrong may show: but not again the next time.
 */
static int look(struct sim_subject *subject)
{
    struct own *own = own_of(subject);
    struct store_rig *rig = &own->rig;
    uint64_t strikes = subject->gate->counts.strikes;
    int result = look_once(subject);

    if (result < 0 && subject->gate->counts.strikes > strikes) {
        rig->alarms = nw_store_stats(rig->store)->tampered;
        result = rig->error != NW_ERR_IO ? look_once(subject) : result;
    }
    note_broken(subject, rig->state_count - 1U); /* a node may have had to give way */
    if (result == 0) {
        own->unknown = 0;
    } else if (rig->error == NW_ERR_IO || rig->error == NW_ERR_POWER) {
        return rig->error;
    } else {
        (void)snprintf(subject->why, sizeof subject->why, "%s", rig->why);
    }
    return NW_OK;
}

static int store_format(struct sim_subject *subject)
{
    return store_rig_format(rig_of(subject));
}

/* Which of its states the store shows is asked at once: every later one builds on it. */
static int store_mount(struct sim_subject *subject)
{
    struct own *own = own_of(subject);
    int result = store_rig_mount(&own->rig);

    if (own->full != 0 && (result == NW_ERR_CORRUPT || result == NW_ERR_TAMPERED ||
                           result == NW_ERR_NOT_FOUND || result == NW_ERR_BLANK)) {
        result = NW_ERR_FULL; /* all blocks have failed: torn headers read otherwise each time */
    }
    own->full = result == NW_ERR_FULL || (own->full != 0 && result < 0);
    subject->broken = result < 0 ? result : (int)NW_OK;
    own->unknown = result >= 0;
    if (result >= 0) {
        (void)look(subject);
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

/* A call that has failed has changed nothing; or every change answers its error from now on, and
 * the next mount shows it as done or not. */
static int judge_failed(struct sim_subject *subject, int result, uint32_t before)
{
    note_broken(subject, before);
    if (subject->broken != NW_OK && result != subject->broken) {
        (void)snprintf(subject->why, sizeof subject->why, "a call answers: %s, and changes: %s",
                       nw_error_text(result), nw_error_text(subject->broken));
        return result;
    }
    (void)look(subject);
    return result;
}

static int run_one(struct sim_subject *subject, const struct store_op *op)
{
    struct store_rig *rig = rig_of(subject);
    int broken = subject->broken;
    struct store_view now = rig->now;
    uint32_t states = rig->state_count;
    uint32_t saved = rig->has_saved;
    int result = store_rig_run(rig, op);

    if (broken != NW_OK && result >= 0 && memcmp(&now, &rig->now, sizeof now) != 0) {
        (void)snprintf(subject->why, sizeof subject->why, "a change goes well behind: %s",
                       nw_error_text(broken));
    }
    if (broken != NW_OK) {
        rig->state_count = states;
    }
    if (broken != NW_OK || (result < 0 && result != NW_ERR_POWER)) {
        rig->now = now;
        rig->has_saved &= saved;
    }
    if (broken != NW_OK && (result == NW_ERR_EXISTS || result == NW_ERR_NOT_FOUND ||
                            result == NW_ERR_RANGE)) {
        result = broken; /* RAM shows what failed as done, perhaps, and so no write is asked for */
    }
    if (result >= 0 || result == NW_ERR_POWER) {
        return result;
    }
    if (nw_store_idle(rig->store, 0) >= 0) {
        rig->state_count = states;
    }
    return judge_failed(subject, result, states - 1U);
}

static int store_run(struct sim_subject *subject, const struct sim_step *step)
{
    struct store_op op = {.kind = (uint8_t)(step->verb - SIM_COMMON), .count = step->args[0]};
    struct store_op sync = {.kind = STORE_SYNC};
    int result = own_of(subject)->unknown != 0 ? look(subject) : (int)NW_OK;

    if (result < 0 || own_of(subject)->unknown != 0) {
        return result;
    }
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
    return look(subject);
}

static int store_may_fill(const struct sim_subject *subject, const struct sim_strain *strain)
{
    (void)subject;
    return strain->retired > 1U || strain->bad > MOST_BAD;
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
    *bytes = sizeof(struct own);
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
    head->wears = nw_random_below(random, 6) == 0;
    if (head->wears != 0) {
        head->part.endurance = 2U + nw_random_below(random, 10);
    }
}

const struct sim_kind sim_kind_store = {
    .name = "store",
    .what = "the object store: stack, queue, streams, array, file, checkpoints",
    .verbs = verbs,
    .verb_count = VERBS,
    .reads_again = 2,
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

/* SPDX-License-Identifier: Apache-2.0 */
#include "explore.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHAPES 9U /* of data and spare, each: old, new or half */

/* How one power cycle goes. */
struct way {
    uint8_t calls;    /* writes, */
    uint8_t order;    /* each of one of two sectors: bit i tells which */
    uint8_t shape;    /* what the cut leaves */
    uint16_t changes; /* of the chip before the one that is cut; WHOLE: power is cut at rest */
};

#define WHOLE 0xFFFFU

/* Between layer and chip: cuts power inside one of the operations that change the cells. */
struct watch {
    struct nw_chip chip;
    struct nw_chip_ops ops;
    struct nw_nand *nand;
    struct nw_cut cut;
    uint16_t changes; /* so far */
    uint16_t at;      /* the one to cut */
};

/* The chip with the power off, and what the sector may read as. */
struct state {
    struct nw_nand *nand;
    struct layer_model *model;
    uint32_t token;
    struct way way; /* that led here */
};

struct explorer {
    const struct explore_plan *plan;
    struct explore_result *result;
    struct layer_rig rig;
    struct watch watch;
    struct state states[EXPLORE_DEEPEST + 1U];
    struct nw_random random;
    uint64_t *seen; /* hashes; the lowest 3 bits tell the power cycles that were left */
    uint64_t slots;
};

/* A hash of what is on the chip, and of what the two sectors may read as. */

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0x9E3779B97F4A7C15ULL;
    return hash ^ (hash >> 29);
}

static uint64_t mix_bytes(uint64_t hash, const uint8_t *bytes, uint32_t count)
{
    for (; count >= 8U; count -= 8U, bytes += 8) {
        uint64_t word;
        memcpy(&word, bytes, sizeof word);
        hash = mix(hash, word);
    }
    for (; count > 0; count--) {
        hash = mix(hash, *bytes++);
    }
    return hash;
}

static uint64_t hash_of(struct explorer *explorer, const struct state *state)
{
    const struct nw_geometry *geometry = &nw_nand_chip(state->nand)->geometry;
    uint64_t hash = 0;
    uint8_t spare[256];

    for (uint32_t i = 0; i < 2U; i++) {
        const struct layer_model *model = &state->model[explorer->plan->sector + i];
        hash = mix(mix(mix(hash, model->now), model->coming), model->has_coming);
    }
    for (uint32_t block = 0; block < geometry->blocks; block++) {
        hash = mix(hash, (uint64_t)nw_nand_block_bad(state->nand, block));
    }
    for (uint32_t page = 0; page < geometry->blocks * geometry->block_pages; page++) {
        uint32_t programs = nw_nand_page_programs(state->nand, page);

        hash = mix(hash, programs);
        nw_nand_peek(state->nand, page, explorer->rig.data, spare);
        hash = mix_bytes(hash, explorer->rig.data, geometry->page_bytes);
        hash = mix_bytes(hash, spare, geometry->spare_bytes);
    }
    return hash | 8U;
}

/* Is it new, with so many cycles to go? */
static int enter(struct explorer *explorer, const struct state *state, uint8_t left)
{
    uint64_t hash = hash_of(explorer, state) & ~7ULL;
    uint64_t at = hash % explorer->slots;

    while (explorer->seen[at] != 0 && (explorer->seen[at] & ~7ULL) != hash) {
        at = (at + 1U) % explorer->slots;
    }
    if (explorer->seen[at] == 0) {
        explorer->result->states++;
    } else if ((explorer->seen[at] & 7U) >= left) {
        return 0;
    }
    explorer->seen[at] = hash | left;
    return 1;
}

/* Failures */

static void say(struct explorer *explorer, uint8_t depth, const char *what, int error)
{
    struct explore_result *result = explorer->result;
    size_t room = sizeof result->why;
    size_t used = 0;

    for (uint8_t i = 1; i <= depth + 1U; i++) {
        const struct way *way = &explorer->states[i].way;

        used += (size_t)snprintf(result->why + used, room - used, "mount");
        for (uint8_t call = 0; call < way->calls; call++) {
            used += (size_t)snprintf(result->why + used, room - used, ", write %c",
                                     (way->order >> call & 1U) != 0 ? 'Y' : 'X');
        }
        if (way->changes != WHOLE) {
            used += (size_t)snprintf(result->why + used, room - used, ", cut at change %u (%u)",
                                     (unsigned)way->changes, (unsigned)way->shape);
        }
        used += (size_t)snprintf(result->why + used, room - used, "; ");
    }
    (void)snprintf(result->why + used, room - used, "%s %s %s", what,
                   error < 0 ? nw_error_text(error) : "", explorer->rig.why);
}

static int has_ended(const struct explorer *explorer)
{
    return explorer->result->why[0] != '\0' ||
           explorer->result->states >= explorer->plan->most;
}

/* The watch */

static int pass(struct nw_chip_req *req, int (*verb)(struct nw_chip_req *), int changes)
{
    struct nw_chip *own = req->chip;
    struct watch *watch = own->context;

    if (changes && watch->changes++ == watch->at) {
        nw_nand_cut(watch->nand, &watch->cut);
    }
    req->chip = nw_nand_chip(watch->nand);
    int result = verb(req);
    req->chip = own;
    return result;
}

#define WATCHED(verb, changes)                            \
    static int watch_##verb(struct nw_chip_req *req)      \
    {                                                     \
        return pass(req, nw_chip_##verb, changes);        \
    }

WATCHED(read, 0)
WATCHED(program, 1)
WATCHED(erase, 1)
WATCHED(is_bad, 0)
WATCHED(mark_bad, 1)
WATCHED(copy, 1)

static void open_watch(struct watch *watch, struct nw_nand *nand)
{
    const struct nw_chip *below = nw_nand_chip(nand);

    watch->nand = nand;
    watch->ops = (struct nw_chip_ops){.read = watch_read,
                                      .program = watch_program,
                                      .erase = watch_erase,
                                      .is_bad = watch_is_bad,
                                      .mark_bad = watch_mark_bad,
                                      .copy = below->ops->copy != NULL ? watch_copy : NULL};
    watch->chip = (struct nw_chip){
        .ops = &watch->ops, .context = watch, .geometry = below->geometry};
    watch->chip.geometry.buffers = 0;
}

/* Power cycles */

static void load(struct explorer *explorer, const struct state *state)
{
    struct layer_rig *rig = &explorer->rig;

    (void)nw_nand_assign(rig->nand, state->nand);
    memcpy(rig->model, state->model, rig->sectors * sizeof *rig->model);
    rig->token = state->token;
}

static void keep(struct explorer *explorer, struct state *state)
{
    struct layer_rig *rig = &explorer->rig;

    (void)nw_nand_assign(state->nand, rig->nand);
    memcpy(state->model, rig->model, rig->sectors * sizeof *rig->model);
    state->token = rig->token;
}

static int put(struct layer_rig *rig, uint32_t sector)
{
    struct layer_op op = {.kind = OP_WRITE, .sector = sector, .count = 1};

    return layer_rig_run(rig, &op);
}

/* The next power cycle of states[depth], its way in states[depth + 1]: 1, or 0 when there is no
 * such way: the change to be cut never came. Answers 0 too when it failed. */
static int cycle(struct explorer *explorer, uint8_t depth)
{
    static const uint8_t torn[] = {NW_TORN_OLD, NW_TORN_NEW, NW_TORN_HALF};
    const struct way *way = &explorer->states[depth + 1U].way;
    struct layer_rig *rig = &explorer->rig;
    struct watch *watch = &explorer->watch;

    load(explorer, &explorer->states[depth]);
    explorer->result->cycles++;
    nw_nand_power_up(rig->nand);
    watch->changes = 0;
    watch->at = way->changes;
    watch->cut = (struct nw_cut){
        .phase = NW_CUT_INSIDE, .data = torn[way->shape % 3U], .spare = torn[way->shape / 3U]};
    int result = layer_rig_mount(rig);
    if (result == NW_OK && layer_rig_check(rig, 1) < 0) {
        say(explorer, depth, "reads wrong:", 0);
        return 0;
    }
    for (uint8_t i = 0; i < way->calls && result == NW_OK; i++) {
        result = put(rig, explorer->plan->sector + (way->order >> i & 1U));
    }
    int off = nw_nand_is_off(rig->nand);
    if (result < 0 && !off) {
        say(explorer, depth, "answers", result);
    } else if (layer_rig_clean(rig) < 0) {
        say(explorer, depth, "misuse:", 0);
    }
    return explorer->result->why[0] == '\0' && (off || way->changes == WHOLE);
}

static void go_on(struct explorer *explorer, uint8_t depth);

/* The state that the last cycle led to, and all from there on, if it is new. */
static void enter_next(struct explorer *explorer, uint8_t depth)
{
    struct state *next = &explorer->states[depth + 1U];

    keep(explorer, next);
    if (enter(explorer, next, (uint8_t)(explorer->plan->cycles - depth - 1U))) {
        go_on(explorer, (uint8_t)(depth + 1U));
    }
}

static void try_way(struct explorer *explorer, uint8_t depth, const struct way *way)
{
    explorer->states[depth + 1U].way = *way;
    if (!has_ended(explorer) && cycle(explorer, depth)) {
        enter_next(explorer, depth);
    }
}

/* Power is cut at some of the changes on a way, in some shape; or at all, in all. */
static void cut(struct explorer *explorer, uint8_t depth, struct way way, uint16_t changes)
{
    struct nw_random *random = &explorer->random;

    if (changes == 0) {
        return;
    }
    for (uint8_t i = 0; i < explorer->plan->fan; i++) {
        way.changes = (uint16_t)nw_random_below(random, changes);
        way.shape = (uint8_t)nw_random_below(random, SHAPES);
        try_way(explorer, depth, &way);
    }
    for (uint32_t i = 0; explorer->plan->fan == 0 && i < changes * SHAPES; i++) {
        way.changes = (uint16_t)(i / SHAPES);
        way.shape = (uint8_t)(i % SHAPES);
        try_way(explorer, depth, &way);
    }
}

/* All ways from states[depth]. */
static void go_on(struct explorer *explorer, uint8_t depth)
{
    const struct explore_plan *plan = explorer->plan;

    if (depth > explorer->result->deepest) {
        explorer->result->deepest = depth;
    }
    for (uint8_t calls = 0; calls <= plan->calls && depth < plan->cycles; calls++) {
        for (uint8_t order = 0; order < 1U << calls; order++) {
            struct way way = {.calls = calls, .order = order, .changes = WHOLE};

            explorer->states[depth + 1U].way = way;
            int there = !has_ended(explorer) && cycle(explorer, depth);
            uint16_t changes = explorer->watch.changes;
            if (there) {
                enter_next(explorer, depth);
            }
            if (there && calls == plan->calls) {
                cut(explorer, depth, way, changes);
            }
        }
    }
}

static void *need(size_t count, size_t bytes)
{
    void *memory = calloc(count, bytes);

    if (memory == NULL) {
        (void)fprintf(stderr, "explore: no memory\n");
        abort();
    }
    return memory;
}

static void age(struct explorer *explorer)
{
    struct layer_rig *rig = &explorer->rig;
    struct nw_random random;

    nw_random_seed(&random, explorer->plan->seed);
    for (uint32_t i = 0; i < explorer->plan->aged; i++) {
        struct layer_op op = layer_rig_draw(rig, &random);

        if (layer_rig_run(rig, &op) < 0) {
            (void)fprintf(stderr, "explore: aging\n");
            abort();
        }
    }
}

void explore(const struct explore_plan *plan, struct explore_result *result)
{
    struct explorer explorer = {.plan = plan, .result = result};
    struct layer_rig *rig = &explorer.rig;

    *result = (struct explore_result){0};
    layer_rig_open(rig, plan->kind, plan->shape, plan->seed);
    nw_random_seed(&explorer.random, plan->seed);
    age(&explorer);
    open_watch(&explorer.watch, rig->nand);
    explorer.watch.at = WHOLE;
    rig->site.chip = &explorer.watch.chip;
    explorer.slots = plan->most * 2U + 64U;
    explorer.seen = need(explorer.slots, sizeof *explorer.seen);
    for (uint8_t i = 0; i <= plan->cycles; i++) {
        explorer.states[i].model = need(rig->sectors, sizeof *rig->model);
        if (nw_nand_fork(&explorer.states[i].nand, rig->nand) < 0) {
            abort();
        }
    }
    keep(&explorer, &explorer.states[0]);
    (void)enter(&explorer, &explorer.states[0], plan->cycles);
    go_on(&explorer, 0);
    for (uint8_t i = 0; i <= plan->cycles; i++) {
        nw_nand_close(explorer.states[i].nand);
        free(explorer.states[i].model);
    }
    free(explorer.seen);
    layer_rig_close(rig);
}

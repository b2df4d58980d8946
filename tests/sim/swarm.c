/* SPDX-License-Identifier: Apache-2.0 */
#include "swarm.h"

#include <stdio.h>
#include <string.h>

#include "nandwich-twin/parts.h"

#define TRIES 1000U /* configurations drawn until one suits */

/* What a run dwells on. */
struct mood {
    struct sim_taste taste;
    uint8_t plugs;   /* of 256 steps */
    uint8_t resets;
    uint8_t checks;  /* of 256 mounts: everything is read at once */
    uint8_t cuts;    /* of 256 steps: one is armed */
    uint8_t fails;
    uint8_t flips;
    uint8_t far;     /* cuts come at any of so many changes */
    uint8_t mounting; /* of 256 plugs: the mount is cut */
    uint8_t torn;    /* shapes of what a cut leaves: enum shapes */
    uint8_t dooms;   /* blocks that will fail, */
    uint8_t apart;   /* one in so many steps, */
    uint8_t together; /* so many at a time, at most */
    uint8_t rots;    /* contents that are spoilt, at most */
    uint32_t steps;
};

enum shapes { SHAPE_ANY, SHAPE_EACH, SHAPE_TOLD };

struct player {
    struct sim_machine machine;
    struct sim_history *history;
    struct nw_random random;
    struct mood mood;
    uint32_t room; /* steps that may still be played */
};

#define NO_ROOM 1 /* of a step that was not played */

static uint32_t below(struct nw_random *random, uint32_t limit)
{
    return limit <= 1U ? 0 : nw_random_next(random) % limit;
}

static uint32_t between(struct nw_random *random, uint32_t least, uint32_t most)
{
    return least + below(random, most - least + 1U);
}

static uint32_t one_in(struct nw_random *random, uint32_t n)
{
    return below(random, n) == 0 ? 1U : 0U;
}

/* Chips and configurations */

void sim_small_part(struct nw_random *random, struct sim_head *head)
{
    static const char *const names[] = {"K9F1G08U0A", "W25N01GV",   "TC58DVG02A1FT00",
                                        "K9LBG08U0M", "TLC8G-HEAL", "MT29F2G08ABAEA"};
    static const uint16_t page_bytes[] = {256, 256, 512};
    struct nw_part *part = &head->part;
    const char *name = names[below(random, sizeof names / sizeof names[0])];

    (void)nw_parts_get(name, part);
    (void)snprintf(head->base, sizeof head->base, "%s", name);
    part->block_pages = (uint16_t)between(random, 8, one_in(random, 3) ? 21 : 12);
    part->page_bytes = page_bytes[below(random, 3)];
    if (part->program_bytes > part->page_bytes || one_in(random, 4)) {
        part->program_bytes = part->page_bytes;
    }
    if (one_in(random, 5)) {
        part->spare_bytes = (uint16_t)between(random, 15, 18);
    }
    part->copy = one_in(random, 3) ? 0 : part->copy;
    part->in_order = one_in(random, 4) ? !part->in_order : part->in_order;
    part->erased = one_in(random, 6) ? 0x00 : part->erased;
    part->factory_bad = 1;
}

/* A part without a spare area has one by the oob filter: pages of one to four of the part's, less
 * what DataFlash has beyond a power of two, and so many a block as the layers like. */
static void draw_oob(struct nw_random *random, struct sim_head *head)
{
    uint32_t span = 1UL << below(random, 3);
    uint32_t pages = between(random, 16, 40) * span + 3U;

    if (head->kind->layer != NULL && head->kind->layer->tags != 0 &&
        head->part.spare_bytes == 0) {
        span *= head->part.program_bytes == head->part.page_bytes && span == 1U ? 2U : 1U;
        head->oob = span * (head->part.page_bytes & ~0xFFU);
        head->join = (pages + head->part.block_pages - 1U) / head->part.block_pages;
    }
}

/* What is 0 in `wished` is drawn: the least that works, the default, or something between. */
static void draw_settings(struct nw_random *random, struct sim_head *head)
{
    head->spare_blocks = one_in(random, 6) ? 0 : between(random, 10, one_in(random, 4) ? 20 : 13);
    head->log_blocks = one_in(random, 2) ? 0 : between(random, 1, 6);
    head->degree = one_in(random, 3) ? 0 : between(random, 1, 5);
    sim_head_maps(head, one_in(random, 2) ? 0 : between(random, 1, 9));
    head->unerased = one_in(random, 3);
    head->factory_bad = one_in(random, 3);
    head->wears = one_in(random, 8);
    if (head->wears != 0) {
        head->part.endurance = between(random, 30, 300);
    }
    head->shape = between(random, 1, 8);
    head->ecc = one_in(random, 8) ? between(random, 1, 2) : 0;
    if (head->ecc != 0) {
        head->part.spare_bytes = 64;
        head->part.page_programs = 4;
        head->part.program_bytes = (uint16_t)(head->part.page_bytes / 2U);
    }
    if (head->kind->mount == NULL) {
        head->spare_blocks = one_in(random, 2) ? 0 : between(random, 1, 4);
        head->sectors = one_in(random, 3) ? 0 : between(random, 8, 100);
    }
}

/* The rest; what was wished stays. */
static void settle_head(struct nw_random *random, const struct sim_wish *wish,
                        struct sim_head *head)
{
    struct sim_head given = wish->head;
    const struct sim_setting *setting;

    head->seed = nw_random_next(random);
    for (uint32_t i = 0; (setting = sim_setting_at(i)) != NULL; i++) {
        uint32_t value = *sim_setting_in(setting, &given);
        if (value != 0) {
            *sim_setting_in(setting, head) = value;
        }
    }
}

/* The chip on the board, as a part: its shape, so that a history tells it. */
static void board_part(const struct nw_chip *chip, struct sim_head *head)
{
    struct nw_part *part = &head->part;

    nw_part_init(part);
    (void)snprintf(part->name, sizeof part->name, "BOARD");
    part->blocks = chip->geometry.blocks;
    part->block_pages = chip->geometry.block_pages;
    part->page_bytes = chip->geometry.page_bytes;
    part->spare_bytes = chip->geometry.spare_bytes;
    part->program_bytes = chip->geometry.program_bytes;
    part->page_programs = chip->geometry.page_programs;
    part->erased = chip->geometry.erased;
    part->in_order = (chip->geometry.flags & NW_CHIP_IN_ORDER) != 0;
}

static void draw_head(struct nw_random *random, const struct sim_wish *wish,
                      struct sim_head *head)
{
    *head = (struct sim_head){.kind = wish->kind};
    if (wish->board != NULL) {
        board_part(wish->board->chip, head);
    } else if (wish->part != NULL) {
        head->part = *wish->part;
        (void)snprintf(head->base, sizeof head->base, "%s", wish->base);
    } else {
        sim_small_part(random, head);
    }
    struct nw_part part = head->part;
    draw_settings(random, head);
    if (wish->part != NULL || wish->board != NULL) { /* the part is as it is */
        head->part = part;
        head->ecc = 0;
    }
    if (wish->part != NULL) {
        draw_oob(random, head);
    }
    if (wish->kind->fit != NULL && wish->part == NULL && wish->board == NULL) {
        wish->kind->fit(random, head);
        settle_head(random, wish, head);
        return;
    }
    settle_head(random, wish, head);
    if (wish->board != NULL) {
        return;
    }
    uint32_t drawn = between(random, 15, one_in(random, 4) ? 40 : 22);
    if (drawn <= head->spare_blocks + 1U) {
        drawn += head->spare_blocks;
    }
    drawn *= head->oob != 0 ? head->join : 1U;
    head->part.blocks = wish->blocks != 0 ? wish->blocks : drawn;
    if (head->part.factory_bad >= head->part.blocks) {
        head->part.factory_bad = 1;
    }
}

/* What a cut leaves is drawn at each read, unless it is wished otherwise. Half of the drawn chips
 * tell by an error what cannot be read. */
static void draw_unstable(const struct sim_wish *wish, struct sim_head *head)
{
    if (wish->stable != 0 || wish->board != NULL) {
        return;
    }
    head->unstable = 1;
    if (wish->part == NULL && head->ecc == 0 && (head->seed & 1U) != 0) {
        head->part.ecc_bits = 1;
        head->part.ecc_bytes = head->part.page_bytes;
    }
}

/* Moods */

/* A share of 256, often none at all. */
static uint8_t share(struct nw_random *random, uint32_t most)
{
    return (uint8_t)(one_in(random, 3) ? 0 : between(random, 1, most));
}

static void draw_taste(struct nw_random *random, const struct sim_subject *subject,
                       struct sim_taste *taste)
{
    uint32_t places = subject->kind->places(subject);
    uint32_t spans[] = {1, between(random, 2, 4), places / 8U + 1U, places, places};

    *taste = (struct sim_taste){0};
    for (uint32_t i = 0; i < subject->kind->verb_count; i++) {
        taste->weights[i] = (uint8_t)(one_in(random, 2) ? 0 : between(random, 1, 8));
    }
    taste->weights[0] = (uint8_t)between(random, 4, 24); /* the first verb makes changes */
    taste->span = spans[below(random, 5)];
    taste->span = taste->span < places ? taste->span : places;
    taste->first = below(random, places);
    taste->in_order = (uint8_t)one_in(random, 4);
    taste->longest = (uint8_t)(one_in(random, 2) ? 1U : between(random, 2, 12));
}

/* Session after session on few places, most of them ended by a cut: what a mount has to remember of
 * such sessions has an end. */
static void grow_old(struct nw_random *random, struct mood *mood)
{
    mood->plugs = (uint8_t)between(random, 40, 90);
    mood->cuts = (uint8_t)between(random, 60, 120);
    mood->far = 3;
    mood->fails = 0;
    mood->mounting = 0;
    mood->torn = SHAPE_ANY; /* what a cut has left may show, or not, at each power-up */
    mood->steps *= 3U;
    mood->taste.span = mood->taste.span < 4U ? mood->taste.span : 4U;
}

/* Does the run spoil content? */
static int rots(const struct sim_kind *kind, const struct sim_taste *taste)
{
    int spoils = 0;

    for (uint32_t i = 0; kind->mount != NULL && i < kind->verb_count; i++) {
        spoils |= kind->verbs[i].twin != 0 && taste->weights[i] != 0;
    }
    return spoils;
}

/*
 * The clause of the budget that the plan goes beyond, for more than one page cannot be read for
 * good; 0: none. No plan goes beyond the rest: power cuts of any number, in mounts too (F1); as
 * many blocks that fail as the subject says that it bears (F2); errors of the bus, any number in a
 * row, and reads that fail or are wrong once (F3); bits that flip below ECC, one a page (F4);
 * requests that make sense, on a device of the subject's own (F6).
 */
static uint32_t beyond(const struct mood *mood)
{
    return mood->rots > 1U ? 5U : 0U;
}

static void draw_mood(struct nw_random *random, const struct sim_wish *wish,
                      const struct sim_subject *subject, struct mood *mood)
{
    *mood = (struct mood){.plugs = share(random, one_in(random, 2) ? 90 : 20),
                          .resets = share(random, 20),
                          .checks = (uint8_t)(one_in(random, 2) ? 255U : between(random, 60, 255)),
                          .cuts = share(random, one_in(random, 2) ? 120 : 20),
                          .far = (uint8_t)(one_in(random, 3) ? between(random, 8, 60) : 3U),
                          .mounting = share(random, 120),
                          .torn = (uint8_t)below(random, 3)};
    mood->fails = (uint8_t)(one_in(random, 2) ? 0 : between(random, 1, 60));
    mood->fails = subject->kind->no_faults != 0 ? 0 : mood->fails;
    mood->flips = (uint8_t)(subject->head->ecc != 0 ? between(random, 0, 8) : 0);
    mood->dooms = (uint8_t)(one_in(random, 2) ? 0 : between(random, 1, 5));
    if (subject->head->spare_blocks > 8U && one_in(random, 3)) { /* as many as it must bear */
        mood->dooms = (uint8_t)(subject->head->spare_blocks - 7U);
    }
    mood->apart = (uint8_t)between(random, 2, 60);
    mood->together = (uint8_t)between(random, 1, 5);
    mood->steps = between(random, 40, one_in(random, 3) ? 600 : 200);
    mood->steps = wish->steps != 0 ? wish->steps : mood->steps;
    draw_taste(random, subject, &mood->taste);
    if (one_in(random, 8)) {
        grow_old(random, mood);
    }
    mood->rots = rots(subject->kind, &mood->taste) != 0 && (subject->head->seed & 0x3EU) == 0
                      ? 8
                      : 1;
}

/* Steps */

static int play(struct player *player, struct sim_step step)
{
    if (player->room == 0) {
        return NO_ROOM;
    }
    player->room--;
    if (sim_history_add(player->history, &step) < 0) {
        return NW_ERR_RAM;
    }
    return sim_machine_step(&player->machine, &step);
}

static int play_common(struct player *player, uint8_t verb)
{
    return play(player, (struct sim_step){.verb = verb});
}

static uint32_t draw_torn(struct player *player)
{
    switch (player->mood.torn) {
    case SHAPE_ANY: return NW_TORN_ANY;
    case SHAPE_EACH: return between(&player->random, NW_TORN_OLD, NW_TORN_HALF);
    default: return below(&player->random, NW_TORN_RANDOM);
    }
}

static int play_cut(struct player *player, uint32_t reach)
{
    struct nw_random *random = &player->random;
    struct sim_step step = {.verb = SIM_CUT};

    step.args[0] = below(random, reach);
    step.args[1] = one_in(random, 3) ? below(random, 3) : (uint32_t)NW_CUT_INSIDE;
    if (player->machine.nand == NULL && step.args[1] == NW_CUT_INSIDE) {
        step.args[1] = NW_CUT_AFTER;
    }
    if (step.args[1] == NW_CUT_INSIDE) {
        step.args[2] = draw_torn(player);
        step.args[3] = draw_torn(player);
    }
    return play(player, step);
}

static int play_fail(struct player *player)
{
    struct nw_random *random = &player->random;
    static const uint8_t verbs[] = {NW_VERB_NONE,  NW_VERB_READ, NW_VERB_PROGRAM, NW_VERB_PROGRAM,
                                    NW_VERB_ERASE, NW_VERB_COPY, NW_VERB_MARK_BAD};
    struct sim_step step = {.verb = SIM_FAIL};

    step.args[0] = verbs[below(random, sizeof verbs)];
    step.args[1] = below(random, 3) * below(random, 12);
    step.args[2] = below(random, player->machine.subject.kind->reads_again > 1U ? 4 : 3);
    if (step.args[2] == SIM_ECC) {
        step.args[0] = one_in(random, 3) ? NW_VERB_COPY : NW_VERB_READ;
    } else if (step.args[2] == SIM_WRONG) {
        step.args[0] = NW_VERB_READ;
    }
    step.args[3] = one_in(random, 4) ? between(random, 2, 12) : 1U;
    return play(player, step);
}

static int play_doom(struct player *player)
{
    struct nw_random *random = &player->random;
    struct sim_step step = {.verb = SIM_DOOM};

    player->mood.dooms--;
    step.args[0] = below(random, player->machine.gate.chip.geometry.blocks);
    step.args[1] = below(random, player->machine.subject.kind->marks_fail ? 4 : 2);
    return play(player, step);
}

static int play_flip(struct player *player)
{
    const struct nw_geometry *geometry = &player->machine.gate.chip.geometry;
    struct sim_step step = {.verb = SIM_FLIP};

    /* A page takes one: the run has few of them, each in the next block. */
    player->mood.flips--;
    step.args[0] = (player->mood.flips % geometry->blocks) * geometry->block_pages +
                   below(&player->random, geometry->block_pages);
    step.args[1] = between(&player->random, 128, 8U * geometry->page_bytes - 1U);
    return play(player, step);
}

/* A mount in which something is to happen: a cut or, where mounts are let fail, a request that
 * fails; there the processor starts anew now and then, and power stays. */
static int play_mount(struct player *player)
{
    struct nw_random *random = &player->random;
    int restarts = player->machine.subject.kind->restarts;
    int fails = restarts && one_in(random, 2);
    uint8_t verb = restarts && one_in(random, 2) ? SIM_RESET : SIM_PLUG;
    int result = fails ? play_fail(player) : play_cut(player, 12);

    return result == 0 ? play_common(player, verb) : result;
}

/* Power goes, or has gone; mounts are cut now and then, and in the end one is not. */
static int play_power(struct player *player, uint8_t verb)
{
    struct nw_random *random = &player->random;
    const struct mood *mood = &player->mood;
    int result = 0;

    while (result == 0 && below(random, 256) < mood->mounting) {
        result = play_mount(player);
    }
    if (result == 0 && (player->machine.gate.armed != 0 ||
                        player->machine.subject.kind->restarts != 0)) {
        result = play_common(player, SIM_MEND);
    }
    result = result == 0 ? play_common(player, verb) : result;
    if (result == 0 && below(random, 256) <= mood->checks) {
        result = play_common(player, SIM_CHECK);
    }
    return result;
}

static int play_own(struct player *player)
{
    struct sim_subject *subject = &player->machine.subject;
    struct sim_step step;

    subject->kind->draw(subject, &player->random, &player->mood.taste, &step);
    if (sim_verb_of(subject->kind, step.verb)->twin != 0 && player->mood.rots-- == 0) {
        player->mood.rots = 0;
        return play_common(player, SIM_CHECK);
    }
    return play(player, step);
}

/* The next step or steps. */
static int play_next(struct player *player)
{
    struct nw_random *random = &player->random;
    const struct mood *mood = &player->mood;

    if (player->machine.up == 0 || below(random, 256) < mood->plugs) {
        return play_power(player, SIM_PLUG);
    }
    if (below(random, 256) < mood->resets) {
        return play_power(player, SIM_RESET);
    }
    if (below(random, 256) < mood->cuts) {
        return play_cut(player, mood->far);
    }
    if (below(random, 256) < mood->fails) {
        return play_fail(player);
    }
    if (player->machine.nand != NULL && mood->dooms > 0 && one_in(random, mood->apart) &&
        sim_machine_pending(&player->machine) < mood->together) {
        return play_doom(player);
    }
    if (player->machine.nand != NULL && mood->flips > 0 && one_in(random, 10)) {
        return play_flip(player);
    }
    return one_in(random, 40) ? play_common(player, SIM_CHECK) : play_own(player);
}

static const uint8_t end_verbs[] = {SIM_MEND, SIM_PLUG, SIM_CHECK, SIM_PLUG, SIM_CHECK};

/* Whatever went on: what the device shows now stays, through a sync and two mounts. */
static int play_end(struct player *player)
{
    int result = 0;

    for (uint32_t i = 0; i < sizeof end_verbs && result == 0; i++) {
        result = play_common(player, end_verbs[i]);
    }
    return result;
}

/* Half of the runs begin on a device that is full, some of these long in use. */
static int play_start(struct player *player)
{
    struct nw_random *random = &player->random;
    const struct sim_subject *subject = &player->machine.subject;
    uint32_t places = subject->kind->places(subject);
    struct sim_step step = {.verb = SIM_COMMON, .args = {0, places, 0, 0}};

    if (subject->kind->layer == NULL || one_in(random, 2)) {
        return 0;
    }
    if (one_in(random, 2)) {
        step.args[1] = places / 3U + 1U;
    }
    return play(player, step);
}

/* The start, the midst and the end; with `most` steps at most, if that is not 0. */
static int play_run(struct player *player, uint32_t most)
{
    uint32_t end = sizeof end_verbs;
    int result;

    if (most != 0) {
        end = most < end ? most : end;
        player->room = most - end;
    } else {
        player->room = UINT32_MAX - end;
    }
    result = play_start(player);
    while (result == 0 && player->history->count < player->mood.steps) {
        result = play_next(player);
    }
    if (result < 0) {
        return result;
    }
    player->room += end;
    return play_end(player);
}

int sim_swarm_open(const struct sim_wish *wish, struct nw_random *random,
                   struct sim_machine *machine)
{
    static const struct sim_machine closed;
    struct sim_head head;
    int result = NW_ERR_CONFIG;

    for (uint32_t i = 0; i < TRIES && result < 0 && result != NW_ERR_RAM; i++) {
        *machine = closed;
        draw_head(random, wish, &head);
        draw_unstable(wish, &head);
        result = sim_machine_open(machine, &head, wish->board);
        if (result < 0) {
            sim_machine_close(machine);
        }
    }
    return result;
}

int sim_swarm(const struct sim_wish *wish, uint32_t seed, struct sim_history *history,
              struct sim_outcome *outcome)
{
    struct player player = {.history = history};

    memset(outcome, 0, sizeof *outcome);
    nw_random_seed(&player.random, seed);
    (void)nw_random_next(&player.random);
    int result = sim_swarm_open(wish, &player.random, &player.machine);
    if (result < 0) {
        return result;
    }
    history->head = player.machine.head;
    draw_mood(&player.random, wish, &player.machine.subject, &player.mood);
    player.machine.head.beyond = beyond(&player.mood);
    history->head.beyond = player.machine.head.beyond;
    int played = play_run(&player, wish->steps);
    outcome->failure = player.machine.failure;
    outcome->steps = player.machine.steps;
    outcome->mounts = player.machine.mounts;
    outcome->cuts = player.machine.gate.counts.cuts;
    outcome->changes = player.machine.gate.counts.changes;
    sim_machine_close(&player.machine);
    return played == NW_ERR_RAM ? NW_ERR_RAM : NW_OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy by habits. Sectors of an application stand in two rings, written once and updated,
 * oldest first; a ring's head is an entry behind those of the slots. Period by period the tables
 * are read for what is to come before the row of the period that begins is emptied: it holds what
 * was so many days ago, the oldest of what the mean is made of.
 */
#include <string.h>

#include "nandwich/ram.h"
#include "nandwich/tier_habit.h"

#define MOST_APPS 4095U
#define MOST 0xFFFFU

static struct nw_tier_habit *habit_of(struct nw_tier_policy *policy)
{
    return (struct nw_tier_habit *)(void *)policy; /* its first member */
}

static uint16_t app_of(const struct nw_tier_habit *habit, const struct nw_tier_ask *ask)
{
    return ask->app <= habit->config.apps ? ask->app : 0;
}

static size_t bytes_of_bits(const struct nw_tier_habit_config *config)
{
    return (size_t)(config->sectors / 8U) + 1U;
}

static void count(uint16_t *counter)
{
    *counter = (uint16_t)(*counter + (*counter < MOST ? 1U : 0U));
}

/* The tables */

/* Where a period's row begins; of each application but nobody. */
static uint32_t row_of(const struct nw_tier_habit *habit, uint32_t period)
{
    return period % habit->rows * habit->config.apps;
}

static uint16_t *entry(const struct nw_tier_habit *habit, uint16_t *table, uint32_t period,
                       uint16_t app)
{
    return &table[row_of(habit, period) + app - 1U];
}

/* The mean over the days noted, of a period to come within a day; rounded up, so that what happened
 * at all is expected. */
static uint16_t predict(const struct nw_tier_habit *habit, uint16_t *table, uint32_t period,
                        uint16_t app)
{
    uint32_t sum = 0;
    uint32_t days = 0;

    while (days < habit->config.days &&
           period - habit->since >= (days + 1U) * habit->config.periods) {
        days++;
        sum += *entry(habit, table, period - days * habit->config.periods, app);
    }
    return (uint16_t)(days > 0 ? (sum + days - 1U) / days : 0U);
}

static void empty_row(struct nw_tier_habit *habit, uint32_t period)
{
    uint32_t at = row_of(habit, period);
    size_t bytes = (size_t)habit->config.apps * sizeof(uint16_t);

    memset(&habit->sectors[at], 0, bytes);
    memset(&habit->updates[at], 0, bytes);
}

/* A period begins */

/* Periods from this one to the next in which it is predicted to run. */
static uint8_t distance_of(const struct nw_tier_habit *habit, uint16_t app)
{
    uint8_t distance = 0;

    while (distance < habit->config.periods &&
           predict(habit, habit->sectors, habit->period + distance, app) == 0) {
        distance++;
    }
    return distance;
}

/* The one to be served next of those that have no grant yet and want one; 0: none. */
static uint16_t next_served(const struct nw_tier_habit *habit)
{
    uint16_t best = 0;

    for (uint16_t i = 1; i <= habit->config.apps; i++) {
        const struct nw_tier_app *app = &habit->app[i];

        if (app->sectors > 0 && app->grant == 0 &&
            (best == 0 || (habit->config.inter_only == 0 &&
                           app->updates > habit->app[best].updates))) {
            best = i;
        }
    }
    return best;
}

static void share_out(struct nw_tier_habit *habit)
{
    uint16_t rest = habit->slots;
    uint16_t next = next_served(habit);

    habit->reserved = 0;
    while (next != 0 && rest > 0) {
        struct nw_tier_app *app = &habit->app[next];

        app->grant = app->sectors < rest ? app->sectors : rest;
        rest = (uint16_t)(rest - app->grant);
        if (app->grant > app->held) {
            habit->reserved = (uint16_t)(habit->reserved + app->grant - app->held);
        }
        next = next_served(habit);
    }
}

static void begin_period(struct nw_tier_habit *habit)
{
    for (uint16_t i = 1; i <= habit->config.apps; i++) {
        struct nw_tier_app *app = &habit->app[i];

        app->sectors = predict(habit, habit->sectors, habit->period, i);
        app->updates = predict(habit, habit->updates, habit->period, i);
        app->next_sectors = predict(habit, habit->sectors, habit->period + 1U, i);
        app->next_updates = predict(habit, habit->updates, habit->period + 1U, i);
        app->distance = distance_of(habit, i);
        app->grant = 0;
        app->ran = 0;
    }
    share_out(habit);
    empty_row(habit, habit->period);
    if (habit->counted != NULL) {
        memset(habit->counted, 0, bytes_of_bits(&habit->config));
    }
}

/* Comes to the period that the clock is in. A clock that was put back stays where it was. */
static void keep_time(struct nw_tier_habit *habit)
{
    uint32_t now = habit->now_s / habit->config.period_s;

    if (now <= habit->period) {
        return;
    }
    for (uint32_t i = 1; i < now - habit->period; i++) { /* nobody ran */
        empty_row(habit, habit->period + i);
        if (i == habit->rows) {
            break; /* all are */
        }
    }
    habit->period = now;
    begin_period(habit);
}

/* What is written */

static int set_bit(uint8_t *bits, uint32_t at)
{
    uint8_t mask = (uint8_t)(1U << at % 8U);
    int was = (bits[at / 8U] & mask) != 0;

    bits[at / 8U] |= mask;
    return was;
}

/* Notes a write; `update`: to a sector that the NVM holds. */
static void note(struct nw_tier_habit *habit, const struct nw_tier_ask *ask, int update)
{
    uint16_t app = app_of(habit, ask);
    int counted = 0;

    if (ask->sector < habit->config.sectors) {
        update = set_bit(habit->known, ask->sector) || update;
        counted = set_bit(habit->counted, ask->sector);
    }
    if (app == 0) {
        return;
    }
    habit->app[app].ran = 1;
    if (!counted) {
        count(entry(habit, habit->sectors, habit->period, app));
    }
    if (update) {
        count(entry(habit, habit->updates, habit->period, app));
    }
}

/* The rings */

static uint16_t ring_of(const struct nw_tier_habit *habit, uint16_t app, uint8_t updated)
{
    return (uint16_t)(habit->config.slots + 2U * app + updated);
}

static void link(struct nw_tier_habit *habit, uint16_t slot, uint16_t app, uint8_t updated)
{
    uint16_t ring = ring_of(habit, app, updated);
    uint16_t newest = habit->older[ring];

    habit->older[slot] = newest;
    habit->newer[slot] = ring;
    habit->newer[newest] = slot;
    habit->older[ring] = slot;
    habit->owner[slot] = app;
    habit->updated[slot] = updated;
    if (habit->config.lru != 0) {
        habit->used_at[slot] = ++habit->uses;
    }
    if (habit->app[app].held++ < habit->app[app].grant) {
        habit->reserved--;
    }
}

static void unlink_slot(struct nw_tier_habit *habit, uint16_t slot)
{
    uint16_t app = habit->owner[slot];

    habit->newer[habit->older[slot]] = habit->newer[slot];
    habit->older[habit->newer[slot]] = habit->older[slot];
    if (--habit->app[app].held < habit->app[app].grant) {
        habit->reserved++;
    }
}

/* What the tier asks */

static int start(struct nw_tier_policy *policy, uint16_t slots)
{
    struct nw_tier_habit *habit = habit_of(policy);
    size_t table = (size_t)habit->rows * habit->config.apps;

    if (slots > habit->config.slots) {
        return NW_ERR_CONFIG;
    }
    habit->slots = slots;
    habit->used = 0;
    habit->uses = 0;
    memset(habit->app, 0, (habit->config.apps + 1U) * sizeof *habit->app);
    memset(habit->sectors, 0, table * sizeof *habit->sectors);
    memset(habit->updates, 0, table * sizeof *habit->updates);
    for (uint32_t app = 0; app <= habit->config.apps; app++) {
        for (uint8_t updated = 0; updated < 2U; updated++) {
            uint16_t ring = ring_of(habit, (uint16_t)app, updated);
            habit->older[ring] = ring;
            habit->newer[ring] = ring;
        }
    }
    if (habit->known != NULL) {
        memset(habit->known, 0, bytes_of_bits(&habit->config));
    }
    habit->period = habit->now_s / habit->config.period_s;
    habit->since = habit->period;
    begin_period(habit);
    return NW_OK;
}

static int admit(struct nw_tier_policy *policy, const struct nw_tier_ask *ask)
{
    struct nw_tier_habit *habit = habit_of(policy);
    const struct nw_tier_app *app = &habit->app[app_of(habit, ask)];
    uint16_t free = (uint16_t)(habit->slots - habit->used);

    if (ask->write == 0) {
        return 0;
    }
    keep_time(habit);
    note(habit, ask, 0);
    return habit->config.lru != 0 ||
           (free > 0 && (app->held < app->grant || free > habit->reserved));
}

static void entered(struct nw_tier_policy *policy, uint16_t slot, const struct nw_tier_ask *ask)
{
    struct nw_tier_habit *habit = habit_of(policy);

    link(habit, slot, app_of(habit, ask), 0);
    habit->used++;
}

static void touched(struct nw_tier_policy *policy, uint16_t slot, const struct nw_tier_ask *ask)
{
    struct nw_tier_habit *habit = habit_of(policy);

    if (ask->write != 0) {
        keep_time(habit);
        note(habit, ask, 1);
        unlink_slot(habit, slot);
        link(habit, slot, app_of(habit, ask), 1);
    } else if (habit->config.lru != 0) {
        unlink_slot(habit, slot);
        link(habit, slot, habit->owner[slot], habit->updated[slot]);
    }
}

static void left(struct nw_tier_policy *policy, uint16_t slot)
{
    struct nw_tier_habit *habit = habit_of(policy);

    unlink_slot(habit, slot);
    habit->used--;
}

/* The slot used least lately, of applications that hold more than is reserved for them: each ring
 * has its oldest first. */
static uint16_t least_lately(const struct nw_tier_habit *habit)
{
    uint16_t best = NW_TIER_NONE;

    for (uint16_t ring = ring_of(habit, 0, 0); ring <= ring_of(habit, habit->config.apps, 1);
         ring++) {
        uint16_t slot = habit->newer[ring];

        if (slot != ring &&
            habit->app[habit->owner[slot]].held > habit->app[habit->owner[slot]].grant &&
            (best == NW_TIER_NONE ||
             habit->uses - habit->used_at[slot] > habit->uses - habit->used_at[best])) {
            best = slot;
        }
    }
    return best;
}

static uint16_t victim(struct nw_tier_policy *policy, const struct nw_tier_ask *ask)
{
    const struct nw_tier_habit *habit = habit_of(policy);

    (void)ask;
    return habit->config.lru != 0 ? least_lately(habit) : NW_TIER_NONE;
}

/* Periods until it runs: nobody never does, and who runs now is nearest. */
static uint8_t distance(const struct nw_tier_habit *habit, uint16_t app)
{
    if (app == 0) {
        return habit->config.periods;
    }
    return habit->app[app].ran != 0 ? 0 : habit->app[app].distance;
}

/* Who has sectors of this kind and is furthest away; of those alike who is to update least. */
static uint16_t furthest(const struct nw_tier_habit *habit, uint8_t updated)
{
    uint16_t best = (uint16_t)MOST;

    for (uint16_t i = 0; i <= habit->config.apps; i++) {
        uint16_t ring = ring_of(habit, i, updated);

        if (habit->newer[ring] == ring) {
            continue;
        }
        if (best == MOST || distance(habit, i) > distance(habit, best) ||
            (distance(habit, i) == distance(habit, best) &&
             habit->app[i].next_updates < habit->app[best].next_updates)) {
            best = i;
        }
    }
    return best;
}

static uint16_t ahead(struct nw_tier_policy *policy, uint16_t free)
{
    struct nw_tier_habit *habit = habit_of(policy);
    uint32_t needed = 0;
    uint8_t updated = 0;

    keep_time(habit);
    for (uint16_t i = 1; i <= habit->config.apps; i++) {
        needed += habit->app[i].next_sectors;
    }
    if ((free >= needed && free >= habit->config.least_free) || habit->used == 0) {
        return NW_TIER_NONE;
    }
    if (free >= needed && habit->config.lru != 0) {
        return least_lately(habit);
    }
    uint16_t app = furthest(habit, updated);
    if (app == MOST) {
        updated = 1;
        app = furthest(habit, updated);
    }
    return habit->newer[ring_of(habit, app, updated)];
}

static const struct nw_tier_policy_ops habit_ops = {start, admit, entered, touched,
                                                    left,  victim, ahead};

/* Open */

static void set_defaults(struct nw_tier_habit_config *config)
{
    config->days = config->days != 0 ? config->days : 7U;
    config->periods = config->periods != 0 ? config->periods : 24U;
    config->period_s = config->period_s != 0 ? config->period_s : 3600U;
}

/* NW_ERR_CONFIG, or the arrays are taken. */
static int place(struct nw_tier_habit *habit, const struct nw_tier_habit_config *config,
                 struct nw_ram *ram)
{
    size_t rings = (size_t)config->slots + 2U * (config->apps + 1U);
    size_t bits = config->sectors != 0 ? bytes_of_bits(config) : 0U;

    if (config->slots == 0 || config->apps == 0 || config->apps > MOST_APPS || rings > MOST) {
        return NW_ERR_CONFIG;
    }
    habit->config = *config;
    set_defaults(&habit->config);
    habit->rows = (uint32_t)habit->config.days * habit->config.periods;
    size_t table = (size_t)habit->rows * config->apps;
    habit->app = NW_RAM_TAKE(ram, struct nw_tier_app, config->apps + 1U);
    habit->used_at = NW_RAM_TAKE(ram, uint32_t, config->lru != 0 ? config->slots : 0U);
    habit->sectors = NW_RAM_TAKE(ram, uint16_t, table);
    habit->updates = NW_RAM_TAKE(ram, uint16_t, table);
    habit->older = NW_RAM_TAKE(ram, uint16_t, rings);
    habit->newer = NW_RAM_TAKE(ram, uint16_t, rings);
    habit->owner = NW_RAM_TAKE(ram, uint16_t, config->slots);
    habit->updated = NW_RAM_TAKE(ram, uint8_t, config->slots);
    habit->known = NW_RAM_TAKE(ram, uint8_t, bits);
    habit->counted = NW_RAM_TAKE(ram, uint8_t, bits);
    return NW_OK;
}

size_t nw_tier_habit_ram_bytes(const struct nw_tier_habit_config *config)
{
    struct nw_ram ram = {NULL, 0, 0};
    struct nw_tier_habit habit;

    return place(&habit, config, &ram) == NW_OK ? ram.used : 0;
}

int nw_tier_habit_open(struct nw_tier_habit *habit, const struct nw_tier_habit_config *config,
                       void *ram, size_t ram_bytes)
{
    struct nw_ram arena = {ram, ram_bytes, 0};

    memset(habit, 0, sizeof *habit);
    int result = place(habit, config, &arena);
    if (result == NW_OK && (ram == NULL || arena.used > ram_bytes)) {
        result = NW_ERR_RAM;
    }
    if (config->sectors == 0) {
        habit->known = NULL;
        habit->counted = NULL;
    }
    habit->policy.ops = &habit_ops;
    return result;
}

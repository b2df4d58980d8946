/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The deadline scheduler over streams of the object store as a subject: what was told met or late
 * is in its stream, in order and once, whatever power does. What was under way may be there.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nandwich/feed.h"
#include "store_rig.h"
#include "subject.h"

#define FLOWS 3U
#define SLOTS 16U
#define RECORD 32U
#define MOST 1500U /* records of a flow in a run */
#define RING 30U   /* chunks that a stream keeps */

enum fate { WAITS, TOLD, MAYBE, NEVER };

struct own {
    struct nw_store_config config;
    struct nw_store *store;
    void *store_ram;
    size_t store_bytes;
    struct nw_sched sched;
    struct nw_sched_flow flows[FLOWS];
    struct nw_sched_counts counts[FLOWS];
    uint64_t ram[NW_SCHED_RAM_BYTES(SLOTS, FLOWS) / 8U + 1U];
    int streams[FLOWS];
    uint32_t now; /* us */
    uint32_t offered[FLOWS];
    uint8_t records[FLOWS][MOST][RECORD];
    uint8_t fate[FLOWS][MOST];
};

enum verb { OFFER, SERVE, WAIT, IDLE, VERBS };

static const struct sim_verb verbs[VERBS] = {
    [OFFER] = {"offer",
               "records to a flow",
               {{"flow", FLOWS - 1U, NULL}, {"count", SLOTS, NULL}},
               0},
    [SERVE] = {"serve", "so many groups, or what waits", {{"groups", 100, NULL}}, 0},
    [WAIT] = {"wait", "time passes", {{"us", 1000000, NULL}}, 0},
    [IDLE] = {"idle", "so many pieces of work ahead", {{"count", 100, NULL}}, 0},
};

static const char *const names[FLOWS] = {"light", "sound", "heat"};

static _Thread_local struct own *current; /* an event does not say whose it is */

static struct own *own_of(const struct sim_subject *subject)
{
    return subject->own;
}

static void listen(struct nw_sched_event *event)
{
    const uint8_t *record = event->slot->data;
    uint32_t number = record[0] | (uint32_t)record[1] << 8;
    static const uint8_t fates[] = {[NW_SCHED_MET] = TOLD,
                                    [NW_SCHED_LATE] = TOLD,
                                    [NW_SCHED_DROPPED] = NEVER,
                                    [NW_SCHED_FAILED] = MAYBE};

    current->fate[event->flow][number] = fates[event->verdict];
}

static int feed_open(struct sim_subject *subject)
{
    const struct store_shape *shape =
        &store_shapes[subject->head->shape != 0 ? subject->head->shape - 1U : 0];
    struct own *own = calloc(1, sizeof *own);

    subject->own = own;
    if (own == NULL) {
        return NW_ERR_RAM;
    }
    own->config = shape->config;
    own->store_bytes = nw_store_ram_bytes(&own->config, &subject->chip->geometry);
    own->store_ram = calloc(1, own->store_bytes + 1U);
    if (own->store_ram == NULL) {
        return NW_ERR_RAM;
    }
    return own->store_bytes != 0 ? NW_OK : (int)NW_ERR_CONFIG;
}

static void feed_close(struct sim_subject *subject)
{
    free(own_of(subject)->store_ram);
    free(subject->own);
    subject->own = NULL;
}

/* The queue is in RAM: what waited is gone with power. */
static int open_sched(struct sim_subject *subject)
{
    struct own *own = own_of(subject);

    for (uint32_t flow = 0; flow < FLOWS; flow++) {
        for (uint32_t i = 0; i < own->offered[flow]; i++) {
            own->fate[flow][i] = own->fate[flow][i] == WAITS ? NEVER : own->fate[flow][i];
        }
    }
    memset(&own->sched, 0, sizeof own->sched);
    memset(own->flows, 0, sizeof own->flows);
    own->sched.policy = &nw_sched_gedf;
    own->sched.event = listen;
    own->sched.flows = own->flows;
    own->sched.flow_count = FLOWS;
    own->sched.slot_count = SLOTS;
    own->sched.flags = NW_SCHED_LEARN | (subject->head->degree > 1U ? NW_SCHED_DROP_LATE : 0U);
    own->sched.sector_bytes =
        (uint16_t)NW_FEED_SECTOR_BYTES(subject->chip->geometry.page_bytes);
    for (uint32_t flow = 0; flow < FLOWS; flow++) {
        own->streams[flow] = nw_store_find(own->store, names[flow]);
        own->flows[flow].deadline = 3000U + 1000U * flow;
        own->flows[flow].counts = &own->counts[flow];
    }
    return nw_sched_open(&own->sched, (uint8_t *)own->ram, sizeof own->ram);
}

static int feed_format(struct sim_subject *subject)
{
    struct own *own = own_of(subject);
    int result = nw_store_format(&own->store, subject->chip, &own->config, own->store_ram,
                                 own->store_bytes);

    memset(own->offered, 0, sizeof own->offered);
    for (uint32_t flow = 0; result >= 0 && flow < FLOWS; flow++) {
        struct nw_store_spec spec = {
            .type = NW_STORE_STREAM, .unit_bytes = RECORD, .count = RING};

        result = nw_store_create(own->store, names[flow], &spec);
    }
    if (result < 0) {
        return result == NW_ERR_FULL ? (int)NW_ERR_CONFIG : result;
    }
    return open_sched(subject);
}

static int wrong(struct sim_subject *subject, uint32_t flow, uint32_t number, const char *what)
{
    (void)snprintf(subject->why, sizeof subject->why, "record %lu of %s %s",
                   (unsigned long)number, names[flow], what);
    return NW_OK;
}

/* Behind a mount, what is there stays and what is not does not come. */
static int read_stream(struct sim_subject *subject, uint32_t flow, int settle)
{
    struct own *own = own_of(subject);
    struct nw_store_cursor cursor;
    uint8_t record[RECORD];
    uint32_t next = 0; /* the lowest number that may come now */
    int first = 1;
    int result = nw_store_first(own->store, own->streams[flow], &cursor);

    while (result >= 0) {
        result = nw_store_next(own->store, &cursor, record, RECORD);
        uint32_t number = record[0] | (uint32_t)record[1] << 8;
        uint32_t end = result > 0 ? number : own->offered[flow];

        if (result > 0 && (number < next || number >= own->offered[flow])) {
            return wrong(subject, flow, number, "comes twice, or not in its turn");
        }
        for (uint32_t i = first && result > 0 ? end : next; i < end && result >= 0; i++) {
            if (own->fate[flow][i] == TOLD) {
                return wrong(subject, flow, i, "was told written and is not there");
            }
            own->fate[flow][i] = settle && own->fate[flow][i] == MAYBE ? NEVER
                                                                       : own->fate[flow][i];
        }
        if (result <= 0) {
            break;
        }
        if (own->fate[flow][number] == NEVER ||
            memcmp(record, own->records[flow][number], RECORD) != 0) {
            return wrong(subject, flow, number, "is there and must not be, or differs");
        }
        own->fate[flow][number] = settle ? TOLD : own->fate[flow][number];
        first = 0;
        next = number + 1U;
    }
    return result;
}

static int read_all(struct sim_subject *subject, int settle)
{
    int result = NW_OK;

    for (uint32_t flow = 0; flow < FLOWS && result >= 0 && subject->why[0] == '\0'; flow++) {
        result = read_stream(subject, flow, settle);
    }
    return result;
}

static int feed_mount(struct sim_subject *subject)
{
    struct own *own = own_of(subject);

    current = own;
    memset(own->store_ram, 0xC3, own->store_bytes);
    int result = nw_store_mount(&own->store, subject->chip, &own->config, own->store_ram,
                                own->store_bytes);
    result = result < 0 ? result : open_sched(subject);
    if (result >= 0) { /* blocks that failed behind its anchor end the writing, not the mount */
        int broken = nw_store_idle(own->store, 0);
        subject->broken = broken < 0 ? broken : (int)NW_OK;
    }
    return result < 0 ? result : read_all(subject, 1);
}

static uint32_t feed_places(const struct sim_subject *subject)
{
    (void)subject;
    return FLOWS;
}

static void feed_draw(struct sim_subject *subject, struct nw_random *random,
                      struct sim_taste *taste, struct sim_step *step)
{
    (void)subject;
    step->verb = sim_draw_verb(taste, VERBS, random);
    switch (step->verb - SIM_COMMON) {
    case OFFER:
        step->args[0] = nw_random_below(random, taste->span);
        step->args[1] = 1U + nw_random_below(random, taste->longest);
        break;
    case SERVE: step->args[0] = nw_random_below(random, 4); break;
    case WAIT: step->args[0] = nw_random_below(random, 5000); break;
    default: step->args[0] = nw_random_below(random, 9); break;
    }
}

static void offer(struct own *own, uint8_t flow, uint32_t count)
{
    for (uint32_t i = 0; i < count && own->offered[flow] < MOST; i++) {
        uint32_t number = own->offered[flow]++;
        uint8_t *record = own->records[flow][number];
        struct nw_sched_offer offer = {.owner = &own->sched,
                                       .now = own->now,
                                       .data = record,
                                       .size = RECORD,
                                       .flow = flow};

        memset(record, (int)((number * 7U + flow) & 0xFFU), RECORD);
        record[0] = (uint8_t)number;
        record[1] = (uint8_t)(number >> 8);
        own->fate[flow][number] = nw_sched_submit(&offer) < 0 ? NEVER : WAITS;
    }
}

static int serve(struct own *own, uint32_t groups)
{
    int result = NW_OK;

    for (uint32_t i = 0; (groups == 0 || i < groups) && result >= 0; i++) {
        if (nw_sched_next(&own->sched, own->now) <= 0) {
            break;
        }
        result = nw_feed_transfer(&own->sched, own->store, own->streams);
        own->now += 300U;
        int done = nw_sched_done(&own->sched, own->now, result);
        result = result < 0 ? result : done;
    }
    return result;
}

static int feed_run(struct sim_subject *subject, const struct sim_step *step)
{
    struct own *own = own_of(subject);
    int result = NW_OK;

    current = own;
    own->now += 50U;
    switch (step->verb - SIM_COMMON) {
    case OFFER: offer(own, (uint8_t)step->args[0], step->args[1]); break;
    case SERVE: result = serve(own, step->args[0]); break;
    case WAIT: own->now += step->args[0]; break;
    default: result = nw_store_idle(own->store, (uint16_t)step->args[0]); break;
    }
    return result;
}

static int feed_check(struct sim_subject *subject)
{
    return read_all(subject, 0);
}

static int feed_may_fill(const struct sim_subject *subject, const struct sim_strain *strain)
{
    (void)subject;
    return strain->retired > 1U || strain->bad > 2U;
}

static struct sim_most feed_most(const struct sim_subject *subject, const struct sim_step *step,
                                 int clean)
{
    (void)subject;
    (void)step;
    (void)clean;
    return (struct sim_most){UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX};
}

static void feed_fit(struct nw_random *random, struct sim_head *head)
{
    sim_kind_store.fit(random, head);
    head->wears = 0; /* nothing says what is left of calls that fail */
    head->degree = 1U + nw_random_below(random, 2);
}

const struct sim_kind sim_kind_feed = {
    .name = "feed",
    .what = "the scheduler over streams of the object store",
    .verbs = verbs,
    .verb_count = VERBS,
    .no_faults = 1,
    .fit = feed_fit,
    .open = feed_open,
    .close = feed_close,
    .format = feed_format,
    .mount = feed_mount,
    .places = feed_places,
    .draw = feed_draw,
    .run = feed_run,
    .check = feed_check,
    .may_fill = feed_may_fill,
    .most = feed_most,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* What was kept as a trace: requests, the layer's own work, the chip, counters. */
#include <stdlib.h>

#include "nandwich-twin/file.h"
#include "nandwich-twin/perfetto.h"
#include "nandwich/error.h"
#include "timeline_internal.h"

/* Tracks, in the order in which they stand. */
enum { ROOT, RECORDED, REQUESTS, OWN_WORK, CHIP, FREE_BLOCKS, QUEUE, ENERGY };

/* Words of the trace; the order of `words` below. */
enum {
    READ, WRITE, TRIM, SYNC, WORK_AHEAD, /* as enum nw_timeline_kind */
    VERB_READ, VERB_PROGRAM, VERB_ERASE, VERB_IS_BAD, VERB_MARK_BAD, /* as enum nw_nand_verb */
    VERB_COPY, VERB_LOAD, VERB_FETCH, VERB_FILL, VERB_STORE, VERB_HEAL,
    FOR_HOST, FOR_COPY, FOR_MAP, FOR_OWN, /* as enum timeline_why */
    EVERY, ONLY_LONGEST,
    CATEGORY_REQUEST, CATEGORY_OWN, CATEGORY_CHIP, CATEGORY_RECORDED,
    CLEANING, MAP_WORK, HOUSEKEEPING,
    NUMBER, SECTOR, SECTORS, WAITED, LONGEST, APPLICATION, NOT_SHOWN,
    BLOCK, PAGE, TO_BLOCK, TO_PAGE, BYTES, FOR, CORRECTED, RESULT,
    COPIES, ERASES, MAPS,
    NO_PROGRAM, NO_ERASE, UNREADABLE, NO_POWER, REFUSED
};

static const char *const words[] = {
    "read", "write", "trim", "sync", "work ahead",
    "read", "program", "erase", "ask if bad", "mark bad",
    "copy", "load buffer", "read buffer", "write buffer", "program buffer", "heal",
    "host", "copy", "map", "own work",
    "every request", "only the longest requests",
    "host request", "layer's own work", "chip operation", "what is shown",
    "cleaning", "map", "housekeeping",
    "request", "sector", "sectors", "waited ns", "longest, rank", "application",
    "operations not shown",
    "block", "page", "to block", "to page", "bytes", "for", "bits corrected", "result",
    "copies", "erases", "map operations",
    "program failed", "erase failed", "cannot be read", "power lost", "refused",
};

#define EACH_REQUEST 260U /* bytes of the file, without operations, at most */
#define FIXED_BYTES 2000000UL /* of counters and names */
#define COUNTER_POINTS 10000U /* of the window */

struct writer {
    struct nw_perfetto perfetto;
    const struct nw_timeline *timeline;
    struct nw_timeline_counts *counts;
    uint64_t left; /* requests still to be written */
    uint32_t block_pages;
    double told[ENERGY + 1]; /* of each counter, last */
};

static void slice_end(struct writer *writer, uint32_t track, uint64_t time_ns)
{
    struct nw_perfetto_event event = {.time_ns = time_ns, .track = track, .what = NW_PERFETTO_END};

    nw_perfetto_tell(&writer->perfetto, &event);
}

static void count(struct writer *writer, uint32_t track, uint64_t time_ns, double value)
{
    struct nw_perfetto_event event = {
        .time_ns = time_ns, .track = track, .what = NW_PERFETTO_COUNTER, .value = value};

    if (value != writer->told[track]) {
        writer->told[track] = value;
        nw_perfetto_tell(&writer->perfetto, &event);
    }
}

static void count_all(struct writer *writer, const struct timeline_sample *sample)
{
    if (sample->free_blocks != NW_TIMELINE_UNKNOWN) {
        count(writer, FREE_BLOCKS, sample->time_ns, sample->free_blocks);
    }
    if (sample->queue != NW_TIMELINE_UNKNOWN) {
        count(writer, QUEUE, sample->time_ns, sample->queue);
    }
    count(writer, ENERGY, sample->time_ns, (double)sample->energy_pj / 1e6);
}

static const struct timeline_op *ops_of(const struct nw_timeline *timeline,
                                        const struct timeline_kept *kept)
{
    return kept->own != NULL ? kept->own : timeline->window_ops + kept->first;
}

/* Begins the request; how many of its operations follow. */
static uint32_t begin_request(struct writer *writer, const struct timeline_kept *kept)
{
    const struct nw_timeline_request *request = &kept->request;
    uint64_t reserved = writer->left * EACH_REQUEST + FIXED_BYTES;
    uint64_t room = writer->perfetto.bytes + reserved < NW_TIMELINE_BYTES
                        ? (NW_TIMELINE_BYTES - writer->perfetto.bytes - reserved) / EACH_REQUEST
                        : 0;
    uint32_t ops = kept->op_count < room ? kept->op_count : (uint32_t)room;
    uint32_t cut = kept->cut + kept->op_count - ops;
    struct nw_perfetto_event event = {
        .time_ns = request->start_ns,
        .track = REQUESTS,
        .what = NW_PERFETTO_BEGIN,
        .name = request->kind,
        .category = CATEGORY_REQUEST,
        .flow = ops > 0 ? 2U * kept->number + 1U + (request->kind == NW_TIMELINE_IDLE) : 0,
    };

    if (request->kind != NW_TIMELINE_IDLE) {
        nw_perfetto_note(&event, NUMBER, kept->number);
        nw_perfetto_note(&event, WAITED, request->start_ns - request->arrival_ns);
    }
    if (request->count > 0) {
        nw_perfetto_note(&event, SECTOR, request->sector);
        nw_perfetto_note(&event, SECTORS, request->count);
    }
    if (kept->rank > 0) {
        nw_perfetto_note(&event, LONGEST, kept->rank);
    }
    if (cut > 0) {
        nw_perfetto_note(&event, NOT_SHOWN, cut);
    }
    if (request->app > 0) {
        nw_perfetto_note(&event, APPLICATION, request->app);
    }
    nw_perfetto_tell(&writer->perfetto, &event);
    writer->counts->cut += cut;
    return ops;
}

static uint8_t failure(int result)
{
    switch (result) {
    case NW_ERR_PROGRAM: return NO_PROGRAM;
    case NW_ERR_ERASE: return NO_ERASE;
    case NW_ERR_ECC: return UNREADABLE;
    case NW_ERR_POWER: return NO_POWER;
    default: return REFUSED;
    }
}

static void show_op(struct writer *writer, const struct timeline_op *op, uint64_t flow, int last)
{
    uint32_t pages = writer->block_pages;
    int of_block = op->verb == NW_VERB_ERASE || op->verb == NW_VERB_HEAL ||
                   op->verb == NW_VERB_IS_BAD || op->verb == NW_VERB_MARK_BAD;
    int of_buffer = op->verb == NW_VERB_BUFFER_READ || op->verb == NW_VERB_BUFFER_WRITE;
    struct nw_perfetto_event event = {
        .time_ns = op->start_ns,
        .track = CHIP,
        .what = NW_PERFETTO_BEGIN,
        .name = (uint8_t)(VERB_READ + op->verb - NW_VERB_READ),
        .category = CATEGORY_CHIP,
        .flow = flow,
        .last = (uint8_t)last,
    };

    if (!of_buffer) {
        nw_perfetto_note(&event, BLOCK, op->page / pages);
    }
    if (!of_buffer && !of_block) {
        nw_perfetto_note(&event, PAGE, op->page % pages);
    }
    if (op->verb == NW_VERB_COPY) {
        nw_perfetto_note(&event, TO_BLOCK, op->to_page / pages);
        nw_perfetto_note(&event, TO_PAGE, op->to_page % pages);
    } else if (!of_block) {
        nw_perfetto_note(&event, BYTES, op->bytes);
    }
    nw_perfetto_say(&event, FOR, (uint8_t)(FOR_HOST + op->why));
    if (op->result < 0) {
        nw_perfetto_say(&event, RESULT, failure(op->result));
    } else if (op->result > 0 && op->verb == NW_VERB_READ) {
        nw_perfetto_note(&event, CORRECTED, (uint64_t)op->result);
    }
    nw_perfetto_tell(&writer->perfetto, &event);
    slice_end(writer, CHIP, op->end_ns);
}

/* A run of operations that are all the layer's own. */
static void show_own_work(struct writer *writer, const struct timeline_op *ops, uint32_t count)
{
    struct nw_perfetto_event event = {
        .time_ns = ops->start_ns,
        .track = OWN_WORK,
        .what = NW_PERFETTO_BEGIN,
        .category = CATEGORY_OWN,
    };
    uint32_t copies = 0, erases = 0, maps = 0;

    for (uint32_t i = 0; i < count; i++) {
        copies += ops[i].why == WHY_COPY && ops[i].verb != NW_VERB_READ;
        erases += ops[i].verb == NW_VERB_ERASE;
        maps += ops[i].why == WHY_MAP;
    }
    event.name = copies + erases > 0 ? CLEANING : maps > 0 ? MAP_WORK : HOUSEKEEPING;
    nw_perfetto_note(&event, COPIES, copies);
    nw_perfetto_note(&event, ERASES, erases);
    nw_perfetto_note(&event, MAPS, maps);
    nw_perfetto_tell(&writer->perfetto, &event);
    slice_end(writer, OWN_WORK, ops[count - 1U].end_ns);
}

static void show_request(struct writer *writer, const struct timeline_kept *kept)
{
    const struct timeline_op *ops = ops_of(writer->timeline, kept);
    uint64_t flow = 2U * kept->number + 1U + (kept->request.kind == NW_TIMELINE_IDLE);
    uint32_t shown;

    writer->left--;
    shown = begin_request(writer, kept);
    for (uint32_t i = 0; i < shown; i++) {
        show_op(writer, &ops[i], flow, i + 1U == shown);
    }
    for (uint32_t i = 0; i < shown; i++) {
        uint32_t first = i;

        while (i < shown && ops[i].why != WHY_HOST) {
            i++;
        }
        if (i > first) {
            show_own_work(writer, ops + first, i - first);
        }
    }
    slice_end(writer, REQUESTS, kept->request.end_ns);
}

static void open_tracks(struct writer *writer, const char *chip)
{
    const struct nw_timeline *timeline = writer->timeline;
    struct timeline_sample first = {0};
    struct nw_perfetto_track tracks[] = {
        {.number = RECORDED,
         .name = "what is shown",
         .about = "Of how many requests the tracks below tell. Counters tell of all."},
        {.number = REQUESTS,
         .name = "host requests",
         .about = "From when the device begins with a request to its end. The arrows lead to the "
                  "operations of the chip."},
        {.number = OWN_WORK,
         .name = "layer's own work",
         .about = "Copies, erases and maps: what the translation layer does beside the host's "
                  "data."},
        {.number = CHIP, .name = chip, .about = "Each operation of the chip."},
        {.number = FREE_BLOCKS, .name = "free blocks", .unit = "blocks"},
        {.number = QUEUE, .name = "queue length", .unit = "requests"},
        {.number = ENERGY, .name = "energy", .unit = "uJ"},
    };

    if (timeline->sample_count > 0) {
        first = timeline->samples[0];
    }
    for (uint32_t i = 0; i < sizeof tracks / sizeof tracks[0]; i++) {
        if ((tracks[i].number != FREE_BLOCKS || first.free_blocks != NW_TIMELINE_UNKNOWN) &&
            (tracks[i].number != QUEUE || first.queue != NW_TIMELINE_UNKNOWN)) {
            nw_perfetto_track(&writer->perfetto, &tracks[i]);
        }
        writer->told[tracks[i].number] = -1.0;
    }
}

/* Where the window lies: 0 when nothing is in it. */
static int window_of(const struct nw_timeline *timeline, uint64_t *start_ns, uint64_t *end_ns)
{
    *start_ns = *end_ns = 0;
    if (timeline->window_count > 0) {
        *start_ns = timeline->window[0].request.start_ns;
        *end_ns = timeline->window[timeline->window_count - 1U].request.end_ns;
    }
    return timeline->window_count > 0;
}

static void show_extent(struct writer *writer, uint8_t name, uint64_t start_ns, uint64_t end_ns)
{
    struct nw_perfetto_event event = {
        .time_ns = start_ns,
        .track = RECORDED,
        .what = NW_PERFETTO_BEGIN,
        .name = name,
        .category = CATEGORY_RECORDED,
    };

    if (end_ns > start_ns) {
        nw_perfetto_tell(&writer->perfetto, &event);
        slice_end(writer, RECORDED, end_ns);
    }
}

/* The counters: of samples outside of the window, of requests in it. */
static void show_counters(struct writer *writer, uint64_t start_ns, uint64_t end_ns)
{
    const struct nw_timeline *timeline = writer->timeline;
    uint32_t each = timeline->window_count / COUNTER_POINTS + 1U;
    uint32_t i = 0;

    for (; i < timeline->sample_count && timeline->samples[i].time_ns < start_ns; i++) {
        count_all(writer, &timeline->samples[i]);
    }
    for (uint32_t at = 0; at < timeline->window_count; at += each) {
        const struct timeline_kept *kept = &timeline->window[at];

        count_all(writer, &(struct timeline_sample){kept->request.end_ns, kept->energy_pj,
                                                    kept->request.queue,
                                                    kept->request.free_blocks});
    }
    for (; i < timeline->sample_count; i++) {
        if (timeline->window_count == 0 || timeline->samples[i].time_ns > end_ns) {
            count_all(writer, &timeline->samples[i]);
        }
    }
}

static int by_length(const void *a, const void *b)
{
    const struct timeline_kept *one = a, *other = b;
    uint64_t took_one = one->request.end_ns - one->request.start_ns;
    uint64_t took_other = other->request.end_ns - other->request.start_ns;

    if (took_one != took_other) {
        return took_one > took_other ? -1 : 1;
    }
    return one->number < other->number ? -1 : one->number > other->number;
}

static int by_number(const void *a, const void *b)
{
    const struct timeline_kept *one = a, *other = b;

    return one->number < other->number ? -1 : one->number > other->number;
}

/* Gives the longest their ranks and puts them in the order of time; how many are not in the
 * window. */
static uint32_t rank(struct nw_timeline *timeline)
{
    uint32_t count = 0;

    qsort(timeline->longest, timeline->long_count, sizeof *timeline->longest, by_length);
    for (uint32_t i = 0; i < timeline->long_count; i++) {
        struct timeline_kept *kept = &timeline->longest[i];

        kept->rank = i + 1U;
        if (kept->place != TIMELINE_NONE) {
            timeline->window[kept->place].rank = kept->rank;
        } else {
            count++;
        }
    }
    qsort(timeline->longest, timeline->long_count, sizeof *timeline->longest, by_number);
    return count;
}

/* Those of the longest that have such numbers and are not in the window. */
static void show_longest(struct writer *writer, uint64_t first, uint64_t end)
{
    for (uint32_t i = 0; i < writer->timeline->long_count; i++) {
        const struct timeline_kept *kept = &writer->timeline->longest[i];

        if (kept->place == TIMELINE_NONE && kept->number >= first && kept->number < end) {
            show_request(writer, kept);
        }
    }
}

static void write_all(struct nw_timeline *timeline, struct writer *writer)
{
    uint32_t apart = rank(timeline);
    uint64_t start_ns, end_ns;
    int windowed = window_of(timeline, &start_ns, &end_ns);
    uint64_t first = windowed ? timeline->window[0].number : 0;

    timeline->counts.cut = 0;
    timeline->counts.in_window = timeline->window_count;
    timeline->counts.shown = timeline->window_count + apart;
    writer->left = timeline->counts.shown;
    show_longest(writer, 0, first);
    for (uint32_t at = 0; at < timeline->window_count; at++) {
        show_request(writer, &timeline->window[at]);
    }
    show_longest(writer, first, UINT64_MAX);
    show_extent(writer, ONLY_LONGEST, 0, windowed ? start_ns : timeline->end_ns);
    if (windowed) {
        show_extent(writer, EVERY, start_ns, end_ns);
        show_extent(writer, ONLY_LONGEST, end_ns, timeline->end_ns);
    }
    show_counters(writer, start_ns, end_ns);
    timeline->counts.bytes = writer->perfetto.bytes;
}

int nw_timeline_write(struct nw_timeline *timeline, const char *path, const char *title,
                      const char *chip)
{
    struct writer writer = {.timeline = timeline,
                            .counts = &timeline->counts,
                            .block_pages = timeline->chip.geometry.block_pages};
    struct nw_replace replace;
    int good;

    timeline->started = 0;
    if (timeline->no_ram != 0) {
        return NW_ERR_RAM;
    }
    if (nw_replace_begin(&replace, path) != 0) {
        return NW_ERR_IO;
    }
    FILE *file = nw_replace_stream(&replace);

    if (file == NULL) {
        (void)nw_replace_end(&replace, 0);
        return NW_ERR_IO;
    }
    nw_perfetto_open(&writer.perfetto, file, words, sizeof words / sizeof words[0], title);
    open_tracks(&writer, chip);
    write_all(timeline, &writer);
    good = ferror(file) == 0;
    good &= fclose(file) == 0;
    return nw_replace_end(&replace, good) == 0 && good ? (int)NW_OK : (int)NW_ERR_IO;
}

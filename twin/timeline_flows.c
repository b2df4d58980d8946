/* SPDX-License-Identifier: Apache-2.0 */
/* The trace of requests with deadlines: flows, what served them, counters. */
#include <stdlib.h>

#include "nandwich/error.h"
#include "timeline_internal.h"

#define FLOWS 100U
#define LANES 120U /* of a flow: what waits in one takes a slot of the scheduler each */

enum { FIRST_LANE = TIMELINE_SHOWN + 1 }; /* tracks */

/* Words of the trace; the order of `words` below. Behind them the names of the flows. */
enum {
    MET = TIMELINE_WORDS, LATE, DROPPED, FAILED, FULL, REFUSED, /* as enum nw_timeline_verdict */
    OPENING, WRITE, WRITE_OPENS, READ, SERVED,
    CATEGORY_FLOW, CATEGORY_DEVICE,
    NUMBER, SPARE, TOO_LATE, SECTOR, LONGEST, REQUESTS, FLOW,
    FIRST_NAME
};

static const char *const words[] = {
    TIMELINE_FIRST_WORDS,
    "met", "late", "dropped", "failed", "full", "refused",
    "opens a unit, nothing written", "write", "write, opens a unit", "read", "served",
    "request with a deadline", "device operation",
    "request", "spare ns", "late ns", "sector", "longest, rank", "requests", "flow",
};

/* One request in the order of being issued. */
struct entry {
    uint64_t start_ns;
    uint64_t operation_ns; /* when what served it began; 0: nothing did */
    const struct timeline_kept *kept;
    uint32_t lane;
};

struct flows {
    struct timeline_writer writer;
    struct entry *entries;
    uint32_t count;
    uint32_t names;
    uint32_t first[FLOWS + 1]; /* track of each flow; behind them the device's */
};

static int by_start(const void *a, const void *b)
{
    const struct entry *one = a, *other = b;

    if (one->start_ns != other->start_ns) {
        return one->start_ns < other->start_ns ? -1 : 1;
    }
    return one->kept->number < other->kept->number ? -1 : one->kept->number > other->kept->number;
}

static int by_operation(const void *a, const void *b)
{
    const struct entry *one = a, *other = b;

    if (one->operation_ns != other->operation_ns) {
        return one->operation_ns < other->operation_ns ? -1 : 1;
    }
    return by_start(a, b);
}

static void take(struct flows *flows, const struct timeline_kept *kept)
{
    const struct nw_timeline_request *request = &kept->request;

    flows->entries[flows->count++] = (struct entry){
        request->start_ns, request->done_ns != 0 ? request->begun_ns : UINT64_MAX, kept, 0};
}

static int collect(struct flows *flows)
{
    const struct nw_timeline *timeline = flows->writer.timeline;

    flows->entries = malloc((flows->writer.left + 1U) * sizeof *flows->entries);
    if (flows->entries == NULL) {
        return NW_ERR_RAM;
    }
    for (uint32_t i = 0; i < timeline->window_count; i++) {
        take(flows, &timeline->window[i]);
    }
    for (uint32_t i = 0; i < timeline->long_count; i++) {
        if (timeline->longest[i].place == TIMELINE_NONE) {
            take(flows, &timeline->longest[i]);
        }
    }
    qsort(flows->entries, flows->count, sizeof *flows->entries, by_start);
    return NW_OK;
}

/* Each request to the first track of its flow on which none is, and the tracks to the flows. */
static void choose_lanes(struct flows *flows)
{
    uint32_t next = FIRST_LANE;

    for (uint32_t flow = 0; flow < flows->names; flow++) {
        uint64_t busy_ns[LANES] = {0};
        uint32_t lanes = 1;

        for (uint32_t i = 0; i < flows->count; i++) {
            struct entry *entry = &flows->entries[i];
            uint32_t lane = 0;

            if (entry->kept->request.flow != flow) {
                continue;
            }
            while (lane + 1U < LANES && busy_ns[lane] > entry->start_ns) {
                lane++;
            }
            busy_ns[lane] = entry->kept->request.end_ns;
            entry->lane = lane;
            lanes = lane >= lanes ? lane + 1U : lanes;
        }
        flows->first[flow] = next;
        next += lanes;
    }
    flows->first[flows->names] = next;
}

static void open_tracks(struct flows *flows, const char *device, const char *const *names)
{
    struct nw_perfetto *perfetto = &flows->writer.perfetto;
    struct nw_perfetto_track track = {
        .number = TIMELINE_SHOWN, .name = TIMELINE_SHOWN_NAME, .about = TIMELINE_SHOWN_ABOUT};

    nw_perfetto_track(perfetto, &track);
    for (uint32_t flow = 0; flow < flows->names; flow++) {
        for (track.number = flows->first[flow]; track.number < flows->first[flow + 1U];
             track.number++) {
            track.name = names[flow];
            track.about = "From when a request is issued to when it is in flash or given up; "
                          "several may wait at a time.";
            nw_perfetto_track(perfetto, &track);
        }
    }
    track.number = flows->first[flows->names];
    track.name = device;
    track.about = "What the device does for requests that are shown, and openings ahead.";
    nw_perfetto_track(perfetto, &track);
    nw_timeline_open_counters(&flows->writer, track.number + 1U);
}

static void show_request(struct flows *flows, const struct entry *entry)
{
    const struct nw_timeline_request *request = &entry->kept->request;
    uint32_t track = flows->first[request->flow] + entry->lane;
    int served = request->done_ns != 0;
    struct nw_perfetto_event event = {
        .time_ns = request->start_ns,
        .track = track,
        .what = NW_PERFETTO_BEGIN,
        .name = (uint8_t)(MET + request->verdict),
        .category = CATEGORY_FLOW,
        .flow = served ? request->begun_ns + 1U : 0,
    };

    nw_perfetto_note(&event, NUMBER, entry->kept->number);
    if (request->due_ns >= request->end_ns) {
        nw_perfetto_note(&event, SPARE, request->due_ns - request->end_ns);
    } else {
        nw_perfetto_note(&event, TOO_LATE, request->end_ns - request->due_ns);
    }
    if (served) {
        nw_perfetto_note(&event, SECTOR, request->sector);
    }
    if (entry->kept->rank > 0) {
        nw_perfetto_note(&event, LONGEST, entry->kept->rank);
    }
    nw_perfetto_tell(&flows->writer.perfetto, &event);
    if (served) {
        event = (struct nw_perfetto_event){.time_ns = request->begun_ns,
                                           .track = track,
                                           .what = NW_PERFETTO_BEGIN,
                                           .name = SERVED,
                                           .category = CATEGORY_FLOW};
        nw_perfetto_tell(&flows->writer.perfetto, &event);
        nw_timeline_end_slice(&flows->writer, track, request->done_ns);
    }
    nw_timeline_end_slice(&flows->writer, track, request->end_ns);
}

/* The operation of the entries from `at` on; how many it served. */
static uint32_t show_operation(struct flows *flows, uint32_t at)
{
    const struct entry *entry = &flows->entries[at];
    const struct nw_timeline_request *request = &entry->kept->request;
    uint32_t track = flows->first[flows->names];
    uint32_t served = 1;
    struct nw_perfetto_event event = {
        .time_ns = request->begun_ns,
        .track = track,
        .what = NW_PERFETTO_BEGIN,
        .name = request->kind == NW_TIMELINE_READ ? READ
                : request->opens != 0             ? WRITE_OPENS
                                                  : WRITE,
        .category = CATEGORY_DEVICE,
    };

    while (at + served < flows->count &&
           flows->entries[at + served].operation_ns == entry->operation_ns) {
        served++;
    }
    if (request->verdict == NW_TIMELINE_NOBODY) {
        event.name = OPENING;
    } else {
        event.flow = request->begun_ns + 1U;
        event.last = 1;
        nw_perfetto_note(&event, REQUESTS, served);
        nw_perfetto_say(&event, FLOW, (uint8_t)(FIRST_NAME + request->flow));
        nw_perfetto_note(&event, SECTOR, request->sector);
    }
    nw_perfetto_tell(&flows->writer.perfetto, &event);
    nw_timeline_end_slice(&flows->writer, track, request->done_ns);
    return served;
}

static void show_all(struct flows *flows)
{
    for (uint32_t i = 0; i < flows->count; i++) {
        if (flows->entries[i].kept->request.verdict != NW_TIMELINE_NOBODY) {
            show_request(flows, &flows->entries[i]);
        }
    }
    qsort(flows->entries, flows->count, sizeof *flows->entries, by_operation);
    for (uint32_t i = 0; i < flows->count && flows->entries[i].operation_ns != UINT64_MAX;) {
        i += show_operation(flows, i);
    }
}

int nw_timeline_write_flows(struct nw_timeline *timeline, const char *path, const char *title,
                            const char *device, const char *const *names, uint32_t name_count)
{
    const char *all[FIRST_NAME + FLOWS];
    struct flows flows = {.names = name_count < FLOWS ? name_count : FLOWS};
    int result = nw_timeline_begin_file(&flows.writer, timeline, path);

    if (result < 0) {
        return result;
    }
    flows.writer.overlap = 1;
    for (uint32_t i = 0; i < FIRST_NAME; i++) {
        all[i] = words[i];
    }
    for (uint32_t i = 0; i < flows.names; i++) {
        all[FIRST_NAME + i] = names[i];
    }
    result = collect(&flows);
    nw_perfetto_open(&flows.writer.perfetto, flows.writer.file, all, FIRST_NAME + flows.names,
                     title);
    if (result == NW_OK) {
        choose_lanes(&flows);
        open_tracks(&flows, device, names);
        show_all(&flows);
    }
    free(flows.entries);
    return result < 0 ? nw_timeline_close_file(&flows.writer, 0, result)
                      : nw_timeline_end_file(&flows.writer);
}

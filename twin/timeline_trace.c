/* SPDX-License-Identifier: Apache-2.0 */
/* What all traces of a timeline have: the file, ranks, counters, and how much is shown. */
#include <stdlib.h>

#include "nandwich/error.h"
#include "timeline_internal.h"

#define COUNTER_POINTS 10000U /* of the window */

enum { FREE_BLOCKS, QUEUE, ENERGY }; /* the counters, from writer->counters on */

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

int nw_timeline_begin_file(struct timeline_writer *writer, struct nw_timeline *timeline,
                           const char *path)
{
    *writer = (struct timeline_writer){.timeline = timeline};
    timeline->started = 0;
    if (timeline->no_ram != 0) {
        return NW_ERR_RAM;
    }
    if (nw_replace_begin(&writer->replace, path) != 0) {
        return NW_ERR_IO;
    }
    writer->file = nw_replace_stream(&writer->replace);
    if (writer->file == NULL) {
        (void)nw_replace_end(&writer->replace, 0);
        return NW_ERR_IO;
    }
    writer->left = timeline->window_count + rank(timeline);
    timeline->counts.shown = writer->left;
    timeline->counts.cut = 0;
    for (uint32_t i = 0; i < timeline->window_count; i++) {
        timeline->counts.shown -= !nw_timeline_asked(&timeline->window[i].request);
    }
    return NW_OK;
}

void nw_timeline_end_slice(struct timeline_writer *writer, uint32_t track, uint64_t time_ns)
{
    struct nw_perfetto_event event = {.time_ns = time_ns, .track = track, .what = NW_PERFETTO_END};

    nw_perfetto_tell(&writer->perfetto, &event);
}

void nw_timeline_open_counters(struct timeline_writer *writer, uint32_t first)
{
    const struct nw_timeline *timeline = writer->timeline;
    struct nw_perfetto_track tracks[] = {
        {.number = first + FREE_BLOCKS, .name = "free blocks", .unit = "blocks"},
        {.number = first + QUEUE, .name = "queue length", .unit = "requests"},
        {.number = first + ENERGY, .name = "energy", .unit = "uJ"},
    };
    int tells_blocks = timeline->sample_count > 0 &&
                       timeline->samples[0].free_blocks != NW_TIMELINE_UNKNOWN;

    writer->counters = first;
    for (uint32_t i = 0; i < TIMELINE_COUNTERS; i++) {
        writer->told[i] = -1.0;
        if ((i != FREE_BLOCKS || tells_blocks) && (i != QUEUE || timeline->queues != 0)) {
            nw_perfetto_track(&writer->perfetto, &tracks[i]);
        }
    }
}

static void count(struct timeline_writer *writer, uint32_t which, uint64_t time_ns, double value)
{
    struct nw_perfetto_event event = {.time_ns = time_ns,
                                      .track = writer->counters + which,
                                      .what = NW_PERFETTO_COUNTER,
                                      .value = value};

    if (value != writer->told[which]) {
        writer->told[which] = value;
        nw_perfetto_tell(&writer->perfetto, &event);
    }
}

static void count_all(struct timeline_writer *writer, const struct timeline_sample *sample)
{
    if (sample->free_blocks != NW_TIMELINE_UNKNOWN) {
        count(writer, FREE_BLOCKS, sample->time_ns, sample->free_blocks);
    }
    count(writer, ENERGY, sample->time_ns, (double)sample->energy_pj / 1e6);
}

/* The counters: of samples outside of the window, of requests in it. */
static void show_counters(struct timeline_writer *writer)
{
    const struct nw_timeline *timeline = writer->timeline;
    uint32_t count = timeline->window_count;
    uint64_t start_ns = count > 0 ? timeline->window[0].request.start_ns : timeline->end_ns;
    uint64_t end_ns = count > 0 ? timeline->window[count - 1U].request.end_ns : timeline->end_ns;
    uint32_t each = count / COUNTER_POINTS + 1U;
    uint32_t i = 0;

    for (; i < timeline->sample_count && timeline->samples[i].time_ns < start_ns; i++) {
        count_all(writer, &timeline->samples[i]);
    }
    for (uint32_t at = 0; at < count; at += each) {
        const struct timeline_kept *kept = &timeline->window[at];

        count_all(writer, &(struct timeline_sample){.time_ns = kept->request.end_ns,
                                                    .energy_pj = kept->energy_pj,
                                                    .free_blocks = kept->request.free_blocks});
    }
    for (; i < timeline->sample_count; i++) {
        if (count == 0 || timeline->samples[i].time_ns > end_ns) {
            count_all(writer, &timeline->samples[i]);
        }
    }
}

struct step {
    uint64_t time_ns;
    int32_t by;
};

static int by_time(const void *a, const void *b)
{
    const struct step *one = a, *other = b;

    return one->time_ns < other->time_ns ? -1 : one->time_ns > other->time_ns;
}

/* Of the window, as requests come and go; NW_ERR_RAM. */
static int show_queue(struct timeline_writer *writer, uint64_t start_ns)
{
    const struct nw_timeline *timeline = writer->timeline;
    size_t most = 2U * (size_t)timeline->window_count + timeline->late_count;
    struct step *steps = malloc((most + 1U) * sizeof *steps);
    uint32_t known = 0;
    int64_t length = 0;

    if (steps == NULL) {
        return NW_ERR_RAM;
    }
    for (uint32_t i = 0; i < timeline->window_count; i++) {
        const struct nw_timeline_request *request = &timeline->window[i].request;

        if (nw_timeline_asked(request)) {
            steps[known++] = (struct step){request->arrival_ns, 1};
            steps[known++] = (struct step){request->end_ns, -1};
        }
    }
    for (uint32_t i = 0; i < timeline->late_count; i++) {
        steps[known++] = (struct step){timeline->late[i], 1};
    }
    qsort(steps, known, sizeof *steps, by_time);
    for (uint32_t i = 0; i < known && timeline->queues != 0; i++) {
        length += steps[i].by;
        if (steps[i].time_ns >= start_ns &&
            (i + 1U == known || steps[i + 1U].time_ns > steps[i].time_ns)) {
            count(writer, QUEUE, steps[i].time_ns, (double)length);
        }
    }
    free(steps);
    return NW_OK;
}

static void show_extent(struct timeline_writer *writer, uint8_t name, uint64_t start_ns,
                        uint64_t end_ns)
{
    struct nw_perfetto_event event = {
        .time_ns = start_ns,
        .track = TIMELINE_SHOWN,
        .what = NW_PERFETTO_BEGIN,
        .name = name,
        .category = TIMELINE_CATEGORY,
    };

    if (end_ns > start_ns) {
        nw_perfetto_tell(&writer->perfetto, &event);
        nw_timeline_end_slice(writer, TIMELINE_SHOWN, end_ns);
    }
}

/* Where every request is shown. Where several wait at a time the window holds those issued in its
 * time, or a stretch of them in the order of their ends. */
static void extent(const struct timeline_writer *writer, uint64_t *start_ns, uint64_t *end_ns)
{
    const struct nw_timeline *timeline = writer->timeline;
    const struct nw_timeline_config *config = &timeline->config;
    uint32_t count = timeline->window_count;

    *start_ns = *end_ns = timeline->end_ns;
    if (count == 0) {
        return;
    }
    if (writer->overlap != 0 && config->by_time != 0) {
        *start_ns = config->from;
        *end_ns = config->to < timeline->end_ns ? config->to : timeline->end_ns;
        return;
    }
    *start_ns = timeline->window[0].request.start_ns;
    *end_ns = timeline->window[count - 1U].request.end_ns;
    if (writer->overlap != 0) {
        *start_ns = timeline->window[0].number == 0 ? 0 : timeline->window[0].request.end_ns;
    }
}

int nw_timeline_end_file(struct timeline_writer *writer)
{
    struct nw_timeline *timeline = writer->timeline;
    uint64_t start_ns, end_ns;
    int result;

    extent(writer, &start_ns, &end_ns);
    show_extent(writer, TIMELINE_LONGEST_ALONE, 0, start_ns);
    show_extent(writer, TIMELINE_EVERY, start_ns, end_ns);
    show_extent(writer, TIMELINE_LONGEST_ALONE, end_ns, timeline->end_ns);
    show_counters(writer);
    result = show_queue(writer, start_ns);
    return nw_timeline_close_file(writer, writer->perfetto.bytes, result);
}

int nw_timeline_close_file(struct timeline_writer *writer, uint64_t bytes, int result)
{
    int good = result == NW_OK && ferror(writer->file) == 0;

    writer->timeline->counts.bytes = bytes;
    good &= fclose(writer->file) == 0;
    good = nw_replace_end(&writer->replace, good) == 0 && good;
    return good ? (int)NW_OK : result < 0 ? result : (int)NW_ERR_IO;
}

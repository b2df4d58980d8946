/* SPDX-License-Identifier: Apache-2.0 */
/* Which requests are kept: those of the window, the longest, and samples of the counters. */
#include <stdlib.h>
#include <string.h>

#include "nandwich/error.h"
#include "timeline_internal.h"

#define FIRST_ROOM 1024U

/* Room for `more` entries; how many fit. */
static uint32_t grow(struct nw_timeline *timeline, void **array, size_t bytes, uint32_t count,
                     uint32_t *room, uint32_t more, uint32_t most)
{
    uint32_t wanted = count + more < most ? count + more : most;

    if (wanted > *room) {
        uint32_t larger = *room < FIRST_ROOM ? FIRST_ROOM : *room;
        void *moved;

        while (larger < wanted) {
            larger *= 2U;
        }
        larger = larger < most ? larger : most;
        moved = realloc(*array, larger * bytes);
        if (moved == NULL) {
            timeline->no_ram = 1;
            return *room > count ? *room - count : 0;
        }
        *array = moved;
        *room = larger;
    }
    return wanted - count;
}

int nw_timeline_asked(const struct nw_timeline_request *request)
{
    return request->kind != NW_TIMELINE_IDLE && request->verdict != NW_TIMELINE_NOBODY;
}

static int in_window(const struct nw_timeline *timeline, const struct nw_timeline_request *request)
{
    uint64_t where = timeline->config.by_time != 0 ? request->start_ns : timeline->counts.requests;

    return where >= timeline->config.from && where < timeline->config.to;
}

/* Into the window; its place there, or TIMELINE_NONE. */
static uint32_t keep_in_window(struct nw_timeline *timeline, const struct timeline_kept *kept)
{
    uint32_t place = timeline->window_count;
    uint32_t fit = grow(timeline, (void **)&timeline->window, sizeof *kept, place,
                        &timeline->window_room, 1, NW_TIMELINE_REQUESTS);

    if (fit == 0) {
        timeline->counts.left_out++;
        return TIMELINE_NONE;
    }
    fit = grow(timeline, (void **)&timeline->window_ops, sizeof *timeline->window_ops,
               timeline->op_count, &timeline->op_room, timeline->now_count,
               NW_TIMELINE_OPERATIONS);
    timeline->window[place] = *kept;
    timeline->window[place].place = TIMELINE_NONE;
    timeline->window[place].first = timeline->op_count;
    timeline->window[place].op_count = fit;
    timeline->window[place].cut += timeline->now_count - fit;
    if (fit > 0) {
        memcpy(timeline->window_ops + timeline->op_count, timeline->now,
               fit * sizeof *timeline->now);
    }
    timeline->op_count += fit;
    timeline->window_count++;
    return place;
}

static uint64_t took(const struct timeline_kept *kept)
{
    return kept->request.end_ns - kept->request.start_ns;
}

static void swap(struct timeline_kept *a, struct timeline_kept *b)
{
    struct timeline_kept keep = *a;

    *a = *b;
    *b = keep;
}

/* The last one to its place among those above it. */
static void sift_up(struct timeline_kept *heap, uint32_t at)
{
    while (at > 0 && took(&heap[at]) < took(&heap[(at - 1U) / 2U])) {
        swap(&heap[at], &heap[(at - 1U) / 2U]);
        at = (at - 1U) / 2U;
    }
}

/* The one on top to its place among those below it. */
static void sift_down(struct timeline_kept *heap, uint32_t count)
{
    uint32_t at = 0;

    for (;;) {
        uint32_t least = at;

        for (uint32_t child = 2U * at + 1U; child <= 2U * at + 2U && child < count; child++) {
            least = took(&heap[child]) < took(&heap[least]) ? child : least;
        }
        if (least == at) {
            return;
        }
        swap(&heap[at], &heap[least]);
        at = least;
    }
}

/* The operations of a request outside of the window. */
static void keep_ops(struct nw_timeline *timeline, struct timeline_kept *kept)
{
    uint32_t count = timeline->now_count;

    if (kept->own == NULL) {
        kept->own = malloc(NW_TIMELINE_EACH * sizeof *kept->own);
    }
    if (kept->own == NULL) {
        timeline->no_ram = 1;
        count = 0;
    }
    kept->op_count = count < NW_TIMELINE_EACH ? count : NW_TIMELINE_EACH;
    kept->cut += timeline->now_count - kept->op_count;
    if (kept->op_count > 0) {
        memcpy(kept->own, timeline->now, kept->op_count * sizeof *kept->own);
    }
}

static void keep_longest(struct nw_timeline *timeline, const struct timeline_kept *kept,
                         uint32_t place)
{
    int more = timeline->long_count < NW_TIMELINE_LONGEST;
    struct timeline_kept *to = &timeline->longest[more ? timeline->long_count : 0];
    struct timeline_op *own = more ? NULL : to->own;

    if (!more && took(kept) <= took(to)) {
        return;
    }
    *to = *kept;
    to->own = own;
    to->place = place;
    if (place == TIMELINE_NONE) {
        keep_ops(timeline, to);
    }
    if (more) {
        sift_up(timeline->longest, timeline->long_count++);
    } else {
        sift_down(timeline->longest, timeline->long_count);
    }
}

/* Full: every other one goes, and the next come half as often. */
static void thin(struct nw_timeline *timeline)
{
    timeline->sample_count /= 2U;
    for (uint32_t i = 0; i < timeline->sample_count; i++) {
        timeline->samples[i] = timeline->samples[2U * i + 1U];
    }
    timeline->sample_every *= 2U;
}

static void take_sample(struct nw_timeline *timeline, const struct timeline_kept *kept)
{
    if (timeline->sample_count == NW_TIMELINE_SAMPLES) {
        thin(timeline);
    }
    if (timeline->counts.requests % timeline->sample_every == 0) {
        timeline->samples[timeline->sample_count++] = (struct timeline_sample){
            .time_ns = kept->request.end_ns,
            .energy_pj = kept->energy_pj,
            .free_blocks = kept->request.free_blocks,
        };
    }
}

/* One that had come before the window's last one was done stood behind it. */
static void note_late(struct nw_timeline *timeline, const struct nw_timeline_request *request)
{
    uint32_t count = timeline->window_count;

    if (count > 0 && nw_timeline_asked(request) &&
        request->arrival_ns < timeline->window[count - 1U].request.end_ns &&
        timeline->late_count < NW_TIMELINE_REQUESTS) {
        timeline->late[timeline->late_count++] = request->arrival_ns;
    }
}

void nw_timeline_keep(struct nw_timeline *timeline, const struct nw_timeline_request *request,
                      uint64_t energy_pj)
{
    struct timeline_kept kept = {.request = *request,
                                 .number = timeline->counts.requests,
                                 .energy_pj = energy_pj,
                                 .cut = timeline->now_cut};
    uint32_t place = TIMELINE_NONE;

    if (request->kind == NW_TIMELINE_IDLE && timeline->now_count == 0) {
        return;
    }
    if (in_window(timeline, request)) {
        timeline->counts.inside += nw_timeline_asked(request) != 0;
        place = keep_in_window(timeline, &kept);
    }
    if (place == TIMELINE_NONE) {
        note_late(timeline, request);
    }
    timeline->end_ns = request->end_ns > timeline->end_ns ? request->end_ns : timeline->end_ns;
    if (nw_timeline_asked(request)) {
        keep_longest(timeline, &kept, place);
        timeline->counts.requests++;
        timeline->queues = request->queues;
        take_sample(timeline, &kept);
    }
}

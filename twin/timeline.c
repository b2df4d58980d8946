/* SPDX-License-Identifier: Apache-2.0 */
/* The filter, and why the layer does an operation. */
#include "nandwich-twin/timeline.h"

#include <stdlib.h>
#include <string.h>

#include "filter_internal.h"
#include "timeline_internal.h"

#define LOOK_BACK 4U /* operations between a copied page's read and its program, at most */

static int programs(const struct timeline_op *op)
{
    return op->verb == NW_VERB_PROGRAM || op->verb == NW_VERB_COPY ||
           op->verb == NW_VERB_BUFFER_PROGRAM;
}

/* A program is a copy, and so is the read that it writes. */
static void is_copy(struct nw_timeline *timeline, uint32_t at)
{
    timeline->now[at].why = WHY_COPY;
    if (timeline->now[at].verb == NW_VERB_COPY) {
        return; /* inside the chip */
    }
    for (uint32_t back = 1; back <= LOOK_BACK && back <= at; back++) {
        struct timeline_op *op = &timeline->now[at - back];

        if (op->verb == NW_VERB_READ && op->why == WHY_HOST) {
            op->why = WHY_COPY;
            return;
        }
    }
}

/* Layers count a copy before they program it, or when it is done. */
static void explain_copy(struct nw_timeline *timeline, uint32_t last, uint32_t newest)
{
    if (last != TIMELINE_NONE && programs(&timeline->now[last]) &&
        timeline->now[last].why == WHY_HOST) {
        is_copy(timeline, last);
    } else if (newest != TIMELINE_NONE && programs(&timeline->now[newest])) {
        is_copy(timeline, newest);
    } else {
        timeline->due = WHY_COPY;
    }
}

static void explain_map(struct nw_timeline *timeline, uint32_t last, uint32_t newest)
{
    const struct nw_stats *stats = timeline->stats;

    if (stats->map_reads != timeline->map_reads && last != TIMELINE_NONE &&
        timeline->now[last].verb == NW_VERB_READ) {
        timeline->now[last].why = WHY_MAP;
    }
    if (stats->map_programs == timeline->map_programs) {
        return;
    }
    if (newest != TIMELINE_NONE && programs(&timeline->now[newest])) {
        timeline->now[newest].why = WHY_MAP;
    } else if (last != TIMELINE_NONE && programs(&timeline->now[last])) {
        timeline->now[last].why = WHY_MAP;
    } else {
        timeline->due = WHY_MAP;
    }
}

/* What the layer's counts say about the operations so far; `newest` is not yet in them. */
static void explain(struct nw_timeline *timeline, uint32_t last, uint32_t newest)
{
    const struct nw_stats *stats = timeline->stats;

    if (newest != TIMELINE_NONE && timeline->due != WHY_HOST &&
        programs(&timeline->now[newest])) {
        timeline->now[newest].why = timeline->due;
        timeline->due = WHY_HOST;
    }
    if (stats == NULL || (stats->copies == timeline->copies &&
                          stats->map_reads == timeline->map_reads &&
                          stats->map_programs == timeline->map_programs)) {
        return;
    }
    if (stats->copies != timeline->copies) {
        explain_copy(timeline, last, newest);
    }
    explain_map(timeline, last, newest);
    timeline->copies = stats->copies;
    timeline->map_reads = stats->map_reads;
    timeline->map_programs = stats->map_programs;
}

static uint32_t page_of(const struct nw_timeline *timeline, const struct nw_chip_req *req,
                        uint8_t verb)
{
    uint32_t pages = timeline->chip.geometry.block_pages;

    return timeline_of_block(verb) ? req->block * pages : req->page;
}

static uint8_t why_of(const struct nw_chip_req *req, uint8_t verb)
{
    int is_look = verb == NW_VERB_READ && req->length == 0;

    return timeline_of_block(verb) || is_look ? WHY_OWN : WHY_HOST;
}

/* As nw_filter_pass(), without the checks that the chip in front has made: it has one shape with
 * the one below. Operations are what a replay's time goes into. */
static inline int pass(struct nw_chip_req *req, struct nw_chip *below, uint8_t verb)
{
    const struct nw_chip_ops *ops = below->ops;
    struct nw_chip *own = req->chip;
    int result;

    req->chip = below;
    switch (verb) {
    case NW_VERB_READ: result = ops->read(req); break;
    case NW_VERB_PROGRAM: result = ops->program(req); break;
    case NW_VERB_ERASE: result = ops->erase(req); break;
    default:
        req->chip = own;
        return nw_filter_pass(req, below, verb);
    }
    req->chip = own;
    return result;
}

static inline int timeline(struct nw_chip_req *req, uint8_t verb)
{
    struct nw_timeline *timeline = req->chip->context;
    uint64_t start_ns = timeline->meter->time_ns;
    uint32_t at = timeline->now_count;
    int result = pass(req, timeline->below, verb);

    if (timeline->in_request == 0) {
        return result;
    }
    timeline->counts.operations++;
    if (at == TIMELINE_REQUEST_MOST) {
        timeline->now_cut++;
        return result;
    }
    timeline->now[at] = (struct timeline_op){
        .start_ns = start_ns + timeline->ahead_ns,
        .end_ns = timeline->meter->time_ns + timeline->ahead_ns,
        .page = page_of(timeline, req, verb),
        .to_page = req->to_page,
        .bytes = (uint16_t)(req->length + req->spare_length),
        .result = (int16_t)result,
        .verb = verb,
        .why = why_of(req, verb),
    };
    timeline->now_count++;
    explain(timeline, at > 0 ? at - 1U : TIMELINE_NONE, at);
    return result;
}

NW_FILTER_VERBS(timeline)

int nw_timeline_open(struct nw_timeline **timeline, const struct nw_timeline_config *config)
{
    struct nw_timeline *made = calloc(1, sizeof *made);

    *timeline = made;
    if (made == NULL) {
        return NW_ERR_RAM;
    }
    made->config = *config;
    made->sample_every = 1;
    made->now = malloc(TIMELINE_REQUEST_MOST * sizeof *made->now);
    made->longest = calloc(NW_TIMELINE_LONGEST, sizeof *made->longest);
    made->samples = malloc(NW_TIMELINE_SAMPLES * sizeof *made->samples);
    if (made->now == NULL || made->longest == NULL || made->samples == NULL) {
        nw_timeline_close(made);
        *timeline = NULL;
        return NW_ERR_RAM;
    }
    return NW_OK;
}

void nw_timeline_close(struct nw_timeline *timeline)
{
    if (timeline != NULL) {
        for (uint32_t i = 0; timeline->longest != NULL && i < timeline->long_count; i++) {
            free(timeline->longest[i].own);
        }
        free(timeline->longest);
        free(timeline->samples);
        free(timeline->window);
        free(timeline->window_ops);
        free(timeline->now);
        free(timeline);
    }
}

struct nw_chip *nw_timeline_chip(struct nw_timeline *timeline, struct nw_chip *below,
                                 struct nw_nand *nand)
{
    timeline->below = below;
    timeline->meter = nw_nand_meter(nand);
    timeline->costs = *nw_nand_costs(nand);
    nw_filter_open(&timeline->chip, below, timeline, &timeline->ops, &timeline_ops);
    return &timeline->chip;
}

void nw_timeline_watch(struct nw_timeline *timeline, const struct nw_stats *stats)
{
    timeline->stats = stats;
}

void nw_timeline_start(struct nw_timeline *timeline)
{
    timeline->started = 1;
}

void nw_timeline_begin(struct nw_timeline *timeline, uint64_t ahead_ns)
{
    timeline->in_request = timeline->started;
    timeline->ahead_ns = ahead_ns;
    timeline->now_count = 0;
    timeline->now_cut = 0;
    timeline->due = WHY_HOST;
    if (timeline->stats != NULL) {
        timeline->copies = timeline->stats->copies;
        timeline->map_reads = timeline->stats->map_reads;
        timeline->map_programs = timeline->stats->map_programs;
    }
}

void nw_timeline_end(struct nw_timeline *timeline, const struct nw_timeline_request *request)
{
    if (timeline->in_request != 0) {
        uint32_t count = timeline->now_count;

        explain(timeline, count > 0 ? count - 1U : TIMELINE_NONE, TIMELINE_NONE);
        nw_timeline_keep(timeline, request, timeline->meter->energy_pj);
        timeline->in_request = 0;
    }
}

void nw_timeline_add(struct nw_timeline *timeline, const struct nw_timeline_request *request,
                     uint64_t energy_pj)
{
    nw_timeline_keep(timeline, request, energy_pj);
}

const struct nw_timeline_counts *nw_timeline_outcome(const struct nw_timeline *timeline)
{
    return &timeline->counts;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline_internal.h - what a timeline keeps, shared by its files:
 *   timeline.c        the filter, and why the layer does an operation
 *   timeline_keep.c   which requests are kept: the window, the longest, the samples
 *   timeline_trace.c  what all traces have: file, ranks, counters
 *   timeline_write.c  the trace of a chip
 *   timeline_flows.c  that of requests with deadlines
 *   timeline_vcd.c    the chip's bus, for wave viewers
 */
#ifndef NANDWICH_TWIN_TIMELINE_INTERNAL_H
#define NANDWICH_TWIN_TIMELINE_INTERNAL_H

#include "nandwich-twin/file.h"
#include "nandwich-twin/perfetto.h"
#include "nandwich-twin/timeline.h"

#define TIMELINE_REQUEST_MOST 32768U /* operations of one request that are looked at */
#define TIMELINE_NONE UINT32_MAX

enum timeline_why { WHY_HOST, WHY_COPY, WHY_MAP, WHY_OWN };

struct timeline_op {
    uint64_t start_ns;
    uint64_t end_ns;
    uint32_t page; /* of an erase and the like: the block's first */
    uint32_t to_page;
    uint16_t bytes;
    int16_t result;
    uint8_t verb; /* enum nw_nand_verb */
    uint8_t why;
};

/* Of a block as a whole: it names no page. */
static inline int timeline_of_block(uint8_t verb)
{
    return verb == NW_VERB_ERASE || verb == NW_VERB_HEAL || verb == NW_VERB_IS_BAD ||
           verb == NW_VERB_MARK_BAD;
}

struct timeline_kept {
    struct nw_timeline_request request;
    uint64_t number;
    uint64_t energy_pj;
    struct timeline_op *own; /* of one of the longest outside of the window; else NULL */
    uint32_t first;          /* operation of the window */
    uint32_t op_count;
    uint32_t cut;            /* operations that are not kept */
    uint32_t place;          /* of one of the longest: in the window, or TIMELINE_NONE */
    uint32_t rank;           /* among the longest, from 1; 0: none of them */
};

struct timeline_sample {
    uint64_t time_ns;
    uint64_t energy_pj;
    uint32_t free_blocks;
};

struct nw_timeline {
    struct nw_timeline_config config;
    struct nw_timeline_counts counts;
    struct nw_chip chip;
    struct nw_chip_ops ops;
    struct nw_chip *below;
    const struct nw_meter *meter;
    struct nw_part_costs costs;
    const struct nw_stats *stats;
    uint8_t started;
    uint8_t in_request;
    uint8_t no_ram;      /* this host had none for some of it */
    uint64_t ahead_ns;   /* what is to be added to the meter's time */
    uint64_t end_ns;     /* of the last request */
    uint8_t queues;
    uint32_t late_count; /* requests that came while the window's last one was under way */
    uint64_t late[NW_TIMELINE_REQUESTS]; /* when */

    /* The request being served. */
    struct timeline_op *now;
    uint32_t now_count;
    uint32_t now_cut;
    nw_count copies; /* the layer's counts when they were last looked at */
    nw_count map_reads;
    nw_count map_programs;
    uint8_t due; /* what the next program is: enum timeline_why, or WHY_HOST */

    struct timeline_kept *window;
    uint32_t window_count;
    uint32_t window_room;
    struct timeline_op *window_ops;
    uint32_t op_count;
    uint32_t op_room;

    struct timeline_kept *longest; /* a heap, the shortest of them on top */
    uint32_t long_count;

    struct timeline_sample *samples;
    uint32_t sample_count;
    uint64_t sample_every; /* requests */
};

/* timeline_keep.c: the request with the operations in `now`. */
void nw_timeline_keep(struct nw_timeline *timeline, const struct nw_timeline_request *request,
                      uint64_t energy_pj);
int nw_timeline_asked(const struct nw_timeline_request *request); /* 0: nobody asked for it */

/* The first track and the first words of every trace. */
#define TIMELINE_SHOWN 1U
#define TIMELINE_SHOWN_NAME "what is shown"
#define TIMELINE_SHOWN_ABOUT \
    "Of how many requests the tracks below tell. Counters tell of all."
#define TIMELINE_FIRST_WORDS "every request", "only the longest requests", "what is shown"
enum { TIMELINE_EVERY, TIMELINE_LONGEST_ALONE, TIMELINE_CATEGORY, TIMELINE_WORDS };

/* timeline_vcd.c: as nw_timeline_write(), where the path ends so. */
#define TIMELINE_VCD ".vcd"
int nw_timeline_write_vcd(struct nw_timeline *timeline, const char *path, const char *chip);

#define TIMELINE_COUNTERS 3U

struct timeline_writer {
    struct nw_perfetto perfetto;
    struct nw_timeline *timeline;
    struct nw_replace replace;
    FILE *file;
    uint64_t left;     /* requests still to be written */
    uint8_t overlap;   /* several wait at a time: they stand in the order of their ends */
    uint32_t counters; /* the first track of them */
    double told[TIMELINE_COUNTERS]; /* of each, last */
};

/* timeline_trace.c: then the caller opens perfetto and its tracks, the shown one first, and writes
 * what was kept; the end writes counters and how much is shown. NW_OK, or an error as
 * nw_timeline_write() answers it. */
int nw_timeline_begin_file(struct timeline_writer *writer, struct nw_timeline *timeline,
                           const char *path);
void nw_timeline_open_counters(struct timeline_writer *writer, uint32_t first);
void nw_timeline_end_slice(struct timeline_writer *writer, uint32_t track, uint64_t time_ns);
int nw_timeline_end_file(struct timeline_writer *writer);
/* The end alone, of a file with so many bytes; `result` < 0: the old file stays. */
int nw_timeline_close_file(struct timeline_writer *writer, uint64_t bytes, int result);

#endif

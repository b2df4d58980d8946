/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline.h - what a device did, when and for whom: requests with the operations of the chip that
 * served them, kept in bounded memory and written as a trace for ui.perfetto.dev (perfetto.h), or
 * as the waves of the chip's bus.
 *
 *   nw_timeline_open()
 *   nw_timeline_chip()    a filter on the twin's chip: give it to what stands above
 *   nw_timeline_watch()   the counts of the translation layer: they tell copies and maps from data
 *   nw_timeline_start()   from now on; before, the filter only passes on
 *   nw_timeline_begin(), nw_timeline_end()   around each request
 *   nw_timeline_write()
 *   nw_timeline_close()
 *
 * or, of requests with deadlines, nw_timeline_add() and nw_timeline_write_flows().
 *
 * KEPT. Each request of a window, by number or by the time it began, at most
 * NW_TIMELINE_REQUESTS with NW_TIMELINE_OPERATIONS operations; the NW_TIMELINE_LONGEST requests
 * that took the device longest, wherever they are, each with its first NW_TIMELINE_EACH operations;
 * counters of the whole run at NW_TIMELINE_SAMPLES moments at most, evenly among requests. So a
 * file has at most NW_TIMELINE_BYTES, however long the run is. What there was no room for is
 * counted.
 *
 * WHY. Erases, looks at spare bytes and at bad-block marks are the layer's own work. A program is a
 * copy or one of a map when the layer's counts say so around it (stats.h), and so is the read
 * before a copied page; the rest is for the host. In the trace the layer's own work lies on a track
 * between the requests and the chip.
 *
 * TIME is the meter's, moved by what the caller says at each begin: idle time is not on the meter.
 * Cost: `nandwich bench timeline`. 40 MB at most, as it fills; of malloc.
 */
#ifndef NANDWICH_TWIN_TIMELINE_H
#define NANDWICH_TWIN_TIMELINE_H

#include <stdint.h>

#include "nandwich-twin/meter.h"
#include "nandwich-twin/nand.h"
#include "nandwich/chip.h"
#include "nandwich/stats.h"

#ifdef __cplusplus
extern "C" {
#endif

#define NW_TIMELINE_REQUESTS 50000U
#define NW_TIMELINE_OPERATIONS 300000U
#define NW_TIMELINE_LONGEST 1000U
#define NW_TIMELINE_EACH 300U
#define NW_TIMELINE_SAMPLES 4096U
#define NW_TIMELINE_BYTES 60000000UL
#define NW_TIMELINE_UNKNOWN UINT32_MAX

enum nw_timeline_kind {
    NW_TIMELINE_READ,
    NW_TIMELINE_WRITE,
    NW_TIMELINE_TRIM,
    NW_TIMELINE_SYNC,
    NW_TIMELINE_IDLE /* work ahead between requests: no request, and none of the longest */
};

struct nw_timeline_config {
    uint64_t from; /* the window: requests from this one, counted from 0, */
    uint64_t to;   /* up to this one, which is not in it; by_time: ns */
    uint8_t by_time;
    uint8_t faults; /* the trace has a track of the faults that requests tell of */
};

/* A request that has ended. */
struct nw_timeline_request {
    uint64_t arrival_ns;
    uint64_t start_ns;
    uint64_t end_ns;
    uint32_t sector;
    uint32_t count;
    uint32_t free_blocks; /* NW_TIMELINE_UNKNOWN: the layer does not tell */
    uint16_t app;   /* 0: nobody says */
    uint8_t kind;   /* enum nw_timeline_kind */
    uint8_t queues; /* 1: requests come at times, and may wait */

    /* With virtual memory above: */
    uint32_t fault;   /* the fault that asks for it, counted from 1; 0: none */
    uint64_t address; /* of its first sector */

    /* With a deadline; start_ns is when it was issued: */
    uint64_t begun_ns; /* what served it, from here */
    uint64_t done_ns;  /* to there; both 0: nothing did */
    uint64_t due_ns;
    uint16_t flow;    /* whose, from 0 */
    uint8_t verdict;  /* enum nw_timeline_verdict */
    uint8_t opens;    /* 1: the write opened a unit of the device */
};

/* The first six as enum nw_sched_verdict (nandwich/sched.h). */
enum nw_timeline_verdict {
    NW_TIMELINE_MET,
    NW_TIMELINE_LATE,
    NW_TIMELINE_DROPPED,
    NW_TIMELINE_FAILED,
    NW_TIMELINE_FULL,
    NW_TIMELINE_REFUSED,
    NW_TIMELINE_NOBODY /* an operation of the device that no request asked for; of no flow */
};

/* What became of it. */
struct nw_timeline_counts {
    uint64_t requests;   /* seen */
    uint64_t operations;
    uint64_t shown;      /* requests in the trace */
    uint64_t inside;     /* requests of the window */
    uint64_t left_out;   /* of those, the ones there was no room for, */
    uint64_t cut;        /* and operations of requests in the trace */
    uint64_t bytes;      /* of the file; after writing */
};

struct nw_timeline;

/* NW_ERR_RAM. */
int nw_timeline_open(struct nw_timeline **timeline, const struct nw_timeline_config *config);
void nw_timeline_close(struct nw_timeline *timeline); /* NULL is fine */

/* In front of `below`, which is the twin's chip or stands on it. */
struct nw_chip *nw_timeline_chip(struct nw_timeline *timeline, struct nw_chip *below,
                                 struct nw_nand *nand);
void nw_timeline_watch(struct nw_timeline *timeline, const struct nw_stats *stats);
void nw_timeline_start(struct nw_timeline *timeline);

/* A request begins; its time is `ahead_ns` more than the meter's. */
void nw_timeline_begin(struct nw_timeline *timeline, uint64_t ahead_ns);
void nw_timeline_end(struct nw_timeline *timeline, const struct nw_timeline_request *request);

/* Replaces the file (file.h), once: nothing is recorded any more. `title` names the device, `chip`
 * the part. A path that ends in ".vcd" gets the chip's bus in the window as a value change dump for
 * wave viewers. Operations are left out where the file would get too long. NW_ERR_IO: errno tells;
 * NW_ERR_RAM: there was none for all of it. */
int nw_timeline_write(struct nw_timeline *timeline, const char *path, const char *title,
                      const char *chip);

/*
 * Instead of a chip and begin and end: requests with deadlines, in the order in which they end.
 * Several wait at a time: each flow has as many tracks of its name as it takes, and the device one
 * of its own. A flow has a `name` each, 100 at most.
 */
void nw_timeline_add(struct nw_timeline *timeline, const struct nw_timeline_request *request,
                     uint64_t energy_pj);
int nw_timeline_write_flows(struct nw_timeline *timeline, const char *path, const char *title,
                            const char *device, const char *const *names, uint32_t name_count);

const struct nw_timeline_counts *nw_timeline_outcome(const struct nw_timeline *timeline);

#ifdef __cplusplus
}
#endif

#endif

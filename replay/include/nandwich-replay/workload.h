/* SPDX-License-Identifier: Apache-2.0 */
/*
 * workload.h - requests made up by rule and seed, as a source (io.h).
 *
 * A workload is a table row: how many requests, which share writes, how far apart, how large, and
 * where they fall. Same row and seed, same requests, on every machine: integers only, but for the
 * Zipf weights worked out when it is opened.
 *
 * WHERE. The footprint is cut into units of `align` bytes. A request either goes on where the last
 * one ended (with probability run / 1000) or jumps, by `place`:
 *   NW_PLACE_UNIFORM     anywhere
 *   NW_PLACE_ZIPF        the k-th most wanted unit has weight 1 / k^(theta / 1000), k strewn over
 *                        the footprint (Knuth, TAOCP 3, 6.1: Zipf's law)
 *   NW_PLACE_SEQUENTIAL  from start to end, and again
 *   NW_PLACE_HOT         hot_share / 1000 of jumps go to the first hot_space / 1000 of the
 *                        footprint
 *   NW_PLACE_LOG         a log over most of the footprint is appended to; writes of `meta` / 1000
 *                        go to a small table in front of it instead (1 % of the footprint); reads
 *                        fall on the newest tenth of the log
 *   NW_PLACE_DATABASE    HOT for pages of `align` bytes; each so many-th request (`meta` / 1000 of
 *                        all) instead appends to a log in the last tenth of the footprint
 * SIZES. Whole units: exponential with the mean given, or all the same with NW_FIXED_SIZE. No
 * request crosses the end of the footprint or takes more than a quarter of it.
 * GAPS. Exponential (Poisson arrivals), or all the same with NW_FIXED_GAP. After each `burst` of
 * requests a pause may come on top.
 * Exponential numbers are drawn by comparisons alone (von Neumann 1951, "Various techniques used in
 * connection with random digits").
 */
#ifndef NANDWICH_REPLAY_WORKLOAD_H
#define NANDWICH_REPLAY_WORKLOAD_H

#include <stdint.h>

#include "nandwich-replay/io.h"

#ifdef __cplusplus
extern "C" {
#endif

enum nw_place {
    NW_PLACE_UNIFORM,
    NW_PLACE_ZIPF,
    NW_PLACE_SEQUENTIAL,
    NW_PLACE_HOT,
    NW_PLACE_LOG,
    NW_PLACE_DATABASE
};

#define NW_FIXED_SIZE 0x01U
#define NW_FIXED_GAP 0x02U

struct nw_workload_config {
    const char *name;
    const char *what; /* one line for help */
    uint64_t requests;
    uint64_t footprint; /* bytes it reaches; a multiple of align; at least 16 units, below 2^32 */
    uint64_t gap_ns;    /* mean time between requests; 0: all at once */
    uint64_t pause_ns;  /* after each burst */
    uint32_t burst;     /* requests between two pauses; 0: no pauses */
    uint32_t size;      /* mean bytes of a request; a multiple of align if fixed */
    uint32_t align;     /* bytes; a power of two */
    uint32_t writes;    /* permille of requests; the rest reads */
    uint32_t run;       /* permille: goes on where the last one ended */
    uint32_t theta;     /* ZIPF: thousandths, 1 .. 4000 */
    uint32_t hot_share; /* HOT, DATABASE: permille */
    uint32_t hot_space; /* HOT, DATABASE: permille, 1 .. 1000 */
    uint32_t meta;      /* LOG, DATABASE: permille */
    uint8_t place;      /* enum nw_place */
    uint8_t fixed;      /* NW_FIXED_...: the same for all requests */
};

/*
 * The rows we know; footprint 0 there: whoever opens it says how large. The six of the DHeating
 * study (Chen, PhD thesis, Hong Kong PolyU 2016, chapter 2) have its counts, write shares, mean
 * gaps and mean sizes; it says nothing of places, so those are ours.
 */
extern const struct nw_workload_config nw_workloads[];
extern const uint32_t nw_workload_count;

/* The row of that name, or NULL. */
const struct nw_workload_config *nw_workload_find(const char *name);

struct nw_workload;

/* NW_ERR_CONFIG: `why` tells which number is out of range (a constant text); NW_ERR_RAM. */
int nw_workload_open(struct nw_workload **workload, const struct nw_workload_config *config,
                     uint64_t seed, const char **why);
void nw_workload_close(struct nw_workload *workload); /* NULL is fine */

struct nw_io_source *nw_workload_source(struct nw_workload *workload);

#ifdef __cplusplus
}
#endif

#endif

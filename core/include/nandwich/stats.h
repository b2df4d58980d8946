/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stats.h - what a block layer did, counted the same way by all of them.
 *
 * Counts only grow; the owner may zero them. Where pointers have fewer than 64 bits, and
 * wherever NW_COUNT_32 is defined, a count has 32 bits and wraps: take differences.
 */
#ifndef NANDWICH_STATS_H
#define NANDWICH_STATS_H

#include <stdint.h>

#include "nandwich/options.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(NW_COUNT_32) || UINTPTR_MAX <= 0xFFFFFFFFU || defined(__SDCC)
typedef uint32_t nw_count;
#else
typedef uint64_t nw_count;
#endif

struct nw_stats {
    /* asked from above, in sectors */
    nw_count host_reads;
    nw_count host_writes;
    nw_count host_trims;
    nw_count syncs;
    /* asked of the chip, in chip operations (a failed one counts) */
    nw_count reads;      /* page reads, spare-only reads included */
    nw_count programs;   /* page programs: host data, copies, maps */
    nw_count erases;
    nw_count bytes_read;       /* data and spare bytes over the bus */
    nw_count bytes_programmed;
    /* why */
    nw_count copies;       /* valid sectors moved by cleaning or merging (in reads, programs too) */
    nw_count map_reads;    /* reads of the layer's own maps */
    nw_count map_programs; /* programs of the layer's own maps */
    nw_count merges_switch;  /* a log block took its data block's place, one side copied at most */
    nw_count merges_partial; /* the rest of a data block was appended, then a switch */
    nw_count merges_full;    /* both sides copied to a fresh block */
    nw_count corrected;      /* bits repaired by ECC on the way up */
    nw_count retired;        /* blocks given up as bad while running */
    nw_count scrubbed;       /* blocks emptied because too many bits had to be corrected there */
    nw_count lost;           /* sectors whose content could not be read when it had to be moved */
};

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* survey.h - what a source asks for, in one pass over it and constant memory. */
#ifndef NANDWICH_REPLAY_SURVEY_H
#define NANDWICH_REPLAY_SURVEY_H

#include "nandwich-replay/io.h"
#include "nandwich-replay/latency.h"

#ifdef __cplusplus
extern "C" {
#endif

#define NW_SURVEY_UNITS 64U

struct nw_survey {
    uint64_t requests;
    uint64_t count[4];   /* by enum nw_io_kind */
    uint64_t bytes[4];
    uint64_t largest[4]; /* bytes */
    uint64_t extent;     /* bytes from 0 to behind the last one touched */
    uint64_t lowest;     /* first byte touched */
    uint64_t last_ns;    /* latest time */
    uint64_t stepped_back; /* requests earlier than the one before them */
    uint64_t in_order;   /* requests that begin where the one before them ended */
    uint64_t align;      /* the largest power of two that divides every offset and size, at most
                          * 1 MiB; 0: nothing but syncs */
    uint64_t units[NW_SURVEY_UNITS]; /* devices seen, as they came */
    uint32_t unit_count;             /* NW_SURVEY_UNITS: that many or more */
    struct nw_latency gaps;          /* between requests */

    uint64_t end;      /* behind the last request */
    uint64_t time_ns;  /* of the last request */
    uint64_t bits;     /* all offsets and sizes, or-ed */
};

/* Takes at most `requests` more; begin with a survey all zero. 1: more to come, 0: the end, or the
 * source's error. */
int nw_survey_run(struct nw_survey *survey, struct nw_io_source *source, uint64_t requests);

#ifdef __cplusplus
}
#endif

#endif

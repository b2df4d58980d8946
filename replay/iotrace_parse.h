/* SPDX-License-Identifier: Apache-2.0 */
/* iotrace_parse.h - one line of a trace: a cursor over it, and the text formats that read it. */
#ifndef NW_REPLAY_IOTRACE_PARSE_H
#define NW_REPLAY_IOTRACE_PARSE_H

#include <stddef.h>
#include <stdint.h>

#include "nandwich-replay/io.h"
#include "nandwich-replay/iotrace.h"

/* What a format remembers from line to line. */
struct nw_iotrace_state {
    uint64_t time_ns; /* fio: sum of waits */
    uint8_t version;  /* fio */
    uint8_t ended;    /* blkparse: the summary has begun */
    char action;      /* blkparse: which event of a request counts */
    char separator;      /* csv: found out by the first line; 0: not yet */
    uint8_t headed;      /* csv: the heading is behind */
    const struct nw_iotrace_columns *columns; /* csv */
    const char *process; /* who asked, in this line; NULL: it does not say */
    size_t process_bytes;
};

/* A line being read. The first that is wrong is kept: where, and what was wanted there. */
struct nw_line {
    const char *at;
    const char *end;
    const char *bad;
    const char *wanted;
};

enum {
    NW_LINE_BAD = -1,
    NW_LINE_OTHER = 0,
    NW_LINE_REQUEST = 1,
    NW_LINE_EMPTY = 2 /* a read or trim of no bytes: nothing to play, but to be told of */
};

struct nw_text_format {
    const char *name;
    const char *what;
    /* One of the four above. */
    int (*parse)(struct nw_line *line, struct nw_iotrace_state *state, struct nw_io *io);
    const char *head; /* NULL, or what all its files begin with and no other's */
};

extern const struct nw_text_format nw_text_formats[];
extern const struct nw_text_format nw_csv_format; /* of what nobody finds out */
extern const uint32_t nw_text_format_count;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calls.h - the system calls that change what lies at a name, and where their arguments are.
 *
 * Writing and mapping need no entry: a file is opened for writing first.
 */
#ifndef NW_WATCH_CALLS_H
#define NW_WATCH_CALLS_H

#include <stddef.h>
#include <stdint.h>

enum nw_call_kind {
    NW_CALL_OPEN,       /* flags and mode decide */
    NW_CALL_OPEN_HOW,   /* openat2: they lie in a struct */
    NW_CALL_CONTENT,    /* changes the content of the file that the name leads to */
    NW_CALL_ATTRIBUTES, /* changes mode, owner or times of what the name leads to */
    NW_CALL_MAKE,       /* makes the name itself, or fails */
    NW_CALL_MAKE_FOLDER,
    NW_CALL_REMOVE,     /* removes the name itself */
    NW_CALL_MOVE,       /* two names, with all that lies below them */
    NW_CALL_LINK,       /* a second name for a file */
    NW_CALL_BIND,       /* a socket's address, which may be a name */
    NW_CALL_PAUSE       /* nandwich-watch/pause.h */
};

/* Arguments by their number; -1: the call has none. */
struct nw_call {
    int number;
    uint8_t kind;
    int8_t folder, path; /* folder -1: the current one; path -1: a descriptor alone */
    int8_t flags, mode;  /* flags: of open(), or AT_ flags */
    int8_t to_folder, to_path;
    uint8_t is_link; /* a link at the end of the name is not followed */
};

extern const struct nw_call nw_calls[];
extern const size_t nw_calls_count;

/* The entry of a call's number; NULL: there is none. */
const struct nw_call *nw_call_find(int number);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keep.h - remembers how everything was before a run changed it.
 *
 * What lies at a name is kept once, before its first change: content (copied to FOLDER/N), mode,
 * owner, times, a link's target, a folder's members where the folder itself may go. Two names of
 * one file share a copy. What lies in a folder that the run made was made by the run, so it is not
 * kept.
 */
#ifndef NW_WATCH_KEEP_H
#define NW_WATCH_KEEP_H

#include "place.h"

#include <stddef.h>
#include <sys/stat.h>

/* How much of it may change. */
enum {
    NW_KEEP_CONTENT = 1, /* not only mode, owner and times */
    NW_KEEP_BELOW = 2,   /* a folder with all in it */
    NW_KEEP_RANDOM = 4   /* made as a library makes a file under a name of its own choice */
};

struct nw_kept {
    char *path;
    int absent, random;
    int whole;          /* a folder: each of its members has an entry of its own */
    struct stat status; /* unless absent */
    char *target;       /* of a link */
    /* Of all names of a file the one that was kept first; mostly it is this one. It alone holds
     * what the names share: */
    struct nw_kept *first;
    size_t copy;          /* number of the content's copy; 0: none */
    int handle;           /* of a file with several names; -1: none */
    struct nw_kept *next; /* the first name of another file with several */
};

void nw_keep_start(const char *folder);

/* Keeps what lies at a place. 0, or -1 with errno: the call must not go on. */
int nw_keep(const struct nw_place *place, unsigned how);

/* Name of a copy. */
void nw_keep_copy_name(char *to, size_t bytes, size_t number);

/*
 * Writes FOLDER/log, an entry after the other:
 *   N NUL kind NUL absolute path NUL
 * where N is the number of the copy (0: none) and kind is "file", "folder", "whole" (a folder, and
 * each of its members has an entry), "other", "absent" or "random" (absent, and made as mkstemp()
 * and mkdtemp() make what they name). 0, or -1 with errno.
 */
int nw_keep_log(void);

#endif

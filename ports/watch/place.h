/* SPDX-License-Identifier: Apache-2.0 */
/*
 * place.h - what a stopped call's arguments name, found as the kernel would find it for the caller.
 */
#ifndef NW_WATCH_PLACE_H
#define NW_WATCH_PLACE_H

#include <limits.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/* A name, by its absolute path without links in it (the last part of it may be a link). */
struct nw_place {
    char path[PATH_MAX];
    int file; /* what lies there, opened with O_PATH; -1: nothing */
    struct stat status; /* of it */
};

enum { NW_PLACE_NONE = 0, NW_PLACE_FOUND = 1 };

/* A string, or `bytes` bytes, of the caller's memory: the number of bytes read, or -1 with errno;
 * EFAULT: it is not there, and the call will fail by itself. */
ssize_t nw_place_text(pid_t caller, uint64_t address, char *to, size_t bytes);
ssize_t nw_place_bytes(pid_t caller, uint64_t address, void *to, size_t bytes);

enum {
    NW_PLACE_LINK = 1,   /* a link at the end of the path is the place, else what it leads to */
    NW_PLACE_IN_ROOT = 2 /* no path and no link leads out of the folder: it is "/" */
};

/*
 * The place of a caller's `path` below its `folder` (a descriptor of its own or AT_FDCWD), looked
 * up name by name. NW_PLACE_FOUND: nw_place_close() it later; NW_PLACE_NONE: the call cannot change
 * anything there; -1 with errno: it cannot be told.
 */
int nw_place_find(struct nw_place *place, pid_t caller, int folder, const char *path, unsigned how);

/* The place of an open descriptor of the caller's. */
int nw_place_descriptor(struct nw_place *place, pid_t caller, int descriptor);

void nw_place_close(struct nw_place *place);

/* Whether both are one file, maybe under two names. */
int nw_place_is_same(const struct stat *one, const struct stat *other);

#endif

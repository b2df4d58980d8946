/* SPDX-License-Identifier: Apache-2.0 */
/*
 * track.h - remembers which files a program changes and how they were before, so that
 * `nandwich run` can give the native and the virtual run the same files and compare what they left.
 *
 * Before a regular file (or a name not there yet) is first opened for writing, renamed, cut or
 * removed, its content is copied to FOLDER/N and a record is added to FOLDER/log:
 *   N NUL kind NUL absolute path NUL      kind: "file" (content kept) or "absent"
 * wrap.c holds the calls it listens to. Directories, links and devices are not tracked.
 */
#ifndef NW_HOST_TRACK_H
#define NW_HOST_TRACK_H

/* Starts tracking into an existing folder; NULL: stops. */
void nw_host_track_start(const char *folder);

/* The file `path`, as openat() takes it, is about to change. errno stays as it is. */
void nw_host_track(int directory, const char *path);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * track.h - remembers which files a program changes and how they were before, so that
 * `nandwich run` can give the native and the virtual run the same files and compare what they left.
 *
 * Before a regular file, a folder or a name not there yet is first opened for writing, made,
 * renamed, cut, removed or given another mode, a record is added to FOLDER/log; the content of a
 * file is copied to FOLDER/N:
 *   N NUL kind:MODE NUL absolute path NUL
 * where kind is "file", "folder", "absent" or "random", and MODE is octal.
 * "random" is a file or folder the library has just made under a name of its own choice (mkstemp):
 * it was not there before, and no other run makes it under this name.
 * wrap.c holds the calls it listens to. Of a link its target is tracked, devices are not.
 */
#ifndef NW_HOST_TRACK_H
#define NW_HOST_TRACK_H

/* Starts tracking into an existing folder; NULL: stops. */
void nw_host_track_start(const char *folder);

/* What lies at `path`, as openat() takes it, is about to change. errno stays as it is. */
void nw_host_track(int directory, const char *path);

/* `path` has just been made under a random name. errno stays as it is. */
void nw_host_track_random(const char *path);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file.h - files on the host: opened only if they are files, replaced whole or not at all.
 *
 * REPLACE. The content goes to a new file in the same folder. It has no name as yet where the file
 * system can that (Linux: O_TMPFILE), so that nothing is left when the program is killed; elsewhere
 * a random one. When all of it is on disk it takes the old one's name. Whoever reads meanwhile sees
 * the old content or the new one.
 *
 *   - A symbolic link stays: the file it leads to is replaced.
 *   - The mode stays, and the owner where the system allows it. A new file gets 0666 less the
 *     umask.
 *   - Only regular files are replaced. A character device or a pipe is written to as it is, so
 *     /dev/stdout works and /dev/null stays a device. All else is refused.
 *   - The new file is made with O_EXCL: a file or a link planted under its name is never followed.
 *   - A hard link to the old file keeps the old content.
 *
 * No malloc and no stdio but in nw_replace_stream(), so that a signal handler may use the rest.
 * errno tells why a call failed.
 */
#ifndef NANDWICH_TWIN_FILE_H
#define NANDWICH_TWIN_FILE_H

#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A regular file to read from, behind whatever links. NULL: errno; EINVAL when it is anything else,
 * which might block or never end. */
FILE *nw_file_open(const char *path);

#define NW_REPLACE_PATH_BYTES 4096

/* One replacement under way. The caller writes to `file`; the rest is internal. */
struct nw_replace {
    int file;                           /* open for writing; -1: none */
    int folder;                         /* holds both files; -1: written through */
    char target[NW_REPLACE_PATH_BYTES]; /* the path behind all links */
    const char *name;                   /* its last part, in target */
    char partial[32];                   /* name of the new file in that folder; "": none yet */
};

/*
 * Begin. The file that is there stays untouched.
 * 0, or -1: ENOENT no such folder, ELOOP too many links, ENAMETOOLONG, EISDIR a folder, EINVAL a
 * block device or a socket, else what open() answers.
 */
int nw_replace_begin(struct nw_replace *replace, const char *path);

/* A stream of its own to write to `file`. Close it before the end, and check that. NULL: errno. */
FILE *nw_replace_stream(struct nw_replace *replace);

/*
 * End. With `good` the content is synced and takes its place; else it is thrown away and the file
 * stays as it was. Closes `file`. 0; -1: the old file is still there and nothing is left over.
 */
int nw_replace_end(struct nw_replace *replace, int good);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "track.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Raw system calls below: open() and friends are the very calls wrap.c listens to. */

static char track_folder[PATH_MAX];
static char **track_paths; /* absolute paths seen, in order */
static size_t track_count;

void nw_host_track_start(const char *folder)
{
    track_folder[0] = '\0';
    if (folder != NULL && strlen(folder) < sizeof track_folder - 32) {
        strcpy(track_folder, folder);
    }
}

static _Noreturn void give_up(const char *path)
{
    fprintf(stderr, "nandwich: error: %s: cannot keep its content for comparison: %s\n", path,
            strerror(errno));
    _Exit(2);
}

/* The absolute path of a name whose folder exists: links in the folder part are resolved, the last
 * part is kept, so that a name not there yet has a path too. 0 or -1. */
static int absolute(int directory, const char *path, char *to)
{
    char folder[PATH_MAX], link[64], joined[2 * PATH_MAX];
    const char *slash = strrchr(path, '/'), *last = slash == NULL ? path : slash + 1;
    size_t length = slash == NULL ? 0 : (size_t)(slash - path) + 1;

    if (length >= sizeof folder) {
        return -1;
    }
    memcpy(folder, path, length);
    folder[length] = '\0';
    if (path[0] == '/') {
        snprintf(joined, sizeof joined, "%s", folder);
    } else if (directory == AT_FDCWD) {
        snprintf(joined, sizeof joined, "./%s", folder);
    } else {
        snprintf(link, sizeof link, "/proc/self/fd/%d", directory);
        snprintf(joined, sizeof joined, "%s/%s", link, folder);
    }
    if (realpath(joined, to) == NULL || strlen(to) + strlen(last) + 2 > PATH_MAX) {
        return -1;
    }
    if (strcmp(to, "/") != 0) {
        strcat(to, "/");
    }
    strcat(to, last);
    return 0;
}

static int known(const char *path)
{
    for (size_t i = 0; i < track_count; i++) {
        if (strcmp(track_paths[i], path) == 0) {
            return 1;
        }
    }
    return 0;
}

static int open_raw(const char *path, int flags)
{
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC, 0600);
}

static void write_or_give_up(int file, const char *bytes, size_t count, const char *path)
{
    while (count > 0) {
        ssize_t done = write(file, bytes, count);

        if (done <= 0) {
            give_up(path);
        }
        bytes += done;
        count -= (size_t)done;
    }
}

static void keep_content(const char *path, size_t number)
{
    static char bytes[65536]; /* not on the stack: the guest's may be small */
    char to[PATH_MAX + 32];
    int from_file = open_raw(path, O_RDONLY), to_file;
    ssize_t count;

    snprintf(to, sizeof to, "%s/%zu", track_folder, number);
    to_file = open_raw(to, O_WRONLY | O_CREAT | O_TRUNC);
    if (from_file < 0 || to_file < 0) {
        give_up(path);
    }
    while ((count = read(from_file, bytes, sizeof bytes)) > 0) {
        write_or_give_up(to_file, bytes, (size_t)count, path);
    }
    if (count < 0 || close(to_file) != 0) {
        give_up(path);
    }
    close(from_file);
}

static void record(const char *path, size_t number, const char *kind, unsigned mode)
{
    char to[PATH_MAX + 32], line[PATH_MAX + 96];
    int length, file;

    snprintf(to, sizeof to, "%s/log", track_folder);
    length = snprintf(line, sizeof line, "%zu%c%s:%o%c%s", number, 0, kind, mode & 07777U, 0, path);
    file = open_raw(to, O_WRONLY | O_CREAT | O_APPEND);
    if (file < 0) {
        give_up(path);
    }
    write_or_give_up(file, line, (size_t)length + 1, path); /* with its NUL */
    close(file);
}

static void keep_path(const char *path)
{
    char **paths = realloc(track_paths, (track_count + 1) * sizeof *paths);

    if (paths == NULL || (paths[track_count] = strdup(path)) == NULL) {
        give_up(path);
    }
    track_paths = paths;
    track_count++;
}

static void track_new(const char *path)
{
    struct stat status;
    int absent = stat(path, &status) != 0 && errno == ENOENT;

    keep_path(path);
    if (absent) {
        record(path, track_count, "absent", 0);
    } else if (S_ISREG(status.st_mode)) {
        keep_content(path, track_count);
        record(path, track_count, "file", status.st_mode);
    } else if (S_ISDIR(status.st_mode)) {
        record(path, track_count, "folder", status.st_mode);
    }
}

/* What a link leads to is what a write changes; -1: a link that leads nowhere yet. */
static int follow(char *path)
{
    char target[PATH_MAX];
    struct stat status;

    if (lstat(path, &status) != 0 || !S_ISLNK(status.st_mode)) {
        return 0;
    }
    if (realpath(path, target) == NULL) {
        return -1;
    }
    strcpy(path, target);
    return 0;
}

void nw_host_track(int directory, const char *path)
{
    char whole[PATH_MAX];
    int kept = errno;

    if (track_folder[0] != '\0' && path != NULL && absolute(directory, path, whole) == 0 &&
        follow(whole) == 0 && !known(whole)) {
        track_new(whole);
    }
    errno = kept;
}

void nw_host_track_random(const char *path)
{
    char whole[PATH_MAX];
    int kept = errno;

    if (track_folder[0] != '\0' && absolute(AT_FDCWD, path, whole) == 0 && !known(whole)) {
        keep_path(whole);
        record(whole, track_count, "random", 0);
    }
    errno = kept;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MOST_LINKS = 40, MOST_LOOKS = 5, PAGE = 4096 };

static int open_memory(pid_t caller)
{
    char name[64];

    snprintf(name, sizeof name, "/proc/%d/mem", (int)caller);
    return open(name, O_RDONLY | O_CLOEXEC);
}

/* What reading another process's memory answers where none is. */
static ssize_t not_there(void)
{
    errno = errno == EIO ? EFAULT : errno;
    return -1;
}

ssize_t nw_place_bytes(pid_t caller, uint64_t address, void *to, size_t bytes)
{
    int memory = open_memory(caller);
    ssize_t count;

    if (memory < 0) {
        return -1;
    }
    count = pread(memory, to, bytes, (off_t)address);
    close(memory);
    return count < 0 ? not_there() : count;
}

ssize_t nw_place_text(pid_t caller, uint64_t address, char *to, size_t bytes)
{
    int memory = open_memory(caller);
    size_t done = 0;

    if (memory < 0) {
        return -1;
    }
    while (done < bytes) {
        size_t some = PAGE - (address + done) % PAGE; /* the page behind may not be there */
        ssize_t count;

        some = some < bytes - done ? some : bytes - done;
        count = pread(memory, to + done, some, (off_t)(address + done));
        if (count <= 0) {
            close(memory);
            return not_there();
        }
        if (memchr(to + done, 0, (size_t)count) != NULL) {
            close(memory);
            return (ssize_t)strlen(to);
        }
        done += (size_t)count;
    }
    close(memory);
    errno = EFAULT; /* longer than any path: the call fails by itself */
    return -1;
}

int nw_place_is_same(const struct stat *one, const struct stat *other)
{
    return one->st_dev == other->st_dev && one->st_ino == other->st_ino;
}

/* The path of an open file, if it still has the name by which it was opened. */
static int name_of(struct nw_place *place)
{
    char name[64];
    struct stat there;
    ssize_t length;

    snprintf(name, sizeof name, "/proc/self/fd/%d", place->file);
    length = readlink(name, place->path, sizeof place->path);
    if (length < 0) {
        return -1;
    }
    if ((size_t)length >= sizeof place->path - 1) {
        errno = ENAMETOOLONG;
        return -1;
    }
    place->path[length] = '\0';
    if (fstat(place->file, &place->status) != 0) {
        return -1;
    }
    if (place->path[0] != '/' || place->status.st_nlink == 0) {
        return NW_PLACE_NONE; /* a pipe, or a file without a name */
    }
    if (lstat(place->path, &there) != 0) {
        return -1;
    }
    if (!nw_place_is_same(&there, &place->status)) {
        errno = ENOENT; /* this name of it is gone */
        return -1;
    }
    return NW_PLACE_FOUND;
}

static int finish(struct nw_place *place, int found)
{
    if (found != NW_PLACE_FOUND) {
        int error = errno;

        nw_place_close(place);
        errno = error;
    }
    return found;
}

void nw_place_close(struct nw_place *place)
{
    if (place->file >= 0) {
        close(place->file);
        place->file = -1;
    }
}

int nw_place_descriptor(struct nw_place *place, pid_t caller, int descriptor)
{
    char name[64];

    snprintf(name, sizeof name, "/proc/%d/fd/%d", (int)caller, descriptor);
    place->file = open(name, O_PATH | O_CLOEXEC);
    if (place->file < 0) {
        return NW_PLACE_NONE;
    }
    int found = finish(place, name_of(place));

    /* A name that is gone was taken away by the run, and the file kept then. */
    return found < 0 && errno == ENOENT ? NW_PLACE_NONE : found;
}

/* Where a caller's path begins, opened. */
static int open_base(pid_t caller, int folder, const char *path)
{
    char name[64];

    if (path[0] == '/') {
        snprintf(name, sizeof name, "/proc/%d/root", (int)caller);
    } else if (folder == AT_FDCWD) {
        snprintf(name, sizeof name, "/proc/%d/cwd", (int)caller);
    } else {
        snprintf(name, sizeof name, "/proc/%d/fd/%d", (int)caller, folder);
    }
    return open(name, O_PATH | O_CLOEXEC);
}

/* What the kernel would show the caller as its own, and us as ours: named as the caller's. */
static void make_callers(pid_t caller, char *path)
{
    static const struct {
        const char *own, *caller;
    } names[] = {{"/proc/self/", ""},          {"/proc/thread-self/", ""}, {"/dev/fd/", "fd/"},
                 {"/dev/stdin", "fd/0"},       {"/dev/stdout", "fd/1"},    {"/dev/stderr", "fd/2"}};
    char rest[PATH_MAX];

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        size_t length = strlen(names[i].own);

        if (strncmp(path, names[i].own, length) == 0 &&
            (names[i].own[length - 1] == '/' || path[length] == '\0')) {
            strcpy(rest, path + length);
            if (snprintf(path, PATH_MAX, "/proc/%d/%s%s", (int)caller, names[i].caller, rest) >=
                PATH_MAX) {
                path[0] = '\0'; /* longer than any path the kernel takes */
            }
            return;
        }
    }
}

/* A path that is not empty, seen from its base. */
static const char *below(const char *path)
{
    while (*path == '/') {
        path++;
    }
    return *path == '\0' ? "." : path;
}

/* Cuts `path` in two at its last slash that is not at its end; the name, "" when it has none. */
static const char *split(char *path, const char **folder)
{
    size_t length = strlen(path);
    char *slash;

    while (length > 1 && path[length - 1] == '/') {
        path[--length] = '\0';
    }
    slash = strrchr(path, '/');
    if (slash == NULL) {
        *folder = ".";
        return path;
    }
    *slash = '\0';
    *folder = slash == path ? "." : path;
    return slash + 1;
}

/* The place of a name that is not there, in a folder that is: `folder` opened, `name` in it. */
static int absent(struct nw_place *place, int folder, const char *name)
{
    struct nw_place parent;
    int found;
    size_t length;

    parent.file = folder;
    found = name_of(&parent);
    if (found != NW_PLACE_FOUND) {
        return found;
    }
    length = strcmp(parent.path, "/") == 0 ? 0 : strlen(parent.path);
    if (length + strlen(name) + 2 > sizeof place->path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(place->path, parent.path, length);
    place->path[length] = '/';
    strcpy(place->path + length + 1, name);
    return NW_PLACE_FOUND;
}

/* One step of the search: `path` may be replaced by what a link leads to. 2: search on. */
enum { SEARCH_ON = 2 };

static int step(struct nw_place *place, int base, char *path, int is_link)
{
    char rest[PATH_MAX], target[PATH_MAX];
    const char *folder_name, *name;
    int folder, found;
    ssize_t length;

    place->file = openat(base, below(path), O_PATH | O_CLOEXEC | (is_link ? O_NOFOLLOW : 0));
    if (place->file >= 0) {
        return finish(place, name_of(place));
    }
    if (errno != ENOENT) {
        return NW_PLACE_NONE; /* the call fails likewise */
    }
    strcpy(rest, below(path));
    name = split(rest, &folder_name);
    folder = openat(base, folder_name, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) {
        return NW_PLACE_NONE;
    }
    length = is_link ? -1 : readlinkat(folder, name, target, sizeof target - 1);
    found = length < 0 ? absent(place, folder, name) : SEARCH_ON;
    if (found == SEARCH_ON) { /* a link that leads nowhere yet */
        target[length] = '\0';
        dup2(folder, base);
        strcpy(path, target);
    }
    close(folder);
    return found;
}

static int find(struct nw_place *place, pid_t caller, int folder, const char *path, int is_link)
{
    char now[PATH_MAX];
    int base = open_base(caller, folder, path), found = SEARCH_ON;

    place->file = -1;
    if (base < 0) {
        return errno == EACCES || errno == EPERM ? -1 : NW_PLACE_NONE;
    }
    strcpy(now, path);
    for (int i = 0; i < MOST_LINKS && found == SEARCH_ON; i++) {
        if (i > 0 && now[0] == '/') {
            close(base);
            base = open_base(caller, folder, now);
        }
        make_callers(caller, now);
        found = step(place, base, now, is_link);
    }
    close(base);
    return found == SEARCH_ON ? NW_PLACE_NONE : found;
}

int nw_place_find(struct nw_place *place, pid_t caller, int folder, const char *path, int is_link)
{
    int found = -1;

    errno = ENOENT;
    /* Another process may move it while we look. */
    for (int i = 0; i < MOST_LOOKS && found < 0 && errno == ENOENT; i++) {
        found = find(place, caller, folder, path, is_link);
    }
    return found;
}

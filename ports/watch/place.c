/* SPDX-License-Identifier: Apache-2.0 */
#include "place.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { MOST_LINKS = 40, MOST_LOOKS = 5, PAGE = 4096, MOST_REST = 2 * PATH_MAX };

static const char gone[] = " (deleted)"; /* how the kernel ends the path of a name that is gone */

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

/* Reads the path by which a file was opened, as it is now. */
static int read_name(struct nw_place *place)
{
    char name[64];
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
    return fstat(place->file, &place->status);
}

static int ends_gone(const char *path)
{
    size_t length = strlen(path);

    return length >= sizeof gone - 1 && strcmp(path + length - (sizeof gone - 1), gone) == 0;
}

/* The path of an open file, if it still has the name by which it was opened. A name that is gone
 * was taken away by the run, and the file kept then. */
static int name_of(struct nw_place *place)
{
    struct stat there;

    for (int i = 0; i < MOST_LOOKS; i++) { /* another process may move it while we look */
        if (read_name(place) != 0) {
            return -1;
        }
        if (place->path[0] != '/' || place->status.st_nlink == 0) {
            return NW_PLACE_NONE; /* a pipe, or a file without a name */
        }
        if (lstat(place->path, &there) == 0 && nw_place_is_same(&there, &place->status)) {
            return NW_PLACE_FOUND;
        }
        if (ends_gone(place->path)) {
            return NW_PLACE_NONE;
        }
    }
    errno = ENOENT;
    return -1;
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
    return finish(place, name_of(place));
}

/* A search for a caller's path, as far as it has come. */
struct search {
    pid_t caller;
    int root, at;         /* opened with O_PATH: the folder "/" is, and where the rest begins */
    char rest[MOST_REST]; /* names yet to be looked up */
    int links;            /* followed */
};

static int open_of(pid_t caller, const char *what)
{
    char name[64];

    snprintf(name, sizeof name, "/proc/%d/%s", (int)caller, what);
    return open(name, O_PATH | O_CLOEXEC);
}

static int begin(struct search *search, int folder, const char *path, unsigned how)
{
    char base[32] = "cwd";

    if (folder != AT_FDCWD) {
        snprintf(base, sizeof base, "fd/%d", folder);
    }
    strcpy(search->rest, path);
    search->links = 0;
    search->at = -1;
    search->root = open_of(search->caller, (how & NW_PLACE_IN_ROOT) != 0 ? base : "root");
    if (search->root >= 0) {
        search->at = path[0] == '/' ? fcntl(search->root, F_DUPFD_CLOEXEC, 0)
                                    : open_of(search->caller, base);
    }
    return search->at < 0 ? -1 : 0;
}

static void end(struct search *search)
{
    if (search->root >= 0) {
        close(search->root);
    }
    if (search->at >= 0) {
        close(search->at);
    }
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

enum { SEARCH_ON = 2 };

static int go_to(struct search *search, int file)
{
    if (file < 0) {
        return NW_PLACE_NONE; /* the call fails likewise */
    }
    close(search->at);
    search->at = file;
    return SEARCH_ON;
}

static int is_process_link(int file)
{
    struct statfs system;

    return fstatfs(file, &system) == 0 && system.f_type == PROC_SUPER_MAGIC;
}

/* Puts what a link leads to before the rest. Links in /proc lead to things, whatever their text is;
 * but the one to "self" is the caller, not us. */
static int follow(struct search *search, int link, const char *name)
{
    char target[MOST_REST];
    ssize_t length;

    if (++search->links > MOST_LINKS) {
        return NW_PLACE_NONE;
    }
    if (!is_process_link(link)) {
        length = readlinkat(link, "", target, PATH_MAX);
    } else if (strcmp(name, "self") == 0 || strcmp(name, "thread-self") == 0) {
        length = snprintf(target, sizeof target, "%d", (int)search->caller);
    } else {
        return go_to(search, openat(search->at, name, O_PATH | O_CLOEXEC));
    }
    if (length < 0) {
        return NW_PLACE_NONE;
    }
    if ((size_t)length + strlen(search->rest) >= sizeof target) {
        errno = ENAMETOOLONG;
        return -1;
    }
    strcpy(target + length, search->rest);
    strcpy(search->rest, target);
    return target[0] == '/' ? go_to(search, fcntl(search->root, F_DUPFD_CLOEXEC, 0)) : SEARCH_ON;
}

/* Takes the first name off the rest; its length, 0: there is none. */
static size_t take_name(struct search *search, char *name)
{
    const char *from = search->rest + strspn(search->rest, "/");
    size_t length = strcspn(from, "/");

    memcpy(name, from, length);
    name[length] = '\0';
    memmove(search->rest, from + length, strlen(from + length) + 1);
    return length;
}

static int is_at_root(const struct search *search)
{
    struct stat root, at;

    return fstat(search->root, &root) == 0 && fstat(search->at, &at) == 0 &&
           nw_place_is_same(&root, &at);
}

/* Looks up one name. */
static int step(struct nw_place *place, struct search *search, unsigned how)
{
    char name[MOST_REST];
    struct stat status;
    int file, result;

    if (take_name(search, name) == 0) {
        place->file = search->at;
        search->at = -1;
        return finish(place, name_of(place));
    }
    if (strcmp(name, "..") == 0 && is_at_root(search)) {
        return SEARCH_ON;
    }
    file = openat(search->at, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (file < 0) {
        return errno == ENOENT && search->rest[strspn(search->rest, "/")] == '\0'
                   ? absent(place, search->at, name)
                   : NW_PLACE_NONE; /* the call fails likewise */
    }
    if (fstat(file, &status) != 0 || !S_ISLNK(status.st_mode) ||
        ((how & NW_PLACE_LINK) != 0 && search->rest[0] == '\0')) {
        return go_to(search, file);
    }
    result = follow(search, file, name);
    close(file);
    return result;
}

int nw_place_find(struct nw_place *place, pid_t caller, int folder, const char *path, unsigned how)
{
    struct search search = {.caller = caller};
    int found = SEARCH_ON, error;

    place->file = -1;
    if (begin(&search, folder, path, how) != 0) {
        found = errno == EACCES || errno == EPERM ? -1 : NW_PLACE_NONE;
    }
    while (found == SEARCH_ON) { /* each step takes a name or follows one of MOST_LINKS links */
        found = step(place, &search, how);
    }
    error = errno;
    end(&search);
    errno = error;
    return found;
}

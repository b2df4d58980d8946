/* SPDX-License-Identifier: Apache-2.0 */
/* Files on the host: see file.h. */
#include "nandwich-twin/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_LINKS 40 /* as many as Linux follows in one path */
#define TRIES 16      /* a random name is taken once in 2^64 */

FILE *nw_file_open(const char *path)
{
    struct stat status;
    FILE *stream = NULL;
    /* A pipe that nobody writes to would block here. Regular files know no O_NONBLOCK. */
    int file = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC), cause;

    if (file < 0) {
        return NULL;
    }
    if (fstat(file, &status) == 0) {
        if (S_ISREG(status.st_mode)) {
            stream = fdopen(file, "rb");
        } else {
            errno = S_ISDIR(status.st_mode) ? EISDIR : EINVAL;
        }
    }
    if (stream == NULL) {
        cause = errno;
        (void)close(file);
        errno = cause;
    }
    return stream;
}

static const char *name_in(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

/* Put where a link at `target` leads into its place. 1: it was a link; 0: it is none; -1. */
static int follow_link(char *target)
{
    char link[NW_REPLACE_PATH_BYTES];
    ssize_t length = readlink(target, link, sizeof link);
    size_t folder;

    if (length < 0) {
        return errno == EINVAL || errno == ENOENT ? 0 : -1;
    }
    folder = link[0] == '/' ? 0 : (size_t)(name_in(target) - target);
    if (folder + (size_t)length >= NW_REPLACE_PATH_BYTES) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(target + folder, link, (size_t)length);
    target[folder + (size_t)length] = '\0';
    return 1;
}

static int resolve(char *target, const char *path)
{
    size_t length = strlen(path);
    int links = 0, followed;

    if (length >= NW_REPLACE_PATH_BYTES) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(target, path, length + 1U);
    do {
        followed = follow_link(target);
        links += followed;
    } while (followed > 0 && links <= MOST_LINKS);
    if (followed > 0) {
        errno = ELOOP;
    }
    return followed == 0 ? 0 : -1;
}

/* The folder of a path, to be named in calls that end in -at. */
static int open_folder(struct nw_replace *replace)
{
    char folder[NW_REPLACE_PATH_BYTES];
    size_t length = (size_t)(replace->name - replace->target);

    memcpy(folder, replace->target, length);
    memcpy(folder + length, ".", 2);
    return open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void random_name(char *to, size_t size)
{
    static const char digits[] = "0123456789abcdef";
    uint64_t number = 0;
    size_t used = sizeof ".nandwich-" - 1U;

    if (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number) {
        number = (uint64_t)getpid(); /* O_EXCL judges it all the same */
    }
    memcpy(to, ".nandwich-", used);
    for (; used + 1U < size && used < sizeof ".nandwich-" - 1U + 16U; number >>= 4) {
        to[used++] = digits[number & 15U];
    }
    to[used] = '\0';
}

/* Give the file without a name one, which renameat() needs. */
static int name_partial(struct nw_replace *replace)
{
    char own[40] = "/proc/self/fd/";
    size_t end = sizeof "/proc/self/fd/" - 1U;
    int linked = -1, number = replace->file;

    for (int digits = number; digits >= 10; digits /= 10) {
        end++;
    }
    for (; own[end] != '/'; end--, number /= 10) {
        own[end] = (char)('0' + number % 10);
    }
    for (int i = 0; i < TRIES && linked != 0; i++) {
        random_name(replace->partial, sizeof replace->partial);
        linked = linkat(AT_FDCWD, own, replace->folder, replace->partial, AT_SYMLINK_FOLLOW);
        if (linked != 0 && errno != EEXIST) {
            break;
        }
    }
    if (linked != 0) {
        replace->partial[0] = '\0';
    }
    return linked;
}

/* A new file in the folder of the old one, which `old` describes (NULL: there is none). */
static int open_partial(struct nw_replace *replace, const struct stat *old)
{
    const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    /* Nobody else may read what replaces a private file, not even meanwhile. */
    const mode_t mode = old != NULL ? 0600 : 0666;

    /* Without a name until it is whole: nothing is left of it when this program is killed. */
    replace->file = openat(replace->folder, ".", O_WRONLY | O_TMPFILE | O_CLOEXEC, mode);
    for (int i = 0; i < TRIES && replace->file < 0; i++) { /* not every file system can that */
        random_name(replace->partial, sizeof replace->partial);
        replace->file = openat(replace->folder, replace->partial, flags, mode);
        if (replace->file < 0 && errno != EEXIST) {
            break;
        }
    }
    if (replace->file >= 0 && old != NULL) {
        if (fchown(replace->file, old->st_uid, old->st_gid) != 0) {
            errno = 0; /* only root gives files away: then it is ours, as with any program */
        }
        if (fchmod(replace->file, old->st_mode & 07777) != 0) {
            (void)nw_replace_end(replace, 0);
            return -1;
        }
    }
    return replace->file >= 0 ? 0 : -1;
}

static int open_through(struct nw_replace *replace, const struct stat *old)
{
    if (S_ISDIR(old->st_mode)) {
        errno = EISDIR;
    } else if (!S_ISCHR(old->st_mode) && !S_ISFIFO(old->st_mode)) {
        errno = EINVAL;
    } else {
        replace->file = open(replace->target, O_WRONLY | O_NOCTTY | O_CLOEXEC);
    }
    return replace->file >= 0 ? 0 : -1;
}

int nw_replace_begin(struct nw_replace *replace, const char *path)
{
    struct stat old;
    int known;

    replace->file = -1;
    replace->folder = -1;
    replace->partial[0] = '\0';
    /* Asked of the path as it came: /dev/stdout leads to a pipe that has no name. */
    known = stat(path, &old) == 0;
    if (known && !S_ISREG(old.st_mode)) {
        memcpy(replace->target, path, strnlen(path, NW_REPLACE_PATH_BYTES - 1U) + 1U);
        return open_through(replace, &old);
    }
    if (resolve(replace->target, path) != 0) {
        return -1;
    }
    replace->name = name_in(replace->target);
    if (replace->name[0] == '\0') {
        errno = EISDIR;
        return -1;
    }
    replace->folder = open_folder(replace);
    if (replace->folder < 0) {
        return -1;
    }
    if (open_partial(replace, known ? &old : NULL) != 0) {
        int cause = errno;

        (void)nw_replace_end(replace, 0);
        errno = cause;
        return -1;
    }
    return 0;
}

FILE *nw_replace_stream(struct nw_replace *replace)
{
    int file = dup(replace->file);
    FILE *stream = file >= 0 ? fdopen(file, "wb") : NULL;

    if (stream == NULL && file >= 0) {
        (void)close(file);
    }
    return stream;
}

/* The new file takes the old one's name. */
static int take_place(struct nw_replace *replace)
{
    if (renameat(replace->folder, replace->partial, replace->folder, replace->name) != 0) {
        return -1;
    }
    (void)fsync(replace->folder); /* the name is there; this makes it outlive a power cut */
    return 0;
}

int nw_replace_end(struct nw_replace *replace, int good)
{
    int made = replace->file >= 0 && replace->folder >= 0, cause;

    good = good && replace->file >= 0;
    cause = errno;
    if (good && replace->folder >= 0 &&
        (fsync(replace->file) != 0 ||
         (replace->partial[0] == '\0' && name_partial(replace) != 0))) {
        good = 0;
        cause = errno;
    }
    if (replace->file >= 0 && close(replace->file) != 0 && good) {
        good = 0;
        cause = errno;
    }
    if (good && made && take_place(replace) != 0) {
        good = 0;
        cause = errno;
    }
    if (!good && made && replace->partial[0] != '\0') {
        (void)unlinkat(replace->folder, replace->partial, 0);
    }
    if (replace->folder >= 0) {
        (void)close(replace->folder);
    }
    replace->file = -1;
    replace->folder = -1;
    errno = cause;
    return good ? 0 : -1;
}

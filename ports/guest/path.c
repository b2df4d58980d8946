/* SPDX-License-Identifier: Apache-2.0 */
/* path.c - names of files: their parts, patterns, folders, and the calls relative to a folder. */
#include "internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <ftw.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <libgen.h>
#undef basename /* here the GNU function of string.h, which changes nothing */
char *basename(const char *path);

/* The part of a path that `part` names; it may cut the path short in place. */
static char *part_of(char *path, char *(*part)(char *))
{
    if (!nw_guest_is_virtual(path)) {
        return part(path);
    }
    size_t bytes = nw_guest_strlen(path, SIZE_MAX) + 1;
    char *plain = malloc(bytes);
    if (plain == NULL) {
        nw_guest_refuse("out of host memory while taking a path apart");
    }
    nw_guest_get(plain, path, bytes);
    char *found = part(plain);
    int inside = found >= plain && found < plain + bytes; /* else "." of the library */
    nw_guest_put(path, plain, bytes);
    char *answer = inside ? path + (found - plain) : found;
    free(plain);
    return answer;
}

NW_LIBC(char *, dirname, (char *path))
{
    return part_of(path, dirname);
}

NW_LIBC(char *, __xpg_basename, (char *path))
{
    return part_of(path, __xpg_basename);
}

static char *last_part(char *path)
{
    return basename(path);
}

NW_LIBC(char *, basename, (const char *path))
{
    return part_of((char *)(uintptr_t)path, last_part);
}

NW_LIBC(int, fnmatch, (const char *pattern, const char *text, int flags))
{
    struct nw_guest_text left, right;
    int result = fnmatch(nw_guest_text(&left, pattern), nw_guest_text(&right, text), flags);

    nw_guest_text_done(&left);
    nw_guest_text_done(&right);
    return result;
}

/* What glob and scandir hand out is the host's memory, and the program's free() knows it. */
NW_LIBC(int, glob,
        (const char *pattern, int flags, int (*failed)(const char *, int), glob_t *to))
{
    struct nw_guest_text copy;
    glob_t own;

    nw_guest_get(&own, to, sizeof own);
    int result = glob(nw_guest_text(&copy, pattern), flags, failed, &own);
    nw_guest_text_done(&copy);
    nw_guest_put(to, &own, sizeof own);
    return result;
}

NW_LIBC(void, globfree, (glob_t * from))
{
    glob_t own;

    nw_guest_get(&own, from, sizeof own);
    globfree(&own);
    nw_guest_put(from, &own, sizeof own);
}

NW_LIBC_ALIAS(int, glob64, glob,
              (const char *pattern, int flags, int (*failed)(const char *, int), glob_t *to));
NW_LIBC_ALIAS(void, globfree64, globfree, (glob_t * from));

typedef int (*chooser)(const struct dirent *);
typedef int (*orderer)(const struct dirent **, const struct dirent **);

NW_LIBC(int, scandir, (const char *path, struct dirent ***to, chooser choose, orderer order))
{
    struct nw_guest_text copy;
    struct dirent **list;
    int count = scandir(nw_guest_text(&copy, path), &list, choose, order);

    nw_guest_text_done(&copy);
    if (count >= 0) {
        nw_guest_put(to, &list, sizeof list);
    }
    return count;
}

NW_LIBC_ALIAS(int, scandir64, scandir,
              (const char *path, struct dirent ***to, chooser choose, orderer order));

static const struct dirent *entry_at(const struct dirent **at)
{
    const struct dirent *entry;

    nw_guest_get(&entry, at, sizeof entry);
    return entry;
}

int nw_libc_strcoll(const char *a, const char *b);
int nw_libc_strverscmp(const char *a, const char *b);

NW_LIBC(int, alphasort, (const struct dirent **a, const struct dirent **b))
{
    return nw_libc_strcoll(entry_at(a)->d_name, entry_at(b)->d_name);
}

NW_LIBC(int, versionsort, (const struct dirent **a, const struct dirent **b))
{
    return nw_libc_strverscmp(entry_at(a)->d_name, entry_at(b)->d_name);
}

NW_LIBC_ALIAS(int, alphasort64, alphasort, (const struct dirent **a, const struct dirent **b));
NW_LIBC_ALIAS(int, versionsort64, versionsort, (const struct dirent **a, const struct dirent **b));

typedef int (*visitor)(const char *, const struct stat *, int);
typedef int (*walker)(const char *, const struct stat *, int, struct FTW *);

NW_LIBC(int, ftw, (const char *path, visitor visit, int descriptors))
{
    struct nw_guest_text copy;
    int result = ftw(nw_guest_text(&copy, path), visit, descriptors);

    nw_guest_text_done(&copy);
    return result;
}

NW_LIBC(int, nftw, (const char *path, walker visit, int descriptors, int flags))
{
    struct nw_guest_text copy;
    int result = nftw(nw_guest_text(&copy, path), visit, descriptors, flags);

    nw_guest_text_done(&copy);
    return result;
}

NW_LIBC_ALIAS(int, ftw64, ftw, (const char *path, visitor visit, int descriptors));
NW_LIBC_ALIAS(int, nftw64, nftw, (const char *path, walker visit, int descriptors, int flags));

/* A call that takes one name and plain values. */
#define NW_BY_PATH(type, name, parameters, call)                                                   \
    NW_LIBC(type, name, parameters)                                                                \
    {                                                                                              \
        struct nw_guest_text copy;                                                                 \
        const char *plain = nw_guest_text(&copy, path);                                            \
        type result = call;                                                                        \
                                                                                                   \
        nw_guest_text_done(&copy);                                                                 \
        return result;                                                                             \
    }

NW_BY_PATH(int, faccessat, (int folder, const char *path, int mode, int flags),
           faccessat(folder, plain, mode, flags))
NW_BY_PATH(int, euidaccess, (const char *path, int mode), euidaccess(plain, mode))
NW_LIBC_ALIAS(int, eaccess, euidaccess, (const char *path, int mode));
NW_BY_PATH(int, unlinkat, (int folder, const char *path, int flags),
           unlinkat(folder, plain, flags))
NW_BY_PATH(int, mkdirat, (int folder, const char *path, mode_t mode),
           mkdirat(folder, plain, mode))
NW_BY_PATH(int, mkfifo, (const char *path, mode_t mode), mkfifo(plain, mode))
NW_BY_PATH(int, fchmodat, (int folder, const char *path, mode_t mode, int flags),
           fchmodat(folder, plain, mode, flags))
NW_BY_PATH(int, fchownat, (int folder, const char *path, uid_t user, gid_t group, int flags),
           fchownat(folder, plain, user, group, flags))
NW_BY_PATH(long, pathconf, (const char *path, int name), pathconf(plain, name))

NW_LIBC(int, renameat, (int from_folder, const char *from, int to_folder, const char *to))
{
    struct nw_guest_text left, right;
    int result = renameat(from_folder, nw_guest_text(&left, from), to_folder,
                          nw_guest_text(&right, to));

    nw_guest_text_done(&left);
    nw_guest_text_done(&right);
    return result;
}

NW_LIBC(int, fstatat, (int folder, const char *path, struct stat *to, int flags))
{
    struct nw_guest_text copy;
    struct stat own;
    int result = fstatat(folder, nw_guest_text(&copy, path), &own, flags);

    nw_guest_text_done(&copy);
    if (result == 0) {
        nw_guest_put(to, &own, sizeof own);
    }
    return result;
}
NW_LIBC_ALIAS(int, fstatat64, fstatat,
              (int folder, const char *path, struct stat *to, int flags));

NW_LIBC(int, statvfs, (const char *path, struct statvfs *to))
{
    struct nw_guest_text copy;
    struct statvfs own;
    int result = statvfs(nw_guest_text(&copy, path), &own);

    nw_guest_text_done(&copy);
    if (result == 0) {
        nw_guest_put(to, &own, sizeof own);
    }
    return result;
}

NW_LIBC_ALIAS(int, statvfs64, statvfs, (const char *path, struct statvfs *to));

NW_LIBC(int, utimensat, (int folder, const char *path, const struct timespec from[2], int flags))
{
    struct nw_guest_text copy;
    struct timespec own[2];
    const struct timespec *times = nw_guest_get_or_null(own, from, sizeof own);
    int result = utimensat(folder, nw_guest_text(&copy, path), times, flags);

    nw_guest_text_done(&copy);
    return result;
}

NW_LIBC(int, futimens, (int file, const struct timespec from[2]))
{
    struct timespec own[2];

    return futimens(file, nw_guest_get_or_null(own, from, sizeof own));
}

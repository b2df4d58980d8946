/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wrap.c - the libc calls `nandwich run` listens to, by the linker's --wrap=NAME: those that change
 * files (told to track.h) and those that end or replace a program without atexit() (told to end.h;
 * all of exec's wrappers in ports/guest come down to the two here). Each does
 * exactly what the call would have done.
 */
#include "end.h"
#include "track.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>

FILE *__real_fopen(const char *path, const char *mode);
FILE *__real_fopen64(const char *path, const char *mode);
FILE *__real_freopen(const char *path, const char *mode, FILE *file);
FILE *__real_freopen64(const char *path, const char *mode, FILE *file);
int __real_open(const char *path, int flags, ...);
int __real_open64(const char *path, int flags, ...);
int __real_openat(int directory, const char *path, int flags, ...);
int __real_openat64(int directory, const char *path, int flags, ...);
int __real_creat(const char *path, mode_t mode);
int __real_creat64(const char *path, mode_t mode);
int __real_remove(const char *path);
int __real_unlink(const char *path);
int __real_rename(const char *from, const char *to);
int __real_truncate(const char *path, off_t length);
int __real_truncate64(const char *path, off_t length);
int __real_unlinkat(int directory, const char *path, int flags);
int __real_renameat(int from_directory, const char *from, int to_directory, const char *to);
int __real_mkdir(const char *path, mode_t mode);
int __real_mkdirat(int directory, const char *path, mode_t mode);
int __real_rmdir(const char *path);
int __real_mkfifo(const char *path, mode_t mode);
int __real_link(const char *from, const char *to);
int __real_symlink(const char *target, const char *path);
int __real_chmod(const char *path, mode_t mode);
int __real_fchmodat(int directory, const char *path, mode_t mode, int flags);
int __real_mkstemp(char *name);
int __real_mkstemp64(char *name);
int __real_mkostemp(char *name, int flags);
int __real_mkostemp64(char *name, int flags);
int __real_mkstemps(char *name, int behind);
int __real_mkstemps64(char *name, int behind);
int __real_mkostemps(char *name, int behind, int flags);
int __real_mkostemps64(char *name, int behind, int flags);
char *__real_mkdtemp(char *name);
int __real_execve(const char *path, char *const arguments[], char *const environment[]);
int __real_execvpe(const char *path, char *const arguments[], char *const environment[]);
_Noreturn void __real__exit(int status);
_Noreturn void __real__Exit(int status);
_Noreturn void __real_quick_exit(int status);

FILE *__wrap_fopen(const char *path, const char *mode);
FILE *__wrap_fopen64(const char *path, const char *mode);
FILE *__wrap_freopen(const char *path, const char *mode, FILE *file);
FILE *__wrap_freopen64(const char *path, const char *mode, FILE *file);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...);
int __wrap_openat(int directory, const char *path, int flags, ...);
int __wrap_openat64(int directory, const char *path, int flags, ...);
int __wrap_creat(const char *path, mode_t mode);
int __wrap_creat64(const char *path, mode_t mode);
int __wrap_remove(const char *path);
int __wrap_unlink(const char *path);
int __wrap_rename(const char *from, const char *to);
int __wrap_truncate(const char *path, off_t length);
int __wrap_truncate64(const char *path, off_t length);
int __wrap_unlinkat(int directory, const char *path, int flags);
int __wrap_renameat(int from_directory, const char *from, int to_directory, const char *to);
int __wrap_mkdir(const char *path, mode_t mode);
int __wrap_mkdirat(int directory, const char *path, mode_t mode);
int __wrap_rmdir(const char *path);
int __wrap_mkfifo(const char *path, mode_t mode);
int __wrap_link(const char *from, const char *to);
int __wrap_symlink(const char *target, const char *path);
int __wrap_chmod(const char *path, mode_t mode);
int __wrap_fchmodat(int directory, const char *path, mode_t mode, int flags);
int __wrap_mkstemp(char *name);
int __wrap_mkstemp64(char *name);
int __wrap_mkostemp(char *name, int flags);
int __wrap_mkostemp64(char *name, int flags);
int __wrap_mkstemps(char *name, int behind);
int __wrap_mkstemps64(char *name, int behind);
int __wrap_mkostemps(char *name, int behind, int flags);
int __wrap_mkostemps64(char *name, int behind, int flags);
char *__wrap_mkdtemp(char *name);
int __wrap_execve(const char *path, char *const arguments[], char *const environment[]);
int __wrap_execvpe(const char *path, char *const arguments[], char *const environment[]);
_Noreturn void __wrap__exit(int status);
_Noreturn void __wrap__Exit(int status);
_Noreturn void __wrap_quick_exit(int status);

static void by_mode(const char *path, const char *mode)
{
    if (mode != NULL && strpbrk(mode, "wa+") != NULL) {
        nw_host_track(AT_FDCWD, path);
    }
}

static void by_flags(int directory, const char *path, int flags)
{
    if ((flags & O_ACCMODE) != O_RDONLY || (flags & (O_CREAT | O_TRUNC)) != 0) {
        nw_host_track(directory, path);
    }
}

/* open() has a third argument only where it may create a file. */
static int takes_mode(int flags)
{
    return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
}

FILE *__wrap_fopen(const char *path, const char *mode)
{
    by_mode(path, mode);
    return __real_fopen(path, mode);
}

FILE *__wrap_fopen64(const char *path, const char *mode)
{
    by_mode(path, mode);
    return __real_fopen64(path, mode);
}

FILE *__wrap_freopen(const char *path, const char *mode, FILE *file)
{
    by_mode(path, mode);
    return __real_freopen(path, mode, file);
}

FILE *__wrap_freopen64(const char *path, const char *mode, FILE *file)
{
    by_mode(path, mode);
    return __real_freopen64(path, mode, file);
}

#define NW_MODE_ARGUMENT(mode)                                                                     \
    mode_t mode = 0;                                                                               \
    if (takes_mode(flags)) {                                                                       \
        va_list arguments;                                                                         \
        va_start(arguments, flags);                                                                \
        mode = va_arg(arguments, mode_t);                                                          \
        va_end(arguments);                                                                         \
    }

int __wrap_open(const char *path, int flags, ...)
{
    NW_MODE_ARGUMENT(mode)
    by_flags(AT_FDCWD, path, flags);
    return __real_open(path, flags, mode);
}

int __wrap_open64(const char *path, int flags, ...)
{
    NW_MODE_ARGUMENT(mode)
    by_flags(AT_FDCWD, path, flags);
    return __real_open64(path, flags, mode);
}

int __wrap_openat(int directory, const char *path, int flags, ...)
{
    NW_MODE_ARGUMENT(mode)
    by_flags(directory, path, flags);
    return __real_openat(directory, path, flags, mode);
}

int __wrap_openat64(int directory, const char *path, int flags, ...)
{
    NW_MODE_ARGUMENT(mode)
    by_flags(directory, path, flags);
    return __real_openat64(directory, path, flags, mode);
}

int __wrap_creat(const char *path, mode_t mode)
{
    nw_host_track(AT_FDCWD, path);
    return __real_creat(path, mode);
}

int __wrap_creat64(const char *path, mode_t mode)
{
    nw_host_track(AT_FDCWD, path);
    return __real_creat64(path, mode);
}

/* A call that changes what lies at one name. */
#define NW_CHANGES(name, parameters, directory, path, call)                                        \
    int __wrap_##name parameters                                                                   \
    {                                                                                              \
        nw_host_track(directory, path);                                                            \
        return call;                                                                               \
    }

NW_CHANGES(remove, (const char *path), AT_FDCWD, path, __real_remove(path))
NW_CHANGES(unlink, (const char *path), AT_FDCWD, path, __real_unlink(path))
NW_CHANGES(unlinkat, (int directory, const char *path, int flags), directory, path,
           __real_unlinkat(directory, path, flags))
NW_CHANGES(truncate, (const char *path, off_t length), AT_FDCWD, path,
           __real_truncate(path, length))
NW_CHANGES(truncate64, (const char *path, off_t length), AT_FDCWD, path,
           __real_truncate64(path, length))
NW_CHANGES(mkdir, (const char *path, mode_t mode), AT_FDCWD, path, __real_mkdir(path, mode))
NW_CHANGES(mkdirat, (int directory, const char *path, mode_t mode), directory, path,
           __real_mkdirat(directory, path, mode))
NW_CHANGES(rmdir, (const char *path), AT_FDCWD, path, __real_rmdir(path))
NW_CHANGES(mkfifo, (const char *path, mode_t mode), AT_FDCWD, path, __real_mkfifo(path, mode))
NW_CHANGES(link, (const char *from, const char *to), AT_FDCWD, to, __real_link(from, to))
NW_CHANGES(symlink, (const char *target, const char *path), AT_FDCWD, path,
           __real_symlink(target, path))
NW_CHANGES(chmod, (const char *path, mode_t mode), AT_FDCWD, path, __real_chmod(path, mode))
NW_CHANGES(fchmodat, (int directory, const char *path, mode_t mode, int flags), directory, path,
           __real_fchmodat(directory, path, mode, flags))

int __wrap_rename(const char *from, const char *to)
{
    nw_host_track(AT_FDCWD, from);
    nw_host_track(AT_FDCWD, to);
    return __real_rename(from, to);
}

int __wrap_renameat(int from_directory, const char *from, int to_directory, const char *to)
{
    nw_host_track(from_directory, from);
    nw_host_track(to_directory, to);
    return __real_renameat(from_directory, from, to_directory, to);
}

/* A call that makes a file and chooses its name: what was there before is known without a look. */
#define NW_CHOOSES_NAME(function, parameters, call)                                                \
    int __wrap_##function parameters                                                               \
    {                                                                                              \
        int file = call;                                                                           \
                                                                                                   \
        if (file >= 0) {                                                                           \
            nw_host_track_random(name);                                                            \
        }                                                                                          \
        return file;                                                                               \
    }

NW_CHOOSES_NAME(mkstemp, (char *name), __real_mkstemp(name))
NW_CHOOSES_NAME(mkstemp64, (char *name), __real_mkstemp64(name))
NW_CHOOSES_NAME(mkostemp, (char *name, int flags), __real_mkostemp(name, flags))
NW_CHOOSES_NAME(mkostemp64, (char *name, int flags), __real_mkostemp64(name, flags))
NW_CHOOSES_NAME(mkstemps, (char *name, int behind), __real_mkstemps(name, behind))
NW_CHOOSES_NAME(mkstemps64, (char *name, int behind), __real_mkstemps64(name, behind))
NW_CHOOSES_NAME(mkostemps, (char *name, int behind, int flags),
                __real_mkostemps(name, behind, flags))
NW_CHOOSES_NAME(mkostemps64, (char *name, int behind, int flags),
                __real_mkostemps64(name, behind, flags))

char *__wrap_mkdtemp(char *name)
{
    char *made = __real_mkdtemp(name);

    if (made != NULL) {
        nw_host_track_random(made);
    }
    return made;
}

int __wrap_execve(const char *path, char *const arguments[], char *const environment[])
{
    nw_host_replaced();
    return __real_execve(path, arguments, environment);
}

int __wrap_execvpe(const char *path, char *const arguments[], char *const environment[])
{
    nw_host_replaced();
    return __real_execvpe(path, arguments, environment);
}

_Noreturn void __wrap__exit(int status)
{
    nw_host_end();
    __real__exit(status);
}

_Noreturn void __wrap__Exit(int status)
{
    nw_host_end();
    __real__Exit(status);
}

_Noreturn void __wrap_quick_exit(int status)
{
    nw_host_end();
    __real_quick_exit(status);
}

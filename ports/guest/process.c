/* SPDX-License-Identifier: Apache-2.0 */
/* process.c - starting other programs and waiting for them, limits, sets of signals. */
#include "internal.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static void *host_memory(void *block, size_t bytes)
{
    void *larger = realloc(block, bytes);

    if (larger == NULL) {
        nw_guest_refuse("out of host memory while starting a program");
    }
    return larger;
}

/* A list of strings up to its NULL, all of it plain; free_list() takes it back. */
static char **take_list(char *const *from)
{
    char **list = NULL;
    size_t count = 0;
    char *one;

    if (from == NULL) {
        return NULL;
    }
    do {
        nw_guest_get(&one, from + count, sizeof one);
        list = host_memory(list, (count + 1) * sizeof *list);
        if (one != NULL) {
            size_t bytes = nw_guest_strlen(one, SIZE_MAX) + 1;
            char *copy = host_memory(NULL, bytes);

            nw_guest_get(copy, one, bytes);
            one = copy;
        }
        list[count++] = one;
    } while (one != NULL);
    return list;
}

static void free_list(char **list)
{
    for (size_t i = 0; list != NULL && list[i] != NULL; i++) {
        free(list[i]);
    }
    free(list);
}

typedef int (*starter)(const char *, char *const *, char *const *);

/* Comes back only when the program cannot be started. */
static int replace(starter start, const char *path, char *const *arguments,
                   char *const *environment)
{
    struct nw_guest_text copy;
    char **list = take_list(arguments), **words = take_list(environment);
    int result = start(nw_guest_text(&copy, path), list, words);
    int error = errno;

    nw_guest_text_done(&copy);
    free_list(list);
    free_list(words);
    errno = error;
    return result;
}

NW_LIBC(int, execve, (const char *path, char *const arguments[], char *const environment[]))
{
    return replace(execve, path, arguments, environment);
}

NW_LIBC(int, execvpe, (const char *path, char *const arguments[], char *const environment[]))
{
    return replace(execvpe, path, arguments, environment);
}

NW_LIBC(int, execv, (const char *path, char *const arguments[]))
{
    return replace(execve, path, arguments, environ);
}

NW_LIBC(int, execvp, (const char *path, char *const arguments[]))
{
    return replace(execvpe, path, arguments, environ);
}

/* The arguments of execl() and its kind up to their NULL. */
static int replace_listed(starter start, const char *path, const char *first, va_list list,
                          int has_environment)
{
    size_t count = 0;
    char **arguments = host_memory(NULL, sizeof *arguments);

    arguments[0] = (char *)(uintptr_t)first;
    while (arguments[count] != NULL) {
        count++;
        arguments = host_memory(arguments, (count + 1) * sizeof *arguments);
        arguments[count] = va_arg(list, char *);
    }
    int result =
        replace(start, path, arguments, has_environment ? va_arg(list, char *const *) : environ);
    free(arguments);
    return result;
}

#define NW_EXEC_LIST(name, start, has_environment)                                                 \
    NW_LIBC(int, name, (const char *path, const char *first, ...))                                 \
    {                                                                                              \
        va_list list;                                                                              \
                                                                                                   \
        va_start(list, first);                                                                     \
        int result = replace_listed(start, path, first, list, has_environment);                    \
        va_end(list);                                                                              \
        return result;                                                                             \
    }

NW_EXEC_LIST(execl, execve, 0)
NW_EXEC_LIST(execlp, execvpe, 0)
NW_EXEC_LIST(execle, execve, 1)

typedef int (*spawner)(pid_t *, const char *, const posix_spawn_file_actions_t *,
                       const posix_spawnattr_t *, char *const *, char *const *);

/* The two structs point to the library's own memory. */
static int spawn(spawner start, pid_t *process, const char *path,
                 const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes,
                 char *const *arguments, char *const *environment)
{
    struct nw_guest_text copy;
    posix_spawn_file_actions_t own_actions;
    posix_spawnattr_t own_attributes;
    char **list = take_list(arguments), **words = take_list(environment);
    pid_t own = 0;

    nw_guest_map_save();
    int result = start(&own, nw_guest_text(&copy, path),
                       nw_guest_get_or_null(&own_actions, actions, sizeof own_actions),
                       nw_guest_get_or_null(&own_attributes, attributes, sizeof own_attributes),
                       list, words);

    nw_guest_text_done(&copy);
    free_list(list);
    free_list(words);
    if (result == 0) {
        nw_guest_put_or_null(process, &own, sizeof own);
    }
    return result;
}

#define NW_SPAWN(name)                                                                             \
    NW_LIBC(int, name,                                                                             \
            (pid_t * process, const char *path, const posix_spawn_file_actions_t *actions,         \
             const posix_spawnattr_t *attributes, char *const arguments[],                         \
             char *const environment[]))                                                           \
    {                                                                                              \
        return spawn(name, process, path, actions, attributes, arguments, environment);            \
    }

NW_SPAWN(posix_spawn)
NW_SPAWN(posix_spawnp)

NW_LIBC(pid_t, fork, (void))
{
    nw_guest_map_save();
    return fork();
}

/* A child of vfork() would run on this function's stack; a copy of the process does as well. */
NW_LIBC_ALIAS(pid_t, vfork, fork, (void));

NW_LIBC(pid_t, wait4, (pid_t process, int *to, int options, struct rusage *used))
{
    struct rusage own;
    int status = 0;
    pid_t result = wait4(process, &status, options, &own);

    if (result > 0) {
        nw_guest_put_or_null(to, &status, sizeof status);
        nw_guest_put_or_null(used, &own, sizeof own);
    }
    nw_guest_deliver();
    return result;
}

NW_LIBC(pid_t, wait3, (int *to, int options, struct rusage *used))
{
    return nw_libc_wait4(-1, to, options, used);
}

NW_LIBC(pid_t, wait, (int *to))
{
    return nw_libc_wait4(-1, to, 0, NULL);
}

NW_LIBC(int, pipe2, (int to[2], int flags))
{
    int own[2];
    int result = pipe2(own, flags);

    if (result == 0) {
        nw_guest_put(to, own, sizeof own);
    }
    return result;
}

/* The library keeps the string itself; it gets a plain one that stays. */
NW_LIBC(int, putenv, (char *text))
{
    if (!nw_guest_is_virtual(text)) {
        return putenv(text);
    }
    size_t bytes = nw_guest_strlen(text, SIZE_MAX) + 1;
    char *kept = host_memory(NULL, bytes);

    nw_guest_get(kept, text, bytes);
    return putenv(kept);
}

NW_LIBC(int, getrlimit, (int resource, struct rlimit *to))
{
    struct rlimit own;
    int result = getrlimit((__rlimit_resource_t)resource, &own);

    if (result == 0) {
        nw_guest_put(to, &own, sizeof own);
    }
    return result;
}

NW_LIBC_ALIAS(int, getrlimit64, getrlimit, (int resource, struct rlimit *to));

NW_LIBC(int, setrlimit, (int resource, const struct rlimit *from))
{
    struct rlimit own;

    nw_guest_get(&own, from, sizeof own);
    return setrlimit((__rlimit_resource_t)resource, &own);
}

NW_LIBC_ALIAS(int, setrlimit64, setrlimit, (int resource, const struct rlimit *from));

NW_LIBC(int, setitimer, (int which, const struct itimerval *from, struct itimerval *old))
{
    struct itimerval own, before;

    nw_guest_get(&own, from, sizeof own);
    int result = setitimer((__itimer_which_t)which, &own, &before);
    if (result == 0) {
        nw_guest_put_or_null(old, &before, sizeof before);
    }
    return result;
}

NW_LIBC(ssize_t, getrandom, (void *to, size_t bytes, unsigned flags))
{
    uint8_t own[256]; /* so many come whole */
    size_t done = 0;
    ssize_t n = 1;

    while (done < bytes && n > 0) {
        n = getrandom(own, bytes - done < sizeof own ? bytes - done : sizeof own, flags);
        if (n > 0) {
            nw_guest_put((uint8_t *)to + done, own, (size_t)n);
            done += (size_t)n;
        }
    }
    return done > 0 || n > 0 ? (ssize_t)done : n;
}

NW_LIBC(int, getentropy, (void *to, size_t bytes))
{
    uint8_t own[256]; /* the most there may be asked for */
    int result = getentropy(own, bytes);

    if (result == 0) {
        nw_guest_put(to, own, bytes);
    }
    return result;
}

NW_BY_COPY(int, sigemptyset, (sigset_t * set), sigset_t, set, sigemptyset(&own))
NW_BY_COPY(int, sigfillset, (sigset_t * set), sigset_t, set, sigfillset(&own))
NW_BY_COPY(int, sigaddset, (sigset_t * set, int number), sigset_t, set, sigaddset(&own, number))
NW_BY_COPY(int, sigdelset, (sigset_t * set, int number), sigset_t, set, sigdelset(&own, number))

NW_LIBC(int, sigismember, (const sigset_t *set, int number))
{
    sigset_t own;

    nw_guest_get(&own, set, sizeof own);
    return sigismember(&own, number);
}

NW_LIBC(int, sigprocmask, (int how, const sigset_t *from, sigset_t *old))
{
    sigset_t own, before;
    int result = sigprocmask(how, nw_guest_get_or_null(&own, from, sizeof own), &before);

    if (result == 0) {
        nw_guest_put_or_null(old, &before, sizeof before);
    }
    nw_guest_deliver();
    return result;
}

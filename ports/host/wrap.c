/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wrap.c - the libc calls that end or replace a program without atexit(), heard by the linker's
 * --wrap=NAME and told to end.h (all of exec's wrappers in ports/guest come down to the two here).
 * Each does exactly what the call would have done.
 */
#include "end.h"

int __real_execve(const char *path, char *const arguments[], char *const environment[]);
int __real_execvpe(const char *path, char *const arguments[], char *const environment[]);
_Noreturn void __real__exit(int status);
_Noreturn void __real__Exit(int status);
_Noreturn void __real_quick_exit(int status);

int __wrap_execve(const char *path, char *const arguments[], char *const environment[]);
int __wrap_execvpe(const char *path, char *const arguments[], char *const environment[]);
_Noreturn void __wrap__exit(int status);
_Noreturn void __wrap__Exit(int status);
_Noreturn void __wrap_quick_exit(int status);

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

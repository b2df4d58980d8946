/* SPDX-License-Identifier: Apache-2.0 */
/* files.c - what newlib and picolibc ask of a system, handed to the host: files, time, memory. */
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/types.h>
#include <time.h>

#include "device.h"

#if defined(__arm__)
#define SYSTEM(name) _##name /* as newlib calls them */
#else
#define SYSTEM(name) name
#endif

int SYSTEM(open)(const char *name, int flags, ...);
int SYSTEM(close)(int file);
int SYSTEM(read)(int file, void *to, size_t bytes);
int SYSTEM(write)(int file, const void *from, size_t bytes);
off_t SYSTEM(lseek)(int file, off_t offset, int from);
int SYSTEM(fstat)(int file, struct stat *to);
int SYSTEM(isatty)(int file);
int SYSTEM(unlink)(const char *name);
int SYSTEM(rename)(const char *name, const char *other);
int SYSTEM(kill)(int process, int signal);
int SYSTEM(getpid)(void);
void *SYSTEM(sbrk)(ptrdiff_t bytes);
_Noreturn void _exit(int status);

static int32_t ask(enum board_call call, uintptr_t a, uintptr_t b, uintptr_t c)
{
    int32_t answer = device_call(call, a, b, c);

    if (answer < 0) {
        errno = (int)DEVICE_REGISTERS[BOARD_ERROR];
    }
    return answer;
}

int SYSTEM(open)(const char *name, int flags, ...)
{
    va_list list;

    va_start(list, flags);
    int mode = va_arg(list, int);
    va_end(list);
    return ask(CALL_OPEN, (uintptr_t)name, (uintptr_t)flags, (uintptr_t)mode);
}

int SYSTEM(close)(int file)
{
    return ask(CALL_CLOSE, (uintptr_t)file, 0, 0);
}

int SYSTEM(read)(int file, void *to, size_t bytes)
{
    return ask(CALL_READ, (uintptr_t)file, (uintptr_t)to, bytes);
}

int SYSTEM(write)(int file, const void *from, size_t bytes)
{
    return ask(CALL_WRITE, (uintptr_t)file, (uintptr_t)from, bytes);
}

off_t SYSTEM(lseek)(int file, off_t offset, int from)
{
    return ask(CALL_SEEK, (uintptr_t)file, (uintptr_t)offset, (uintptr_t)from);
}

int SYSTEM(fstat)(int file, struct stat *to)
{
    int32_t kind = ask(CALL_KIND, (uintptr_t)file, 0, 0);

    if (kind < 0) {
        return -1;
    }
    *to = (struct stat){.st_mode = kind == 1 ? S_IFREG : S_IFIFO, .st_blksize = 1024};
    if (kind == 1) {
        int32_t at = ask(CALL_SEEK, (uintptr_t)file, 0, SEEK_CUR);

        to->st_size = ask(CALL_SEEK, (uintptr_t)file, 0, SEEK_END);
        (void)ask(CALL_SEEK, (uintptr_t)file, (uintptr_t)at, SEEK_SET);
    }
    return 0;
}

/* Never: what a terminal shows does not depend on how the C library buffers. */
int SYSTEM(isatty)(int file)
{
    (void)file;
    errno = ENOTTY;
    return 0;
}

int SYSTEM(unlink)(const char *name)
{
    return ask(CALL_REMOVE, (uintptr_t)name, 0, 0);
}

int SYSTEM(rename)(const char *name, const char *other)
{
    return ask(CALL_RENAME, (uintptr_t)name, (uintptr_t)other, 0);
}

#if defined(__arm__)
/* newlib's own makes a link and removes the old name. */
int rename(const char *name, const char *other)
{
    return SYSTEM(rename)(name, other);
}
#endif

/* The C library sends signals to the one program there is: abort() and raise(). */
int SYSTEM(kill)(int process, int signal)
{
    (void)process;
    _exit(128 + signal);
}

int SYSTEM(getpid)(void)
{
    return 1;
}

void *SYSTEM(sbrk)(ptrdiff_t bytes)
{
    static uint8_t *at, *end;
    uint8_t *before;

    if (at == NULL) {
        size_t left = device_ram_left(&at);
        end = at + left;
        device_ram_take(left);
    }
    before = at;
    if (bytes > end - at) {
        errno = ENOMEM;
        return (void *)-1;
    }
    at += bytes;
    return before;
}

int SYSTEM(gettimeofday)(struct timeval *to, void *zone);
int SYSTEM(gettimeofday)(struct timeval *to, void *zone)
{
    (void)zone;
    *to = (struct timeval){.tv_sec = device_call(CALL_SECONDS, 0, 0, 0)};
    return 0;
}

/* The board's own time: what the processor and the bus took. */
clock_t clock(void)
{
    return (uint32_t)device_call(CALL_CLOCK, (uintptr_t)CLOCKS_PER_SEC, 0, 0);
}

#if defined(__arm__)
/* What newlib's exit() calls behind the destructors. */
void _fini(void);
void _fini(void)
{
}
#endif

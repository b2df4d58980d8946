/* SPDX-License-Identifier: Apache-2.0 */
/* time.c - <time.h> and its relatives: small structs in and out. */
#include "internal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>
#include <utime.h>

static void give(void *to, const void *from, size_t bytes)
{
    if (to != NULL) {
        nw_guest_put(to, from, bytes);
    }
}

NW_LIBC(time_t, time, (time_t * to))
{
    time_t now = time(NULL);

    give(to, &now, sizeof now);
    return now;
}

NW_LIBC(struct tm *, localtime, (const time_t *from))
{
    time_t at;

    nw_guest_get(&at, from, sizeof at);
    return localtime(&at);
}

NW_LIBC(struct tm *, gmtime, (const time_t *from))
{
    time_t at;

    nw_guest_get(&at, from, sizeof at);
    return gmtime(&at);
}

NW_LIBC(struct tm *, localtime_r, (const time_t *from, struct tm *to))
{
    time_t at;
    struct tm broken;

    nw_guest_get(&at, from, sizeof at);
    if (localtime_r(&at, &broken) == NULL) {
        return NULL;
    }
    nw_guest_put(to, &broken, sizeof broken);
    return to;
}

NW_LIBC(struct tm *, gmtime_r, (const time_t *from, struct tm *to))
{
    time_t at;
    struct tm broken;

    nw_guest_get(&at, from, sizeof at);
    if (gmtime_r(&at, &broken) == NULL) {
        return NULL;
    }
    nw_guest_put(to, &broken, sizeof broken);
    return to;
}

NW_LIBC(time_t, mktime, (struct tm * broken))
{
    struct tm own;

    nw_guest_get(&own, broken, sizeof own);
    time_t at = mktime(&own);
    nw_guest_put(broken, &own, sizeof own);
    return at;
}
NW_LIBC_ALIAS(time_t, timelocal, mktime, (struct tm * broken));

NW_LIBC(time_t, timegm, (struct tm * broken))
{
    struct tm own;

    nw_guest_get(&own, broken, sizeof own);
    time_t at = timegm(&own);
    nw_guest_put(broken, &own, sizeof own);
    return at;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

/* No text is longer than this. */
#define TIME_BYTES 65536U

/* Text that does not fit leaves what was made of it, so all the memory goes there and back. */
NW_LIBC(size_t, strftime, (char *to, size_t bytes, const char *format, const struct tm *from))
{
    struct nw_guest_text copy;
    struct tm own;
    char some[512], *text = some;
    size_t room = bytes < TIME_BYTES ? bytes : TIME_BYTES;

    if (room > sizeof some) {
        text = malloc(room);
        if (text == NULL) {
            nw_guest_refuse("out of host memory in strftime");
        }
    }
    nw_guest_get(&own, from, sizeof own);
    nw_guest_get(text, to, room);
    size_t n = strftime(text, room, nw_guest_text(&copy, format), &own);
    nw_guest_text_done(&copy);
    nw_guest_put(to, text, n > 0 ? n + 1 : room);
    if (text != some) {
        free(text);
    }
    return n;
}

#pragma GCC diagnostic pop

NW_LIBC(char *, asctime, (const struct tm *from))
{
    struct tm own;

    nw_guest_get(&own, from, sizeof own);
    return asctime(&own);
}

NW_LIBC(char *, ctime, (const time_t *from))
{
    time_t at;

    nw_guest_get(&at, from, sizeof at);
    return ctime(&at);
}

NW_LIBC(char *, asctime_r, (const struct tm *from, char *to))
{
    struct tm own;
    char text[64];

    nw_guest_get(&own, from, sizeof own);
    if (asctime_r(&own, text) == NULL) {
        return NULL;
    }
    nw_guest_put(to, text, strlen(text) + 1);
    return to;
}

NW_LIBC(char *, ctime_r, (const time_t *from, char *to))
{
    struct tm own;
    time_t at;

    nw_guest_get(&at, from, sizeof at);
    return localtime_r(&at, &own) == NULL ? NULL : nw_libc_asctime_r(&own, to);
}

NW_LIBC(char *, strptime, (const char *from, const char *format, struct tm *to))
{
    struct nw_guest_text text, shape;
    struct tm own;
    const char *plain = nw_guest_text(&text, from);

    nw_guest_get(&own, to, sizeof own);
    const char *end = strptime(plain, nw_guest_text(&shape, format), &own);
    char *result = end == NULL ? NULL : (char *)(uintptr_t)(from + (end - plain));
    nw_guest_put(to, &own, sizeof own);
    nw_guest_text_done(&text);
    nw_guest_text_done(&shape);
    return result;
}

NW_LIBC(int, timespec_get, (struct timespec * to, int base))
{
    struct timespec now;
    int result = timespec_get(&now, base);

    if (result != 0) {
        nw_guest_put(to, &now, sizeof now);
    }
    return result;
}

NW_LIBC(int, gettimeofday, (struct timeval * to, void *zone))
{
    struct timeval now;
    int result = gettimeofday(&now, NULL);

    (void)zone; /* obsolete: the host fills in zeros */
    give(to, &now, sizeof now);
    return result;
}

NW_LIBC(int, clock_gettime, (clockid_t clock, struct timespec *to))
{
    struct timespec now;
    int result = clock_gettime(clock, &now);

    if (result == 0) {
        nw_guest_put(to, &now, sizeof now);
    }
    return result;
}

NW_LIBC(int, clock_getres, (clockid_t clock, struct timespec *to))
{
    struct timespec step;
    int result = clock_getres(clock, &step);

    if (result == 0) {
        give(to, &step, sizeof step);
    }
    return result;
}

NW_LIBC(int, nanosleep, (const struct timespec *from, struct timespec *left))
{
    struct timespec want, rest = {0, 0};

    nw_guest_get(&want, from, sizeof want);
    int result = nanosleep(&want, &rest);
    if (result != 0) {
        give(left, &rest, sizeof rest);
    }
    nw_guest_deliver();
    return result;
}

NW_LIBC(unsigned, sleep, (unsigned seconds))
{
    unsigned left = sleep(seconds);

    nw_guest_deliver();
    return left;
}

NW_LIBC(int, usleep, (useconds_t us))
{
    int result = usleep(us);

    nw_guest_deliver();
    return result;
}

NW_LIBC(int, utime, (const char *path, const struct utimbuf *from))
{
    struct nw_guest_text copy;
    struct utimbuf own;

    if (from != NULL) {
        nw_guest_get(&own, from, sizeof own);
    }
    int result = utime(nw_guest_text(&copy, path), from != NULL ? &own : NULL);
    nw_guest_text_done(&copy);
    return result;
}

NW_LIBC(int, utimes, (const char *path, const struct timeval from[2]))
{
    struct nw_guest_text copy;
    struct timeval own[2];

    if (from != NULL) {
        nw_guest_get(own, from, sizeof own);
    }
    int result = utimes(nw_guest_text(&copy, path), from != NULL ? own : NULL);
    nw_guest_text_done(&copy);
    return result;
}

NW_LIBC(int, getrusage, (int who, struct rusage *to))
{
    struct rusage used;
    int result = getrusage(who, &used);

    if (result == 0) {
        nw_guest_put(to, &used, sizeof used);
    }
    return result;
}

NW_LIBC(clock_t, times, (struct tms * to))
{
    struct tms used;
    clock_t now = times(&used);

    give(to, &used, sizeof used);
    return now;
}

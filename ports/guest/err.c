/* SPDX-License-Identifier: Apache-2.0 */
/* err.c - <err.h> and <error.h>: a message for people on stderr, and perhaps the end. */
#include "internal.h"

#include <errno.h>
#include <error.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int nw_libc_vfprintf(FILE *file, const char *format, va_list list);

static void say(int error, int with_error, const char *format, va_list list)
{
    fflush(stdout);
    fprintf(stderr, "%s: ", program_invocation_short_name);
    if (format != NULL) {
        nw_libc_vfprintf(stderr, format, list);
    }
    if (with_error) {
        fprintf(stderr, "%s%s", format != NULL ? ": " : "", strerror(error));
    }
    putc('\n', stderr);
}

NW_LIBC(void, vwarn, (const char *format, va_list list))
{
    say(errno, 1, format, list);
}

NW_LIBC(void, vwarnx, (const char *format, va_list list))
{
    say(0, 0, format, list);
}

NW_LIBC(void, verr, (int status, const char *format, va_list list))
{
    say(errno, 1, format, list);
    exit(status);
}

NW_LIBC(void, verrx, (int status, const char *format, va_list list))
{
    say(0, 0, format, list);
    exit(status);
}

#define NW_SAY(name, parameters, call)                                                             \
    NW_LIBC(void, name, parameters)                                                                \
    {                                                                                              \
        va_list list;                                                                              \
                                                                                                   \
        va_start(list, format);                                                                    \
        call;                                                                                      \
        va_end(list);                                                                              \
    }

NW_SAY(warn, (const char *format, ...), nw_libc_vwarn(format, list))
NW_SAY(warnx, (const char *format, ...), nw_libc_vwarnx(format, list))
NW_SAY(err, (int status, const char *format, ...), nw_libc_verr(status, format, list))
NW_SAY(errx, (int status, const char *format, ...), nw_libc_verrx(status, format, list))

static void say_error(int status, int number, const char *format, va_list list)
{
    fflush(stdout);
    fprintf(stderr, "%s: ", program_invocation_name);
    nw_libc_vfprintf(stderr, format, list);
    if (number != 0) {
        fprintf(stderr, ": %s", strerror(number));
    }
    putc('\n', stderr);
    error_message_count++;
    if (status != 0) {
        exit(status);
    }
}

NW_SAY(error, (int status, int number, const char *format, ...),
       say_error(status, number, format, list))

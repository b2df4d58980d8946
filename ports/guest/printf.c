/* SPDX-License-Identifier: Apache-2.0 */
/*
 * printf.c - the printf family with virtual formats, strings, targets and %n. Each number is
 * formatted by the host's own snprintf, one conversion at a time, so the text is the host's to the
 * byte; strings are copied here, since only here they can be reached. Numbered arguments (%1$d) end
 * the program with a message.
 */
#include "format.h"
#include "internal.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

/* Where the text goes: a file, a file descriptor, or memory with room for `room` bytes. */
struct sink {
    FILE *file;
    int descriptor;
    char *to;
    size_t room;
    size_t count; /* bytes made so far, also those there was no room for */
    int failed;
    int error;   /* errno as it was */
    size_t kept; /* bytes in piece */
    char piece[512];
};

static void flush(struct sink *sink)
{
    if (sink->kept == 0) {
        return;
    }
    if (sink->file != NULL) {
        sink->failed |= fwrite(sink->piece, 1, sink->kept, sink->file) != sink->kept;
    } else if (sink->to == NULL) {
        sink->failed |=
            write(sink->descriptor, sink->piece, sink->kept) != (ssize_t)sink->kept;
    } else {
        nw_guest_put(sink->to, sink->piece, sink->kept);
        sink->to += sink->kept;
    }
    sink->kept = 0;
}

/* text: plain or virtual. */
static void emit(struct sink *sink, const char *text, size_t n)
{
    sink->count += n;
    if (sink->file == NULL && sink->descriptor < 0) {
        n = n < sink->room ? n : sink->room;
        sink->room -= n;
    }
    while (n > 0) {
        size_t space = sizeof sink->piece - sink->kept;
        size_t now = n < space ? n : space;

        nw_guest_get(sink->piece + sink->kept, text, now);
        sink->kept += now;
        text += now;
        n -= now;
        if (sink->kept == sizeof sink->piece) {
            flush(sink);
        }
    }
}

static void pad(struct sink *sink, size_t n)
{
    static const char spaces[] = "                                ";

    while (n > 0) {
        size_t now = n < sizeof spaces - 1 ? n : sizeof spaces - 1;

        emit(sink, spaces, now);
        n -= now;
    }
}

/* The conversion again with its numbers in place and `rest` behind them. */
static void rebuild_as(const struct nw_conversion *c, const char *rest, char *to, size_t bytes)
{
    char width[16] = "", precision[16] = "";

    if (c->width >= 0) {
        snprintf(width, sizeof width, "%d", c->width);
    }
    if (c->precision >= 0) {
        snprintf(precision, sizeof precision, ".%d", c->precision);
    }
    snprintf(to, bytes, "%%%s%s%s%s", c->flags, width, precision, rest);
}

/* The same with the given length and its own kind. */
static void rebuild(const struct nw_conversion *c, const char *length, char *to, size_t bytes)
{
    char rest[8];

    snprintf(rest, sizeof rest, "%s%c", length, c->kind);
    rebuild_as(c, rest, to, bytes);
}

/* Whether a character or string is of wide ones. The host takes every long length for it. */
static int is_wide(const struct nw_conversion *c)
{
    return c->kind == 'C' || c->kind == 'S' || c->length == NW_LEN_L || c->length == NW_LEN_LL ||
           c->length == NW_LEN_BIG;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

/* One conversion by the host, with its single argument. The text is made a second time where the
 * first found too little room, so the argument must be a value by then: an expression such as
 * va_arg() would be taken twice. */
__attribute__((format(printf, 2, 3))) static void format_one(struct sink *sink, const char *spec,
                                                             ...)
{
    char own[400], *text = own;
    va_list list;

    va_start(list, spec);
    int n = vsnprintf(own, sizeof own, spec, list);
    va_end(list);
    if (n >= (int)sizeof own) {
        text = malloc((size_t)n + 1);
        if (text == NULL) {
            nw_guest_refuse("out of host memory in printf");
        }
        va_start(list, spec);
        vsnprintf(text, (size_t)n + 1, spec, list);
        va_end(list);
    }
    if (n < 0) {
        sink->failed = 1;
    } else {
        emit(sink, text, (size_t)n);
    }
    if (text != own) {
        free(text);
    }
}

static void put_signed(struct sink *sink, const struct nw_conversion *c, struct nw_guest_list *a)
{
    char spec[48];
    long long value;

    switch (c->length) {
    case NW_LEN_HH:
        value = (signed char)va_arg(a->list, int);
        break;
    case NW_LEN_H:
        value = (short)va_arg(a->list, int);
        break;
    case NW_LEN_L:
        value = va_arg(a->list, long);
        break;
    case NW_LEN_LL:
    case NW_LEN_BIG:
        value = va_arg(a->list, long long);
        break;
    default:
        value = va_arg(a->list, int);
        break;
    }
    rebuild(c, "ll", spec, sizeof spec);
    format_one(sink, spec, value);
}

static void put_unsigned(struct sink *sink, const struct nw_conversion *c, struct nw_guest_list *a)
{
    char spec[48];
    unsigned long long value;

    switch (c->length) {
    case NW_LEN_HH:
        value = (unsigned char)va_arg(a->list, unsigned);
        break;
    case NW_LEN_H:
        value = (unsigned short)va_arg(a->list, unsigned);
        break;
    case NW_LEN_L:
        value = va_arg(a->list, unsigned long);
        break;
    case NW_LEN_LL:
    case NW_LEN_BIG:
        value = va_arg(a->list, unsigned long long);
        break;
    default:
        value = va_arg(a->list, unsigned);
        break;
    }
    rebuild(c, "ll", spec, sizeof spec);
    format_one(sink, spec, value);
}

static void put_float(struct sink *sink, const struct nw_conversion *c, struct nw_guest_list *a)
{
    char spec[48];

    if (c->length == NW_LEN_BIG || c->length == NW_LEN_LL) { /* to the host they are one */
        rebuild(c, "L", spec, sizeof spec);
        format_one(sink, spec, va_arg(a->list, long double));
    } else {
        rebuild(c, "", spec, sizeof spec);
        format_one(sink, spec, va_arg(a->list, double));
    }
}

static void put_other(struct sink *sink, const struct nw_conversion *c, struct nw_guest_list *a)
{
    char spec[48];

    if (c->kind == 'p') {
        rebuild(c, "", spec, sizeof spec);
        format_one(sink, spec, va_arg(a->list, void *));
    } else if (is_wide(c)) {
        rebuild(c, "l", spec, sizeof spec);
        format_one(sink, spec, va_arg(a->list, wint_t));
    } else {
        rebuild(c, "", spec, sizeof spec);
        format_one(sink, spec, va_arg(a->list, int));
    }
}

#pragma GCC diagnostic pop

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-security"

/* Wide characters of a string up to its zero, at most limit. */
static wchar_t *plain_wide(const wchar_t *from, size_t limit)
{
    wchar_t *plain = NULL, wide = L' ';

    for (size_t n = 0, room = 0; wide != L'\0'; n++) {
        if (n == room) {
            room = room == 0 ? 64 : 2 * room;
            plain = realloc(plain, room * sizeof *plain);
            if (plain == NULL) {
                nw_guest_refuse("out of host memory in printf");
            }
        }
        wide = L'\0';
        if (n < limit) {
            nw_guest_get(&wide, from + n, sizeof wide);
        }
        plain[n] = wide;
    }
    return plain;
}

static void put_wide(struct sink *sink, const struct nw_conversion *c, const wchar_t *text)
{
    char spec[48];
    /* A character makes at least a byte, and the precision counts bytes. */
    size_t limit = c->precision >= 0 ? (size_t)c->precision : SIZE_MAX;
    wchar_t *plain = text != NULL ? plain_wide(text, limit) : NULL;

    rebuild(c, "l", spec, sizeof spec);
    format_one(sink, spec, plain);
    free(plain);
}

/* The text of errno, as it was when printf was called. */
static void put_error(struct sink *sink, const struct nw_conversion *c)
{
    char spec[48];

    rebuild(c, "", spec, sizeof spec);
    errno = sink->error;
    format_one(sink, spec);
}

/* Another letter takes no argument; what is printed of it the host decides. */
static void put_unknown(struct sink *sink, const struct nw_conversion *c)
{
    char rest[8], spec[48];

    snprintf(rest, sizeof rest, "%.*s", (int)(c->end - c->rest), c->rest);
    rebuild_as(c, rest, spec, sizeof spec);
    format_one(sink, spec);
}

#pragma GCC diagnostic pop

static void put_string(struct sink *sink, const struct nw_conversion *c, const char *text)
{
    size_t limit = c->precision >= 0 ? (size_t)c->precision : SIZE_MAX;
    size_t width = c->width > 0 ? (size_t)c->width : 0;

    if (text == NULL) {
        text = c->precision < 0 || c->precision >= 6 ? "(null)" : "";
    }
    size_t n = nw_guest_strlen(text, limit);
    int left = strchr(c->flags, '-') != NULL;
    if (!left && width > n) {
        pad(sink, width - n);
    }
    emit(sink, text, n);
    if (left && width > n) {
        pad(sink, width - n);
    }
}

static void put_count(const struct sink *sink, const struct nw_conversion *c, void *to)
{
    long long count = (long long)sink->count;
    int as_int = (int)count;
    short as_short = (short)count;
    signed char as_char = (signed char)count;

    switch (nw_length_bytes(c->length)) {
    case sizeof(signed char):
        nw_guest_put(to, &as_char, sizeof as_char);
        break;
    case sizeof(short):
        nw_guest_put(to, &as_short, sizeof as_short);
        break;
    case sizeof(int):
        nw_guest_put(to, &as_int, sizeof as_int);
        break;
    default:
        nw_guest_put(to, &count, sizeof count);
        break;
    }
}

/* Widths given as arguments; a negative one means left-aligned, a negative precision none. */
static void take_stars(struct nw_conversion *c, struct nw_guest_list *a)
{
    if (c->width == -2) {
        c->width = va_arg(a->list, int);
        if (c->width < 0) {
            c->width = c->width > INT_MIN ? -c->width : INT_MAX;
            if (strchr(c->flags, '-') == NULL) {
                c->flags[strlen(c->flags)] = '-';
            }
        }
    }
    if (c->precision == -2) {
        c->precision = va_arg(a->list, int);
    }
}

static void put_conversion(struct sink *sink, struct nw_conversion *c, struct nw_guest_list *a)
{
    take_stars(c, a);
    switch (c->kind) {
    case 'd':
    case 'i':
        put_signed(sink, c, a);
        break;
    case 'b': /* the digits of C23 */
    case 'B':
    case 'o':
    case 'u':
    case 'x':
    case 'X':
        put_unsigned(sink, c, a);
        break;
    case 'a':
    case 'A':
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
        put_float(sink, c, a);
        break;
    case 'c':
    case 'C':
    case 'p':
        put_other(sink, c, a);
        break;
    case 's':
    case 'S':
        if (is_wide(c)) {
            put_wide(sink, c, va_arg(a->list, const wchar_t *));
        } else {
            put_string(sink, c, va_arg(a->list, const char *));
        }
        break;
    case 'n':
        put_count(sink, c, va_arg(a->list, void *));
        break;
    case 'm':
        put_error(sink, c);
        break;
    case '%':
        emit(sink, "%", 1);
        break;
    case '$':
        nw_guest_refuse("printf with numbered arguments (%1$d) is not supported");
    default:
        put_unknown(sink, c);
        break;
    }
}

/* Formats everything; bytes made, or -1. */
static int run(struct sink *sink, const char *format, va_list list)
{
    struct nw_guest_text copy;
    struct nw_conversion conversion;
    struct nw_guest_list arguments;
    const char *at;

    sink->error = errno;
    nw_guest_deliver();
    at = nw_guest_text(&copy, format);
    nw_guest_list_take(&arguments, list);
    while (*at != '\0') {
        size_t plain = strcspn(at, "%");

        emit(sink, at, plain);
        at += plain;
        if (*at == '%') {
            nw_conversion_read(&conversion, at);
            put_conversion(sink, &conversion, &arguments);
            at = conversion.end;
        }
    }
    flush(sink);
    va_end(arguments.list);
    nw_guest_text_done(&copy);
    if (sink->count > INT_MAX) {
        errno = EOVERFLOW;
        return -1;
    }
    return sink->failed ? -1 : (int)sink->count;
}

NW_LIBC(int, vfprintf, (FILE * file, const char *format, va_list list))
{
    struct sink sink = {.file = file, .descriptor = -1};

    return run(&sink, format, list);
}

NW_LIBC(int, vdprintf, (int descriptor, const char *format, va_list list))
{
    struct sink sink = {.descriptor = descriptor};

    return run(&sink, format, list);
}

NW_LIBC(int, vsnprintf, (char *to, size_t bytes, const char *format, va_list list))
{
    struct sink sink = {.descriptor = -1, .to = to, .room = bytes > 0 ? bytes - 1 : 0};
    int n = run(&sink, format, list);

    if (bytes > 0) { /* a text ends also where it failed */
        size_t end = sink.count < bytes ? sink.count : bytes - 1;

        nw_guest_fill(to + end, 0, 1);
    }
    return n;
}

NW_LIBC(int, vsprintf, (char *to, const char *format, va_list list))
{
    return nw_libc_vsnprintf(to, SIZE_MAX, format, list);
}

NW_LIBC(int, vprintf, (const char *format, va_list list))
{
    return nw_libc_vfprintf(stdout, format, list);
}

void *nw_libc_malloc(size_t bytes);

NW_LIBC(int, vasprintf, (char **to, const char *format, va_list list))
{
    int n = nw_libc_vsnprintf(NULL, 0, format, list);
    char *text = n < 0 ? NULL : nw_libc_malloc((size_t)n + 1);

    if (text == NULL) {
        return -1;
    }
    nw_guest_put(to, &text, sizeof text);
    return nw_libc_vsnprintf(text, (size_t)n + 1, format, list);
}

#define NW_VARIADIC(name, parameters, call)                                                        \
    NW_LIBC(int, name, parameters)                                                                 \
    {                                                                                              \
        va_list list;                                                                              \
                                                                                                   \
        va_start(list, format);                                                                    \
        int n = call;                                                                              \
        va_end(list);                                                                              \
        return n;                                                                                  \
    }

NW_VARIADIC(printf, (const char *format, ...), nw_libc_vfprintf(stdout, format, list))
NW_VARIADIC(fprintf, (FILE * file, const char *format, ...), nw_libc_vfprintf(file, format, list))
NW_VARIADIC(dprintf, (int descriptor, const char *format, ...),
            nw_libc_vdprintf(descriptor, format, list))
NW_VARIADIC(sprintf, (char *to, const char *format, ...), nw_libc_vsprintf(to, format, list))
NW_VARIADIC(snprintf, (char *to, size_t bytes, const char *format, ...),
            nw_libc_vsnprintf(to, bytes, format, list))
NW_VARIADIC(asprintf, (char **to, const char *format, ...), nw_libc_vasprintf(to, format, list))

/* What the optimiser makes of calls without floating point. */
NW_LIBC_ALIAS(int, iprintf, printf, (const char *format, ...));
NW_LIBC_ALIAS(int, small_printf, printf, (const char *format, ...));
NW_LIBC_ALIAS(int, fiprintf, fprintf, (FILE * file, const char *format, ...));
NW_LIBC_ALIAS(int, siprintf, sprintf, (char *to, const char *format, ...));

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wide.c - wide strings of <wchar.h> and <wctype.h> over any mix of memory, a character at a time,
 * and as lines of a stream.
 * Comparisons answer -1, 0 or 1, as the host's do.
 */
#include "internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <wchar.h>
#include <wctype.h>

void *nw_libc_malloc(size_t bytes);

static wchar_t get(const wchar_t *at)
{
    wchar_t wide;

    nw_guest_get(&wide, at, sizeof wide);
    return wide;
}

static void put(wchar_t *at, wchar_t wide)
{
    nw_guest_put(at, &wide, sizeof wide);
}

static void copy(wchar_t *to, const wchar_t *from, size_t n)
{
    nw_guest_copy(to, from, n * sizeof *to);
}

NW_LIBC(wchar_t *, wmemcpy, (wchar_t * to, const wchar_t *from, size_t n))
{
    copy(to, from, n);
    return to;
}

NW_LIBC(wchar_t *, wmemmove, (wchar_t * to, const wchar_t *from, size_t n))
{
    copy(to, from, n);
    return to;
}

NW_LIBC(wchar_t *, wmempcpy, (wchar_t * to, const wchar_t *from, size_t n))
{
    copy(to, from, n);
    return to + n;
}

NW_LIBC(wchar_t *, wmemset, (wchar_t * to, wchar_t wide, size_t n))
{
    for (size_t i = 0; i < n; i++) {
        put(to + i, wide);
    }
    return to;
}

NW_LIBC(wchar_t *, wmemchr, (const wchar_t *in, wchar_t wide, size_t n))
{
    for (size_t i = 0; i < n; i++) {
        if (get(in + i) == wide) {
            return (wchar_t *)(uintptr_t)(in + i);
        }
    }
    return NULL;
}

NW_LIBC(int, wmemcmp, (const wchar_t *a, const wchar_t *b, size_t n))
{
    for (size_t i = 0; i < n; i++) {
        wchar_t x = get(a + i), y = get(b + i);

        if (x != y) {
            return x < y ? -1 : 1;
        }
    }
    return 0;
}

NW_LIBC(size_t, wcsnlen, (const wchar_t *from, size_t limit))
{
    size_t n = 0;

    while (n < limit && get(from + n) != L'\0') {
        n++;
    }
    return n;
}

NW_LIBC(size_t, wcslen, (const wchar_t *from))
{
    return nw_libc_wcsnlen(from, SIZE_MAX);
}

NW_LIBC(wchar_t *, wcpcpy, (wchar_t * to, const wchar_t *from))
{
    size_t n = nw_libc_wcslen(from);

    copy(to, from, n + 1);
    return to + n;
}

NW_LIBC(wchar_t *, wcscpy, (wchar_t * to, const wchar_t *from))
{
    (void)nw_libc_wcpcpy(to, from);
    return to;
}

NW_LIBC(wchar_t *, wcpncpy, (wchar_t * to, const wchar_t *from, size_t n))
{
    size_t length = nw_libc_wcsnlen(from, n);

    copy(to, from, length);
    (void)nw_libc_wmemset(to + length, L'\0', n - length);
    return to + length;
}

NW_LIBC(wchar_t *, wcsncpy, (wchar_t * to, const wchar_t *from, size_t n))
{
    (void)nw_libc_wcpncpy(to, from, n);
    return to;
}

NW_LIBC(wchar_t *, wcsncat, (wchar_t * to, const wchar_t *from, size_t n))
{
    wchar_t *end = to + nw_libc_wcslen(to);
    size_t length = nw_libc_wcsnlen(from, n);

    copy(end, from, length);
    put(end + length, L'\0');
    return to;
}

NW_LIBC(wchar_t *, wcscat, (wchar_t * to, const wchar_t *from))
{
    return nw_libc_wcsncat(to, from, SIZE_MAX);
}

NW_LIBC(wchar_t *, wcsdup, (const wchar_t *from))
{
    size_t bytes = (nw_libc_wcslen(from) + 1) * sizeof *from;
    wchar_t *to = nw_libc_malloc(bytes);

    if (to != NULL) {
        nw_guest_copy(to, from, bytes);
    }
    return to;
}

NW_LIBC(int, wcsncmp, (const wchar_t *a, const wchar_t *b, size_t n))
{
    for (size_t i = 0; i < n; i++) {
        wchar_t x = get(a + i), y = get(b + i);

        if (x != y || x == L'\0') {
            return x < y ? -1 : x > y;
        }
    }
    return 0;
}

NW_LIBC(int, wcscmp, (const wchar_t *a, const wchar_t *b))
{
    return nw_libc_wcsncmp(a, b, SIZE_MAX);
}

/* The host answers the difference here. */
NW_LIBC(int, wcsncasecmp, (const wchar_t *a, const wchar_t *b, size_t n))
{
    for (size_t i = 0; i < n; i++) {
        wint_t x = towlower((wint_t)get(a + i)), y = towlower((wint_t)get(b + i));

        if (x != y || x == L'\0') {
            return (int)x - (int)y;
        }
    }
    return 0;
}

NW_LIBC(int, wcscasecmp, (const wchar_t *a, const wchar_t *b))
{
    return nw_libc_wcsncasecmp(a, b, SIZE_MAX);
}

NW_LIBC(wchar_t *, wcschrnul, (const wchar_t *in, wchar_t wide))
{
    wchar_t at;

    while ((at = get(in)) != wide && at != L'\0') {
        in++;
    }
    return (wchar_t *)(uintptr_t)in;
}

NW_LIBC(wchar_t *, wcschr, (const wchar_t *in, wchar_t wide))
{
    wchar_t *found = nw_libc_wcschrnul(in, wide);

    return get(found) == wide ? found : NULL;
}

NW_LIBC(wchar_t *, wcsrchr, (const wchar_t *in, wchar_t wide))
{
    for (size_t n = nw_libc_wcslen(in) + 1; n > 0; n--) {
        if (get(in + n - 1) == wide) {
            return (wchar_t *)(uintptr_t)(in + n - 1);
        }
    }
    return NULL;
}

/* Characters at the start that are all in `set`, or all not. */
static size_t span(const wchar_t *in, const wchar_t *set, int within)
{
    size_t n = 0;
    wchar_t at;

    while ((at = get(in + n)) != L'\0' && (nw_libc_wcschr(set, at) != NULL) == within) {
        n++;
    }
    return n;
}

NW_LIBC(size_t, wcsspn, (const wchar_t *in, const wchar_t *set))
{
    return span(in, set, 1);
}

NW_LIBC(size_t, wcscspn, (const wchar_t *in, const wchar_t *set))
{
    return span(in, set, 0);
}

NW_LIBC(wchar_t *, wcspbrk, (const wchar_t *in, const wchar_t *set))
{
    in += span(in, set, 0);
    return get(in) == L'\0' ? NULL : (wchar_t *)(uintptr_t)in;
}

NW_LIBC(wchar_t *, wcsstr, (const wchar_t *in, const wchar_t *what))
{
    size_t n = nw_libc_wcslen(what);

    for (;; in++) {
        if (nw_libc_wcsncmp(in, what, n) == 0) {
            return (wchar_t *)(uintptr_t)in;
        }
        if (get(in) == L'\0') {
            return NULL;
        }
    }
}

NW_LIBC_ALIAS(wchar_t *, wcswcs, wcsstr, (const wchar_t *in, const wchar_t *what));

NW_LIBC(wchar_t *, wcstok, (wchar_t * in, const wchar_t *set, wchar_t **rest))
{
    if (in == NULL) {
        nw_guest_get(&in, rest, sizeof in);
    }
    if (in == NULL) {
        return NULL;
    }
    in += span(in, set, 1);
    wchar_t *end = in + span(in, set, 0), *next = NULL;
    wchar_t *token = end == in ? NULL : in;

    if (get(end) != L'\0') {
        put(end, L'\0');
        next = end + 1;
    }
    nw_guest_put(rest, &next, sizeof next);
    return token;
}

/* A plain copy of a wide string; ends the program when the host has no memory. */
static wchar_t *plain(const wchar_t *from)
{
    size_t n = nw_libc_wcslen(from) + 1;
    wchar_t *own = malloc(n * sizeof *own);

    if (own == NULL) {
        nw_guest_refuse("no memory for a copy of a wide string");
    }
    nw_guest_get(own, from, n * sizeof *own);
    return own;
}

NW_LIBC(int, wcscoll, (const wchar_t *a, const wchar_t *b))
{
    wchar_t *x = plain(a), *y = plain(b);
    int order = wcscoll(x, y);

    free(x);
    free(y);
    return order;
}

/* What does not fit leaves its start. */
NW_LIBC(size_t, wcsxfrm, (wchar_t * to, const wchar_t *from, size_t n))
{
    wchar_t *text = plain(from);
    size_t length = wcsxfrm(NULL, text, 0), kept = length < n ? length + 1 : n;
    wchar_t *own = malloc((length + 1) * sizeof *own);

    if (own == NULL) {
        nw_guest_refuse("out of host memory in wcsxfrm");
    }
    wcsxfrm(own, text, length + 1);
    copy(to, own, kept);
    free(own);
    free(text);
    return length;
}

/* No text is longer than this. */
#define TIME_LENGTH 16384U

NW_LIBC(size_t, wcsftime,
        (wchar_t * to, size_t n, const wchar_t *format, const struct tm *from))
{
    size_t room = n < TIME_LENGTH ? n : TIME_LENGTH;
    wchar_t *own = malloc((room + 1) * sizeof *own), *text = plain(format);
    struct tm day;

    if (own == NULL) {
        nw_guest_refuse("out of host memory in wcsftime");
    }
    nw_guest_get(&day, from, sizeof day);
    nw_guest_get(own, to, room * sizeof *own);
    size_t length = wcsftime(own, room, text, &day);
    nw_guest_put(to, own, (length > 0 ? length + 1 : room) * sizeof *own);
    free(own);
    free(text);
    return length;
}

NW_LIBC(wchar_t *, fgetws, (wchar_t * to, int n, FILE *file))
{
    int before = ferror(file), count = 0;
    wint_t wide = L'\0';

    if (!nw_guest_is_virtual(to) || n <= 0) {
        return fgetws(to, n, file);
    }
    while (count < n - 1 && wide != L'\n' && (wide = fgetwc(file)) != WEOF) {
        put(to + count++, (wchar_t)wide);
    }
    if ((count == 0 && n > 1) || (!before && ferror(file))) {
        return NULL;
    }
    put(to + count, L'\0');
    return to;
}
NW_LIBC_ALIAS(wchar_t *, fgetws_unlocked, fgetws, (wchar_t * to, int n, FILE *file));

NW_LIBC(int, fputws, (const wchar_t *from, FILE *file))
{
    wchar_t wide;

    if (!nw_guest_is_virtual(from)) {
        return fputws(from, file);
    }
    if (fwide(file, 1) <= 0) {
        return EOF;
    }
    while ((wide = get(from++)) != L'\0') {
        if (fputwc(wide, file) == WEOF) {
            return EOF;
        }
    }
    return 1;
}
NW_LIBC_ALIAS(int, fputws_unlocked, fputws, (const wchar_t *from, FILE *file));

NW_LIBC(int, wcswidth, (const wchar_t *from, size_t n))
{
    int columns = 0;

    for (size_t i = 0; i < n; i++) {
        wchar_t wide = get(from + i);
        int one = wcwidth(wide);

        if (wide == L'\0') {
            break;
        }
        if (one < 0) {
            return -1;
        }
        columns += one;
    }
    return columns;
}

#define NUMBER(type, name, parameters, call)                                                       \
    NW_LIBC(type, name, parameters)                                                                \
    {                                                                                              \
        wchar_t *text = plain(from), *stop = NULL; /* stays so where the base is none */           \
        type value = call;                                                                         \
                                                                                                   \
        if (end != NULL && stop != NULL) {                                                         \
            wchar_t *at = (wchar_t *)(uintptr_t)from + (stop - text);                              \
            nw_guest_put(end, &at, sizeof at);                                                     \
        }                                                                                          \
        free(text);                                                                                \
        return value;                                                                              \
    }

NUMBER(long, wcstol, (const wchar_t *from, wchar_t **end, int base), wcstol(text, &stop, base))
NUMBER(unsigned long, wcstoul, (const wchar_t *from, wchar_t **end, int base),
       wcstoul(text, &stop, base))
NUMBER(long long, wcstoll, (const wchar_t *from, wchar_t **end, int base),
       wcstoll(text, &stop, base))
NUMBER(unsigned long long, wcstoull, (const wchar_t *from, wchar_t **end, int base),
       wcstoull(text, &stop, base))
NUMBER(double, wcstod, (const wchar_t *from, wchar_t **end), wcstod(text, &stop))
NUMBER(float, wcstof, (const wchar_t *from, wchar_t **end), wcstof(text, &stop))
NUMBER(long double, wcstold, (const wchar_t *from, wchar_t **end), wcstold(text, &stop))
NW_LIBC_ALIAS(long, __isoc23_wcstol, wcstol, (const wchar_t *from, wchar_t **end, int base));
NW_LIBC_ALIAS(unsigned long, __isoc23_wcstoul, wcstoul,
              (const wchar_t *from, wchar_t **end, int base));
NW_LIBC_ALIAS(long long, __isoc23_wcstoll, wcstoll,
              (const wchar_t *from, wchar_t **end, int base));
NW_LIBC_ALIAS(unsigned long long, __isoc23_wcstoull, wcstoull,
              (const wchar_t *from, wchar_t **end, int base));

NW_LIBC(intmax_t, wcstoimax, (const wchar_t *from, wchar_t **end, int base))
{
    return nw_libc_wcstoll(from, end, base);
}

NW_LIBC(uintmax_t, wcstoumax, (const wchar_t *from, wchar_t **end, int base))
{
    return nw_libc_wcstoull(from, end, base);
}

NW_LIBC(wctype_t, wctype, (const char *name))
{
    struct nw_guest_text text;
    wctype_t type = wctype(nw_guest_text(&text, name));

    nw_guest_text_done(&text);
    return type;
}

NW_LIBC(wctrans_t, wctrans, (const char *name))
{
    struct nw_guest_text text;
    wctrans_t type = wctrans(nw_guest_text(&text, name));

    nw_guest_text_done(&text);
    return type;
}

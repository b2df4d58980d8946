/* SPDX-License-Identifier: Apache-2.0 */
/* locale.c - locales and multibyte characters. */
#include "internal.h"

#include <langinfo.h>
#include <limits.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

NW_LIBC(char *, setlocale, (int category, const char *name))
{
    struct nw_guest_text copy;
    char *result = setlocale(category, nw_guest_text(&copy, name));

    nw_guest_text_done(&copy);
    return result;
}

NW_LIBC(char *, nl_langinfo, (nl_item item))
{
    return nl_langinfo(item);
}

/* The bytes at `from` that the next character may take, and how many: its end belongs to a
 * string, nothing behind it does. */
static size_t piece_of(char own[MB_LEN_MAX], const char *from, size_t n)
{
    size_t limit = n < MB_LEN_MAX ? n : MB_LEN_MAX, length = nw_guest_strlen(from, limit);

    length += length < limit ? 1 : 0;
    nw_guest_get(own, from, length);
    return length;
}

NW_LIBC(int, mbsinit, (const mbstate_t *state))
{
    mbstate_t own;

    return mbsinit(nw_guest_get_or_null(&own, state, sizeof own));
}

NW_LIBC(size_t, mbrtowc, (wchar_t * to, const char *from, size_t n, mbstate_t *state))
{
    char piece[MB_LEN_MAX];
    mbstate_t own, *at = nw_guest_get_or_null(&own, state, sizeof own);
    wchar_t wide = 0;
    size_t result;

    if (from == NULL) {
        result = mbrtowc(NULL, "", 1, at);
    } else {
        result = mbrtowc(&wide, piece, piece_of(piece, from, n), at);
        if (to != NULL && result <= MB_LEN_MAX) {
            nw_guest_put(to, &wide, sizeof wide);
        }
    }
    nw_guest_put_or_null(state, &own, sizeof own);
    return result;
}

NW_LIBC(size_t, mbrlen, (const char *from, size_t n, mbstate_t *state))
{
    char piece[MB_LEN_MAX];
    mbstate_t own, *at = nw_guest_get_or_null(&own, state, sizeof own);
    size_t result = from == NULL ? mbrlen(NULL, 0, at)
                                 : mbrlen(piece, piece_of(piece, from, n), at);

    nw_guest_put_or_null(state, &own, sizeof own);
    return result;
}
NW_LIBC_ALIAS(size_t, __mbrlen, mbrlen, (const char *from, size_t n, mbstate_t *state));

NW_LIBC(size_t, wcrtomb, (char *to, wchar_t wide, mbstate_t *state))
{
    char piece[MB_LEN_MAX];
    mbstate_t own, *at = nw_guest_get_or_null(&own, state, sizeof own);
    size_t result = to == NULL ? wcrtomb(NULL, wide, at) : wcrtomb(piece, wide, at);

    if (to != NULL && result <= MB_LEN_MAX) {
        nw_guest_put(to, piece, result);
    }
    nw_guest_put_or_null(state, &own, sizeof own);
    return result;
}

/* Without a place to write to, neither `from` nor the state moves. */
NW_LIBC(size_t, mbsnrtowcs,
        (wchar_t * to, const char **from, size_t bytes, size_t n, mbstate_t *state))
{
    static mbstate_t kept;
    mbstate_t own = kept;
    char piece[MB_LEN_MAX];
    const char *at;
    size_t made = 0;

    nw_guest_get(&at, from, sizeof at);
    nw_guest_get_or_null(&own, state, sizeof own);
    while (bytes > 0 && (to == NULL || made < n)) {
        wchar_t wide;
        size_t taken = piece_of(piece, at, bytes), length = mbrtowc(&wide, piece, taken, &own);

        if (length == (size_t)-1) {
            made = length;
            break;
        }
        if (length == (size_t)-2) { /* the bytes end in the middle of a character */
            at += taken;
            bytes -= taken;
            continue;
        }
        if (to != NULL) {
            nw_guest_put(to + made, &wide, sizeof wide);
        }
        if (length == 0) {
            at = NULL;
            break;
        }
        at += length;
        bytes -= length;
        made++;
    }
    if (to != NULL) {
        nw_guest_put(from, &at, sizeof at);
        nw_guest_put(state != NULL ? state : &kept, &own, sizeof own);
    }
    return made;
}

NW_LIBC(size_t, mbsrtowcs, (wchar_t * to, const char **from, size_t n, mbstate_t *state))
{
    return nw_libc_mbsnrtowcs(to, from, SIZE_MAX, n, state);
}

NW_LIBC(size_t, wcsnrtombs,
        (char *to, const wchar_t **from, size_t count, size_t n, mbstate_t *state))
{
    static mbstate_t kept;
    mbstate_t own = kept;
    const wchar_t *at;
    size_t made = 0;

    nw_guest_get(&at, from, sizeof at);
    nw_guest_get_or_null(&own, state, sizeof own);
    for (; count > 0 && (to == NULL || made < n); count--, at++) {
        char piece[MB_LEN_MAX];
        wchar_t wide;

        nw_guest_get(&wide, at, sizeof wide);
        size_t length = wcrtomb(piece, wide, &own);
        if (length == (size_t)-1) {
            made = length;
            break;
        }
        if (to != NULL && made + length > n) {
            break;
        }
        if (to != NULL) {
            nw_guest_put(to + made, piece, length);
        }
        made += length;
        if (wide == L'\0') {
            made--;
            at = NULL;
            break;
        }
    }
    if (to != NULL) {
        nw_guest_put(from, &at, sizeof at);
        nw_guest_put(state != NULL ? state : &kept, &own, sizeof own);
    }
    return made;
}

NW_LIBC(size_t, wcsrtombs, (char *to, const wchar_t **from, size_t n, mbstate_t *state))
{
    return nw_libc_wcsnrtombs(to, from, SIZE_MAX, n, state);
}

NW_LIBC(int, mbtowc, (wchar_t * to, const char *from, size_t n))
{
    char own[MB_LEN_MAX] = "";
    wchar_t wide = 0;

    if (from == NULL) {
        return mbtowc(NULL, NULL, 0);
    }
    size_t limit = n < sizeof own ? n : sizeof own, length = nw_guest_strlen(from, limit);
    length += length < limit ? 1 : 0;                     /* its end belongs to it */
    nw_guest_get(own, from, length > 0 ? length : 1); /* the host looks at the first in any case */
    int result = mbtowc(&wide, own, limit);
    if (to != NULL && result >= 0) {
        nw_guest_put(to, &wide, sizeof wide);
    }
    return result;
}

NW_LIBC(int, mblen, (const char *from, size_t n))
{
    return nw_libc_mbtowc(NULL, from, n);
}

NW_LIBC(int, wctomb, (char *to, wchar_t wide))
{
    char own[16];

    if (to == NULL) {
        return wctomb(NULL, wide);
    }
    int result = wctomb(own, wide);
    if (result > 0) {
        nw_guest_put(to, own, (size_t)result);
    }
    return result;
}

/* One by one, so that all before a sequence that is none are in their place. */
static size_t to_wide(wchar_t *to, const char *plain, size_t n)
{
    mbstate_t state;
    wchar_t wide;

    memset(&state, 0, sizeof state);
    for (size_t i = 0; i < n; i++) {
        size_t length = mbrtowc(&wide, plain, MB_LEN_MAX, &state);

        if (length == (size_t)-1 || length == (size_t)-2) {
            return (size_t)-1;
        }
        nw_guest_put(to + i, &wide, sizeof wide);
        if (length == 0) {
            return i;
        }
        plain += length;
    }
    return n;
}

NW_LIBC(size_t, mbstowcs, (wchar_t * to, const char *from, size_t n))
{
    struct nw_guest_text copy;
    const char *plain = nw_guest_text(&copy, from);
    size_t result = to == NULL ? mbstowcs(NULL, plain, 0) : to_wide(to, plain, n);

    nw_guest_text_done(&copy);
    return result;
}

NW_LIBC(size_t, wcstombs, (char *to, const wchar_t *from, size_t n))
{
    mbstate_t state;
    size_t made = 0;

    memset(&state, 0, sizeof state);
    for (;; from++) {
        char own[MB_LEN_MAX];
        wchar_t wide;

        if (to != NULL && made == n) {
            return n; /* what follows is not looked at */
        }
        nw_guest_get(&wide, from, sizeof wide);
        size_t length = wcrtomb(own, wide, &state);
        if (length == (size_t)-1) {
            return length;
        }
        if (to != NULL && made + length > n) {
            return made;
        }
        if (to != NULL) {
            nw_guest_put(to + made, own, length);
        }
        if (wide == L'\0') {
            return made + length - 1;
        }
        made += length;
    }
}

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

NW_LIBC(size_t, wcslen, (const wchar_t *from))
{
    wchar_t wide;
    size_t n = 0;

    for (;; n++) {
        nw_guest_get(&wide, from + n, sizeof wide);
        if (wide == L'\0') {
            return n;
        }
    }
}

NW_LIBC(wchar_t *, wcscpy, (wchar_t * to, const wchar_t *from))
{
    nw_guest_copy(to, from, (nw_libc_wcslen(from) + 1) * sizeof *to);
    return to;
}

NW_LIBC(int, wcscmp, (const wchar_t *a, const wchar_t *b))
{
    wchar_t x, y;

    do {
        nw_guest_get(&x, a++, sizeof x);
        nw_guest_get(&y, b++, sizeof y);
    } while (x == y && x != L'\0');
    return x < y ? -1 : x > y;
}

NW_LIBC(wchar_t *, wmemcpy, (wchar_t * to, const wchar_t *from, size_t n))
{
    nw_guest_copy(to, from, n * sizeof *to);
    return to;
}

NW_LIBC(wchar_t *, wmemset, (wchar_t * to, wchar_t wide, size_t n))
{
    for (size_t i = 0; i < n; i++) {
        nw_guest_put(to + i, &wide, sizeof wide);
    }
    return to;
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

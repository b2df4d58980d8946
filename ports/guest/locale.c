/* SPDX-License-Identifier: Apache-2.0 */
/* locale.c - locales and multibyte characters. */
#include "internal.h"

#include <langinfo.h>
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
    char own[16]; /* MB_LEN_MAX */
    wchar_t wide = 0;

    if (from == NULL) {
        return mbtowc(NULL, NULL, 0);
    }
    size_t length = nw_guest_strlen(from, n < sizeof own ? n : sizeof own);
    length += length < n && length < sizeof own ? 1 : 0; /* its end belongs to it */
    nw_guest_get(own, from, length);
    int result = mbtowc(&wide, own, length);
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

NW_LIBC(size_t, mbstowcs, (wchar_t * to, const char *from, size_t n))
{
    struct nw_guest_text copy;
    const char *plain = nw_guest_text(&copy, from);
    size_t needed = mbstowcs(NULL, plain, 0);

    if (to != NULL && needed != (size_t)-1) {
        wchar_t *own = malloc((needed + 1) * sizeof *own);

        if (own == NULL) {
            nw_guest_refuse("out of host memory in mbstowcs");
        }
        mbstowcs(own, plain, needed + 1);
        size_t taken = needed < n ? needed + 1 : n;
        nw_guest_put(to, own, taken * sizeof *own);
        free(own);
        needed = needed < n ? needed : n;
    }
    nw_guest_text_done(&copy);
    return needed;
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
    size_t wides = nw_libc_wcslen(from) + 1;
    wchar_t *own = malloc(wides * sizeof *own);

    if (own == NULL) {
        nw_guest_refuse("out of host memory in wcstombs");
    }
    nw_guest_get(own, from, wides * sizeof *own);
    size_t needed = wcstombs(NULL, own, 0);
    char *plain = needed == (size_t)-1 ? NULL : malloc(needed + 1);
    if (plain != NULL && to != NULL) {
        wcstombs(plain, own, needed + 1);
        nw_guest_put(to, plain, needed < n ? needed + 1 : n);
        needed = needed < n ? needed : n;
    }
    free(plain);
    free(own);
    return needed;
}

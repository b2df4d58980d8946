/* SPDX-License-Identifier: Apache-2.0 */
/*
 * string.c - <string.h> over any mix of plain and virtual memory. Where every argument is plain the
 * host's own function does the work; a virtual range goes through the VM a page at a time. Results
 * of string comparisons are differences of bytes, as the host's are; memcmp() promises the sign.
 */
#include "internal.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define PLAIN(p) (!nw_guest_is_virtual(p))

NW_LIBC(void *, memcpy, (void *to, const void *from, size_t n))
{
    nw_guest_copy(to, from, n);
    return to;
}

NW_LIBC(void *, memmove, (void *to, const void *from, size_t n))
{
    nw_guest_copy(to, from, n);
    return to;
}

NW_LIBC(void *, mempcpy, (void *to, const void *from, size_t n))
{
    nw_guest_copy(to, from, n);
    return (uint8_t *)to + n;
}
NW_LIBC_ALIAS(void *, __mempcpy, mempcpy, (void *to, const void *from, size_t n));

NW_LIBC(void *, memset, (void *to, int byte, size_t n))
{
    nw_guest_fill(to, (uint32_t)byte, n);
    return to;
}

NW_LIBC(void, bzero, (void *to, size_t n))
{
    nw_guest_fill(to, 0, n);
}

NW_LIBC_ALIAS(void, explicit_bzero, bzero, (void *to, size_t n));

#if defined(__GLIBC__) /* nobody else has it */
NW_LIBC(void *, memfrob, (void *at, size_t n))
{
    uint8_t piece[64];

    for (size_t done = 0; done < n;) {
        size_t bytes = n - done < sizeof piece ? n - done : sizeof piece;

        nw_guest_get(piece, (uint8_t *)at + done, bytes);
        nw_guest_put((uint8_t *)at + done, memfrob(piece, bytes), bytes);
        done += bytes;
    }
    return at;
}
#endif

NW_LIBC(void, bcopy, (const void *from, void *to, size_t n))
{
    nw_guest_copy(to, from, n);
}

NW_LIBC(int, memcmp, (const void *a, const void *b, size_t n))
{
    int order = 0;

    if (PLAIN(a) && PLAIN(b)) {
        return memcmp(a, b, n);
    }
    nw_guest_must(nw_vm_compare(&nw_guest_vm, (uintptr_t)a, (uintptr_t)b, n, &order), a);
    return order;
}
NW_LIBC_ALIAS(int, bcmp, memcmp, (const void *a, const void *b, size_t n));

NW_LIBC(void *, memchr, (const void *in, int byte, size_t n))
{
    size_t index = 0;

    if (PLAIN(in)) {
        return memchr(in, byte, n);
    }
    int result = nw_vm_find(&nw_guest_vm, (uintptr_t)in, (uint8_t)byte, n, &index);
    if (result == NW_ERR_NOT_FOUND) {
        return NULL;
    }
    nw_guest_must(result, in);
    return (uint8_t *)(uintptr_t)in + index;
}

/* Goes on behind zeros, to the end of the memory. */
NW_LIBC(void *, rawmemchr, (const void *in, int byte))
{
    return PLAIN(in) ? rawmemchr(in, byte) : nw_libc_memchr(in, byte, SIZE_MAX);
}

NW_LIBC(void *, memrchr, (const void *in, int byte, size_t n))
{
    struct nw_guest_reader reader;
    void *found = NULL;

    nw_guest_reader_open(&reader, in);
    for (size_t i = 0; i < n; i++) {
        if (nw_guest_reader_byte(&reader) == (uint8_t)byte) {
            found = (uint8_t *)(uintptr_t)in + i;
        }
    }
    return found;
}

NW_LIBC(void *, memccpy, (void *to, const void *from, int byte, size_t n))
{
    const uint8_t *found = nw_libc_memchr(from, byte, n);
    size_t length = found == NULL ? n : (size_t)(found - (const uint8_t *)from) + 1;

    nw_guest_copy(to, from, length);
    return found == NULL ? NULL : (uint8_t *)to + length;
}

NW_LIBC(void *, memmem, (const void *in, size_t n, const void *what, size_t length))
{
    const uint8_t *at = in, *end = at + n;
    uint8_t first;

    if (length == 0) {
        return (void *)(uintptr_t)in;
    }
    nw_guest_get(&first, what, 1);
    while ((size_t)(end - at) >= length) {
        at = nw_libc_memchr(at, first, (size_t)(end - at) - length + 1);
        if (at == NULL) {
            return NULL;
        }
        if (nw_libc_memcmp(at, what, length) == 0) {
            return (void *)(uintptr_t)at;
        }
        at++;
    }
    return NULL;
}

NW_LIBC(size_t, strlen, (const char *s))
{
    return nw_guest_strlen(s, SIZE_MAX);
}

NW_LIBC(size_t, strnlen, (const char *s, size_t limit))
{
    return nw_guest_strlen(s, limit);
}

NW_LIBC(char *, stpcpy, (char *to, const char *from))
{
    size_t n = nw_guest_strlen(from, SIZE_MAX);

    nw_guest_copy(to, from, n + 1);
    return to + n;
}
NW_LIBC_ALIAS(char *, __stpcpy, stpcpy, (char *to, const char *from));

NW_LIBC(char *, strcpy, (char *to, const char *from))
{
    (void)nw_libc_stpcpy(to, from);
    return to;
}

NW_LIBC(char *, stpncpy, (char *to, const char *from, size_t n))
{
    size_t length = nw_guest_strlen(from, n);

    nw_guest_copy(to, from, length);
    nw_guest_fill(to + length, 0, n - length);
    return to + length;
}

NW_LIBC(char *, strncpy, (char *to, const char *from, size_t n))
{
    (void)nw_libc_stpncpy(to, from, n);
    return to;
}

NW_LIBC(char *, strcat, (char *to, const char *from))
{
    (void)nw_libc_stpcpy(to + nw_guest_strlen(to, SIZE_MAX), from);
    return to;
}

NW_LIBC(char *, strncat, (char *to, const char *from, size_t n))
{
    size_t length = nw_guest_strlen(from, n);
    char *end = to + nw_guest_strlen(to, SIZE_MAX);

    nw_guest_copy(end, from, length);
    nw_guest_fill(end + length, 0, 1);
    return to;
}

static int compare(const char *a, const char *b, size_t n, int fold)
{
    struct nw_guest_reader left, right;

    nw_guest_reader_open(&left, a);
    nw_guest_reader_open(&right, b);
    for (size_t i = 0; i < n; i++) {
        int x = nw_guest_reader_byte(&left), y = nw_guest_reader_byte(&right);
        int difference = fold ? tolower(x) - tolower(y) : x - y;

        if (difference != 0 || x == 0) {
            return difference;
        }
    }
    return 0;
}

NW_LIBC(int, strcmp, (const char *a, const char *b))
{
    return PLAIN(a) && PLAIN(b) ? strcmp(a, b) : compare(a, b, SIZE_MAX, 0);
}

NW_LIBC(int, strncmp, (const char *a, const char *b, size_t n))
{
    return PLAIN(a) && PLAIN(b) ? strncmp(a, b, n) : compare(a, b, n, 0);
}

NW_LIBC(int, strcasecmp, (const char *a, const char *b))
{
    return PLAIN(a) && PLAIN(b) ? strcasecmp(a, b) : compare(a, b, SIZE_MAX, 1);
}

NW_LIBC(int, strncasecmp, (const char *a, const char *b, size_t n))
{
    return PLAIN(a) && PLAIN(b) ? strncasecmp(a, b, n) : compare(a, b, n, 1);
}

NW_LIBC(int, strcoll, (const char *a, const char *b))
{
    struct nw_guest_text left, right;
    int order = strcoll(nw_guest_text(&left, a), nw_guest_text(&right, b));

    nw_guest_text_done(&left);
    nw_guest_text_done(&right);
    return order;
}

NW_LIBC(int, strverscmp, (const char *a, const char *b))
{
    struct nw_guest_text left, right;
    int order = strverscmp(nw_guest_text(&left, a), nw_guest_text(&right, b));

    nw_guest_text_done(&left);
    nw_guest_text_done(&right);
    return order;
}

NW_LIBC(char *, strchrnul, (const char *s, int byte))
{
    struct nw_guest_reader reader;
    uint8_t now;

    if (PLAIN(s)) {
        return strchrnul(s, byte);
    }
    nw_guest_reader_open(&reader, s);
    do {
        now = nw_guest_reader_byte(&reader);
        s++;
    } while (now != (uint8_t)byte && now != 0);
    return (char *)(uintptr_t)(s - 1);
}

NW_LIBC(char *, strchr, (const char *s, int byte))
{
    if (PLAIN(s)) {
        return strchr(s, byte);
    }
    char *at = nw_libc_strchrnul(s, byte), found;

    nw_guest_get(&found, at, 1);
    return found == (char)byte ? at : NULL;
}
NW_LIBC_ALIAS(char *, index, strchr, (const char *s, int byte));

NW_LIBC(char *, strrchr, (const char *s, int byte))
{
    return PLAIN(s) ? strrchr(s, byte)
                    : nw_libc_memrchr(s, byte, nw_guest_strlen(s, SIZE_MAX) + 1);
}
NW_LIBC_ALIAS(char *, rindex, strrchr, (const char *s, int byte));

NW_LIBC(char *, strstr, (const char *in, const char *what))
{
    if (PLAIN(in) && PLAIN(what)) {
        return strstr(in, what);
    }
    return nw_libc_memmem(in, nw_guest_strlen(in, SIZE_MAX), what,
                          nw_guest_strlen(what, SIZE_MAX));
}

NW_LIBC(char *, strcasestr, (const char *in, const char *what))
{
    size_t length = nw_guest_strlen(what, SIZE_MAX), n = nw_guest_strlen(in, SIZE_MAX);

    for (; n >= length; n--, in++) {
        if (compare(in, what, length, 1) == 0) {
            return (char *)(uintptr_t)in;
        }
    }
    return NULL;
}

/* Bytes at the start of s that are (or are not) in the set. */
static size_t span(const char *s, const char *set, int inside)
{
    struct nw_guest_text text;
    struct nw_guest_reader reader;
    const char *plain = nw_guest_text(&text, set);
    size_t n = 0;
    uint8_t now;

    nw_guest_reader_open(&reader, s);
    while ((now = nw_guest_reader_byte(&reader)) != 0 &&
           (strchr(plain, now) != NULL) == (inside != 0)) {
        n++;
    }
    nw_guest_text_done(&text);
    return n;
}

NW_LIBC(size_t, strspn, (const char *s, const char *set))
{
    return span(s, set, 1);
}

NW_LIBC(size_t, strcspn, (const char *s, const char *set))
{
    return span(s, set, 0);
}

static char byte_at(const char *s)
{
    char byte;

    nw_guest_get(&byte, s, 1);
    return byte;
}

NW_LIBC(char *, strpbrk, (const char *s, const char *set))
{
    s += span(s, set, 0);
    return byte_at(s) == '\0' ? NULL : (char *)(uintptr_t)s;
}

/* The end of a token: cut there; what follows it, or NULL at the end of the string. */
static char *cut(char *token, const char *set)
{
    char *end = token + span(token, set, 0);

    if (byte_at(end) == '\0') {
        return NULL;
    }
    nw_guest_fill(end, 0, 1);
    return end + 1;
}

NW_LIBC(char *, strtok_r, (char *s, const char *set, char **rest))
{
    if (s == NULL) {
        nw_guest_get(&s, rest, sizeof s);
    }
    if (s == NULL) {
        return NULL;
    }
    s += span(s, set, 1);
    char *next = byte_at(s) == '\0' ? NULL : cut(s, set);
    /* As the host's: after the last token the rest is its terminating zero. */
    char *token = byte_at(s) == '\0' && next == NULL ? NULL : s;
    char *keep = next != NULL ? next : s + nw_guest_strlen(s, SIZE_MAX);
    nw_guest_put(rest, &keep, sizeof keep);
    return token;
}
NW_LIBC_ALIAS(char *, __strtok_r, strtok_r, (char *s, const char *set, char **rest));

NW_LIBC(char *, strtok, (char *s, const char *set))
{
    static char *rest;

    return nw_libc_strtok_r(s, set, &rest);
}

NW_LIBC(char *, strsep, (char **at, const char *set))
{
    char *token, *next = NULL;

    nw_guest_get(&token, at, sizeof token);
    if (token != NULL) {
        next = cut(token, set);
        nw_guest_put(at, &next, sizeof next);
    }
    return token;
}

NW_LIBC(int, __xpg_strerror_r, (int error, char *to, size_t n))
{
    const char *text = strerror(error);
    size_t length = strlen(text);

    if (n == 0) {
        return ERANGE;
    }
    size_t taken = length < n ? length : n - 1;
    nw_guest_put(to, text, taken);
    nw_guest_fill(to + taken, 0, 1);
    return length < n ? 0 : ERANGE;
}

/* What the library exports by this name is GNU's: it answers the text, which need not lie in `to`.
 * Headers send the function of POSIX to __xpg_strerror_r. */
NW_LIBC(char *, strerror_r, (int error, char *to, size_t n))
{
    char own[256];
    char *text = strerror_r(error, own, n < sizeof own ? n : sizeof own);

    if (text != own) {
        return text;
    }
    if (n > 0) {
        nw_guest_put(to, own, strlen(own) + 1);
    }
    return to;
}

NW_LIBC(size_t, strxfrm, (char *to, const char *from, size_t n))
{
    struct nw_guest_text text;
    char piece[1024];
    size_t length = strxfrm(piece, nw_guest_text(&text, from), sizeof piece);

    nw_guest_text_done(&text);
    if (length >= sizeof piece) {
        nw_guest_refuse("strxfrm: a transformed string of more than 1023 bytes");
    }
    nw_guest_put(to, piece, length < n ? length + 1 : n);
    return length;
}

#if defined(__GLIBC__) /* nobody else has it */
/* The host's own shuffle, over a plain copy. */
NW_LIBC(char *, strfry, (char *s))
{
    size_t n = nw_guest_strlen(s, SIZE_MAX);
    char *own = malloc(n + 1);

    if (own == NULL) {
        nw_guest_refuse("strfry: no memory for a copy");
    }
    nw_guest_get(own, s, n);
    own[n] = '\0';
    nw_guest_put(s, strfry(own), n);
    free(own);
    return s;
}
#endif

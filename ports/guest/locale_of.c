/* SPDX-License-Identifier: Apache-2.0 */
/* locale_of.c - functions with a locale of their own: the one without, in that locale. */
#include "internal.h"

#include <locale.h>
#include <stdlib.h>
#include <time.h>
#include <wchar.h>

NW_LIBC(locale_t, newlocale, (int mask, const char *name, locale_t base))
{
    struct nw_guest_text copy;
    locale_t made = newlocale(mask, nw_guest_text(&copy, name), base);

    nw_guest_text_done(&copy);
    return made;
}

#define NW_LOCALE_OF(type, name, parameters, types, arguments)                                     \
    type nw_libc_##name types;                                                                     \
    NW_LIBC(type, name##_l, parameters)                                                            \
    {                                                                                              \
        locale_t before = uselocale(in);                                                           \
        type result = nw_libc_##name arguments;                                                    \
                                                                                                   \
        uselocale(before);                                                                         \
        return result;                                                                             \
    }

/* A number out of a string. */
#define NW_REAL(type, name)                                                                        \
    NW_LOCALE_OF(type, name, (const char *from, char **end, locale_t in),                          \
                 (const char *from, char **end), (from, end))
#define NW_WHOLE(type, name)                                                                       \
    NW_LOCALE_OF(type, name, (const char *from, char **end, int base, locale_t in),                \
                 (const char *from, char **end, int base), (from, end, base))

NW_REAL(double, strtod)
NW_REAL(float, strtof)
NW_REAL(long double, strtold)
NW_WHOLE(long, strtol)
NW_WHOLE(unsigned long, strtoul)
NW_WHOLE(long long, strtoll)
NW_WHOLE(unsigned long long, strtoull)
NW_LIBC_ALIAS(long, __isoc23_strtol_l, strtol_l,
              (const char *from, char **end, int base, locale_t in));
NW_LIBC_ALIAS(unsigned long, __isoc23_strtoul_l, strtoul_l,
              (const char *from, char **end, int base, locale_t in));
NW_LIBC_ALIAS(long long, __isoc23_strtoll_l, strtoll_l,
              (const char *from, char **end, int base, locale_t in));
NW_LIBC_ALIAS(unsigned long long, __isoc23_strtoull_l, strtoull_l,
              (const char *from, char **end, int base, locale_t in));

NW_LOCALE_OF(int, strcoll, (const char *a, const char *b, locale_t in),
             (const char *a, const char *b), (a, b))
NW_LOCALE_OF(int, strcasecmp, (const char *a, const char *b, locale_t in),
             (const char *a, const char *b), (a, b))
NW_LOCALE_OF(int, strncasecmp, (const char *a, const char *b, size_t n, locale_t in),
             (const char *a, const char *b, size_t n), (a, b, n))
NW_LOCALE_OF(size_t, strxfrm, (char *to, const char *from, size_t n, locale_t in),
             (char *to, const char *from, size_t n), (to, from, n))
NW_LOCALE_OF(size_t, strftime,
             (char *to, size_t bytes, const char *format, const struct tm *from, locale_t in),
             (char *to, size_t bytes, const char *format, const struct tm *from),
             (to, bytes, format, from))
NW_LOCALE_OF(int, wcscoll, (const wchar_t *a, const wchar_t *b, locale_t in),
             (const wchar_t *a, const wchar_t *b), (a, b))
NW_LOCALE_OF(int, wcscasecmp, (const wchar_t *a, const wchar_t *b, locale_t in),
             (const wchar_t *a, const wchar_t *b), (a, b))
NW_LOCALE_OF(int, wcsncasecmp, (const wchar_t *a, const wchar_t *b, size_t n, locale_t in),
             (const wchar_t *a, const wchar_t *b, size_t n), (a, b, n))
NW_LOCALE_OF(size_t, wcsxfrm, (wchar_t * to, const wchar_t *from, size_t n, locale_t in),
             (wchar_t * to, const wchar_t *from, size_t n), (to, from, n))

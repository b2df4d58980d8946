/* SPDX-License-Identifier: Apache-2.0 */
/* Wide strings, multibyte characters with a state, and what else of the headers was refused at the
 * link although the page of the compiler said otherwise. */
#include <ctype.h>
#include <inttypes.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <wchar.h>
#include <wctype.h>

static char text[100] = "na\303\257ve \342\202\254 5, end";
static char bytes[100];
static wchar_t a[100], b[100];
static mbstate_t state;
static const char *from;
static const wchar_t *wide_from;

static long at(const wchar_t *place)
{
    return place == NULL ? -1 : (long)(place - a);
}

static void one_by_one(void)
{
    size_t n, length = strlen(text);

    printf("%d\n", mbsinit(&state) != 0);
    for (size_t i = 0; i < length; i += n) {
        n = mbrtowc(&a[0], text + i, length - i, &state);
        printf("%zu:%x:%zu ", n, (unsigned)a[0], mbrlen(text + i, length - i, NULL));
    }
    for (int i = 2; i < 4; i++) { /* a character in two pieces */
        n = mbrtowc(&a[0], text + i, 1, &state);
        printf("\n%zd %x %d", (ssize_t)n, (unsigned)a[0], mbsinit(&state) != 0);
    }
    printf("\n%zd ", (ssize_t)mbrtowc(NULL, NULL, 9, &state));
    printf("%zd\n", (ssize_t)mbrtowc(a, "\377x", 2, &state));
    memset(&state, 0, sizeof state);
    printf("%zd ", (ssize_t)wcrtomb(bytes, 0x20AC, &state));
    printf("%zd", (ssize_t)wcrtomb(NULL, 7, &state));
    printf(" %02x %zd\n", (unsigned char)bytes[2], (ssize_t)wcrtomb(bytes, L'\0', NULL));
}

static void whole_strings(void)
{
    from = text;
    printf("%zd ", (ssize_t)mbsrtowcs(NULL, &from, 0, &state));
    printf("%d\n", from == text);
    printf("%zd ", (ssize_t)mbsrtowcs(a, &from, 4, &state));
    printf("%ld\n", (long)(from - text));
    printf("%zd ", (ssize_t)mbsrtowcs(a + 4, &from, 90, NULL));
    printf("%d %zu\n", from == NULL, wcslen(a));
    from = text;
    printf("%zd ", (ssize_t)mbsnrtowcs(b, &from, 3, 50, &state)); /* ends in a character */
    printf("%ld %d ", (long)(from - text), mbsinit(&state) != 0);
    printf("%zd ", (ssize_t)mbsnrtowcs(b, &from, 4, 50, &state));
    printf("%ld\n", (long)(from - text));
    wide_from = a;
    printf("%zd ", (ssize_t)wcsrtombs(NULL, &wide_from, 0, &state));
    printf("%zd ", (ssize_t)wcsrtombs(bytes, &wide_from, 8, &state));
    printf("%ld ", at(wide_from));
    printf("%zd ", (ssize_t)wcsrtombs(bytes + 7, &wide_from, 80, &state));
    printf("%d %s\n", wide_from == NULL, bytes);
    wide_from = a;
    printf("%zd ", (ssize_t)wcsnrtombs(bytes, &wide_from, 3, 80, &state));
    printf("%ld\n", at(wide_from));
    a[50] = (wchar_t)0xD800; /* no character */
    wide_from = a + 50;
    printf("%zd ", (ssize_t)wcsrtombs(bytes, &wide_from, 8, &state));
    printf("%ld\n", at(wide_from));
    memset(&state, 0, sizeof state);
}

static void strings(void)
{
    wchar_t *rest, *copy, *token;

    printf("%ld %ld %ld\n", at(wcschr(a, L'e')), at(wcsrchr(a, L'e')), at(wcschr(a, L'q')));
    printf("%ld %ld %ld\n", at(wcsstr(a, L"end")), at(wcsstr(a, L"endx")), at(wcspbrk(a, L"5v")));
    printf("%zu %zu %zu\n", wcsspn(a, L"an"), wcscspn(a, L"5"), wcsnlen(a, 3));
    copy = wcsdup(a);
    printf("%d %d %d\n", wcscmp(a, copy), wcsncmp(a, L"naXX", 2), wcsncmp(a, L"naXX", 3) > 0);
    printf("%d %d\n", wcscasecmp(L"ABc", L"abC"), wcsncasecmp(a, L"NAZ", 2));
    free(copy);
    wcscpy(b, L"one");
    wcscat(b, L" two");
    wcsncat(b, L" three", 3);
    printf("%ls %ld %d\n", b, (long)(wcpcpy(b + 20, b) - b), wcscoll(b, b + 20));
    wcsncpy(b + 40, L"xy", 5);
    printf("%ld %d\n", (long)(wcpncpy(b + 50, L"abcdef", 3) - b), b[44] == L'\0');
    for (token = wcstok(b, L" ", &rest); token != NULL; token = wcstok(NULL, L" ", &rest)) {
        printf("<%ls>", token);
    }
    printf("\n%d %d", wmemcmp(b, b + 20, 2), wmemchr(a, L'v', 20) != NULL);
    wmemmove(b + 1, b, 3);
    printf(" %ld %ls\n", (long)(wmempcpy(b + 60, a, 3) - b), b);
    wcscpy(b, L" -42rest 0x1f 2.5e1z");
    printf("%ld ", wcstol(b, &rest, 10));
    printf("%ld ", (long)(rest - b));
    printf("%lu %llu ", wcstoul(b + 9, &rest, 0), wcstoull(b + 9, NULL, 16));
    printf("%ld ", (long)(rest - b));
    printf("%g ", wcstod(b + 13, &rest));
    printf("%ld %d\n", (long)(rest - b), wcswidth(L"abc", 3));
    printf("%d %d %d\n", iswctype(L'x', wctype("alpha")) != 0, iswprint(L'\n') != 0,
           (int)towctrans(L'x', wctrans("toupper")));
}

static void others(void)
{
    static unsigned short seed[3] = {1, 2, 3};
    static char list[] = "rw,size=30,what";
    static char *const known[] = {"ro", "rw", "size", NULL};
    static struct tm day;
    char *option = list, *value, *end;

    strcpy(bytes, "secret and more");
    explicit_bzero(bytes, 3);
    memfrob(bytes + 3, 70);
    memfrob(bytes + 3, 70);
    printf("%d %s\n", bytes[2], bytes + 3);
    strfry(bytes + 3);
    printf("%zu\n", strlen(bytes + 3));
    printf("%d %s\n", ffs(24), sigabbrev_np(9));
    while (*option != '\0') {
        int which = getsubopt(&option, known, &value);
        printf("%d %s\n", which, value == NULL ? "-" : value);
    }
    printf("%f ", erand48(seed));
    printf("%ld ", nrand48(seed));
    printf("%ld ", jrand48(seed));
    printf("%d\n", seed48(seed)[0]);
    end = strptime("2021-03-04 05:06:07 on", "%Y-%m-%d %H:%M:%S", &day);
    printf("%s %s", end, asctime_r(&day, bytes));
}

int main(void)
{
    printf("%s\n", setlocale(LC_ALL, "C.UTF-8"));
    one_by_one();
    whole_strings();
    strings();
    others();
    return 0;
}

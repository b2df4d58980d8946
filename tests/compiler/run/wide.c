/* SPDX-License-Identifier: Apache-2.0 */
/* Wide strings, multibyte characters with a state, and what else of the headers was refused at the
 * link although the page of the compiler said otherwise. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <langinfo.h>
#include <locale.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>
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

/* Each of these was refused at the link. */
static void of_a_locale(void)
{
    locale_t made = newlocale(LC_ALL_MASK, "C.UTF-8", (locale_t)0), before;
    char *end;

    strcpy(bytes, " 12.5x");
    printf("%g ", strtod_l(bytes, &end, made));
    printf("%s %ld\n", end, strtol_l(bytes, NULL, 10, made));
    printf("%d %d ", strcoll_l(bytes, text, made) < 0, strcasecmp_l(bytes, " 12.5X", made));
    before = uselocale(made);
    printf("%d %s\n", isalpha_l('x', made) != 0, nl_langinfo_l(RADIXCHAR, made));
    printf("%d\n", uselocale(before) == made);
    freelocale(made);
}

static void streams(void)
{
    static struct tm day = {.tm_mday = 4, .tm_mon = 2, .tm_year = 121, .tm_wday = 4};
    FILE *lines = tmpfile();

    wcscpy(a, L"na\u00efve \u20ac\nsecond");
    printf("%d %d ", fputws(a, lines), (int)wcsxfrm(b, a, 5));
    rewind(lines);
    while (fgetws(b, 6, lines) != NULL) {
        printf("<%ls>", b);
    }
    printf(" %d\n", fclose(lines));
    printf("%zu ", wcsftime(b, 40, L"%A %d", &day));
    printf("%ls %zu\n", b, wcsftime(b, 4, L"%A %d", &day));
}

static void made_files(void)
{
    static char name[40];
    int file;

    for (int i = 0; i < 3; i++) {
        strcpy(name, "/tmp/nw-wide-XXXXXX.txt");
        name[i == 0 ? 19 : 23] = '\0';
        file = i == 0   ? mkostemp(name, O_APPEND)
               : i == 1 ? mkstemps(name, 4)
                        : mkostemps(name, 4, O_APPEND);
        printf("%d %d %s\n", file >= 0, strchr(name, 'X') == NULL || strlen(name) > 18,
               name + 19);
        close(file);
        unlink(name);
    }
    printf("%d ", mkstemps(name, 4));
    printf("%d\n", errno == EINVAL);
    char *page = valloc(10), *pages = pvalloc(1);
    printf("%d %d\n", ((unsigned long)page & 4095U) == 0, ((unsigned long)pages & 4095U) == 0);
    free(page);
    free(pages);
}

int main(void)
{
    printf("%s\n", setlocale(LC_ALL, "C.UTF-8"));
    one_by_one();
    whole_strings();
    strings();
    others();
    of_a_locale();
    streams();
    made_files();
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* printf and scanf with formats, strings, targets and counts in virtual memory. */
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

static char text[600], format[100];
static int n1;
static short n2;
static long long n3;
static char word[50], letters[4];
static int i1, i2;
static double d1;
static float f1;
static long l1;
static unsigned char u1;
static void *p1;
static wchar_t wide_word[8];

static int through(char *to, size_t bytes, const char *how, ...)
{
    va_list list, again;

    va_start(list, how);
    va_copy(again, list);
    int n = vsnprintf(to, bytes, how, list);
    n += vsnprintf(NULL, 0, how, again);
    va_end(again);
    va_end(list);
    return n;
}

/* One conversion that makes 400 bytes or more was formatted twice, and took its argument from the
 * list both times: what came behind it was another argument's, or rubbish. */
static void wide(void)
{
    printf("%.500d %d|%500s %d|%.450f %d|\n", 1, 2, "three", 4, 5.5, 6);
    printf("%500c %d|%-450p %d|%450Lf %d|%450lc %d|\n", '1', 2, (void *)3, 4, 5.5L, 6, L'7', 8);
    printf("%s %s %s|%f %d|%.300f %e %d|\n", "one", "two", "three", 1e308, 1, 1e200, 2.0, 3);
}

/* %b, %B and %C were printed as they stand and took no argument, so that each conversion behind
 * them got its neighbour's: a %s crashed. %Z is a length, long double has three, and a letter that
 * means nothing is printed in the host's own way. */
static void rare_letters(void)
{
    strcpy(text, "virtual");
    printf("%b %B %#b %#B %12.9b|%-12b|%012B|%hhb %lb %*b %s\n", 5U, 6U, 7U, 8U, 9U, 10U, 11U,
           0x1ffU, 1UL << 40, 12, 13U, text);
    printf("%C %5C|%-3C|%S %.2S %s\n", L'q', L'r', L's', L"wide", L"cut", text);
    printf("%Zu %Zd %qd %Ld %s\n", (size_t)7, (size_t)8, 9LL, 10LL, text);
    printf("%llf %qe %Lg %lls %s\n", 1.5L, 2.5L, 3.5L, L"wide", text);
    printf("%y %-+08.3k %lr %*w %s %d\n", 4, text, 5);
    printf("%d %s", snprintf(text, 9, "%s%", "cut off"), text);
    printf(" %d\n", printf("%d %l", 5));
    printf("%d %d %d\n", sscanf("7 8 nine", "%Zd %qd %4S", (size_t *)&l1, &n3, wide_word), (int)l1,
           (int)n3);
    printf("%ls %d\n", wide_word, sscanf("ab12", "%2C%d", wide_word, &i1));
}

static void out(void)
{
    strcpy(text, "virtual");
    strcpy(format, "[%s|%10s|%-10s|%.3s|%*.*s]\n");
    printf(format, text, text, text, text, -9, 2, text);
    printf("%d %5d %-5d| %05d %+d % d %x %X %#x %o %u %%\n", 42, 42, 42, 42, 42, 42, 255, 255, 255,
           8, 4000000000U);
    printf("%hhd %hd %ld %lld %zu %td %jd %hhu\n", (signed char)-3, (short)-300, LONG_MIN,
           LLONG_MAX, sizeof text, (ptrdiff_t)-5, (intmax_t)7, (unsigned char)200);
    printf("%f %.2f %10.3e %g %G %a %Lf %5.1f|\n", 1.5, 2.345, 12345.678, 0.0001, 1e20, 1.0, 2.5L,
           -0.04);
    printf("%c%c%5c|%-3c|\n", 'a', 'b', 'c', 'd');
    printf("%p %p %s %.2s|\n", (void *)0, (void *)0x1234, (char *)NULL, "xyz");
    printf("abc%n def%hn%lln\n", &n1, &n2, &n3);
    printf("%d %d %lld\n", n1, n2, n3);
    printf("%d %s\n", snprintf(text, 5, "%s", "truncated"), text);
    printf("%d\n", sprintf(text, "%0500d", 7));
    printf("%d %d %zu\n", text[0], text[499], strlen(text));
    printf("%d ", through(text, 30, "%d-%s-%.1f", 7, "seven", 7.7));
    printf("%s\n", text);
    char *made;
    printf("%d ", asprintf(&made, "%s+%d", "made", 5));
    printf("%s\n", made);
    free(made);
    fprintf(stdout, "%s %d\n", text, 1);
    wide();
    rare_letters();
    puts(text);
    fputs(text, stdout);
    putchar('\n');
    fflush(stdout);
}

static void in(void)
{
    strcpy(text, "  17 0x1f word 2.5 3.5e1 99 200 abcdef rest");
    int n = sscanf(text, "%d %x %s %lf %f %ld %hhu %3c", &i1, (unsigned *)&i2, word, &d1, &f1, &l1,
                   &u1, letters);
    printf("%d: %d %d %s %g %g %ld %d %.3s\n", n, i1, i2, word, d1, f1, l1, u1, letters);
    n = sscanf(text, "%d %*x %[a-z]%n", &i1, word, &n1);
    printf("%d: %d %s %d\n", n, i1, word, n1);
    n1 = 5;
    n = sscanf("nothing", "%d%n", &i1, &n1);
    printf("%d: %d %d\n", n, i1, n1);
    n = sscanf("", "%d", &i1);
    printf("%d\n", n);
    n = sscanf("[]x] 5", "[%[]x] %d", word, &i1);
    printf("%d: %s %d\n", n, word, i1);
    n = sscanf("0x1234 z", "%p %1s", &p1, word);
    printf("%d: %p %s\n", n, p1, word);
    n = scanf("%d %49s", &i1, word);
    printf("%d: %d %s\n", n, i1, word);
    n = fscanf(stdin, "%d", &i1);
    printf("%d\n", n);
}

struct kept {
    va_list list;
};

static va_list kept_list;

/* Lists of arguments that lie in virtual memory: where a va_list is an array, the wrapper was
 * handed its virtual address and took it for a plain one. */
static int keep(const char *how, ...)
{
    struct kept *kept = malloc(sizeof *kept);
    int n;

    va_start(kept->list, how);
    va_copy(kept_list, kept->list);
    n = vprintf(how, kept->list);
    n += vsnprintf(text, sizeof text, how, kept_list);
    va_end(kept_list);
    va_end(kept->list);
    free(kept);
    return n;
}

static int take(const char *from, const char *how, ...)
{
    int n;

    va_start(kept_list, how);
    n = vsscanf(from, how, kept_list);
    va_end(kept_list);
    return n;
}

static void lists(void)
{
    int n = keep("%d %s %f %ld %d %d %d\n", 1, "two", 3.5, 4L, 5, 6, 7);

    printf("%d %s", n, text);
    n = take("8 nine 10.5", "%d %s %lf", &i1, word, &d1);
    printf("%d: %d %s %g\n", n, i1, word, d1);
}

int main(void)
{
    printf("errno %d\n", errno); /* was that of a file which start-up looked for */
    out();
    in();
    lists();
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* string.h and the numbers of stdlib.h on virtual strings, plain ones, and both at once. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static char v[2000], w[2000];
static char *end;

static int sign(int x)
{
    return (x > 0) - (x < 0);
}

static long at(const char *p)
{
    return p == NULL ? -1 : p - v;
}

static void search(void)
{
    strcpy(v + 500, "the quick brown fox jumps over the lazy dog");
    char *s = v + 500;

    printf("%zu %zu %ld %ld %ld %ld\n", strlen(s), strnlen(s, 9), at(strchr(s, 'q')),
           at(strrchr(s, 'o')), at(strchr(s, 'Q')), at(strchr(s, 0)));
    printf("%ld %ld %ld %ld\n", at(strstr(s, "fox")), at(strstr(s, "cat")), at(strstr(s, "")),
           at(strpbrk(s, "xyz")));
    printf("%zu %zu %ld %ld\n", strspn(s, "the "), strcspn(s, "xyz"), at(memchr(s, 'z', 43)),
           at(memchr(s, 'z', 9)));
    strcpy(w + 510, s);
    printf("%d %d %d\n", strcmp(s, w + 510), sign(strcmp(s, "the quick")),
           sign(strncmp("the quack", s, 6)));
    printf("%d %d %d\n", strncmp(s, "the quack", 6), strcasecmp("THE QUICK", "the quick"),
           sign(strcasecmp(s, "THE QUICK")));
    printf("%d %d\n", sign(memcmp(s, w + 511, 5)), sign(strcoll(s, w + 512)));
}

static void build(void)
{
    char plain[100] = "plain ";

    strcpy(v + 508, "abc");
    strcat(v + 508, "def");
    strncat(v + 508, "ghijkl", 3);
    strncpy(w + 505, v + 508, 20);
    strcat(plain, v + 508);
    printf("%s|%s|%s|%d\n", v + 508, w + 505, plain, w[524]);
    printf("%ld\n", at(stpcpy(v + 508, "stop")) - 508);
    strcpy(v, " one, two,,three ");
    for (char *t = strtok(v, ", "); t != NULL; t = strtok(NULL, ", ")) {
        printf("[%s]", t);
    }
    strcpy(v, "a:b::c");
    char *rest = v, *t;
    while ((t = strsep(&rest, ":")) != NULL) {
        printf("<%s>", t);
    }
    printf("\n");
    for (char *p = strcpy(v, "upper Case"); *p != '\0'; p++) {
        *p = (char)toupper((unsigned char)*p);
    }
    puts(v);
}

static void numbers(void)
{
    strcpy(v, "  -12345xyz");
    printf("%d %ld %ld ", atoi(v), strtol(v, &end, 10), at(end));
    strcpy(v, "0x1fz");
    printf("%lu %ld ", strtoul(v, &end, 0), at(end));
    strcpy(v, "3.25e2,");
    printf("%g %ld %g ", strtod(v, &end), at(end), atof(v));
    memset(v, ' ', 700);
    strcpy(v + 700, "77 ");
    printf("%ld %ld ", strtol(v, &end, 10), at(end));
    memset(v, '1', 400);
    v[400] = '\0';
    errno = 0;
    printf("%ld %d %ld ", strtol(v, &end, 10), errno == ERANGE, at(end));
    printf("%s %s\n", strerror(ENOENT), strerror_r(ENOENT, v, 100)); /* GNU's: the text */
    strcpy(v, "5");
    errno = 0;
    printf("%ld %d ", strtol(v, NULL, 1), errno == EINVAL);
    memcpy(v, "a\0b\0c", 6);
    printf("%ld\n", at(rawmemchr(v, 'c')));
}

int main(void)
{
    search();
    build();
    numbers();
    return 0;
}

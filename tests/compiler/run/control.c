/* SPDX-License-Identifier: Apache-2.0 */
/* Control flow that leaves the straight path: jumps, callbacks, tables of functions, recursion,
 * variable arguments, structs passed and returned by value, signals, handlers at the end. */
#include <errno.h>
#include <getopt.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct record { int key; char name[12]; double weight; };
struct big { long v[20]; };
struct pair { long a, b; };

static jmp_buf here;
static struct record records[300];
static struct big big1, big2;
static struct pair pairs[2];
static int calls, depth, handled;
static va_list kept;

static int by_key(const void *a, const void *b)
{
    calls++;
    return ((const struct record *)a)->key - ((const struct record *)b)->key;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct record *)a)->name, ((const struct record *)b)->name);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void sorting(void)
{
    static char *words[] = {"pear", "apple", "fig", "date", "cherry"};

    for (int i = 0; i < 300; i++) {
        records[i].key = (i * 7919) % 50;
        snprintf(records[i].name, sizeof records[i].name, "n%d", i);
        records[i].weight = i;
    }
    qsort(records, 300, sizeof records[0], by_key);
    printf("%d %s %s %s\n", calls, records[0].name, records[150].name, records[299].name);
    qsort(records, 300, sizeof records[0], by_name);
    struct record wanted = {0, "n77", 0}, *found;
    found = bsearch(&wanted, records, 300, sizeof records[0], by_name);
    printf("%s %g\n", found->name, found->weight);
    strcpy(wanted.name, "zz");
    printf("%d\n", bsearch(&wanted, records, 300, sizeof records[0], by_name) == NULL);
    qsort(words, 5, sizeof words[0], by_text);
    printf("%s %s %s\n", words[0], words[2], words[4]);
}

static void fall(int n)
{
    depth++;
    if (n == 0) {
        longjmp(here, 7);
    }
    fall(n - 1);
}

static void jumping(void)
{
    jmp_buf local;
    volatile int tries = 0;

    int got = setjmp(here);
    if (got == 0) {
        fall(20);
    }
    printf("%d %d\n", got, depth);
    if (setjmp(local) < 3) {
        longjmp(local, ++tries);
    }
    printf("%d\n", tries);
    if (setjmp(here) == 0) {
        longjmp(here, 0);
    } else {
        printf("again\n");
    }
}

static struct big twice(struct big b)
{
    for (int i = 0; i < 20; i++) {
        b.v[i] *= 2;
    }
    return b;
}

static struct pair swapped(struct pair p)
{
    return (struct pair){p.b, p.a};
}

static long total(int n, ...)
{
    long sum = 0;
    va_list list, copy;

    va_start(list, n);
    va_copy(copy, list);
    va_copy(kept, list);
    for (int i = 0; i < n; i++) {
        sum += i % 2 == 0 ? va_arg(list, int) : (long)va_arg(list, double);
    }
    sum += va_arg(copy, int) * 1000L + va_arg(kept, int) * 100000L;
    va_end(kept);
    va_end(copy);
    va_end(list);
    return sum;
}

static long of_structs(int n, ...)
{
    long sum = 0;
    va_list list;

    va_start(list, n);
    for (int i = 0; i < n; i++) {
        struct big b = va_arg(list, struct big);
        struct pair p = va_arg(list, struct pair);

        sum += b.v[19] + p.a * 3 + p.b;
    }
    va_end(list);
    return sum;
}

static void values(void)
{
    for (int i = 0; i < 20; i++) {
        big1.v[i] = i;
    }
    big2 = twice(big1);
    big1 = twice(twice(big2));
    printf("%ld %ld\n", big1.v[19], big2.v[3]);
    pairs[0] = (struct pair){1, 2};
    pairs[1] = swapped(pairs[0]);
    printf("%ld %ld\n", pairs[1].a, pairs[1].b);
    printf("%ld\n", total(5, 1, 2.5, 3, 4.5, 5));
    printf("%ld\n", of_structs(2, big1, pairs[0], big2, pairs[1]));
}

static int add(int a, int b) { return a + b; }
static int times(int a, int b) { return a * b; }
static struct { const char *name; int (*run)(int, int); } table[] = {
    {"add", add}, {"times", times}};
static size_t (*length)(const char *) = strlen;
static void *(*allocate)(size_t) = malloc;
static void (*release)(void *) = free;

static void pointers(void)
{
    for (int i = 0; i < 2; i++) {
        printf("%s %d\n", table[i].name, table[i].run(6, 7));
    }
    char *p = allocate(20);
    strcpy(p, "through tables");
    printf("%zu\n", length(p));
    release(p);
}

static void on_signal(int number)
{
    handled += number;
}

static void last(void)
{
    printf("at exit %d\n", handled == SIGUSR1);
}

/* A table of options that can be written, with a flag beside it, and an array of arguments that is
 * put in order: both virtual. */
static void options(char *name)
{
    static int verbose, at;
    static char shorts[] = "ab:";
    static struct option list[] = {{"verbose", no_argument, &verbose, 7},
                                   {"size", required_argument, NULL, 's'},
                                   {NULL, 0, NULL, 0}};
    char texts[6][16] = {"file", "-a", "--size=12", "--verbose", "-bx", "more"};
    static char *words[8];

    words[0] = name;
    for (int i = 0; i < 6; i++) {
        words[i + 1] = texts[i];
    }
    for (int o; (o = getopt_long(7, words, shorts, list, &at)) != -1;) {
        printf("%d %d %d %s, ", o, at, verbose, o == 's' || o == 'b' ? optarg : "");
    }
    printf("%d %s %s\n", optind, words[5], words[6]);
    optind = 1;
    printf("%d %d\n", getopt(7, words, shorts), optind);
}

int main(int argc, char **argv)
{
    sorting();
    jumping();
    values();
    pointers();
    options(argv[0]);
    signal(SIGUSR1, on_signal);
    raise(SIGUSR1);
    printf("%d\n", handled == SIGUSR1);
    atexit(last);
    errno = EDOM;
    printf("%d %d %s\n", errno == EDOM, argc, argv[0] != NULL ? "named" : "");
    for (int i = 1; i < argc; i++) {
        argv[i][0] = 'X';
        printf("%s\n", argv[i]);
    }
    exit(3);
}

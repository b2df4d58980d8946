/* SPDX-License-Identifier: Apache-2.0 */
/*
 * getopt.c - options of the command line. The list of options may be virtual, as a static table is,
 * and so may the array of arguments; the arguments themselves must be plain, as main's are, since
 * the library keeps its place inside one from call to call.
 */
#include "internal.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

typedef int (*long_parser)(int, char *const *, const char *, const struct option *, int *);

/* The arguments in plain memory. */
static char **take_arguments(int count, char *const *arguments)
{
    size_t bytes = ((size_t)count + 1) * sizeof *arguments;
    char **plain = malloc(bytes);

    if (plain == NULL) {
        nw_guest_refuse("out of host memory in getopt");
    }
    nw_guest_get(plain, arguments, bytes);
    for (int i = 0; i < count; i++) {
        if (nw_guest_is_virtual(plain[i])) {
            nw_guest_refuse("getopt of arguments in virtual memory; use those of main");
        }
    }
    return plain;
}

/* A plain copy of the list; a name is copied and a flag replaced by a stand-in only where they are
 * virtual. */
static struct option *take_options(const struct option *options, size_t *count)
{
    static int stand_in;
    struct option one, *plain = NULL;

    *count = 0;
    do {
        nw_guest_get(&one, options + *count, sizeof one);
        plain = realloc(plain, (*count + 1) * sizeof *plain);
        if (plain == NULL) {
            nw_guest_refuse("out of host memory in getopt");
        }
        if (nw_guest_is_virtual(one.name)) {
            size_t bytes = nw_guest_strlen(one.name, SIZE_MAX) + 1;
            char *name = malloc(bytes);

            if (name == NULL) {
                nw_guest_refuse("out of host memory in getopt");
            }
            nw_guest_get(name, one.name, bytes);
            one.name = name;
        }
        one.flag = one.flag != NULL ? &stand_in : NULL;
        plain[(*count)++] = one;
    } while (one.name != NULL);
    return plain;
}

static void give_options_back(const struct option *options, struct option *plain, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct option one;

        nw_guest_get(&one, options + i, sizeof one);
        if (one.name != plain[i].name) {
            free((void *)(uintptr_t)plain[i].name);
        }
    }
    free(plain);
}

static int parse_long(long_parser parser, int count, char *const *arguments, const char *shorts,
                      const struct option *options, int *index)
{
    struct nw_guest_text copy;
    size_t options_count;
    char **plain = take_arguments(count, arguments);
    struct option *list = take_options(options, &options_count);
    int found = -1;
    int result = parser(count, plain, nw_guest_text(&copy, shorts), list, &found);

    nw_guest_text_done(&copy);
    if (found >= 0) {
        struct option one;

        nw_guest_get(&one, options + found, sizeof one);
        if (result == 0 && one.flag != NULL) {
            nw_guest_put(one.flag, &one.val, sizeof one.val);
        }
        if (index != NULL) {
            nw_guest_put(index, &found, sizeof found);
        }
    }
    nw_guest_put((void *)(uintptr_t)arguments, plain, (size_t)count * sizeof *plain); /* sorted */
    give_options_back(options, list, options_count);
    free(plain);
    return result;
}

NW_LIBC(int, getopt_long,
        (int count, char *const *arguments, const char *shorts, const struct option *options,
         int *index))
{
    return parse_long(getopt_long, count, arguments, shorts, options, index);
}

NW_LIBC(int, getopt_long_only,
        (int count, char *const *arguments, const char *shorts, const struct option *options,
         int *index))
{
    return parse_long(getopt_long_only, count, arguments, shorts, options, index);
}

NW_LIBC(int, getopt, (int count, char *const *arguments, const char *shorts))
{
    struct nw_guest_text copy;
    char **plain = take_arguments(count, arguments);
    int result = getopt(count, plain, nw_guest_text(&copy, shorts));

    nw_guest_text_done(&copy);
    nw_guest_put((void *)(uintptr_t)arguments, plain, (size_t)count * sizeof *plain);
    free(plain);
    return result;
}

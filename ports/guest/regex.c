/* SPDX-License-Identifier: Apache-2.0 */
/* regex.c - <regex.h>: an expression is a struct that points to the library's own memory, so a
 * plain copy of it does as well. */
#include "internal.h"

#include <regex.h>
#include <stdlib.h>

NW_LIBC(int, regcomp, (regex_t * to, const char *pattern, int flags))
{
    struct nw_guest_text copy;
    regex_t own;

    nw_guest_get(&own, to, sizeof own);
    int result = regcomp(&own, nw_guest_text(&copy, pattern), flags);
    nw_guest_text_done(&copy);
    nw_guest_put(to, &own, sizeof own);
    return result;
}

static void *host_memory(size_t bytes)
{
    void *block = malloc(bytes + 1);

    if (block == NULL) {
        nw_guest_refuse("out of host memory in regexec");
    }
    return block;
}

/* With REG_STARTEND the first match says where to look: the text may go on behind a zero there, and
 * need not end with one. */
static int search_range(const regex_t *own, const char *text, size_t count, regmatch_t *found,
                        int flags)
{
    size_t end = (size_t)found[0].rm_eo;
    char *plain = host_memory(end);

    nw_guest_get(plain, text, end);
    int result = regexec(own, plain, count, found, flags);
    free(plain);
    return result;
}

NW_LIBC(int, regexec,
        (const regex_t *from, const char *text, size_t count, regmatch_t matches[], int flags))
{
    int ranged = (flags & REG_STARTEND) != 0;
    size_t places = ranged && count == 0 ? 1 : count;
    regmatch_t *found = matches == NULL ? NULL : host_memory(places * sizeof *found);
    struct nw_guest_text copy;
    regex_t own;
    int result;

    nw_guest_get(&own, from, sizeof own);
    if (found != NULL) {
        nw_guest_get(found, matches, places * sizeof *found);
    }
    if (ranged && nw_guest_is_virtual(text)) {
        result = search_range(&own, text, count, found, flags);
    } else {
        result = regexec(&own, nw_guest_text(&copy, text), count, found, flags);
        nw_guest_text_done(&copy);
    }
    if (found != NULL) {
        nw_guest_put(matches, found, places * sizeof *found);
    }
    free(found);
    return result;
}

NW_LIBC(size_t, regerror, (int error, const regex_t *from, char *to, size_t bytes))
{
    char text[256];
    regex_t own, *at = nw_guest_get_or_null(&own, from, sizeof own);
    size_t needed = regerror(error, at, text, bytes < sizeof text ? bytes : sizeof text);

    if (bytes > 0) {
        nw_guest_put(to, text, needed < bytes ? needed : bytes);
    }
    return needed;
}

NW_LIBC(void, regfree, (regex_t * from))
{
    regex_t own;

    nw_guest_get(&own, from, sizeof own);
    regfree(&own);
    nw_guest_put(from, &own, sizeof own);
}

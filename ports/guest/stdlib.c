/* SPDX-License-Identifier: Apache-2.0 */
/* stdlib.c - numbers out of strings, sorting, searching, the environment. */
#include "internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void *nw_libc_malloc(size_t bytes);
size_t nw_libc_strcspn(const char *s, const char *set);
int nw_libc_memcmp(const void *a, const void *b, size_t n);
void nw_libc_free(void *block);

/* A number seldom has more digits; one that has is parsed again, up to the next blank. What stands
 * behind a number, however long, is not copied. */
#define NUMBER_BYTES 200U

#define NW_NUMBER(type, name, extra_parameters, call)                                              \
    NW_LIBC(type, name, extra_parameters)                                                          \
    {                                                                                              \
        const char *first = from + nw_guest_blanks(from);                                          \
        struct nw_guest_text copy;                                                                 \
        char *stop = NULL; /* stays so where the base is none */                                   \
        const char *text = nw_guest_text_n(&copy, first, NUMBER_BYTES);                            \
        int before = errno;                                                                        \
        type value = call;                                                                         \
                                                                                                   \
        if (nw_guest_is_virtual(from) && stop == text + NUMBER_BYTES) {                            \
            errno = before;                                                                        \
            text = nw_guest_text_n(&copy, first, nw_guest_word(first, NUMBER_BYTES));              \
            value = call;                                                                          \
        }                                                                                          \
        if (end != NULL && stop != NULL) {                                                         \
            const char *at = stop == text ? from : first + (stop - text);                          \
            nw_guest_put(end, &at, sizeof at);                                                     \
        }                                                                                          \
        nw_guest_text_done(&copy);                                                                 \
        return value;                                                                              \
    }

NW_NUMBER(long, strtol, (const char *from, char **end, int base), strtol(text, &stop, base))
NW_NUMBER(unsigned long, strtoul, (const char *from, char **end, int base),
          strtoul(text, &stop, base))
NW_NUMBER(long long, strtoll, (const char *from, char **end, int base),
          strtoll(text, &stop, base))
NW_NUMBER(unsigned long long, strtoull, (const char *from, char **end, int base),
          strtoull(text, &stop, base))
NW_NUMBER(double, strtod, (const char *from, char **end), strtod(text, &stop))
NW_NUMBER(float, strtof, (const char *from, char **end), strtof(text, &stop))
NW_NUMBER(long double, strtold, (const char *from, char **end), strtold(text, &stop))

NW_LIBC_ALIAS(long, __isoc23_strtol, strtol, (const char *from, char **end, int base));
NW_LIBC_ALIAS(unsigned long, __isoc23_strtoul, strtoul,
              (const char *from, char **end, int base));
NW_LIBC_ALIAS(long long, __isoc23_strtoll, strtoll, (const char *from, char **end, int base));
NW_LIBC_ALIAS(unsigned long long, __isoc23_strtoull, strtoull,
              (const char *from, char **end, int base));

NW_LIBC(intmax_t, strtoimax, (const char *from, char **end, int base))
{
    return nw_libc_strtoll(from, end, base);
}

NW_LIBC(uintmax_t, strtoumax, (const char *from, char **end, int base))
{
    return nw_libc_strtoull(from, end, base);
}

NW_LIBC(int, atoi, (const char *from))
{
    return (int)nw_libc_strtol(from, NULL, 10);
}

NW_LIBC(long, atol, (const char *from))
{
    return nw_libc_strtol(from, NULL, 10);
}

NW_LIBC(long long, atoll, (const char *from))
{
    return nw_libc_strtoll(from, NULL, 10);
}

NW_LIBC(double, atof, (const char *from))
{
    return nw_libc_strtod(from, NULL);
}

/*
 * The host's qsort is a merge sort that splits in the middle, and programs lean on its stability or
 * even on the order of its comparisons; so the same here. `to` and `from` hold the same elements
 * and swap roles a level: the depth is that of halving, at most 64.
 */
typedef int (*comparer)(const void *, const void *);
typedef int (*comparer_r)(const void *, const void *, void *);

struct sort {
    size_t bytes;
    comparer_r compare;
    void *argument;
};

static void merge(const struct sort *sort, uint8_t *to, const uint8_t *left, size_t lefts,
                  const uint8_t *right, size_t rights)
{
    size_t bytes = sort->bytes;

    while (lefts > 0 && rights > 0) {
        int keep = sort->compare(left, right, sort->argument) <= 0;

        nw_guest_copy(to, keep ? left : right, bytes);
        left += keep ? bytes : 0;
        right += keep ? 0 : bytes;
        lefts -= keep ? 1 : 0;
        rights -= keep ? 0 : 1;
        to += bytes;
    }
    nw_guest_copy(to, left, lefts * bytes);
    nw_guest_copy(to + lefts * bytes, right, rights * bytes);
}

static void sort_halves(const struct sort *sort, uint8_t *at, uint8_t *spare, size_t count)
{
    size_t half = count / 2;

    if (count < 2) {
        return;
    }
    sort_halves(sort, at, spare, half);
    sort_halves(sort, at + half * sort->bytes, spare, count - half);
    nw_guest_copy(spare, at, half * sort->bytes);
    nw_guest_copy(spare + half * sort->bytes, at + half * sort->bytes,
                  (count - half) * sort->bytes);
    merge(sort, at, spare, half, spare + half * sort->bytes, count - half);
}

NW_LIBC(void, qsort_r,
        (void *base, size_t count, size_t bytes, comparer_r compare, void *argument))
{
    struct sort sort = {bytes, compare, argument};

    if (!nw_guest_is_virtual(base)) {
        qsort_r(base, count, bytes, compare, argument);
        return;
    }
    if (count < 2 || bytes == 0) {
        return;
    }
    uint8_t *spare = nw_libc_malloc(count * bytes);
    if (spare == NULL) {
        nw_guest_refuse("qsort: no room in virtual memory for a second copy of the array");
    }
    sort_halves(&sort, base, spare, count);
    nw_libc_free(spare);
}

static int without_argument(const void *a, const void *b, void *argument)
{
    return (*(comparer *)argument)(a, b);
}

NW_LIBC(void, qsort, (void *base, size_t count, size_t bytes, comparer compare))
{
    nw_libc_qsort_r(base, count, bytes, without_argument, &compare);
}

NW_LIBC(void *, bsearch,
        (const void *key, const void *base, size_t count, size_t bytes,
         int (*compare)(const void *, const void *)))
{
    size_t low = 0, high = count;

    while (low < high) {
        size_t middle = (low + high) / 2;
        const uint8_t *at = (const uint8_t *)base + middle * bytes;
        int order = compare(key, at);

        if (order == 0) {
            return (void *)(uintptr_t)at;
        }
        low = order > 0 ? middle + 1 : low;
        high = order < 0 ? middle : high;
    }
    return NULL;
}

NW_LIBC(char *, getenv, (const char *name))
{
    struct nw_guest_text copy;
    char *value = getenv(nw_guest_text(&copy, name));

    nw_guest_text_done(&copy);
    return value;
}
NW_LIBC_ALIAS(char *, secure_getenv, getenv, (const char *name));

NW_LIBC(int, setenv, (const char *name, const char *value, int replace))
{
    struct nw_guest_text left, right;
    int result = setenv(nw_guest_text(&left, name), nw_guest_text(&right, value), replace);

    nw_guest_text_done(&left);
    nw_guest_text_done(&right);
    return result;
}

NW_LIBC(int, unsetenv, (const char *name))
{
    struct nw_guest_text copy;
    int result = unsetenv(nw_guest_text(&copy, name));

    nw_guest_text_done(&copy);
    return result;
}

NW_LIBC(int, system, (const char *command))
{
    struct nw_guest_text copy;

    nw_guest_map_save();
    int result = system(nw_guest_text(&copy, command));

    nw_guest_text_done(&copy);
    return result;
}

#define NAME_BYTES 4096U /* PATH_MAX */

/* A plain copy of a name that the host fills in. Returns its length. */
static size_t get_name(char *plain, const char *name)
{
    size_t n = nw_guest_strlen(name, NAME_BYTES - 1);

    nw_guest_get(plain, name, n);
    plain[n] = '\0';
    return n;
}

NW_LIBC(int, mkostemps, (char *name, int behind, int flags))
{
    char plain[NAME_BYTES];
    size_t n = get_name(plain, name);
    int file = mkostemps(plain, behind, flags);

    nw_guest_put(name, plain, n);
    return file;
}
NW_LIBC_ALIAS(int, mkostemps64, mkostemps, (char *name, int behind, int flags));

NW_LIBC(int, mkstemps, (char *name, int behind))
{
    return nw_libc_mkostemps(name, behind, 0);
}
NW_LIBC_ALIAS(int, mkstemps64, mkstemps, (char *name, int behind));

NW_LIBC(int, mkostemp, (char *name, int flags))
{
    return nw_libc_mkostemps(name, 0, flags);
}
NW_LIBC_ALIAS(int, mkostemp64, mkostemp, (char *name, int flags));

NW_LIBC(int, mkstemp, (char *name))
{
    return nw_libc_mkostemps(name, 0, 0);
}
NW_LIBC_ALIAS(int, mkstemp64, mkstemp, (char *name));

NW_LIBC(char *, mkdtemp, (char *name))
{
    char plain[NAME_BYTES];
    size_t n = get_name(plain, name);
    int made = mkdtemp(plain) != NULL;

    nw_guest_put(name, plain, n);
    return made ? name : NULL;
}

NW_LIBC(char *, realpath, (const char *path, char *to))
{
    struct nw_guest_text copy;
    char plain[NAME_BYTES];
    char *found = realpath(nw_guest_text(&copy, path), plain);

    nw_guest_text_done(&copy);
    if (found == NULL) {
        return NULL;
    }
    size_t bytes = strlen(plain) + 1;
    to = to != NULL ? to : nw_libc_malloc(bytes);
    if (to != NULL) {
        nw_guest_put(to, plain, bytes);
    }
    return to;
}

NW_LIBC(int, rand_r, (unsigned *seed))
{
    unsigned own;

    nw_guest_get(&own, seed, sizeof own);
    int value = rand_r(&own);
    nw_guest_put(seed, &own, sizeof own);
    return value;
}

/* The state of a generator of <stdlib.h>. */
struct state48 {
    unsigned short words[3];
};

NW_BY_COPY(double, erand48, (unsigned short *state), struct state48, state, erand48(own.words))
NW_BY_COPY(long, nrand48, (unsigned short *state), struct state48, state, nrand48(own.words))
NW_BY_COPY(long, jrand48, (unsigned short *state), struct state48, state, jrand48(own.words))

NW_LIBC(unsigned short *, seed48, (unsigned short *state))
{
    struct state48 own;

    nw_guest_get(&own, state, sizeof own);
    return seed48(own.words);
}

NW_LIBC(void, arc4random_buf, (void *to, size_t n))
{
    uint8_t piece[64];

    for (size_t done = 0; done < n;) {
        size_t bytes = n - done < sizeof piece ? n - done : sizeof piece;

        arc4random_buf(piece, bytes);
        nw_guest_put((uint8_t *)to + done, piece, bytes);
        done += bytes;
    }
}

NW_LIBC(char *, canonicalize_file_name, (const char *path))
{
    return nw_libc_realpath(path, NULL);
}

NW_LIBC(int, getsubopt, (char **at, char *const *tokens, char **value))
{
    char *option, *token, *rest, *found = NULL;
    int index = 0;

    nw_guest_get(&option, at, sizeof option);
    size_t n = nw_guest_strlen(option, SIZE_MAX), length = nw_libc_strcspn(option, ",=");
    if (n == 0) {
        return -1;
    }
    rest = option + nw_libc_strcspn(option, ",");
    for (;; index++) {
        nw_guest_get(&token, tokens + index, sizeof token);
        if (token == NULL) {
            index = -1;
            found = option;
            break;
        }
        if (nw_guest_strlen(token, SIZE_MAX) == length &&
            nw_libc_memcmp(token, option, length) == 0) {
            found = option + length < rest ? option + length + 1 : NULL;
            break;
        }
    }
    if (rest < option + n) {
        nw_guest_fill(rest++, 0, 1);
    }
    nw_guest_put(value, &found, sizeof found);
    nw_guest_put(at, &rest, sizeof rest);
    return index;
}

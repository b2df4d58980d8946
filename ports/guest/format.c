/* SPDX-License-Identifier: Apache-2.0 */
#include "format.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const char *read_number(const char *at, int *value)
{
    int number = 0; /* of 16 bits on some boards */

    if (*at == '*') {
        *value = -2;
        return at + 1;
    }
    for (; *at >= '0' && *at <= '9'; at++) {
        number = number < INT_MAX / 10 ? number * 10 + (*at - '0') : INT_MAX;
    }
    *value = number;
    return at;
}

static const char *read_length(const char *at, enum nw_length *length)
{
    *length = NW_LEN_NONE;
    switch (*at) {
    case 'h':
        *length = at[1] == 'h' ? NW_LEN_HH : NW_LEN_H;
        return at + (at[1] == 'h' ? 2 : 1);
    case 'l':
        *length = at[1] == 'l' ? NW_LEN_LL : NW_LEN_L;
        return at + (at[1] == 'l' ? 2 : 1);
    case 'q':
        *length = NW_LEN_LL;
        return at + 1;
    case 'j':
        *length = sizeof(intmax_t) == sizeof(long) ? NW_LEN_L : NW_LEN_LL;
        return at + 1;
    case 'z':
    case 'Z': /* as glibc: what z was called before C99 */
    case 't':
        *length = sizeof(size_t) == sizeof(long) ? NW_LEN_L : NW_LEN_NONE;
        return at + 1;
    case 'L':
        *length = NW_LEN_BIG;
        return at + 1;
    default:
        return at;
    }
}

void nw_conversion_read(struct nw_conversion *conversion, const char *at)
{
    size_t flags = 0;

    memset(conversion, 0, sizeof *conversion);
    conversion->begin = at++;
    /* '*' is a flag of scanf only where a digit or letter follows; printf's is read as a width. */
    for (; *at != '\0' && strchr("-+ #0'I", *at) != NULL; at++) {
        if (flags < sizeof conversion->flags - 1 && strchr(conversion->flags, *at) == NULL) {
            conversion->flags[flags++] = *at;
        }
    }
    conversion->width = -1;
    conversion->precision = -1;
    if (*at == '*' || (*at >= '0' && *at <= '9')) {
        at = read_number(at, &conversion->width);
    }
    if (*at == '.') {
        at = read_number(at + 1, &conversion->precision);
    }
    nw_conversion_rest(conversion, at);
}

void nw_conversion_rest(struct nw_conversion *conversion, const char *at)
{
    conversion->rest = at;
    at = read_length(at, &conversion->length);
    conversion->kind = *at;
    conversion->end = *at != '\0' ? at + 1 : at;
}

size_t nw_length_bytes(enum nw_length length)
{
    switch (length) {
    case NW_LEN_HH:
        return sizeof(char);
    case NW_LEN_H:
        return sizeof(short);
    case NW_LEN_L:
        return sizeof(long);
    case NW_LEN_LL:
    case NW_LEN_BIG:
        return sizeof(long long);
    default:
        return sizeof(int);
    }
}

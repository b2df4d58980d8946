/* SPDX-License-Identifier: Apache-2.0 */
/* format.h - one conversion of a printf or scanf format. */
#ifndef NW_GUEST_FORMAT_H
#define NW_GUEST_FORMAT_H

#include <stddef.h>

enum nw_length { NW_LEN_NONE, NW_LEN_HH, NW_LEN_H, NW_LEN_L, NW_LEN_LL, NW_LEN_BIG };

struct nw_conversion {
    const char *begin; /* at the '%' */
    const char *end;   /* behind the conversion character */
    const char *rest;  /* at the length, or the conversion character if there is none */
    char flags[8];     /* printf: "-+ #0'I" as given; scanf: "*" */
    int width;         /* -1: none, -2: by argument */
    int precision;     /* likewise */
    enum nw_length length;
    char kind; /* the conversion character; 0: the format ends inside it */
};

/* Reads the conversion at `at` (which points to a '%'). */
void nw_conversion_read(struct nw_conversion *conversion, const char *at);

/* Its length and kind alone, at `at`: what follows the `m` of scanf. */
void nw_conversion_rest(struct nw_conversion *conversion, const char *at);

/* Bytes of the integer a conversion of this length reads or writes. */
size_t nw_length_bytes(enum nw_length length);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* why.h - the line that tells a person why something was refused. */
#ifndef NANDWICH_STACK_WHY_H
#define NANDWICH_STACK_WHY_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Room for one line that says what went wrong, with the arithmetic and what to change. */
struct nw_why {
    char *text;
    size_t bytes;
};

/* Fills in the line and answers `error`. */
__attribute__((format(printf, 3, 4))) int nw_refuse(struct nw_why *why, int error,
                                                    const char *format, ...);

#ifdef __cplusplus
}
#endif

#endif

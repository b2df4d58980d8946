/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TWO_H
#define TWO_H

#include <stddef.h>

extern int shared_table[8];
extern int shared_zero[2000];
extern const char *shared_text;

void each(int *values, int count, void (*visit)(int *, void *), void *context);
void bump(void);
char *describe(char *to, size_t bytes);
/* Names of the C library with another meaning, or of newer versions of it. */
int index(const char *text, int times);
size_t strlcpy(char *to, const char *from, size_t bytes);

inline int inlined(const int *p)
{
    return p[1] * 2;
}

#endif

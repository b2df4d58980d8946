/* SPDX-License-Identifier: Apache-2.0 */
/* The other file of two_a.c. */
#include "two.h"

#include <stdio.h>
#include <string.h>

extern inline int inlined(const int *p);

int shared_table[8] = {10, 11, 12, 13, 14, 15, 16, 17};
int shared_zero[2000];
const char *shared_text = "initial";

void each(int *values, int count, void (*visit)(int *, void *), void *context)
{
    for (int i = 0; i < count; i++) {
        visit(&values[i], context);
    }
}

void bump(void)
{
    for (int i = 0; i < 8; i++) {
        shared_table[i] += 100;
    }
    shared_zero[1999] += inlined(shared_table);
}

char *describe(char *to, size_t bytes)
{
    snprintf(to, bytes, "text is %s", shared_text);
    return to;
}

int index(const char *text, int times)
{
    return (int)strlen(text) * times;
}

size_t strlcpy(char *to, const char *from, size_t bytes)
{
    size_t n = strlen(from);

    if (bytes > 0) {
        size_t taken = n < bytes ? n : bytes - 1;

        memcpy(to, from, taken);
        to[taken] = '\0';
    }
    return n;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hello.c - the smallest program worth running: a global and a heap block, both in virtual memory.
 *
 *     nandwich run examples/hello.c
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int greetings = 1;

int main(void)
{
    const char *text = "hello from flash";
    char *copy = malloc(strlen(text) + 1);

    if (copy == NULL) {
        return 1;
    }
    strcpy(copy, text);
    printf("%s, time %d\n", copy, greetings++);
    free(copy);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* With two_b.c: objects, functions and callbacks across files, and a program's own versions of
 * names the C library has. */
#include <stdio.h>
#include <string.h>

#include "two.h"

static int values[200];
static int visits;

static void count(int *value, void *context)
{
    visits++;
    *(long *)context += *value;
}

int main(void)
{
    static long total;
    char name[40], virtual_name[2][40];

    for (int i = 0; i < 200; i++) {
        values[i] = i;
    }
    each(values, 200, count, &total);
    printf("%d %ld %d %d\n", visits, total, shared_table[3], shared_zero[1999]);
    shared_zero[1999] = 4;
    shared_table[3]++;
    bump();
    printf("%d %d %s\n", shared_table[3], shared_zero[1999], shared_text);
    shared_text = "changed";
    printf("%s %d\n", describe(name, sizeof name), index("own", 3));
    strcpy(virtual_name[1], "x");
    printf("%s %zu\n", describe(virtual_name[1], 9), strlcpy(virtual_name[0], "copied", 4));
    printf("%s %d\n", virtual_name[0], inlined(values));
    return 0;
}

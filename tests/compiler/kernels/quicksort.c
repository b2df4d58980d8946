/* SPDX-License-Identifier: Apache-2.0 */
/* Recursive quicksort: two pointers that meet, and slots clobbered by every call. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static void sort(uint32_t *low, uint32_t *high)
{
    if (low >= high) {
        return;
    }
    uint32_t pivot = low[(high - low) / 2], *i = low, *j = high;

    while (i <= j) {
        while (*i < pivot) {
            i++;
        }
        while (*j > pivot) {
            j--;
        }
        if (i <= j) {
            uint32_t t = *i;

            *i++ = *j;
            *j-- = t;
        }
    }
    sort(low, j);
    sort(i, high);
}

int main(void)
{
    size_t n = 20000;
    uint32_t *a = malloc(n * sizeof *a), x = 12345, sum = 0;

    for (size_t i = 0; i < n; i++) {
        x = x * 1664525U + 1013904223U;
        a[i] = x >> 8;
    }
    sort(a, a + n - 1);
    for (size_t i = 0; i < n; i++) {
        sum = sum * 31 + a[i];
        if (i > 0 && a[i - 1] > a[i]) {
            printf("out of order at %zu\n", i);
        }
    }
    printf("%08x\n", sum);
    free(a);
    return 0;
}

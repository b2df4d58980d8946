/* SPDX-License-Identifier: Apache-2.0 */
/* Sum of 32-bit numbers over a heap block. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    size_t n = 100000;
    uint32_t *a = malloc(n * sizeof *a), sum = 0;

    for (size_t i = 0; i < n; i++) {
        a[i] = (uint32_t)(i * i);
    }
    for (size_t i = 0; i < n; i++) {
        sum += a[i];
    }
    printf("%u\n", sum);
    free(a);
    return 0;
}

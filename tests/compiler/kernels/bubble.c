/* SPDX-License-Identifier: Apache-2.0 */
/* Bubble sort: neighbours read and written in turn. */
#include <stdio.h>

#define N 600
static int a[N];

int main(void)
{
    unsigned sum = 0;

    for (int i = 0; i < N; i++) {
        a[i] = (i * 7919) % 1009;
    }
    for (int i = 0; i < N; i++) {
        for (int j = 0; j + 1 < N - i; j++) {
            if (a[j] > a[j + 1]) {
                int t = a[j];

                a[j] = a[j + 1];
                a[j + 1] = t;
            }
        }
    }
    for (int i = 0; i < N; i++) {
        sum = sum * 31 + (unsigned)a[i];
    }
    printf("%u %d %d\n", sum, a[0], a[N - 1]);
    return 0;
}

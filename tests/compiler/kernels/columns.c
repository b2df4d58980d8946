/* SPDX-License-Identifier: Apache-2.0 */
/* Small matrices: the inner loop is unrolled whole, and a column is twenty accesses with constant
 * distances. */
#include <stdio.h>

#define N 20
static int a[N][N], b[N][N], c[N][N];

int main(void)
{
    unsigned sum = 0;

    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) {
            a[i][j] = i * 3 - j;
            b[i][j] = i ^ j;
        }
    }
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < N; i++) {
            for (int j = 0; j < N; j++) {
                int total = 0;

                for (int k = 0; k < N; k++) {
                    total += a[i][k] * b[k][j];
                }
                c[i][j] = total + round;
            }
        }
    }
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) {
            sum = sum * 17 + (unsigned)c[i][j];
        }
    }
    printf("%u\n", sum);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Edit distance of two texts: a table filled from three neighbours, then walked back. */
#include <stdint.h>
#include <stdio.h>

#define N 110
static char from[N], to[N];
static uint16_t table[N + 1][N + 1];
static uint32_t kinds[4];

static uint16_t least(uint16_t a, uint16_t b, uint16_t c)
{
    uint16_t least = a < b ? a : b;

    return least < c ? least : c;
}

static void fill(void)
{
    for (int i = 0; i <= N; i++) {
        table[i][0] = table[0][i] = (uint16_t)i;
    }
    for (int i = 1; i <= N; i++) {
        for (int j = 1; j <= N; j++) {
            uint16_t changed = (uint16_t)(table[i - 1][j - 1] + (from[i - 1] != to[j - 1]));

            table[i][j] = least(changed, (uint16_t)(table[i - 1][j] + 1),
                                (uint16_t)(table[i][j - 1] + 1));
        }
    }
}

static void walk_back(void)
{
    int i = N, j = N;

    while (i > 0 && j > 0) {
        if (table[i][j] == table[i - 1][j - 1] + (from[i - 1] != to[j - 1])) {
            kinds[from[i - 1] != to[j - 1]]++;
            i--;
            j--;
        } else if (table[i][j] == table[i - 1][j] + 1) {
            kinds[2]++;
            i--;
        } else {
            kinds[3]++;
            j--;
        }
    }
}

int main(void)
{
    uint32_t x = 17, sum = 0;

    for (int round = 0; round < 8; round++) {
        for (int i = 0; i < N; i++) {
            x = x * 1664525U + 1013904223U;
            from[i] = (char)('a' + (x >> 20) % 4);
            int moved = i > 2 && x >> 31 != 0;
            to[i] = (x >> 8) % 5 == 0 ? (char)('a' + (x >> 12) % 4) : from[i - moved];
        }
        fill();
        walk_back();
        sum = sum * 31 + table[N][N];
    }
    printf("%08x: %u kept, %u changed, %u gone, %u new\n", sum, kinds[0], kinds[1], kinds[2],
           kinds[3]);
    return 0;
}

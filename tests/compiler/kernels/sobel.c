/* SPDX-License-Identifier: Apache-2.0 */
/* Sobel 3x3: neighbours in three rows at once. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define W 160
#define H 120
static uint8_t in[H][W], out[H][W];

int main(void)
{
    uint32_t sum = 0;

    for (int y = 0; y < H; y++) {
        for (int x = 0; x < W; x++) {
            in[y][x] = (uint8_t)(x * y + (x ^ y));
        }
    }
    for (int y = 1; y < H - 1; y++) {
        for (int x = 1; x < W - 1; x++) {
            int gx = in[y - 1][x + 1] + 2 * in[y][x + 1] + in[y + 1][x + 1] - in[y - 1][x - 1] -
                     2 * in[y][x - 1] - in[y + 1][x - 1];
            int gy = in[y + 1][x - 1] + 2 * in[y + 1][x] + in[y + 1][x + 1] - in[y - 1][x - 1] -
                     2 * in[y - 1][x] - in[y - 1][x + 1];
            int g = abs(gx) + abs(gy);

            out[y][x] = (uint8_t)(g > 255 ? 255 : g);
        }
    }
    for (int y = 0; y < H; y++) {
        for (int x = 0; x < W; x++) {
            sum = sum * 31 + out[y][x];
        }
    }
    printf("%08x\n", sum);
    return 0;
}

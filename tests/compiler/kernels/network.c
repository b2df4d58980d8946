/* SPDX-License-Identifier: Apache-2.0 */
/* A small neural network in 16 KB: matrices of 16-bit weights times vectors, three layers. */
#include <stdint.h>
#include <stdio.h>

#define LAYERS 3
#define N 48
#define SAMPLES 12
static int16_t weights[LAYERS][N][N], samples[SAMPLES][N], values[2][N];
static int32_t bias[LAYERS][N];

static void layer(int which, const int16_t *in, int16_t *out)
{
    for (int i = 0; i < N; i++) {
        int32_t sum = bias[which][i];

        for (int j = 0; j < N; j++) {
            sum += weights[which][i][j] * in[j];
        }
        sum >>= 6;
        out[i] = (int16_t)(sum < 0 ? sum / 8 : sum > 4000 ? 4000 : sum);
    }
}

static void fill(void)
{
    uint32_t x = 3;

    for (int which = 0; which < LAYERS; which++) {
        for (int i = 0; i < N; i++) {
            for (int j = 0; j < N; j++) {
                x = x * 1664525U + 1013904223U;
                weights[which][i][j] = (int16_t)((x >> 24) - 120);
            }
            bias[which][i] = i * 40 - 900;
        }
    }
    for (int i = 0; i < SAMPLES; i++) {
        for (int j = 0; j < N; j++) {
            samples[i][j] = (int16_t)((i * 17 + j * j) % 64);
        }
    }
}

int main(void)
{
    uint32_t sum = 0;

    fill();
    for (int round = 0; round < 4; round++) {
        for (int i = 0; i < SAMPLES; i++) {
            layer(0, samples[i], values[0]);
            layer(1, values[0], values[1]);
            layer(2, values[1], values[0]);
            for (int j = 0; j < N; j++) {
                sum = sum * 31 + (uint16_t)values[0][j];
            }
            samples[i][sum % N] ^= 5;
        }
    }
    printf("%08x\n", sum);
    return 0;
}

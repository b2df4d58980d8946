/* SPDX-License-Identifier: Apache-2.0 */
/* Fast Fourier transform in fixed point, 4096 complex points: two streams far apart. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>

#define N 4096
typedef struct {
    int32_t re, im;
} point;
static point data[N], twiddle[N / 2];

static int32_t scaled(int64_t product)
{
    return (int32_t)(product >> 14);
}

static void shuffle(void)
{
    for (unsigned i = 0, j = 0; i < N; i++) {
        if (i < j) {
            point t = data[i];

            data[i] = data[j];
            data[j] = t;
        }
        unsigned bit = N >> 1;
        for (; j & bit; bit >>= 1) {
            j ^= bit;
        }
        j ^= bit;
    }
}

int main(void)
{
    uint32_t sum = 0;

    for (int i = 0; i < N; i++) {
        data[i].re = (i * 37) % 2000 - 1000;
        data[i].im = 0;
    }
    for (int i = 0; i < N / 2; i++) {
        twiddle[i].re = (int32_t)lrint(16384 * cos(2 * M_PI * i / N));
        twiddle[i].im = (int32_t)lrint(-16384 * sin(2 * M_PI * i / N));
    }
    shuffle();
    for (int half = 1; half < N; half *= 2) {
        for (int start = 0; start < N; start += 2 * half) {
            for (int i = 0; i < half; i++) {
                point w = twiddle[i * (N / 2 / half)];
                point a = data[start + i], b = data[start + i + half];
                point t = {scaled((int64_t)b.re * w.re - (int64_t)b.im * w.im),
                           scaled((int64_t)b.re * w.im + (int64_t)b.im * w.re)};

                data[start + i] = (point){a.re + t.re, a.im + t.im};
                data[start + i + half] = (point){a.re - t.re, a.im - t.im};
            }
        }
    }
    for (int i = 0; i < N; i++) {
        sum = sum * 31 + (uint32_t)data[i].re;
        sum = sum * 31 + (uint32_t)data[i].im;
    }
    printf("%08x\n", sum);
    return 0;
}

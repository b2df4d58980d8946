/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fft.c - the fast Fourier transform of N = 2^BITS samples, in place (radix 2, decimation in time),
 * as a node would do it to a second of sound: 8 bytes a sample.
 *
 *     fft BITS
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define TWO_PI 6.28318530717958648

struct sample {
    float re, im;
};

static void bit_reverse(struct sample *x, unsigned long n)
{
    unsigned long other = 0;

    for (unsigned long i = 1; i < n; i++) {
        unsigned long bit = n >> 1;

        for (; (other & bit) != 0; bit >>= 1) {
            other ^= bit;
        }
        other |= bit;
        if (i < other) {
            struct sample kept = x[i];

            x[i] = x[other];
            x[other] = kept;
        }
    }
}

static void butterflies(struct sample *x, unsigned long n, unsigned long span)
{
    for (unsigned long start = 0; start < n; start += 2 * span) {
        double angle = 0, step = -TWO_PI / (double)(2 * span);

        for (unsigned long k = start; k < start + span; k++, angle += step) {
            float c = (float)cos(angle), s = (float)sin(angle);
            float re = x[k + span].re * c - x[k + span].im * s;
            float im = x[k + span].re * s + x[k + span].im * c;

            x[k + span].re = x[k].re - re;
            x[k + span].im = x[k].im - im;
            x[k].re += re;
            x[k].im += im;
        }
    }
}

int main(int argc, char **argv)
{
    unsigned long n = 1UL << (argc > 1 ? atoi(argv[1]) : 14), peak = 0;
    struct sample *x = malloc(n * sizeof *x);
    float most = 0;

    if (x == NULL) {
        return 1;
    }
    for (unsigned long i = 0; i < n; i++) {
        x[i].re = (float)(sin(TWO_PI * 37 * (double)i / (double)n) +
                          0.25 * sin(TWO_PI * 1001 * (double)i / (double)n));
        x[i].im = 0;
    }
    bit_reverse(x, n);
    for (unsigned long span = 1; span < n; span *= 2) {
        butterflies(x, n, span);
    }
    for (unsigned long i = 0; i < n / 2; i++) {
        float power = x[i].re * x[i].re + x[i].im * x[i].im;

        if (power > most) {
            most = power;
            peak = i;
        }
    }
    printf("%lu samples, loudest at %lu\n", n, peak);
    free(x);
    return peak == 37 ? 0 : 1;
}

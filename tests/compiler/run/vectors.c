/* SPDX-License-Identifier: Apache-2.0 */
/* Vectors, by SSE2 builtins and by the compiler's own types up to 64 bytes. */
#include <emmintrin.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef int v8 __attribute__((vector_size(32)));
typedef int v16 __attribute__((vector_size(64)));
typedef float v4 __attribute__((vector_size(16), aligned(4)));
static uint8_t bytes[2048];
static v8 eights[40];
static v16 sixteens[9];
static float floats[300];
static struct { char c; float f[4]; } crooked[30];

/* Both stand still in a loop: what is wider than a page has no window. */
static __attribute__((noinline)) void spread(uint8_t *to, const v8 *from, v16 *sum, int n)
{
    for (int i = 0; i < n; i++) {
        to[i] = (uint8_t)((*from)[i % 8] + i);
        *sum += to[i];
    }
}

int main(void)
{
    uint32_t sum = 0;

    for (int i = 0; i < 2048; i++) {
        bytes[i] = (uint8_t)(i * 5 + i / 100);
    }
    for (int i = 0; i + 48 < 2048; i += 13) {
        __m128i a = _mm_loadu_si128((const __m128i *)(bytes + i));
        __m128i b = _mm_loadu_si128((const __m128i *)(bytes + i + 30));

        _mm_storeu_si128((__m128i *)(bytes + i + 7), _mm_avg_epu8(a, b));
        _mm_storel_epi64((__m128i *)(bytes + i + 29), _mm_add_epi8(a, b));
    }
    for (int i = 0; i < 40; i++) {
        for (int k = 0; k < 8; k++) {
            eights[i][k] = i * k;
        }
    }
    for (int i = 1; i < 40; i++) {
        eights[i] += eights[i - 1] * 3;
    }
    for (int i = 1; i < 9; i++) {
        sixteens[i] = sixteens[i - 1] + i;
        sixteens[i][5] ^= 3;
    }
    for (int i = 0; i < 2000; i += 37) {
        spread(bytes + i, &eights[i % 40], &sixteens[i % 9], i % 48);
    }
    for (int i = 0; i < 300; i++) {
        floats[i] = (float)i / 4;
    }
    for (int i = 1; i + 4 < 300; i += 3) {
        *(v4 *)&floats[i] = *(v4 *)&floats[i - 1] + 1.0F;
    }
    for (int i = 0; i < 30; i++) {
        *(v4 *)crooked[i].f = *(v4 *)&floats[i * 7];
    }
    for (int i = 0; i < 2048; i++) {
        sum = sum * 31 + bytes[i];
    }
    for (int i = 0; i < 300; i++) {
        sum = sum * 31 + (uint32_t)floats[i];
    }
    for (int i = 0; i < 9; i++) {
        sum = sum * 31 + (uint32_t)sixteens[i][15];
    }
    printf("%08x %d %d %g\n", sum, eights[39][7], sixteens[8][5], (double)crooked[29].f[3]);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* RGB to gray, then gray in place: streams of bytes with steps 3 and 1. */
#include <stdint.h>
#include <stdio.h>

#define PIXELS 40000
static uint8_t rgb[3 * PIXELS], gray[PIXELS];

int main(void)
{
    uint32_t sum = 0;

    for (int i = 0; i < 3 * PIXELS; i++) {
        rgb[i] = (uint8_t)(i * 7 + i / 13);
    }
    for (int i = 0; i < PIXELS; i++) {
        gray[i] = (uint8_t)((rgb[3 * i] * 77 + rgb[3 * i + 1] * 150 + rgb[3 * i + 2] * 29) >> 8);
    }
    for (int i = 0; i < PIXELS; i++) {
        gray[i] = (uint8_t)(255 - gray[i] / 2);
    }
    for (int i = 0; i < PIXELS; i++) {
        sum = sum * 31 + gray[i];
    }
    printf("%08x\n", sum);
    return 0;
}

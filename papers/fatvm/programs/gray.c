/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gray.c - a picture of W x H pixels is taken in (made up here), turned gray, then smoothed: the
 * pixel loop of every camera node.
 *
 *     gray W H
 */
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    unsigned long width = argc > 1 ? strtoul(argv[1], NULL, 10) : 320;
    unsigned long height = argc > 2 ? strtoul(argv[2], NULL, 10) : 240;
    unsigned long pixels = width * height, sum = 0;
    unsigned char *colour = malloc(3 * pixels), *gray = malloc(pixels), *smooth = malloc(pixels);

    if (colour == NULL || gray == NULL || smooth == NULL || width < 3 || height < 3) {
        return 1;
    }
    for (unsigned long i = 0; i < 3 * pixels; i++) {
        colour[i] = (unsigned char)(i * 2654435761UL >> 13);
    }
    for (unsigned long i = 0; i < pixels; i++) {
        const unsigned char *p = colour + 3 * i;

        gray[i] = (unsigned char)((77UL * p[0] + 150UL * p[1] + 29UL * p[2]) >> 8);
    }
    for (unsigned long y = 1; y + 1 < height; y++) {
        for (unsigned long x = 1; x + 1 < width; x++) {
            const unsigned char *p = gray + y * width + x;

            smooth[y * width + x] =
                (unsigned char)((4U * p[0] + p[-1] + p[1] + p[-(long)width] + p[width]) / 8);
            sum += smooth[y * width + x];
        }
    }
    printf("%lu pixels, mean %lu\n", pixels, sum / pixels);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* What the camera does in virtual memory: any C program may stand here. It knows nothing of it. */
#include "camera.h"

#include <stdlib.h>

/* The decoder as Debian ships it (libstb-dev); what it asks of a system is malloc alone. */
#define STB_IMAGE_IMPLEMENTATION
#define STBI_ONLY_JPEG
#define STBI_NO_STDIO
#define STBI_NO_SIMD
#define STBI_NO_THREAD_LOCALS
#define STBI_ASSERT(holds) ((void)0)
#include <stb/stb_image.h>

#define COLOURS 3

int camera_decode(const uint8_t *jpeg, uint32_t bytes, struct picture *picture)
{
    int width, height, colours;
    uint32_t sum = 0, light = 0, pixels;
    uint8_t *decoded = stbi_load_from_memory(jpeg, (int)bytes, &width, &height, &colours, COLOURS);
    uint8_t *gray;

    if (decoded == NULL) {
        return -1;
    }
    pixels = (uint32_t)width * (uint32_t)height;
    gray = malloc(pixels);
    if (gray == NULL) {
        free(decoded);
        return -2;
    }
    for (uint32_t i = 0; i < pixels; i++) {
        const uint8_t *pixel = decoded + (size_t)i * COLOURS;

        sum = (((sum * 31U + pixel[0]) * 31U + pixel[1]) * 31U) + pixel[2];
        gray[i] = (uint8_t)((pixel[0] * 77U + pixel[1] * 150U + pixel[2] * 29U) >> 8);
    }
    for (uint32_t i = 0; i < pixels; i++) {
        light += gray[i];
    }
    *picture = (struct picture){(uint32_t)width, (uint32_t)height, sum, (uint8_t)(light / pixels)};
    free(gray);
    free(decoded);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jpeg2bmp.c - decode a JPEG (baseline or progressive) to a bitmap, then turn it gray.
 *
 *     nandwich run examples/jpeg2bmp.c --ram 32K --frame 512 --vm 8M -- IN.jpg OUT.bmp [GRAY.bmp]
 *
 * Plain C: nothing here knows of virtual memory, and stb_image is included as Debian ships it
 * (package libstb-dev). A picture of w x h pixels needs about 6 * w * h bytes while it is decoded.
 */
#define STB_IMAGE_IMPLEMENTATION
#define STBI_ONLY_JPEG
#include <stb/stb_image.h>

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER_BYTES = 54, GRAYS = 256, PALETTE_BYTES = 4 * GRAYS };

static void put32(unsigned char *to, unsigned long value)
{
    for (int i = 0; i < 4; i++) {
        to[i] = (unsigned char)(value >> (8 * i));
    }
}

/* File header and info header of an uncompressed bitmap with `channels` bytes a pixel. */
static void bmp_header(unsigned char *header, int width, int height, int channels)
{
    unsigned long row = ((unsigned long)width * (unsigned long)channels + 3) & ~3UL;
    unsigned long start = HEADER_BYTES + (channels == 1 ? PALETTE_BYTES : 0);

    memset(header, 0, HEADER_BYTES);
    header[0] = 'B';
    header[1] = 'M';
    put32(header + 2, start + row * (unsigned long)height);
    put32(header + 10, start);
    put32(header + 14, 40); /* bytes of the info header */
    put32(header + 18, (unsigned long)width);
    put32(header + 22, (unsigned long)height);
    header[26] = 1; /* planes */
    header[28] = (unsigned char)(8 * channels);
    put32(header + 34, row * (unsigned long)height);
}

/* One row as the file wants it: blue first, padded to 4 bytes. */
static void bmp_row(unsigned char *row, const unsigned char *pixels, int width, int channels)
{
    for (int x = 0; x < width; x++) {
        for (int c = 0; c < channels; c++) {
            row[x * channels + c] = pixels[x * channels + channels - 1 - c];
        }
    }
}

static int bmp_write(const char *path, const unsigned char *pixels, int width, int height,
                     int channels)
{
    unsigned char header[HEADER_BYTES], gray[4] = {0};
    size_t row_bytes = ((size_t)width * (size_t)channels + 3) & ~(size_t)3;
    unsigned char *row = calloc(row_bytes, 1);
    FILE *file = fopen(path, "wb");

    if (row == NULL || file == NULL) {
        fprintf(stderr, "%s: cannot be written\n", path);
        return 1;
    }
    bmp_header(header, width, height, channels);
    fwrite(header, 1, sizeof header, file);
    for (int i = 0; channels == 1 && i < GRAYS; i++) {
        memset(gray, i, 3);
        fwrite(gray, 1, sizeof gray, file);
    }
    for (int y = height - 1; y >= 0; y--) {
        bmp_row(row, pixels + (size_t)y * (size_t)width * (size_t)channels, width, channels);
        fwrite(row, 1, row_bytes, file);
    }
    free(row);
    if (ferror(file) != 0 || fclose(file) != 0) {
        fprintf(stderr, "%s: writing failed\n", path);
        return 1;
    }
    return 0;
}

/* A file that knows where it is read: what is wrong with a picture is told with its place. */
struct input {
    FILE *file;
    long offset;     /* bytes handed out so far */
    int at_once;     /* bytes handed out in one go, at most */
    int beyond_end;  /* more was asked for than the file holds */
};

/* stb_image tells a JPEG by this marker and then goes back to the start of what it read first. */
enum { SOI_BYTES = 2 };

static int input_read(void *user, char *data, int size)
{
    struct input *input = user;
    int most = input->offset == 0 && input->at_once < SOI_BYTES ? SOI_BYTES : input->at_once;
    int wanted = size < most ? size : most;
    int count = (int)fread(data, 1, (size_t)wanted, input->file);

    input->offset += count;
    input->beyond_end |= count == 0;
    return count;
}

static void input_skip(void *user, int count)
{
    struct input *input = user;
    char byte;

    while (count-- > 0 && input_read(input, &byte, 1) == 1) {
    }
}

static int input_eof(void *user)
{
    struct input *input = user;
    int next = fgetc(input->file);

    ungetc(next, input->file);
    return next == EOF;
}

/* The pixels, three bytes each; NULL when the file is no whole picture. */
static unsigned char *decode(struct input *input, int at_once, int *width, int *height)
{
    static const stbi_io_callbacks verbs = {input_read, input_skip, input_eof};
    int channels;
    unsigned char *pixels;

    rewind(input->file);
    input->offset = 0;
    input->at_once = at_once;
    input->beyond_end = 0;
    pixels = stbi_load_from_callbacks(&verbs, input, width, height, &channels, 3);
    if (pixels != NULL && input->beyond_end) {
        stbi_image_free(pixels); /* stb_image makes up what is missing; half a picture is none */
        return NULL;
    }
    return pixels;
}

static unsigned char *load(const char *path, int *width, int *height)
{
    struct input input = {.file = fopen(path, "rb")};
    unsigned char *pixels;

    if (input.file == NULL) {
        fprintf(stderr, "%s: cannot be read\n", path);
        return NULL;
    }
    pixels = decode(&input, INT_MAX, width, height);
    if (pixels == NULL) {
        /* Once more, a byte at a time: now the offset is exact. */
        decode(&input, 1, width, height);
        fprintf(stderr, "%s: byte %ld: %s\n", path, input.offset,
                input.beyond_end ? "the picture ends too early" : stbi_failure_reason());
    }
    fclose(input.file);
    return pixels;
}

/* Luma of ITU-R BT.601 in 8-bit fixed point; the gray picture replaces the first third. */
static void to_gray(unsigned char *pixels, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const unsigned char *p = pixels + 3 * i;

        pixels[i] = (unsigned char)((77U * p[0] + 150U * p[1] + 29U * p[2] + 128U) >> 8);
    }
}

int main(int argc, char **argv)
{
    int width, height, failed;
    unsigned char *pixels;

    if (argc != 3 && argc != 4) {
        fprintf(stderr, "usage: jpeg2bmp IN.jpg OUT.bmp [GRAY.bmp]\n");
        return 2;
    }
    pixels = load(argv[1], &width, &height);
    if (pixels == NULL) {
        return 1;
    }
    printf("%s: %d x %d pixels\n", argv[1], width, height);
    failed = bmp_write(argv[2], pixels, width, height, 3);
    if (argc == 4) {
        to_gray(pixels, (size_t)width * (size_t)height);
        failed |= bmp_write(argv[3], pixels, width, height, 1);
    }
    stbi_image_free(pixels);
    return failed;
}

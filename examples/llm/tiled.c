/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tiled.c - llm.c as one writes it without virtual memory: its file is read by hand.
 *
 *     tiled WEIGHTS PROMPT TOKENS SEED
 *
 * The same text, token by token. Rows of matrices are read in order and pass through one tile of
 * the size of a flash page, so that each page of them is read once a token. Rows of tables and
 * texts of tokens, read here and there, pass through small slots. All else stays in RAM, the cache
 * of keys and values among it.
 */
#define TILED
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    TILE_BYTES = 2048,
    SLOT_BYTES = 64, /* what is shorter goes to a slot */
    SLOTS = 8
};

struct buffer {
    uint32_t begin, end; /* what of the file is in it; equal: nothing */
    uint8_t *bytes;
};

struct file {
    int number;
    uint32_t size;
    struct buffer tile, slots[SLOTS];
    uint8_t tile_bytes[TILE_BYTES], slot_bytes[SLOTS][SLOT_BYTES];
};

/* Returns NULL, or what went wrong. */
static const char *open_file(struct file *file, const char *name)
{
    struct stat status;

    file->number = open(name, O_RDONLY);
    if (file->number < 0 || fstat(file->number, &status) != 0) {
        return "cannot be opened";
    }
    if (status.st_size <= 0 || status.st_size > INT32_MAX) {
        return "empty, or larger than 2 GB";
    }
    file->size = (uint32_t)status.st_size;
    file->tile = (struct buffer){.bytes = file->tile_bytes};
    for (int i = 0; i < SLOTS; i++) {
        file->slots[i] = (struct buffer){.bytes = file->slot_bytes[i]};
    }
    return NULL;
}

static void fill(const struct file *file, struct buffer *buffer, uint32_t begin, uint32_t size)
{
    uint32_t count = size < file->size - begin ? size : file->size - begin;

    if (pread(file->number, buffer->bytes, count, (off_t)begin) != (ssize_t)count) {
        fprintf(stderr, "llm: the weights cannot be read\n");
        exit(2);
    }
    buffer->begin = begin;
    buffer->end = begin + count;
}

/* Up to TILE_BYTES of the file; they stay until the next call. */
static const void *part(struct file *file, uint32_t offset, uint32_t bytes)
{
    int small = bytes < SLOT_BYTES;
    uint32_t size = small ? SLOT_BYTES : TILE_BYTES, begin = offset / size * size;
    struct buffer *buffer = small ? &file->slots[offset / SLOT_BYTES % SLOTS] : &file->tile;

    if (offset < buffer->begin || offset + bytes > buffer->end) {
        fill(file, buffer, offset + bytes <= begin + size ? begin : offset, size);
    }
    return buffer->bytes + (offset - buffer->begin);
}

static void expect_copies(struct file *file, uint32_t offset)
{
    (void)file;
    (void)offset;
}

#include "llm.c"

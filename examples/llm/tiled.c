/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tiled.c - llm.c as one writes it without virtual memory: the weights are read by hand.
 *
 *     tiled WEIGHTS PROMPT TOKENS SEED
 *
 * The same text, token by token. What is read in order (matrices) passes through one tile, what is
 * small (scales, levels, texts, rows of tables) through a few slots; the cache of keys and values
 * stays in RAM. A tile is a flash page, so that each page of a matrix is read once a token.
 */
#define TILED
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    TILE_BYTES = 2048,
    SLOT_BYTES = 128,
    SLOTS = 16 /* a power of two */
};

struct tile {
    uint32_t begin, end; /* of the file; equal: nothing is here */
};

struct file {
    int number;
    uint32_t size;
    struct tile tile, slots[SLOTS];
    uint8_t tile_bytes[TILE_BYTES], slot_bytes[SLOTS][SLOT_BYTES];
};

static const char *open_file(struct file *file, const char *name);

/* Fills a buffer with the file from `begin`, as far as both reach. */
static void fill(struct file *file, struct tile *tile, uint8_t *bytes, uint32_t begin, uint32_t size)
{
    uint32_t count = size < file->size - begin ? size : file->size - begin;

    if (pread(file->number, bytes, count, (off_t)begin) != (ssize_t)count) {
        fprintf(stderr, "llm: weights cannot be read\n");
        exit(2);
    }
    tile->begin = begin;
    tile->end = begin + count;
}

/* Some bytes of the file; they stay until the next call. */
static const void *part(struct file *file, uint32_t offset, uint32_t bytes)
{
    uint32_t slot = offset / SLOT_BYTES % SLOTS, size = bytes < 64 ? SLOT_BYTES : TILE_BYTES;
    struct tile *tile = bytes < 64 ? &file->slots[slot] : &file->tile;
    uint8_t *at = bytes < 64 ? file->slot_bytes[slot] : file->tile_bytes;

    if (offset < tile->begin || offset + bytes > tile->end) {
        uint32_t begin = offset / size * size;
        if (offset + bytes > begin + size) {
            begin = offset; /* across the end of a tile */
        }
        fill(file, tile, at, begin, size);
    }
    return at + (offset - tile->begin);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A chip saved to and loaded from a file, with its wear. The format is defined in docs/twin.md:
 * a 32-byte header, then chunks of tag, length, content and CRC-32, all little-endian:
 *   PART  the part as `key = value` lines
 *   CHIP  options, counters, clock and energy
 *   BLCK  one block: wear, and its pages that were ever programmed
 *   TORN  programs that did not end
 *   BUFS  the chip's own buffers
 *   DONE  nothing follows
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nand_internal.h"
#include "nandwich-twin/file.h"
#include "nandwich/bytes.h"
#include "nandwich/crc.h"

#define MAGIC "nandwich twin\r\n\032"
#define MAGIC_BYTES 16U
#define VERSION 2U
#define HEADER_BYTES 32U
#define CHUNK_BYTES 8U /* tag and length; a CRC of 4 bytes follows the content */
#define PART_ROOM 32768U
#define STATS (sizeof(struct nw_nand_counts) / sizeof(uint64_t))

#define TAG(a, b, c, d) \
    ((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16 | (uint32_t)(d) << 24)
#define TAG_PART TAG('P', 'A', 'R', 'T')
#define TAG_CHIP TAG('C', 'H', 'I', 'P')
#define TAG_BLCK TAG('B', 'L', 'C', 'K')
#define TAG_TORN TAG('T', 'O', 'R', 'N')
#define TAG_BUFS TAG('B', 'U', 'F', 'S')
#define TAG_DONE TAG('D', 'O', 'N', 'E')

/* The content of one chunk: written from the front, or read from the front. */
struct chunk {
    uint8_t *bytes;
    size_t room;
    size_t used; /* read: how many there are */
    size_t at;   /* read: how many were taken */
    bool failed; /* no memory, or read past the end */
};

/* Room for so many bytes more; NULL when there is no memory, and only then. */
static uint8_t *reserve(struct chunk *chunk, size_t bytes)
{
    if (chunk->bytes == NULL || bytes > chunk->room - chunk->used) {
        size_t room = 2U * chunk->room + bytes + 64U;
        uint8_t *more = chunk->failed ? NULL : realloc(chunk->bytes, room);

        if (more == NULL) {
            chunk->failed = true;
            return NULL;
        }
        chunk->bytes = more;
        chunk->room = room;
    }
    chunk->used += bytes;
    return chunk->bytes + chunk->used - bytes;
}

static void put_bytes(struct chunk *chunk, const void *from, size_t bytes)
{
    uint8_t *to = reserve(chunk, bytes);

    if (to != NULL && bytes > 0) {
        memcpy(to, from, bytes);
    }
}

static void put_number(struct chunk *chunk, uint64_t value, uint32_t bytes)
{
    uint8_t little[8];

    nw_put32(little, (uint32_t)value);
    nw_put32(little + 4, (uint32_t)(value >> 32));
    put_bytes(chunk, little, bytes);
}

static void get_bytes(struct chunk *chunk, void *to, size_t bytes)
{
    if (chunk->failed || bytes > chunk->used - chunk->at) {
        chunk->failed = true;
        return;
    }
    if (bytes > 0) {
        memcpy(to, chunk->bytes + chunk->at, bytes);
    }
    chunk->at += bytes;
}

static uint64_t get_number(struct chunk *chunk, uint32_t bytes)
{
    uint8_t little[8] = { 0 };

    get_bytes(chunk, little, bytes);
    return nw_get32(little) | (uint64_t)nw_get32(little + 4) << 32;
}

/* ---- saving ---- */

static int write_chunk(FILE *file, uint32_t tag, struct chunk *chunk)
{
    uint8_t head[CHUNK_BYTES];
    uint8_t tail[4];
    uint32_t crc;

    if (chunk->failed || chunk->used > UINT32_MAX) {
        return NW_ERR_RAM;
    }
    nw_put32(head, tag);
    nw_put32(head + 4, (uint32_t)chunk->used);
    crc = nw_crc32(NW_CRC32_START, head, sizeof head);
    crc = nw_crc32(crc, chunk->bytes, (uint32_t)chunk->used);
    nw_put32(tail, crc);
    if (fwrite(head, 1, sizeof head, file) != sizeof head ||
        fwrite(chunk->bytes, 1, chunk->used, file) != chunk->used ||
        fwrite(tail, 1, sizeof tail, file) != sizeof tail) {
        return NW_ERR_IO;
    }
    chunk->used = 0;
    return NW_OK;
}

static int write_header(FILE *file, const struct nw_nand *nand)
{
    uint8_t header[HEADER_BYTES] = { 0 };

    memcpy(header, MAGIC, MAGIC_BYTES);
    nw_put32(header + 16, VERSION);
    nw_put32(header + 20, HEADER_BYTES);
    nw_put32(header + 24, nand->chip.geometry.blocks);
    nw_put32(header + 28, nw_crc32(NW_CRC32_START, header, 28));
    return fwrite(header, 1, sizeof header, file) == sizeof header ? NW_OK : NW_ERR_IO;
}

/* Only what differs from an empty description: a reader starts from that one too. */
static void put_part(struct chunk *chunk, const struct nw_part *part)
{
    size_t count;
    const struct nw_field *fields = nw_part_fields(&count);
    struct nw_part empty;

    nw_part_init(&empty);
    for (size_t i = 0; i < count; i++) {
        char value[256];
        char unset[256];

        if (nw_field_text(&fields[i], part, value, sizeof value) < 0 ||
            nw_field_text(&fields[i], &empty, unset, sizeof unset) < 0) {
            chunk->failed = true;
        } else if (strcmp(value, unset) != 0) {
            put_bytes(chunk, fields[i].key, strlen(fields[i].key));
            put_bytes(chunk, " = ", 3);
            put_bytes(chunk, value, strlen(value));
            put_bytes(chunk, "\n", 1);
        }
    }
}

static void put_chip(struct chunk *chunk, const struct nw_nand *nand)
{
    uint64_t stats[STATS];

    put_number(chunk, nand->seed, 4);
    put_number(chunk, nand->flags, 4);
    put_number(chunk, nand->early_deaths, 2);
    put_number(chunk, nand->off ? 1 : 0, 2);
    put_number(chunk, nand->power_ups, 4);
    put_number(chunk, nand->operations, 8);
    put_number(chunk, nand->meter->time_ns, 8);
    put_number(chunk, nand->meter->energy_pj, 8);
    memcpy(stats, &nand->stats, sizeof stats);
    for (size_t i = 0; i < STATS; i++) {
        put_number(chunk, stats[i], 8);
    }
}

static void put_words(struct chunk *chunk, const uint64_t *words, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        put_number(chunk, words[i], 8);
    }
}

static void put_page(struct chunk *chunk, const struct nw_nand *nand, uint32_t page)
{
    const struct nand_page *state = &nand->pages[page];

    put_number(chunk, page % nand->chip.geometry.block_pages, 2);
    put_number(chunk, state->lifetime, 4);
    put_number(chunk, state->programs, 1);
    put_number(chunk, state->flags, 1);
    if (state->programs > 0) {
        put_words(chunk, nand->spare_bits + (size_t)page * nand->spare_words, nand->spare_words);
        put_bytes(chunk, nand_spare_at(nand, page), nand->chip.geometry.spare_bytes);
    }
    if ((state->flags & PAGE_PARTLY) != 0) {
        put_words(chunk, nand->data_bits + (size_t)page * nand->data_words, nand->data_words);
    }
    if ((state->flags & PAGE_PAYLOAD) != 0) {
        put_bytes(chunk, nand_data_at(nand, page), nand->chip.geometry.page_bytes);
    }
}

static void put_block(struct chunk *chunk, const struct nw_nand *nand, uint32_t number)
{
    const struct nand_block *block = &nand->blocks[number];
    uint32_t first = number * nand->chip.geometry.block_pages;

    put_number(chunk, number, 4);
    put_number(chunk, block->erases, 4);
    put_number(chunk, block->life, 4);
    put_number(chunk, block->heals, 4);
    put_number(chunk, block->fresh, 4);
    put_number(chunk, block->next, 2);
    put_number(chunk, block->flags, 1);
    put_number(chunk, block->torn, 1);
    for (uint32_t page = first; page < first + nand->chip.geometry.block_pages; page++) {
        if (nand->pages[page].lifetime > 0) {
            put_page(chunk, nand, page);
        }
    }
}

static void put_torn(struct chunk *chunk, const struct nand_torn *torn)
{
    put_number(chunk, torn->page, 4);
    put_number(chunk, torn->offset, 2);
    put_number(chunk, torn->length, 2);
    put_number(chunk, torn->spare_offset, 2);
    put_number(chunk, torn->spare_length, 2);
    put_number(chunk, torn->data_torn, 1);
    put_number(chunk, torn->spare_torn, 1);
    put_number(chunk, torn->rewrite, 1);
}

static int write_image(FILE *file, const struct nw_nand *nand, struct chunk *chunk)
{
    const struct nw_geometry *geometry = &nand->chip.geometry;
    int error = write_header(file, nand);

    put_part(chunk, &nand->part);
    error = error < 0 ? error : write_chunk(file, TAG_PART, chunk);
    put_chip(chunk, nand);
    error = error < 0 ? error : write_chunk(file, TAG_CHIP, chunk);
    for (uint32_t i = 0; error == NW_OK && i < geometry->blocks; i++) {
        put_block(chunk, nand, i);
        error = write_chunk(file, TAG_BLCK, chunk);
    }
    for (uint32_t i = 0; i < nand->torn_count; i++) {
        put_torn(chunk, &nand->torn[i]);
    }
    error = error < 0 ? error : write_chunk(file, TAG_TORN, chunk);
    put_bytes(chunk, nand->buffers, (size_t)geometry->buffers * geometry->page_bytes);
    error = error < 0 ? error : write_chunk(file, TAG_BUFS, chunk);
    return error < 0 ? error : write_chunk(file, TAG_DONE, chunk);
}

int nw_nand_save(const struct nw_nand *nand, const char *path)
{
    struct chunk chunk = { 0 };
    struct nw_replace replace;
    FILE *file;
    int error = NW_ERR_IO, cause;

    if (nw_replace_begin(&replace, path) != 0) {
        return NW_ERR_IO;
    }
    file = nw_replace_stream(&replace);
    if (file != NULL) {
        error = write_image(file, nand, &chunk);
        cause = errno;
        if (fclose(file) != 0 && error == NW_OK) {
            error = NW_ERR_IO;
            cause = errno;
        }
        errno = cause;
    }
    free(chunk.bytes);
    if (nw_replace_end(&replace, error == NW_OK) != 0 && error == NW_OK) {
        error = NW_ERR_IO;
    }
    return error;
}

/* ---- loading ---- */

struct reader {
    FILE *file;
    uint64_t offset; /* of the chunk at hand */
    uint64_t next;   /* of the one after it */
    uint32_t tag;
    struct chunk chunk;
    struct nw_image_fault *fault;
};

static int faulty(struct reader *reader, int error, const char *what)
{
    reader->fault->offset = reader->offset;
    (void)snprintf(reader->fault->text, sizeof reader->fault->text, "%s", what);
    return error;
}

static int read_header(struct reader *reader, uint32_t *blocks)
{
    uint8_t header[HEADER_BYTES];
    size_t got = fread(header, 1, sizeof header, reader->file);

    if (got < sizeof header || memcmp(header, MAGIC, MAGIC_BYTES) != 0) {
        return faulty(reader, NW_ERR_CORRUPT, "not an image of a twin");
    }
    reader->offset = 16;
    if (nw_get32(header + 28) != nw_crc32(NW_CRC32_START, header, 28)) {
        return faulty(reader, NW_ERR_CORRUPT, "the header does not match its checksum");
    }
    if (nw_get32(header + 16) != VERSION) {
        return faulty(reader, NW_ERR_VERSION, "an image of another version");
    }
    *blocks = nw_get32(header + 24);
    reader->offset = HEADER_BYTES;
    reader->next = HEADER_BYTES;
    return NW_OK;
}

/* Reads one chunk of at most `most` bytes and checks it; anything amiss is told with its offset. */
static int read_chunk(struct reader *reader, uint32_t tag, size_t most)
{
    struct chunk *chunk = &reader->chunk;
    uint8_t head[CHUNK_BYTES];
    uint8_t tail[4];
    uint32_t crc;
    uint32_t bytes;

    reader->offset = reader->next;
    if (fread(head, 1, sizeof head, reader->file) != sizeof head) {
        return faulty(reader, NW_ERR_CORRUPT, "the image ends too early");
    }
    bytes = nw_get32(head + 4);
    if (nw_get32(head) != tag || bytes > most) {
        return faulty(reader, NW_ERR_CORRUPT, "no chunk of the kind that must stand here");
    }
    chunk->used = 0;
    chunk->at = 0;
    chunk->failed = false;
    if (reserve(chunk, bytes) == NULL) {
        return NW_ERR_RAM;
    }
    if ((bytes > 0 && fread(chunk->bytes, 1, bytes, reader->file) != bytes) ||
        fread(tail, 1, sizeof tail, reader->file) != sizeof tail) {
        return faulty(reader, NW_ERR_CORRUPT, "the image ends too early");
    }
    crc = nw_crc32(NW_CRC32_START, head, sizeof head);
    if (nw_get32(tail) != nw_crc32(crc, chunk->bytes, bytes)) {
        return faulty(reader, NW_ERR_CORRUPT, "a chunk does not match its checksum");
    }
    reader->next += sizeof head + bytes + sizeof tail;
    return NW_OK;
}

static int get_part(struct reader *reader, struct nw_part *part)
{
    struct chunk *chunk = &reader->chunk;
    char *line;
    char *end;

    put_bytes(chunk, "", 1); /* so that every line, and the whole, ends */
    if (chunk->failed) {
        return NW_ERR_RAM;
    }
    nw_part_init(part);
    for (line = (char *)chunk->bytes; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        char *equals = strstr(line, " = ");

        if (equals == NULL || equals > end) {
            return faulty(reader, NW_ERR_CORRUPT, "a line of the part is not key = value");
        }
        *equals = '\0';
        *end = '\0';
        if (nw_part_set(part, line, equals + 3) < 0) {
            return faulty(reader, NW_ERR_CORRUPT, "the part has a key or value that is not known");
        }
    }
    if (line != (char *)chunk->bytes + chunk->used - 1) {
        return faulty(reader, NW_ERR_CORRUPT, "a line of the part has no end or a zero byte");
    }
    return nw_part_check(part, NULL) < 0
               ? faulty(reader, NW_ERR_CORRUPT, "the part contradicts itself")
               : NW_OK;
}

static void get_chip(struct chunk *chunk, struct nw_nand_config *config, struct nw_nand *kept)
{
    uint64_t stats[STATS];

    config->seed = (uint32_t)get_number(chunk, 4);
    config->flags = (uint32_t)get_number(chunk, 4);
    config->early_deaths = (uint16_t)get_number(chunk, 2);
    kept->off = get_number(chunk, 2) != 0;
    kept->power_ups = (uint32_t)get_number(chunk, 4);
    kept->operations = get_number(chunk, 8);
    kept->own_meter.time_ns = get_number(chunk, 8);
    kept->own_meter.energy_pj = get_number(chunk, 8);
    for (size_t i = 0; i < STATS; i++) {
        stats[i] = get_number(chunk, 8);
    }
    memcpy(&kept->stats, stats, sizeof stats);
}

static void get_words(struct chunk *chunk, uint64_t *words, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        words[i] = get_number(chunk, 8);
    }
}

static bool get_page(struct chunk *chunk, struct nw_nand *nand, uint32_t first, uint32_t *least)
{
    uint32_t index = (uint32_t)get_number(chunk, 2);
    uint32_t page = first + index;
    struct nand_page state = { 0 };

    state.lifetime = (uint32_t)get_number(chunk, 4);
    state.programs = (uint8_t)get_number(chunk, 1);
    state.flags = (uint8_t)get_number(chunk, 1);
    if (chunk->failed || index < *least || index >= nand->chip.geometry.block_pages ||
        state.flags > (PAGE_WHOLE | PAGE_PARTLY | PAGE_PAYLOAD | PAGE_TORN | PAGE_BLANK) ||
        (state.programs == 0 && state.flags != 0) ||
        ((state.flags & PAGE_PARTLY) != 0 && nand->data_words == 0)) {
        return false;
    }
    nand->pages[page] = state;
    *least = index + 1U;
    if (state.programs > 0) {
        get_words(chunk, nand->spare_bits + (size_t)page * nand->spare_words, nand->spare_words);
        get_bytes(chunk, nand_spare_at(nand, page), nand->chip.geometry.spare_bytes);
    }
    if ((state.flags & PAGE_PARTLY) != 0) {
        get_words(chunk, nand->data_bits + (size_t)page * nand->data_words, nand->data_words);
    }
    if ((state.flags & PAGE_PAYLOAD) != 0) {
        get_bytes(chunk, nand_data_at(nand, page), nand->chip.geometry.page_bytes);
    }
    return !chunk->failed;
}

static bool get_block(struct chunk *chunk, struct nw_nand *nand, uint32_t number)
{
    struct nand_block *block = &nand->blocks[number];
    uint32_t first = number * nand->chip.geometry.block_pages;
    uint32_t least = 0;

    if (get_number(chunk, 4) != number) {
        return false;
    }
    block->erases = (uint32_t)get_number(chunk, 4);
    block->life = (uint32_t)get_number(chunk, 4);
    block->heals = (uint32_t)get_number(chunk, 4);
    block->fresh = (uint32_t)get_number(chunk, 4);
    block->next = (uint16_t)get_number(chunk, 2);
    block->flags = (uint8_t)get_number(chunk, 1);
    block->torn = (uint8_t)get_number(chunk, 1);
    if (chunk->failed || block->fresh > block->erases ||
        block->next > nand->chip.geometry.block_pages || block->torn > NW_TORN_RANDOM) {
        return false;
    }
    while (chunk->at < chunk->used) {
        if (!get_page(chunk, nand, first, &least)) {
            return false;
        }
    }
    return true;
}

static bool get_torn(struct chunk *chunk, struct nw_nand *nand)
{
    const struct nw_geometry *geometry = &nand->chip.geometry;

    nand->torn_room = (uint32_t)(chunk->used / 15U);
    nand->torn = calloc(nand->torn_room + 1U, sizeof *nand->torn);
    while (nand->torn != NULL && chunk->at < chunk->used && nand->torn_count < nand->torn_room) {
        struct nand_torn *torn = &nand->torn[nand->torn_count++];

        torn->page = (uint32_t)get_number(chunk, 4);
        torn->offset = (uint16_t)get_number(chunk, 2);
        torn->length = (uint16_t)get_number(chunk, 2);
        torn->spare_offset = (uint16_t)get_number(chunk, 2);
        torn->spare_length = (uint16_t)get_number(chunk, 2);
        torn->data_torn = (uint8_t)get_number(chunk, 1);
        torn->spare_torn = (uint8_t)get_number(chunk, 1);
        torn->rewrite = (uint8_t)get_number(chunk, 1);
        if (torn->page >= nand->page_count || torn->data_torn > NW_TORN_RANDOM ||
            torn->spare_torn > NW_TORN_RANDOM ||
            (uint32_t)torn->offset + torn->length > geometry->page_bytes ||
            (uint32_t)torn->spare_offset + torn->spare_length > geometry->spare_bytes) {
            return false;
        }
    }
    return nand->torn != NULL && chunk->at == chunk->used;
}

/* The longest a block's chunk can be. */
static size_t block_room(const struct nw_nand *nand)
{
    const struct nw_geometry *geometry = &nand->chip.geometry;

    return 64U + (size_t)geometry->block_pages *
                     (8U + 8U * nand->spare_words + geometry->spare_bytes + 8U * nand->data_words +
                      geometry->page_bytes);
}

static int read_chunks(struct reader *reader, struct nw_nand *nand)
{
    const struct nw_geometry *geometry = &nand->chip.geometry;
    size_t buffers = (size_t)geometry->buffers * geometry->page_bytes;
    int error = NW_OK;

    for (uint32_t i = 0; error == NW_OK && i < geometry->blocks; i++) {
        error = read_chunk(reader, TAG_BLCK, block_room(nand));
        if (error == NW_OK && !get_block(&reader->chunk, nand, i)) {
            error = faulty(reader, NW_ERR_CORRUPT, "a block contradicts itself");
        }
    }
    error = error < 0 ? error : read_chunk(reader, TAG_TORN, 15U * (size_t)nand->page_count);
    if (error == NW_OK && !get_torn(&reader->chunk, nand)) {
        error = faulty(reader, NW_ERR_CORRUPT, "a torn page lies outside the part");
    }
    error = error < 0 ? error : read_chunk(reader, TAG_BUFS, buffers);
    if (error == NW_OK) {
        get_bytes(&reader->chunk, nand->buffers, buffers);
        error = reader->chunk.failed ? faulty(reader, NW_ERR_CORRUPT, "chip buffers are missing")
                                     : read_chunk(reader, TAG_DONE, 0);
    }
    if (error == NW_OK && fgetc(reader->file) != EOF) {
        reader->offset = reader->next;
        error = faulty(reader, NW_ERR_CORRUPT, "something follows the end of the image");
    }
    return error;
}

static int read_image(struct reader *reader, struct nw_nand **out)
{
    struct nw_part part;
    struct nw_nand_config config = { .part = &part };
    struct nw_nand kept;
    struct nw_nand *nand;
    int error = read_header(reader, &config.blocks);

    memset(&kept, 0, sizeof kept);
    error = error < 0 ? error : read_chunk(reader, TAG_PART, PART_ROOM);
    error = error < 0 ? error : get_part(reader, &part);
    error = error < 0 ? error : read_chunk(reader, TAG_CHIP, 1024);
    if (error < 0) {
        return error;
    }
    get_chip(&reader->chunk, &config, &kept);
    if (reader->chunk.failed || config.blocks == 0) {
        return faulty(reader, NW_ERR_CORRUPT, "options and counters are missing");
    }
    error = nw_nand_build(&nand, &config);
    if (error < 0) {
        return error == NW_ERR_RAM ? error
                                   : faulty(reader, NW_ERR_CORRUPT, "the part cannot be opened");
    }
    error = read_chunks(reader, nand);
    if (error < 0) {
        nw_nand_close(nand);
        return error;
    }
    nand->off = kept.off;
    nand->stop_at = kept.off ? 0 : UINT64_MAX;
    nand->power_ups = kept.power_ups;
    nand->operations = kept.operations;
    nand->own_meter = kept.own_meter;
    nand->stats = kept.stats;
    *out = nand;
    return NW_OK;
}

int nw_nand_load(struct nw_nand **nand, const char *path, struct nw_image_fault *fault)
{
    struct nw_image_fault unused;
    struct reader reader = { 0 };
    int error;

    *nand = NULL;
    reader.fault = fault != NULL ? fault : &unused;
    memset(reader.fault, 0, sizeof *reader.fault);
    reader.file = nw_file_open(path);
    if (reader.file == NULL) {
        (void)snprintf(reader.fault->text, sizeof reader.fault->text, "%s",
                       errno == EINVAL ? "not a regular file" : strerror(errno));
        return NW_ERR_IO;
    }
    error = read_image(&reader, nand);
    if (error == NW_ERR_CORRUPT && ferror(reader.file) != 0) {
        error = faulty(&reader, NW_ERR_IO, "the file cannot be read");
    }
    (void)fclose(reader.file); /* only read from */
    free(reader.chunk.bytes);
    return error;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "nandwich-twin/file.h"
#include "nandwich/error.h"

#define RAW_BYTES 65536U

struct nw_input {
    FILE *file;
    enum nw_packing packing;
    z_stream gzip;
    ZSTD_DStream *zstd;
    size_t raw_at;    /* packed bytes taken */
    size_t raw_count; /* packed bytes there */
    int inside;       /* 1: in the middle of a packed stream */
    uint8_t raw[RAW_BYTES];
};

static int fill_raw(struct nw_input *input)
{
    if (input->raw_at == input->raw_count) {
        input->raw_at = 0;
        input->raw_count = fread(input->raw, 1, RAW_BYTES, input->file);
    }
    return ferror(input->file) != 0 ? NW_ERR_IO : NW_OK;
}

static int start(struct nw_input *input)
{
    int status;

    input->raw_at = 0;
    input->raw_count = 0;
    input->inside = 0;
    status = fill_raw(input);
    input->packing = NW_PLAIN;
    if (input->raw_count >= 2 && input->raw[0] == 0x1FU && input->raw[1] == 0x8BU) {
        input->packing = NW_GZIP;
    } else if (input->raw_count >= 4 && memcmp(input->raw, "\x28\xB5\x2F\xFD", 4) == 0) {
        input->packing = NW_ZSTD;
    }
    return status;
}

int nw_input_open(struct nw_input **input, const char *path)
{
    FILE *file = nw_file_open(path);
    struct nw_input *made;

    *input = NULL;
    if (file == NULL) {
        return NW_ERR_IO;
    }
    made = calloc(1, sizeof *made);
    if (made == NULL) {
        (void)fclose(file);
        return NW_ERR_RAM;
    }
    made->file = file;
    made->zstd = ZSTD_createDStream();
    /* 15 bits of window, 16 more: a gzip head is expected. */
    if (made->zstd == NULL || inflateInit2(&made->gzip, 15 + 16) != Z_OK) {
        nw_input_close(made);
        return NW_ERR_RAM;
    }
    if (start(made) < 0) {
        nw_input_close(made);
        return NW_ERR_IO;
    }
    *input = made;
    return NW_OK;
}

void nw_input_close(struct nw_input *input)
{
    if (input != NULL) {
        (void)fclose(input->file); /* was only read */
        (void)inflateEnd(&input->gzip);
        (void)ZSTD_freeDStream(input->zstd);
        free(input);
    }
}

int nw_input_rewind(struct nw_input *input)
{
    if (fseek(input->file, 0, SEEK_SET) != 0 || inflateReset(&input->gzip) != Z_OK ||
        ZSTD_isError(ZSTD_initDStream(input->zstd))) {
        return NW_ERR_IO;
    }
    return start(input);
}

static int read_plain(struct nw_input *input, uint8_t *to, uint32_t room)
{
    size_t left = input->raw_count - input->raw_at;
    size_t count = left < room ? left : room;

    memcpy(to, input->raw + input->raw_at, count);
    input->raw_at += count;
    return (int)count;
}

static int read_gzip(struct nw_input *input, uint8_t *to, uint32_t room)
{
    int status;

    if (input->inside == 0 && inflateReset(&input->gzip) != Z_OK) {
        return NW_ERR_CORRUPT;
    }
    input->gzip.next_in = input->raw + input->raw_at;
    input->gzip.avail_in = (uInt)(input->raw_count - input->raw_at);
    input->gzip.next_out = to;
    input->gzip.avail_out = room;
    status = inflate(&input->gzip, Z_NO_FLUSH);
    input->raw_at = input->raw_count - input->gzip.avail_in;
    if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR) {
        return NW_ERR_CORRUPT;
    }
    input->inside = status != Z_STREAM_END; /* several members may follow each other */
    return (int)(room - input->gzip.avail_out);
}

static int read_zstd(struct nw_input *input, uint8_t *to, uint32_t room)
{
    ZSTD_inBuffer in = {input->raw, input->raw_count, input->raw_at};
    ZSTD_outBuffer out = {to, room, 0};
    size_t left = ZSTD_decompressStream(input->zstd, &out, &in);

    if (ZSTD_isError(left)) {
        return NW_ERR_CORRUPT;
    }
    input->raw_at = in.pos;
    input->inside = left != 0;
    return (int)out.pos;
}

int nw_input_read(struct nw_input *input, uint8_t *to, uint32_t room)
{
    static int (*const readers[])(struct nw_input *, uint8_t *, uint32_t) = {
        [NW_PLAIN] = read_plain, [NW_GZIP] = read_gzip, [NW_ZSTD] = read_zstd};

    for (;;) { /* ends: each turn gives bytes or takes packed ones */
        int status = fill_raw(input);
        int count;

        if (status < 0) {
            return status;
        }
        if (input->raw_count == 0) {
            return input->inside != 0 ? (int)NW_ERR_CORRUPT : 0;
        }
        count = readers[input->packing](input, to, room);
        if (count != 0) {
            return count;
        }
    }
}

enum nw_packing nw_input_packing(const struct nw_input *input)
{
    return input->packing;
}

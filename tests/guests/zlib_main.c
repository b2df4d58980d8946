/* SPDX-License-Identifier: Apache-2.0 */
/* Packs a file with zlib into OUT.gz by the streaming interface, unpacks it again in memory, and
 * says what came of it: zlib_main IN OUT.gz */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { CHUNK = 16384 };

static unsigned char chunk[CHUNK];

static unsigned char *read_all(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "rb");
    unsigned char *all = NULL;
    size_t count;

    *bytes = 0;
    while (file != NULL && (count = fread(chunk, 1, sizeof chunk, file)) > 0) {
        all = realloc(all, *bytes + count);
        if (all == NULL) {
            exit(3);
        }
        memcpy(all + *bytes, chunk, count);
        *bytes += count;
    }
    if (file != NULL) {
        fclose(file);
    }
    return all;
}

static size_t pack(unsigned char *in, size_t bytes, unsigned char *out, size_t room, int level)
{
    z_stream stream;

    memset(&stream, 0, sizeof stream);
    if (deflateInit2(&stream, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
        exit(4);
    }
    stream.next_in = in;
    stream.avail_in = (uInt)bytes;
    stream.next_out = out;
    stream.avail_out = (uInt)room;
    if (deflate(&stream, Z_FINISH) != Z_STREAM_END) {
        exit(5);
    }
    deflateEnd(&stream);
    return stream.total_out;
}

static size_t unpack(unsigned char *in, size_t bytes, unsigned char *out, size_t room)
{
    z_stream stream;

    memset(&stream, 0, sizeof stream);
    if (inflateInit2(&stream, 15 + 16) != Z_OK) {
        exit(6);
    }
    stream.next_in = in;
    stream.avail_in = (uInt)bytes;
    stream.next_out = out;
    stream.avail_out = (uInt)room;
    if (inflate(&stream, Z_FINISH) != Z_STREAM_END) {
        exit(7);
    }
    inflateEnd(&stream);
    return stream.total_out;
}

int main(int argc, char **argv)
{
    size_t bytes, packed = 0, room;
    unsigned char *plain = argc == 3 ? read_all(argv[1], &bytes) : NULL, *squeezed, *again;
    FILE *out;

    if (plain == NULL) {
        return 2;
    }
    room = compressBound((uLong)bytes) + 64;
    squeezed = malloc(room);
    again = malloc(bytes);
    for (int level = 1; level <= 9; level += 4) {
        packed = pack(plain, bytes, squeezed, room, level);
        if (unpack(squeezed, packed, again, bytes) != bytes || memcmp(plain, again, bytes) != 0) {
            printf("level %d: not the same again\n", level);
            return 1;
        }
        printf("zlib %s level %d: %zu -> %zu, crc %08lx\n", zlibVersion(), level, bytes, packed,
               crc32(0, again, (uInt)bytes));
    }
    out = fopen(argv[2], "wb");
    return out != NULL && fwrite(squeezed, 1, packed, out) == packed && fclose(out) == 0 ? 0 : 1;
}

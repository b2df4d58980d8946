/* SPDX-License-Identifier: Apache-2.0 */
/* No stdio: a child of fork() would write the rest of a stream's buffer a second time. */
#define _POSIX_C_SOURCE 200809L /* strnlen, write */
#include "nandwich-vmtrace/access.h"

#include "access_format.h"

#include "nandwich/error.h"

#include <errno.h>
#include <unistd.h>

static void write_all(struct nw_access_writer *writer, const uint8_t *from, size_t bytes)
{
    while (bytes > 0 && writer->error == 0) {
        ssize_t done = write(writer->replace.file, from, bytes);

        if (done < 0 && errno != EINTR) {
            writer->error = errno;
        } else if (done > 0) {
            from += done;
            bytes -= (size_t)done;
        }
    }
}

static void end_chunk(struct nw_access_writer *writer)
{
    uint8_t head[CHUNK_HEAD_BYTES];

    put_le(head, writer->kind, 4);
    put_le(head + 4, writer->count, 4);
    put_le(head + 8, writer->used, 4);
    put_le(head + 12, chunk_crc(head, writer->chunk, writer->used), 4);
    write_all(writer, head, sizeof head);
    write_all(writer, writer->chunk, writer->used);
}

/* Room for one more record of this kind. */
static void begin_record(struct nw_access_writer *writer, uint32_t kind)
{
    if (writer->count > 0 &&
        (writer->kind != kind || writer->used > sizeof writer->chunk - MOST_RECORD_BYTES)) {
        end_chunk(writer);
        writer->count = 0;
    }
    if (writer->count == 0) {
        writer->kind = kind;
        writer->used = 0;
        writer->previous = writer->base;
    }
    writer->count++;
}

static void put_number(struct nw_access_writer *writer, uint64_t value)
{
    while (value >= 0x80U) {
        writer->chunk[writer->used++] = (uint8_t)(value | 0x80U);
        value >>= 7;
    }
    writer->chunk[writer->used++] = (uint8_t)value;
}

int nw_access_create(struct nw_access_writer *writer, const char *path, uint64_t base,
                     uint64_t range_bytes)
{
    uint8_t header[HEADER_BYTES];

    memset(writer, 0, sizeof *writer);
    writer->base = base;
    writer->range_bytes = range_bytes;
    if (nw_replace_begin(&writer->replace, path) != 0) {
        return NW_ERR_IO;
    }
    memcpy(header, access_magic, sizeof access_magic);
    put_le(header + 8, NW_ACCESS_VERSION, 4);
    put_le(header + 12, base, 8);
    put_le(header + 20, range_bytes, 8);
    put_le(header + 28, nw_crc32(NW_CRC32_START, header, 28), 4);
    write_all(writer, header, sizeof header);
    return NW_OK;
}

void nw_access_put_object(struct nw_access_writer *writer, const struct nw_access_object *object)
{
    size_t length = strnlen(object->name, NW_ACCESS_NAME_BYTES - 1U);

    begin_record(writer, CHUNK_OBJECTS);
    put_number(writer, object->address - writer->previous);
    put_number(writer, object->bytes);
    put_number(writer, object->element_bytes);
    put_number(writer, length);
    memcpy(writer->chunk + writer->used, object->name, length);
    writer->used += (uint32_t)length;
    writer->previous = object->address;
}

/* 0 .. 4 for 1, 2, 4, 8, 16 bytes. */
static uint32_t size_class(uint32_t bytes)
{
    uint32_t size = 0;

    while (size <= 4 && 1U << size != bytes) {
        size++;
    }
    return size <= 4 ? size : LENGTH_FOLLOWS;
}

void nw_access_put(struct nw_access_writer *writer, uint64_t address, uint32_t bytes, int write)
{
    uint32_t size = size_class(bytes);

    begin_record(writer, CHUNK_ACCESSES);
    uint64_t step = address - writer->previous;
    /* Steps back get the odd numbers. A range is below 2^59 bytes: four bits are free above. */
    uint64_t folded = step >> 63 != 0 ? ~step << 1 | 1U : step << 1;
    put_number(writer, folded << 4 | size << 1 | (write != 0));
    if (size == LENGTH_FOLLOWS) {
        put_number(writer, bytes);
    }
    writer->previous = address;
    writer->total++;
}

int nw_access_finish(struct nw_access_writer *writer, int good)
{
    if (good) {
        if (writer->count > 0) {
            end_chunk(writer);
        }
        writer->kind = CHUNK_END;
        writer->count = 0;
        writer->used = 8;
        put_le(writer->chunk, writer->total, 8);
        end_chunk(writer);
    }
    int error = writer->error;
    int ended = nw_replace_end(&writer->replace, good && error == 0);

    if (error != 0) {
        errno = error;
    }
    return ended == 0 && error == 0 ? NW_OK : NW_ERR_IO;
}

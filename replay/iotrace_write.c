/* SPDX-License-Identifier: Apache-2.0 */
/* Traces written, each format a function that puts one line or record into a buffer. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "iotrace_packed.h"
#include "nandwich-replay/iotrace.h"
#include "nandwich-twin/file.h"
#include "nandwich/error.h"

#define LINE_BYTES 160

struct format;

struct nw_iotrace_writer {
    const struct format *format;
    struct nw_replace replace;
    const struct nw_iotrace *names; /* of applications, or NULL */
    struct nw_packed packed;
    uint16_t app[NW_IOTRACE_APPS + 1U]; /* packed: their numbers as they come in this file */
    gzFile file; /* zlib writes plain files too */
};

struct format {
    const char *name;
    const char *head; /* first line, or NULL */
    /* The line's length, 0 when the format has no word for such a request. NULL: records. */
    int (*line)(const struct nw_io *io, char *to);
};

#define ULL(value) ((unsigned long long)(value))

static int plain(const struct nw_io *io)
{
    return io->kind == NW_IO_READ || io->kind == NW_IO_WRITE;
}

static const char *letter(const struct nw_io *io)
{
    return io->kind == NW_IO_READ ? "R" : "W";
}

static int msr_line(const struct nw_io *io, char *to)
{
    return !plain(io) ? 0
                      : snprintf(to, LINE_BYTES, "%llu,trace,%llu,%s,%llu,%llu,0\n",
                                 ULL(io->time_ns / 100U), ULL(io->unit),
                                 io->kind == NW_IO_READ ? "Read" : "Write", ULL(io->offset),
                                 ULL(io->bytes));
}

static int spc_line(const struct nw_io *io, char *to)
{
    return !plain(io) || io->offset % 512U != 0
               ? 0
               : snprintf(to, LINE_BYTES, "%llu,%llu,%llu,%s,%llu.%09llu\n", ULL(io->unit),
                          ULL(io->offset / 512U), ULL(io->bytes), letter(io),
                          ULL(io->time_ns / 1000000000U), ULL(io->time_ns % 1000000000U));
}

static int android_line(const struct nw_io *io, char *to)
{
    return !plain(io) || io->offset % 512U != 0 || io->bytes % 512U != 0
               ? 0
               : snprintf(to, LINE_BYTES, "trace,%llu,%s,%llu,%llu,%llu.%09llu\n", ULL(io->unit),
                          letter(io), ULL(io->offset / 512U), ULL(io->bytes / 512U),
                          ULL(io->time_ns / 1000000000U), ULL(io->time_ns % 1000000000U));
}

static int disksim_line(const struct nw_io *io, char *to)
{
    return !plain(io) || io->offset % 512U != 0 || io->bytes % 512U != 0
               ? 0
               : snprintf(to, LINE_BYTES, "%llu.%06llu %llu %llu %llu %d\n",
                          ULL(io->time_ns / 1000000U), ULL(io->time_ns % 1000000U), ULL(io->unit),
                          ULL(io->offset / 512U), ULL(io->bytes / 512U), io->kind == NW_IO_READ);
}

static int fio_line(const struct nw_io *io, char *to)
{
    static const char *const actions[] = {
        [NW_IO_READ] = "read", [NW_IO_WRITE] = "write", [NW_IO_TRIM] = "trim"};
    unsigned long long time_us = io->time_ns / 1000U;

    if (io->kind == NW_IO_SYNC) {
        return snprintf(to, LINE_BYTES, "%llu /trace sync\n", time_us);
    }
    return snprintf(to, LINE_BYTES, "%llu /trace %s %llu %llu\n", time_us, actions[io->kind],
                    ULL(io->offset), ULL(io->bytes));
}

static const struct format formats[] = {
    {"msr", NULL, msr_line},
    {"spc", NULL, spc_line},
    {"android", "process,device,rw,sector,size,timestamp\n", android_line},
    {"disksim", NULL, disksim_line},
    {"fio", "fio version 3 iolog\n0 /trace add\n0 /trace open\n", fio_line},
    {"packed", NW_PACKED_HEAD, NULL},
};

static const struct format *find(const char *name)
{
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        if (strcmp(formats[i].name, name) == 0) {
            return &formats[i];
        }
    }
    return NULL;
}

static int put_bytes(struct nw_iotrace_writer *writer, const void *text, int length)
{
    return gzwrite(writer->file, text, (unsigned)length) == length ? 1 : NW_ERR_IO;
}

/* zlib closes what it is given: a second handle of the file. */
static int open_file(struct nw_iotrace_writer *writer, const char *path, int packs)
{
    int file;

    writer->file = NULL;
    if (nw_replace_begin(&writer->replace, path) != 0) {
        return NW_ERR_IO;
    }
    file = dup(writer->replace.file);
    writer->file = file >= 0 ? gzdopen(file, packs ? "wb6" : "wbT") : NULL;
    if (writer->file == NULL && file >= 0) {
        (void)close(file);
    }
    return writer->file != NULL ? NW_OK : NW_ERR_IO;
}

/* Everything closed; the file takes its place when it is `good`. */
static int end(struct nw_iotrace_writer *writer, int good)
{
    if (writer->file != NULL && gzclose(writer->file) != Z_OK) {
        good = 0;
    }
    good = nw_replace_end(&writer->replace, good) == 0;
    free(writer);
    return good ? NW_OK : NW_ERR_IO;
}

int nw_iotrace_create(struct nw_iotrace_writer **writer, const char *path, const char *format)
{
    size_t length = strlen(path);
    int packs = length > 3 && strcmp(path + length - 3, ".gz") == 0;
    const struct format *found = find(format);
    struct nw_iotrace_writer *made;

    *writer = NULL;
    if (found == NULL) {
        return NW_ERR_CONFIG;
    }
    made = calloc(1, sizeof *made);
    if (made == NULL) {
        return NW_ERR_RAM;
    }
    made->format = found;
    if (open_file(made, path, packs) != NW_OK ||
        (found->head != NULL && put_bytes(made, found->head, (int)strlen(found->head)) < 0)) {
        nw_iotrace_drop(made);
        return NW_ERR_IO;
    }
    *writer = made;
    return NW_OK;
}

void nw_iotrace_name_apps(struct nw_iotrace_writer *writer, const struct nw_iotrace *names)
{
    writer->names = names;
}

static int put_record(struct nw_iotrace_writer *writer, const struct nw_io *io)
{
    const char *name = writer->names != NULL ? nw_iotrace_app(writer->names, io->app) : NULL;
    struct nw_io one = *io;
    uint8_t record[NW_PACKED_LONGEST];

    one.app = 0;
    if (name != NULL) {
        if (writer->app[io->app] == 0) {
            writer->app[io->app] = (uint16_t)(writer->packed.apps + 1U);
        }
        one.app = writer->app[io->app];
    }
    return put_bytes(writer, record, (int)nw_packed_put(&writer->packed, &one, name, record));
}

int nw_iotrace_put(struct nw_iotrace_writer *writer, const struct nw_io *io)
{
    if (writer->format->line == NULL) {
        return put_record(writer, io);
    }
    char line[LINE_BYTES];
    int length = writer->format->line(io, line);

    return length == 0 ? 0 : put_bytes(writer, line, length);
}

int nw_iotrace_finish(struct nw_iotrace_writer *writer)
{
    return end(writer, 1);
}

void nw_iotrace_drop(struct nw_iotrace_writer *writer)
{
    if (writer != NULL) {
        (void)end(writer, 0);
    }
}

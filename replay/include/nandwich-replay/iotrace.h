/* SPDX-License-Identifier: Apache-2.0 */
/*
 * iotrace.h - recorded block traces as a source of requests (io.h), read as a stream: plain, gzip
 * or zstd, in memory that does not depend on their length.
 *
 * The format is told by the content of the first lines, not by the file's name:
 *
 *   msr       Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime   time in 100 ns
 *   spc       ASU,LBA,Size,Opcode,Timestamp[,...]      LBA in 512 B, size in B, time in s
 *   android   process,device,rw,sector,size,timestamp  sector and size in 512 B, time in s
 *   blkparse  the default text of blkparse; of each request one event: Q if there are any, else D,
 *             else C
 *   fio       fio version 2 iolog (times by its waits) and version 3 iolog (times in us)
 *   disksim   time device block size flags             time in ms, 512 B, bit 0 of flags: read
 *   ssdsim    the same columns                         time in whole ns; taken where none of the
 *             first times has a point, so name `disksim` if they are whole ms
 *   fiu       time pid process block size W|R major minor md5     time in ns, 512 B
 *   wiscsee   pid D|C operation offset size time ...   time in s, B; the D lines
 *   csv       any columns, in an order that config.columns tells; never found out by content
 *   packed    Nandwich's own: binary, a few bytes a request, time in ns, applications with it
 *   vscsi     binary records of version 1 (32 B) and 2 (40 B), little-endian, time in us
 *
 * Blank lines, lines that begin with '#', and a first line without any digit are no requests. A
 * line that is none of the format is an error that tells line and column, or is skipped as long as
 * config.skip_bad lasts; a file without a single request is an error. A write of no bytes is a
 * sync, as some recorders note a flush; other requests of no bytes are left out and counted. Times
 * count from the first request. Devices of a trace (ASU, disk number, major:minor) lie over one
 * another unless one is chosen: config.unit.
 *
 * APPLICATIONS are the processes that android, blkparse, fiu and wiscsee name, without a thread's
 * number behind a hyphen; "<...>" is nobody. They are numbered from 1 as they come:
 * nw_iotrace_app().
 */
#ifndef NANDWICH_REPLAY_IOTRACE_H
#define NANDWICH_REPLAY_IOTRACE_H

#include <stddef.h>
#include <stdint.h>

#include "nandwich-replay/io.h"

#ifdef __cplusplus
extern "C" {
#endif

#define NW_IOTRACE_ALL_UNITS UINT64_MAX
#define NW_IOTRACE_APPS 1000U     /* told apart; those that come later are nobody's */
#define NW_IOTRACE_APP_BYTES 64U  /* of a name, its end among them; longer ones are cut */

#define NW_IOTRACE_COLUMNS 32U

/* What stands in a column of a csv. */
enum nw_iotrace_column {
    NW_COLUMN_OTHER, /* passed over */
    NW_COLUMN_TIME,  /* a decimal number */
    NW_COLUMN_OP,    /* R, W, T or F, or read, write, trim, discard, flush, sync; in any case */
    NW_COLUMN_OFFSET, NW_COLUMN_SIZE,   /* in bytes */
    NW_COLUMN_SECTOR, NW_COLUMN_SECTORS /* the same in 512 B */
};

/* Fields may be in quotes. Columns behind the last one told are passed over. */
struct nw_iotrace_columns {
    uint8_t count;       /* 0: the file is no such csv */
    uint8_t header;      /* 1: the first line is a heading, even if it has digits; one that is a
                          * request is wrong */
    uint8_t time_places; /* what a time of 1 is: 0 ns, 3 us, 6 ms, 9 s */
    uint8_t column[NW_IOTRACE_COLUMNS];
};

struct nw_iotrace_config {
    const char *format; /* a name above; NULL: find out */
    struct nw_iotrace_columns columns; /* of a csv, whatever `format` says */
    uint64_t skip_bad;  /* lines that may be wrong; packed: none, behind one nothing is known */
    uint64_t unit;      /* only this device; NW_IOTRACE_ALL_UNITS */
};

/* What is wrong, and where: `line` from 1 (vscsi, packed: record), column from 1; 0: nowhere. */
struct nw_iotrace_fault {
    uint64_t line;
    uint32_t column;
    char text[320];
};

struct nw_iotrace;

/* NW_ERR_IO: cannot be read; NW_ERR_NOT_FOUND: no known format; NW_ERR_CONFIG: no such format;
 * NW_ERR_RAM. In all but the last `fault` says more. */
int nw_iotrace_open(struct nw_iotrace **trace, const char *path,
                    const struct nw_iotrace_config *config, struct nw_iotrace_fault *fault);
void nw_iotrace_close(struct nw_iotrace *trace); /* NULL is fine */

/* fill answers NW_ERR_CORRUPT for a bad line, NW_ERR_NOT_FOUND when it ends without any request,
 * NW_ERR_IO: nw_iotrace_fault() tells. */
struct nw_io_source *nw_iotrace_source(struct nw_iotrace *trace);
const struct nw_iotrace_fault *nw_iotrace_fault_of(const struct nw_iotrace *trace);
const char *nw_iotrace_format_name(const struct nw_iotrace *trace);
const char *nw_iotrace_packing(const struct nw_iotrace *trace); /* "plain", "gzip" or "zstd" */
/* csv: what stands between its fields, one of ; tab and comma, by the first line; 0 before. */
char nw_iotrace_separator(const struct nw_iotrace *trace);
uint64_t nw_iotrace_lines(const struct nw_iotrace *trace);      /* read so far; or records */
uint64_t nw_iotrace_skipped(const struct nw_iotrace *trace);    /* bad lines so far */
uint64_t nw_iotrace_empty(const struct nw_iotrace *trace);      /* requests of no bytes so far */

/* The name behind a request's `app`, from 1; NULL: none so far has that number. A second pass has
 * the same numbers. */
const char *nw_iotrace_app(const struct nw_iotrace *trace, uint16_t app);

/* The i-th format: name and one line of help; NULL behind the last. */
const char *nw_iotrace_format_at(uint32_t i, const char **what);

/* Writing: msr, spc, android, fio (version 3), disksim, packed. */
struct nw_iotrace_writer;

/* Packed with gzip when path ends in .gz. The file that is there stays until the new one is whole
 * (nandwich-twin/file.h). NW_ERR_CONFIG: a format that is not written here; NW_ERR_IO: errno
 * tells; NW_ERR_RAM. */
int nw_iotrace_create(struct nw_iotrace_writer **writer, const char *path, const char *format);

/* packed: who asks is written, by these names. Before the first request; `names` stays open. */
void nw_iotrace_name_apps(struct nw_iotrace_writer *writer, const struct nw_iotrace *names);

/* 1: written, 0: the format cannot say it (trims and syncs but in fio and packed), NW_ERR_IO. */
int nw_iotrace_put(struct nw_iotrace_writer *writer, const struct nw_io *io);

/* Ends the file, which takes its place: NW_OK, or NW_ERR_IO (errno tells) and nothing changes. */
int nw_iotrace_finish(struct nw_iotrace_writer *writer);

/* Throws away what was written. NULL is fine. */
void nw_iotrace_drop(struct nw_iotrace_writer *writer);

#ifdef __cplusplus
}
#endif

#endif

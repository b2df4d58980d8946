/* SPDX-License-Identifier: Apache-2.0 */
/*
 * access.h - a recorded sequence of memory accesses: written while a program runs, read as a
 * stream. docs/access-traces.md has every byte.
 *
 * A trace is a header and chunks, each with its own checksum. The last chunk says that the trace is
 * whole. A trace that was cut, or damaged, is good up to the last chunk before that; the reader
 * says so. Two to three bytes an access.
 */
#ifndef NANDWICH_VMTRACE_ACCESS_H
#define NANDWICH_VMTRACE_ACCESS_H

#include <stdint.h>

#include "nandwich-twin/file.h"

#ifdef __cplusplus
extern "C" {
#endif

#define NW_ACCESS_VERSION 1U
#define NW_ACCESS_NAME_BYTES 64U /* of an object, its end included */

struct nw_access {
    uint64_t address;
    uint32_t bytes; /* 1 or more; all inside the range of the trace */
    uint8_t write;  /* 1: stores; 0: loads only */
};

/* A variable: its elements lie one after another and may be placed apart. */
struct nw_access_object {
    uint64_t address;
    uint32_t bytes;         /* a multiple of element_bytes */
    uint32_t element_bytes; /* 1 .. bytes */
    char name[NW_ACCESS_NAME_BYTES];
};

/* ---- writing ---- */

#define NW_ACCESS_CHUNK_BYTES 65536U

struct nw_access_writer {
    struct nw_replace replace; /* the file appears when it is whole */
    uint64_t base, range_bytes;
    uint64_t previous; /* address the next one is told from */
    uint64_t total;
    uint32_t kind, count, used;
    int error; /* errno of the first write that failed; 0: none */
    uint8_t chunk[NW_ACCESS_CHUNK_BYTES];
};

/* Begins a new file for accesses in base .. base + range_bytes - 1. NW_OK, or NW_ERR_IO: errno. */
int nw_access_create(struct nw_access_writer *writer, const char *path, uint64_t base,
                     uint64_t range_bytes);

/* One object; all objects come before the first access, none over another. */
void nw_access_put_object(struct nw_access_writer *writer, const struct nw_access_object *object);

/* One access inside the range. A failure is kept and told at the end. Cost: about 20 instructions,
 * and a write() every 64 KB. */
void nw_access_put(struct nw_access_writer *writer, uint64_t address, uint32_t bytes, int write);

/* Ends the trace, which takes the place of an older file. With good == 0 nothing is kept. NW_OK, or
 * NW_ERR_IO: the old file is still there, and errno tells why. */
int nw_access_finish(struct nw_access_writer *writer, int good);

/* ---- reading ---- */

struct nw_access_fault {
    uint64_t at;    /* byte of the file */
    char text[120]; /* one line, "" for none */
};

struct nw_access_reader;

/* NW_OK; NW_ERR_IO: it cannot be read, NW_ERR_CORRUPT: no such trace, or of another version, or its
 * objects contradict themselves: *fault says it. NW_ERR_RAM. */
int nw_access_open(struct nw_access_reader **reader, const char *path,
                   struct nw_access_fault *fault);
void nw_access_close(struct nw_access_reader *reader); /* NULL is fine */

/* At most `room` accesses: how many; 0 at the end or at the cut. NW_ERR_IO; NW_ERR_CORRUPT: a chunk
 * whose checksum is right says what cannot be. */
int nw_access_read(struct nw_access_reader *reader, struct nw_access *to, uint32_t room);
int nw_access_rewind(struct nw_access_reader *reader); /* NW_OK or NW_ERR_IO */

uint64_t nw_access_base(const struct nw_access_reader *reader);
uint64_t nw_access_range_bytes(const struct nw_access_reader *reader);
/* The objects, in the order of their addresses. */
uint32_t nw_access_objects(const struct nw_access_reader *reader,
                           const struct nw_access_object **first);

/* After a read that answered 0: what is missing, or "" for a whole trace. After an error: what. */
const struct nw_access_fault *nw_access_fault_of(const struct nw_access_reader *reader);

#ifdef __cplusplus
}
#endif

#endif

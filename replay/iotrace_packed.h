/* SPDX-License-Identifier: Apache-2.0 */
/*
 * iotrace_packed.h - Nandwich's own traces, for long ones: a request takes 4 to 8 bytes, and times
 * are whole ns. docs/replay.md has every byte.
 */
#ifndef NW_REPLAY_IOTRACE_PACKED_H
#define NW_REPLAY_IOTRACE_PACKED_H

#include <stddef.h>
#include <stdint.h>

#include "nandwich-replay/io.h"

#define NW_PACKED_HEAD "NWIO1\n"
#define NW_PACKED_HEAD_BYTES 6U
#define NW_PACKED_LONGEST 128U /* of a record */

/* What a record leaves out, because the one before it says the same. Zeros at first. */
struct nw_packed {
    uint64_t time_ns;
    uint64_t end; /* of the request before */
    uint64_t bytes;
    uint64_t unit;
    uint16_t app;
    uint16_t apps; /* that have a name so far */
};

/* A record. `name`: of io->app, if that is one more than packed->apps; else NULL. Answers its
 * length. */
size_t nw_packed_put(struct nw_packed *packed, const struct nw_io *io, const char *name,
                     uint8_t to[NW_PACKED_LONGEST]);

/* The record that begins in `left` bytes: its length, or 0: there is none. *name_bytes > 0: it
 * gives application io->app, the next one, this name. */
size_t nw_packed_get(struct nw_packed *packed, const uint8_t *from, size_t left, struct nw_io *io,
                     const char **name, size_t *name_bytes);

#endif

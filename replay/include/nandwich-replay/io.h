/* SPDX-License-Identifier: Apache-2.0 */
/*
 * io.h - one request of a workload, and where requests come from: a trace file (iotrace.h) or a
 * generator (workload.h). Whoever replays them sees no difference.
 */
#ifndef NANDWICH_REPLAY_IO_H
#define NANDWICH_REPLAY_IO_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum nw_io_kind { NW_IO_READ, NW_IO_WRITE, NW_IO_TRIM, NW_IO_SYNC };

struct nw_io {
    uint64_t time_ns; /* of arrival, from the first request on; may step back in a recording */
    uint64_t offset;  /* bytes from the start of the device */
    uint64_t bytes;   /* >= 1, but 0 for a sync */
    uint64_t unit;    /* which device of a recording; the replay does not look at it */
    uint8_t kind;     /* enum nw_io_kind */
    uint8_t content;  /* enum nw_content_class with NW_CONTENT_GUEST (nandwich/content.h); 0:
                       * nobody says */
    uint16_t app;     /* which application asks, by the source's own numbers; 0: nobody says */
};

struct nw_io_source;

struct nw_io_source_ops {
    /* Puts the next requests into `to`, at most `room` >= 1: how many, 0 at the end, or an error
     * that the source tells more about. */
    int (*fill)(struct nw_io_source *source, struct nw_io *to, uint32_t room);
    /* Begins again: the same requests in the same order. NW_OK or an error. */
    int (*rewind)(struct nw_io_source *source);
};

struct nw_io_source {
    const struct nw_io_source_ops *ops;
    void *context; /* the reader's or generator's own */
};

#ifdef __cplusplus
}
#endif

#endif

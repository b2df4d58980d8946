/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample.h - the requests of a source that fall on some of its pages: a page is in the sample by a
 * hash of its number, so all requests to it are, or none is (SHARDS: Waldspurger et al., FAST
 * 2015). How often and how soon pages come again shows in the sample as in the whole: a cache of a
 * hundredth hits a sample of a hundredth as often as the whole cache hits all.
 *
 * A request that covers several pages leaves a request for each run of pages in the sample. Syncs
 * pass. RAM: a request.
 */
#ifndef NANDWICH_REPLAY_SAMPLE_H
#define NANDWICH_REPLAY_SAMPLE_H

#include "nandwich-replay/io.h"

#ifdef __cplusplus
extern "C" {
#endif

#define NW_SAMPLE_WHOLE (1U << 24) /* share: every page */

struct nw_sample {
    struct nw_io_source source; /* hand this to whoever reads requests */
    struct nw_io_source *from;
    uint32_t page_bytes;
    uint32_t share;    /* of NW_SAMPLE_WHOLE */
    uint64_t pages[2]; /* asked for so far, in the sample or not: NW_IO_READ, NW_IO_WRITE */
    struct nw_io rest; /* of the request being taken apart */
    int more;          /* there is one */
};

/* `from` stays the caller's. page_bytes 1 .. 2^31, share 1 .. NW_SAMPLE_WHOLE. */
void nw_sample_open(struct nw_sample *sample, struct nw_io_source *from, uint32_t page_bytes,
                    uint32_t share);

#ifdef __cplusplus
}
#endif

#endif

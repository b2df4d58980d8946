/* SPDX-License-Identifier: Apache-2.0 */
/*
 * feed.h - the deadline scheduler over the object store: each flow has a stream of its own.
 *
 * The scheduler then keeps no log (`block` and `buffer` NULL, `sectors` and `unit` 0); its sector
 * is what one sync of the store writes as one page. In the main loop nw_feed_transfer() takes the
 * place of nw_sched_transfer():
 *
 *     if (nw_sched_next(&sched, now()) > 0) {
 *         int result = nw_feed_transfer(&sched, store, streams);
 *         nw_sched_done(&sched, now(), result);
 *     } else if (nw_sched_spare_ticks(&sched, now()) > LONGEST) {
 *         nw_store_idle(store, 1);
 *     }
 *
 * DURABLE. A write told as met or late is in its stream and stays there whatever the power does.
 */
#ifndef NANDWICH_FEED_H
#define NANDWICH_FEED_H

#include "nandwich/sched.h"
#include "nandwich/store.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Bytes a group may have so that it mostly costs one program of a page, for `sector_bytes` of the
 * scheduler and the `unit_bytes` of the streams (a stream without a unit holds each request as a
 * chunk of its own: more of the page goes into headers).
 */
#define NW_FEED_SECTOR_BYTES(page_bytes) ((page_bytes) - 64U)

/*
 * Carries out the operation that nw_sched_next() has chosen; pass what it answers to
 * nw_sched_done(). `streams` holds the handle of each flow.
 *
 * Writing: every request of the group is one append to streams[flow], of a whole number of elements
 * where the stream has a unit; then the store is synced. Costs what the appends and one sync cost.
 * On an error the whole group is told as failed, though its first requests may show up in the
 * stream: in order, none twice, never one without those before. A split request is appended piece
 * by piece, so one that is told as failed may lie there cut short.
 *
 * Reading: of the chunk whose number the offer gave as `sector` (of a cursor kept earlier). With a
 * unit as many whole elements, from its first, as fit `size`; without one the whole chunk, which
 * must fit. The `size` of the slot in the event then tells how many bytes were read. A read larger
 * than the scheduler's sector is no use: each piece of it reads a chunk of its own. Costs a seek
 * and a next of the store.
 *
 * NW_ERR_RANGE: a request without data; an append that is no whole number of elements or larger
 * than the store takes; no chunk of this number yet; a buffer too small for the chunk or for one
 * element. NW_ERR_NOT_FOUND: the chunk was dropped, or there is no such stream. NW_ERR_CONFIG:
 * nothing was chosen. Else the store's errors, a full store (NW_ERR_FULL) among them.
 * NW_OK for an opening: a store has none to do.
 */
int nw_feed_transfer(struct nw_sched *sched, struct nw_store *store, const int *streams);

#ifdef __cplusplus
}
#endif

#endif

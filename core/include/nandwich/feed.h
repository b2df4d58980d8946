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
 * DURABLE. A request told as met or late is in its stream and stays there whatever the power does.
 */
#ifndef NANDWICH_FEED_H
#define NANDWICH_FEED_H

#include "nandwich/sched.h"
#include "nandwich/store.h"

/*
 * Bytes a group may have so that it mostly costs one program of a page, for `sector_bytes` of the
 * scheduler and the `unit_bytes` of the streams (a stream without a unit holds each request as a
 * chunk of its own: more of the page goes into headers).
 */
#define NW_FEED_SECTOR_BYTES(page_bytes) ((page_bytes) - 64U)

/*
 * Carries out the operation that nw_sched_next() has chosen.
 *
 * Writing: every request of the group is one append to streams[flow], then the store is synced.
 * Costs what the appends and one sync cost. On an error the group is told as failed, though its
 * first requests may show up in the stream: in order, none twice, never one without those before.
 *
 * Reading: the first `size` bytes of the chunk whose number the offer gave as `sector` (of a
 * cursor kept earlier), or as many as it has.
 *
 * `streams` holds the handle of each flow. NW_ERR_RANGE: a request without data; else the store's
 * errors, a full store (NW_ERR_FULL) among them. NW_OK for an opening: a store has none to do.
 */
int nw_feed_transfer(struct nw_sched *sched, struct nw_store *store, const int *streams);

#endif

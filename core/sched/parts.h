/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parts.h - what the scheduler's files share: rings, the order of flows, groups. Not for callers.
 */
#ifndef NANDWICH_SCHED_PARTS_H
#define NANDWICH_SCHED_PARTS_H

#include <stddef.h>

#include "nandwich/sched.h"

/* One scheduler at a fixed place on the 8051 (see sched.h), any number elsewhere. */
#if defined(__SDCC_mcs51)
#define sched (&nw_sched_only)
#define NW_SCHED_ENTER(self) (void)(self)
#else
#define NW_SCHED_ENTER(self) struct nw_sched *const sched = (self)
#endif

/* Ticks from `from` to `to`, negative when `to` is the earlier; right across the wrap-around as
 * long as they lie less than 2^31 apart. A macro: on the 8051 a call would cost more. */
#define NW_TICKS(from, to) ((int32_t)((uint32_t)(to) - (uint32_t)(from)))

/* Deadlines lie nearer than this, in ticks. */
#define NW_SCHED_FAR 0x40000000UL

/* The place behind `place` in the ring. A macro: interrupts call nothing of the main loop's. */
#define NW_RING_NEXT(place) \
    ((uint8_t)((place) + 1U) == sched->ring_size ? 0 : (uint8_t)((place) + 1U))

/* The next write opens a unit. */
#define NW_SCHED_OPENS (sched->unit != 0 && sched->unit_left == 0)

/* No sector is left to write. Without a block the log is the caller's, and never full. */
#define NW_LOG_FULL (sched->sectors != 0 && sched->position >= sched->sectors)

/* Order of flows (heap.c): order[0] has the earliest key; equal keys go by flow number. */
void nw_sched_order_add(NW_SCHED_SELF_ uint8_t flow);
void nw_sched_order_remove(NW_SCHED_SELF_ uint8_t flow);
void nw_sched_order_moved(NW_SCHED_SELF_ uint8_t flow); /* its key has changed */

/* Takes the oldest arrival into its flow; the flow's number. There must be one. */
uint8_t nw_sched_absorb(NW_SCHED_SELF);

/* Takes in all arrivals, then drops from the front of the order what nw_sched_drops() may. */
void nw_sched_take_in(NW_SCHED_SELF);

/* Takes the flow's first request away: told, counted, its slot free. */
void nw_sched_retire(NW_SCHED_SELF_ uint8_t flow, uint8_t verdict);

/* After requests left the flow: gives up what is left of a split one of which a piece failed or was
 * dropped, and puts group, key and place in the order right. */
void nw_sched_settle(NW_SCHED_SELF_ uint8_t flow);

/* Where it stands what one operation of this flow takes, new units apart. */
uint32_t NW_XDATA *nw_sched_cost(NW_SCHED_SELF_ uint8_t flow);

/* An operation, or a turn, took so long. A deadline must not rest on an average: upwards at once,
 * downwards by a sixteenth. */
void nw_sched_learn(uint32_t NW_XDATA *known, uint32_t measured);

/* Gives up the flow's first requests that could not be met even if they were served at once (with
 * NW_SCHED_DROP_LATE), or of which a piece was given up before. Whether there were any. */
uint8_t nw_sched_drops(NW_SCHED_SELF_ uint8_t flow);

#endif

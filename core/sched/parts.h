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

/* A key this much later than the head's deadline marks a flow that has nothing left to be met. */
#define NW_SCHED_LOST 0x40000000UL
#define NW_FLOW_LOST(flow) \
    ((uint32_t)((flow)->key - sched->slots[(flow)->head].time) == NW_SCHED_LOST)

/* The rings hold slot_count numbers in slot_count + 1 places, so a put always finds room. */
#define NW_RING_EMPTY(ring) ((ring)->put == (ring)->take)

/* Order of flows (heap.c): order[0] has the earliest key; equal keys go by flow number. */
void nw_sched_order_add(NW_SCHED_SELF_ uint8_t flow);
void nw_sched_order_remove(NW_SCHED_SELF_ uint8_t flow);
void nw_sched_order_moved(NW_SCHED_SELF_ uint8_t flow); /* its key has changed */

/* Takes the oldest arrival into its flow; the flow's number. The ring must not be empty. */
uint8_t nw_sched_absorb(NW_SCHED_SELF);

/* All arrivals, into flows and order. */
void nw_sched_absorb_all(NW_SCHED_SELF);

/* Takes the flow's first request away: told, counted, its slot free. */
void nw_sched_retire(NW_SCHED_SELF_ uint8_t flow, uint8_t verdict);

/* After requests left the flow: group, key and place in the order put right. */
void nw_sched_settle(NW_SCHED_SELF_ uint8_t flow);

/* What one operation of this flow takes, new units apart. */
uint32_t nw_sched_cost(NW_SCHED_SELF_ uint8_t flow);

/* Whether the flow's first request that counts is met when served at once. */
uint8_t nw_sched_in_time(NW_SCHED_SELF_ uint8_t flow);

/* Gives up the flow's first request. */
void nw_sched_drop(NW_SCHED_SELF_ uint8_t flow);

/* With NW_SCHED_DROP_LATE: drops what can no longer be met if it were served at once. */
void nw_sched_drop_late(NW_SCHED_SELF);

#endif

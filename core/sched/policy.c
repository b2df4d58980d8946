/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The published policies: Dou and Kalogeraki, "RG-EDF: An I/O Scheduling Policy for Flash Equipped
 * Sensor Devices", SEUS 2008. Nothing of ours is mixed in; see slack.c for that.
 */
#include "parts.h"

/* FIFO: the head of the queue over all flows, which is the ring itself. With drop on miss the head
 * is dropped while late; what is handed in meanwhile waits for the next decision, or a callback
 * that hands in again what was dropped would keep this one from its end. */
static uint8_t fifo_choose(NW_SCHED_SELF)
{
    uint8_t put = sched->put;

    while (sched->take != put) {
        uint8_t flow = nw_sched_absorb(NW_SCHED_ME);

        if (!nw_sched_drops(NW_SCHED_ME_ flow)) {
            return flow;
        }
    }
    return NW_SCHED_NONE;
}

/* EDF and G-EDF: the earliest deadline; whether followers come along is the policy's flag. */
static uint8_t edf_choose(NW_SCHED_SELF)
{
    nw_sched_take_in(NW_SCHED_ME);
    return sched->order_count > 0 ? sched->order[0] : NW_SCHED_NONE;
}

/*
 * RG-EDF: group A holds the earliest deadline. A group B of another flow goes first if B is the
 * larger one and A's deadline still lies ahead when B has been written and a buffer time has passed
 * (guard_ticks). Among several such B the one with the earliest deadline is taken (the paper does
 * not say).
 */
static uint8_t rgedf_choose(NW_SCHED_SELF)
{
    uint8_t first = edf_choose(NW_SCHED_ME);
    uint8_t best = first;
    uint8_t i;

    for (i = 1; i < sched->order_count; i++) {
        uint8_t other = sched->order[i];
        const struct nw_sched_flow NW_XDATA *flow = &sched->flows[other];
        uint32_t end;
        int32_t earlier;

        if (flow->bytes <= sched->flows[first].bytes || flow->direction == NW_SCHED_READ) {
            continue;
        }
        end = sched->now + *nw_sched_cost(NW_SCHED_ME_ other) + sched->guard_ticks;
        if (NW_TICKS(end, sched->flows[first].key) <= 0) {
            break; /* no other write ends earlier */
        }
        earlier = NW_TICKS(flow->key, sched->flows[best].key);
        if (best == first || earlier > 0 || (earlier == 0 && other < best)) {
            best = other;
        }
    }
    return best;
}

const struct nw_sched_policy NW_CODE nw_sched_fifo = {fifo_choose, 0};
const struct nw_sched_policy NW_CODE nw_sched_edf = {edf_choose, 0};
const struct nw_sched_policy NW_CODE nw_sched_gedf = {edf_choose, NW_SCHED_BY_GROUP};
const struct nw_sched_policy NW_CODE nw_sched_rgedf = {rgedf_choose, NW_SCHED_BY_GROUP};

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order of flows by their keys, in an array of flow numbers. The flow knows its place, so it
 * can be taken from the middle or moved when its key changes, in O(log flows).
 *
 * Requests of one flow have rising deadlines, so only the first of each flow can be the earliest of
 * all: the heap holds flows, not requests, and an arrival for a flow that already waits costs no
 * heap work. Decisions are the same as from a heap of all requests.
 *
 * A policy that asks for it (NW_SCHED_BY_SORTED) gets the same array fully sorted: it is the heap
 * in which every place has one child, the next one.
 */
#include "parts.h"

static uint8_t precedes(NW_SCHED_SELF_ uint8_t a, uint8_t b)
{
    uint32_t key_a = sched->flows[a].key;
    uint32_t key_b = sched->flows[b].key;

    if (key_a == key_b) {
        return a < b;
    }
    return NW_TICKS(key_b, key_a) < 0;
}

static void put(NW_SCHED_SELF_ uint8_t place, uint8_t flow)
{
    sched->order[place] = flow;
    sched->flows[flow].place = place;
}

/* Moves `flow`, whose place is free for it, towards the front; the place where it belongs. */
static uint8_t rise(NW_SCHED_SELF_ uint8_t place, uint8_t flow)
{
    uint8_t sorted = sched->policy->flags & NW_SCHED_BY_SORTED;

    while (place > 0) {
        uint8_t parent = (uint8_t)(sorted != 0 ? place - 1 : (place - 1) >> 1);
        uint8_t above = sched->order[parent];

        if (!precedes(NW_SCHED_ME_ flow, above)) {
            break;
        }
        put(NW_SCHED_ME_ place, above);
        place = parent;
    }
    return place;
}

static uint8_t sink(NW_SCHED_SELF_ uint8_t place, uint8_t flow)
{
    uint8_t sorted = sched->policy->flags & NW_SCHED_BY_SORTED;

    for (;;) {
        uint8_t child = (uint8_t)(sorted != 0 ? place + 1 : 2 * place + 1);
        uint8_t below;

        if (child >= sched->order_count) {
            return place;
        }
        below = sched->order[child];
        if (sorted == 0 && (uint8_t)(child + 1U) < sched->order_count) {
            uint8_t other = sched->order[child + 1U];

            if (precedes(NW_SCHED_ME_ other, below)) {
                below = other;
                child++;
            }
        }
        if (!precedes(NW_SCHED_ME_ below, flow)) {
            return place;
        }
        put(NW_SCHED_ME_ place, below);
        place = child;
    }
}

void nw_sched_order_moved(NW_SCHED_SELF_ uint8_t flow)
{
    uint8_t place = rise(NW_SCHED_ME_ sched->flows[flow].place, flow);

    put(NW_SCHED_ME_ sink(NW_SCHED_ME_ place, flow), flow);
}

void nw_sched_order_add(NW_SCHED_SELF_ uint8_t flow)
{
    put(NW_SCHED_ME_ rise(NW_SCHED_ME_ sched->order_count++, flow), flow);
}

void nw_sched_order_remove(NW_SCHED_SELF_ uint8_t flow)
{
    uint8_t place = sched->flows[flow].place;
    uint8_t last = sched->order[--sched->order_count];

    sched->flows[flow].place = NW_SCHED_NONE;
    if (last != flow) {
        put(NW_SCHED_ME_ place, last);
        nw_sched_order_moved(NW_SCHED_ME_ last);
    }
}

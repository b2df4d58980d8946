/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time that may be lent to the device's own housekeeping: the earliest deadline less all the work
 * there may be before it. Done in any order, that work is then done by the earliest deadline.
 */
#include "parts.h"

/* What openings among the next `writes` writes take beyond other writes. The end of the log ends
 * the open unit, whole or not, and a wrapping log opens one at its start. */
static uint32_t openings(NW_SCHED_SELF_ uint16_t writes)
{
    uint32_t position = sched->position;
    uint32_t left = sched->unit_left;
    uint32_t next = sched->unit_next;
    uint32_t ticks = 0;

    if (sched->unit == 0 || sched->open_ticks <= sched->write_ticks) {
        return 0;
    }
    for (;;) {
        if (sched->sectors != 0) {
            uint32_t rest = position < sched->sectors ? sched->sectors - position : 0;

            left = left < rest ? left : rest;
            position = position + left < sched->sectors ? position + left : 0;
        }
        if (writes <= left) {
            return ticks;
        }
        writes = (uint16_t)(writes - left);
        left = next;
        next = sched->unit;
        ticks += sched->open_ticks - sched->write_ticks;
    }
}

uint32_t nw_sched_spare_ticks(struct nw_sched NW_XDATA *self, uint32_t now)
{
    NW_SCHED_ENTER(self);
    uint32_t work = 0;
    uint32_t least = NW_SCHED_FAR;
    uint16_t writes = 0;
    uint8_t i;

    if (sched->busy || sched->take != sched->put) {
        return 0;
    }
    for (i = 0; i < sched->flow_count; i++) {
        const struct nw_sched_flow NW_XDATA *flow = &sched->flows[i];
        /* A request of an idle flow may arrive right now. */
        uint32_t deadline = flow->count > 0 ? sched->slots[flow->head].time : now + flow->deadline;
        int32_t until = NW_TICKS(now, deadline);
        /* Behind its first group every request may need an operation of its own. */
        uint8_t operations = (uint8_t)(1U + flow->count - flow->group);

        if (until < 0) {
            return 0;
        }
        if ((uint32_t)until < least) {
            least = (uint32_t)until;
        }
        if (flow->direction == NW_SCHED_WRITE) {
            writes = (uint16_t)(writes + operations);
        }
        work += (uint32_t)operations * (*nw_sched_cost(NW_SCHED_ME_ i) + sched->turn_ticks);
    }
    work += openings(NW_SCHED_ME_ writes);
    return least > work ? least - work : 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Time that may be lent to the device's own housekeeping. */
#include "parts.h"

uint32_t nw_sched_spare_ticks(struct nw_sched NW_XDATA *self, uint32_t now)
{
    NW_SCHED_ENTER(self);
    uint32_t work = NW_SCHED_OPENS ? sched->open_ticks : 0;
    uint32_t least = NW_SCHED_FAR;
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
        uint32_t operations = 1U + (uint8_t)(flow->count - flow->group);

        if (until < 0) {
            return 0;
        }
        if ((uint32_t)until < least) {
            least = (uint32_t)until;
        }
        work += operations * nw_sched_cost(NW_SCHED_ME_ i);
    }
    return least > work ? least - work : 0;
}

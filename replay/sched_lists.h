/* SPDX-License-Identifier: Apache-2.0 */
/* sched_lists.h - the requests of a run by flow, as both bounds need them. Not for callers. */
#ifndef NANDWICH_REPLAY_SCHED_LISTS_H
#define NANDWICH_REPLAY_SCHED_LISTS_H

#include "nandwich-replay/sched_bound.h"

struct nw_list {
    uint64_t *issue_ns; /* ascending */
    uint32_t count;
    uint64_t deadline_ns; /* from issue */
    uint64_t cost_ns;     /* shortest time of one operation */
    uint32_t group;       /* requests that share an operation at most */
};

struct nw_lists {
    struct nw_list flows[NW_ARRIVAL_FLOWS];
    uint32_t flow_count;
    uint64_t end_ns; /* the last deadline */
};

/* NW_ERR_CONFIG, NW_ERR_RAM as nw_bound_relaxed(). nw_lists_free() also after an error. */
int nw_lists_make(struct nw_lists *lists, const struct nw_bound_config *config);
void nw_lists_free(struct nw_lists *lists);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "paging.h"

#include <string.h>

#define MOST_FRAMES (1U << 24)

const struct nw_paging_policy nw_paging_policies[] = {
    {"lru", "least recently used", 0, nw_policy_lru},
    {"round-robin", "frames in turn (t-kernel)", 0, nw_policy_fifo},
    {"clock", "second chance (Corbato 1968)", 0, nw_policy_clock},
    {"esc", "enhanced second chance: classes by referenced and dirty (ViMem)", 0, nw_policy_esc},
    {"vm", "the VM's own: CLOCK whose dirty candidate yields to a clean page close by", 0,
     nw_policy_vm},
    {"cflru", "clean first within the oldest quarter (Park 2006)", 0, nw_policy_cflru},
    {"2q", "two queues, full version (Johnson and Shasha 1994)", 0, nw_policy_2q},
    {"arc", "adaptive replacement cache (Megiddo and Modha 2003)", 0, nw_policy_arc},
    {"car", "clock with adaptive replacement (Bansal and Modha 2004)", 0, nw_policy_car},
    {"s3-fifo", "small, main and ghost queue (Yang et al. 2023)", 0, nw_policy_s3fifo},
    {"ways-1", "direct-mapped", 1, nw_policy_sets},
    {"ways-2", "LRU in sets of 2 frames", 2, nw_policy_sets},
    {"ways-4", "LRU in sets of 4 frames", 4, nw_policy_sets},
    {"ways-8", "LRU in sets of 8 frames", 8, nw_policy_sets},
    {"ways-16", "LRU in sets of 16 frames", 16, nw_policy_sets},
    {"belady", "the fewest faults possible: knows the future (Belady 1966)", 0, nw_policy_belady},
    {"belady-cost", "knows the future, and that a dirty victim costs a write; greedy", 0,
     nw_policy_belady_cost},
};
const uint32_t nw_paging_policy_count = sizeof nw_paging_policies / sizeof nw_paging_policies[0];

const struct nw_paging_policy *nw_paging_find(const char *name)
{
    for (uint32_t i = 0; i < nw_paging_policy_count; i++) {
        if (strcmp(name, nw_paging_policies[i].name) == 0) {
            return &nw_paging_policies[i];
        }
    }
    return NULL;
}

int nw_paging_run(const struct nw_paging_policy *policy, const struct nw_refs *refs,
                  uint32_t frames, const struct nw_paging_cost *cost,
                  struct nw_paging_result *result)
{
    result->faults = 0;
    result->writebacks = 0;
    if (frames == 0 || frames > MOST_FRAMES || (policy->ways > 0 && frames % policy->ways != 0)) {
        return NW_ERR_CONFIG;
    }
    int error = policy->run(refs, frames, policy->ways, cost, result);

    return error == NW_OK && result->traffic != NULL ? result->traffic->error : error;
}

int nw_lists_open(struct lists *lists, const struct nw_refs *refs, struct nw_paging_result *result)
{
    size_t nodes = (size_t)refs->pages + MOST_LISTS;

    memset(lists, 0, sizeof *lists);
    lists->pages = refs->pages;
    lists->result = result;
    lists->next = malloc(nodes * sizeof *lists->next);
    lists->previous = malloc(nodes * sizeof *lists->previous);
    lists->in = malloc(nodes);
    lists->dirty = calloc(nodes, 1);
    lists->mark = calloc(nodes, 1);
    if (lists->next == NULL || lists->previous == NULL || lists->in == NULL ||
        lists->dirty == NULL || lists->mark == NULL) {
        return NW_ERR_RAM;
    }
    memset(lists->in, (int)NO_LIST, nodes);
    for (uint32_t list = 0; list < MOST_LISTS; list++) {
        lists->next[lists->pages + list] = lists->pages + list;
        lists->previous[lists->pages + list] = lists->pages + list;
    }
    return NW_OK;
}

void nw_lists_close(struct lists *lists)
{
    free(lists->next);
    free(lists->previous);
    free(lists->in);
    free(lists->dirty);
    free(lists->mark);
}

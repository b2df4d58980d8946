/* SPDX-License-Identifier: Apache-2.0 */
#include "sched_lists.h"

#include <stdlib.h>
#include <string.h>

#include "nandwich/error.h"
#include "nandwich/sched.h"

static int list_flow(struct nw_list *list, const struct nw_bound_config *config, uint32_t number)
{
    const struct nw_arrival_flow *flow = &config->flows[number];
    uint8_t reads = flow->direction == NW_SCHED_READ;

    if (flow->size == 0 || flow->size > config->sector_bytes) {
        return NW_ERR_CONFIG;
    }
    list->deadline_ns = flow->deadline_ns + (config->clock_ns > 0 ? config->clock_ns - 1U : 0);
    list->cost_ns = reads ? config->read_ns : config->write_ns;
    list->group = reads ? 1U : config->sector_bytes / flow->size;
    return list->cost_ns != 0 ? NW_OK : NW_ERR_CONFIG;
}

static int add_requests(struct nw_lists *lists, const struct nw_bound_config *config)
{
    uint64_t last_ns = 0;

    for (size_t i = 0; i < config->request_count; i++) {
        const struct nw_arrival *request = &config->requests[i];
        struct nw_list *list;

        if (request->flow >= lists->flow_count || request->time_ns < last_ns) {
            return NW_ERR_CONFIG;
        }
        last_ns = request->time_ns;
        list = &lists->flows[request->flow];
        list->issue_ns[list->count++] = request->time_ns;
        if (request->time_ns + list->deadline_ns > lists->end_ns) {
            lists->end_ns = request->time_ns + list->deadline_ns;
        }
    }
    return NW_OK;
}

int nw_lists_make(struct nw_lists *lists, const struct nw_bound_config *config)
{
    memset(lists, 0, sizeof *lists);
    if (config->flow_count == 0 || config->flow_count > NW_ARRIVAL_FLOWS) {
        return NW_ERR_CONFIG;
    }
    lists->flow_count = config->flow_count;
    for (uint32_t f = 0; f < lists->flow_count; f++) {
        struct nw_list *list = &lists->flows[f];
        int status = list_flow(list, config, f);
        size_t count = 1;

        if (status < 0) {
            return status;
        }
        for (size_t i = 0; i < config->request_count; i++) {
            count += config->requests[i].flow == f;
        }
        list->issue_ns = malloc(count * sizeof *list->issue_ns);
        if (list->issue_ns == NULL) {
            return NW_ERR_RAM;
        }
    }
    return add_requests(lists, config);
}

void nw_lists_free(struct nw_lists *lists)
{
    for (uint32_t f = 0; f < NW_ARRIVAL_FLOWS; f++) {
        free(lists->flows[f].issue_ns);
    }
}

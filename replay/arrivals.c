/* SPDX-License-Identifier: Apache-2.0 */
#include "nandwich-replay/arrivals.h"

/* 0 .. limit - 1 for any limit, from 64 random bits; the bias is below 2^-20 for a second in ns. */
static uint64_t below(struct nw_random *random, uint64_t limit)
{
    uint64_t high = nw_random_next(random);

    return limit == 0 ? 0 : ((high << 32) | nw_random_next(random)) % limit;
}

static uint32_t burst(const struct nw_arrival_flow *flow, uint32_t firing)
{
    return flow->burst_every != 0 && firing % flow->burst_every == flow->burst_every - 1U
               ? flow->burst_size
               : 1U;
}

static void find_next(struct nw_arrivals *arrivals)
{
    uint64_t least = UINT64_MAX;

    for (uint32_t i = 0; i < arrivals->flow_count; i++) {
        if (arrivals->time_ns[i] < least) {
            least = arrivals->time_ns[i];
            arrivals->flow = i;
        }
    }
}

void nw_arrivals_start(struct nw_arrivals *arrivals, uint32_t seed)
{
    nw_random_seed(&arrivals->random, seed);
    arrivals->place = 0;
    arrivals->flow = 0;
    for (uint32_t i = 0; i < arrivals->flow_count; i++) {
        const struct nw_arrival_flow *flow = &arrivals->flows[i];
        uint64_t anywhere = below(&arrivals->random, flow->period_ns);

        arrivals->nominal_ns[i] = flow->phase_random ? anywhere : flow->phase_ns;
        arrivals->time_ns[i] =
            flow->period_ns == 0
                ? UINT64_MAX
                : arrivals->nominal_ns[i] + below(&arrivals->random, flow->jitter_ns);
        arrivals->firings[i] = 0;
        arrivals->left[i] = burst(flow, 0);
    }
    find_next(arrivals);
}

uint64_t nw_arrivals_peek(struct nw_arrivals *arrivals)
{
    uint64_t time_ns;

    if (arrivals->recorded != NULL) {
        if (arrivals->place == arrivals->recorded_count) {
            return UINT64_MAX;
        }
        arrivals->flow = arrivals->recorded[arrivals->place].flow;
        time_ns = arrivals->recorded[arrivals->place].time_ns;
    } else {
        time_ns = arrivals->time_ns[arrivals->flow];
    }
    return time_ns < arrivals->end_ns ? time_ns : UINT64_MAX;
}

void nw_arrivals_take(struct nw_arrivals *arrivals)
{
    uint32_t i = arrivals->flow;
    const struct nw_arrival_flow *flow = &arrivals->flows[i];

    if (arrivals->recorded != NULL) {
        arrivals->place++;
        return;
    }
    if (--arrivals->left[i] > 0) {
        return;
    }
    arrivals->firings[i]++;
    arrivals->left[i] = burst(flow, arrivals->firings[i]);
    arrivals->nominal_ns[i] += flow->period_ns;
    arrivals->time_ns[i] = arrivals->nominal_ns[i] + below(&arrivals->random, flow->jitter_ns);
    find_next(arrivals);
}

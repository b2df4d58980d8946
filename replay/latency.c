/* SPDX-License-Identifier: Apache-2.0 */
#include "nandwich-replay/latency.h"

uint64_t nw_latency_end(uint32_t bucket)
{
    uint32_t shift;

    if (bucket < 2U * NW_LATENCY_STEPS) {
        return bucket;
    }
    shift = bucket / NW_LATENCY_STEPS - 1U;
    return (((uint64_t)bucket % NW_LATENCY_STEPS + NW_LATENCY_STEPS + 1U) << shift) - 1U;
}

uint64_t nw_latency_at(const struct nw_latency *latency, uint32_t millionths)
{
    /* Counts below 2^44 do not overflow here: years of replay. */
    uint64_t wanted = (latency->count * millionths + 999999U) / 1000000U;
    uint64_t seen = 0;

    for (uint32_t bucket = 0; bucket < NW_LATENCY_BUCKETS && latency->count > 0; bucket++) {
        seen += latency->buckets[bucket];
        if (seen >= wanted && seen > 0) {
            uint64_t last = nw_latency_end(bucket);
            return last < latency->max_ns ? last : latency->max_ns;
        }
    }
    return 0;
}

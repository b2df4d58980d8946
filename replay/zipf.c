/* SPDX-License-Identifier: Apache-2.0 */
#include "zipf.h"

#include <math.h>

/* Weight of the ranks first .. end - 1 (from 0) by the middle of each of their shares: exact for
 * single ones, the integral's midpoint rule for wide buckets. */
static double weight(uint32_t first, uint32_t end, double theta)
{
    double middle = ((double)first + (double)end + 1.0) / 2.0;

    return ((double)end - (double)first) * pow(middle, -theta);
}

static void fill_buckets(struct zipf *zipf, uint32_t ranks)
{
    uint32_t rank = 0;

    zipf->buckets = 0;
    while (rank < ranks && zipf->buckets < ZIPF_BUCKETS) {
        uint32_t width = 1;

        while (width <= rank / (2U * ZIPF_FINE)) {
            width *= 2U;
        }
        zipf->first[zipf->buckets++] = rank;
        rank = ranks - rank > width ? rank + width : ranks;
    }
    zipf->first[zipf->buckets] = ranks;
}

void nw_zipf_open(struct zipf *zipf, uint32_t ranks, uint32_t theta)
{
    double power = (double)theta / 1000.0, total = 0, sum = 0;
    uint32_t bucket;

    fill_buckets(zipf, ranks);
    for (bucket = 0; bucket < zipf->buckets; bucket++) {
        total += weight(zipf->first[bucket], zipf->first[bucket + 1U], power);
    }
    for (bucket = 0; bucket < zipf->buckets; bucket++) {
        sum += weight(zipf->first[bucket], zipf->first[bucket + 1U], power);
        zipf->upto[bucket] = (uint32_t)(sum / total * 4294967295.0);
    }
    zipf->upto[zipf->buckets - 1U] = UINT32_MAX;
    bucket = 0;
    for (uint32_t i = 0; i < ZIPF_GUIDE; i++) {
        while (zipf->upto[bucket] < i * (UINT32_MAX / ZIPF_GUIDE + 1U)) {
            bucket++;
        }
        zipf->guide[i] = (uint16_t)bucket;
    }
}

uint32_t nw_zipf_rank(const struct zipf *zipf, uint32_t which, uint32_t within)
{
    uint32_t bucket = zipf->guide[which / (UINT32_MAX / ZIPF_GUIDE + 1U)];
    uint32_t first, width;

    while (zipf->upto[bucket] < which) {
        bucket++;
    }
    first = zipf->first[bucket];
    width = zipf->first[bucket + 1U] - first;
    return first + (uint32_t)(((uint64_t)within * width) >> 32);
}

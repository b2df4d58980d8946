/* SPDX-License-Identifier: Apache-2.0 */
/* clock.h - the host's monotonic wall clock, for measurements only: nothing emulated depends on it.
 */
#ifndef NW_HOST_CLOCK_H
#define NW_HOST_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t nw_host_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000ULL + (uint64_t)now.tv_nsec;
}

#endif

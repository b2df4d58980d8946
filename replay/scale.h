/* SPDX-License-Identifier: Apache-2.0 */
/* scale.h - a product of two 64-bit numbers, divided, without losing its upper half. */
#ifndef NW_REPLAY_SCALE_H
#define NW_REPLAY_SCALE_H

#include <stdint.h>

__extension__ typedef unsigned __int128 nw_wide;

static inline uint64_t nw_scale(uint64_t value, uint64_t times, uint64_t over)
{
    return (uint64_t)((nw_wide)value * times / over);
}

#endif

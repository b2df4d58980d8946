/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cycles.h - how many cycles of a Cortex-M3 an instruction takes, as a band: nobody outside the
 * chip knows better. Source: ARM DDI 0337 (Cortex-M3 TRM), table of instruction timings: loads 2,
 * or 1 where they follow another; several registers 1 + N; a taken branch 1 + P with P from 1 to 3.
 * Memory without wait states.
 */
#ifndef NW_LAB_CYCLES_H
#define NW_LAB_CYCLES_H

#include <stdbool.h>
#include <stdint.h>

#define CYCLES_REFILL_LEAST 1U /* P */
#define CYCLES_REFILL_MOST 3U

struct cycles {
    uint32_t least, most;
    bool may_branch; /* a branch that may be taken: 1 to 3 more then */
};

/* Of the instruction in `first` and, where it has 32 bits, `second`. */
struct cycles cycles_of(uint16_t first, uint16_t second);

#endif

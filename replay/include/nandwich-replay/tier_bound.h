/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tier_bound.h - what no placement policy can do better: how few sectors have to be written to
 * flash, and how many reads an NVM of so many slots can serve, if the future is known.
 *
 * WRITES. A write is spared when its sector stays in the NVM until it is written again, is trimmed,
 * or the requests end. So it is the most intervals between two writes to one sector that can be
 * chosen with no more than `slots` of them at any time: take each as it comes, and give up the one
 * that ends last when there are too many (Carlisle and Lloyd, "On the k-coloring of intervals",
 * 1995; Belady's rule, with the choice to hold nothing). A policy that writes back in idle time
 * spends more writes to be faster.
 * READS. In the same way, of intervals that end with a read. The two are worked out apart: together
 * they may be out of reach.
 *
 * MEMORY. 8 bytes a sector that is asked for, and 9 a sector of the device; of malloc. Cost: some
 * log2(requests) steps each.
 */
#ifndef NANDWICH_REPLAY_TIER_BOUND_H
#define NANDWICH_REPLAY_TIER_BOUND_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NW_TIER_BOUND_MOST (1UL << 24) /* sectors asked for, one after the other */

struct nw_tier_bound;

struct nw_tier_bound_result {
    uint64_t writes; /* sectors asked for */
    uint64_t reads;
    uint64_t least_flash_writes;
    uint64_t most_nvm_reads;
};

/* NW_ERR_CONFIG: 2^30 sectors or more; NW_ERR_RAM. */
int nw_tier_bound_open(struct nw_tier_bound **bound, uint32_t sectors);
void nw_tier_bound_close(struct nw_tier_bound *bound); /* NULL is fine */

/* The next request, of enum nw_io_kind; syncs are nothing. NW_ERR_RAM. When there have been
 * NW_TIER_BOUND_MOST the rest is not kept. */
int nw_tier_bound_note(struct nw_tier_bound *bound, uint8_t kind, uint32_t sector, uint32_t count);

/* NW_ERR_FULL: there were more than NW_TIER_BOUND_MOST; NW_ERR_RAM. */
int nw_tier_bound_work_out(struct nw_tier_bound *bound, uint32_t slots,
                           struct nw_tier_bound_result *result);

#ifdef __cplusplus
}
#endif

#endif

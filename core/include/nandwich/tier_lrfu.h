/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tier_lrfu.h - a placement policy: what was used often and lately stays.
 *
 * LRFU after Lee et al., "LRFU: A Spectrum of Policies that Subsumes the Least Recently Used and
 * Least Frequently Used Policies", IEEE Transactions on Computers 2001. A reference counts 1, and
 * half of it for each 1 / lambda references that came since. lambda 0 counts all references alike:
 * LFU. lambda 1 counts the last one more than all before: LRU.
 *
 * The order of two sectors does not change while neither is used: all values fade alike. So the
 * logarithm of each is kept as it would have been when the session began, and a heap of them is
 * touched at the sector that is used only.
 *
 * What it learnt is lost with power: a mount counts each sector in the NVM as one reference.
 *
 * RAM: 8 bytes a slot. Cost of each call: log2(slots) steps; once in 32,768 / lambda references a
 * look at each slot.
 */
#ifndef NANDWICH_TIER_LRFU_H
#define NANDWICH_TIER_LRFU_H

#include "nandwich/tier.h"

#ifdef __cplusplus
extern "C" {
#endif

#define NW_TIER_LFU 0U
#define NW_TIER_LRU 65536U

struct nw_tier_lrfu {
    struct nw_tier_policy policy; /* give &lrfu.policy to the tier */
    uint32_t *key;                /* by slot: log2 of its value, 16 bits behind the point */
    uint16_t *heap;               /* slots; the one to leave first */
    uint16_t *place;              /* by slot: in the heap */
    uint32_t now;                 /* what a single reference is worth now */
    uint32_t lambda;
    uint16_t room;
    uint16_t count;
    uint8_t reads;
};

size_t nw_tier_lrfu_ram_bytes(uint16_t slots);

/* lambda in 65,536ths, 0 .. 65,536. reads: 1: what is read goes to the NVM too. NW_ERR_CONFIG:
 * lambda; NW_ERR_RAM. */
int nw_tier_lrfu_open(struct nw_tier_lrfu *lrfu, uint32_t lambda, uint8_t reads, uint16_t slots,
                      void *ram, size_t ram_bytes);

#ifdef __cplusplus
}
#endif

#endif

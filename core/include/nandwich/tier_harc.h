/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tier_harc.h - a placement policy that finds its own balance: of written and of read sectors, and
 * in each of used once and used again.
 *
 * Source: H-ARC of Fan, Du and Voigt, "H-ARC: A non-volatile memory based cache policy for solid
 * state drives", MSST 2014, which puts ARC of Megiddo and Modha (FAST 2003) on two levels. Sectors
 * stand in four lists: written or only read, once or more often since they came in. Of those that
 * left, as many as there are slots are remembered. One of them that comes back shows that its list
 * was too short: written ones grow against read ones, twice as fast as the other way round, and
 * once against often. Who leaves is the oldest of the list that is over its size. Ours: the room
 * for remembered ones is shared by all four lists, and the oldest of the longest is forgotten; idle
 * keeps one slot in 16 free.
 *
 * What it learnt is lost with power: to a mount each sector in the NVM is written, and once.
 *
 * RAM: nw_tier_harc_ram_bytes(): 20 bytes a slot and 2 for each of the next power of two. Cost of
 * each call: some 30 steps.
 */
#ifndef NANDWICH_TIER_HARC_H
#define NANDWICH_TIER_HARC_H

#include "nandwich/tier.h"

#ifdef __cplusplus
extern "C" {
#endif

#define NW_TIER_HARC_SLOTS 32760U /* at most */
#define NW_TIER_HARC_LISTS 8U

struct nw_tier_harc {
    struct nw_tier_policy policy; /* give &harc.policy to the tier */
    uint32_t *sector;             /* by node: slots, then those remembered */
    uint16_t *older;              /* rings; behind the nodes one for each list */
    uint16_t *newer;
    uint16_t *chain; /* of those remembered: with the same hash */
    uint16_t *heads; /* by hash */
    uint8_t *list;   /* by node */
    uint16_t count[NW_TIER_HARC_LISTS];
    uint16_t want_written; /* slots for written ones */
    uint16_t want_once[2]; /* of read, of written: slots for those used once */
    uint16_t room;
    uint16_t slots;
    uint16_t buckets; /* a power of two */
    uint16_t forgotten; /* the first node that remembers nothing */
    uint16_t leaving;   /* the slot given up last */
    uint8_t reads;
};

/* 0: more slots than above. */
size_t nw_tier_harc_ram_bytes(uint16_t slots);

/* reads: 1: what is read goes to the NVM too, as published. NW_ERR_CONFIG: slots; NW_ERR_RAM. */
int nw_tier_harc_open(struct nw_tier_harc *harc, uint8_t reads, uint16_t slots, void *ram,
                      size_t ram_bytes);

#ifdef __cplusplus
}
#endif

#endif

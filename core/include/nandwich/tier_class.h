/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tier_class.h - a placement policy by what a sector is: metadata of file systems lives in the NVM,
 * all else goes to flash, or where another policy wants it.
 *
 * Source: image-content-aware placement of Chen, "Hardware/Software Codesign for Performance and
 * Lifetime Enhancement in NAND-Flash-based Embedded Storage Systems", PhD thesis, PolyU 2016,
 * chapter 4. It has no second policy and does not say what a full NVM does.
 *
 * The hint of a write says what a sector is (block.h; content.h finds it below a guest). A sector
 * whose class is chosen goes in with its first write and stays until a write says that it is
 * something else now. When no slot is free it takes one that is no longer of such a class, then
 * one that the other policy gives up; without either it goes to flash.
 *
 * THE OTHER POLICY, if there is one, sees the rest of the sectors and of the NVM: recency
 * (tier_lrfu.h) or prediction (tier_habit.h). So this joins class with either: what is surely
 * rewritten has its place, what is only likely to be shares what is left.
 *
 * RAM: nw_tier_class_ram_bytes(): a byte a slot. Cost of each call: some 10 steps and those of the
 * other policy; a look at each slot for a sector that changed its class, when no slot is free.
 */
#ifndef NANDWICH_TIER_CLASS_H
#define NANDWICH_TIER_CLASS_H

#include "nandwich/tier.h"

#ifdef __cplusplus
extern "C" {
#endif

struct nw_tier_class {
    struct nw_tier_policy policy; /* give &it.policy to the tier */
    struct nw_tier_policy *other; /* or NULL */
    uint8_t *whose;               /* by slot */
    uint16_t room;
    uint16_t slots;
    uint16_t held;   /* slots of a chosen class */
    uint16_t former; /* slots that were */
    uint8_t hints;
};

size_t nw_tier_class_ram_bytes(uint16_t slots);

/* hints: a bit for each enum nw_block_hint that goes to the NVM; 0: metadata alone. `other` is
 * opened for as many slots. NW_ERR_CONFIG: a hint that is none; NW_ERR_RAM. */
int nw_tier_class_open(struct nw_tier_class *by_class, uint8_t hints, struct nw_tier_policy *other,
                       uint16_t slots, void *ram, size_t ram_bytes);

#ifdef __cplusplus
}
#endif

#endif

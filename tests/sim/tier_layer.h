/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tier_layer.h - the tier over the tree, as one more layer: so it is a subject like the others. Its
 * NVM lies behind the gate of the chip and loses power with it. The gate is the chip itself: no
 * filter lies between.
 */
#ifndef NANDWICH_SIM_TIER_LAYER_H
#define NANDWICH_SIM_TIER_LAYER_H

#include "nandwich-stack/layers.h"

#define SIM_TIER_HOLDS 4U /* this bit of config->degree: flash holds writes back until a sync */

/* config->maps are the tree's. An odd config->degree: what is read goes to the NVM too. */
extern const struct nw_layer_kind sim_layer_tier;

/* sim_audit_layer() of the layer below. */
int sim_tier_audit(const struct nw_layer_site *site, uint32_t *where);

#endif

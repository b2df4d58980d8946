/* SPDX-License-Identifier: Apache-2.0 */
/* layer_hybrid.h - what the hybrid layers' entries in the table of layers share. */
#ifndef NANDWICH_STACK_LAYER_HYBRID_H
#define NANDWICH_STACK_LAYER_HYBRID_H

#include "nandwich-stack/layers.h"

/* Sectors of the device that is asked for, when the layer has `sectors` of them; 0: too few. */
uint32_t nw_layer_hybrid_sectors(const struct nw_layer_site *site, uint32_t sectors);

/* Says why a layer that has `sectors` does not go on this chip so; `own` is what the layer's own
 * settings must keep to. Answers `error`. */
int nw_layer_hybrid_refuse(const struct nw_layer_site *site, const char *name, uint32_t sectors,
                           const char *own, int error, struct nw_why *why);

#endif

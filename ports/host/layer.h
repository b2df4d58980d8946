/* SPDX-License-Identifier: Apache-2.0 */
/* layer.h - opens the translation layer a configuration names, over stack->chip. */
#ifndef NW_HOST_LAYER_H
#define NW_HOST_LAYER_H

#include "stack.h"

/* Sets stack->layer and layer_ram_bytes. */
int nw_host_layer_open(struct nw_host_stack *stack, struct nw_host_why *why);

#endif

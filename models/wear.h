/* SPDX-License-Identifier: Apache-2.0 */
/* wear.h - what the policies share: opening, the plain answers, the heating list. */
#ifndef NANDWICH_WEAR_INTERNAL_H
#define NANDWICH_WEAR_INTERNAL_H

#include "nandwich-models/wear.h"

/* Measures or places the heating list; NW_ERR_CONFIG for a config that contradicts itself. */
int nw_wear_place(struct nw_wear *wear, const struct nw_wear_ops *ops,
                  const struct nw_heal_config *heal, uint16_t blocks, struct nw_ram *ram);

/* The answers of a policy that has nothing of its own to say. */
int nw_wear_start(struct nw_wear *wear);
uint16_t nw_wear_fewest(struct nw_wear *wear, uint16_t first, uint16_t data);
void nw_wear_erased(struct nw_wear *wear, uint16_t block);
void nw_wear_updated(struct nw_wear *wear, uint16_t data);
uint16_t nw_wear_move(struct nw_wear *wear);

/* heal.c: the ops `given` and `heal`. */
int nw_heal_start(struct nw_wear *wear);
int nw_heal_given(struct nw_wear *wear, uint16_t block);
int32_t nw_heal_one(struct nw_wear *wear, int when);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * held.h - a block device in front of another one that holds writes back until a sync, as block.h
 * lets it: a reset of the processor leaves it as it is, a power cut takes what is held. What is
 * held goes down in any order, and earlier when the room is short.
 */
#ifndef NANDWICH_SIM_HELD_H
#define NANDWICH_SIM_HELD_H

#include "gate.h"
#include "nandwich/block.h"

#define SIM_HELD 5U /* sectors */
#define SIM_HELD_BYTES 512U

struct sim_held {
    struct nw_block block;
    struct nw_block *below;
    const struct sim_gate *gate;
    uint64_t powers; /* as the gate counted them when something was held */
    uint32_t count;
    uint32_t sector[SIM_HELD];
    uint8_t data[SIM_HELD][SIM_HELD_BYTES];
};

/* In front of `below`, whose sectors have SIM_HELD_BYTES at most. What was held before is held
 * still unless power went since; `anew`: nothing is. */
void sim_held_open(struct sim_held *held, struct nw_block *below, const struct sim_gate *gate,
                   int anew);

#endif

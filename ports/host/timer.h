/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timer.h - a block device in front of a block device that measures how long the host spends below
 * it: the price of emulating a chip, which a device does not pay.
 */
#ifndef NW_HOST_TIMER_H
#define NW_HOST_TIMER_H

#include <stdint.h>

#include "nandwich/block.h"

struct nw_host_timer {
    struct nw_block block; /* give &timer.block to the layer above */
    struct nw_block *below;
    uint64_t host_ns;
};

void nw_host_timer_open(struct nw_host_timer *timer, struct nw_block *below);

#endif

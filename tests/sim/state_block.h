/* SPDX-License-Identifier: Apache-2.0 */
/* state_block.h - the state of a chip whose pages have tags: page's and tree's. */
#ifndef NANDWICH_SIM_STATE_BLOCK_H
#define NANDWICH_SIM_STATE_BLOCK_H

#include "nandwich-twin/nand.h"
#include "state.h"

#define SIM_STATE_OTHER 0xFFFFFFFFU /* no content of a sector: it counts byte by byte */

struct sim_state_tags {
    struct nw_nand *nand;
    /* Which of the values that this sector may have the data is. */
    uint32_t (*value)(void *context, uint32_t sector, const uint8_t *data);
    void *context;
};

/* All blocks. Pages of at most 8 KiB. */
void sim_state_put_tags(struct sim_state *state, const struct sim_state_tags *tags);

#endif

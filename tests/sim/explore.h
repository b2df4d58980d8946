/* SPDX-License-Identifier: Apache-2.0 */
/*
 * explore.h - histories of a few power cycles on a small chip, each in every way it can go, for a
 * persistent translation layer by its entry in the table.
 *
 * With the power off, the state is the chip alone. From each state one power cycle goes on in these
 * ways: the layer mounts and power is cut at rest; or it mounts, two sectors are written in any
 * order, up to so many times, and power is cut at rest; or power is cut at any chip operation on
 * that way that changes the cells, and leaves the page or the block in any of the torn shapes. A
 * state that was met before, with as many cycles to go, is not entered again.
 *
 * The judge, at each mount: the layer mounts, every other sector reads as it did, each of the two
 * reads as the last acknowledged write or as one that was under way since, and what a mount has
 * shown is what the next one shows. The chip is never misused.
 */
#ifndef NANDWICH_TESTS_SIM_EXPLORE_H
#define NANDWICH_TESTS_SIM_EXPLORE_H

#include "layer_rig.h"

#define EXPLORE_DEEPEST 6U

struct explore_plan {
    const struct nw_layer_kind *kind;
    const struct layer_shape *shape;
    uint32_t seed;
    uint32_t aged;   /* random operations before the first power cycle */
    uint32_t sector; /* it and the next one are written, in any order */
    uint8_t calls;   /* writes in a power cycle, at most */
    uint8_t cycles;  /* power cycles, up to EXPLORE_DEEPEST */
    uint8_t fan;     /* cuts tried from each state, drawn by the seed; 0: all there are */
    uint64_t most;   /* states; then it ends */
};

struct explore_result {
    uint64_t states; /* different ones */
    uint64_t cycles; /* power cycles run */
    uint8_t deepest; /* power cycles in a history */
    char why[512];   /* the history that failed, and how; empty: none has */
};

/* Cost: some 50 us a power cycle, and 8 bytes for each of `most` states twice. */
void explore(const struct explore_plan *plan, struct explore_result *result);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * explore.h - all that can happen to a small device in a few power cycles, breadth first, for any
 * subject that is mounted.
 *
 * With the power off the state is the chip alone, and what the contract allows to be read. From
 * each state a power cycle goes on in these ways: the device is mounted, read, and called from no
 * time up to `longest` times, in every order of the calls told; then power goes at rest. Or it goes
 * at any change of the chip on that way: before it, or inside, where data and spare bytes are then
 * left old, new or half each, or after the last. A state that was met before is dropped.
 *
 * Who judges is the machine. What fails is a history like any other.
 */
#ifndef NANDWICH_SIM_EXPLORE_H
#define NANDWICH_SIM_EXPLORE_H

#include "machine.h"

#define EXPLORE_CALLS 3U /* between two losses, at most */
#define EXPLORE_MENU 8U

struct explore_plan {
    struct sim_head head; /* the chip and the configuration */
    uint32_t aged;        /* steps at random before the first loss, drawn by `seed` */
    uint32_t seed;
    const struct sim_step *menu; /* the calls, up to EXPLORE_MENU */
    uint8_t menu_count;
    uint8_t longest; /* calls in a power cycle, up to EXPLORE_CALLS */
    uint8_t cycles;  /* power cycles */
    uint32_t most;   /* states; then it ends */
};

struct explore_result {
    uint32_t states;         /* different ones */
    uint64_t played;         /* power cycles */
    uint8_t depth;           /* power cycles behind the last state that was met */
    uint8_t whole;           /* up to this depth all states were met */
    struct sim_failure failure;
    struct sim_history history; /* that fails, to be freed; else empty */
};

/* NW_OK, whatever was found; NW_ERR_CONFIG: the subject does not work there or is not mounted at
 * all, NW_ERR_RAM. Cost: some 50 us a power cycle on a chip of 40 KB, 40 bytes for each of `most`
 * states. */
int explore(const struct explore_plan *plan, struct explore_result *result);

/* What suits the subject: a small chip, so many calls between two losses, on one place when it is
 * one call. `variant` draws chip, configuration and age; 0: an empty one. */
struct explore_plan explore_usual(const struct sim_kind *kind, uint8_t calls, uint32_t variant);

#endif

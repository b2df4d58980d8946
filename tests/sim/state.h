/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state.h - is a device without power the same as one that was met before? Its state is what the
 * chip holds and what may be read back. Numbers that only ever grow, versions and sequences, are
 * compared by their order, not by their value: else no two states were ever the same.
 *
 * A state is told as a row of values, in any order that is always the same.
 */
#ifndef NANDWICH_SIM_STATE_H
#define NANDWICH_SIM_STATE_H

#include <stddef.h>
#include <stdint.h>

struct sim_state_item {
    uint64_t value;
    uint8_t grows;
};

struct sim_state {
    struct sim_state_item *items;
    uint64_t *order; /* room to sort in */
    size_t count;
    size_t room;
    int failed; /* no memory */
};

void sim_state_init(struct sim_state *state);
void sim_state_free(struct sim_state *state);
void sim_state_clear(struct sim_state *state);

/* A value that counts as it is. */
void sim_state_put(struct sim_state *state, uint64_t value);
void sim_state_put_bytes(struct sim_state *state, const uint8_t *bytes, size_t count);

/* One that counts by its place among all such values of this state. */
void sim_state_put_growing(struct sim_state *state, uint64_t value);

/* A hash of all; two states that differ have the same one once in 2^64. */
uint64_t sim_state_hash(struct sim_state *state);

#endif

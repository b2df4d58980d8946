/* SPDX-License-Identifier: Apache-2.0 */
#include "state.h"

#include <stdlib.h>
#include <string.h>

void sim_state_init(struct sim_state *state)
{
    memset(state, 0, sizeof *state);
}

void sim_state_free(struct sim_state *state)
{
    free(state->items);
    free(state->order);
    sim_state_init(state);
}

void sim_state_clear(struct sim_state *state)
{
    state->count = 0;
}

static int grow(struct sim_state *state)
{
    size_t room = state->room * 2U + 1000U;
    struct sim_state_item *items = realloc(state->items, room * sizeof *items);
    uint64_t *order = realloc(state->order, room * sizeof *order);

    state->items = items != NULL ? items : state->items;
    state->order = order != NULL ? order : state->order;
    if (items == NULL || order == NULL) {
        state->failed = 1;
        return -1;
    }
    state->room = room;
    return 0;
}

static void add(struct sim_state *state, uint64_t value, uint8_t grows)
{
    if (state->count < state->room || grow(state) == 0) {
        state->items[state->count++] = (struct sim_state_item){.value = value, .grows = grows};
    }
}

void sim_state_put(struct sim_state *state, uint64_t value)
{
    add(state, value, 0);
}

void sim_state_put_growing(struct sim_state *state, uint64_t value)
{
    add(state, value, 1);
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0x9E3779B97F4A7C15ULL;
    return hash ^ (hash >> 29);
}

void sim_state_put_bytes(struct sim_state *state, const uint8_t *bytes, size_t count)
{
    uint64_t hash = count;

    for (; count >= 8U; count -= 8U, bytes += 8) {
        uint64_t word;

        memcpy(&word, bytes, sizeof word);
        hash = mix(hash, word);
    }
    for (; count > 0; count--) {
        hash = mix(hash, *bytes++);
    }
    sim_state_put(state, hash);
}

static int compare(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left;
    uint64_t b = *(const uint64_t *)right;

    return (a > b) - (a < b);
}

/* All that grow, each once, in order: how many. */
static size_t sort(struct sim_state *state)
{
    size_t count = 0;
    size_t kept = 0;

    for (size_t i = 0; i < state->count; i++) {
        if (state->items[i].grows != 0) {
            state->order[count++] = state->items[i].value;
        }
    }
    qsort(state->order, count, sizeof *state->order, compare);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || state->order[i] != state->order[kept - 1U]) {
            state->order[kept++] = state->order[i];
        }
    }
    return kept;
}

static uint64_t rank(const struct sim_state *state, size_t count, uint64_t value)
{
    size_t low = 0;

    while (low < count) {
        size_t middle = (low + count) / 2U;

        if (state->order[middle] < value) {
            low = middle + 1U;
        } else {
            count = middle;
        }
    }
    return low;
}

uint64_t sim_state_hash(struct sim_state *state)
{
    size_t count = sort(state);
    uint64_t hash = 1;

    for (size_t i = 0; i < state->count; i++) {
        const struct sim_state_item *item = &state->items[i];

        hash = mix(hash, item->grows != 0 ? rank(state, count, item->value) : item->value);
    }
    return mix(hash, state->count);
}

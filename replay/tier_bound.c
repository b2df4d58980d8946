/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests are kept as they came, a word each: the sector, and in the two upper bits the kind. Read
 * backwards they tell when each sector's next one comes; read forwards, a heap gives up the
 * interval that ends last. An interval that has ended stays in the heap below all others, so that
 * what stands first in it is always held.
 */
#include "nandwich-replay/tier_bound.h"

#include <stdlib.h>
#include <string.h>

#include "nandwich-replay/io.h"
#include "nandwich/error.h"

#define KIND_SHIFT 30U
#define SECTOR_MASK ((1UL << KIND_SHIFT) - 1U)
#define FIRST_ROOM 65536U
#define NOT_YET UINT32_MAX

struct nw_tier_bound {
    uint32_t *ask; /* kind and sector, in their order */
    uint32_t count;
    uint32_t room;
    uint32_t sectors;
    uint8_t over; /* 1: there were more */
};

/* What is needed to play them. */
struct run {
    const struct nw_tier_bound *bound;
    uint32_t *next;  /* of each request: the sector's next one that counts; count: none */
    uint32_t *later; /* by sector, while reading backwards */
    uint32_t *heap;  /* requests whose interval is held, the one that ends last first */
    uint8_t *held;   /* by sector */
    uint32_t heap_count;
    uint32_t held_count;
    uint32_t slots;
};

int nw_tier_bound_open(struct nw_tier_bound **bound, uint32_t sectors)
{
    *bound = NULL;
    if (sectors > SECTOR_MASK) {
        return NW_ERR_CONFIG;
    }
    struct nw_tier_bound *made = calloc(1, sizeof *made);

    if (made == NULL) {
        return NW_ERR_RAM;
    }
    made->sectors = sectors;
    *bound = made;
    return NW_OK;
}

void nw_tier_bound_close(struct nw_tier_bound *bound)
{
    if (bound != NULL) {
        free(bound->ask);
        free(bound);
    }
}

static int grow(struct nw_tier_bound *bound)
{
    uint32_t room = bound->room != 0 ? bound->room * 2U : FIRST_ROOM;
    uint32_t *larger = realloc(bound->ask, room * sizeof *larger);

    if (larger == NULL) {
        return NW_ERR_RAM;
    }
    bound->ask = larger;
    bound->room = room;
    return NW_OK;
}

int nw_tier_bound_note(struct nw_tier_bound *bound, uint8_t kind, uint32_t sector, uint32_t count)
{
    int status = NW_OK;

    if (kind == NW_IO_SYNC) {
        return NW_OK;
    }
    for (uint32_t i = 0; i < count && bound->over == 0 && status == NW_OK; i++) {
        bound->over = bound->count == NW_TIER_BOUND_MOST;
        status = bound->over == 0 && bound->count == bound->room ? grow(bound) : (int)NW_OK;
        if (bound->over == 0 && status == NW_OK) {
            bound->ask[bound->count++] = (uint32_t)kind << KIND_SHIFT | (sector + i);
        }
    }
    return status;
}

static uint32_t kind_of(const struct run *run, uint32_t i)
{
    return run->bound->ask[i] >> KIND_SHIFT;
}

static uint32_t sector_of(const struct run *run, uint32_t i)
{
    return run->bound->ask[i] & SECTOR_MASK;
}

/* The heap */

static void rise(struct run *run, uint32_t at)
{
    uint32_t i = run->heap[at];

    for (; at > 0 && run->next[run->heap[(at - 1U) / 2U]] < run->next[i]; at = (at - 1U) / 2U) {
        run->heap[at] = run->heap[(at - 1U) / 2U];
    }
    run->heap[at] = i;
}

static uint32_t pop(struct run *run)
{
    uint32_t first = run->heap[0], last = run->heap[--run->heap_count], at = 0;

    for (uint32_t child = 1; child < run->heap_count; child = 2U * at + 1U) {
        if (child + 1U < run->heap_count &&
            run->next[run->heap[child + 1U]] > run->next[run->heap[child]]) {
            child++;
        }
        if (run->next[run->heap[child]] <= run->next[last]) {
            break;
        }
        run->heap[at] = run->heap[child];
        at = child;
    }
    run->heap[at] = last;
    return first;
}

static void hold(struct run *run, uint32_t i)
{
    run->held[sector_of(run, i)] = 1;
    run->held_count++;
    run->heap[run->heap_count++] = i;
    rise(run, run->heap_count - 1U);
    if (run->held_count > run->slots) {
        run->held[sector_of(run, pop(run))] = 0;
        run->held_count--;
    }
}

/* Whether the sector is held; then it is no more. */
static uint32_t let_go(struct run *run, uint32_t i)
{
    uint32_t was = run->held[sector_of(run, i)];

    run->held[sector_of(run, i)] = 0;
    run->held_count -= was;
    return was;
}

/* `reads`: reads count; else they are as if they were not there. */
static void look_ahead(struct run *run, int reads)
{
    uint32_t count = run->bound->count;

    memset(run->later, 0xFF, run->bound->sectors * sizeof *run->later);
    memset(run->held, 0, run->bound->sectors);
    run->heap_count = 0;
    run->held_count = 0;
    for (uint32_t i = count; i-- > 0;) {
        uint32_t *later = &run->later[sector_of(run, i)];

        run->next[i] = *later != NOT_YET ? *later : count;
        if (reads || kind_of(run, i) != NW_IO_READ) {
            *later = i;
        }
    }
}

static uint64_t spared_writes(struct run *run)
{
    uint64_t spared = 0;

    look_ahead(run, 0);
    for (uint32_t i = 0; i < run->bound->count; i++) {
        if (kind_of(run, i) == NW_IO_READ) {
            continue;
        }
        spared += let_go(run, i);
        if (kind_of(run, i) == NW_IO_WRITE) {
            hold(run, i);
        }
    }
    return spared + run->held_count;
}

static uint64_t served_reads(struct run *run)
{
    uint64_t served = 0;

    look_ahead(run, 1);
    for (uint32_t i = 0; i < run->bound->count; i++) {
        served += let_go(run, i);
        if (run->next[i] < run->bound->count && kind_of(run, run->next[i]) == NW_IO_READ &&
            kind_of(run, i) != NW_IO_TRIM) {
            hold(run, i);
        }
    }
    return served;
}

int nw_tier_bound_work_out(struct nw_tier_bound *bound, uint32_t slots,
                           struct nw_tier_bound_result *result)
{
    struct run run = {.bound = bound, .slots = slots};
    size_t count = (size_t)bound->count + 1U;
    int status = bound->over != 0 ? NW_ERR_FULL : NW_OK;

    if (status == NW_OK) {
        run.next = malloc(count * sizeof *run.next);
        run.heap = malloc(count * sizeof *run.heap);
        run.later = malloc(((size_t)bound->sectors + 1U) * sizeof *run.later);
        run.held = malloc((size_t)bound->sectors + 1U);
        if (run.next == NULL || run.heap == NULL || run.later == NULL || run.held == NULL) {
            status = NW_ERR_RAM;
        }
    }
    if (status == NW_OK) {
        memset(result, 0, sizeof *result);
        for (uint32_t i = 0; i < bound->count; i++) {
            result->writes += kind_of(&run, i) == NW_IO_WRITE;
            result->reads += kind_of(&run, i) == NW_IO_READ;
        }
        result->least_flash_writes = result->writes - spared_writes(&run);
        result->most_nvm_reads = served_reads(&run);
    }
    free(run.next);
    free(run.heap);
    free(run.later);
    free(run.held);
    return status;
}

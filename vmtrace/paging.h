/* SPDX-License-Identifier: Apache-2.0 */
/* paging.h - what the policies are made of. Lists of pages are rings through one pair of arrays: a
 * page is in one list at most, and each list begins and ends at a node of its own behind the
 * pages. */
#ifndef NW_VMTRACE_PAGING_H
#define NW_VMTRACE_PAGING_H

#include <stdint.h>
#include <stdlib.h>

#include "nandwich-vmtrace/paging.h"
#include "nandwich/error.h"

#define NO_LIST 0xFFU
#define MOST_LISTS 4U

struct lists {
    uint32_t *next, *previous; /* next goes from the newest to the oldest */
    uint8_t *in;               /* the list a page is in, or NO_LIST */
    uint8_t *dirty;            /* in a frame, and written since */
    uint8_t *mark;             /* the policy's own */
    uint32_t pages;
    uint32_t count[MOST_LISTS];
    struct nw_paging_result *result;
};

/* NW_OK, NW_ERR_RAM. Close it in both cases. */
int nw_lists_open(struct lists *lists, const struct nw_refs *refs,
                  struct nw_paging_result *result);
void nw_lists_close(struct lists *lists);

static inline void list_remove(struct lists *lists, uint32_t page)
{
    uint32_t next = lists->next[page], previous = lists->previous[page];

    lists->next[previous] = next;
    lists->previous[next] = previous;
    lists->count[lists->in[page]]--;
    lists->in[page] = NO_LIST;
}

/* At the newest end. */
static inline void list_add(struct lists *lists, uint32_t list, uint32_t page)
{
    uint32_t end = lists->pages + list, next = lists->next[end];

    lists->next[end] = page;
    lists->previous[page] = end;
    lists->next[page] = next;
    lists->previous[next] = page;
    lists->in[page] = (uint8_t)list;
    lists->count[list]++;
}

static inline void list_move(struct lists *lists, uint32_t list, uint32_t page)
{
    list_remove(lists, page);
    list_add(lists, list, page);
}

/* The list must not be empty. */
static inline uint32_t list_oldest(const struct lists *lists, uint32_t list)
{
    return lists->previous[lists->pages + list];
}

/* traffic != NULL */
void nw_traffic_read(struct nw_paging_traffic *traffic, uint32_t page);
void nw_traffic_write(struct nw_paging_traffic *traffic, uint32_t page);

/* A page comes into a frame that is free by now. */
static inline void page_in(struct nw_paging_result *result, uint32_t page)
{
    result->faults++;
    if (result->traffic != NULL) {
        nw_traffic_read(result->traffic, page);
    }
}

/* A dirty page leaves. */
static inline void write_back(struct nw_paging_result *result, uint32_t page)
{
    result->writebacks++;
    if (result->traffic != NULL) {
        nw_traffic_write(result->traffic, page);
    }
}

/* The page's frame is needed: what it holds is written if it must be. */
static inline void let_go(struct lists *lists, uint32_t page)
{
    if (lists->dirty[page]) {
        write_back(lists->result, page);
    }
    lists->dirty[page] = 0;
}

static inline uint32_t least_of(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static inline uint32_t most_of(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

typedef int policy_run(const struct nw_refs *refs, uint32_t frames, uint32_t ways,
                       const struct nw_paging_cost *cost, struct nw_paging_result *result);

policy_run nw_policy_lru, nw_policy_fifo, nw_policy_cflru, nw_policy_2q, nw_policy_s3fifo;
policy_run nw_policy_arc, nw_policy_car;
policy_run nw_policy_clock, nw_policy_esc, nw_policy_vm, nw_policy_sets;
policy_run nw_policy_belady, nw_policy_belady_cost;

#endif

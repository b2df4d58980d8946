/* SPDX-License-Identifier: Apache-2.0 */
/*
 * paging.h - what replacement policies make of a recorded sequence of accesses: page faults and
 * written victims, for any number of frames.
 *
 * A run of accesses to one page, with none to another between, is one reference: a store anywhere
 * in it makes the reference a write. Policies that count references would otherwise take every loop
 * over a page for a habit. RAM: 4 bytes a reference, about 40 a page.
 */
#ifndef NANDWICH_VMTRACE_PAGING_H
#define NANDWICH_VMTRACE_PAGING_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- references ---- */

/* Pages are numbered from 0 in the order of their first reference. */
struct nw_refs {
    uint32_t *ref; /* page << 1 | write */
    uint64_t count, room;
    uint64_t *page; /* what the numbers stand for: (address - base) / frame bytes */
    uint32_t pages, page_room;
    uint32_t *slot; /* hash of `page`: number + 1, 0 for none */
    uint32_t slots;
    uint64_t accesses; /* they were made of so many */
    uint32_t frame_bytes;
    uint64_t last_page;
};

/* frame_bytes 1 .. 2^31. NW_OK, NW_ERR_RAM. */
int nw_refs_open(struct nw_refs *refs, uint32_t frame_bytes);
void nw_refs_close(struct nw_refs *refs);

/* An access of `bytes` at `offset` from the range's begin; each page it touches is a reference.
 * NW_OK; NW_ERR_RAM; NW_ERR_FULL: more than 2^31 - 1 pages. */
int nw_refs_add(struct nw_refs *refs, uint64_t offset, uint32_t bytes, int write);

/* ---- policies ---- */

struct nw_paging_cost {
    uint32_t read, write; /* of a page, in any unit: what `belady-cost` weighs. Not both 0. */
};

/* What a policy asks of the device, in that order: a dirty victim is written before the page that
 * takes its frame is read. The first touch of a page reads nothing: the page is zeros. All zeros at
 * first. RAM: 4 bytes a transfer. */
struct nw_paging_traffic {
    uint32_t *transfer; /* page << 1 | write */
    uint64_t count, room;
    uint32_t touched; /* pages that were in a frame */
    int error;        /* NW_OK, NW_ERR_RAM */
};

void nw_paging_traffic_close(struct nw_paging_traffic *traffic);

struct nw_paging_result {
    uint64_t faults;     /* references to a page that is in no frame, first ones included */
    uint64_t writebacks; /* dirty pages that had to leave, not those dirty at the end */
    struct nw_paging_traffic *traffic; /* the caller's, to be filled; NULL: counts are enough */
};

/* The policies, for lists and look-up. */
struct nw_paging_policy {
    const char *name;
    const char *what; /* one line, with its source */
    uint32_t ways;    /* of a set-associative one, else 0 */
    int (*run)(const struct nw_refs *refs, uint32_t frames, uint32_t ways,
               const struct nw_paging_cost *cost, struct nw_paging_result *result);
};

extern const struct nw_paging_policy nw_paging_policies[];
extern const uint32_t nw_paging_policy_count;

/* NULL: no such policy. */
const struct nw_paging_policy *nw_paging_find(const char *name);

/* frames 1 .. 2^24, for a set-associative policy a multiple of its ways. result->traffic is the
 * caller's; the counts begin at 0. NW_OK; NW_ERR_CONFIG: bad frames; NW_ERR_RAM. Cost: a few dozen
 * instructions a reference; Belady's log2 of frames more. */
int nw_paging_run(const struct nw_paging_policy *policy, const struct nw_refs *refs,
                  uint32_t frames, const struct nw_paging_cost *cost,
                  struct nw_paging_result *result);

/* LRU at 1 .. most frames in one pass: faults[f - 1] and writebacks[f - 1] are those of f frames
 * (stack distances: Mattson et al. 1970; dirty levels: Thompson and Smith 1989). NW_OK, NW_ERR_RAM.
 * Cost: 3 log2 of pages a reference. */
int nw_paging_lru_curve(const struct nw_refs *refs, uint32_t most, uint64_t *faults,
                        uint64_t *writebacks);

#ifdef __cplusplus
}
#endif

#endif

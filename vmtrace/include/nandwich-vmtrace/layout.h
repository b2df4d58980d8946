/* SPDX-License-Identifier: Apache-2.0 */
/*
 * layout.h - which variables share a page, decided from recorded accesses: the heuristic of
 * Lachenmann et al. (EuroSys 2007, section 4) and a search of our own; and what a layout costs on
 * the small node of that paper.
 *
 * An element is what is placed as a whole. Elements are numbered from 0 in the order of their
 * declaration. A page holds elements side by side, none across two pages.
 */
#ifndef NANDWICH_VMTRACE_LAYOUT_H
#define NANDWICH_VMTRACE_LAYOUT_H

#include <stdint.h>

#include "nandwich-vmtrace/access.h"

#ifdef __cplusplus
extern "C" {
#endif

/* More elements than this are refused: the graph takes 4 bytes for each pair. */
#define NW_LAYOUT_ELEMENTS_MAX 8192U

/* ---- elements ---- */

struct nw_elements {
    const struct nw_access_object *object; /* the caller's, in order of address */
    uint32_t objects;
    uint32_t *first;  /* element of each object; one more at the end */
    uint32_t *size;   /* bytes an element of each object */
    uint32_t *bytes;  /* of each element */
    uint32_t count;   /* elements */
    uint32_t near;    /* the object found last */
};

#define NW_NO_ELEMENT 0xFFFFFFFFUL

/* An object of at most `whole_bytes` is one element. NW_OK; NW_ERR_CONFIG: none, or more than
 * NW_LAYOUT_ELEMENTS_MAX; NW_ERR_RAM. */
int nw_elements_open(struct nw_elements *elements, const struct nw_access_object *object,
                     uint32_t objects, uint32_t whole_bytes);
void nw_elements_close(struct nw_elements *elements);

/* The first element with a byte in *address .. end - 1; *address is then the first byte behind that
 * element. NW_NO_ELEMENT when none is left. */
uint32_t nw_elements_next(struct nw_elements *elements, uint64_t *address, uint64_t end);

/* ---- the access graph ---- */

struct nw_graph {
    uint32_t count;         /* elements */
    const uint32_t *bytes;  /* of each; the caller's */
    uint64_t *accesses, *writes; /* of each */
    uint32_t *near;         /* count * count: times the second was in the list when the first was
                               accessed */
    uint32_t *list;         /* recently accessed elements, in any order */
    uint32_t *listed_at;    /* of each element: where in the list, or NW_NO_ELEMENT */
    uint32_t *newer, *older; /* of each listed element; the ring begins and ends at `count` */
    uint32_t listed, listed_bytes, list_bytes;
    uint32_t *sample;       /* element << 1 | write: pieces of the traces, evenly spread */
    uint64_t sampled, stride, seen;
};

/* list_bytes: the most bytes the list of recent elements holds. NW_OK; NW_ERR_CONFIG: no elements,
 * or too many; NW_ERR_RAM. */
int nw_graph_open(struct nw_graph *graph, const uint32_t *bytes, uint32_t count,
                  uint32_t list_bytes);
void nw_graph_close(struct nw_graph *graph);

/* Another node's trace, or another function of a source, begins: nothing is recent. */
void nw_graph_begin(struct nw_graph *graph);

/* element < count. Cost: a step for each listed element. Memory stays the same. */
void nw_graph_access(struct nw_graph *graph, uint32_t element, int write);

/* A reference in a source, where there is no trace: counts as `weight` accesses, and is not in the
 * sample, so that nothing can be played. Weights of a graph add up to less than 2^32. Cost as
 * nw_graph_access(). */
void nw_graph_refer(struct nw_graph *graph, uint32_t element, int write, uint32_t weight);

/* ---- the published heuristic ---- */

struct nw_layout_config {
    uint32_t page_bytes;      /* at least the largest element */
    uint32_t group_bytes;     /* the most a group holds (published as an example: page / 8) */
    uint32_t share_permille;  /* stop when so many of the accessed elements are in groups */
    uint64_t write_threshold; /* mean writes an element above which an item is often written */
    uint8_t freeze;           /* 1: only a group already beyond group_bytes takes no more */
};

/* Groups: group[e] is the lowest element of e's. Ties go to the lowest elements. NW_OK, NW_ERR_RAM.
 * Cost: count^2 to count^3. */
int nw_layout_group(const struct nw_graph *graph, const struct nw_layout_config *config,
                    uint32_t *group);

/* First fit of groups by decreasing mean accesses, on two sets of pages; pages are numbered by
 * decreasing accesses. page[e] becomes e's. How many pages; NW_ERR_CONFIG: an element or a group
 * larger than a page; NW_ERR_RAM. */
int nw_layout_place(const struct nw_graph *graph, const struct nw_layout_config *config,
                    const uint32_t *group, uint32_t *page);

/* First fit of elements in the order of declaration, as a compiler would. As nw_layout_place(). */
int nw_layout_first_fit(const struct nw_graph *graph, uint32_t page_bytes, uint32_t *page);

/* ---- a small node ---- */

struct nw_node_result {
    uint64_t accesses;
    uint64_t faults;       /* all reads from outside RAM, so many of them ... */
    uint64_t buffer_reads; /* ... from a buffer of the chip */
    uint64_t to_buffer;    /* dirty pages sent to a buffer */
    uint64_t flash_writes; /* buffers written to flash because another page needed them */
};

#define NW_NODE_FRAMES_MAX 64U

/* What `count` accesses (element << 1 | write), `repeat` times, cost with `frames` pages in RAM:
 * enhanced second chance, and two buffers in the chip as a second level. A dirty page goes to a
 * buffer, which goes to flash only when it is needed for another page; reads of flash pass the
 * buffers by. At the start pages 0 .. frames - 1 are in RAM. NW_OK; NW_ERR_CONFIG: frames out of
 * 1 .. 64; NW_ERR_RAM. */
int nw_node_run(const uint32_t *accesses, uint64_t count, uint32_t repeat, const uint32_t *page,
                uint32_t pages, uint32_t frames, struct nw_node_result *result);

/* The same, and which page each of the first `most` flash writes was of, in their order. */
int nw_node_writes(const uint32_t *accesses, uint64_t count, uint32_t repeat, const uint32_t *page,
                   uint32_t pages, uint32_t frames, uint32_t *written, uint64_t most,
                   struct nw_node_result *result);

/* ---- ours ---- */

struct nw_search {
    uint32_t page_bytes, frames;
    uint32_t fault_cost, write_cost; /* what is made small: faults and flash writes, so weighed */
    uint32_t repeat;                 /* times the accesses are played for each layout */
    uint32_t seed;
    uint64_t work;                   /* what it may take, in accesses played; a fault counts as 4 */
};

/* Improves page[] (how many pages stays): elements that are accessed close together change places
 * with others, and what the node then does says whether they stay so. Never worse on these accesses
 * than what it began with. NW_OK, NW_ERR_CONFIG, NW_ERR_RAM. Cost: `work`, and some 40 plays of the
 * accesses. */
int nw_layout_search(const struct nw_search *search, const uint32_t *accesses, uint64_t count,
                     const uint32_t *bytes, uint32_t elements, uint32_t *page, uint32_t pages);

/* Numbers pages by decreasing accesses; ties by what they were. NW_OK, NW_ERR_RAM. */
int nw_layout_number(const uint64_t *accesses, uint32_t elements, uint32_t *page, uint32_t pages);

#ifdef __cplusplus
}
#endif

#endif

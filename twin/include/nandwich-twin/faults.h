/* SPDX-License-Identifier: Apache-2.0 */
/*
 * faults.h - a filter that makes a chip fail as told. A fault is a value: which verb and where, how
 * often and from when on, and what happens.
 *
 * For each request the first fault that matches and is due strikes; the others count the request as
 * seen all the same.
 */
#ifndef NANDWICH_TWIN_FAULTS_H
#define NANDWICH_TWIN_FAULTS_H

#include "nandwich-twin/nand.h"
#include "nandwich/chip.h"
#include "nandwich/random.h"

#ifdef __cplusplus
extern "C" {
#endif

struct nw_fault {
    uint8_t verb;   /* enum nw_nand_verb; NW_VERB_NONE: any */
    uint8_t acts;   /* 1: the operation is done all the same, then the error told */
    uint16_t flips; /* of a read that goes well: data bits flipped, 11 apart from a drawn one */
    uint32_t first; /* first page (copy: target) or, of erase, is_bad, mark_bad, block */
    uint32_t last;  /* last one, inclusive; 0 with first 0: anywhere */
    uint32_t skip;  /* matching requests let through before the first strike */
    uint32_t every; /* then every so many-th strikes; 0: every one */
    uint32_t times; /* strikes until it is used up; 0: for ever */
    int error;      /* what the request answers; NW_OK: nothing but the flips */
    uint32_t seen;  /* kept by the filter: matching requests */
    uint32_t hits;  /* kept by the filter: strikes */
};

struct nw_faults {
    struct nw_chip chip; /* give this one to the layer above */
    struct nw_chip_ops ops;
    struct nw_chip *below;
    struct nw_fault *faults;
    uint32_t count;
    struct nw_random random;
};

/* Stacks the filter on `below`. The faults stay the caller's, to change between requests. */
void nw_faults_open(struct nw_faults *filter, struct nw_chip *below, struct nw_fault *faults,
                    uint32_t count, uint32_t seed);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * torture.h - tortures a translation layer on a chip of yours: a driver on a board, say. Histories
 * drawn from seeds write, trim, sync, cut power and let requests fail, and each answer is judged by
 * the contracts of block.h and of the layer's header. docs/torture.md tells how to read a history.
 *
 * THE CHIP IS ERASED, over and over. Power is cut between two requests: the layer is made to
 * believe that the chip is off, and mounts anew. With `cycle` the chip does lose power there. What
 * a request that is cut leaves, only an emulated chip can show: `nandwich torture`.
 *
 * On the host, or on a board with a heap: uses malloc. Nothing is kept between two calls.
 */
#ifndef NANDWICH_SIM_TORTURE_H
#define NANDWICH_SIM_TORTURE_H

#include "nandwich-stack/layers.h"
#include "nandwich/chip.h"

#ifdef __cplusplus
extern "C" {
#endif

struct nw_torture {
    const char *layer; /* tree or lavish */
    struct nw_chip *chip;
    struct nw_layer_config config; /* what is 0 is drawn; `wear` is ignored */
    uint32_t first; /* seed, */
    uint32_t runs;  /* and how many from there on; 0: one */
    uint32_t steps; /* of a run, at most; 0: some hundred */
    void (*cycle)(void *context); /* takes power from the chip and gives it back; or NULL */
    void *context;
};

struct nw_torture_result {
    uint32_t runs; /* that went well */
    uint64_t steps;
    uint64_t cuts;
    uint64_t changes; /* programs, erases and the like */
    uint32_t seed;    /* of the run that did not */
    char what[480];   /* what it broke, and at which step; "": nothing did */
    char *history;    /* its text, shrunk, to be freed; or NULL */
};

/* NW_OK, also when something was found; NW_ERR_NOT_FOUND: no such layer; NW_ERR_CONFIG: it does not
 * work on this chip; NW_ERR_RAM. */
int nw_torture(const struct nw_torture *torture, struct nw_torture_result *result);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cut_plan.h - where power goes in a trial, as figures that a failure prints and that NW_CUT takes
 * to run it alone: shape, seed, step, and for each cut after, phase, data, spare.
 */
#ifndef NANDWICH_TESTS_CUT_PLAN_H
#define NANDWICH_TESTS_CUT_PLAN_H

#include <stddef.h>

#include "nandwich-twin/nand.h"

#define CUT_PLAN_MOST 6U /* cuts */

/* The first cut is in the operation of the work, each further one in a mount after it. */
struct cut_plan {
    unsigned shape;
    uint32_t seed;
    uint32_t step;
    unsigned cuts;
    struct nw_cut cut[CUT_PLAN_MOST];
};

void cut_plan_print(const struct cut_plan *plan, char *text, size_t bytes);

/* -1: not such figures. */
int cut_plan_parse(const char *text, struct cut_plan *plan);

#endif

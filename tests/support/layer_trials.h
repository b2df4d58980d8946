/* SPDX-License-Identifier: Apache-2.0 */
/*
 * layer_trials.h - trials that every persistent layer of the table passes: layer_cuts.c cuts power
 * everywhere, layer_rot.c spoils pages, layer_histories.c goes through what once lost a write. Work
 * at random is for tests/sim. Inside a cmocka test; a trial that fails prints where it was.
 */
#ifndef NANDWICH_TESTS_LAYER_TRIALS_H
#define NANDWICH_TESTS_LAYER_TRIALS_H

#include "layer_rig.h"

/* Writes every sector once. */
void layer_trial_fill(struct layer_rig *rig);

/* As a group of tests, for main: a cut before, inside and after every chip operation of a mixed
 * workload on each of layer_shapes, chains of cuts in the mounts that follow, three further
 * power-ups each; and 200 cuts in a row on `many`. NW_CUT="figures" replays; with NW_SOAK set it
 * goes on for minutes. Answers how many tests failed. */
int layer_trial_all_cuts(const struct nw_layer_kind *kind, const struct layer_shape *many);

/* A page rots, in its data or its tag, while everything is moved again and again: that sector
 * answers an error until it is written again, no other one suffers. */
void layer_trial_spoilt(const struct nw_layer_kind *kind);

/* Sectors written again behind a mount, then a torn program, then the plug pulled at rest: what a
 * mount has shown stays. */
void layer_trial_rewrites(const struct nw_layer_kind *kind);

/* Requests to the chip answer NW_ERR_IO, before or after they have happened: what reads show behind
 * the failed call is what a sync and a mount leave. */
void layer_trial_errors(const struct nw_layer_kind *kind);

/* Reads fail now and then, sessions go on and end: nothing is lost, and all goes well again when
 * the chip does. */
void layer_trial_reads(const struct nw_layer_kind *kind);

/* So many sessions one after the other, each with a torn page, and mounts that are cut over and
 * over; sectors never written read as zeros. With NW_SOAK set 20 times as many. */
void layer_trial_mounts(const struct nw_layer_kind *kind, const struct layer_shape *shape,
                        uint32_t mounts);

/* All of these, and blocks that fail. */
void layer_trial_everything(const struct nw_layer_kind *kind);

#endif

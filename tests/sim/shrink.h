/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shrink.h - the smallest history found that fails before the same judge: steps are taken out, then
 * arguments, settings and the chip made smaller, as long as that helps.
 *
 * Source of the idea: Zeller, Hildebrandt, "Simplifying and isolating failure-inducing input", IEEE
 * Trans. Software Engineering 28(2), 2002.
 */
#ifndef NANDWICH_SIM_SHRINK_H
#define NANDWICH_SIM_SHRINK_H

#include "machine.h"

/* Shrinks a history that fails, in place, by `plays` plays at most. The same history shrinks to the
 * same one everywhere. NW_OK, or NW_ERR_RAM with the history as far as it came. */
int sim_shrink(struct sim_history *history, const struct sim_board *board, uint32_t plays,
               struct sim_outcome *outcome);

#endif

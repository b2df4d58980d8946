/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goal: power may go before, inside or after any chip operation, of the work and of the mount after
 * it, and the tree layer comes back with what was acknowledged, again and again.
 * ctest: slow
 * ctest: soak
 */
#include "layer_trials.h"

int main(void)
{
    return layer_trial_all_cuts(&nw_layer_tree, &layer_shape_large);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slice.h - a run of blocks of a chip, as a chip of its own.
 *
 * So swap, store and raw code images share one part. Everything but the number of blocks is the
 * chip's: geometry, verbs there and not there, errors, cost. Slices of one chip must not overlap,
 * and all of them live in one thread of control, since the chip does. The chip's buffers, if it has
 * any, are shared by its slices: do not count on a buffer's content across calls into another
 * slice.
 *
 * Cost: one indirect call and four additions an operation; no RAM beyond the struct.
 */
#ifndef NANDWICH_SLICE_H
#define NANDWICH_SLICE_H

#include <stdint.h>

#include "nandwich/chip.h"

#ifdef __cplusplus
extern "C" {
#endif

struct nw_slice {
    struct nw_chip chip;   /* give &slice.chip to the layer above */
    struct nw_chip *below; /* the whole chip; must outlive the slice */
    uint32_t first_block;
    uint32_t first_page;
};

/* Blocks [first, first + count) of `below`. NW_ERR_RANGE when they are not all there or count is 0;
 * NW_ERR_CONFIG when below's geometry is not one. */
int nw_slice_open(struct nw_slice *slice, struct nw_chip *below, uint32_t first, uint32_t count);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shrink.h - a chip that takes several programs a page, seen as a chip with smaller pages.
 *
 * Source: the sector-shrink scheme of Lin et al. 2013 ("Providing Virtual Memory Support for Sensor
 * Networks with Mass Data Processing"): a 2,048-byte page becomes four 512-byte pages, each
 * programmed once, so a small page frame costs a small program and nothing has to be filled up.
 *
 * The chip above has `parts` times the pages of page_bytes / parts, and the spare divided likewise
 * (what does not divide is left unused). It takes page_programs / parts programs a page. Blocks,
 * and with them erase and bad blocks, are the same. There is no copy and there are no buffers
 * above: both work on whole pages below. read_us and program_us stay those of a whole page, an
 * upper bound.
 *
 * Cost: one indirect call and a few shifts an operation; no RAM beyond the struct.
 */
#ifndef NANDWICH_SHRINK_H
#define NANDWICH_SHRINK_H

#include <stdint.h>

#include "nandwich/chip.h"

#ifdef __cplusplus
extern "C" {
#endif

struct nw_shrink {
    struct nw_chip chip;   /* give &shrink.chip to the layer above */
    struct nw_chip *below; /* must outlive the filter */
    uint8_t shift;         /* parts = 1 << shift */
};

/*
 * `parts`: 1, 2, 4 ... 128. NW_ERR_CONFIG when it is no such power of two, when below takes fewer
 * programs a page than that, when a part is no whole number of program units, or when a block would
 * have more than 65,535 pages.
 */
int nw_shrink_open(struct nw_shrink *shrink, struct nw_chip *below, uint8_t parts);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * onfi.h - the parameter page by which a NAND part describes itself (ONFI 1.0, section 5.4.1).
 */
#ifndef NANDWICH_DRIVERS_ONFI_H
#define NANDWICH_DRIVERS_ONFI_H

#include "nandwich/chip.h"

#define ONFI_BYTES 256U

/* Places of the number of dice (ONFI: logical units), of the address cycles (columns in the high
 * nibble, rows in the low one) and of the spare bytes a page, two bytes. */
#define ONFI_DIES 100U
#define ONFI_CYCLES 101U
#define ONFI_SPARE 84U

/*
 * Sets what the page tells of blocks, block_pages, page_bytes, page_programs and endurance; leaves
 * the rest; blocks are those of all dice. 1; 0: the page has no signature, a wrong checksum, a
 * shape out of range, or data on 16 wires, and nothing was set.
 */
int nw_onfi_get(const uint8_t *page, struct nw_geometry *geometry);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pass_chip.h - a chip in front of another that passes on what it is asked. A test puts a verb of
 * its own in the place of one of these, and passes on by pass_below().
 */
#ifndef NANDWICH_TEST_PASS_CHIP_H
#define NANDWICH_TEST_PASS_CHIP_H

#include "nandwich/chip.h"

/* `chip` and its `ops` stand before `below`: reads, programs, erases and marks of bad blocks. */
void pass_chip_open(struct nw_chip *chip, struct nw_chip_ops *ops, struct nw_chip *below);

/* The same request to the chip below. */
struct nw_chip_req pass_below(const struct nw_chip_req *req);

#endif

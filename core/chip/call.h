/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call.h - what the front functions of a chip share: chip.c, those of every part, and chip_more.c,
 * those that only some parts have.
 */
#ifndef NANDWICH_CHIP_CALL_H
#define NANDWICH_CHIP_CALL_H

#include <stddef.h>

#include "nandwich/chip.h"

/* What of a request a verb uses, and so has to be in range. */
#define CALL_PAGE 0x01U
#define CALL_DATA 0x02U
#define CALL_SPARE 0x04U
#define CALL_BLOCK 0x08U
#define CALL_UNIT 0x10U  /* data in whole program units */
#define CALL_NEVER 0x20U /* the caller found something out of range */

/* Check what the verb uses, and call it. The verb is told by its place in struct nw_chip_ops, in
 * bytes: each front function then is two constants. */
int nw_chip_call(struct nw_chip_req *req, uint8_t place, uint8_t used);

#endif

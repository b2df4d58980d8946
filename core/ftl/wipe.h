/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wipe.h - how a format begins. A cut in its midst must not leave half of the device that was
 * there, which mounts as if it were whole.
 *
 * A device is found by its newest list or record (mark.h). The record of a hybrid layer stands in a
 * block without data: it is erased after all older ones and before any data. A list of the page
 * layer has data behind it, and so has each older list; no order of erases will do. So the page
 * layer's device is made unknown first, by one program: a void list (NW_MARK_VOID), newer than all,
 * in the block that the next mount would have erased for a list of its own. That block holds
 * nothing, and a void list that was torn is to the next mount what the list of a cut mount is.
 */
#ifndef NANDWICH_FTL_WIPE_H
#define NANDWICH_FTL_WIPE_H

#include "blocks.h"
#include "nandwich/chip.h"
#include "nandwich/stats.h"

/*
 * Erases each block that a mount of a layer with tags has begun, so that no mount finds a device
 * here any more. A block that fails is marked bad: ask for bad blocks after this. `stats` (NULL:
 * nowhere) counts tags read, programs, erases and blocks marked. NW_OK or the chip's error. Cost:
 * the tag of each block's first page and of those behind it that the same mount wrote, or that are
 * none; where a block was found the same again, newer lists and records, an erase for each block
 * found and, on a page device, one more and a program.
 * Nothing is done where the spare bytes have no room for a tag. Stack: about 200 bytes.
 */
int nw_wipe_devices(struct nw_chip *chip, struct nw_stats *stats);

/* A format: that, and then every good block. NW_OK or the chip's error. */
int nw_wipe_all(struct nw_blocks *blocks);

#endif

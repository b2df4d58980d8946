/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mark.h - what tells on flash which layer a chip belongs to. Each layer's mount looks for its own
 * mark, nw_identify() for all of them.
 *
 *   tree    a root (floor.h): word NW_MARK_LIST, data from NW_MARK_TREE on
 *   lavish  (mark.c) NW_MARK_LAVISH in the chip's last good block, which it does not use: the first
 *           two pages begin with it, in the spare bytes (where these are one to three, its begin)
 *           or, without any, in the data
 */
#ifndef NANDWICH_FTL_MARK_H
#define NANDWICH_FTL_MARK_H

#include "nandwich/chip.h"

#define NW_MARK_SESSION 0x80000000UL /* in the word of all that a mount writes */
#define NW_MARK_LIST 0xBFFFFFFEUL
#define NW_MARK_VOID 0xFFFFFFFEUL /* a list that ends the device it is the newest of (wipe.h) */
#define NW_MARK_BEHIND 0xBFFFFFFFUL /* of the page behind it, which shows that it is whole */

#define NW_MARK_TREE 0x3354574EUL /* NWT3: magic and format in one */
#define NW_MARK_LAVISH 0x7F4C574EUL /* NWL, and a byte that makes it no word of a tag */
#define NW_MARK_LAVISH_FORMAT 1U

#define NW_MARK_BYTES 4U
#define NW_MARK_BLOCKS 0xFFFEU /* the last good one of so many */

/* The chip's last good block, NW_ERR_FULL, or the chip's error. */
int32_t nw_mark_block(struct nw_chip *chip);

/* 1: lavish's mark is in this page. 1 read, or 2: NW_ERR_ECC when both could not tell. */
int nw_mark_is(struct nw_chip *chip, uint32_t page);

/*
 * Takes a chip that is blank or has the mark, and makes that: answers its block, below which the
 * layer may use all good ones. Anything else is refused by NW_ERR_NOT_FOUND or, with `erase`,
 * erased; so is NW_ERR_ECC, when no page of the mark could be read. Where nobody may ask what is on
 * a chip (NW_ERR_UNSUPPORTED) it is taken with `erase`, as it is. `bytes`: room for four, and for a
 * unit of programming, zeros.
 */
int32_t nw_mark_claim(struct nw_chip *chip, int erase, uint8_t *bytes);

#endif

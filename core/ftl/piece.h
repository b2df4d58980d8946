/* SPDX-License-Identifier: Apache-2.0 */
/*
 * piece.h - the data of tagged pages in small pieces, for those who have no room for a page:
 * wipe.h and identify.h.
 */
#ifndef NANDWICH_FTL_PIECE_H
#define NANDWICH_FTL_PIECE_H

#include "tag.h"

#define NW_PIECE_BYTES 32U

/* Reads `length` bytes of a written page from `offset` on. 1, 0 when they cannot be read, or the
 * chip's error. Cost: 1 read, or 2 when the first one fails. */
int nw_piece_read(const struct nw_tagged *tagged, uint32_t page, uint32_t offset, uint16_t length,
                  uint8_t *bytes);

/* 1 if the data of a page fits its tag, which was read last; 0 if not, or the chip's error. `bytes`
 * has room for a piece, and holds the page's first one when the answer is 1. */
int nw_piece_fits(const struct nw_tagged *tagged, uint32_t page, uint8_t *bytes);

#endif

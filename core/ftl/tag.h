/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tag.h - what a translation layer writes beside each page, in the first spare bytes.
 *
 *   offset  bytes  field
 *        0      4  word: the owner's; says what the page holds
 *        4      5  version: number of the program that wrote it, growing over the chip's life
 *        9      4  CRC-32 of the page's data (crc.h), 0 when there is no payload
 *      (13      3  erases of the block, only where the spare has 18 bytes or more)
 *  13 / 16      2  low half of the CRC-32 of all before
 *
 * 15 bytes fit the spare of a 512 + 16 byte page and a quarter of that of a 2048 + 64 byte one, bad
 * block marker apart. 40 bits of version last for 10^12 programs: a part of 2^20 pages and 100 000
 * cycles takes 10^11.
 */
#ifndef NANDWICH_FTL_TAG_H
#define NANDWICH_FTL_TAG_H

#include <stdint.h>

#include "nandwich/chip.h"

#define NW_TAG_BYTES 15U
#define NW_TAG_WEAR_BYTES 18U

struct nw_tag {
    uint64_t version;
    uint32_t word;
    uint32_t crc;
    uint32_t erases; /* 0 when the tag is too short to tell */
};

enum nw_tag_state {
    NW_TAG_BLANK, /* every byte has the erased value */
    NW_TAG_BAD,   /* something else than a tag: torn, damaged, or not ours */
    NW_TAG_GOOD
};

/* Length of a tag on this part; 0: its spare is too small for one. */
uint8_t nw_tag_bytes(const struct nw_geometry *geometry);

/* Write a tag to `to`, `bytes` long. Cost: CRC-32 of the bytes. */
void nw_tag_put(uint8_t *to, uint8_t bytes, const struct nw_tag *tag);

/* Read a tag; answers enum nw_tag_state and fills `tag` only when good. */
int nw_tag_get(const uint8_t *from, uint8_t bytes, uint8_t erased, struct nw_tag *tag);

/* A version's five bytes. */
void nw_tag_put40(uint8_t *to, uint64_t value);
uint64_t nw_tag_get40(const uint8_t *from);

#endif

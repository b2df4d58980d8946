/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tag.h - what a translation layer writes beside each page, in the first spare bytes; and the only
 * way in which layers read and write pages with tags.
 *
 *   offset  bytes  field
 *        0      4  word: the owner's; says what the page holds
 *        4      5  version: number of the program that wrote it, growing over the chip's life
 *        9      4  CRC-32 of the page's data (crc.h), 0 when there is no payload
 *      (13      3  erases of the block, only where the spare has 18 bytes or more)
 *  13 / 16      2  low half of the CRC-32 of all before
 *
 * Of flipped bits in a tag of 15 bytes the check finds any one, two and three. In one of 18 it
 * misses 3 of the 10,296 pairs and 6 of the 487,344 triples (test_proofs tries them all).
 *
 * 15 bytes fit the spare of a 512 + 16 byte page and a quarter of that of a 2048 + 64 byte one, bad
 * block marker apart. 40 bits of version last for 10^12 programs: a part of 2^20 pages and 100 000
 * cycles takes 10^11.
 */
#ifndef NANDWICH_FTL_TAG_H
#define NANDWICH_FTL_TAG_H

#include <stdint.h>

#include "nandwich/bytes.h"
#include "nandwich/chip.h"
#include "nandwich/stats.h"

#define NW_TAG_BYTES 15U
#define NW_TAG_WEAR_BYTES 18U
#define NW_TAG_UNTOLD 0xFFFFFFUL

struct nw_tag {
    uint32_t word;
    uint32_t crc;
    uint64_t version;
    uint32_t erases; /* below NW_TAG_UNTOLD; that when the tag is too short to tell */
};

enum nw_tag_state {
    NW_TAG_BLANK, /* every byte has the erased value */
    NW_TAG_BAD,   /* something else than a tag: torn, damaged, or not ours */
    NW_TAG_LOST,  /* the chip cannot correct the page (NW_ERR_ECC): it may hold anything */
    NW_TAG_GOOD
};

/* Length of a tag on this part; 0: its spare is too small for one. */
uint8_t nw_tag_bytes(const struct nw_geometry *geometry);

/* The checksum of a page's data; 0 for none. */
uint32_t nw_tag_sum(const uint8_t *data, uint16_t length);

/* Pages with their tags, one at a time. */
struct nw_tagged {
    struct nw_tag tag; /* read last, or to be written next */
    struct nw_stats *stats; /* reads, programs, their bytes and corrected bits are counted here */
    int corrected; /* bits, in the page that was read last; or an error */
    struct nw_chip_req req;
    uint8_t spare[NW_TAG_WEAR_BYTES];
};

/* Ready for a chip whose spare has room for tags. */
void nw_tagged_open(struct nw_tagged *tagged, struct nw_chip *chip, struct nw_stats *stats);

/* Read a page's tag, and `length` bytes of its data; NULL with a length on a chip without payload.
 * Answers enum nw_tag_state, NW_TAG_LOST only when a second read failed too, or another error of
 * the chip. tagged->tag changes only when the answer is NW_TAG_GOOD. */
int nw_tagged_read(struct nw_tagged *tagged, uint32_t at, uint16_t length, uint8_t *data);

/* Program a page's data and tagged->tag. Answers what the chip does. */
int nw_tagged_program(struct nw_tagged *tagged, uint32_t at, uint16_t length, uint8_t *data);

/* Only the beginning of that: the tag to the spare bytes; a program of so much data is counted. */
void nw_tagged_stamp(struct nw_tagged *tagged, uint16_t length);

/* A version's five bytes. */
static inline void nw_tag_put40(uint8_t *to, uint64_t value)
{
    nw_put32(to, (uint32_t)(value & 0xFFFFFFFFUL));
    to[4] = (uint8_t)(value >> 32);
}

static inline uint64_t nw_tag_get40(const uint8_t *from)
{
    return nw_get32(from) | ((uint64_t)from[4] << 32);
}

#endif

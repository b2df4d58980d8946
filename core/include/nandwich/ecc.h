/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ecc.h - software error correction: a raw chip becomes a corrected one.
 *
 * WHERE THE CODES LIE. A page is cut into equal parts, each programmed on its own, and the spare
 * into as many. A part's spare holds, in this order: bytes for the caller, one code for each unit
 * of data in the part, one code for the caller's bytes of the part, and what is left over. The
 * caller sees the caller's bytes of all parts as one run of spare bytes.
 *
 *   page    [ unit | unit ][ unit | unit ][ unit | unit ][ unit | unit ]   4 parts of 2 units
 *   spare   [own|c|c|C.][own|c|c|C.][own|c|c|C.][own|c|c|C.]
 *
 * Example: 2,048 + 62 bytes, 4 programs a page, units of 256 bytes with 3-byte codes: 4 parts of
 * 512 bytes, 15 spare bytes a part of which 6 are the caller's: 24 spare bytes are seen above.
 *
 * WHAT THE CALLER PROMISES beyond chip.h: every part is programmed once between erases, its data
 * and its spare together. A program covers the parts from the lowest to the highest that its data
 * or its spare touches; spare bytes it does not name stay erased. program_bytes is the part.
 *
 * Codes are taken over data and code relative to the erased value, so an erased page is a valid
 * code word of erased bytes: it reads as erased, without a special case, even with a flipped bit in
 * it.
 *
 * READS may start and end anywhere. Whole units come straight into the caller's buffer; a unit cut
 * by the start or end of the request is read whole into the filter's own buffer, at most two more
 * reads of the chip. Read answers the bits corrected here and below; NW_ERR_ECC when a code word
 * that holds an asked byte has more flipped bits than the code corrects. A read of spare alone
 * moves no data.
 *
 * There is no copy and there are no buffers above: bit errors would travel uncorrected inside the
 * chip. Metadata only (data == NULL): the caller's spare is coded and checked, data is not; what
 * goes over the bus is the same.
 */
#ifndef NANDWICH_ECC_H
#define NANDWICH_ECC_H

#include <stddef.h>
#include <stdint.h>

#include "nandwich/chip.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a code works on: one run of bytes and its parity. */
struct nw_ecc_unit {
    uint8_t *data;
    uint8_t *parity; /* parity_bytes of the code */
    uint16_t length; /* 1 .. unit_max */
    uint8_t erased;  /* value of an erased byte; all-erased data has all-erased parity */
};

/* A code. Another one (BCH) is another table. */
struct nw_ecc_code {
    uint16_t unit_max;    /* longest run of bytes a code word protects */
    uint8_t parity_bytes; /* bytes of a code, however short the run */
    void (*encode)(struct nw_ecc_unit *unit); /* data -> parity */
    int (*check)(struct nw_ecc_unit *unit);   /* corrects data; bits corrected or NW_ERR_ECC */
};

/*
 * SECDED, a Hamming code: corrects one flipped bit and detects two in up to 512 bytes with 3 bytes
 * of parity. The parity is the exclusive or of the positions of all set bits, and that of their
 * complements (12 bits each), as in the SmartMedia format's ECC stretched to 512 bytes. Cost: about
 * 12 instructions for 4 bytes.
 */
extern const struct nw_ecc_code nw_ecc_secded;

struct nw_ecc_config {
    const struct nw_ecc_code *code; /* NULL: nw_ecc_secded */
    uint16_t unit_bytes;            /* data bytes a code word; must divide the page; 0: 256 */
    uint8_t parts; /* parts a page; 0: as many as the chip's programs a page and spare allow */
};

struct nw_ecc {
    struct nw_chip chip;   /* give &ecc.chip to the layer above */
    struct nw_chip *below; /* must outlive the filter */
    const struct nw_ecc_code *code;
    uint8_t *unit;  /* one unit cut by the edge of a read */
    uint8_t *spare; /* the spare as it lies on the chip */
    uint16_t unit_bytes;
    uint16_t part_bytes; /* data of a part */
    uint16_t part_spare; /* spare of a part on the chip, in all */
    uint16_t part_own;   /* of these the caller's */
};

/* RAM a filter over such a chip needs: a unit and a page's spare. 0: config and geometry do not
 * fit. */
size_t nw_ecc_ram_bytes(const struct nw_ecc_config *config, const struct nw_geometry *geometry);

/*
 * NW_ERR_CONFIG when unit_bytes exceeds the code's, does not divide the page, when the parts are no
 * whole number of units and of program units, are more than the programs a page takes, or when the
 * spare of a part does not hold its codes; NW_ERR_RAM. A part whose spare has no room left beside
 * the codes gives the caller no spare bytes.
 */
int nw_ecc_open(struct nw_ecc *ecc, struct nw_chip *below, const struct nw_ecc_config *config,
                void *ram, size_t ram_bytes);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_chip.h - a chip that is plain memory and remembers the last request as it arrived, so that
 * a test of a filter sees exactly what the filter asks below. It checks nothing; where the contract
 * itself is under test, use the twin.
 */
#ifndef NANDWICH_TEST_MEMORY_CHIP_H
#define NANDWICH_TEST_MEMORY_CHIP_H

#include "nandwich/chip.h"

#define MEMORY_CHIP_BYTES 32768U

enum memory_chip_verb {
    MEMORY_READ,
    MEMORY_PROGRAM,
    MEMORY_ERASE,
    MEMORY_IS_BAD,
    MEMORY_MARK_BAD,
    MEMORY_COPY,
    MEMORY_BUFFER_LOAD,
    MEMORY_BUFFER_READ,
    MEMORY_BUFFER_WRITE,
    MEMORY_BUFFER_PROGRAM,
    MEMORY_VERBS
};

struct memory_chip {
    struct nw_chip chip;
    uint8_t data[MEMORY_CHIP_BYTES];  /* page after page */
    uint8_t spare[MEMORY_CHIP_BYTES]; /* the same */
    unsigned calls[MEMORY_VERBS];
    struct nw_chip_req last; /* the last request */
    int answer;              /* what every verb answers */
};

/* All cells erased. `copy`, `buffers`: whether the chip has those verbs. */
void memory_chip_open(struct memory_chip *memory, const struct nw_geometry *geometry, int copy,
                      int buffers);

#endif
